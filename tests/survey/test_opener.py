"""From a file of sealed reports to a page that verifies; and what is refused on the way, with
nothing spent and nothing written.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.page import plain
from shuffledp.record import read_record
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import AnalystKey, Envelopes, SealedHeader
from shuffledp.survey.opener import OPENED, OpenedFile, open_collection, remember
from shuffledp.survey.organizer import COLLECTION, KEY
from shuffledp.verify import verify
from tests.cli.people import FILES
from tests.survey.released import LEAST, MOST, NO, TRUTH, YES, announced, answers, poll, write_sealed
from tests.survey.studies import KEY as STUDY_KEY

LIMITED: dict[str, Any] = {"population": "people", "limit_epsilon": 5.0, "limit_delta": 0.05}


def opened_file(collection: Any, sealed: str, reports: int, invalid: int) -> OpenedFile:
    return OpenedFile(collection=collection, sealed=sealed, reports=reports, invalid=invalid)


def garbage(collection: Collection) -> list[bytes]:
    """What a shuffler stores like any other: noise, a report of another collection, no report."""
    other = replace(collection, question="another one")
    return [
        os.urandom(Envelopes(collection).length),
        bytes(Envelopes(collection).length),
        *answers(other, [0, 1]),
        *Envelopes(collection).seal(np.array([2, 255], dtype=np.uint8)),
    ]


def test_from_a_sealed_file_to_a_page_that_verifies(tmp_path: Path) -> None:
    collection = announced(tmp_path / "study", question="Tea?")
    bad = garbage(collection)
    sealed = write_sealed(tmp_path / "sealed.bin", collection, [*answers(collection), *bad])
    made = open_collection(tmp_path / "study", sealed, out=tmp_path / "result")

    assert np.all(np.abs(made.estimate.values - [YES, NO]) <= 6.0 * made.estimate.stderr)
    said = {"digest": collection.digest, "round": 1, "arrived": len(TRUTH) + len(bad), "invalid": len(bad)}
    written = json.loads((tmp_path / "result" / "estimates.json").read_text(encoding="utf-8"))
    assert written["counted"] == {"reports": len(TRUTH), "missing": None, "collected": said}
    page, table = ((tmp_path / "result" / name).read_text(encoding="utf-8") for name in ("page.html", "estimates.csv"))
    found = verify(page, beside={"estimates.csv": table})
    assert found.verdict == "pass"
    assert {"valid reports of the collection", "round of the collection", "digest of the collection"} <= {
        each.what for each in found.checks if each.outcome == "pass"
    }
    assert f"{len(TRUTH) + len(bad)} encrypted reports, {len(bad)} of them invalid and left out" in page.replace(
        "\xa0", " "
    )
    assert collection.digest in page
    assert "Tea?" in page
    assert f"{len(bad)} of {len(TRUTH) + len(bad)} that arrived were invalid" in str(made)


def test_what_was_opened_is_remembered_for_its_owner_alone(tmp_path: Path) -> None:
    collection = announced(tmp_path / "study")
    sealed = write_sealed(tmp_path / "sealed.bin", collection, answers(collection))
    open_collection(tmp_path / "study", sealed)
    found = OpenedFile.find(tmp_path / "study" / OPENED)
    assert found == opened_file(collection.digest, hashlib.sha256(sealed.read_bytes()).hexdigest(), len(TRUTH), 0)
    assert (tmp_path / "study" / OPENED).stat().st_mode & 0o777 == 0o600


def test_the_same_file_opens_again_to_the_same_result(tmp_path: Path) -> None:
    collection = announced(tmp_path / "study")
    sealed = write_sealed(tmp_path / "sealed.bin", collection, answers(collection))
    first, second = (open_collection(tmp_path / "study", sealed) for _ in range(2))
    assert (first.record.tally, first.record.estimates) == (second.record.tally, second.record.estimates)


def test_two_files_that_differ_by_one_report_would_show_it_and_the_second_is_refused(tmp_path: Path) -> None:
    """A shuffler that releases two sets: with the memory gone, their difference is one person's
    report; with it, or with a ledger, there is no second result.
    """
    collection = announced(tmp_path / "study")
    envelopes = answers(collection)
    one = write_sealed(tmp_path / "one.bin", collection, envelopes)
    two = write_sealed(tmp_path / "two.bin", collection, envelopes[:-1])
    ledger = tmp_path / "budget.sqlite"
    first = open_collection(tmp_path / "study", one, ledger=ledger, **LIMITED)
    with pytest.raises(InvalidInput, match=r"must be the file that was opened before.* differ by one report"):
        open_collection(tmp_path / "study", two)

    (tmp_path / "study" / OPENED).unlink()  # an analyst who wants to can
    with pytest.raises(InvalidInput, match="the reports of a release must be new"):
        open_collection(tmp_path / "study", two, ledger=ledger, **LIMITED)
    assert not (tmp_path / "study" / OPENED).exists()
    assert len(Ledger(ledger).releases()) == 1

    second = open_collection(tmp_path / "study", two)  # the attack, with both protections off
    difference = np.subtract(first.record.tally.votes, second.record.tally.votes)
    assert sorted(difference) == [0, 1]


def test_a_shuffler_that_puts_its_own_reports_in_place_of_others_reads_one_off_the_page(tmp_path: Path) -> None:
    """Nothing stops it, with the analyst honest: so the page must not say that it takes the two."""
    collection = announced(tmp_path / "study")
    (victim,) = answers(collection, [1])
    own = collection.reporter.encode([0] * (LEAST - 1))
    sealed = write_sealed(tmp_path / "sealed.bin", collection, [victim, *Envelopes(collection).seal(own)])
    open_collection(tmp_path / "study", sealed, out=tmp_path / "result")
    page = (tmp_path / "result" / "page.html").read_text(encoding="utf-8")
    left = np.subtract(read_record(page).tally.votes, collection.reporter.randomizer.tally(own))
    assert np.array_equal(left, collection.reporter.randomizer.tally(Envelopes(collection).opened([victim], STUDY_KEY)))
    assert "drops the reports of others and puts its own in their place" in plain(page)


def test_of_two_that_are_about_to_publish_the_first_is_remembered(tmp_path: Path) -> None:
    one, two = (opened_file("ab" * 32, letter * 64, 100, 0) for letter in "12")
    remember(tmp_path, one, "'one.bin'")
    with pytest.raises(InvalidInput, match=r"'two.bin' must be the file that was opened before"):
        remember(tmp_path, two, "'two.bin'")
    remember(tmp_path, one, "'one.bin'")
    assert OpenedFile.find(tmp_path / OPENED) == one


def test_a_disk_without_locks_remembers_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.EBADF, "no lock for a folder there")

    monkeypatch.setattr("shuffledp.survey.opener.fcntl.flock", none)
    one = opened_file("ab" * 32, "1" * 64, 100, 0)
    remember(tmp_path, one, "'one.bin'")
    assert OpenedFile.find(tmp_path / OPENED) == one


@pytest.mark.parametrize("step", ["pipeline.write_release", "budget.Spent.begin"])
def test_a_run_that_was_killed_before_it_published_is_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    collection = announced(tmp_path / "study")
    sealed = write_sealed(tmp_path / "sealed.bin", collection, answers(collection))
    ledger, told = tmp_path / "budget.sqlite", {"ledger": tmp_path / "budget.sqlite", **LIMITED}

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"shuffledp.release.{step}", die)
        with pytest.raises(KeyboardInterrupt):
            open_collection(tmp_path / "study", sealed, out=tmp_path / "result", **told)
    assert not (tmp_path / "result").exists()
    assert len(Ledger(ledger).releases()) == 1
    open_collection(tmp_path / "study", sealed, out=tmp_path / "result", **told)
    assert len(Ledger(ledger).releases()) == 1
    assert {each.name for each in (tmp_path / "result").iterdir()} == FILES


def test_a_round_of_several_says_which(tmp_path: Path) -> None:
    collection = announced(tmp_path / "study", design=poll(rounds=3), round=2)
    sealed = write_sealed(tmp_path / "sealed.bin", collection, answers(collection))
    made = open_collection(tmp_path / "study", sealed, out=tmp_path / "result", title="Again")
    page = (tmp_path / "result" / "page.html").read_text(encoding="utf-8")
    assert read_record(page).counted.collected == made.record.counted.collected
    assert "<dt>Round</dt> <dd>2 of 3</dd>" in plain(page)
    assert "all of them valid" in page
    assert made.record.asked.title == "Again"
    assert str(made.record.asked.what).endswith(", round 2")


class Prepared(NamedTuple):
    """A study and what was fetched of it, before something goes wrong."""

    study: Path
    sealed: Path
    collection: Collection

    def release(self, envelopes: Iterable[bytes]) -> None:
        write_sealed(self.sealed, self.collection, envelopes)

    def release_other(self) -> None:
        other = replace(self.collection, question="Coffee?")
        write_sealed(self.sealed, other, answers(other))

    def release_double(self) -> None:
        envelopes = answers(self.collection)
        self.release([*envelopes, envelopes[0]])

    def swap_the_last_two(self) -> None:
        length, content = self.length, self.sealed.read_bytes()
        self.sealed.write_bytes(content[: -2 * length] + content[-length:] + content[-2 * length : -length])

    def make_pipe(self) -> None:
        self.sealed.unlink()
        os.mkfifo(self.sealed)

    def exchange_key(self) -> None:
        (self.study / KEY).unlink()
        AnalystKey(bytes(32)).write(self.study / KEY)

    @property
    def length(self) -> int:
        return Envelopes(self.collection).length

    @property
    def few(self) -> list[bytes]:
        return answers(self.collection, TRUTH[: LEAST - 1])


Spoil = Callable[[Prepared], object]
REFUSED: dict[str, tuple[Spoil, str]] = {
    "other collection": (Prepared.release_other, "must be of the collection .* Fetch the reports of this one"),
    "other key": (Prepared.exchange_key, "must be the key of the collection beside it, got that of another"),
    "cut": (lambda at: at.sealed.write_bytes(at.sealed.read_bytes()[:-1]), "must be as long as its header says"),
    "unordered": (Prepared.swap_the_last_two, "must hold each report once, in the order of its bytes"),
    "double": (Prepared.release_double, "must hold each report once, in the order of its bytes"),
    "other length": (
        lambda at: at.sealed.write_bytes(SealedHeader.of(at.collection.digest, MOST, 50).content + bytes(50 * MOST)),
        "must hold sealed reports of 49 bytes, got 50",
    ),
    "strange header": (
        lambda at: at.sealed.write_bytes(SealedHeader.of(5, MOST, 49).content + bytes(49 * MOST)),  # type: ignore[arg-type]
        "must have its usual form",
    ),
    "signs for a terminal": (
        lambda at: at.sealed.write_bytes(SealedHeader.of("\x1b[2J", MOST, 49).content + bytes(49 * MOST)),
        "must have its usual form",
    ),
    "pipe": (Prepared.make_pipe, "must be an ordinary file"),
    "all invalid": (
        lambda at: at.release(os.urandom(at.length) for _ in range(LEAST)),
        "got 0 of 100 that arrived: the other 100 do not open, or are no reports",
    ),
    "too few": (lambda at: at.release(at.few), "the 100 that the design promises, got 99 of 99 that arrived. Nothing"),
    "too few valid": (
        lambda at: at.release([*at.few, *garbage(at.collection)]),
        "the 100 that the design promises, got 99 of 105 that arrived: the other 6 do not open",
    ),
    "too many": (
        lambda at: at.release(answers(at.collection, np.zeros(MOST + 1, dtype=np.int64))),
        "at most the 200 people that the design knows, got 201",
    ),
    "key for others": (
        lambda at: (at.study / KEY).chmod(0o640),
        "must be readable by its owner alone, got permissions 640",
    ),
    "no key": (lambda at: (at.study / KEY).unlink(), "must be the analyst's key, got none that can be read"),
    "no collection": (lambda at: (at.study / COLLECTION).unlink(), "must be a file that `shuffledp survey new`"),
    "no file": (lambda at: at.sealed.unlink(), "must be a file of sealed reports, got none that can be read"),
    "damaged memory": (
        lambda at: (at.study / OPENED).write_text("{}", encoding="utf-8"),
        "It says what was opened before",
    ),
    "strange memory": (
        lambda at: (at.study / OPENED).write_bytes(opened_file(5, "5e" * 32, 1, 0).content),
        "It says what was opened before",
    ),
    "foreign memory": (
        lambda at: (at.study / OPENED).write_bytes(opened_file("5e" * 32, "5e" * 32, 1, 0).content),
        "must be of the collection beside it",
    ),
    "existing result": (lambda at: (at.study.parent / "result").mkdir(), "must not exist yet"),
}


@pytest.mark.parametrize(("spoil", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_opened_costs_nothing_and_leaves_nothing(tmp_path: Path, spoil: Spoil, words: str) -> None:
    study, sealed = tmp_path / "study", tmp_path / "sealed.bin"
    collection = announced(study)
    spoil(Prepared(study, write_sealed(sealed, collection, answers(collection)), collection))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput, match=words):
        open_collection(study, sealed, out=tmp_path / "result", ledger=tmp_path / "budget.sqlite", **LIMITED)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_ledger_that_is_over_its_limit_lets_nothing_be_seen(tmp_path: Path) -> None:
    collection = announced(tmp_path / "study")
    sealed = write_sealed(tmp_path / "sealed.bin", collection, answers(collection))
    limits = LIMITED | {"limit_epsilon": 1e-9, "limit_delta": 1e-9}
    with pytest.raises(InvalidInput, match=r"the releases of .people. together must keep"):
        open_collection(
            tmp_path / "study", sealed, out=tmp_path / "result", ledger=tmp_path / "budget.sqlite", **limits
        )
    assert not (tmp_path / "study" / OPENED).exists()
    assert not (tmp_path / "result").exists()
    ledger = tmp_path / "budget.sqlite"
    assert not ledger.exists() or Ledger(ledger).releases() == ()
