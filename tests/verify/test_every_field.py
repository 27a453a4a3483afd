"""Every field that a record declares is changed, filled or left out by a forger who mends the
hashes: it is refused, or found, or on the list of what `verify` says that it cannot check.

The fields are read off the classes of the record. One that is added later is attacked without a
change here; if nothing binds it, this fails until a check does, or until it is listed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import Field, fields
from typing import Any, NamedTuple

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.record import Record
from shuffledp.record.forms import OrNone, Part
from shuffledp.verify import Verification, verify
from tests.verify.releases import ASKED, facts, rehashed, told

# What a forger can change unnoticed, and which line of the answer says that it was not checked; a
# record without a block of its ledger has another one.
UNPROVEN = {
    "made": "when and with what it was made",
    "secure": "secure randomness",
    "notes": "the notes",
    "ledger": "the ledger",
    "counted.missing": "missing values",
    "counted.repeated": "missing values",
    "counted.collected": "what arrived",
    "asked": "the question",
    "design.other": "where the categories came from",
    "design.columns": "the question",
    "design.cuts": "ends of the range",
    "counted.search.k": "how many words were asked for",
}
BOUND = {"asked.task"}  # although it stands among the words of whoever asked
ORACLE = ("certificate.epsilon", "certificate.delta", "certificate.curve", "comparison")  # what only it knows
VAGUE = {"certificate.numerical_error", "counted.search.error"}
KINDS = ["tiny", "mean", "hadamard", "promise", "crosstab"]
MORE_KINDS = ["fakes", "dummies", "count", "split", "search", "quantile"]  # what they share with the others is left out
SHORT = {"tiny", "mean", "promise"}
THEIR_OWN = ("design.", "counted.", "tally.", "estimates.")
LEVEL = {"randomizer": "krr", "k": 2, "epsilon0": 1.0, "integers": ["1"]}  # of a law that has several
FILLINGS: list[Any] = ["x", "2026-11-16T00:00:00+00:00", True, 1, 0.25, [1], ["x"], [0.25], {"x": 1}, {}, [LEVEL]]
MIDDLE = 20  # a place in a long list, beside its ends


class Forgery(NamedTuple):
    """Where something was changed, without the places in lists, what was done, and the facts."""

    name: str
    deed: str
    made: dict[str, Any]


def declared(kind: type[Part], task: str) -> dict[str, Field[Any]]:
    """The fields that a part has in a release of this task."""
    return {
        each.name: each
        for each in fields(kind)
        if "form" in each.metadata and task in (each.metadata["tasks"] or [task])
    }


def filling(form: Any, task: str) -> Any:
    """Some value of that form."""
    if isinstance(form, OrNone):
        return filling(form.form, task)
    if isinstance(form, list):
        return [filling(form[0], task)]
    if isinstance(form, type) and issubclass(form, Part):
        return {name: filling(each.metadata["form"], task) for name, each in declared(form, task).items()}
    return next(value for value in FILLINGS if form(value))


def changed(value: Any) -> Any:
    """A number by a hundredth, a whole number by at least 1, a text by a letter."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return str(int(value) + 1) if value.isdecimal() and len(value) > 10 else value + "x"
    if isinstance(value, int):
        return value + max(1, round(value * 0.01))
    return value * 0.99 if value else 0.01


def places(length: int) -> list[int]:
    """The first two of a list, the last, and one in between: lists are checked as a whole."""
    return sorted({0, 1, MIDDLE, length - 1} & set(range(length)))


def forgeries(made: dict[str, Any]) -> Iterator[Forgery]:
    """Whatever can be done to one field."""
    yield from _of_part(Record, made, made, "", made["design"]["task"])


def _of_part(
    kind: type[Part], inner: dict[str, Any], whole: dict[str, Any], where: str, task: str
) -> Iterator[Forgery]:
    for name, each in declared(kind, task).items():
        at, form = f"{where}{name}", each.metadata["form"]
        if inner.get(name) is None:
            yield _forged(whole, inner, name, at, "filled in", filling(form, task))
            continue
        yield from _of_value(form, inner, name, whole, at, task)
        if not each.metadata["needed"]:
            yield _forged(whole, inner, name, at, "left out", None, leave_out=True)
        if isinstance(form, OrNone):
            yield _forged(whole, inner, name, at, "made null", None)


def _of_value(form: Any, inner: Any, key: Any, whole: dict[str, Any], at: str, task: str) -> Iterator[Forgery]:
    value = inner[key]
    form = form.form if isinstance(form, OrNone) else form
    if isinstance(form, type) and issubclass(form, Part):
        yield from _of_part(form, value, whole, f"{at}.", task)
        yield _forged(whole, inner, key, f"{at}.more", "added", value | {"more": 1})
    elif isinstance(value, dict):  # what is written as it stands, such as a law
        for name in value:
            yield from _of_value(None, value, name, whole, f"{at}.{name}", task)
        yield _forged(whole, inner, key, at, "added to", value | {"more": 1})
    elif isinstance(value, list):
        for place in places(len(value)):
            yield from _of_value(form[0] if isinstance(form, list) else None, value, place, whole, at, task)
        yield _forged(whole, inner, key, at, "lengthened", [*value, copy.deepcopy(value[-1]) if value else 1])
        yield _forged(whole, inner, key, at, "shortened", value[:-1] if value else ["x"])
    else:
        yield _forged(whole, inner, key, at, "changed", changed(value))


def _forged(
    whole: dict[str, Any], inner: Any, key: Any, at: str, deed: str, value: Any, *, leave_out: bool = False
) -> Forgery:
    """The whole with one value changed; ``inner`` is put back as it was."""
    before = dict(inner) if isinstance(inner, dict) else list(inner)
    if leave_out:
        del inner[key]
    else:
        inner[key] = value
    made = copy.deepcopy(whole)
    if isinstance(inner, dict):
        inner.clear()
        inner.update(before)
    else:
        inner[:] = before
    return Forgery(at, deed, made if at.startswith("hashes") else rehashed(made))


def answer(made: dict[str, Any], seconds: float) -> Verification | None:
    """None if the record is refused."""
    try:
        return verify(json.dumps(made), seconds=seconds)
    except InvalidInput:
        return None


def is_said(name: str, lines: list[str]) -> bool:
    """Whether one of these lines says that a field is not checked."""
    expected = [line for each, line in UNPROVEN.items() if name == each or name.startswith(f"{each}.")]
    return name not in BOUND and any(line.startswith(each) for line in lines for each in expected)


def is_true_as_well(name: str) -> bool:
    """A lower end that claims less, the numerical error, of which the oracle has its own, the
    chance that a rare word is listed, as long as the same whole number of votes keeps it, and how
    limits are made, where both ways make the same.
    """
    return name in VAGUE or (name.startswith("certificate.") and name.endswith(".lower"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SHORT else pytest.mark.long) for name in [*KINDS, *MORE_KINDS]]
)
def test_every_field_is_bound_or_said_to_be_unchecked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By all checks for the smallest release; for the others the oracle, which is slow, has its own
    tests, and what only it can know is left to them.
    """
    made, seconds = told(name), 60.0 if name == "tiny" else 0.0
    if not seconds:
        monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
        monkeypatch.setattr("shuffledp.verify.verification.check_comparison", lambda *_: [])
    honest = answer(made, seconds)
    assert honest is not None
    assert not honest.failed
    unnoticed = []
    for forged in forgeries(made):
        if not seconds and forged.name.startswith(ORACLE):
            continue
        if name in MORE_KINDS and not forged.name.startswith(THEIR_OWN):
            continue
        found = answer(forged.made, seconds)
        if found is None or found.failed:
            continue
        said = [check.what for check in found.checks if check.outcome == "not checked"]
        if not (is_said(forged.name, said) or is_true_as_well(forged.name)):
            unnoticed.append((forged.name, forged.deed))
    assert not unnoticed


@pytest.mark.parametrize("place", [1, 2, 3])
def test_inner_cut_points_are_bound(place: int) -> None:
    """Only the outermost are listed as not checked, which the walk cannot tell apart."""
    made = facts("quantile")
    made["design"]["cuts"][place] += 0.25
    found = answer(rehashed(made), 0.0)
    assert found is None or found.failed


def test_the_walk_finds_every_field_of_every_part() -> None:
    made = [told(name) for name in KINDS]
    seen = {forged.name for each in (*made, *map(facts, ASKED)) for forged in forgeries(each)}
    parts, every = [Record], set[type[Part]]()
    while parts:
        part = parts.pop()
        every.add(part)
        for each in fields(part):
            form = each.metadata.get("form")
            form = form.form if isinstance(form, OrNone) else form
            form = form[0] if isinstance(form, list) else form
            if isinstance(form, type) and issubclass(form, Part) and form not in every:
                parts.append(form)
    names = {each.name for part in every for each in fields(part) if "form" in each.metadata}
    assert names <= {part for name in seen for part in name.split(".")}
    assert len(names) > 60


@pytest.mark.parametrize("name", ["count", "split", "dummies", "promise"])
def test_an_upper_end_of_the_curve_that_is_made_0_never_passes(name: str) -> None:
    """One by one, with all that follow, so that the curve still falls."""
    honest = facts(name)
    for every in (3, 9):  # points; fewer are summed in less time
        honest["certificate"]["curve"] = {
            end: column[::every] for end, column in facts(name)["certificate"]["curve"].items()
        }
        found = answer(rehashed(honest), 60.0)
        assert found is not None
        assert found.verdict == "pass"
        assert all("0.01 %" in check.how for check in found.checks if check.what.startswith("delta on the curve"))
        for place in range(len(honest["certificate"]["curve"]["upper"]) if every == 9 else 0):
            forged = copy.deepcopy(honest)
            for end in ("lower", "upper"):
                column = forged["certificate"]["curve"][end]
                column[place:] = [0.0] * len(column[place:])
            if forged["certificate"]["curve"] == honest["certificate"]["curve"]:
                continue
            found = answer(rehashed(forged), 60.0)
            assert found is not None
            assert found.verdict != "pass"


@pytest.mark.parametrize("name", ["dummies", "fakes", "count"])
@pytest.mark.parametrize("times", [0, 2])
def test_messages_that_were_not_there_are_found_out(name: str, times: int) -> None:
    made = told(name)
    came = made["counted"]["collected"]
    assert answer(made, 0.0) is not None
    came["messages"] *= times
    came["invalid"] *= bool(times)
    found = answer(rehashed(made), 0.0)
    assert found is not None
    assert "messages of the collection" in {check.what for check in found.failed}


def test_a_curve_of_very_many_points_is_refused() -> None:
    made = facts("tiny")
    for end, column in made["certificate"]["curve"].items():
        made["certificate"]["curve"][end] = [column[0]] * 401
    with pytest.raises(InvalidInput, match="at most 400 points of its curve, got more"):
        verify(json.dumps(rehashed(made)))
