"""What the page shows is what the library says."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from shuffledp import Poll
from shuffledp.errors import InvalidInput
from shuffledp.literature.bounds import LITERATURE
from shuffledp.literature.comparison import compare
from shuffledp.planning import plan
from shuffledp.studio import answer as answers
from shuffledp.studio.answer import PARTS, answer, calibrated
from shuffledp.studio.request import PlanRequest

POLL: dict[str, Any] = {"task": "histogram", "n": 5000, "size": 8, "epsilon": 1.0, "delta": 1e-7}


def asked(**changes: Any) -> PlanRequest:
    return PlanRequest(**(POLL | changes))


def errors(found: dict[str, Any]) -> dict[str, float]:
    return {each["model"]: each["value"] for each in found["errors"]}


@pytest.mark.parametrize("honest", [100.0, 80.0])
def test_errors_and_noise_are_those_of_the_plan(honest: float) -> None:
    found = answer(asked(honest=honest))
    table = plan("histogram", categories=8, n=5000, epsilon=1.0, delta=1e-7, honest=int(50 * honest))
    by_name = {option.name: option for option in table.options}
    central = "discrete Laplace noise, counts made to add up"
    names = {"local": "subset selection, sets of 2", "shuffled": "histogram, krr", "central": central}
    assert errors(found) == {model: by_name[name].error for model, name in names.items()}
    assert [each["mechanism"] for each in found["errors"]] == [names["local"], "", names["central"]]
    assert found["epsilon0"]["value"] == by_name["histogram, krr"].epsilon0
    assert found["certified"] is True


def test_an_encoding_is_compared_with_the_best_encoding_without_a_shuffler() -> None:
    """The local model with a worse encoding would flatter the shuffler."""
    found = errors(answer(asked(task="histogram", size=100, mechanism="subset")))
    terms: dict[str, Any] = {"categories": 100, "mechanism": "subset", "n": 5000, "epsilon": 1.0, "delta": 1e-7}
    assert found["shuffled"] == Poll("histogram", **terms).predicted_stderr()
    assert found["local"] == Poll("histogram", **terms, honest=1).predicted_stderr()
    assert found["local"] == errors(answer(asked(task="histogram", size=100, mechanism="oue")))["local"]
    assert found["central"] < found["shuffled"] < found["local"]


def test_a_mean_is_in_its_own_unit() -> None:
    found = answer(asked(task="mean", lower=-10, upper=30))
    terms: dict[str, Any] = {"n": 5000, "epsilon": 1.0, "delta": 1e-7, "lower": -10.0, "upper": 30.0}
    assert errors(found)["shuffled"] == Poll("mean", **terms).predicted_stderr()
    assert errors(found)["local"] < Poll("mean", **terms, honest=1).predicted_stderr()
    assert [each["mechanism"] for each in found["errors"]] == ["hybrid mechanism", "", "staircase noise"]
    assert {each["scale"] for each in found["errors"]} == {40.0}


def test_given_noise_is_certified_for_all_rounds() -> None:
    found = answer(asked(given="epsilon0", epsilon0=2.0, rounds=3))
    guarantee = Poll("histogram", categories=range(8), n=5000, epsilon0=2.0, rounds=3).guarantee
    assert found["epsilon"]["value"] == guarantee.epsilon_at_most(delta=1e-7)
    assert answer(asked(given="epsilon0", epsilon0=2.0, rounds=3), "numbers")["epsilon"] == found["epsilon"]


def test_the_curve_has_both_certified_ends() -> None:
    request = asked()
    found = answer(request, "curve")
    bound = calibrated(request).poll.guarantee.epsilon(delta=1e-7)
    assert {end: each["value"] for end, each in found["interval"].items()} == {
        "lower": bound.lower,
        "upper": bound.upper,
    }
    for drawn in (found["curve"], answer(request, "numbers")["curve"]):  # finely, and as quickly as the pointer moves
        assert all(low <= high for low, high in zip(drawn["lower"], drawn["upper"], strict=True))
        near = min(range(len(drawn["at"])), key=lambda place: abs(drawn["at"][place] - 1.0))
        exact = calibrated(request).poll.guarantee.delta(epsilon=drawn["at"][near])
        assert drawn["lower"][near] <= exact.upper
        assert drawn["upper"][near] >= exact.lower
        assert drawn["floor"] == 1e-12


def test_every_published_bound_is_shown_or_says_why_not() -> None:
    request = asked()
    found = answer(request, "published")
    table = compare(calibrated(request).poll.guarantee, delta=1e-7, patience=answers.QUICK)
    assert [row["name"] for row in found["rows"]] == [row.name for row in table.rows]
    assert {row["name"] for row in found["rows"] if row["verdict"] == "refuted"} == {
        row.name for row in table.rows if row.refuted
    }
    listed = {row["name"].partition("+")[0] for each in ("rows", "silent", "skipped") for row in found[each]}
    assert listed >= {bound.name for bound in LITERATURE if bound.name != "shuffledp-lower"}
    assert found["skipped"], "the control: some take long, and come with the second pass"


def test_every_part_is_strict_json_with_texts_on_the_safe_side() -> None:
    request = asked(given="epsilon0", epsilon0=3.0, n=50)  # next to nothing is gained here
    for part in PARTS.keys() - {"thorough"}:  # the same as published, with more patience
        json.dumps(answer(request, part), allow_nan=False)
    found = answer(request)
    assert float(found["epsilon"]["text"]) >= found["epsilon"]["value"]
    assert found["epsilon0"]["text"] == "3", "what was given, as it was given"
    promised = answer(asked(epsilon=0.2))
    assert promised["epsilon"]["text"] == "0.2"
    assert float(promised["epsilon0"]["text"]) >= promised["epsilon0"]["value"]
    for each in found["errors"]:
        assert float(each["text"].replace(",", "")) >= each["value"]
    lower = answer(request, "curve")["interval"]["lower"]
    assert float(lower["text"]) <= lower["value"]
    assert "delta is not below 1/n" in answer(asked(delta=0.01))["cautions"][0]


def test_the_sentences_say_what_the_numbers_say() -> None:
    found = answer(asked(rounds=2))
    assert found["meaning"].startswith("Changing one person's answer")
    assert "at most a factor of 2.72, plus 1e-7" in found["meaning"]
    assert math.exp(found["epsilon0"]["value"]) <= float(found["colluding"].split("factor of ")[1].split(",")[0])
    assert found["colluding"].endswith("in each of 2 rounds.")


def test_what_was_certified_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    request = asked(size=9)
    answer(request)
    monkeypatch.setattr(answers, "Poll", lambda *_, **__: pytest.fail("calibrated again"))
    assert answer(request)["certified"]
    with pytest.raises(pytest.fail.Exception, match="calibrated again"):
        answer(asked(size=10))  # the control


def test_several_rounds_are_forecast_without_calibrating_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the pointer nothing may take seconds: one round is calibrated, and no other."""
    monkeypatch.setattr(answers, "calibrated", lambda *_: pytest.fail("certified at the pointer"))
    found = answer(asked(rounds=30), "numbers")
    assert (found["certified"], "curve" in found) == (False, False)
    with pytest.raises(pytest.fail.Exception, match="certified at the pointer"):
        answer(asked(rounds=30), "certified")  # the control


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(InvalidInput, match="part must be one of numbers, certified"):
        answer(asked(), "magic")


def test_the_upper_end_is_never_beyond_what_is_promised() -> None:
    """The search for epsilon stops earlier than that for the noise, whose promise is certified."""
    request = PlanRequest(task="histogram", n=60, size=204, mechanism="subset", epsilon=0.363, delta=4.45e-12)
    assert calibrated(request).poll.guarantee.epsilon(delta=4.45e-12).upper > 0.363, "the control"
    upper = answer(request, "curve")["interval"]["upper"]
    assert (upper["value"], upper["text"]) == (0.363, "0.363")


@pytest.mark.parametrize(
    "changes, remedy",
    [({"epsilon0": 0.1, "delta": 0.01}, "lower delta"), ({"epsilon0": 8.0, "rounds": 100}, "fewer rounds")],
)
def test_noise_whose_promise_cannot_be_compared_is_a_sentence_about_it(changes: dict[str, Any], remedy: str) -> None:
    for part in ("numbers", "certified", "curve"):
        with pytest.raises(InvalidInput, match=f"epsilon0 must be worth .*{remedy}"):
            answer(asked(given="epsilon0", **changes | {"n": 1000}), part)


def test_who_gains_next_to_nothing_is_not_told_a_factor() -> None:
    alone = answer(PlanRequest(task="histogram", n=5, size=100, mechanism="oue", epsilon=0.5, delta=1e-9))
    assert alone["gain"].startswith("Hardly closer than without a shuffler (subset selection, sets of 38), and ")
    curator = "a curator who sees every value (discrete Laplace noise, counts made to add up)."
    assert f" times the error of {curator}" in alone["gain"]
    assert "e+" not in "".join(each["share"] for each in alone["errors"])
    gain = answer(asked())["gain"]
    assert " times closer than without a shuffler (subset selection, sets of 2), and 3.6 times" in gain
    weak = answer(PlanRequest(task="histogram", n=20, size=4, mechanism="oue", epsilon=4.0, delta=1e-9))["gain"]
    assert " times as far off as without a shuffler (k-ary randomized response), " in weak


def test_the_planner_says_beside_the_number_what_an_end_rests_on() -> None:
    hashed = asked(task="histogram", mechanism="hash", size=50)
    assert answer(hashed, "numbers")["only"] == answer(hashed, "curve")["only"] == "if the hash functions are ideal"
    assert answer(asked(), "curve")["only"] == ""
