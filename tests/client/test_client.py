"""A client needs the law and the sampler: it draws what the protocol draws, and loads no accountant."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.client import Reporter, read_design
from shuffledp.design import Design, Law, Target
from shuffledp.errors import InvalidInput
from shuffledp.questions import OURS
from shuffledp.randomizers.law_file import law_of
from tests.pins import asked
from tests.pins.pinned import pins

HEAVY = {"scipy", "matplotlib", "shuffledp.accounting", "shuffledp.poll", "shuffledp.questions.question"}


@pytest.fixture
def design(tmp_path: Path) -> Path:
    """A written design."""
    poll = Poll("histogram", categories=["Porto", "Faro", "Lisboa"], n=1000, epsilon=1.0, delta=1e-6)
    (tmp_path / "design.json").write_text(json.dumps(Design.of(poll).as_json()), encoding="utf-8")
    return tmp_path / "design.json"


def loaded(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after ``program``."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_a_client_loads_no_accountant_and_no_reader_of_tables(tmp_path: Path) -> None:
    """Whatever is asked, by whatever law, and on every level of a search."""
    target = Target(n=1000, honest=500, rounds=3, epsilon=1.0, delta=1e-6)
    designs = {}
    for pin in pins("tapes"):
        if "question" in pin and "mechanism" in pin:
            own = asked.protocol(pin)
            law = Law.from_json(law_of(own.randomizer))
            designs[own.question.type, law.type] = Design.asked(own.question, law, target)
    words = {"ask": "top", "k": 5, "longest": 2, "tokens": ["a", "b", "c"]}
    search = asked.search({"question": words, "people": 100_000, "target": {"epsilon": 1.0, "delta": 1e-6}})
    designs["top", search.law.type] = search.first_design
    assert {name for name, _ in designs} == set(OURS)
    (tmp_path / "designs.json").write_text(json.dumps([each.as_json() for each in designs.values()]))
    encoding = f"""
import json, pathlib
from shuffledp.client import Reporter, exposure, read_design
folder = pathlib.Path({str(tmp_path)!r})
for each in json.loads((folder / "designs.json").read_text()):
    (folder / "design.json").write_text(json.dumps(each))
    design = read_design(folder / "design.json")
    assert len(Reporter.of(design).encode([0, 0])) == 2
    exposure(design)
"""
    assert not (HEAVY | {"pyarrow"}) & loaded(encoding)


def test_the_command_loads_no_accountant(tmp_path: Path, design: Path) -> None:
    (tmp_path / "t.csv").write_text("city\nPorto\nFaro\n", encoding="utf-8")
    words = ["stage", "encode", tmp_path / "t.csv", "--design", design, "--out", tmp_path / "r.parquet"]
    assert not HEAVY & loaded(f"from shuffledp.cli import main; assert main({[str(each) for each in words]!r}) == 0")
    assert (tmp_path / "r.parquet").exists()


@pytest.mark.parametrize("mechanism", ["hadamard", "hash", "subset", "oue"])
def test_a_client_draws_what_the_protocol_draws(mechanism: str) -> None:
    values = np.arange(60) % 7
    words = Poll("histogram", categories=7, mechanism=mechanism, n=60, epsilon0=2.0, delta=1e-3)
    client = Reporter.of(Design.from_json(json.loads(json.dumps(Design.of(words).as_json()))))
    drawn = client.encode(values, rng=np.random.default_rng(3))
    assert np.array_equal(drawn, words.encode(values, rng=np.random.default_rng(3)).rows)
    assert client.expected_stderr() == pytest.approx(words.predicted_stderr(), rel=1e-12)


def test_a_client_rounds_numbers_as_the_protocol_does() -> None:
    values = np.linspace(-1.0, 3.0, 50)
    mean = Poll("mean", lower=-1.0, upper=3.0, k=6, n=50, epsilon0=2.0, delta=1e-3)
    client = Reporter.of(Design.of(mean))
    assert np.array_equal(
        client.encode(values, rng=np.random.default_rng(3)), mean.encode(values, rng=np.random.default_rng(3)).rows
    )
    assert client.expected_stderr() == pytest.approx(mean.predicted_stderr(), rel=1e-12)
    with pytest.raises(InvalidInput, match="must lie in"):
        client.encode([3.5])


def test_other_integers_are_refused_when_a_design_is_read(tmp_path: Path, design: Path) -> None:
    written = json.loads(design.read_text(encoding="utf-8"))
    written["mechanism"]["integers"] = [str(int(written["mechanism"]["integers"][0]) + 1)]
    (tmp_path / "d.json").write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(InvalidInput, match="the integers of krr must be"):
        read_design(tmp_path / "d.json")
