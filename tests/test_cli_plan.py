"""The command plan: a table, JSON, a figure, and one sentence for a wrong request."""

import json

import pytest

from shuffledp.cli import main

MEAN = ["plan", "mean", "--n", "200", "--epsilon", "1", "--delta", "1e-4"]


def test_a_plan_lists_every_protocol_with_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(MEAN) == 0
    said = capsys.readouterr().out
    assert [name for name in ("CentralMean", "Mean", "LocalMean") if name in said] == ["CentralMean", "Mean", "LocalMean"]
    assert said.index("CentralMean") < said.index("LocalMean"), "sorted by error"


def test_a_plan_as_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MEAN, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    errors = [option["error"] for option in told["options"]]
    assert (told["task"], told["n"], told["rounds"]) == ("mean", 200, 1)
    assert errors == sorted(errors)


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["plan", "median", *MEAN[2:]], "the task must be one of"),
        ([*MEAN, "--domain", "5"], "domain must be"),
        (["plan", "histogram", *MEAN[2:]], "domain must be"),
        ([*MEAN, "--plot", "plan.gif"], "must end in .png"),
        ([*MEAN[:-1], "2"], "delta must lie in"),
    ],
)
def test_a_wrong_request_is_answered_by_one_sentence(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert reason in error
