"""What can be asked: names of questions, and the folders that hold them, which load when they are
asked for.

question   what every question says of itself, and how one is decoded
table      a table of a record, in numbers and in words
histogram  how many people hold each category
count      how many hold one value
crosstab   how many hold each combination of several columns' categories
quantile   how numbers are distributed
mean       the mean of a number
sum        its sum

A folder has ``question.py`` with ``QUESTION``, a class, ``options.py`` with what the command and
Python take (``Options``, and the ``request`` that they make), ``recheck.py``, which judges an
answer (``shuffledp.verify``), and ``section.html`` if its page says something of its own; what all
pages say is in ``shuffledp/page``. ``choices`` of the class begins with the mechanism that is taken
when none is named. ``top`` has the page of a search alone: its question is ``shuffledp.search``.

Other distributions add a question by an entry point of the group ``shuffledp.questions`` that names
such a folder. Our names come first and cannot be replaced; a name that two distributions claim is
refused.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shuffledp.errors import InvalidInput, meant

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from shuffledp.questions.question import Question

__all__ = ["GROUP", "OURS", "folder_of", "kind_of", "names", "options_module", "options_of_all", "origin_of"]

GROUP = "shuffledp.questions"
OURS = {
    **{each: f"shuffledp.questions.{each}" for each in ("histogram", "count", "crosstab", "mean", "quantile", "sum")},
    "top": "shuffledp.search",
}


def names() -> list[str]:
    """All names, without importing what they name."""
    from importlib.metadata import entry_points

    return [*OURS, *sorted({each.name for each in entry_points(group=GROUP)} - set(OURS))]


def folder_of(name: object) -> str:
    """The package that holds the question of that name."""
    return OURS[name] if isinstance(name, str) and name in OURS else _entry(name).value


def origin_of(name: str) -> str | None:
    """Which distribution a question that is not ours comes from, and its version."""
    if name in OURS:
        return None
    return _brought(_entry(name))


def _brought(found: EntryPoint) -> str:
    """The distribution that brings a question, and its version."""
    return found.value if found.dist is None else f"{found.dist.name} {found.dist.version}"


def _entry(name: object) -> EntryPoint:
    """What another distribution says of that name."""
    from importlib.metadata import entry_points

    found: list[EntryPoint] = [*entry_points(group=GROUP, name=str(name))]
    if len(found) == 1:
        return found[0]
    if found:
        claims = " and ".join(sorted(map(_brought, found)))
        raise InvalidInput(
            f"a question's name must be its own, got {name!r:.60} from {claims}. Uninstall one of the two."
        )
    got, hint = ("none", "") if name is None else (f"{name!r:.60}", meant(name, names()))
    raise InvalidInput(
        f"the question must be one of {', '.join(names())}, got {got}. {hint}Install the package that it comes from, "
        f"or take a file that shuffledp wrote, unchanged."
    )


def kind_of(name: object) -> type[Question]:
    """The class of the question of that name."""
    folder = folder_of(name)
    try:
        kind: type[Question] = import_module(f"{folder}.question").QUESTION
    except Exception as error:
        if name in OURS:
            raise
        raise InvalidInput(
            f"the question {name!r:.60} must load, got {type(error).__name__} from {folder}. Update the package that "
            f"it comes from."
        ) from error
    return kind


def options_module(name: object) -> Any:
    """What the question of that name takes: its ``Options``, and the ``request`` that they make."""
    return import_module(f"{folder_of(name)}.options")


def options_of_all() -> dict[str, type]:
    """The options of each of our questions."""
    return {name: options_module(name).Options for name in OURS}
