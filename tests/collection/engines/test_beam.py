"""Apache Beam, on runners with threads, with worker processes, and with bundles that are run again:
one report for each person, the same for everybody who looks.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import shuffledp as sdp
from shuffledp.collection.engines.batch import BatchEncoder, ReportTally, added_up
from shuffledp.collection.tables import CountedReports, read_counted
from shuffledp.protocols.design import Design
from tests.cli.people import ABSENT, CITIES, PEOPLE, TRUTH, done, people

beam = pytest.importorskip("apache_beam", reason="apache-beam is not installed: pip install 'shuffledp[beam]'")

from apache_beam.options.pipeline_options import PipelineOptions  # noqa: E402
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner  # noqa: E402

from shuffledp.collection.engines import beam as ours  # noqa: E402

THREADS = {"direct_running_mode": "multi_threading", "direct_num_workers": 3}
PROCESSES = {"direct_running_mode": "multi_processing", "direct_num_workers": 2}
SEEN: dict[str, list[Any]] = {}
LOCK = threading.Lock()


def pipeline(**options: Any) -> Any:
    return beam.Pipeline(runner="FnApiRunner", options=PipelineOptions(**options))


def retrying() -> Any:
    """A runner that runs a bundle up to four times, until it does not fail."""
    return beam.Pipeline(runner=BundleBasedDirectRunner())


def ran(made: Any) -> None:
    made.run().wait_until_finish()


def see(element: Any, name: str) -> Any:
    """What somebody downstream sees."""
    with LOCK:
        SEEN.setdefault(name, []).append(element)
    return element


def seen(name: str = "reports") -> list[int]:
    """All reports that somebody saw."""
    return sorted(report for batch in SEEN.pop(name) for report in batch.column(0).to_pylist())


def fail_once() -> None:
    """Fail the first time in a test. The state is a module's: a runner copies all others."""
    with LOCK:
        first = "failed" not in SEEN
        SEEN["failed"] = []
    if first:
        raise OSError("the machine is lost")


def see_and_fail(batch: pa.RecordBatch) -> None:
    see(batch, "reports")
    if len(SEEN["reports"]) == 3:
        fail_once()


@pytest.fixture(scope="module")
def design() -> Design:
    return Design.of(sdp.Histogram(categories=list(CITIES), n=PEOPLE, epsilon=0.3, delta=1e-2))


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many reports were drawn, each time that any were."""
    numbers: list[int] = []
    drawn = BatchEncoder._drawn

    def counted(self: BatchEncoder, *batches: Any, **more: Any) -> Iterator[Any]:
        for reports in drawn(self, *batches, **more):
            numbers.append(len(reports[0]))
            yield reports

    monkeypatch.setattr(BatchEncoder, "_drawn", counted)
    return numbers


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()


def batches(table: pa.Table | None = None, size: int = 500) -> list[pa.RecordBatch]:
    whole = people() if table is None else table
    return list(whole.combine_chunks().to_batches(max_chunksize=size))


def counted_in(out: Path, design: Any, made: Any, given: list[Any] | None = None, **more: Any) -> CountedReports:
    encode = ours.Encode(design, column=more.pop("column", "city"), out=out, **more)
    reports = made | beam.Create(batches() if given is None else given) | encode
    reports | "see" >> beam.Map(see, "reports")
    reports | ours.Count(encode) | "see counts" >> beam.Map(see, "counted")
    ran(made)
    (counted,) = SEEN.pop("counted")
    return counted


def naive(design: Design, made: Any) -> Any:
    """The obvious code."""
    encoder = BatchEncoder.of(design, column="city")
    return made | beam.Create(batches()) | beam.FlatMap(lambda batch: encoder.encode([batch]))


# One report for each person


def test_two_runs_of_one_pipeline_draw_once(tmp_path: Path, design: Design, draws: list[int]) -> None:
    made = pipeline()
    once = counted_in(tmp_path / "work", design, made)
    first = seen()
    assert (sum(draws), len(first), once.reports, once.missing) == (PEOPLE, PEOPLE, PEOPLE, ABSENT)
    ran(made)
    (again,) = SEEN.pop("counted")
    assert sum(draws) == PEOPLE
    assert seen() == first
    assert again.as_json() == once.as_json()


def test_two_runs_of_the_obvious_code_show_two_reports(design: Design, draws: list[int]) -> None:
    made = pipeline()
    naive(design, made) | beam.Map(see, "reports")
    ran(made)
    first = seen()
    ran(made)
    assert sum(draws) == 2 * PEOPLE
    assert seen() != first


def test_a_second_start_reads_what_was_committed(tmp_path: Path, design: Design, draws: list[int]) -> None:
    once = counted_in(tmp_path / "work", design, pipeline())
    again = counted_in(tmp_path / "work", design, pipeline(), batches(size=200))
    assert sum(draws) == PEOPLE
    assert again.as_json() == once.as_json()
    with pytest.raises(Exception, match="with those of 3,007 rows for a table of 10"):
        counted_in(tmp_path / "work", design, pipeline(), [batches()[0].slice(0, 10)])


def test_a_bundle_that_is_run_again_counts_once(
    tmp_path: Path, design: Design, draws: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine is lost when all of a bundle's reports are on the disk."""
    finish = ours.Attempt.finish

    def lost(self: Any) -> Any:
        written = finish(self)
        fail_once()
        return written

    monkeypatch.setattr(ours.Attempt, "finish", lost)
    counted = counted_in(tmp_path / "work", design, retrying())
    assert sum(draws) > PEOPLE == counted.reports
    assert_tally(design, counted)
    assert_nothing_else(tmp_path / "work", PEOPLE)


def test_the_obvious_code_shows_a_bundle_twice(design: Design) -> None:
    encoder = BatchEncoder.of(design, column="city")

    def sent(batch: pa.RecordBatch) -> None:
        for reports in encoder.encode([batch]):
            see(reports, "reports")
        fail_once()

    made = retrying()
    made | beam.Create(batches(size=PEOPLE + ABSENT)) | beam.Map(sent)
    ran(made)
    one, other = (each.column(0).to_pylist() for each in SEEN.pop("reports"))
    assert len(one) == len(other) == PEOPLE
    assert one != other


@pytest.mark.parametrize("place", ["commit", "_sweep"])
def test_a_commit_that_is_run_again_decides_once(
    tmp_path: Path, design: Design, draws: list[int], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The machine is lost after the commit, or between the manifest and the sweeping."""
    done_so_far = getattr(ours.Drawing, place)

    def lost(self: Any, *given: Any) -> Any:
        result = done_so_far(self, *given) if place == "commit" else None
        fail_once()
        return result if place == "commit" else done_so_far(self, *given)

    monkeypatch.setattr(ours.Drawing, place, lost)
    counted = counted_in(tmp_path / "work", design, retrying())
    assert sum(draws) == PEOPLE
    assert_tally(design, counted)
    assert_nothing_else(tmp_path / "work", PEOPLE)


def test_whoever_fails_downstream_sees_the_same_again(tmp_path: Path, design: Design, draws: list[int]) -> None:
    made = retrying()
    encode = ours.Encode(design, column="city", out=tmp_path / "work")
    made | beam.Create(batches()) | encode | beam.Map(see_and_fail)
    ran(made)
    assert sum(draws) == PEOPLE
    shown = [tuple(each.column(0).to_pylist()) for each in SEEN.pop("reports")]
    assert len(shown) > len(set(shown)) == 7  # seven batches, some of them shown twice


def test_a_pipeline_that_failed_may_be_run_again(
    tmp_path: Path, design: Design, draws: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, commit = pipeline(), ours.Drawing.commit

    def lost(self: Any, *given: Any) -> Any:
        fail_once()
        return commit(self, *given)

    monkeypatch.setattr(ours.Drawing, "commit", lost)
    with pytest.raises(Exception, match="the machine is lost"):
        counted_in(tmp_path / "work", design, made)
    assert "reports" not in SEEN
    ran(made)
    assert sum(draws) == 2 * PEOPLE
    assert len(seen()) == PEOPLE
    assert_nothing_else(tmp_path / "work", PEOPLE)


def test_a_runner_that_lets_a_bundle_count_twice_is_found_out(
    tmp_path: Path, design: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Twice(ours._Draw):  # type: ignore[misc]
        def process(self, batch: Any) -> None:
            super().process(batch)
            self.more = [*getattr(self, "more", ()), batch]

        def finish_bundle(self) -> Iterator[Any]:
            yield from super().finish_bundle()
            self.start_bundle()
            for batch in self.__dict__.pop("more", ()):
                super().process(batch)
            yield from super().finish_bundle()

    monkeypatch.setattr(ours, "_Draw", Twice)
    with pytest.raises(Exception, match="once for each of the 3,007 rows, got 6,014"):
        counted_in(tmp_path / "work", design, pipeline())
    # The control: were the rows not counted apart, everybody would report twice.
    monkeypatch.setattr(ours.Drawing, "_check", lambda *_: None)
    monkeypatch.setattr(ours, "len", lambda batch: 2 * batch.num_rows, raising=False)
    assert counted_in(tmp_path / "other", design, pipeline()).reports == 2 * PEOPLE


def test_worker_processes(tmp_path: Path, design: Design) -> None:
    table = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(people(), table, row_group_size=500)
    made = pipeline(**PROCESSES)
    encode = ours.Encode(design, column="city", out=tmp_path / "work")
    values = made | beam.io.ReadFromParquetBatched(str(table))
    values | encode | ours.Count(encode) | ours.WriteCounted(tmp_path / "counted.json")
    ran(made)
    counted = read_counted(tmp_path / "counted.json")
    assert (counted.reports, counted.missing, counted.engine) == (PEOPLE, ABSENT, "Apache Beam")
    assert_nothing_else(tmp_path / "work", PEOPLE)


def assert_tally(design: Design, counted: CountedReports, name: str = "reports") -> None:
    """The counts are the library's own tally of the very reports that somebody saw."""
    tally = added_up(ReportTally.of(design).tally(SEEN.pop(name)))
    assert (tally.reports, tally.votes.tolist()) == (counted.reports, counted.votes.tolist())


def assert_nothing_else(work: Path, reports: int) -> None:
    """What lies in the folder are these reports, and no second ones of anybody."""
    held = 0
    for name in os.listdir(work / "reports"):
        with pa.OSFile(str(work / "reports" / name)) as file, pa.ipc.open_stream(file) as stream:
            held += stream.read_all().num_rows
    assert held == reports


# Every randomizer, and the answer


ASKED: dict[str, Callable[[], Any]] = {
    "krr": lambda: sdp.Histogram(categories=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6),
    "hadamard": lambda: sdp.Frequency(domain=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6, method="hadamard"),
    "hashing": lambda: sdp.Frequency(domain=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6, method="hashing"),
    "subset": lambda: sdp.Frequency(domain=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6, method="subset"),
    "unary": lambda: sdp.Frequency(domain=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6, method="unary"),
    "mean": lambda: sdp.Mean(lower=0.0, upper=100.0, n=PEOPLE + ABSENT, epsilon=1.0, delta=1e-6),
}


def test_counts_are_the_tally_of_the_reports(tmp_path: Path) -> None:
    """All in one pipeline, on several threads."""
    made, asked = pipeline(**THREADS), {name: ask() for name, ask in ASKED.items()}
    values = made | beam.Create(batches())
    for name, protocol in asked.items():
        encode = ours.Encode(protocol, column="age" if name == "mean" else "city", out=tmp_path / name)
        reports = values | f"encode {name}" >> encode
        reports | f"see {name}" >> beam.Map(see, name)
        reports | f"count {name}" >> ours.Count(encode) | f"see counted {name}" >> beam.Map(see, f"counted {name}")
    ran(made)
    for name, protocol in asked.items():
        (counted,) = SEEN[f"counted {name}"]
        assert_tally(Design.of(protocol), counted, name)
        estimate = protocol.analyse_counts(counted.votes)
        truth = np.mean(people()["age"].to_numpy()) if name == "mean" else [TRUTH[city] for city in CITIES]
        assert np.all(np.abs(estimate.values - truth) <= 6.0 * estimate.stderr), name


def test_from_a_table_to_a_page_that_verifies(tmp_path: Path) -> None:
    table, text = tmp_path / "people.parquet", tmp_path / "design.json"
    pyarrow.parquet.write_table(people(), table, row_group_size=500)
    promise = ("--epsilon", 1, "--delta", 1e-6)
    done("design", "histogram", "--categories", ",".join(CITIES), "--n", PEOPLE, *promise, "--out", text)

    encode = ours.Encode(text, column="city", out=tmp_path / "work")
    with pipeline() as made:
        values = made | beam.io.ReadFromParquetBatched(str(table))
        values | encode | ours.Count(encode) | ours.WriteCounted(tmp_path / "counted.json")

    facts = done("analyse", tmp_path / "counted.json", "--out", tmp_path / "result", "--json").facts
    assert facts["counted"] == {"reports": PEOPLE, "missing": ABSENT}
    for label, value, error in zip(*(facts["estimates"][name] for name in ("label", "value", "stderr")), strict=True):
        assert abs(value - TRUTH[label]) <= 6.0 * error
    assert "secret-" not in (tmp_path / "counted.json").read_text(encoding="utf-8")
    done("verify", tmp_path / "result" / "page.html")
