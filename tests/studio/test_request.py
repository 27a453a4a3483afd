"""What the page may ask, and the commands that ask the same."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.cli import main
from shuffledp.client import read_design
from shuffledp.errors import InvalidInput
from shuffledp.studio.request import PlanRequest

HISTOGRAM: dict[str, Any] = {"task": "histogram", "n": 2000, "size": 4, "epsilon": 1, "delta": 1e-6}
DESIGNED = {
    "histogram": HISTOGRAM,
    "names": HISTOGRAM | {"names": "tea, green tea,'quoted', naïve", "honest": 90},
    "rounds": HISTOGRAM | {"rounds": 3, "honest": 66.6},
    "hash": HISTOGRAM | {"size": 50, "mechanism": "hash"},
    "mean": HISTOGRAM | {"task": "mean", "lower": -5, "upper": 120.5},
}


@pytest.mark.parametrize("name", DESIGNED)
def test_the_design_is_the_commands_byte_by_byte(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = PlanRequest.from_json(DESIGNED[name])
    assert main(shlex.split(asked.commands()["design"])[1:]) == 0
    assert Path("design.json").read_bytes() == asked.design().file_text().encode()
    assert read_design(Path("design.json")).n == 2000


def test_the_plan_can_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(PlanRequest.from_json(DESIGNED["mean"] | {"honest": 50}).commands()["plan"])[1:]) == 0
    assert "at least 1,000 of them honest" in capsys.readouterr().out


@pytest.mark.parametrize("mechanism", ["hadamard", "hash", "subset", "oue"])
def test_given_noise_is_the_command_epsilon(mechanism: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = {"mechanism": mechanism, "given": "epsilon0", "epsilon0": 2}
    asked = PlanRequest.from_json(HISTOGRAM | told)
    assert set(asked.commands()) == {"epsilon"}
    assert main([*shlex.split(asked.commands()["epsilon"])[1:], "--json"]) == 0
    assert '"epsilon0": 2.0' in capsys.readouterr().out
    with pytest.raises(InvalidInput, match="must promise an epsilon"):
        asked.design()


def test_requests_that_mean_the_same_are_equal() -> None:
    asked = PlanRequest.from_json(HISTOGRAM | {"lower": -3, "epsilon0": 7})
    assert asked == PlanRequest.from_json(HISTOGRAM | {"epsilon": 1.0, "n": 2000.0})
    assert asked != PlanRequest.from_json(HISTOGRAM | {"mechanism": "oue"})
    mean = DESIGNED["mean"]
    assert PlanRequest.from_json(mean | {"mechanism": "oue"}) == PlanRequest.from_json(mean)
    assert asked != PlanRequest.from_json(HISTOGRAM | {"epsilon": 2})


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"task": "sum"}, "task must be one of histogram"),
        ({"task": ["mean"]}, "task must be one of"),
        ({"n": 0}, "n must be at least 1"),
        ({"n": 10**400}, "n must be at most"),
        ({"n": 1.5}, "whole number"),
        ({"n": "1000"}, "whole number"),
        ({"n": True}, "whole number"),
        ({"size": 1}, "categories must be at least 2"),
        ({"size": 10**9}, "categories"),
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"rounds": 10**9}, "rounds must be at most"),
        ({"honest": 0}, "honest must lie above 0 %"),
        ({"honest": 101}, "honest must lie above 0 %"),
        ({"epsilon": 0}, "epsilon must lie in \\[1e-5, 50\\]"),
        ({"epsilon": 500}, "a larger one hides nothing"),
        ({"epsilon": -1}, "epsilon must lie in"),
        ({"epsilon": None}, "epsilon must be a number"),
        ({"delta": 0}, "delta must lie in"),
        ({"delta": 1e-300}, "delta must be at least"),
        ({"given": "epsilon0", "epsilon0": 0}, "epsilon0 must be positive"),
        ({"given": "both"}, "given must be one of"),
        ({"task": "mean", "lower": 3, "upper": 3}, "lower"),
        ({"task": "mean", "given": "epsilon0"}, "a mean must be planned from epsilon"),
        ({"mechanism": "magic"}, "mechanism must be one of"),
        ({"names": "tea"}, "at least two"),
        ({"names": "tea,tea"}, "distinct"),
        ({"names": "tea,\x00"}, "printable"),
        ({"names": "tea,\u202ecoffee"}, "printable to be written down"),
        ({"names": "a," * 9999}, "10000 characters"),
        ({"names": 7}, "names must be a list"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_bad_value_is_one_sentence_with_a_remedy(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        PlanRequest.from_json(HISTOGRAM | wrong)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).endswith(".")


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.lists(st.integers(), max_size=2)
)


@settings(max_examples=100)
@given(
    st.one_of(
        VALUES,
        st.dictionaries(
            st.sampled_from([*HISTOGRAM, "names", "mechanism", "lower", "upper", "rounds", "honest"]), VALUES
        ),
    ),
    st.sampled_from(["histogram", "mean"]),
)
def test_whatever_is_sent_is_understood_or_refused(sent: object, task: str) -> None:
    whole = HISTOGRAM | {"task": task} | sent if isinstance(sent, dict) else sent
    try:
        asked = PlanRequest.from_json(whole)
    except InvalidInput:
        return
    assert all(command.startswith("shuffledp ") for command in asked.commands().values())
    assert 1 <= asked.crowd <= asked.n
