"""A design is a poll on paper: built again, it draws, counts and certifies the same."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll, questions
from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.poll import certify
from shuffledp.questions.mean.statistical_query import StatisticalQuery
from shuffledp.randomizers.law_file import law_of

HOW = {"n": 500, "epsilon": 1.0, "delta": 1e-6}
TABLE: dict[str, Any] = {"columns": ["region", "smoker"], "categories": [3, 2]}
NOISY: dict[str, Callable[[], Poll]] = {
    "histogram": lambda: Poll("histogram", categories=["a", "b", "c"], other="c", honest=400, rounds=2, **HOW),
    "binary": lambda: Poll("histogram", categories=["yes", "no"], **HOW),
    "numbers": lambda: Poll("histogram", categories=5, n=500, epsilon0=3.0, delta=1e-6),
    "mean": lambda: Poll("mean", lower=-1.0, upper=2.0, **HOW),
    **{
        f"histogram {each}": partial(Poll, "histogram", categories=40, mechanism=each, n=500, epsilon=2.0, delta=1e-6)
        for each in ("hadamard", "hash", "subset", "oue")
    },
}
POLLS: dict[str, Callable[[], Poll]] = {
    **NOISY,
    "crosstab": lambda: Poll("crosstab", **TABLE, **HOW),
    "bins": lambda: Poll("quantile", cuts=range(11), ranges=[(2, 8)], levels=(), **HOW),
    "levels": lambda: Poll("quantile", cuts=range(17), levels=(4, 16), **HOW),
    "tree": lambda: Poll("quantile", cuts=range(10), levels=2, branches=3, mechanism="dummies", **HOW),
    "count": lambda: Poll("count", value="yes", **HOW),
    "sum": lambda: Poll("sum", lower=-1.0, upper=2.0, mechanism="split", **HOW),
    "shares": lambda: Poll("mean", mechanism="split", **HOW),
    **{
        f"{question}, {mechanism}": partial(Poll, question, mechanism=mechanism, **own, **HOW)
        for question, own in (("crosstab", TABLE), ("quantile", {"cuts": range(7)}), ("histogram", {"categories": 3}))
        for mechanism in ("fakes", "dummies")
    },
}


@cache
def made(name: str) -> Poll:
    return POLLS[name]()


@pytest.fixture(params=NOISY)
def noisy(request: pytest.FixtureRequest) -> Poll:
    """One whose reports can be told from the truth by nobody."""
    return made(request.param)


@pytest.mark.parametrize("name", POLLS)
def test_json_and_back_is_the_same_poll(name: str) -> None:
    poll = made(name)
    design = Design.from_json(json.loads(Design.of(poll).file_text()))
    again = certify(design).poll
    assert (design, design.as_json()) == (Design.of(poll), Design.of(poll).as_json())
    assert again.question == poll.question
    assert again.describe() == poll.describe()
    assert again.randomizer == poll.randomizer or design.mechanism.type == "subset"
    assert again.predicted_stderr() <= again.worst_stderr() * (1.0 + 1e-12)
    assert again.guarantee.epsilon(delta=1e-6) == poll.guarantee.epsilon(delta=1e-6)
    assert design.digest == Design.of(poll).digest


def test_a_design_encodes_and_counts_as_its_poll_does(noisy: Poll) -> None:
    design, values = Design.of(noisy), np.arange(500) % min(3, noisy.randomizer.k)
    if design.domain.bounds is not None:
        values = np.linspace(-1.0, 2.0, 500)
    rows = Reporter.of(design).encode(values, rng=np.random.default_rng(5))
    parts = design.poll.randomizer.tally(rows[:150]) + design.poll.randomizer.tally(rows[150:])
    assert np.array_equal(parts, design.poll.randomizer.tally(rows))
    direct = noisy.analyse(noisy.shuffle(rows))
    assert np.array_equal(design.poll.analyse_counts(parts).values, direct.values)
    assert np.array_equal(design.poll.analyse_counts(parts).stderr, direct.stderr)


def changes(facts: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every field, of the design and of its parts, with its value and a copy to change."""
    for name, value in facts.items():
        yield name, value, facts
        if isinstance(value, dict):
            yield from changes(value)


def test_any_changed_field_is_refused(noisy: Poll) -> None:
    facts = Design.of(noisy).as_json()
    for name, value, part in list(changes(facts)):
        for wrong in (None, "nonsense", -1, [], {}, 0.001):
            if wrong == value or (wrong is None and name == "epsilon") or (wrong == 0.001 and name == "delta"):
                continue
            part[name] = wrong
            with pytest.raises(InvalidInput):
                certify(Design.from_json(facts))
        del part[name]
        with pytest.raises(InvalidInput):
            certify(Design.from_json(facts))
        part[name] = value
    assert certify(Design.from_json(facts)).digest == Design.of(noisy).digest
    with pytest.raises(InvalidInput, match="version"):
        Design.from_json(facts | {"version": 2})


def test_a_law_that_no_mechanism_draws_by_is_refused() -> None:
    facts = Design.of(made("histogram hadamard")).as_json()
    with pytest.raises(InvalidInput, match="must fit its domain"):
        Design.from_json(facts | {"mechanism": law_of(sdp.RAPPOR(k=40, epsilon0=1.0))})


def test_a_promise_that_the_noise_does_not_keep_is_refused() -> None:
    facts = Design.of(made("binary")).as_json()
    with pytest.raises(InvalidInput, match="must keep its promise"):
        certify(Design.from_json(facts | {"target": facts["target"] | {"epsilon": 0.9}}))


def test_labels_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(InvalidInput, match="strings or whole numbers"):
        Design.of(Poll("histogram", categories=[("a", 1), ("b", 2)], n=10, epsilon0=1.0, delta=1e-3))


def test_a_baseline_has_no_design() -> None:
    with pytest.raises(InvalidInput, match="must answer a question that a design can hold, got a StatisticalQuery"):
        Design.of(Poll(StatisticalQuery(query=float), n=10, epsilon0=1.0, delta=1e-6, k=1))


def test_a_design_needs_a_delta() -> None:
    with pytest.raises(InvalidInput, match="delta must be given"):
        Design.of(Poll("histogram", categories=["a", "b"], n=10, epsilon0=1.0))


def test_reading_a_design_loads_no_accountant_and_no_numbers() -> None:
    program = "import sys, shuffledp.design; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "matplotlib", "pyarrow", "shuffledp.accounting", "shuffledp.randomizers"} & set(
        loaded
    )


OUTSIDE = """
from typing import Annotated, Literal, Self

from shuffledp.domain import Labels
from shuffledp.questions.question import Question
from shuffledp.schema import NEEDED, Label, part


@part
class RankingQuestion(Question):
    unit = "people"
    counts = True
    mechanisms = ("krr",)

    type: Annotated[Literal["ranking"], NEEDED] = "ranking"
    candidates: tuple[Label, ...]

    def checked(self) -> Self:
        return self

    def domain(self, size: int) -> Labels:
        return Labels(labels=self.candidates)

    @property
    def size(self) -> int:
        return len(self.candidates)

    def scale(self, n: int) -> float:
        return n


QUESTION = RankingQuestion
"""


def distribution(folder: Path, name: str, *, question: str = "ranking", folder_of: str = "") -> None:
    """A package that brings a question, as it looks once it is installed."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").touch()
    (folder / name / "question.py").write_text(OUTSIDE, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        f"[shuffledp.questions]\n{question} = {folder_of or name}\n", encoding="utf-8"
    )


def ranked(**question: Any) -> dict[str, Any]:
    """A design of the question that the package brings, as plain data."""
    asked = Poll("histogram", categories=["x", "y", "z"], **HOW)
    return Design.of(asked).as_json() | {"question": {"type": "ranking", "candidates": ["x", "y", "z"]} | question}


def test_a_client_reports_to_a_question_that_it_does_not_know() -> None:
    """It reads domain and mechanism; code that has the question refuses what is not installed."""
    design = Design.from_json(ranked(more={"rounds": [1, None, "two"]}))
    assert Reporter.of(design).encode([0, 2, 1]).shape == (3,)
    assert design.question.as_json()["more"] == {"rounds": [1, None, "two"]}
    with pytest.raises(InvalidInput, match=r"the question must be one of histogram, .*, got 'ranking'"):
        certify(design)


def test_a_question_from_another_distribution_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    distribution(tmp_path, "outside_ranking")
    monkeypatch.syspath_prepend(tmp_path)
    assert questions.names()[-1] == "ranking"
    design = Design.from_json(json.loads(json.dumps(ranked())))
    assert design.resolved.candidates == ("x", "y", "z")
    assert Design.from_json(design.as_json()).digest == design.digest


def test_a_name_that_is_claimed_twice_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("one_ranking", "other_ranking"):
        distribution(tmp_path, name)
    distribution(tmp_path, "impostor", question="histogram")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidInput, match=r"got 'ranking' from one_ranking 1\.0 and other_ranking 1\.0"):
        questions.folder_of("ranking")
    assert questions.folder_of("histogram") == "shuffledp.questions.histogram"
    for name in ("first", "second"):  # even for one folder
        distribution(tmp_path, name, question="lone", folder_of="one_ranking")
    with pytest.raises(InvalidInput, match=r"got 'lone' from first 1\.0 and second 1\.0\. Uninstall one"):
        questions.folder_of("lone")


@pytest.mark.parametrize(
    "question",
    [
        {"categories": ["b", "a", "c"], "other": "c"},  # the same labels in another order
        {"categories": ["a", "b"], "other": None},
        {"categories": ["a", "b", "c"], "other": None},
        {"categories": 3, "other": None},
    ],
    ids=["order", "fewer", "other", "numbers"],
)
def test_a_question_must_resolve_to_the_stored_domain(question: dict[str, Any]) -> None:
    facts = Design.of(made("histogram")).as_json()
    design = Design.from_json(facts | {"question": {"type": "histogram"} | question})
    assert len(Reporter.of(design).encode([0, 1, 2])) == 3, "a client does not read it"
    with pytest.raises(InvalidInput, match="the domain of a design must be that of its histogram"):
        certify(design)


@pytest.mark.parametrize(
    "domain",
    [
        {"type": "labels", "labels": ["a", "b"], "other": None, "missing": None},
        {"type": "labels", "labels": 4, "other": None, "missing": None},
        {"type": "bins", "cuts": [0.0, 1.0, 2.0], "clip": False},
        {"type": "grid", "lower": 0.0, "upper": 1.0, "steps": 3, "clip": False},
    ],
    ids=["fewer", "more", "bins", "grid"],
)
def test_a_mechanism_of_another_size_than_its_domain_is_refused_by_a_client(domain: dict[str, Any]) -> None:
    facts = Design.of(made("histogram")).as_json()
    with pytest.raises(InvalidInput, match="the mechanism of a design must fit its domain"):
        Design.from_json(facts | {"domain": domain})
