"""What a page says is true of this run and this mechanism, and in plain words."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.page import html
from shuffledp.poll import Poll
from shuffledp.record import Record
from tests.page import releases as page_releases
from tests.page.test_page import Reading
from tests.verify import releases

BANNED = re.compile(
    r"\b(whoever|whatever|nobody|everybody|somebody|anew|errs?|told|multiset|bag|needle|haystack|laws?|beside|whom"
    r"|promised?|certified|collection|study|malicious|sway|settled?|drown|wing|room|of its own|by itself|such a|so many"
    r"|as many as|of which|gives away|all the same|for ever|we certify)\b",
    re.IGNORECASE,
)
ONE_REPORT = [
    "tiny",
    "poll",
    "binary",
    "promise",
    "mean",
    "hadamard",
    "hash",
    "subset",
    "oue",
    "rounds",
    "crosstab",
    "quantile",
]
AMONG_OTHERS = ["fakes", "light fakes", "dummies", "light dummies", "dummies in rounds", "count", "split"]
BARE = ["fakes", "dummies", "dummies in rounds", "count", "split"]
EVERY = [*ONE_REPORT, *AMONG_OTHERS, "search"]


@cache
def text(name: str, *, network: bool = False) -> str:
    """The words of a page, without names of the record's parts and the design as JSON."""
    made = releases.facts(name)
    if network:
        made = releases.rehashed(releases.collected(made))
    return words_of(made)


def words_of(made: dict[str, Any]) -> str:
    page = re.sub(
        r"<pre>.*?</pre>|collection\.json",
        " ",
        html(Record.from_json(made)),
        flags=re.S,
    )
    return Reading(page).text


@pytest.mark.parametrize("name, network", list(product(EVERY, [False, True])))
def test_no_page_uses_a_banned_word(name: str, network: bool) -> None:
    said = text(name, network=network)
    assert BANNED.findall(said) == []


@pytest.mark.parametrize("name, network", list(product(EVERY, [False, True])))
def test_a_page_says_who_had_the_answers(name: str, network: bool) -> None:
    said = text(name, network=network)
    operator = "The operator of this computer saw every answer. This release protects people from those who read the"
    assert (operator in said) is not network
    assert ("The shuffler sees which devices connect." in said) is network
    assert ("encrypt what it sends for the analyst" in said) is network


@pytest.mark.parametrize("name", EVERY)
def test_no_page_contradicts_itself(name: str) -> None:
    said = text(name)
    among = name in AMONG_OTHERS
    bare = name in BARE
    drawn = ("was randomized", "with a fixed probability", "sometimes a wrong", "more often than any other")
    shown = said.partition("The certificate to sign")[0]
    assert ("randomized report" in shown) is not among
    assert any(each in shown for each in drawn) is not among
    assert ("the noise gives no guarantee" in said) is bare
    assert ("only the noise in the report protects" in said) is not bare
    assert ("ε₀ =" in said) is not bare
    assert ("dummies" in said.partition("Other kinds of trust")[0]) is ("dummies" in name)
    assert ("fakes" in said) is ("fakes" in name)
    assert ("no lower end is claimed" in said) is ("true ε lies between" not in said)
    seeded = ("If the noise were secret", "not for release", "Not for release.", "Do not sign.")
    assert len({each in said for each in seeded}) == 1
    assert ("on only the analyst reading messages" in said) is (bare or "Only the analyst can read a message" in said)


@pytest.mark.parametrize("name", ["tiny", "mean", "quantile", "crosstab"])
@pytest.mark.parametrize("network", [False, True])
def test_only_a_survey_shows_that_its_list_was_there_before_the_answers(name: str, network: bool) -> None:
    made = releases.facts(name)
    if name != "mean" and name != "quantile":
        made["asked"]["categories"] = "cities.txt"
    said = words_of(releases.collected(made) if network else made)
    assert "declared beforehand" not in said
    assert ("was fixed in the design before people answered" in said) is network
    assert ("This page cannot show whether the" in said) is not network


def test_a_table_on_an_engine_is_the_operators_of_the_cluster() -> None:
    made = releases.facts("tiny")
    made["asked"]["engine"] = "Spark"
    said = words_of(made)
    assert "made from a table in Spark. The operators of that cluster saw every answer." in said
    assert "one computer" not in said


def test_reports_in_a_file_do_not_show_who_had_the_answers() -> None:
    made = releases.facts("tiny")
    made["asked"] |= {"column": None, "missing": None}
    said = words_of(made)
    assert "This page cannot show who saw the answers before they became reports" in said
    assert "saw every answer" not in said


def test_the_best_baselines_are_named() -> None:
    made = releases.facts("tiny")
    said = words_of(made)
    for row in made["comparison"]:
        if row["trust"] != "shuffler":
            assert row["mechanism"] in said


def test_an_interval_that_is_not_symmetric_is_no_plus_minus() -> None:
    made = releases.facts("promise")
    found = made["tables"][0]
    found["value"] = [650.0, 651.0, 699.0]
    for even in (True, False):
        for name, sign in (("lower", -1.0), ("upper", 1.0 if even else 2.0)):
            found[name] = [value + 20.0 * sign for value in found["value"]]
        said = words_of(made)
        assert ("±" in said) is even
        assert ("within 40" in said) is not even


def number(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("−", "-"))


@pytest.mark.parametrize("name", [name for name in EVERY if name not in ("quantile", "search")])
def test_the_accuracy_covers_every_interval_as_it_is_shown(name: str) -> None:
    page = html(Record.from_json(releases.facts(name)))
    said = number(re.findall(r'<dd class="big">\s*(?:within|±)\s([\d,.]+)', page)[0])
    ends = r"([−\d,.]+)</td><td>([−\d,.]+) to ([−\d,.]+)</td>"
    if name in ("mean", "split", "count"):
        ends = r"([−\d,.]+), and its interval, ([−\d,.]+) to ([−\d,.]+)\.<"
    shown = [[number(each) for each in row] for row in re.findall(ends, page)]
    assert shown
    assert all(value - low <= said and high - value <= said for value, low, high in shown)
    for value, margin in re.findall(r">([−\d,.]+)\s± ?\s?([\d,.]+)<", page):
        low, high = next(row[1:] for row in shown if row[0] == number(value))
        assert max(number(value) - low, high - number(value)) <= number(margin)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("network", [False, True])
def test_assumptions_stand_once_and_say_who_took_which_part(name: str, network: bool) -> None:
    said = text(name, network=network)
    assert said.count("neighboring datasets differ in one person’s value") == 1
    assert ("took the part of the people and of the shuffler" in said) is not network
    assert ("also took the part of each person and of the shuffler" in said) is not network
    assert "no guarantee in each round" not in said


def test_messages_that_the_shuffler_leaves_out_are_mentioned() -> None:
    assert "left out each message with probability 10 %, and added dummies" in text("dummies")
    assert "left out each message" not in text("dummies in rounds")


def test_a_search_says_what_a_report_of_its_last_level_reveals() -> None:
    made = releases.facts("search")
    law = {"type": "krr", "k": 201, "epsilon0": 5.0053, "integers": ["10617915388736316664"]}
    made["counted"]["search"]["counting_law"] = law
    said = words_of(made)
    share = 100 * math.exp(5.0053) / (math.exp(5.0053) + 200)
    assert said.count(f"; at the last level, with probability {share:.1f} %") == 2
    assert "At the last level, k = 201, ε₀ = 5.0053" in said
    assert "last level, with probability" not in text("search")


def test_a_count_has_one_answer_and_no_list() -> None:
    said = text("count")
    assert "Answer yes. This page cannot show whether the answer to count came from the table." in said
    assert "Answers" not in said


def test_ranges_are_announced_only_where_there_are_any() -> None:
    assert "quantiles, ranges, 3 cut points" in text("quantile")
    assert "quantiles, 19 cut points" in words_of(page_releases.facts("quantile"))


def test_a_single_release_has_spent_and_several_have() -> None:
    made = releases.facts("tiny")
    for number, words in ((1, "1 release about the population x has spent"), (2, "have spent")):
        made["ledger"] = releases.LEDGER | {"releases": number}
        assert words in words_of(made)
    assert "of 3 together" in words_of(made)


def test_long_lists_of_a_design_are_cut() -> None:
    page = html(Record.from_json(releases.facts("dummies")))
    assert page.partition("<pre>")[2].partition("</pre>")[0].count("\n") < 100
    assert "and 65 more, in the record inside this page" in page


def test_numbers_beyond_what_is_possible_are_explained() -> None:
    made = releases.facts("tiny")
    assert "A number above" not in words_of(made)
    made["tables"][0]["upper"][0] = 6.5
    assert "A number above 6 is noise as well: read that as all people." in words_of(made)


def test_a_scale_is_written_as_its_axis_is() -> None:
    assert "The scale from 0 to 4,000, which is all that is possible" in text("split")


def test_a_large_delta_is_not_one_in_one() -> None:
    made = releases.facts("tiny")
    made["certificate"]["epsilon"]["delta"] = 0.7
    assert "1 in 1" not in words_of(made).replace("1 in 1,0", "")


def test_each_question_is_led_by_its_answer() -> None:
    ages = [float(age) for age in range(20, 80)] * 20
    asked = {"lower": 0, "upper": 100, "epsilon": 2.0, "delta": 1e-4}
    titles = {
        "mean": sdp.mean(ages, **asked),
        "sum": sdp.sum(ages, **asked),
        "median": sdp.quantile(ages, bins=20, **asked),
    }
    for title, made in titles.items():
        record = made.record.as_json()
        record["asked"]["column"] = "age"
        page = html(Record.from_json(record))
        assert f"<h1><bdi>age: {title}</bdi></h1>" in page
        first = re.sub(r"<[^>]*>", " ", page.partition('<div class="answer">')[2])[:200]
        assert first.split()[0].removeprefix("Median")[:1].isdigit() or first.split()[1][0].isdigit()
    made = releases.facts("count")
    assert "<h1><bdi>x: number of people who answered yes</bdi></h1>" in html(Record.from_json(made))


PEOPLE: dict[str, Any] = {"n": 400, "epsilon": 2.0, "delta": 1e-5}
AGES = np.random.default_rng(3).normal(40.0, 10.0, 400).clip(0.0, 64.0)
QUANTILES: dict[str, dict[str, Any]] = {
    "krr": {"levels": ()},
    "levels": {"levels": (8, 64)},
    "fakes": {"mechanism": "fakes"},
    "light fakes": {"mechanism": "fakes", "light_epsilon0": 6.0},
    "dummies": {"mechanism": "dummies", "keep": 0.9},
    "tree": {"mechanism": "dummies", "levels": 2, "branches": 8},
}


@cache
def of_ages(hidden: str, at: tuple[float, ...] = (0.5,)) -> dict[str, Any]:
    return releases.made_by(Poll("quantile", cuts=range(65), at=at, **QUANTILES[hidden], **PEOPLE), AGES)


@pytest.mark.parametrize("hidden", QUANTILES)
def test_a_report_about_bins_names_a_bin_and_no_answer(hidden: str) -> None:
    said = words_of(of_ages(hidden))
    reports = said.partition("How answers were protected")[2]
    assert "true bin" in reports
    assert not re.search(r"true (answer|value|run of answers)|possible answer|64 answers|all values", reports)
    assert "compare cut points" in said
    assert "would make totals too large" not in said


@pytest.mark.parametrize("hidden", QUANTILES)
def test_a_median_leads_its_page(hidden: str) -> None:
    found = of_ages(hidden)
    (value,), (low,), (high,) = (found["tables"][1][name] for name in ("value", "lower", "upper"))
    page = html(Record.from_json(found))
    assert "<h1><bdi>x: median</bdi></h1>" in page
    first = re.sub(r"<[^>]*>", " ", page.partition('<div class="answer">')[2]).split("interval:")[:2]
    assert first[0].split()[0] == "Median"
    assert float(first[0].split()[1]) == pytest.approx(value, abs=0.051)
    assert [float(first[1].split()[place]) for place in (0, 2)] == [low, high]


def test_of_many_quantiles_the_median_leads() -> None:
    page = html(Record.from_json(of_ages("krr", (0.1, 0.25, 0.5, 0.75, 0.9))))
    lead = page.partition('<div class="answer">')[2].partition("<figure>")[0]
    assert re.sub(r"<[^>]*>", " ", lead).split()[0] == "Median"
    assert lead.count('class="number"') == 1


def test_a_table_of_columns_has_cells_and_sums() -> None:
    said = text("crosstab")
    assert "A report is the true cell with probability" in said
    assert "for the least certain cell or sum" in said
    assert "compare cells and sums" in said
    assert "true answer" not in said


@pytest.mark.parametrize("name", BARE)
@pytest.mark.parametrize("network", [False, True])
def test_where_messages_are_the_truth_nothing_was_randomized(name: str, network: bool) -> None:
    """Fakes, dummies or noise hide them: the page says so, and no device randomized an answer."""
    said = text(name, network=network)
    shown = said.partition("Other kinds of trust")[0]
    assert re.findall(r"\brandomized\b", shown) == []
    device = {
        "fakes": "add fakes to",
        "count": "add its share of the noise to",
        "split": "add its share of the noise to",
    }
    assert (f"Each device was to {device.get(name, 'report')} its own answer" in said) is network
    assert "it drew the reports" not in said


@pytest.mark.parametrize("name", ["light fakes", "light dummies", "poll", "hadamard"])
def test_a_device_that_randomizes_says_so(name: str) -> None:
    assert "Each device was to randomize its own answer" in text(name, network=True)
    assert not re.search(r"message is the true answer|report is the true answer, randomized", text(name))


def test_an_interval_of_a_single_number_that_is_not_symmetric_is_no_plus_minus() -> None:
    for name in ("mean", "count"):
        made = releases.facts(name)
        found = made["tables"][0]
        found["upper"] = [2.0 * value - low + 10.0 for value, low in zip(found["value"], found["lower"], strict=True)]
        assert "±" not in words_of(made)


@pytest.mark.parametrize("name", [name for name in EVERY if name not in ("hash",)])
def test_an_ordinary_page_is_small(name: str) -> None:
    assert len(html(Record.from_json(releases.facts(name))).encode()) < 100_000
