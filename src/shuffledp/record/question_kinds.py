"""Questions by kind: what a release of each has in its record."""

from __future__ import annotations

from shuffledp.questions.question import QuestionKind

COUNTS = QuestionKind(counts=True)  # those that count people, value by value
MEANS = QuestionKind("lower")  # those of one number
CROSSTABS = QuestionKind("columns")  # those of several columns
TOP = QuestionKind("longest")  # the search for frequent words, which counts people too
LISTS = QuestionKind("longest", counts=True)  # both
DISTRIBUTIONS = QuestionKind("cuts")  # those that count people below cut points
