import json
from dataclasses import replace

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
        ["--budget", "0"],
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
    line = ["audit", "--design", str(path), "--runs", "500", "--seed", "1"]
    assert main([*line, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdict"], answer["n"], answer["randomizer"]) == ("consistent", 60, "fakes")
    assert main([*line, "--n", "60"]) == 2
    assert "a design says what is attacked, got --n as well" in capsys.readouterr().err


def test_an_audit_names_what_it_attacks(capsys):
    assert main(["audit", "--delta", "1e-3"]) == 2
    assert "--design FILE" in capsys.readouterr().err
