"""Questions by kind: what a release of each has in its record."""

from __future__ import annotations

from shuffledp.questions.question import QuestionKind

__all__ = ["COUNTS", "CROSSTABS", "DISTRIBUTIONS", "LISTS", "MEANS", "SEARCHES", "asking"]


def asking(field: str) -> QuestionKind:
    """The questions that say this."""
    return QuestionKind(lambda question: field in question.field_names())


COUNTS = QuestionKind(lambda question: question.counts)  # those that count people, value by value
MEANS = asking("lower")  # those of one number
CROSSTABS = asking("columns")  # those of several columns
SEARCHES = QuestionKind(lambda question: not question.alone)  # those of one level of a search
LISTS = QuestionKind(lambda question: question.counts or not question.alone)  # those that list what they count
DISTRIBUTIONS = asking("cuts")  # those that count people below cut points
