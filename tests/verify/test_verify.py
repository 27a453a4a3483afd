"""Real reports pass; a report in which anything was changed fails."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.errors import InvalidInput
from shuffledp.judge.reports import counted
from shuffledp.randomizers import ShufflerDummies
from shuffledp.randomizers.law_file import law_of
from shuffledp.verify import Verification, verify
from tests.verify.releases import NAMES, as_page, facts, made_by, rehashed
from tests.verify.test_every_field import forgeries, is_free

# What no report can prove about itself.
UNPROVEN = {"secure randomness", "missing values", "the page", "the question", "the notes", "estimates.csv"}
UNPROVEN |= {"where the categories came from", "the ledger", "when and with what it was made"}


AMONG_FAKES = ["fakes", "dummies", "light fakes", "light dummies"]


def verified(made: dict[str, Any]) -> Verification:
    return verify(json.dumps(made))


def fails(made: dict[str, Any]) -> bool:
    """Whether a report is refused or fails."""
    try:
        return verified(made).verdict == "FAIL"
    except InvalidInput:
        return True


@pytest.mark.parametrize("name", NAMES)
def test_a_report_as_it_was_written_passes(name: str) -> None:
    found = verified(facts(name))
    assert not found.failed
    assert found.verdict == "pass"
    beside = {f"{table['name']}.csv" for table in facts(name)["tables"][1:]}
    assert {check.what for check in found.checks if check.outcome == "not checked"} == UNPROVEN | beside


@pytest.mark.parametrize("name", ["tiny", "mean"])
def test_changing_any_single_leaf_of_a_report_fails_by_its_hash_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    made = facts(name)
    forged = [each for each in forgeries(made) if each.deed == "changed" and not is_free(each.name)]
    assert len(forged) > 60
    for each in forged:
        hashes = each.made["hashes"] if each.name.startswith("hashes") else made["hashes"]
        assert fails(each.made | {"hashes": hashes}), each.name


def test_a_forger_who_mends_the_hashes_is_found_out_by_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger numbers; smaller ones are tried by the walk over every field. Without balls, which are
    slower for so small a page.
    """
    monkeypatch.setattr("shuffledp.judge.oracle.BALLS", False)
    monkeypatch.setattr("tests.verify.test_every_field.FACTOR", 1.01)
    forged = [each for each in forgeries(facts("promise")) if each.deed == "changed" and not is_free(each.name)]
    assert len(forged) > 60
    assert not [each.name for each in forged if not each.name.startswith("hashes") and not fails(each.made)]


@pytest.mark.parametrize("name", ["poll", "hadamard", "hash", "subset", "oue", "mean", *AMONG_FAKES])
def test_an_upper_end_one_hundredth_below_the_truth_fails(name: str) -> None:
    made = facts(name)
    curve = made["certificate"]["curve"]
    curve["upper"][20] *= 0.99
    curve["lower"][20] = min(curve["lower"][20], curve["upper"][20])
    found = verified(rehashed(made))
    if name == "light dummies":  # the datasets that are summed leak less than the theorem says
        assert found.verdict == "incomplete"
    else:
        assert {check.what for check in found.failed} >= {"delta on the curve, upper"}


@pytest.mark.parametrize("name", ["rounds", "binary", "binary rounds"])
def test_a_tenth_is_seen_where_the_oracle_is_coarser(name: str) -> None:
    for end, factor in (("upper", 0.9), ("lower", 1.15)):
        made = facts(name)
        made["certificate"]["curve"][end] = [each * factor for each in made["certificate"]["curve"][end]]
        assert verified(rehashed(made)).verdict == "FAIL"
    made = facts(name)
    made["certificate"]["epsilon"]["upper"] *= 0.98
    assert verified(rehashed(made)).verdict == "FAIL"


@pytest.mark.parametrize("name", ["light fakes", "light dummies"])
def test_a_smaller_epsilon_of_randomized_values_among_fakes_fails(name: str) -> None:
    made = facts(name)
    assert verified(made).verdict == "pass"
    made["certificate"]["epsilon"]["upper"] *= 0.98
    made["certificate"]["epsilon"]["lower"] *= 0.98
    assert verified(rehashed(made)).verdict == ("FAIL" if name == "light fakes" else "incomplete")


def test_two_labels_exchanged_are_noticed() -> None:
    made = facts("poll")
    label = made["tables"][0]["label"]
    label[0], label[1] = label[1], label[0]
    assert [check.what for check in verified(rehashed(made)).failed] == ["labels of the estimates"]


def test_fewer_honest_users_than_the_certificate_counts_are_noticed() -> None:
    made = facts("poll")
    made["design"]["target"]["honest"] = made["certificate"]["honest"] = 2300
    assert any("epsilon" in check.what for check in verified(rehashed(made)).failed)


def test_a_page_that_shows_something_else_than_its_facts_fails() -> None:
    page = as_page(facts("tiny"))
    assert verify(page).verdict == "pass"
    shown = page.replace("</h2>", "!</h2>", 1)
    (wrong,) = verify(shown).failed
    assert wrong.what == "the page"
    assert (wrong.claimed, wrong.found) == ("All numbers!", "All numbers")


@pytest.mark.parametrize(
    "text", ["", "{}", "<html></html>", '{"format": "shuffledp-release", "version": 2}', "\x00\x01", "[1, 2]"]
)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"got .*\. "):
        verify(text)


@pytest.mark.parametrize(
    "part", ["design", "tally", "tables", "certificate", "comparison", "counted", "hashes", "asked"]
)
@pytest.mark.parametrize("wrong", [None, [], {}, "x", 3, [None], {"a": 1}])
def test_a_part_of_another_form_is_refused_or_fails(part: str, wrong: object) -> None:
    assert fails(facts("tiny") | {part: wrong})


def test_a_certificate_that_is_too_large_to_sum_again_is_incomplete_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    from shuffledp.judge.effort import TooLarge
    from shuffledp.judge.oracle import Oracle

    def refuse(*_: object) -> None:
        raise TooLarge("too long")

    monkeypatch.setattr(Oracle, "spans", refuse)
    found = verified(facts("poll"))
    assert found.verdict == "incomplete"
    assert not found.failed


@pytest.mark.parametrize(
    "poll",
    [
        Poll("histogram", categories=["a", "b"], n=100, epsilon0=2.0, delta=1e-3),
        Poll("histogram", categories=["a", "b"], n=195, epsilon0=1.79, delta=1e-3),
        Poll("histogram", categories=12, n=2, epsilon0=5.33, delta=1e-2),
        Poll("histogram", categories=12, n=8, epsilon0=5.93, delta=1e-2, rounds=5),
        Poll("histogram", categories=3, n=26, epsilon0=2.92, delta=1e-5, rounds=4),
        Poll("histogram", categories=["a", "b"], n=78, epsilon0=5.4, delta=1e-3, rounds=2),
        Poll("histogram", categories=4, n=5, epsilon0=2.5, delta=1e-2, rounds=2, mechanism="hash"),
    ],
    ids=str,
)
def test_an_honest_report_is_never_accused(poll: Poll) -> None:
    """A certificate may be loose where people are few or rounds are several; that is no
    contradiction.
    """
    assert not verified(made_by(poll)).failed


@pytest.mark.parametrize("name", ["fakes", "dummies"])
def test_fakes_that_were_changed_or_left_out_are_found(name: str) -> None:
    made = facts(name)
    integers = made["design"]["mechanism"]["integers"]
    place = len(integers) // 2
    integers[place] = str(int(integers[place]) + 1000)
    assert fails(rehashed(made))
    made = facts(name)
    made["tally"]["votes"] = [2000, 0, 0]  # nobody's fakes
    found = {check.what for check in verified(rehashed(made)).failed}
    assert "messages that name a value" in found
    made = facts(name)
    made["certificate"]["alone"] = 50.0  # a message that is the truth protects nobody
    assert {check.what for check in verified(rehashed(made)).failed} >= {"epsilon0 of the certificate"}


@pytest.mark.parametrize("number", [-1.0, 43.0, "NaN", None])
def test_numbers_that_say_nothing_of_these_dummies_are_refused(number: object) -> None:
    made = facts("dummies")
    idle = "rate" if made["design"]["mechanism"]["kind"] == "geometric" else "center"
    made["design"]["mechanism"][idle] = number
    with pytest.raises(InvalidInput):
        verified(rehashed(made))


@pytest.mark.parametrize("change", [{"left": "x"}, {"right": 1.0}, {"center": 21.5}, {"kind": "bernoulli"}], ids=str)
def test_numbers_that_describe_no_dummies_are_refused(change: dict[str, object]) -> None:
    made = facts("dummies")
    made["design"]["mechanism"].update(change)
    with pytest.raises(InvalidInput, match="must be one that shuffledp runs"):
        verified(rehashed(made))


@pytest.mark.parametrize(("center", "left", "right"), [(2000, 0.99, 0.98), (5, 0.0, 0.0), (0, 0.0, 0.6), (3, 0.9, 0.5)])
def test_tables_of_dummies_are_found_again_however_many_they_are(center: int, left: float, right: float) -> None:
    """A sum of exact powers took a minute for some thousands."""
    law = law_of(ShufflerDummies(k=4, center=center, left=left, right=right))
    assert counted(law).least_integers == counted(law).integers
    assert counted({**law, "center": center + 10**6}).least_integers != counted(law).integers


def test_words_in_place_of_the_numbers_of_shares_fill_no_memory() -> None:
    made = facts("split")
    made["design"]["mechanism"].update(honest="x", reach=1 << 60)
    with pytest.raises(InvalidInput, match="must be one that shuffledp runs"):
        verified(rehashed(made))


def test_shares_whose_sum_could_wrap_around_are_refused() -> None:
    made = facts("split")
    law = made["design"]["mechanism"]
    law["share_bits"] = (law["honest"] * (law["k"] - 1 + 2 * law["reach"])).bit_length() - 1
    with pytest.raises(InvalidInput):
        verified(rehashed(made))


def test_a_delta_whose_lower_end_is_far_off_is_one_that_shuffledp_writes() -> None:
    """As of randomized values among dummies, of which some messages are dropped."""
    made = facts("dummies")
    made["certificate"]["numerical_error"] = 0.48
    assert verified(rehashed(made)).verdict == "pass"


def test_fakes_whose_tables_cut_off_half_a_percent_of_delta_verify() -> None:
    values = [str(each % 6) for each in range(5000)]
    terms = {
        "categories": [*map(str, range(6))],
        "epsilon": 1.0,
        "delta": 1e-6,
        "mechanism": "fakes",
        "kind": "poisson",
    }
    made = sdp.histogram(values, **terms, rng=np.random.default_rng(5))  # type: ignore[arg-type]
    assert verified(json.loads(json.dumps(made.record.as_json()))).verdict == "pass"


@pytest.mark.parametrize(
    "people, asked",
    [
        (5, "histogram --column letter --categories a,b,c,d --mechanism hadamard --epsilon 0.3 --delta 1e-10"),
        (12, "quantile --column number --lower 0 --upper 100 --bins 2 --epsilon 1 --delta 1e-10"),
        (5, "sum --column number --lower 0 --upper 100 --epsilon 8 --delta 1e-3"),
        (5, "sum --column number --lower 0 --upper 100 --epsilon 1 --delta 1e-10"),
        (600, "histogram --column letter --categories a,b,c,d --mechanism dummies --epsilon 0.05 --delta 1e-10"),
    ],
)
def test_few_people_and_small_deltas_pass(
    people: int, asked: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Next to epsilon0 delta is a difference of almost equal numbers, and so it is of fakes; a grid
    for lone reports does not depend on how many there are.
    """
    monkeypatch.chdir(tmp_path)
    rows = [f"{'abcd'[i % 4]},{(37 * i) % 100}" for i in range(people)]
    pathlib.Path("people.csv").write_text("\n".join(["letter,number", *rows]) + "\n")
    command, *options = asked.split()
    assert main([command, "people.csv", *options, "--out", "page"]) == 0
    checked = verify(pathlib.Path("page/page.html").read_text())
    assert checked.verdict == "pass", checked.failed
