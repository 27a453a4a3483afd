"""Batches become reports, or sums, by the design alone: once for each task, whatever the engine."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.engines import batch
from shuffledp.engines.batch import BatchReporter, ColumnSurvey, ReportTally, added_up
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.support import Form
from shuffledp.randomizers.wrappers import CheckIn
from shuffledp.tables.cleaning import Cleaning

WAYS = ("bus", "bicycle", "car")
TERMS: dict[str, Any] = {"n": 100, "delta": 1e-2}


def histogram(k: int, randomizer: Any) -> Poll:
    return Poll("histogram", categories=k, randomizer=randomizer, **TERMS)


def encoded(k: int, mechanism: str, epsilon0: float = 2.0) -> Poll:
    return Poll("histogram", categories=k, mechanism=mechanism, epsilon0=epsilon0, **TERMS)


PROTOCOLS = {
    "krr": lambda: histogram(20, sdp.KRR(k=20, epsilon0=2.0)),
    "krr in two bytes": lambda: histogram(300, sdp.KRR(k=300, epsilon0=2.0)),
    "krr in four bytes": lambda: histogram(70_000, sdp.KRR(k=70_000, epsilon0=2.0)),
    "check-in": lambda: histogram(20, CheckIn(sdp.KRR(k=20, epsilon0=2.0), probability=0.5)),
    "check-in at the edge of a byte": lambda: histogram(256, CheckIn(sdp.KRR(k=256, epsilon0=2.0), probability=0.5)),
    "hadamard": lambda: encoded(20, "hadamard"),
    "hadamard in four bytes": lambda: encoded(40_000, "hadamard", 6.0),
    "hash": lambda: encoded(20, "hash"),
    "subset": lambda: encoded(20, "subset", 1.0),
    "subset in two bytes": lambda: encoded(300, "subset", 4.0),
    "oue": lambda: encoded(20, "oue"),
}


def promised(protocol: Poll) -> Design:
    """Its design, with a promise that nobody certifies here."""
    return Design.of(protocol, epsilon=5.0)


@pytest.fixture(scope="module")
def poll() -> Design:
    return promised(Poll("histogram", categories=WAYS, epsilon0=2.0, **TERMS))


@pytest.fixture(scope="module")
def mean() -> Design:
    return promised(Poll("mean", lower=0.0, upper=10.0, k=6, epsilon0=2.0, **TERMS))


def column(values: Any, kind: pa.DataType | None = None) -> pa.RecordBatch:
    return pa.record_batch({"v": pa.array(values, kind)})


def surveyed(phones: BatchReporter, values: Any, weights: str | None = None) -> Any:
    return ColumnSurvey(phones.column, phones._reader(), weights)(values)


def totals(rows: Any) -> tuple[int, int]:
    """Of the one row that a task makes."""
    (row,) = rows
    assert len(row) == 1
    return row["reports"][0].as_py(), row["missing"][0].as_py()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_is_counted_is_the_laws_own_tally_of_the_same_reports(name: str) -> None:
    """Drawn, held as engines hold them, cut into other batches, given back: nothing is lost."""
    design = promised(PROTOCOLS[name]())
    phones, law = BatchReporter.of(design, column="v"), design.poll.randomizer
    values = np.random.default_rng(1).integers(0, design.mechanism.values, 60)
    held = list(phones.encode([column(values[:25]), column(values[25:])]))
    assert all(each.schema == phones.schema for each in held)
    one = pa.Table.from_batches(held)
    reports = batch._given_back(one["report"].combine_chunks(), law)
    assert reports.dtype == law.form.dtype
    expected = law.tally(reports).tolist()
    for parts in ([one], one.to_batches(), [one.slice(0, 7), one.slice(7)]):
        sums = added_up((row for part in parts for row in ReportTally.of(design).tally([part])), law)
        assert (sums.people, sums.missing, sums.numbers.tolist()) == (60, 0, expected)
    assert law.adds_up(np.array(expected), 60)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_a_task_adds_up_is_a_tally_of_its_design(name: str) -> None:
    design = promised(PROTOCOLS[name]())
    phones, law = BatchReporter.of(design, column="v"), design.poll.randomizer
    values = np.random.default_rng(1).integers(0, design.mechanism.values, 60)
    parts = [row for half in (values[:20], values[20:]) for row in phones.tally([column(half), column(half[:0])])]
    sums = phones.added_up(parts)
    assert (sums.people, len(sums.numbers)) == (60, law.tally_size)
    assert law.adds_up(sums.numbers, 60)
    counted = phones.counted(sums)
    assert (counted.reports, counted.votes.tolist()) == (60, sums.numbers.tolist())


@pytest.mark.parametrize("name", PROTOCOLS)
def test_sums_that_no_reports_have_do_not_add_up(name: str) -> None:
    design = promised(PROTOCOLS[name]())
    law, values = design.poll.randomizer, np.random.default_rng(1).integers(0, design.mechanism.values, 60)
    phones = BatchReporter.of(design, column="v")
    sums = phones.added_up(phones.tally([column(values)])).numbers
    assert not law.adds_up(sums, 59)
    assert not law.adds_up(sums, 61)
    for place, value in ((0, sums[0] + 1), (-1, -1 - sums[-1]), (-1, 61), (-1, -61)):
        wrong = sums.copy()
        wrong[place] = value
        assert not law.adds_up(wrong, 60), (place, value)
    if law.votes_each is not None or law.blocks:
        wrong = sums.copy()
        wrong[-1] += 1  # a vote that nobody cast
        assert not law.adds_up(wrong, 60)


def test_votes_are_close_to_what_people_hold(poll: Design) -> None:
    """What is drawn is the truth with noise, value by value, not merely a number of reports."""
    values = ["bus"] * 6000 + ["car"] * 2000
    phones, law = BatchReporter.of(poll, column="v"), poll.poll.randomizer
    sums = phones.added_up(phones.tally([column(values)]))
    estimates = (sums.numbers - sums.people * law.miss) / law.contrast
    stderr = np.sqrt(law.count_variance(np.array([6000, 0, 2000])))
    assert np.all(np.abs(estimates - [6000, 0, 2000]) < 6 * stderr)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [column([], pa.string())],
        [pa.table({"v": pa.chunked_array([], pa.string())})],
        [column([None, None], pa.string()), column([None], pa.string())],
        [column([None, None, None])],
    ],
)
def test_a_task_may_find_nobody(values: list[Any], poll: Design) -> None:
    """Engines hand out empty partitions as a matter of course."""
    phones, gaps = BatchReporter.of(poll, column="v"), sum(len(each) for each in values)
    assert totals(phones.tally(values)) == (0, gaps)
    assert list(phones.encode(values)) == []
    assert [each.to_pylist() for each in surveyed(phones, values)] == [[{"values": 0, "missing": gaps}]]
    assert totals(ReportTally.of(poll).tally([])) == (0, 0)
    assert totals(ReportTally.of(poll).tally([pa.record_batch({"report": pa.array([], pa.int16())})])) == (0, 0)


def test_an_empty_batch_of_numbers_is_nobody_too(mean: Design) -> None:
    phones = BatchReporter.of(mean, column="v")
    gaps = [column([], pa.float64()), column([None, float("nan")], pa.float64())]
    assert totals(phones.tally([*gaps, column([1, 2]), *gaps])) == (2, 4)


@pytest.mark.parametrize(
    "values",
    [
        pa.chunked_array([["bus", None], [], ["car", "car"]]),
        pa.chunked_array([pa.array(["bus", None]).dictionary_encode(), pa.array(["car", "car"]).dictionary_encode()]),
        pa.chunked_array([pa.array(["none of these", "bus", None, "car", "car"]).dictionary_encode().slice(1)]),
        pa.chunked_array([pa.array(["bus", None, "car", "car"], pa.large_string())]),
        pa.chunked_array([pa.array(["bus", None, "car", "car"], pa.string_view())]),
        pa.chunked_array([pa.array([b"bus", None, b"car", b"car"])]),
    ],
    ids=["chunks", "dictionaries", "slice", "large", "view", "bytes"],
)
def test_a_column_in_any_shape_is_the_same_people(values: pa.ChunkedArray, poll: Design) -> None:
    phones, table = BatchReporter.of(poll, column="v"), pa.table({"v": values})
    for given in ([table], table.to_batches()):
        assert totals(phones.tally(given)) == (3, 1)
        assert sum(map(len, phones.encode(given))) == 3
        assert next(surveyed(phones, given)).to_pylist() == [{"values": 3, "missing": 1}]


def test_values_are_read_by_the_rules_of_files(poll: Design, mean: Design) -> None:
    values = [column([" Bus", "-", None, "car"])]
    cleaning = Cleaning(strip=True, ignore_case=True, na=("-",))
    assert totals(BatchReporter.of(poll, column="v", cleaning=cleaning).tally(values)) == (2, 2)
    assert totals(BatchReporter.of(poll, column="v", missing="car").tally([column(["bus", None])])) == (2, 0)
    assert totals(BatchReporter.of(mean, column="v", clip=True).tally([column([-1.0, 5.0, 99.0])])) == (3, 0)
    rest = promised(Poll("histogram", categories=WAYS, other="car", epsilon0=2.0, **TERMS))
    assert totals(BatchReporter.of(rest, column="v").tally([column(["submarine"])])) == (1, 0)


@pytest.mark.parametrize("job", ["encode", "tally", "survey"])
def test_what_the_design_does_not_admit_is_refused_in_a_sentence(job: str, poll: Design, mean: Design) -> None:
    def does(design: Design, values: Any, name: str = "v") -> Any:
        phones = BatchReporter.of(design, column=name)
        return list(surveyed(phones, [values]) if job == "survey" else getattr(phones, job)([values]))

    with pytest.raises(InvalidInput, match=r"column 'v' must hold only the 3 categories, got 'submarine'"):
        does(poll, column(["bus", "submarine"]))
    with pytest.raises(InvalidInput, match=r"column must name a column of the table, got 'w'"):
        does(poll, column(["bus"]), "w")
    with pytest.raises(InvalidInput, match=r"column 'v' must lie in \[0, 10\], got 11\.0"):
        does(mean, column([11.0]))
    with pytest.raises(InvalidInput, match="column 'v' must hold numbers"):
        does(mean, column(["bus"]))
    with pytest.raises(InvalidInput, match="column 'v' must hold text"):
        does(poll, column([[1]]))


def test_equal_values_that_an_engine_grouped_are_surveyed_by_their_number(poll: Design) -> None:
    grouped = pa.record_batch({"v": ["bus", "car", None], "times": [5, 7, 2]})
    phones = BatchReporter.of(poll, column="v")
    assert next(surveyed(phones, [grouped], "times")).to_pylist() == [{"values": 12, "missing": 2}]
    assert next(surveyed(phones, [grouped.slice(0, 2)], "times")).to_pylist() == [{"values": 12, "missing": 0}]
    with pytest.raises(InvalidInput, match="column must name a column of the table, got 'time'"):
        list(surveyed(phones, [grouped], "time"))


def test_a_design_is_refused_where_it_promises_nothing_or_runs_otherwise(poll: Design, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must promise an epsilon"):
        BatchReporter.of(Poll("histogram", categories=WAYS, epsilon0=2.0, **TERMS), column="v")
    written = poll.as_json()
    written["mechanism"] = written["mechanism"] | {"integers": ["7"]}
    with pytest.raises(InvalidInput, match="the integers of krr must be"):
        BatchReporter.of(written, column="v")
    with pytest.raises(InvalidInput, match="missing must be one of the categories"):
        BatchReporter.of(poll, column="v", missing="unknown")
    (tmp_path / "design.json").write_text(json.dumps(poll.as_json()), encoding="utf-8")
    assert BatchReporter.of(tmp_path / "design.json", column="v").design.question.type == "histogram"


def test_what_travels_is_small_and_plain(poll: Design) -> None:
    """The protocol that a design was made from, with all that its accountant keeps, stays behind."""
    phones = BatchReporter.of(poll, column="v")
    sent = pickle.dumps(phones)
    assert len(sent) < 1500
    assert b"protocol" not in sent
    assert pickle.loads(sent) == phones
    assert len(pickle.dumps(ReportTally.of(poll))) < 1000


def test_a_worker_opens_its_design_once_and_loads_no_accountant(poll: Design) -> None:
    """In a fresh process: a thousand batches, two tasks, one opening."""
    program = f"""
import pickle, sys
import pyarrow as pa
from shuffledp.client import Reporter
opened, of = [], Reporter.of
Reporter.of = lambda design: opened.append(design) or of(design)
phones = pickle.loads({pickle.dumps(BatchReporter.of(poll, column="v"))!r})
some = [pa.record_batch({{"v": ["bus", "car"]}})] * 500
list(phones.tally(some)), list(phones.encode(some))
print(len(opened), *sys.modules)"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    times, *modules = done.stdout.split()
    assert times == "1"
    heavy = {"scipy", "matplotlib", "pyspark", "apache_beam", "shuffledp.accounting", "shuffledp.poll"}
    assert not heavy & set(modules)


def test_nothing_is_certified_where_reports_are_drawn(poll: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("certified")

    for name in ("delta_at_most", "epsilon_at_most"):
        monkeypatch.setattr(f"shuffledp.accounting.guarantee.Guarantee.{name}", fail)
    monkeypatch.setattr("shuffledp.poll.certify", fail)
    read = Design.from_json(poll.as_json())
    phones = BatchReporter.of(read, column="v")
    held = list(phones.encode([column(["bus"])]))
    assert totals(ReportTally.of(read).tally(held)) == (1, 0)
    assert "protocol" not in vars(read)
    with pytest.raises(AssertionError, match="certified"):  # the positive control
        poll.poll.guarantee.delta_at_most(epsilon=1.0)


def test_two_tasks_never_share_their_noise(poll: Design) -> None:
    phones = BatchReporter.of(poll, column="v")
    drawn = [pa.Table.from_batches(phones.encode([column(["bus"] * 200)]))["report"].to_pylist() for _ in range(2)]
    assert drawn[0] != drawn[1]


def test_the_widest_numbers_travel_by_their_bits() -> None:
    sent = np.array([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1], dtype=np.uint64)
    law: Any = SimpleNamespace(form=Form(np.dtype(np.uint64)), report_bytes=8)
    held = batch._held(sent)
    assert held.type == pa.int64() == batch.report_type(law)
    assert batch._given_back(held, law).tolist() == sent.tolist()


@pytest.mark.parametrize(
    "reports, said",
    [
        (pa.array([3], pa.int16()), "reports must be from 0 to 2, got 3"),
        (pa.array([-1], pa.int16()), "reports must be numbers of uint8"),
        (pa.array([256], pa.int16()), "reports must be numbers of uint8"),
        (pa.array([1 << 40]), "reports must be numbers of uint8"),
        (pa.array([0.5]), "reports must be numbers of uint8, got others, in a column of double"),
        (pa.array(["bus"]), "reports must be numbers of uint8, got others, in a column of string"),
        (pa.array([1, None], pa.int16()), "reports must all be there"),
    ],
)
def test_reports_that_a_design_never_sends_are_refused(reports: pa.Array, said: str, poll: Design) -> None:
    with pytest.raises(InvalidInput, match=said):
        list(ReportTally.of(poll).tally([pa.record_batch({"report": reports})]))


@pytest.mark.parametrize(
    "reports", [pa.array([b"\xff\xff\xff"]), pa.array([b"ab"]), pa.array([b"abc", b""]), pa.array([7])]
)
def test_rows_of_bytes_must_be_as_long_as_a_report_and_one(reports: pa.Array) -> None:
    tally = ReportTally.of(promised(encoded(20, "oue")))
    with pytest.raises(InvalidInput, match="reports must"):
        list(tally.tally([pa.record_batch({"report": reports})]))


def test_other_tables_are_no_reports(poll: Design) -> None:
    with pytest.raises(InvalidInput, match="column must name a column of the table, got 'report'"):
        list(ReportTally.of(poll).tally([column([1])]))


def test_sums_of_two_designs_are_not_added(poll: Design, mean: Design) -> None:
    phones, others = (BatchReporter.of(design, column="v") for design in (poll, mean))
    row = {"reports": 1, "missing": 0, "mixed": None}
    cut, none = (pa.RecordBatch.from_pylist([row | {"votes": votes}], schema=batch.SUMS) for votes in (b"cut", None))
    for wrong in ([next(phones.tally([])), next(others.tally([]))], [cut], [none]):
        with pytest.raises(InvalidInput, match="the sums must be 3 whole numbers of eight bytes, as of one design"):
            phones.added_up(wrong)
    with pytest.raises(InvalidInput, match="must hold at least one report"):
        phones.added_up([])


@pytest.mark.parametrize("protocol", ["count", "sum", "fakes", "dummies"])
def test_reports_that_are_the_truth_are_never_stored_and_their_sums_are(protocol: str) -> None:
    made: dict[str, Any] = {
        "count": lambda: Poll("count", value="car", n=3000, epsilon=1.0, delta=1e-6),
        "sum": lambda: Poll("sum", mechanism="split", lower=0.0, upper=1.0, n=3000, epsilon=1.0, delta=1e-6),
        "fakes": lambda: Poll(
            "histogram", mechanism="fakes", categories=["bus", "car"], n=3000, epsilon=1.0, delta=1e-6
        ),
        "dummies": lambda: Poll(
            "histogram", mechanism="dummies", categories=["bus", "car"], n=3000, epsilon=1.0, delta=1e-6
        ),
    }
    poll = made[protocol]()
    phones = BatchReporter.of(poll, column="way")
    with pytest.raises(InvalidInput, match="sealed"):  # which Beam, and Spark where it stores reports, ask first
        phones.check_shown()
    with pytest.raises(InvalidInput, match="sealed"):
        list(phones.encode([pa.record_batch({"way": [0.5] if protocol == "sum" else ["car"]})]))
    held = [0.5] * 3000 if protocol == "sum" else ["car"] * 3000
    (sums,) = phones.tally([pa.record_batch({"way": held})], first=True)
    estimate = poll.analyse_counts(phones.added_up([sums]))
    truth = 1500.0 if protocol == "sum" else 3000.0
    assert abs(estimate.values[-1] - truth) < 6 * estimate.stderr[-1] < 300.0


def test_sums_without_the_dummies_that_hide_them_are_for_nobody() -> None:
    """Once they were handed out by whoever did not say ``first``: the truth, under a certificate."""
    poll = Poll("histogram", mechanism="dummies", categories=["bus", "car"], n=3000, epsilon=1.0, delta=1e-6)
    phones, people = BatchReporter.of(poll, column="way"), pa.record_batch({"way": ["bus"] * 1234 + ["car"] * 1766})
    with pytest.raises(InvalidInput, match="first must say whether the shuffler's dummies come with these"):
        phones.added_up(phones.tally([people]))
    bare = ReportTally.of(poll).added([pa.record_batch({"report": pa.array([0, 1, 1], pa.int16())})])
    with pytest.raises(InvalidInput, match="got one without the shuffler's part"):
        phones.counted(bare)
    parts = [phones.tally([people.slice(start, 1000)], first=not start) for start in (0, 1000, 2000)]
    votes = phones.added_up(row for part in parts for row in part).numbers
    added, numbers = votes[1:] - (1234, 1766), poll.randomizer.numbers
    assert numbers.first <= added.min() <= added.max() <= numbers.last
    assert votes[0] == 3000
