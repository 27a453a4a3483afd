"""Audits from the command line, and people who cheat, tried against a design."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.audits import audit
from shuffledp.cli import main
from shuffledp.design import Design
from tests.audits.faults.planted import FAULTS

KRR = [
    "audit",
    "privacy",
    "--randomizer",
    "krr",
    "--k",
    "4",
    "--epsilon0",
    "1",
    "--n",
    "50",
    "--delta",
    "1e-2",
    "--runs",
    "1000",
    "--seed",
    "1",
]


def test_a_consistent_audit_exits_with_0_and_says_what_it_proved(capsys):
    assert main(KRR) == 0
    words = capsys.readouterr().out
    assert "Consistent" in words
    assert "1,000 runs" in words


def test_json_has_the_verdict_and_every_check(capsys):
    assert main([*KRR, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "consistent"
    assert answer["epsilon_lower"] <= answer["certified"]
    assert {check["name"] for check in answer["checks"]} == {
        "format",
        "law",
        "places",
        "lags",
        "integers",
        "shuffling",
        "independence",
        "repetition",
    }
    assert (answer["n"], answer["runs"], answer["delta"]) == (50, 1000, 0.01)


@pytest.mark.parametrize("form", ["words", "json"])
def test_a_violated_guarantee_exits_with_1_and_says_why(capsys, monkeypatch, form):
    rotating = FAULTS["rotated"](Poll("histogram", categories=range(4), n=50, epsilon0=1.0, delta=1e-2))
    monkeypatch.setattr("shuffledp.audits.audit", lambda _, **given: audit(rotating, **given))
    assert main([*KRR, *(["--json"] if form == "json" else [])]) == 1
    words = " ".join(capsys.readouterr().out.split())
    assert "depends on the order in which reports came" in words
    assert ("VIOLATED" in words) or (json.loads(words)["verdict"] == "violated")
    assert ("FAILED: lags" in words) or (json.loads(words)["failed"] == ["shuffling"])


@pytest.mark.parametrize(
    "more",
    [
        ["--rounds", "3"],
        ["--adversary", "strong"],
        ["--honest", "10"],
        ["--runs", "3"],
        ["--confidence", "2"],
        ["--seconds", "0"],
        ["--seed", "-1"],
    ],
)
def test_wrong_requests_exit_with_2_and_one_line(capsys, more):
    assert main([*KRR, *more]) == 2
    words = capsys.readouterr().err
    assert words.startswith("error: ")
    assert "Traceback" not in words


def test_a_bound_above_the_guarantee_without_the_confidence_of_a_verdict_is_said_and_exits_with_0(capsys, monkeypatch):
    honest = audit(sdp.KRR(k=4, epsilon0=1.0), n=20, delta=1e-2, runs=1000, rng=np.random.default_rng(1))
    unlucky = replace(honest, epsilon_lower=honest.certified + 0.1)
    monkeypatch.setattr("shuffledp.audits.audit", lambda *_, **__: unlucky)
    assert main(KRR) == 0
    assert "with confidence 0.9999" in " ".join(capsys.readouterr().out.split())


def test_a_design_of_several_messages_is_audited(tmp_path, capsys):
    path = tmp_path / "city.json"
    design = Design.of(Poll("histogram", mechanism="fakes", categories=["a", "b", "c"], n=60, epsilon=2.0, delta=1e-2))
    path.write_text(json.dumps(design.as_json()))
    line = ["audit", "privacy", "--design", str(path), "--runs", "500", "--seed", "1"]
    assert main([*line, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdict"], answer["n"], answer["randomizer"]) == ("consistent", 60, "fakes")
    assert main([*line, "--n", "60"]) == 2
    assert "a design says what is attacked, got --n as well" in capsys.readouterr().err


def test_an_audit_names_what_it_attacks(capsys):
    assert main(["audit", "privacy", "--delta", "1e-3"]) == 2
    assert "--design FILE" in capsys.readouterr().err


@pytest.fixture
def design(tmp_path: Path) -> Path:
    poll = Poll("histogram", categories=["tea", "coffee", "water"], n=200, epsilon=1.0, delta=1e-4)
    path = tmp_path / "drinks.json"
    path.write_text(json.dumps(Design.of(poll).as_json()), encoding="utf-8")
    return path


def test_one_in_a_hundred_moves_estimates_as_far_as_is_said(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "poisoning", str(design), "--seed", "1"]) == 0
    words = capsys.readouterr().out
    assert "2 malicious people of 200" in words
    assert "Nothing moved farther than the mechanism allows." in words


def test_json_has_every_estimate(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "poisoning", str(design), "--malicious", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["malicious"] == 1
    assert [each["label"] for each in answer["estimates"]] == ["tea", "coffee", "water"]
    assert all(each["moved"] == pytest.approx(each["most"]) for each in answer["estimates"])


def test_a_limit_that_is_too_low_is_a_violation(
    design: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(Poll("histogram", categories=2, n=2, epsilon0=1.0))
    right = kind.influence
    monkeypatch.setattr(kind, "influence", lambda self, estimate: 0.5 * right(self, estimate))
    assert main(["audit", "poisoning", str(design)]) == 1
    assert "VIOLATED: 3 moved farther" in capsys.readouterr().out


@pytest.mark.parametrize("malicious", ["0", "200"])
def test_somebody_must_be_honest(design: Path, malicious: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "poisoning", str(design), "--malicious", malicious]) == 2
    assert "--malicious must be from 1 to 199" in capsys.readouterr().err


def test_a_sum_in_shares_has_no_limit_however_many_cheat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All together move it by half of what people can hold, which nobody can tell."""
    path, asked = tmp_path / "mean.json", ["--lower", "0", "--upper", "1", "--n", "300", "--error", "0.01"]
    assert main(["stage", "design", "mean", *asked, "--epsilon", "1", "--delta", "1e-4", "--out", str(path)]) == 0
    for malicious in ("1", "30"):
        capsys.readouterr()
        assert main(["audit", "poisoning", str(path), "--malicious", malicious, "--seed", "1", "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)["estimates"]
        assert found["most"] is None
        assert found["moved"] == pytest.approx(0.5, abs=0.05)
