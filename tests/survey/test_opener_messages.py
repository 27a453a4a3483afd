"""From several messages of each person, or from the shuffler's dummies, to a page; and what is
refused, with nothing spent.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import Envelopes, SealedHeader, open_sealed
from shuffledp.survey.opener import open_collection
from shuffledp.survey.stores.store import SealedDummies
from shuffledp.verify import verify
from tests.survey.released import announced
from tests.survey.test_opener import LIMITED

PEOPLE = 700
TRUTH = np.repeat([0, 1], [400, 300])


@cache
def design(family: str) -> Design:
    terms: dict[str, Any] = {"categories": ["yes", "no"], "n": 1000, "honest": 500}
    if family == "fakes":
        return Design.of(Poll("histogram", mechanism="fakes", epsilon=2.0, delta=1e-2, **terms))
    if family == "half":
        return Design.of(Poll("histogram", mechanism="dummies", epsilon=2.0, delta=1e-2, keep=0.5, **terms))
    if family == "split":
        return Design.of(Poll("mean", mechanism="split", n=1000, honest=500, epsilon=2.0, delta=1e-2))
    return Design.of(Poll("histogram", mechanism="dummies", epsilon=1.0, delta=1e-6, **terms))


def released(path: Path, collection: Collection, envelopes: list[bytes], people: int | None = None) -> Path:
    """What a shuffler releases of these envelopes."""
    header = SealedHeader.of(collection.digest, len(envelopes), Envelopes(collection).length, people)
    path.write_bytes(header.content + b"".join(sorted(envelopes)))
    return path


def with_dummies(collection: Collection, *, added: bool = True) -> list[bytes]:
    """What the shuffler hands on of everybody's messages; a lazy one adds no dummies."""
    ways = SealedDummies.of(collection)
    assert ways is not None
    sent = Envelopes(collection).seal(collection.reporter.encode(TRUTH))
    kept = [each for each, stays in zip(sent, ways.kept(len(sent)), strict=True) if stays]
    return kept + [each for part in ways.sealed(ways.numbers()) for each in part if added]


def page_of(folder: Path) -> str:
    """The page of a result, with plain spaces."""
    return (folder / "page.html").read_text(encoding="utf-8").replace("\xa0", " ").replace("\u202f", ",")


def test_several_messages_of_each_person_become_a_page(tmp_path: Path) -> None:
    collection = announced(tmp_path / "study", design=design("fakes"))
    sent = Envelopes(collection).seal(collection.reporter.encode(TRUTH))
    each = len(sent) // PEOPLE
    spoiled = [os.urandom(len(sent[0])), *Envelopes(collection).seal(np.array([250]))]
    sealed = released(tmp_path / "sealed.bin", collection, [*spoiled, *sent[2:]])
    made = open_collection(tmp_path / "study", sealed, out=tmp_path / "result")
    assert np.all(np.abs(made.estimate.values - [400, 300]) <= 6.0 * made.estimate.stderr + 2.0)
    collected = made.record.counted.collected
    assert collected is not None
    assert (made.record.counted.reports, collected.arrived, collected.messages) == (PEOPLE, PEOPLE, each * PEOPLE)
    assert (collected.invalid, collected.people) == (2, PEOPLE)
    assert f"{each * PEOPLE:,} encrypted messages for 700 people, 2 of them invalid" in page_of(tmp_path / "result")
    assert f"2 of {each * PEOPLE:,} messages that arrived were invalid" in str(made)


def test_people_who_surely_break_the_rules_are_no_part_of_the_promise(tmp_path: Path) -> None:
    """As few as they can be: so many invalid messages take that many people to send."""
    collection = announced(tmp_path / "study", design=design("fakes"))
    sent = Envelopes(collection).seal(collection.reporter.encode(TRUTH))
    each = len(sent) // PEOPLE
    spoiled = [os.urandom(len(sent[0])) for _ in range(201 * each)]
    sealed = released(tmp_path / "sealed.bin", collection, [*spoiled, *sent[201 * each :]])
    with pytest.raises(InvalidInput, match=r"at least the 500 that the design promises, got 499 of 700"):
        open_collection(tmp_path / "study", sealed)


def test_invalid_messages_do_not_pass_for_missing_dummies(tmp_path: Path) -> None:
    """As many people as dummies spoil their messages: they are left out, and nobody else."""
    collection = announced(tmp_path / "study", design=design("all"))
    spoiled = [os.urandom(49) for _ in range(100)]
    sealed = released(tmp_path / "sealed.bin", collection, [*spoiled, *with_dummies(collection)[100:]], PEOPLE)
    made = open_collection(tmp_path / "study", sealed, out=tmp_path / "result")
    assert np.all(np.abs(made.estimate.values - [300, 300]) <= 6.0 * made.estimate.stderr)
    assert made.record.counted.reports == PEOPLE - 100
    assert "for 600 people, 100 of them invalid and left out" in page_of(tmp_path / "result")
    assert not verify((tmp_path / "result" / "page.html").read_text(encoding="utf-8")).failed


def test_a_sum_whose_shares_are_not_all_there_is_refused(tmp_path: Path) -> None:
    """What is left adds up to anything, now and then to something that could be true."""
    collection = announced(tmp_path / "study", design=design("split"))
    sent = Envelopes(collection).seal(collection.reporter.encode(TRUTH.astype(float)))
    released(tmp_path / "sealed.bin", collection, [os.urandom(len(sent[0])), *sent[1:]])
    with pytest.raises(InvalidInput, match="shares must all open for their sum to say anything, got 1 that"):
        open_collection(tmp_path / "study", tmp_path / "sealed.bin")


@pytest.mark.parametrize("kept", ["half", "all"])
def test_the_shufflers_dummies_become_a_page(kept: str, tmp_path: Path) -> None:
    collection = announced(tmp_path / "study", design=design(kept))
    handed = with_dummies(collection)
    sealed = released(tmp_path / "sealed.bin", collection, handed, PEOPLE)
    assert open_sealed(sealed).header.version == 2
    made = open_collection(tmp_path / "study", sealed, out=tmp_path / "result")
    assert np.all(np.abs(made.estimate.values - [400, 300]) <= 6.0 * made.estimate.stderr)
    collected = made.record.counted.collected
    assert collected is not None
    assert (made.record.counted.reports, collected.messages, collected.invalid) == (PEOPLE, len(handed), 0)
    assert f"{len(handed):,} encrypted messages for 700 people, all of them valid" in page_of(tmp_path / "result")


def test_a_shuffler_that_adds_no_dummies_is_found_out_and_nothing_is_spent(tmp_path: Path) -> None:
    collection, ledger = announced(tmp_path / "study", design=design("all")), tmp_path / "budget.sqlite"
    lazy = released(tmp_path / "lazy.bin", collection, with_dummies(collection, added=False), PEOPLE)
    with pytest.raises(InvalidInput, match=r"dummies that hide people's values, got too few.* Ask the shuffler"):
        open_collection(tmp_path / "study", lazy, out=tmp_path / "result", ledger=ledger, **LIMITED)
    assert not (tmp_path / "result").exists()
    assert not ledger.exists() or not Ledger(ledger).releases()
    good = released(tmp_path / "good.bin", collection, with_dummies(collection), PEOPLE)
    open_collection(tmp_path / "study", good, out=tmp_path / "result", ledger=ledger, **LIMITED)
    assert len(Ledger(ledger).releases()) == 1


@pytest.mark.parametrize(
    ("family", "spare", "people", "rule"),
    [
        ("fakes", 1, None, "sealed messages of each person"),
        ("fakes", 0, PEOPLE, "and only then, got a number"),
        ("all", 0, None, "and only then, got no number"),
        ("all", 0, 1001, "at most the 1,000 people"),
        ("all", 0, 499, "at least the 500"),
    ],
)
def test_a_file_that_cannot_be_of_whole_people_is_refused(
    family: str, spare: int, people: int | None, rule: str, tmp_path: Path
) -> None:
    collection = announced(tmp_path / "study", design=design(family))
    sent = Envelopes(collection).seal(collection.reporter.encode(TRUTH))
    sealed = released(tmp_path / "sealed.bin", collection, sent[spare:], people)
    with pytest.raises(InvalidInput, match=rule):
        open_collection(tmp_path / "study", sealed)
