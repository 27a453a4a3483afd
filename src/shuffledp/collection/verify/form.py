"""The form of a report's facts: every name and the type of every value, and nothing else. Whatever
has another form was not written by shuffledp.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from shuffledp.collection.page import HASHED, known
from shuffledp.collection.verify.check_estimates import COLUMNS
from shuffledp.collection.verify.counted_law import REMEDY
from shuffledp.collection.verify.limits import LARGEST_EPSILON
from shuffledp.errors import InvalidInput

__all__ = ["check_form"]

MOST_USERS = 10**15
LONGEST = 10_000  # letters of one text

Test = Callable[[Any], bool]
Form = Any  # a test, a list with the form of its items, or a dict of forms in which a name that ends in ? may be absent


def _text(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST


def _truth(value: Any) -> bool:
    return type(value) is bool


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_USERS


def _some(value: Any) -> bool:
    return _count(value) and value > 0


def _whole(value: Any) -> bool:
    return type(value) is int and abs(value) <= MOST_USERS


def _number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300  # not NaN, not infinite


def _least(least: float, most: float) -> Test:
    return lambda value: _number(value) and least <= value <= most


def _or_none(test: Form) -> Form:
    return lambda value: value is None or test(value)


def _time(value: Any) -> bool:
    try:
        return _text(value) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


EPSILON, CHANCE, SIZE = _least(0.0, LARGEST_EPSILON), _least(0.0, 1.0), _least(0.0, 1e300)
MADE = {"when": _time} | dict.fromkeys(("shuffledp", "python", "numpy", "scipy", "cryptography", "pyarrow"), _text)
ASKED = {"task": _text, "learned": _truth} | dict.fromkeys(
    ("what?", "title?", "source?", "column?", "categories?", "outside?", "missing?", "cleaned?"), _or_none(_text)
)
COMMON = {
    "version": _whole,
    "task": _text,
    **dict.fromkeys(("n", "least", "rounds"), _some),
    "epsilon": _or_none(SIZE),
    "delta": CHANCE,
    "law": lambda value: isinstance(value, dict),
    "learned": _truth,
}
NAMED = lambda value: _count(value) or (isinstance(value, list) and all(_text(each) or _whole(each) for each in value))  # noqa: E731
OTHER = _or_none(lambda value: _text(value) or _whole(value))
OWN = {
    "histogram": {"categories": NAMED, "other": OTHER},
    "frequency": {"domain": NAMED, "method": _text, "other": OTHER},
    "mean": {"lower": _number, "upper": _number},
}
CERTIFICATE = {
    "epsilon": {"delta": CHANCE, "lower": EPSILON, "upper": EPSILON},
    "curve": {"epsilon": [EPSILON], "lower": [CHANCE], "upper": [CHANCE]},
    "assumptions": [_text],
    **dict.fromkeys(("method", "adversary", "adjacency"), _text),
    **dict.fromkeys(("users", "honest", "rounds"), _count),
    "alone": EPSILON,
    "numerical_error": _or_none(_least(0.0, 0.1)),
}
LEDGER = {
    "population": _text,
    "id": _or_none(_count),
    "record": _or_none(_text),
    "releases": _count,
    "limit": {"epsilon": SIZE, "delta": CHANCE},
    "total": {"lower": SIZE, "upper": SIZE},
}
ENDS = {"step": _number, "value": [_number], "lower": [_number], "upper": [_number]}
LATER: dict[bool, dict[str, Form]] = {
    True: {"ends?": ENDS},
    False: {"together?": _truth},
}  # for a mean, and for counts; earlier editions wrote neither


def check_form(facts: dict[str, Any]) -> list[str]:
    """Refuse facts of any other form than the one that shuffledp writes; of a later edition, return
    the names that are not known here.
    """
    design, certificate = facts["design"], facts["certificate"]
    task = design.get("task") if isinstance(design, dict) else None
    own = OWN.get(task) if isinstance(task, str) else None
    if own is None:
        raise _other("design.task", task)
    promised = certificate.get("delta") if isinstance(certificate, dict) else None
    form: dict[str, Form] = {
        "format": _text,
        "version": _whole,
        "edition?": _some,
        "made": MADE,
        "asked": ASKED,
        "design": COMMON | own,
        "counted": {"reports": _count, "missing": _or_none(_count), "repeated?": _count},
        "certificate": CERTIFICATE
        | {"delta": _or_none(_text) if promised is None else {"epsilon": SIZE, "lower": CHANCE, "upper": CHANCE}},
        "comparison": [{"trust": _text, "epsilon0": _or_none(EPSILON), "stderr": SIZE}],
        "tally": {"reports": _count, "votes": [_whole]}
        | ({} if task == "mean" else {"blocks": [_whole], "digest?": _text}),
        "estimates": {"unit": _text, "level": CHANCE, "of": _count, "label": [_text]}
        | {name: [_number] for name in COLUMNS}
        | LATER[task == "mean"],
        "secure": _truth,
        "notes": [_text],
        "ledger": LEDGER if facts["ledger"] is not None else _or_none(_text),
        "hashes": dict.fromkeys(HASHED, _text),
    }
    more: list[str] = []
    _check("", facts, form, more if not known(facts) else None)
    return more


def _check(where: str, value: Any, form: Form, more: list[str] | None) -> None:
    if isinstance(form, dict):
        if not isinstance(value, dict):
            raise _other(where, value)
        strange = set(value) - {name.rstrip("?") for name in form}
        if more is not None:
            more += sorted(where + name for name in strange)
            strange = set()
        if wrong := strange | {name for name in form if not name.endswith("?") and name not in value}:
            raise InvalidInput(
                f"the facts of a release must have their usual form, got a difference in "
                f"{(where + min(wrong))[:80]!r}. {REMEDY}"
            )
        for name, inner in form.items():
            if name.rstrip("?") in value:
                _check(f"{where}{name.rstrip('?')}.", value[name.rstrip("?")], inner, more)
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise _other(where, value)
        for each in value:
            _check(where, each, form[0], more)
    elif not form(value):
        raise _other(where, value)


def _other(where: str, value: Any) -> InvalidInput:
    return InvalidInput(
        f"the facts of a release must have their usual form, got {str(value)[:60]!r} for {where.rstrip('.')}. {REMEDY}"
    )
