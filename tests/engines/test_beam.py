"""Apache Beam, on runners with threads, with worker processes, and with bundles that are run again:
one report for each person, the same for everybody who looks.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.engines.batch import BatchReporter, ReportTally
from shuffledp.engines.beam_commit import Attempt, Written
from shuffledp.errors import InvalidInput
from shuffledp.tables.counted_reports import CountedReports, read_counted
from tests.cli.people import ABSENT, CITIES, PEOPLE, TRUTH, done, people

beam = pytest.importorskip("apache_beam", reason="apache-beam is not installed: pip install 'shuffledp[beam]'")

from apache_beam.options.pipeline_options import PipelineOptions  # noqa: E402
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner  # noqa: E402
from apache_beam.transforms import userstate  # noqa: E402

from shuffledp.engines import beam as ours  # noqa: E402
from shuffledp.engines import beam_commit  # noqa: E402

THREADS = {"direct_running_mode": "multi_threading", "direct_num_workers": 2}
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


@pytest.fixture(scope="module", autouse=True)
def looked_up_once() -> Iterator[None]:
    """Beam asks every step for its kinds of state, and parses the options of a pipeline, a dozen times
    over, which took half the time of these tests. Here the first answer is kept.
    """
    specs, viewed = userstate.get_dofn_specs, PipelineOptions.view_as
    kept: dict[Any, Any] = {}
    views: WeakKeyDictionary[Any, dict[type, Any]] = WeakKeyDictionary()

    def kept_specs(step: Any) -> Any:
        kind = type(step), getattr(getattr(step, "_fn", None), "__code__", None)  # of a function: which one it is
        if kind not in kept:
            kept[kind] = specs(step)
        return kept[kind]

    def kept_view(options: Any, kind: type) -> Any:
        held = views.setdefault(options, {})
        if kind not in held:
            held[kind] = viewed(options, kind)
        return held[kind]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(userstate, "get_dofn_specs", kept_specs)
        patch.setattr(PipelineOptions, "view_as", kept_view)
        yield


@pytest.fixture(scope="module")
def design() -> Design:
    return Design.of(Poll("histogram", categories=list(CITIES), n=PEOPLE, epsilon=0.3, delta=1e-2))


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many reports were drawn, each time that any were."""
    numbers: list[int] = []
    drawn = BatchReporter._drawn

    def counted(self: BatchReporter, *batches: Any, **more: Any) -> Iterator[Any]:
        for reports in drawn(self, *batches, **more):
            numbers.append(len(reports))
            yield reports

    monkeypatch.setattr(BatchReporter, "_drawn", counted)
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
    reports | ours.Tally(encode) | "see counts" >> beam.Map(see, "counted")
    ran(made)
    (counted,) = SEEN.pop("counted")
    return counted


def naive(design: Design, made: Any) -> Any:
    """The obvious code."""
    reporter = BatchReporter.of(design, column="city")
    return made | beam.Create(batches()) | beam.FlatMap(lambda batch: reporter.encode([batch]))


# One report for each person


def test_two_runs_and_a_second_start_draw_once(tmp_path: Path, design: Design, draws: list[int]) -> None:
    made = pipeline()
    once = counted_in(tmp_path / "work", design, made)
    first = seen()
    assert (sum(draws), len(first), once.reports, once.missing) == (PEOPLE, PEOPLE, PEOPLE, ABSENT)
    ran(made)
    (again,) = SEEN.pop("counted")
    assert sum(draws) == PEOPLE
    assert seen() == first
    assert again.as_json() == once.as_json()
    started = counted_in(tmp_path / "work", design, pipeline(), batches(size=800))
    assert sum(draws) == PEOPLE
    assert seen() == first
    assert started.as_json() == once.as_json()
    with pytest.raises(InvalidInput, match="with a difference in ids"):  # whose rows nobody has compared
        pipeline() | beam.Create(batches()) | ours.Encode(design, column="city", ids="name", out=tmp_path / "work")


def test_two_runs_of_the_obvious_code_show_two_reports(design: Design, draws: list[int]) -> None:
    made = pipeline()
    naive(design, made) | beam.Map(see, "reports")
    ran(made)
    first = seen()
    ran(made)
    assert sum(draws) == 2 * PEOPLE
    assert seen() != first


def test_a_bundle_that_is_run_again_counts_once(
    tmp_path: Path, design: Design, draws: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine is lost when all of a bundle's reports are on the disk."""
    finish = Attempt.finish

    def lost(self: Any) -> Any:
        written = finish(self)
        fail_once()
        return written

    monkeypatch.setattr(Attempt, "finish", lost)
    counted = counted_in(tmp_path / "work", design, retrying())
    assert sum(draws) > PEOPLE == counted.reports
    assert_tally(design, counted)
    assert_nothing_else(tmp_path / "work", PEOPLE)


def test_the_obvious_code_shows_a_bundle_twice(design: Design) -> None:
    reporter = BatchReporter.of(design, column="city")

    def sent(batch: pa.RecordBatch) -> None:
        for reports in reporter.encode([batch]):
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


class Twice(ours.Draw):  # type: ignore[misc]
    """A runner that runs a bundle twice, and lets both count."""

    def process(self, batch: Any) -> Iterator[Any]:
        yield from super().process(batch)
        attempt, self._attempt = self._attempt, getattr(self, "other", None)
        yield from super().process(batch)
        self.other, self._attempt = self._attempt, attempt

    def finish_bundle(self) -> Iterator[Any]:
        yield from super().finish_bundle()
        self._attempt = self.__dict__.pop("other", None)
        yield from super().finish_bundle()


def test_a_runner_that_lets_a_bundle_count_twice_is_found_out(
    tmp_path: Path, design: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "Draw", Twice)
    with pytest.raises(Exception, match="once for each of the 3,007 rows, got 6,014"):
        counted_in(tmp_path / "rows", design, pipeline())
    # Where the same bundle counts the rows, and twice as well, only ids tell.
    monkeypatch.setattr(ours, "len", lambda batch: 2 * batch.num_rows, raising=False)
    assert counted_in(tmp_path / "nobody", design, pipeline()).reports == 2 * PEOPLE  # the control
    SEEN.clear()
    with pytest.raises(Exception, match=r"'name' must name everybody once, got 3,007 rows of people who have another"):
        counted_in(tmp_path / "ids", design, pipeline(), ids="name")
    assert SEEN == {}


def test_a_person_with_two_rows_has_no_report(tmp_path: Path, design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [*batches(), pa.record_batch({"name": ["secret-00001"], "city": ["Lima"]})]
    with pytest.raises(Exception, match=r"'name' must name everybody once, got 1 rows of people who have another"):
        counted_in(tmp_path / "work", design, pipeline(), given, ids="name")
    assert SEEN == {}
    # The control: where nobody compares ids, the same person sends two reports.
    monkeypatch.setattr(ours, "check_single", lambda *_: None)
    assert counted_in(tmp_path / "control", design, pipeline(), given, ids="name").reports == PEOPLE + 1


def assert_tally(design: Design, counted: CountedReports, name: str = "reports") -> None:
    """The counts are the library's own tally of the very reports that somebody saw."""
    tally = ReportTally.of(design).added(SEEN.pop(name))
    assert (tally.people, tally.numbers.tolist()) == (counted.reports, counted.votes.tolist())


def assert_nothing_else(work: Path, reports: int) -> None:
    """What lies in the folder are these reports, and no second ones of anybody."""
    held = 0
    for name in os.listdir(work / "reports"):
        with pa.OSFile(str(work / "reports" / name)) as file, pa.ipc.open_stream(file) as stream:
            held += stream.read_all().num_rows
    assert held == reports


# Every randomizer, and the answer


ASKED: dict[str, Callable[[], Any]] = {
    "krr": lambda: Poll("histogram", categories=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6),
    "hadamard": lambda: Poll(
        "histogram", categories=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6, mechanism="hadamard"
    ),
    "hash": lambda: Poll("histogram", categories=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6, mechanism="hash"),
    "subset": lambda: Poll("histogram", categories=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6, mechanism="subset"),
    "oue": lambda: Poll("histogram", categories=list(CITIES), n=PEOPLE, epsilon=1.0, delta=1e-6, mechanism="oue"),
    "mean": lambda: Poll("mean", lower=0.0, upper=100.0, n=PEOPLE + ABSENT, epsilon=1.0, delta=1e-6),
}


def test_counts_are_the_tally_of_the_reports(tmp_path: Path) -> None:
    """All in one pipeline, on several threads."""
    made, asked = pipeline(**THREADS), {name: ask() for name, ask in ASKED.items()}
    values = made | beam.Create(batches())
    for name, protocol in asked.items():
        encode = ours.Encode(protocol, column="age" if name == "mean" else "city", out=tmp_path / name)
        reports = values | f"stage encode {name}" >> encode
        reports | f"see {name}" >> beam.Map(see, name)
        reports | f"count {name}" >> ours.Tally(encode) | f"see counted {name}" >> beam.Map(see, f"counted {name}")
    ran(made)
    for name, protocol in asked.items():
        (counted,) = SEEN[f"counted {name}"]
        assert_tally(Design.of(protocol), counted, name)
        estimate = protocol.analyse_counts(counted.votes)
        truth = np.mean(people()["age"].to_numpy()) if name == "mean" else [TRUTH[city] for city in CITIES]
        assert np.all(np.abs(estimate.values - truth) <= 6.0 * estimate.stderr), name


@pytest.mark.long
def test_worker_processes_to_a_page_that_verifies(tmp_path: Path) -> None:
    table, text = tmp_path / "people.parquet", tmp_path / "design.json"
    pyarrow.parquet.write_table(people(), table, row_group_size=500)
    promise = ("--epsilon", 1, "--delta", 1e-6)
    done("stage", "design", "histogram", "--categories", ",".join(CITIES), "--n", PEOPLE, *promise, "--out", text)

    encode = ours.Encode(text, column="city", out=tmp_path / "work")
    with pipeline(**PROCESSES) as made:
        values = made | beam.io.ReadFromParquetBatched(str(table))
        values | encode | ours.Tally(encode) | ours.WriteCounted(tmp_path / "counted.json")

    assert_nothing_else(tmp_path / "work", PEOPLE)
    assert "secret-" not in (tmp_path / "counted.json").read_text(encoding="utf-8")
    facts = done("stage", "analyze", tmp_path / "counted.json", "--out", tmp_path / "result", "--json").facts
    assert facts["counted"] == {"reports": PEOPLE, "missing": ABSENT}
    for label, value, error in zip(*(facts["tables"][0][name] for name in ("label", "value", "stderr")), strict=True):
        assert abs(value - TRUTH[label]) <= 6.0 * error
    done("verify", tmp_path / "result" / "page.html")


# Bad input


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, r'out must be given, got none: .* drawn anew when a bundle is run again\. Add out="work", a new folder'),
        ({"ids": "name"}, "out must be given, got none"),
        ({"out": "work", "missing": "Atlantis"}, "Atlantis"),
    ],
)
def test_what_cannot_be_drawn_is_refused(design: Design, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        ours.Encode(design, column="city", **given)


def test_a_disk_without_links_is_refused_before_anything_is_drawn(
    tmp_path: Path, design: Design, draws: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(beam_commit.os, "link", refuse)
    for _ in range(2):  # the second time, too: nothing lies there that would be taken for another's
        with pytest.raises(InvalidInput, match=r"hard links, .*, got: Operation not supported\. .*: df -T lists them"):
            counted_in(tmp_path / "work", design, pipeline(), ids="name")
    assert draws == []
    assert SEEN == {}
    assert os.listdir(tmp_path / "work") == []


def test_streams_and_windows_are_refused(tmp_path: Path, design: Design) -> None:
    encode = ours.Encode(design, column="city", out=tmp_path / "work")
    values = pipeline() | beam.Create(batches())
    with pytest.raises(InvalidInput, match=r"values must be in the one global window, got others: .* Leave out"):
        values | beam.WindowInto(beam.window.SlidingWindows(2, 1)) | encode
    streaming = pipeline(streaming=True) | beam.Create(batches())
    with pytest.raises(InvalidInput, match="values must be bounded, and the pipeline in batch mode, got a stream"):
        streaming | encode
    endless = pipeline() | beam.Create(batches())
    endless.is_bounded = False
    with pytest.raises(InvalidInput, match="values must be bounded, and the pipeline in batch mode, got a stream"):
        endless | encode
    with pytest.raises(InvalidInput, match="Tally must follow the Encode that it is given"):
        values | ours.Tally(encode)
    with pytest.raises(InvalidInput, match="Tally must be given the Encode before it, got Design"):
        ours.Tally(design)
    with pytest.raises(InvalidInput, match="must exist, got none"):
        ours.WriteCounted(tmp_path / "no" / "counted.json")
    with pytest.raises(InvalidInput, match=r"values must be a collection of Arrow batches, got PBegin\. Read them"):
        pipeline() | encode
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "given, words",
    [
        ([{"city": "Lima"}], "values must come as Arrow record batches or tables, got dict"),
        ([pa.table({"city": ["Lima", "Atlantis"]})], "Atlantis"),
        ([], "the column must hold at least one value, got none"),
        ([pa.Table.from_arrays([pa.array(["Lima"])] * 2, ["city"] * 2)], "got 'city', a name that 2 columns have"),
    ],
)
def test_values_that_do_not_fit(tmp_path: Path, design: Design, given: list[Any], words: str) -> None:
    """A runner adds where it was; the sentence is ours."""
    with pytest.raises(Exception, match=words):
        counted_in(tmp_path / "work", design, pipeline(), given)
    assert SEEN == {}
    assert os.listdir(tmp_path / "work" / "reports") == []


def test_one_encode_is_for_one_table(tmp_path: Path, design: Design) -> None:
    encode, values = ours.Encode(design, column="city", out=tmp_path / "work"), pipeline() | beam.Create(batches())
    values | "once" >> encode
    with pytest.raises(InvalidInput, match=r"applied to one table, got a second one: .* Make one of them with"):
        values | "again" >> encode
    with pytest.raises(InvalidInput, match="where a run began and did not get so far"):
        values | "another" >> ours.Encode(design, column="city", out=tmp_path / "work")


def meddled(reports: Any) -> dict[str, Any]:
    """As many reports as before, and not the same."""

    def first_half_twice(batch: pa.RecordBatch) -> list[pa.RecordBatch]:
        return 2 * [batch.slice(0, len(batch) // 2)] + [batch.slice(0, len(batch) % 2)]

    every_batch = beam.transforms.trigger.Repeatedly(beam.transforms.trigger.AfterCount(1))
    panes = {"trigger": every_batch, "accumulation_mode": beam.transforms.trigger.AccumulationMode.DISCARDING}
    return {
        "doubled": reports | beam.FlatMap(first_half_twice),
        "in panes": reports | beam.WindowInto(beam.window.GlobalWindows(), **panes),
    }


def test_count_takes_the_reports_of_its_encode_and_no_others(
    tmp_path: Path, design: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That they are as many proves nothing: the control."""
    made = pipeline()
    values = made | beam.Create(batches())
    one, other = (ours.Encode(design, column="city", out=tmp_path / name) for name in ("one", "other"))
    first, second = values | "one" >> one, values | "two" >> other
    wrong = {"another drawing": second, **meddled(first)}
    for name, reports in wrong.items():
        with pytest.raises(InvalidInput, match=r"got other reports, or some changed on the way\. Write values"):
            reports | f"count {name}" >> ours.Tally(one)
    monkeypatch.setattr(ours.Encode, "parts", lambda self, _: self._parts)
    for name, reports in {"right": first, **wrong}.items():
        reports | f"count all the same {name}" >> ours.Tally(one) | f"see {name}" >> beam.Map(see, name)
    ran(made)
    counts = {name: SEEN[name][0] for name in ("right", "another drawing", "doubled")}
    assert {(each.reports, each.batches) for each in counts.values()} == {(PEOPLE, (one.batch,))}
    assert len({tuple(each.votes.tolist()) for each in counts.values()}) == 3


def test_the_first_file_of_counts_stands(tmp_path: Path, design: Design) -> None:
    counted = sums_of(design, batches())
    path = tmp_path / "counted.json"
    assert ours.write_once(counted, path) == ours.write_once(counted, path) == str(path)
    with pytest.raises(InvalidInput, match="must not exist yet, got one that holds something else"):
        ours.write_once(sums_of(design, batches()), path)
    assert read_counted(path).as_json() == counted.as_json()
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode  # the analyst is somebody else
    (tmp_path / "usual").unlink()
    with pytest.raises(InvalidInput, match="at least the 3000 that were promised, got 499"):
        ours.write_once(sums_of(design, batches()[:1]), tmp_path / "few.json")
    assert os.listdir(tmp_path) == ["counted.json"]


def sums_of(design: Design, given: list[pa.RecordBatch]) -> CountedReports:
    phones = BatchReporter.of(design, column="city")
    return phones.counted(phones.added_up(phones.tally(given)))


def test_count_takes_all_reports_or_none(design: Design) -> None:
    reporter = BatchReporter.of(design, column="city")
    sums = reporter.added_up(reporter.tally(batches()))
    with pytest.raises(InvalidInput, match="Tally must be given all 2,999 reports of its Encode, got 3,000"):
        ours.count({"sums": [sums], "parts": [Written("", PEOPLE - 1, 0, "")]}, reporter, "batch")
    with pytest.raises(InvalidInput, match="the column must hold at least one value, got none"):
        ours.count({"sums": [], "parts": [Written("", 0, 3, "")]}, reporter, "batch")


def test_how_many_are_missing_is_not_said_where_that_is_an_answer(design: Design) -> None:
    plain, protected = (BatchReporter.of(design, column="city", missing=name) for name in (None, CITIES[0]))
    added = {"sums": [plain.added_up(plain.tally(batches()))], "parts": [Written("", PEOPLE, ABSENT, "")]}
    assert [ours.count(added, each, "batch").missing for each in (plain, protected)] == [ABSENT, None]


def test_a_worker_draws_each_bundle_into_a_file_of_its_own(tmp_path: Path, design: Design) -> None:
    """The same object is handed one bundle after the other."""
    reporter = BatchReporter.of(design, column="city")
    draw = ours.Draw(ours.Drawing.claimed(tmp_path / "work", reporter), reporter, None)
    files = []
    for batch in batches(size=2000):
        draw.start_bundle()
        assert list(draw.process(batch)) == []
        files += [each.value for each in draw.finish_bundle()]
    draw.start_bundle()
    assert list(draw.finish_bundle()) == []  # a bundle of nobody
    assert [each.reports + each.missing for each in files] == [2000, PEOPLE + ABSENT - 2000]
    assert {each.name for each in files} == set(os.listdir(tmp_path / "work" / "reports"))


def test_fingerprints_of_two_runs_do_not_meet(design: Design) -> None:
    one, other = (ours.Encode(design, column="city", ids="name", out="work")._shares for _ in range(2))
    assert one.key != other.key
    assert repr(one.key) not in repr(one)


def test_beam_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    monkeypatch.delitem(sys.modules, "shuffledp.engines.beam")
    monkeypatch.delattr(sdp.engines, "beam")
    with pytest.raises(InvalidInput, match=r"apache-beam must be installed .* pip install 'shuffledp\[beam\]'"):
        sdp.engines.beam  # noqa: B018
