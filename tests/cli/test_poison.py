"""People who cheat, tried against a design from the command line."""

import json
from pathlib import Path

import pytest

from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.design import Design


@pytest.fixture
def design(tmp_path: Path) -> Path:
    poll = Poll("histogram", categories=["tea", "coffee", "water"], n=200, epsilon=1.0, delta=1e-4)
    path = tmp_path / "drinks.json"
    path.write_text(json.dumps(Design.of(poll).as_json()), encoding="utf-8")
    return path


def test_one_in_a_hundred_moves_estimates_as_far_as_is_said(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["poison", str(design), "--seed", "1"]) == 0
    words = capsys.readouterr().out
    assert "2 malicious people of 200" in words
    assert "Nothing moved farther than the protocol says." in words


def test_json_has_every_estimate(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["poison", str(design), "--malicious", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["malicious"] == 1
    assert [each["label"] for each in answer["estimates"]] == ["tea", "coffee", "water"]
    assert all(each["moved"] == pytest.approx(each["most"]) for each in answer["estimates"])


def test_a_limit_that_is_too_low_is_a_violation(
    design: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(Poll("histogram", categories=2, n=2, epsilon0=1.0))
    right = kind.sway
    monkeypatch.setattr(kind, "sway", lambda self, estimate: 0.5 * right(self, estimate))
    assert main(["poison", str(design)]) == 1
    assert "VIOLATED: 3 moved farther" in capsys.readouterr().out


@pytest.mark.parametrize("malicious", ["0", "200"])
def test_somebody_must_be_honest(design: Path, malicious: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["poison", str(design), "--malicious", malicious]) == 2
    assert "--malicious must be from 1 to 199" in capsys.readouterr().err


def test_a_sum_in_shares_has_no_limit_however_many_cheat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All together move it by half of what people can hold, which nobody can tell."""
    path, asked = tmp_path / "mean.json", ["--lower", "0", "--upper", "1", "--n", "300", "--error", "0.01"]
    assert main(["design", "mean", *asked, "--epsilon", "1", "--delta", "1e-4", "--out", str(path)]) == 0
    for malicious in ("1", "30"):
        capsys.readouterr()
        assert main(["poison", str(path), "--malicious", malicious, "--seed", "1", "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)["estimates"]
        assert found["most"] is None
        assert found["moved"] == pytest.approx(0.5, abs=0.05)
