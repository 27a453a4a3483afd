"""From a plain description to today's objects, and from these to plain numbers.

A *mechanism* says how one report is drawn: {"name": "krr", "k": 4, "epsilon0": 2.0}. A *question*
says what is asked: {"ask": "histogram", "categories": ["a", "b"]}. A *design* has both, and how many
people there are, honest ones, and rounds; where it has a target (epsilon, delta) in place of a
mechanism, the mechanism is looked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

import shuffledp as dp
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.client import Reporter
from shuffledp.design import Design, Law, Target
from shuffledp.randomizers.law_file import law_of
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.sampling import Source
from shuffledp.search.found import Found
from shuffledp.search.planning import planned_search
from shuffledp.search.search import Search
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import AnalystKey

Plain = Mapping[str, Any]
LEVEL = 0.95
FEW_INTEGERS = 8  # as many are pinned one by one, of more their digest

MECHANISMS: dict[str, Any] = {
    "rr": dp.RR,
    "krr": dp.KRR,
    "hadamard": dp.Hadamard,
    "olh": dp.OLH,
    "blh": dp.BLH,
    "hash": dp.LocalHash,
    "subset": dp.SubsetSelection,
    "oue": dp.OUE,
    "rappor": dp.RAPPOR,
    "unary": dp.Unary,
    "laplace": dp.Laplace,
    "gaussian": dp.Gaussian,
    "any-ldp": dp.AnyLDP,
    "matrix": dp.FromMatrix,
    "levels": OneLevel.of_sizes,
    "fakes": dp.randomizers.UserFakes,
    "dummies": dp.randomizers.ShufflerDummies,
    "tree": dp.randomizers.TreeDummies,
    "signed": dp.randomizers.SignedUnits,
    "split": dp.randomizers.SplitShares,
}


ASKED = {  # every question, by every mechanism that is looked for, or by the usual one
    *((question, by) for question in ("histogram", "crosstab", "quantile") for by in ("", "fakes", "dummies")),
    *((question, by) for question in ("mean", "sum") for by in ("", "split")),
    ("quantile", "tree"),
    ("count", "signed"),
}


def mechanism(said: Plain) -> Any:
    """The law that draws one report."""
    own = {name: value for name, value in said.items() if name not in ("name", "of")}
    if said["name"] == "check-in":
        return dp.randomizers.CheckIn(mechanism(said["of"]), **own)
    if said["name"] in ("one-of", "all-of"):
        parts = [mechanism(each) for each in said["of"]]
        return dp.randomizers.OneOf(parts, **own) if said["name"] == "one-of" else dp.randomizers.AllOf(parts)
    return MECHANISMS[said["name"]](**{name: tuple(v) if name == "sizes" else v for name, v in own.items()})


def protocol(design: Plain) -> Any:
    """Who asks a question: with the mechanism that is named, or with one that is yet to be found."""
    question, law = dict(design["question"]), design.get("mechanism")
    kind = question.pop("ask")
    question.pop("by", None)
    terms = {"n": design["people"], "honest": design.get("honest"), "rounds": design.get("rounds", 1)}
    terms |= {"delta": 1e-6, "randomizer": mechanism(law)} if law else {**design["target"], **design.get("terms", {})}
    if design.get("by") and not law and kind != "count":
        terms["mechanism"] = design["by"]
    return dp.Poll(kind, **question, **terms)


def search(design: Plain) -> Search:
    """The search for frequent words that is planned for a target."""
    own = {name: value for name, value in design["question"].items() if name != "ask"}
    if own.get("tokens"):
        own["tokens"] = tuple(own["tokens"])
    return planned_search(people=design["people"], honest=design.get("honest"), **design["target"], **own)


def estimated(design: Plain, tallies: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Values, standard errors, limits of each and of all at once, and what a question has beside."""
    if design["question"]["ask"] == "top":
        return _listed(design, tallies)
    asked = protocol(design)
    votes = [np.array(each) for each in tallies]
    options = design.get("analysis", {})
    found = _numbers(asked.analyse_counts(*votes, **options))
    for tally in votes:
        asked.check_noise(tally)
    ask, first = design["question"], votes[0]
    found["influence"] = _plain(asked.influence(asked.analyse_counts(first)))
    found["predicted"] = float(asked.predicted_stderr())
    if "by" in ask:
        known, *columns = asked.derive(first, by=ask["by"])["shares"](level=LEVEL)
        found["share_known"] = known.tolist()
        for name, column in zip(("", "_low", "_high", "_all_low", "_all_high"), columns, strict=True):
            found[f"share{name}"] = np.where(known, column, 0.0).tolist()
    if ask["ask"] == "quantile":
        rows = asked.question.quantiles(asked.analyse_counts(*votes), LEVEL)
        found["quantile"] = [[float(each) for each in row[:4]] for row in rows]
        if ask.get("ranges"):
            within = _numbers(asked.derive(*votes)["ranges"])
            found |= {f"range_{name}": column for name, column in within.items() if name != "people"}
    if "ends" in asked.derive(first):
        ends = _numbers(asked.derive(*votes)["ends"])
        found |= {f"end_{name}": column for name, column in ends.items() if name != "people"}
    return found


def _listed(design: Plain, tallies: Sequence[Sequence[int]]) -> dict[str, Any]:
    planned = search(design)
    words = planned.next([np.array(each) for each in tallies])
    assert isinstance(words, Found)
    thresholds = [level.threshold for level in words.levels]
    told = {"words": list(words.listed.labels), "thresholds": thresholds}
    return {**_numbers(words.estimate), **told, "found_from": words.found_from, "faked_from": words.faked_from}


def _numbers(estimate: Any) -> dict[str, Any]:
    (low, high), (least, most) = estimate.interval(LEVEL), estimate.simultaneous(LEVEL)
    columns = {"value": estimate.values, "stderr": estimate.stderr, "low": low, "high": high}
    told = {name: _plain(column) for name, column in (columns | {"all_low": least, "all_high": most}).items()}
    last = [len(low) - 1]  # of one that is listed by itself
    alone = estimate.at(last).interval(LEVEL)
    return {"people": estimate.n, **told, "last_alone": [float(end[0]) for end in alone]}


def _plain(column: Any) -> list[float | None]:
    """Numbers as JSON has them: there is no infinity."""
    return [each if math.isfinite(each) else None for each in np.asarray(column, dtype=float).tolist()]


def calibrated(design: Plain) -> dict[str, Any]:
    """What calibration finds for a target: parameters of the mechanism, and its integers."""
    terms, people = design["target"], design.get("people")
    if "question" not in design:
        law = dict(design["calibrate"])
        family = MECHANISMS[law.pop("name")]
        open_one = design.get("open", "strength")
        if open_one != "strength":
            family, law = mechanism(design["calibrate"]), {}
        rounds = None if open_one == "rounds" else design.get("rounds", 1)
        more = {"n": None if open_one == "people" else people, "rounds": rounds, **design.get("terms", {})}
        value = dp.calibrate(family, **terms, **more, **law).value
        return {open_one: value}
    if design["question"]["ask"] == "top":
        found = search(design)
        return {
            "spans": list(found.spans),
            "share": found.share,
            "law": told(found.law.as_json()),
            "counting": None if found.counting is None else told(found.counting.as_json()),
            "groups": [list(found.group(0)[1:3]), list(found.group(len(found.spans), counting=True)[1:3])],
        }
    asked = protocol(design)
    gridded = design["question"]["ask"] in ("mean", "sum") and (design.get("by") != "split" or "terms" in design)
    steps = {"steps": asked.randomizer.k - 1} if gridded else {}
    return {"law": told(law_of(asked.randomizer)), "messages": asked.messages, **steps}


def told(law: Plain) -> dict[str, Any]:
    """A law as it is written down, with few integers, or with their digest."""
    own = {"randomizer": law["type"], **{name: value for name, value in law.items() if name != "type"}}
    if "questions" in own:
        own["questions"] = [told(each) for each in own["questions"]]
    if len(own["integers"]) > FEW_INTEGERS:
        text = " ".join(own["integers"])
        own["integers"] = {"number": len(own["integers"]), "sha256": sha256(text.encode()).hexdigest()[:24]}
    return own


def guarantee(said: Plain) -> Guarantee:
    """What is certified of people who report by a mechanism."""
    if "groups" in said:
        once: Guarantee = dp.accounting.shuffle_groups([(mechanism(law), number) for law, number in said["groups"]])
    else:
        more = {name: said[name] for name in ("honest", "view", "adversary") if name in said}
        survey = once = dp.shuffle(mechanism(said["mechanism"]), n=said["people"], **more)
        if "sampled" in said:
            once = survey.sampled(users=said["sampled"])
        if "between" in said:
            once = survey.between(*said["between"])
    return once.compose(said["rounds"]) if said.get("rounds", 1) > 1 else once


def ends(said: Plain) -> dict[str, list[float | None]]:
    """Both ends of epsilon at a delta, and of delta at an epsilon."""
    known = guarantee(said)
    epsilon, delta = known.epsilon(delta=said["at_delta"]), known.delta(epsilon=said["at_epsilon"])
    return {"epsilon": _plain([epsilon.lower, epsilon.upper]), "delta": _plain([delta.lower, delta.upper])}


class Tape(Source):
    """Words from a fixed tape of bytes, little-endian, one after another: SHA-256 of the tape's name
    and of 0, 1, ... Of words that ``among`` lists, by their bits, every other one is one of those.
    """

    secure = False

    def __init__(self, name: str, among: Mapping[str, Sequence[int]] | None = None) -> None:
        self.name, self.among, self.block, self.left = name, among or {}, 0, b""
        self.asks: list[tuple[int, list[int]]] = []

    def _bytes(self, number: int) -> bytes:
        while len(self.left) < number:
            self.left += sha256(f"{self.name} {self.block}".encode()).digest()
            self.block += 1
        taken, self.left = self.left[:number], self.left[number:]
        return taken

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        kind = np.dtype(dtype)
        words = np.frombuffer(self._bytes(count * kind.itemsize), dtype=kind.newbyteorder("<")).astype(kind)
        listed = self.among.get(str(8 * kind.itemsize), ())
        if listed and count:
            chosen = np.frombuffer(self._bytes(count), dtype=np.uint8)
            table = np.array(listed, dtype=kind)
            words = np.where(chosen & 1, table[(chosen >> 1) % len(table)], words)
        if count:
            self.asks.append((8 * kind.itemsize, words.tolist()))
        return words


def reports(pin: Plain) -> tuple[list[Any], Tape]:
    """The reports that a tape gives for some values, and the tape after that."""
    tape = Tape(pin["tape"], pin.get("among"))
    if "mechanism" in pin and "question" not in pin:
        rows = mechanism(pin["mechanism"]).randomize(np.array(pin["values"]), rng=tape)
    else:
        values = [tuple(each) if isinstance(each, list) else each for each in pin["values"]]
        rows = protocol(pin).encode(values, rng=tape).rows
    return json.loads(json.dumps(np.asarray(rows).tolist(), default=_row)), tape


def _row(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else list(value)


def tallied(pin: Plain) -> list[int]:
    """The tally of the values' reports, in so many parts, and what the shuffler adds: one tape."""
    law, tape = mechanism(pin["mechanism"]), Tape(pin["tape"])
    rows = law.randomize(np.array(pin["values"]), rng=tape)
    total: Any = 0
    for place, part in enumerate(np.array_split(rows, pin["parts"])):
        tally = law.tally(part)
        total = total + (law.mixed_part(tally, first=place == 0, rng=tape) if law.mixes else tally)
    found: list[int] = total.tolist()
    return found


def in_a_browser(pin: Plain) -> tuple[str, Callable[[Any, str], tuple[float, list[tuple[int, list[int]]], str]]]:
    """The file that a browser reads for a question and its mechanism; and, for a value and a tape, what
    the browser is told of the value, the words that Python draws for it, and its report.
    """
    own = protocol(pin)
    law = Law.from_json(law_of(own.randomizer))
    design = Design.asked(own.question, law, Target(n=1000, honest=500, rounds=3, epsilon=1.0, delta=1e-6))
    reporter, domain = Reporter.of(design), own.question.domain(own.randomizer.k)

    def encode(value: Any, name: str) -> tuple[float, list[tuple[int, list[int]]], str]:
        tape = Tape(name, pin.get("among"))
        told = value if isinstance(value, float) else int(domain.indices([value])[0])
        (report,) = reporter.encode([told], rng=tape)
        return (
            told,
            tape.asks,
            np.asarray(report, dtype=reporter.randomizer.form.dtype.newbyteorder("<")).tobytes().hex(),
        )

    key = AnalystKey(bytes(range(32))).public
    return Collection(design=design, key=key, shuffler="http://127.0.0.1:8000").content.decode(), encode
