"""The command training."""

import json
from pathlib import Path

import pytest

from shuffledp.cli import main

SMALL = ["--sigma", "2", "--steps", "20", "--delta", "1e-5"]


def test_the_table_and_the_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    figure = tmp_path / "samplers.svg"
    assert main(["training", *SMALL, "--plot", str(figure)]) == 0
    shown = capsys.readouterr().out
    assert shown.index("random allocation") < shown.index("shuffled batches") < shown.index("full batches")
    assert "add-or-remove adjacency" in shown
    assert figure.read_text(encoding="utf-8").startswith("<?xml")


def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["training", *SMALL, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"sigma": 2.0, "steps": 20, "epochs": 1}.items() <= answer.items()
    assert {"random allocation", "Poisson sampling"} <= {each["name"] for each in answer["samplers"]}
    assert all(each["lower"] <= each["upper"] for each in answer["samplers"])


def test_a_target_solves_for_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["training", "--steps", "50", "--epsilon", "1", "--delta", "1e-5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["solved_for"] == "sigma"
    assert answer["reached_epsilon"] <= 1.0
    assert main(["training", "--sigma", "1", "--epsilon", "1", "--delta", "1e-5"]) == 0
    assert "at least: fewer would miss the target" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sigma", "1", "--delta", "1e-6"], "--steps must be given"),
        (["--sigma", "0", "--steps", "5", "--delta", "1e-6"], "sigma must be positive"),
        (["--sigma", "1", "--steps", "0", "--delta", "1e-6"], "steps must be at least 1"),
        (["--sigma", "1", "--steps", "5", "--delta", "2"], "delta must lie in"),
        (["--sigma", "1", "--steps", "5", "--epochs", "1", "--epsilon", "1", "--delta", "1e-6"], "left out, got none"),
        (["--sigma", "1", "--epsilon", "1", "--delta", "1e-6", "--plot", "a.png"], "--plot must be left out"),
    ],
)
def test_bad_requests_are_one_line_and_exit_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["training", *words]) == 2
    assert said in capsys.readouterr().err
