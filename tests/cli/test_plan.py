"""The command plan: a table, JSON, a figure, and one sentence for a wrong request."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp import KRR, OUE, Hadamard, Poll, SubsetSelection
from shuffledp.cli import main
from shuffledp.design import Law
from shuffledp.mechanisms import grids, one_message
from shuffledp.planning import plan
from shuffledp.randomizers.randomizer import GroupLaw
from shuffledp.search.planning import planned_search, rarest_found
from shuffledp.wording import right

MEAN = ["plan", "mean", "--n", "200", "--epsilon", "1", "--delta", "1e-4"]


def test_a_plan_lists_every_protocol_with_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(MEAN) == 0
    rows = capsys.readouterr().out.splitlines()
    places = [
        next(place for place, row in enumerate(rows) if row.endswith(f" {name}"))
        for name in ("staircase noise", "mean, krr", "hybrid mechanism")
    ]
    assert places == sorted(places), "sorted by error"


def test_a_plan_as_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MEAN, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    errors = [option["error"] for option in told["options"]]
    assert (told["task"], told["n"], told["rounds"]) == ("mean", 200, 1)
    assert errors == sorted(errors)


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule of thumb in place of the calibration, which takes seconds: a larger crowd hides
    more.
    """

    def guessed(
        _family: object, _parameters: object, users: int, epsilon: float, _delta: float, _rounds: int, *_view: object
    ) -> float:
        return epsilon * users / (users + 100.0)

    for module in (one_message, grids):
        monkeypatch.setattr(module, "strongest", guessed)


@pytest.mark.usefixtures("quickly")
def test_a_plan_for_fewer_honest_people_needs_more_noise(capsys: pytest.CaptureFixture[str]) -> None:
    errors = []
    for share in ("100%", "50%", "100"):
        assert main([*MEAN, "--honest", share, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        errors.append(
            (told["honest"], next(option["error"] for option in told["options"] if option["name"] == "mean, krr"))
        )
    (everybody, least), half, same = errors
    assert (everybody, half[0]) == (200, 100)
    assert half[1] > least
    assert half == same
    assert "at least 100 of them honest" in str(plan("mean", n=200, epsilon=1.0, delta=1e-4, honest=100))


@pytest.mark.usefixtures("quickly")
def test_a_plan_shows_the_error_of_the_worst_category_beside_the_typical_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With 16 categories, one that everybody holds errs by nearly three times as much as the
    average that was all a plan showed.
    """
    asked = ["plan", "histogram", "--categories", "16", "--n", "2000", "--epsilon", "5", "--delta", "1e-4"]
    assert main([*asked, "--json"]) == 0
    told = {option["name"]: option for option in json.loads(capsys.readouterr().out)["options"]}
    assert told["histogram, krr"]["worst"] > 2.5 * told["histogram, krr"]["error"]
    curator = told["discrete Laplace noise, counts made to add up"]
    assert curator["worst"] == curator["error"]
    assert main(asked) == 0
    assert f"{told['histogram, krr']['worst']:.4g}" in capsys.readouterr().out


@pytest.mark.parametrize("method", [None, "hadamard", "oue"])
@pytest.mark.parametrize("domain", [2, 5, 9])
def test_no_data_make_a_count_err_more_than_the_worst_error(method: str | None, domain: int) -> None:
    common = {"n": 100, "epsilon0": 3.0}
    protocol = Poll("histogram", categories=domain, mechanism=method, **common)  # type: ignore[arg-type]
    rng = np.random.default_rng(7)
    data = [*(100.0 * np.eye(domain)), *(rng.multinomial(100, rng.dirichlet(np.full(domain, 0.3))) for _ in range(200))]
    errors = [protocol.predicted_stderrs(counts).max() for counts in data]
    assert max(errors) == pytest.approx(protocol.worst_stderr())


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["plan", "median", *MEAN[2:]], "QUESTION must be one of"),
        ([*MEAN, "--categories", "5"], "categories must be"),
        (["plan", "histogram", *MEAN[2:]], "categories must be"),
        ([*MEAN, "--plot", "plan.gif"], "must end in .png"),
        ([*MEAN[:-1], "2"], "delta must lie in"),
        ([*MEAN, "--honest", "201"], "error: --honest must be at most n = 200"),
        ([*MEAN, "--honest", "0%"], "'0%' is not a share"),
    ],
)
def test_a_wrong_request_is_answered_by_one_sentence(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert reason in error


def test_a_plan_of_top_words_says_what_a_search_would_find(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("a\nb\nc\n", encoding="utf-8")
    asked = ["plan", "top", "--n", "50000", "--words", "5", "--longest", "3", "--tokens", str(tokens)]
    asked += ["--epsilon", "1", "--delta", "1e-6"]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    search = planned_search(people=50_000, epsilon=1.0, delta=1e-6, k=5, longest=3, tokens=("a", "b", "c"))
    assert (told["levels"], told["found_from"]) == (len(search.spans), rarest_found(search))
    assert told["epsilon"] <= 1.0
    assert told["people_of_a_level"] == search.group(0).honest
    group = search.group(len(search.spans), counting=True)
    law, share = group.randomizer, group.share
    votes = GroupLaw(share * law.hit, share * law.miss, share * law.contrast)
    assert told["error_of_a_count"] == pytest.approx(math.sqrt(votes.variance(told["found_from"], 50_000)))
    assert main(asked) == 0
    assert f"{told['found_from']:,}" in capsys.readouterr().out


def test_a_promise_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    """An epsilon that nobody needs noise for is planned; a delta that breaks every promise is not."""
    for task in (["count"], ["sum"], ["crosstab", "--categories", "2x2"]):
        assert main(["plan", *task, "--n", "10000", "--epsilon", "700", "--delta", "1e-6", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["refused"] == []
    assert main(["plan", "top", "--n", "10000", "--epsilon", "1", "--delta", "0"]) == 2
    assert "delta must lie in (0, 1)" in capsys.readouterr().err
    assert main(["plan", "quantile", "--categories", "1e9", "--n", "10000", "--epsilon", "1", "--delta", "1e-6"]) == 2
    assert "must be at most" in capsys.readouterr().err
    assert main(["plan", "mean", "--n", "10000", "--epsilon", "1", "--delta", "0.999999999"]) == 2
    assert "delta must be at most 0.1 for a promise" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, words",
    [
        (["top", "--categories", "5"], "--categories must be left out of a plan of top"),
        (["top", "--latex"], "--latex must be left out of a plan of top"),
        (["top", "--rounds", "2"], "rounds must be 1 for top words"),
        (["top"], "not even a word that all hold would be found"),
        (["top", "--words", "5", "--least-holders", "200"], "least_holders must be at most the 100 people"),
        (["mean", "--least-holders", "4"], "--least-holders must be left out of a plan of mean"),
        (["mean", "--longest", "4"], "--longest must be left out of a plan of mean"),
    ],
)
def test_plans_of_top_words_and_of_others_have_their_own_options(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *options, "--n", "100", "--epsilon", "1", "--delta", "1e-6"]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("family", [KRR, Hadamard, OUE, SubsetSelection])
def test_no_guess_from_one_report_is_right_more_often_than_is_said(family: Any) -> None:
    """By the law itself: the mean over values of the most likely one's probability, report by
    report.
    """
    randomizer = family(k=5, epsilon0=1.7)
    many = 50_000
    drawn = [randomizer.randomize(np.full(many, value), rng=np.random.default_rng(value)) for value in range(5)]
    seen = [Counter(map(tuple, np.asarray(each).reshape(many, -1).tolist())) for each in drawn]
    best = sum(max(each[report] for each in seen) for report in set().union(*seen)) / (5 * many)
    said = right(1.7, 5)
    assert best <= said + 0.01
    if family is KRR:
        assert best == pytest.approx(said, abs=0.01)


def test_a_plan_says_beside_epsilon0_how_often_a_report_is_true() -> None:
    made = plan("histogram", categories=2, n=7000, honest=5600, epsilon=1.0, delta=1e-6)
    found = {each.name: each.right for each in made.options}
    assert found["histogram, krr"] == pytest.approx(0.994, abs=1e-3)
    assert found["histogram, shuffler's dummies (sealed)"] == 1.0
    assert [each.right for each in made.options if each.trust == "curator"] == [None]


def test_a_row_of_a_plan_says_what_it_rests_on_and_that_messages_are_the_truth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["plan", "histogram", "--categories", "40", "--n", "5000", "--epsilon", "1", "--delta", "1e-6"]
    assert main([*asked, "--latex"]) == 0
    out = capsys.readouterr().out
    assert "histogram, hash, if the hash functions are ideal" in out
    assert "100" not in out
    assert all("always" in line for line in out.splitlines() if "(sealed)" in line)
    assert main(asked) == 0
    assert "Always: a person's messages contain the true answer" in capsys.readouterr().out
    assert main([*asked, "--json"]) == 0
    rests = {each["name"]: each["rests"] for each in json.loads(capsys.readouterr().out)["options"]}
    assert {name for name, each in rests.items() if each} == {"histogram, hash"}


def test_what_a_report_shows_is_said_as_the_law_has_it() -> None:
    def shown(family: str, epsilon0: float | None, k: int, *truth: str, **own: int) -> str:
        law = {"type": family, "k": k, "epsilon0": epsilon0, "integers": ["1"]} | own
        return Law.from_json(law).reveals(*truth)

    assert shown("oue", math.log(3.002), 2).startswith(
        "the best guess from a report is right with probability at most 75.1 %"
    )
    assert shown("hadamard", 9.0, 2).startswith(
        "the best guess from a report is right with probability at most 99.99 %"
    )
    assert shown("fakes", None, 9) == "a person's messages contain the true answer"
    assert shown("split", None, 9, "number", honest=9).startswith("added up, a person's messages are the true number")
