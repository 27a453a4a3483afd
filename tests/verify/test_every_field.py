"""Every field that a record declares is changed, filled or left out by a forger who mends the
hashes: it is refused, or found, or on the list of what `verify` says that it cannot check.

The fields are read off the published schemas, docs/schemas, parameters of laws included. One that
is added later is attacked without a change here; if nothing binds it, this fails until a check
does, or until it is listed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.errors import InvalidInput
from shuffledp.record import Record
from shuffledp.verify import Verification, verify
from tests.record.published import FILES, Schema, chosen, faults, options, record_of
from tests.verify.releases import ASKED, facts, made_by, rehashed, told, told_of

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
    "counted.search.k": "how many words were asked for",
}
BOUND = {"asked.question"}  # although it stands among the words of whoever asked
# What only it knows.
ORACLE = ("certificate.epsilon", "certificate.delta", "certificate.curve", "comparison", "design.mechanism.share_bits")
VAGUE = {"certificate.numerical_error", "counted.search.error", "design.mechanism.reach"}
KINDS = ["tiny", "mean", "hadamard", "promise", "crosstab"]
MORE_KINDS = ["fakes", "dummies", "count", "split", "search", "quantile"]  # what they share with the others is left out
SHORT = {"tiny", "mean", "promise"}
THEIR_OWN = ("design.", "counted.", "tally.", "tables")
FILLINGS = {"string": "x", "integer": 1, "number": 1, "boolean": True}
NULL = {"type": "null"}
FACTOR = 0.99  # of a number that is changed
MIDDLE = 20  # a place in a long list, beside its ends


class Forgery(NamedTuple):
    """Where something was changed, without the places in lists, what was done, and the facts."""

    name: str
    deed: str
    made: dict[str, Any]


def filling(schema: Schema) -> Any:
    """Some value that the schema allows, with all that may be in it."""
    option = options(schema)[0]
    if "const" in option or "enum" in option:
        return option.get("enum", [option.get("const")])[0]
    if option["type"] == "object":
        return {name: filling(each) for name, each in option["properties"].items()}
    if option["type"] == "array":
        return [filling(option["items"])] * option.get("minItems", 1)
    if option.get("format") == "date-time":
        return "2026-11-16T00:00:00+00:00"
    least = option.get("minimum", 0)
    return "1" if "pattern" in option else least if least > 1 else FILLINGS[option["type"]]


def changed(value: Any) -> Any:
    """A number by a hundredth, a whole number by at least 1, a text by a letter."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return str(int(value) + 1) if value.isdecimal() and len(value) > 10 else value + "x"
    if isinstance(value, int):
        return value + max(1, round(value * 0.01))
    return value * FACTOR if value else 0.01


def places(length: int) -> list[int]:
    """The first two of a list, the last, and one in between: lists are checked as a whole."""
    return sorted({0, 1, MIDDLE, length - 1} & set(range(length)))


def forgeries(made: dict[str, Any]) -> Iterator[Forgery]:
    """Whatever can be done to one field."""
    yield from _of_part(record_of(made["design"]["question"]["type"]), made, made, "")


def _of_part(part: Schema, inner: dict[str, Any], whole: dict[str, Any], where: str) -> Iterator[Forgery]:
    for name, each in part["properties"].items():
        at = f"{where}{name}"
        if inner.get(name) is None:
            yield _forged(whole, inner, name, at, "filled in", filling(each))
            continue
        yield from _of_value(each, inner, name, whole, at)
        if name not in part["required"]:
            yield _forged(whole, inner, name, at, "left out", None, leave_out=True)
        if NULL in options(each):
            yield _forged(whole, inner, name, at, "made null", None)


def _of_value(schema: Schema, inner: Any, key: Any, whole: dict[str, Any], at: str) -> Iterator[Forgery]:
    value, option = inner[key], chosen(schema, inner[key])
    assert option is not None
    if isinstance(value, dict):
        yield from _of_part(option, value, whole, f"{at}.")
        yield _forged(whole, inner, key, f"{at}.more", "added", value | {"more": 1})
    elif isinstance(value, list):
        for place in places(len(value)):
            yield from _of_value(option["items"], value, place, whole, at)
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


def is_free(name: str) -> bool:
    """Whether nothing binds a field: free text, and what no record can prove about itself."""
    unproven = any(name == each or name.startswith(f"{each}.") for each in UNPROVEN)
    return name not in BOUND and (unproven or name in VAGUE)


def is_said(name: str, lines: list[str]) -> bool:
    """Whether one of these lines says that a field is not checked."""
    expected = [line for each, line in UNPROVEN.items() if name == each or name.startswith(f"{each}.")]
    return name not in BOUND and any(line.startswith(each) for line in lines for each in expected)


def is_true_as_well(name: str) -> bool:
    """A lower end that claims less, the numerical error, of which the oracle has its own, the
    chance that a rare word is listed, as long as the same whole number of votes keeps it, where the
    noise of shares ends, if the promise holds there too, and how limits are made, where both ways
    make the same.
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


CROSSED = {"columns": ["region", "smoker"], "categories": [["n", "s"], 2], "n": 900, "delta": 1e-6}
NUMBERS = {"lower": 0.0, "upper": 8.0, "n": 500, "delta": 1e-6}
BINNED = {"cuts": range(17), "at": [0.25, 0.5], "ranges": [(2, 6)], "n": 900, "delta": 1e-6}
# Every question by every mechanism that answers it.
ANSWERS: dict[str, Callable[[], dict[str, Any]]] = {
    **{
        f"histogram by {each}": partial(facts, each)
        for each in ("hadamard", "hash", "subset", "oue", "fakes", "dummies")
    },
    "histogram by krr": partial(facts, "promise"),
    "histogram by randomized values among fakes": partial(facts, "light fakes"),
    "histogram by randomized values among dummies": partial(facts, "light dummies"),
    "count by signed": partial(facts, "count"),
    "top by krr": partial(facts, "search"),
    "crosstab by krr": partial(facts, "crosstab"),
    "crosstab by fakes": lambda: _by("crosstab", "fakes", **CROSSED, other=["s", None], epsilon=1.0),
    "crosstab by dummies": lambda: _by("crosstab", "dummies", **CROSSED, other=["s", None], epsilon=1.0),
    "mean by krr": partial(facts, "mean"),
    "mean by split": lambda: _by("mean", "split", **NUMBERS, epsilon=1.0),
    "sum by krr": lambda: _by("sum", None, **NUMBERS, epsilon=1.0),
    "sum by split": partial(facts, "split"),
    "quantile by krr": lambda: _by("quantile", None, **BINNED, epsilon0=6.0),
    "quantile by one of several levels": lambda: _by("quantile", None, **BINNED, epsilon=4.0),
    "quantile by fakes": lambda: _by("quantile", "fakes", **BINNED, epsilon=1.0),
    "quantile by dummies": lambda: _by("quantile", "dummies", **BINNED, epsilon=1.0, keep=0.9),
    "quantile by tree": lambda: _by("quantile", "dummies", **BINNED, epsilon=1.0, levels=2, branches=4),
    "quantile by tree of one level": lambda: _by("quantile", "dummies", **BINNED, epsilon=1.0, levels=1, branches=4),
}
ALWAYS = {"histogram by krr", "mean by krr", "count by signed"}
SUMMED = "the oracle sums it, of which this test makes no use: test_shares_of_more_bits_never_pass"
ENDS = "where the noise of shares ends: the promise holds there too"
# The integers that may be one more or less, with the reason, beside those of UNPROVEN, which verify lists itself.
PERMITTED = {
    **{(f"{each} by split", "design.mechanism.share_bits"): SUMMED for each in ("mean", "sum")},
    **{(f"{each} by split", "design.mechanism.reach"): ENDS for each in ("mean", "sum")},
    ("quantile by tree of one level", "design.mechanism.branches"): "one level has no branches: they change nothing",
    ("top by krr", "counted.search.levels.reports"): "over a network nobody knows how many did not answer at a level",
}


def _by(question: str, mechanism: str | None, **terms: Any) -> dict[str, Any]:
    poll = Poll(question, mechanism=mechanism, **terms)
    rng = np.random.default_rng(3)
    values = rng.integers(0, 4, poll.n) if question == "crosstab" else rng.uniform(0.0, 8.0, poll.n)
    return made_by(poll, values)


def leaves(schema: Schema, inner: Any, where: str = "") -> Iterator[tuple[Any, Any, str, str]]:
    """What holds a number, under which key, at which place, and whether it is an integer."""
    for key in (
        places(len(inner)) if isinstance(inner, list) else [name for name in inner if name in schema["properties"]]
    ):
        each = schema["items"] if isinstance(inner, list) else schema["properties"][key]
        at = where if isinstance(inner, list) else f"{where}.{key}".removeprefix(".")
        value, option = inner[key], chosen(each, inner[key])
        if isinstance(value, (dict, list)) and option is not None:
            yield from leaves(option, value, at)
        elif isinstance(value, str) and value.isdecimal() and len(value) > 10:
            yield inner, key, at, "integer"
        elif type(value) in (int, float) and option is not None:
            yield inner, key, at, option.get("type", "integer")


def error_of(made: dict[str, Any], inner: Any, at: str, key: Any) -> float:
    """How large the standard error of a number is, or half of the interval that stands beside it."""
    (found,) = (table for table in made["tables"] if any(column is inner for column in table.values()))
    if "stderr" not in found:
        return max(0.25 * (found["upper"][key] - found["lower"][key]), 1e-6)
    return abs(found["influence"][key]) if at == "tables.influence" else found["stderr"][key]  # type: ignore[no-any-return]


def nudged(made: dict[str, Any]) -> Iterator[tuple[str, float | int]]:
    """Every integer one more and one less, every estimate, error and limit 1 % of its error more
    and less: the place, and by how much, while the facts are so.
    """
    for inner, key, at, kind in list(leaves(record_of(made["design"]["question"]["type"]), made)):
        value = inner[key]
        if kind == "integer":
            moves: list[float | int] = [1, -1]
        elif at.startswith("tables.") and at != "tables.level":
            step = error_of(made, inner, at, key)
            moves = [0.01 * step, -0.01 * step]
        else:
            continue
        for move in moves:
            inner[key] = str(int(value) + int(move)) if isinstance(value, str) else value + move
            yield at, move
        inner[key] = value


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in ALWAYS else pytest.mark.long) for n in ANSWERS])
def test_the_least_change_of_any_number_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("certificate", "comparison"):
        monkeypatch.setattr(f"shuffledp.verify.verification.check_{part}", lambda *_: [])
    made = told_of(ANSWERS[name]())
    honest = answer(made, 0.0)
    assert honest is not None
    assert not honest.failed, "the control"
    unnoticed, many = [], 0
    for at, move in nudged(made):
        many += 1
        found = answer(rehashed(made), 0.0)
        if found is None or found.failed:
            continue
        said = [check.what for check in found.checks if check.outcome == "not checked"]
        if not ((name, at) in PERMITTED or is_said(at, said)):
            unnoticed.append((at, move))
    assert not unnoticed
    assert many > 60


@pytest.mark.parametrize("place", [1, 2, 3])
def test_inner_cut_points_are_bound(place: int) -> None:
    """Only the outermost are listed as not checked, which the walk cannot tell apart."""
    made = facts("quantile")
    for part in ("question", "domain"):
        made["design"][part]["cuts"][place] += 0.25
    found = answer(rehashed(made), 0.0)
    assert found is None or found.failed


def test_the_walk_finds_every_field_of_every_part() -> None:
    """A law has the parameters of its family; of each other part, some release has every field."""
    made = [told(name) for name in KINDS]
    seen = {forged.name for each in (*made, *map(facts, ASKED)) for forged in forgeries(each)}
    parts, names = [FILES["record.json"], FILES["design.json"]], set[str]()
    while parts:
        part = parts.pop()
        names |= part.get("properties", {}).keys()
        for name, each in part.get("properties", {}).items():
            if name not in ("mechanism", "counting_law", "design"):
                parts += options(each)
        parts += options(part["items"]) if "items" in part else []
    assert names <= {part for name in seen for part in name.split(".")}
    assert len(names) > 60
    assert {"design.mechanism.k", "design.mechanism.integers", "counted.search.counting_law"} <= seen


@pytest.mark.parametrize("name", [*KINDS, *MORE_KINDS])
def test_what_the_schema_allows_is_read_and_what_it_does_not_is_refused(name: str) -> None:
    """The other way round, ``verify`` also reads laws that no family of this version draws by."""
    made = told(name)
    schema = record_of(made["design"]["question"]["type"])
    assert not list(faults(schema, made))
    for forged in forgeries(made):
        wrong = list(faults(schema, forged.made))
        try:
            Record.from_json(forged.made)
        except InvalidInput:
            assert wrong, forged[:2]
        else:
            elsewhere = ("design.mechanism", "design.version", "design.question.type")  # a question of another package
            assert not wrong or forged.name.startswith(elsewhere), forged[:2]


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


def test_shares_of_more_bits_never_pass() -> None:
    """The oracle sums them, of which the walk makes no use."""
    made = facts("split")
    made["design"]["mechanism"]["share_bits"] += 1
    found = answer(rehashed(made), 60.0)
    assert found is None or found.verdict != "pass"


def test_a_curve_of_very_many_points_is_refused() -> None:
    made = facts("tiny")
    for end, column in made["certificate"]["curve"].items():
        made["certificate"]["curve"][end] = [column[0]] * 401
    with pytest.raises(InvalidInput, match=r"from 0 to 400 entries in certificate\.curve\.epsilon, got 401"):
        verify(json.dumps(rehashed(made)))
