"""A page stays true when shuffledp learns other words; and a page in words that are not known yet
is neither right nor wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.collection.page import document as page
from shuffledp.collection.record import EDITION
from shuffledp.collection.release.certificate import certificate
from shuffledp.collection.verify import Verification, verify
from shuffledp.protocols.design import Design
from shuffledp.wording import WORDINGS
from tests.collection.verify.releases import as_page, collected, facts, made_by, rehashed

V1 = Path(__file__).parents[2] / "data" / "v1"
STYLES = {
    1: "71d83df077ef5cd8a5f6bd7c20cb42e6562b2cd937b83499c0de501df569c203",
    2: "71d83df077ef5cd8a5f6bd7c20cb42e6562b2cd937b83499c0de501df569c203",
    3: "71d83df077ef5cd8a5f6bd7c20cb42e6562b2cd937b83499c0de501df569c203",
    4: "71d83df077ef5cd8a5f6bd7c20cb42e6562b2cd937b83499c0de501df569c203",
    5: "71d83df077ef5cd8a5f6bd7c20cb42e6562b2cd937b83499c0de501df569c203",
    6: "71d83df077ef5cd8a5f6bd7c20cb42e6562b2cd937b83499c0de501df569c203",
}


@pytest.fixture(autouse=True)
def _no_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.collection.verify.verification.check_certificate", lambda *_: [])
    monkeypatch.setattr("shuffledp.collection.verify.verification.check_comparison", lambda *_: [])


def outcome(found: Verification, what: str) -> str:
    return next(check.outcome for check in found.checks if check.what == what)


def later(made: dict[str, Any]) -> dict[str, Any]:
    """The same as a later version would write it: another edition, other words, a field more."""
    made["edition"] = EDITION + 1
    made["certificate"]["assumptions"] = [f"it is assumed that {each}" for each in made["certificate"]["assumptions"]]
    made["certificate"]["method"] = "the blanket, explained better"
    made["counted"]["refused"] = 4
    return rehashed(made)


def test_the_style_of_an_edition_never_changes() -> None:
    """Whoever changes the style adds an edition, and keeps the old file for the old one."""
    style = files("shuffledp.collection.page").joinpath("style.css").read_bytes()
    assert hashlib.sha256(style).hexdigest() == STYLES[EDITION] == STYLES[1]


@pytest.mark.parametrize(
    "protocol",
    [
        lambda: sdp.Histogram(categories=["a", "b"], n=40, epsilon0=1.0, delta=1e-3),
        lambda: sdp.Histogram(categories=["a", "b", "c"], n=40, epsilon0=1.0, delta=1e-3, rounds=3, least=30),
        lambda: sdp.Frequency(domain=9, n=40, epsilon0=1.0, delta=1e-3, method="hashing"),
        lambda: sdp.Mean(n=40, k=4, epsilon0=1.0, delta=1e-3, lower=0.0, upper=1.0),
    ],
    ids=["binary", "rounds", "hashing", "mean"],
)
def test_all_that_the_accounting_says_is_known_to_the_verification(protocol: Callable[[], Any]) -> None:
    """Whoever words a theorem or an assumption anew appends the words to wording.WORDINGS; the old
    ones stay.
    """
    made, known = certificate(Design.of(protocol())), {words for each in WORDINGS.values() for words in each}
    assert set(made.assumptions) <= known
    assert set(made.method.partition("; ")[0].split(" or ")) <= known


def test_pages_stay_true_when_a_later_version_words_everything_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    made = facts("tiny") | {"edition": EDITION + 1}
    newer = {name: (*words, f"in other words, {words[-1]}") for name, words in WORDINGS.items()}
    monkeypatch.setattr("shuffledp.collection.verify.check_sentences.WORDINGS", newer)
    monkeypatch.setattr("shuffledp.collection.record.whole.EDITION", EDITION + 1)
    sections = (_other_heading(page.SECTIONS[0]), *page.SECTIONS[1:])
    monkeypatch.setattr("shuffledp.collection.page.document.SECTIONS", sections)
    for folder in ("histogram", "mean", "binary-rounds", "frequency-hashing"):
        found = verify((V1 / folder / "report.html").read_text(encoding="utf-8"))
        assert not found.failed
        assert found.verdict == "pass"
    assert "What they said" in as_page(made)
    assert verify(as_page(made)).verdict == "pass"


def _other_heading(old: Any) -> Any:
    """As that version would write it: with another heading from its edition on."""
    from shuffledp.collection.page.markup import Markup

    return lambda record: (
        Markup(old(record).replace("The estimates", "What they said")) if record.since(EDITION + 1) else old(record)
    )


def test_words_of_a_later_version_are_not_checked_and_never_called_false() -> None:
    made = later(facts("tiny"))
    written = (
        as_page(made)
        .replace("The certificate", "What we promise")
        .replace("Crowd", "People")
        .replace("at most a factor", "no more than a factor")
    )
    found = verify(written)
    assert not found.failed
    assert found.verdict == "incomplete"
    assert {
        outcome(found, what)
        for what in ("THE WORDS OF THE PAGE", "the method", "the assumptions", "fields of a later edition")
    } == {"not checked"}


@pytest.mark.parametrize(
    "old, new, what",
    [
        ("</i> ≤ ", "</i> ≤ 0.001, not ", "epsilon and delta on the page"),
        ("δ = 0.001", "δ = 10⁻⁹", "epsilon and delta on the page"),
        ("ε₀ = 2", "ε₀ = 0.1", "epsilon and delta on the page"),
        ("</main>", "<script>alert(1)</script></main>", "what the page runs or loads"),
        ("<main>", '<main onclick="x()">', "what the page runs or loads"),
        ("</main>", '<img src="x"></main>', "what the page runs or loads"),
        ("Crowd", "\u202eCrowd", "signs that turn text around"),
    ],
)
def test_who_claims_a_later_edition_must_still_show_the_numbers_of_the_facts(old: str, new: str, what: str) -> None:
    written = (
        as_page(later(facts("tiny")))
        .replace("δ\u00a0=\u00a00.001", "δ = 0.001")
        .replace("ε₀\u00a0=\u00a02", "ε₀ = 2")
        .replace("≤\u00a0", "≤ ")
    )
    assert not verify(written).failed
    assert old in written
    assert what in [check.what for check in verify(written.replace(old, new)).failed]


@pytest.mark.parametrize("name", ["poll", "promise", "hadamard"])
def test_an_honest_page_of_a_later_edition_is_never_called_false(name: str) -> None:
    found = verify(as_page(later(facts(name))))
    assert not found.failed, found.failed
    assert found.verdict == "incomplete"


LONG = [f"city {number}" for number in range(21)]


@pytest.mark.parametrize("edition", [1, EDITION])
@pytest.mark.parametrize(
    ("task", "change"),
    [
        ("long", lambda made: made["estimates"].pop("together")),
        ("long", lambda made: made["estimates"].update(together=False)),
        ("long", lambda made: made["tally"].update(digest="0" * 64)),
        ("mean", lambda made: made["estimates"].pop("ends")),
        ("mean", lambda made: made["estimates"].pop("ends") and made["asked"].update(outside="clipped to the bounds")),
        ("mean", lambda made: made["asked"].update(outside="refused")),
    ],
)
def test_what_protects_a_reader_of_this_edition_cannot_be_left_out(
    task: str, change: Callable[[dict[str, Any]], object], edition: int
) -> None:
    """Such as that intervals of the largest of many hold all at once, or how many people's numbers
    lie at the ends of a clipped range.
    """
    made = facts("mean") if task == "mean" else made_by(sdp.Histogram(categories=LONG, n=500, epsilon0=3.0, delta=1e-6))
    assert not verify(as_page(made)).failed
    made["edition"] = edition
    if edition == EDITION:
        change(made)
    found = [check.what for check in verify(as_page(rehashed(made))).failed]
    assert found[:1] == ["what a page of its edition cannot leave out"], "nor borrowed by an earlier one"
    assert len(found) == 1 or edition == 1, "whose limits were others"


@pytest.mark.parametrize(("edition", "wrong"), [(4, []), (3, ["what a page of its edition cannot leave out"])])
def test_reports_that_came_over_the_network_are_told_from_the_fourth_edition_on(edition: int, wrong: list[str]) -> None:
    made = collected(facts("tiny")) | {"edition": edition}
    made["estimates"].pop("sway")  # which the fifth edition began to say
    page = as_page(rehashed(made))
    assert [check.what for check in verify(page).failed] == wrong
    assert ("How it was collected" in page) == (edition == 4)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"arrived": 1}, "valid reports of the collection"),
        ({"invalid": 0}, "valid reports of the collection"),
        ({"round": 2}, "round of the collection"),
        ({"digest": "5E" * 32}, "digest of the collection"),
    ],
)
def test_what_is_said_of_a_collection_must_fit_the_rest(changed: dict[str, Any], what: str) -> None:
    made = collected(facts("tiny"))
    made["counted"]["collected"] |= changed
    assert [check.what for check in verify(as_page(rehashed(made))).failed] == [what]


def test_a_release_over_the_network_cannot_pass_for_one_of_a_table() -> None:
    made = collected(facts("tiny"))
    del made["counted"]["collected"]
    assert [check.what for check in verify(as_page(rehashed(made))).failed] == [
        "the assumptions",
        "the ids of theorem and assumptions",
    ]


def test_facts_that_are_wrong_are_wrong_in_any_edition() -> None:
    made = later(facts("tiny"))
    made["estimates"]["value"][0] += 1.0
    assert verify(json.dumps(rehashed(made))).verdict == "FAIL"


def test_an_older_edition_is_no_way_around_a_check() -> None:
    """Claimed for a page in today's words it is a changed page; and written in the old words, every
    number is checked as ever.
    """
    made = facts("poll")
    shown = as_page(made)
    assert verify(shown.replace(f'"edition":{EDITION},', "")).verdict == "FAIL"
    del made["edition"]
    made["estimates"]["value"][0] += 1.0
    assert verify(as_page(rehashed(made))).verdict == "FAIL"
