"""A search for frequent words on a table: carried out, recorded, charged once, and verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.judge.effort import Effort
from shuffledp.judge.reports import counted
from shuffledp.ledger import Ledger
from shuffledp.page import plain
from shuffledp.randomizers.law_file import law_of
from shuffledp.record import Record
from shuffledp.release.released import Release
from shuffledp.release.top_release import drawn_levels
from shuffledp.search.planning import planned_search
from shuffledp.search.recheck import _Again
from shuffledp.verify import Check, verify
from shuffledp.verify.check_comparison import check_comparison
from shuffledp.verify.handed import Judge
from tests.verify.releases import as_page, rehashed

LETTERS = list("abcdefgh")
WORDS = ["bad"] * 9000 + ["cafe"] * 7000 + ["head"] * 3000 + ["hah"] * 1000
TERMS = {"words": 4, "longest": 3, "tokens": LETTERS, "epsilon": 1.0, "delta": 1e-6}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Release, Path]:
    place = tmp_path_factory.mktemp("top")
    made = sdp.top(
        WORDS,
        **TERMS,  # type: ignore[arg-type]
        ledger=place / "budget.sqlite",
        population="people",
        limit_epsilon=2.0,
        limit_delta=1e-5,
        rng=np.random.default_rng(8),
    )
    return made, made.save(place / "out")


def test_what_was_found(kept: tuple[Release, Path]) -> None:
    made, folder = kept
    rows = {row.label: row for row in made.estimates}
    assert list(rows) == ["bad", "caf…", "hea…", "hah"]
    for label, true in (("bad", 9000), ("caf…", 7000), ("hea…", 3000), ("hah", 1000)):
        assert abs(rows[label].estimate - true) < 6 * rows[label].stderr
        assert rows[label].all_lower < rows[label].lower < rows[label].upper < rows[label].all_upper
    assert "20,000 people, asked at" in str(made)
    page = plain((folder / "page.html").read_text())
    assert "each listed word belongs to at least 50 of the 20,000 people" in page
    assert made.certificate.epsilon.upper <= 1.0
    assert all(note in page for note in made.notes)


def test_the_certificate_is_of_the_whole_search(kept: tuple[Release, Path]) -> None:
    """Not of the people that its first level may draw; and of what runs no lower end is known."""
    made, folder = kept
    certified, page = made.certificate, plain((folder / "page.html").read_text())
    assert (certified.users, certified.honest, certified.epsilon.delta) == (20_000, 20_000, 1e-6)
    assert certified.delta is not None
    assert certified.delta.upper <= 1e-6
    assert {certified.epsilon.lower, certified.delta.lower, *certified.curve.lower} == {0.0}
    assert "all 20,000: no person who reports helps the analyst" in page
    assert "the true ε is at most this" in page
    assert "at this ε, the bound on δ is at most" in page
    assert not any(words in page for words in ("may help the analyst", "between the two", "Dashed", "both ends"))
    assert made.record.ledger is not None
    assert made.record.ledger.total.lower == 0.0 < made.record.ledger.total.upper
    assert json.loads((folder / "estimates.json").read_text())["certificate"]["epsilon"]["lower"] == 0.0


def test_nothing_is_said_of_a_level_as_if_it_were_the_search(kept: tuple[Release, Path]) -> None:
    """A count of the first level errs by a few people, and the words by hundreds; those who count
    are not all who reported.
    """
    made, folder = kept
    page = plain((folder / "page.html").read_text())
    assert made.record.comparison == ()
    assert "Other kinds of trust" not in page
    assert "A shuffler: this release" not in page
    assert "of those who were asked at the last level" in page
    assert "those who reported" not in page
    facts = made.record.as_json()
    facts["comparison"] = [{"trust": "nobody", "mechanism": "magic", "epsilon0": None, "stderr": 1.0}]
    found = check_comparison(Record.from_json(facts), counted(facts["design"]["mechanism"]), None)
    assert [check.outcome for check in found] == ["FAIL"]


def test_whose_help_and_which_delta_are_of_the_whole_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its first level at most 10,000 or so are asked."""
    given = TERMS | {"delta": 1e-4, "honest": 15_000, "rng": np.random.default_rng(9)}
    made = sdp.top(WORDS, **given)  # type: ignore[arg-type]
    page = plain(as_page(made.record.as_json()))
    assert "at least 15,000: up to 5,000 may help the analyst" in page
    assert "δ = 0.0001 is not below 1 in 20,000." in page
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    assert verify(page).verdict == "pass"


@pytest.mark.parametrize(
    ("part", "name", "value", "what"),
    [
        ("certificate", "users", 19_999, "users of the certificate"),
        ("certificate", "honest", 19_999, "honest of the certificate"),
        ("epsilon", "lower", 0.9, "lower ends of epsilon and delta"),
        ("target", "honest", 4000, "people of the first level"),
        ("target", "n", 7000, "people of the first level"),
    ],
)
def test_a_page_about_other_people_fails(
    kept: tuple[Release, Path], part: str, name: str, value: float, what: str
) -> None:
    facts = kept[0].record.as_json()
    parts = {"epsilon": facts["certificate"]["epsilon"], "target": facts["design"]["target"]}
    parts.get(part, facts.get(part))[name] = value
    assert what in [check.what for check in verify(as_page(rehashed(facts)), seconds=0.0).failed]


def test_the_page_is_verified(kept: tuple[Release, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the sums of the oracle, which test_spark_search and the survey's test_search wait for."""
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    _, folder = kept
    ledger = Ledger(folder.parent / "budget.sqlite")
    table = (folder / "estimates.csv").read_text()
    found = verify((folder / "page.html").read_text(), beside={"estimates.csv": table}, ledger=ledger)
    assert [check for check in found.checks if check.outcome == "FAIL"] == []
    assert found.verdict == "pass"


def test_the_ledger_is_charged_once(kept: tuple[Release, Path]) -> None:
    _, folder = kept
    (release,) = Ledger(folder.parent / "budget.sqlite").releases("people")
    assert release.state == "published"


FORGERIES = {
    "a threshold": (
        "votes needed",
        lambda search: search["levels"][0].update(threshold=search["levels"][0]["threshold"] - 1),
    ),
    "least holders": ("votes needed", lambda search: search.update(least_holders=5000)),
    "the people": ("votes needed", lambda search: search.update(people=10_000, honest=10_000)),
    "a word": ("what was asked at each level", lambda search: search["levels"][-1]["words"].append("dead")),
    "found from": ("holders of a word that is found", lambda search: search.update(found_from=3)),
    "a share": ("share of the people", lambda search: search["levels"][-1].update(share=0.9)),
    "no law of those who count": ("delta of a level", lambda search: search.pop("counting_law")),
    "those who count": (
        "votes needed",
        lambda search: search.update(counting_law=law_of(sdp.KRR(k=17, epsilon0=6.0))),
    ),
    "fewer people": ("reports", lambda search: search["levels"][-1].update(reports=3)),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_search_is_found_out(name: str, kept: tuple[Release, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    made = json.loads(json.dumps(kept[0].facts))
    what, forge = FORGERIES[name]
    forge(made["counted"]["search"])
    found = verify(as_page(rehashed(made)))
    assert any(what in check.what for check in found.failed), found.failed


def second_law(facts: dict[str, Any]) -> list[Check]:
    """What is said of the law of those who count, also where something else is wrong already."""
    record = Record.from_json(facts)
    judge = Judge.of(record, Effort())
    return list(_Again(facts, facts["counted"]["search"], judge).second_law())


def test_those_who_count_are_certified_too(kept: tuple[Release, Path]) -> None:
    """The oracle sums it again; of a law that shows more it says so."""
    facts = json.loads(json.dumps(kept[0].facts))
    checks = second_law(facts)
    assert {check.outcome for check in checks} == {"pass"}
    assert [check.what for check in checks if check.vital] == ["delta of those who count"]
    facts["counted"]["search"]["counting_law"] = law_of(sdp.KRR(k=17, epsilon0=6.0))
    louder = second_law(rehashed(facts))
    assert [check.what for check in louder if check.outcome == "FAIL"] == ["delta of those who count"]


def test_forged_estimates_are_found_out(kept: tuple[Release, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    for column in ("value", "all_upper", "stderr"):
        made = json.loads(json.dumps(kept[0].facts))
        made["tables"][0][column][0] += 30.0
        assert verify(as_page(rehashed(made))).verdict == "FAIL"


def test_nothing_to_be_found_is_an_answer_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    none = sdp.top([f"{i}" for i in range(20_000)], **TERMS, rng=np.random.default_rng(1))  # type: ignore[arg-type]
    assert len(none.estimates) == 0
    page = (none.save(tmp_path / "none") / "page.html").read_text()
    assert "No word was found" in page
    assert none.estimate.plot().charts[0][1].height == 0.0
    assert "No word was found" in (tmp_path / "none" / "estimates.svg").read_text(encoding="utf-8")
    assert "±" not in none.plot().promise, "nothing was estimated"
    assert verify(page, beside={"estimates.csv": (tmp_path / "none" / "estimates.csv").read_text()}).verdict == "pass"


def test_a_persons_rows_have_one_level(tmp_path: Path) -> None:
    """Two rows of one person would be two answers; with ids, one of them takes part."""
    table = tmp_path / "log.csv"
    rows = [f"{person % 20_000},{WORDS[person % 20_000]}" for person in range(22_000)]
    table.write_text("\n".join(["who,word", *rows]))
    made = sdp.top(table, "word", ids="who", **TERMS, rng=np.random.default_rng(2))  # type: ignore[arg-type]
    assert made.record.counted.search is not None
    assert made.record.counted.search.people == 20_000
    assert made.record.counted.repeated == 2000
    assert sum(level.reports for level in made.record.counted.search.levels) <= 20_000


def test_levels_are_drawn_for_everybody_and_without_their_words() -> None:
    search = planned_search(people=20_000, epsilon=1.0, delta=1e-6, k=4, longest=3, tokens=tuple(LETTERS))
    levels = drawn_levels(search, 20_000, rng=np.random.default_rng(4))
    sizes = np.bincount(levels)
    assert sizes.sum() == 20_000
    for asked in range(len(search.spans)):
        assert search.group(asked).honest <= sizes[asked] <= search.group(asked).most


def test_what_is_refused_in_python() -> None:
    with pytest.raises(InvalidInput, match="distinct, got 'a' twice"):
        sdp.top(WORDS, words=4, tokens=["a", "a"], epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidInput, match="words must be"):
        sdp.top(WORDS, words=0, epsilon=1.0, delta=1e-6)


def test_where_not_all_are_honest_the_ledger_counts_groups_that_are_too_small(tmp_path: Path) -> None:
    """A group has too few honest people with probability 1e-3 of delta, and those who count may
    show as much more than the first level: that is a part of its own, in which all is seen. A
    promise that equals the limit fits.
    """
    place = tmp_path / "budget.sqlite"
    sdp.top(
        WORDS,
        **TERMS,  # type: ignore[arg-type]
        honest=15_000,
        ledger=place,
        population="people",
        limit_epsilon=1.0,
        limit_delta=1e-6,
        rng=np.random.default_rng(9),
    )
    (release,) = Ledger(place).releases("people")
    (level, _), (besides, _) = release.entry.mechanisms
    whole = Ledger(place).total("people")
    assert (release.entry.epsilon <= 1.0, release.entry.delta) == (True, pytest.approx(1e-6, rel=1e-12))
    for epsilon in (0.5, 1.0):
        assert besides.delta_at_most(epsilon=epsilon) == pytest.approx(2e-9, rel=1e-6)
        assert whole.delta_at_most(epsilon=epsilon) > level.delta(epsilon=epsilon).lower + 2e-9
