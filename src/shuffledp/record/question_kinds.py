"""Questions by kind: what a release of each has in its record."""

from __future__ import annotations

from shuffledp.questions.question import QuestionKind

__all__ = ["COUNTS", "CROSSTABS", "DISTRIBUTIONS", "LISTS", "MEANS", "TOP", "asking"]


def asking(field: str) -> QuestionKind:
    """The questions that say this."""
    return QuestionKind(lambda question: field in question.field_names())


COUNTS = QuestionKind(lambda question: question.counts)  # those that count people, value by value
MEANS = asking("lower")  # those of one number
CROSSTABS = asking("columns")  # those of several columns
TOP = asking("longest")  # the search for frequent words, which counts people too
LISTS = QuestionKind(lambda question: question.counts or "longest" in question.field_names())  # both
DISTRIBUTIONS = asking("cuts")  # those that count people below cut points
