"""Drawings that were attempted several times: one stands, and of the others nothing is left."""

from __future__ import annotations

import json
import os
import resource
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shuffledp import Poll
from shuffledp.engines import beam_commit
from shuffledp.engines.batch import BatchEncoder
from shuffledp.engines.beam_commit import Drawing, Written, put_once
from shuffledp.errors import InvalidInput

PEOPLE = 600


@pytest.fixture(scope="module")
def encoder() -> BatchEncoder:
    poll = Poll("histogram", categories=["bus", "car", "walk"], n=PEOPLE, epsilon=0.5, delta=1e-2)
    return BatchEncoder.of(poll, column="way")


@pytest.fixture
def drawing(tmp_path: Path, encoder: BatchEncoder) -> Drawing:
    return Drawing.claimed(tmp_path / "work", encoder)


def people() -> pa.RecordBatch:
    return pa.record_batch({"way": [["bus", "car", "walk", None][i % 4] for i in range(PEOPLE)]})


def drawn(drawing: Drawing, encoder: BatchEncoder) -> Written:
    attempt = drawing.attempt(encoder)
    attempt.add(people())
    written = attempt.finish()
    assert written is not None
    return written


def held(drawing: Drawing, files: list[Written]) -> list[int]:
    return [report for file in files for batch in drawing.reports(file) for report in batch.column(0).to_pylist()]


def left(drawing: Drawing) -> set[str]:
    return set(os.listdir(Path(drawing.folder) / "reports"))


def test_the_first_manifest_stands(drawing: Drawing, encoder: BatchEncoder) -> None:
    one, other = drawn(drawing, encoder), drawn(drawing, encoder)
    assert (one.reports, one.missing) == (450, 150)
    assert held(drawing, [one]) != held(drawing, [other])  # what nobody may see both of
    assert drawing.commit([one], PEOPLE) == [one]
    assert drawing.commit([other], PEOPLE) == [one]
    assert left(drawing) == {one.name}


def test_of_many_who_commit_at_once_one_does(drawing: Drawing, encoder: BatchEncoder) -> None:
    attempts = [drawn(drawing, encoder) for _ in range(16)]
    with ThreadPoolExecutor(16) as pool:
        seen = list(pool.map(lambda each: drawing.commit([each], PEOPLE), attempts))
    assert len({tuple(each) for each in seen}) == 1
    assert left(drawing) == {seen[0][0].name}
    assert sorted(os.listdir(drawing.folder)) == ["claim.json", f"manifest-{drawing.batch}.json", "reports"]


def test_who_is_overtaken_in_the_middle_reads_what_stands(
    drawing: Drawing, encoder: BatchEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own files are swept away while it looks for them."""
    one, other = drawn(drawing, encoder), drawn(drawing, encoder)
    check, rivals = Drawing._check, [one]

    def overtaken(self: Drawing, written: list[Written], rows: int) -> None:
        if rivals:
            self.commit([rivals.pop()], rows)
        check(self, written, rows)

    monkeypatch.setattr(Drawing, "_check", overtaken)
    assert drawing.commit([other], PEOPLE) == [one]


def test_a_full_disk_is_a_sentence(drawing: Drawing, encoder: BatchEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    attempt = drawing.attempt(encoder)
    attempt.add(people())
    monkeypatch.setattr(beam_commit.os, "fsync", full)
    with pytest.raises(InvalidInput, match="must be writable, got: No space left on device"):
        attempt.finish()
    assert left(drawing) == set()


def test_a_disk_that_is_full_already_while_drawing(drawing: Drawing, encoder: BatchEncoder) -> None:
    """What is still to be written cannot be, when the file is closed; it goes all the same."""
    attempt, (soft, hard) = drawing.attempt(encoder), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        attempt.add(people())
        with pytest.raises(InvalidInput, match="must be writable, got: File too large"):
            attempt.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert left(drawing) == set()


def test_the_disk_holds_all_that_a_manifest_names_before_it_stands(
    drawing: Drawing, encoder: BatchEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a machine that loses power leaves a decision for reports that are gone."""
    done, fsync, link = list[str](), os.fsync, os.link

    def flushed(handle: int) -> None:
        done.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        fsync(handle)

    def linked(one: Path, other: Path) -> None:
        done.append("stands")
        link(one, other)

    monkeypatch.setattr(beam_commit.os, "fsync", flushed)
    monkeypatch.setattr(beam_commit.os, "link", linked)
    one = drawn(drawing, encoder)
    assert done == [one.name, "reports"]
    drawing.commit([one], PEOPLE)
    manifest, *rest = done[2:]
    assert manifest.startswith(f".{drawing.manifest.name}.")
    assert rest == ["stands", Path(drawing.folder).name]


def test_without_the_link_two_manifests_would_have_stood(
    drawing: Drawing, encoder: BatchEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: a file that is replaced tells the second who commits another decision."""
    monkeypatch.setattr(beam_commit.os, "link", lambda one, other: Path(other).write_bytes(Path(one).read_bytes()))
    monkeypatch.setattr(Drawing, "stands", lambda _: False)
    one, other = drawn(drawing, encoder), drawn(drawing, encoder)
    monkeypatch.setattr(Drawing, "_sweep", lambda *_: None)
    assert held(drawing, drawing.commit([one], PEOPLE)) != held(drawing, drawing.commit([other], PEOPLE))


def test_a_late_attempt_leaves_nothing(drawing: Drawing, encoder: BatchEncoder) -> None:
    late = drawing.attempt(encoder)
    one = drawn(drawing, encoder)
    late.add(people())
    drawing.commit([one], PEOPLE)
    assert late.finish() is None
    slow = drawing.attempt(encoder)
    slow.add(people())
    assert slow.finish() is None
    assert left(drawing) == {one.name}


def test_a_bundle_that_counts_twice_is_refused(drawing: Drawing, encoder: BatchEncoder) -> None:
    one, other = drawn(drawing, encoder), drawn(drawing, encoder)
    with pytest.raises(
        InvalidInput, match=r"once for each of the 600 rows, got 1,200: .* Run it in batch mode elsewhere\.$"
    ):
        drawing.commit([one, other], PEOPLE)
    assert not drawing.stands()
    # The control: unless rows are counted apart, everybody has two reports.
    assert len(held(drawing, drawing.commit([one, other], 2 * PEOPLE))) == 2 * 450


def test_a_name_that_arrives_twice_is_one_file(drawing: Drawing, encoder: BatchEncoder) -> None:
    one = drawn(drawing, encoder)
    assert drawing.commit([one, one], PEOPLE) == [one]


def test_a_batch_that_fails_leaves_nothing(drawing: Drawing, encoder: BatchEncoder) -> None:
    attempt = drawing.attempt(encoder)
    with pytest.raises(InvalidInput, match="tram"):
        attempt.add(pa.record_batch({"way": ["tram"]}))
    attempt.abandon()
    assert left(drawing) == set()


def test_only_the_owner_reads_reports(drawing: Drawing, encoder: BatchEncoder) -> None:
    drawing.commit([drawn(drawing, encoder)], PEOPLE)
    for each in [Path(drawing.folder), *Path(drawing.folder).rglob("*")]:
        assert not stat.S_IMODE(each.stat().st_mode) & 0o077, each


def test_a_second_start_draws_nothing(drawing: Drawing, encoder: BatchEncoder) -> None:
    with pytest.raises(InvalidInput, match=r"where a run began and did not get so far. If none is running, remove"):
        Drawing.claimed(drawing.folder, encoder)
    drawing.commit([drawn(drawing, encoder)], PEOPLE)
    assert Drawing.claimed(drawing.folder, encoder) == drawing
    with pytest.raises(InvalidInput, match=r"of another, with a difference in column, missing\. Choose"):
        Drawing.claimed(drawing.folder, BatchEncoder.of(encoder.design, column="other", missing="bus"))
    with pytest.raises(InvalidInput, match=r"of another, with a difference in ids\. Choose"):  # nobody compared them
        Drawing.claimed(drawing.folder, encoder, ids="name")
    with pytest.raises(InvalidInput, match="with those of 600 rows for a table of 599"):
        drawing.commit([], PEOPLE - 1)


def test_a_run_of_yesterday_cannot_decide_for_today(drawing: Drawing, encoder: BatchEncoder) -> None:
    yesterday = Drawing(drawing.folder, "0" * 32)
    with pytest.raises(InvalidInput, match="where this worker does not see its claim"):
        yesterday.attempt(encoder)
    put_once(yesterday.manifest, "[]")
    assert not drawing.stands()
    # Nor does it sweep away what today draws.
    one = drawn(drawing, encoder)
    with pytest.raises(InvalidInput, match="where this worker does not see its claim"):
        yesterday.commit([], 0)
    assert left(drawing) == {one.name}


def test_a_worker_on_another_disk_draws_nothing(tmp_path: Path, encoder: BatchEncoder) -> None:
    """Its folder would have a first manifest of its own."""
    alone = Drawing(str(tmp_path), "0" * 32)
    with pytest.raises(InvalidInput, match=r"all workers share .* Choose a folder on a shared disk\.$"):
        alone.attempt(encoder)
    assert os.listdir(tmp_path) == []


def test_reports_on_another_disk_are_not_committed(drawing: Drawing) -> None:
    with pytest.raises(InvalidInput, match="where another worker's reports are not to be seen"):
        drawing.commit([Written("elsewhere.arrow", PEOPLE, 0, "")], PEOPLE)
    assert not drawing.stands()


def test_reports_that_were_removed_are_missed(drawing: Drawing, encoder: BatchEncoder) -> None:
    (one,) = drawing.commit([drawn(drawing, encoder)], PEOPLE)
    (Path(drawing.folder) / "reports" / one.name).unlink()
    with pytest.raises(InvalidInput, match=r"must still hold its reports, got .* without some of them"):
        list(drawing.reports(one))


@pytest.mark.parametrize("change", ["cut", "emptied", "redrawn"])
def test_reports_that_were_changed_are_not_read(drawing: Drawing, encoder: BatchEncoder, change: str) -> None:
    """Also by as many others, of the same people."""
    one, other = drawn(drawing, encoder), drawn(drawing, encoder)
    place, redrawn = (Path(drawing.folder) / "reports" / each.name for each in (one, other))
    changed = {"cut": place.read_bytes()[:-300], "emptied": b"", "redrawn": redrawn.read_bytes()}[change]
    drawing.commit([one], PEOPLE)
    place.write_bytes(changed)
    with pytest.raises(InvalidInput, match=r"must still hold its reports, got .* or with others\. Choose a new folder"):
        next(drawing.reports(one))


ANY = "0" * 32 + ".arrow"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '[["a"',
        "[[1]]",
        '[["../claim.json",600,0,""]]',
        f'[["{ANY}",600.0,0,""]]',
        f'[["{ANY}",700,-100,""]]',
        f'[["{ANY}",300,0,""],["{ANY}",300,0,""]]',
    ],
)
def test_a_manifest_that_was_changed(drawing: Drawing, encoder: BatchEncoder, text: str) -> None:
    one = drawn(drawing, encoder)
    drawing.manifest.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"must hold its manifest as it was written, got a changed one"):
        drawing.commit([one], PEOPLE)
    assert left(drawing) == {one.name}


@pytest.mark.parametrize("place", ["gs://bucket/work", "s3://bucket/work", "hdfs://host/work"])
def test_an_object_store_cannot_say_who_was_first(place: str, encoder: BatchEncoder) -> None:
    with pytest.raises(
        InvalidInput, match=r'a folder on a disk .* object store .* mounted one, such as out="shared/work"'
    ):
        Drawing.claimed(place, encoder)


def test_a_disk_without_links_is_refused(
    tmp_path: Path, encoder: BatchEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(beam_commit.os, "link", refuse)
    with pytest.raises(
        InvalidInput, match=r"hard links, which say who was first, got: Operation not .*: df -T lists them\.$"
    ):
        Drawing.claimed(tmp_path / "work", encoder)


def test_places_that_are_taken(tmp_path: Path, encoder: BatchEncoder) -> None:
    (tmp_path / "note.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"out must be a new folder, got .* with other files"):
        Drawing.claimed(tmp_path, encoder)
    with pytest.raises(InvalidInput, match=r"must exist, got none. Create it first: mkdir -p"):
        Drawing.claimed(tmp_path / "no" / "work", encoder)
    with pytest.raises(InvalidInput, match="must be writable"):
        Drawing.claimed(tmp_path / "note.txt", encoder)
    assert sorted(os.listdir(tmp_path)) == ["note.txt"]


@pytest.mark.parametrize("text", ["", "[]", "{", "more", "less"])
def test_a_claim_of_another_version_may_have_been_counted(drawing: Drawing, encoder: BatchEncoder, text: str) -> None:
    """To ask for another folder would invite a second drawing for the same people."""
    place = Path(drawing.folder) / "claim.json"
    facts = json.loads(place.read_text(encoding="utf-8"))
    others = {"more": facts | {"keep": "random"}, "less": {name: facts[name] for name in facts if name != "clip"}}
    place.write_text(json.dumps(others[text]) if text in others else text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"a whole claim\.json .*\. If it may have been counted, draw no other"):
        Drawing.claimed(drawing.folder, encoder)


def test_the_claim_says_what_is_drawn(drawing: Drawing, encoder: BatchEncoder) -> None:
    claim = json.loads((Path(drawing.folder) / "claim.json").read_text(encoding="utf-8"))
    assert (claim["batch"], claim["column"], claim["design"]) == (drawing.batch, "way", encoder.design.digest)


def test_a_table_without_values(drawing: Drawing) -> None:
    with pytest.raises(InvalidInput, match="must hold at least one value, got none"):
        drawing.commit([], 0)
    assert not drawing.stands()
