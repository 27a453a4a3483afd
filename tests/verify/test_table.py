"""The estimates.csv beside a page, and a page that lists only some of very many values."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.design import Design
from shuffledp.mechanisms.results import Tally
from shuffledp.page import release_svg
from shuffledp.record import Context, Record, Table
from shuffledp.release.files import write_csv
from shuffledp.release.pipeline import Run, estimate_of, record_of
from shuffledp.verify import Verification, verify
from tests.verify.releases import as_page, facts, rehashed


@pytest.fixture(autouse=True)
def _no_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    monkeypatch.setattr("shuffledp.verify.verification.check_comparison", lambda *_: [])


@cache
def large() -> tuple[str, str]:
    """A page that lists 10,000 of 10,050 values, and its table."""
    protocol = Poll("histogram", categories=10_050, mechanism="subset", n=60, epsilon0=4.0, delta=1e-3)
    rng = np.random.default_rng(3)
    votes = rng.binomial(60, protocol.randomizer.miss, 10_050)
    votes[:3] += 30
    design = Design.of(protocol)
    size = design.mechanism.parameters["size"]
    votes = _with_sum(votes, 60 * size, rng)
    tally = Tally.handed_on(protocol.randomizer, np.append([60], votes))
    estimate = estimate_of(design, tally)
    asked = Context(question=design.question.type, source="s", column="c")
    made = record_of(design, tally, estimate, Run(asked=asked, missing=0))
    return json.dumps(made.as_json()), _table(estimate)


def _with_sum(votes: Any, total: int, rng: Any) -> Any:
    while (gap := total - int(votes.sum())) != 0:
        place = int(rng.integers(3, len(votes)))
        votes[place] = np.clip(votes[place] + np.sign(gap), 0, 60)
    return votes


def _table(estimate: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        write_csv(Path(folder) / "estimates.csv", Table.estimated("estimates", estimate, unit="people", level=0.95))
        return (Path(folder) / "estimates.csv").read_bytes().decode()


def failed(found: Verification) -> set[str]:
    return {check.what for check in found.failed}


def without_the_largest(made: dict[str, Any], table: str) -> dict[str, Any]:
    """The forgery: the largest estimates leave the page, and others, which were not listed, come in
    their place.
    """
    rows = list(csv.reader(io.StringIO(table, newline="")))[1:]
    found, tally = made["tables"][0], made["tally"]
    votes = dict(zip(found["label"], tally["votes"], strict=True))
    listed = set(found["label"])
    top = max(range(len(found["value"])), key=lambda at: found["value"][at])
    other = next(row for row in rows if row[0] not in listed)
    least = min(found["value"])
    twin = next(label for label, value in zip(found["label"], found["value"], strict=True) if value == least)
    votes[other[0]] = votes[twin]
    columns = ("value", "stderr", "lower", "upper", "all_lower", "all_upper")
    kept = [(label, *(found[name][at] for name in columns)) for at, label in enumerate(found["label"]) if at != top]
    kept.append((other[0], *(found[name][found["label"].index(twin)] for name in columns)))
    kept.sort(key=lambda row: int(row[0]))
    found["label"] = [row[0] for row in kept]
    for at, name in enumerate(columns, 1):
        found[name] = [row[at] for row in kept]
    tally["votes"] = [votes[row[0]] for row in kept]
    return rehashed(made)


def test_a_cut_page_passes_with_its_table_and_is_incomplete_without() -> None:
    written, table = large()
    assert verify(written, beside={"estimates.csv": table}).verdict == "pass"
    found = verify(written)
    assert found.verdict == "incomplete"
    assert "which estimates are listed" in {
        check.what for check in found.checks if check.vital and check.outcome == "not checked"
    }


def test_a_page_that_leaves_out_the_largest_and_says_all_smaller_is_found_out() -> None:
    written, table = large()
    forged = json.dumps(without_the_largest(json.loads(written), table))
    assert verify(forged).verdict != "pass"
    assert "which estimates are listed" in failed(verify(forged, beside={"estimates.csv": table}))


def test_who_forges_the_table_as_well_cannot_mend_the_digest() -> None:
    written, table = large()
    lines = table.splitlines(keepends=True)
    lines[1], lines[2] = (
        a.split(",", 1)[0] + "," + b.split(",", 1)[1] for a, b in ((lines[1], lines[900]), (lines[2], lines[2]))
    )
    made = json.loads(written)
    wrong = failed(verify(json.dumps(made), beside={"estimates.csv": "".join(lines)}))
    assert {"votes for all values", "value in estimates.csv"} <= wrong


def beside(name: str) -> tuple[str, str]:
    """A page, and its table."""
    made = facts(name)
    names = ("label", "value", "stderr", "lower", "upper", "all_lower", "all_upper")
    rows = zip(*(made["tables"][0][each] for each in names), strict=True)
    lines = [
        ",".join("estimate" if each == "value" else each for each in names),
        *(",".join(map(str, r)) for r in rows),
    ]
    return as_page(made), "\r\n".join(lines) + "\r\n"


@pytest.mark.parametrize("name", ["promise", "mean", "hadamard"])
def test_every_number_of_the_table_is_bound_to_the_page(name: str) -> None:
    page, table = beside(name)
    assert not verify(page, beside={"estimates.csv": table}).failed
    rows = list(csv.reader(io.StringIO(table, newline="")))
    for at in range(len(rows[0])):
        other = [list(row) for row in rows]
        other[-1][at] = str(float(other[-1][at]) * (1.0 + 1e-15) + 1e-12) if at else "x"
        written = "\r\n".join(",".join(row) for row in other) + "\r\n"
        assert verify(page, beside={"estimates.csv": written}).verdict == "FAIL", rows[0][at]


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[:-1],
        lambda rows: [*rows, rows[-1]],
        lambda rows: [rows[0], *rows[:0:-1]],
        lambda rows: [rows[0][:3], *rows[1:]],
        lambda rows: [rows[0], ["a"], *rows[1:]],
        lambda rows: [rows[0], [rows[1][0], "nan", *rows[1][2:]], *rows[2:]],
        lambda rows: [rows[0], [rows[1][0], "x", *rows[1][2:]], *rows[2:]],
        lambda _: [],
        lambda _: [['"']],
    ],
)
def test_another_table_beside_a_page_fails(change: Any) -> None:
    page, table = beside("promise")
    rows = change(list(csv.reader(io.StringIO(table, newline=""))))
    assert verify(page, beside={"estimates.csv": "\r\n".join(",".join(row) for row in rows) + "\r\n"}).verdict == "FAIL"


def test_a_label_guarded_against_spreadsheets_is_the_same_label_and_another_column_is_named() -> None:
    from tests.verify.releases import made_by

    made = made_by(Poll("histogram", categories=["=1+1", "b"], n=30, epsilon0=2.0, delta=1e-3))
    columns = ("value", "stderr", "lower", "upper", "all_lower", "all_upper")
    rows = zip(["'=1+1", "b"], *(made["tables"][0][name] for name in columns), ["p", "q"], strict=True)
    table = "label,estimate,stderr,lower,upper,all_lower,all_upper,remark\n" + "".join(
        ",".join(map(str, row)) + "\n" for row in rows
    )
    found = verify(as_page(made), beside={"estimates.csv": table})
    assert (found.verdict, found.failed) == ("incomplete", ())
    assert "other columns of estimates.csv" in {check.what for check in found.checks if check.outcome == "not checked"}


def _others(made: dict[str, Any], folder: Path) -> dict[str, str]:
    """The tables of what was asked for beside the estimates."""
    for table in Record.from_json(made).tables[1:]:
        write_csv(folder / f"{table.name}.csv", table)
    return {place.name: place.read_bytes().decode() for place in folder.glob("*.csv")}


def _lines_of(made: dict[str, Any], tables: dict[str, str]) -> dict[str, str]:
    checks = verify(json.dumps(made), beside=tables).checks
    return {check.what: check.outcome for check in checks if ".csv" in check.what and "estimates" not in check.what}


@pytest.mark.parametrize("name", ["quantile", "crosstab"])
def test_every_number_of_the_other_tables_is_compared(name: str, tmp_path: Path) -> None:
    made = facts(name)
    tables = _others(made, tmp_path)
    assert tables.keys() == ({"quantiles.csv", "ranges.csv"} if name == "quantile" else {"shares.csv"})
    assert set(_lines_of(made, tables).values()) == {"pass"}
    assert _lines_of(made, {}) == dict.fromkeys(tables, "not checked")
    many = 0
    for part, table in tables.items():
        rows = list(csv.reader(io.StringIO(table)))
        for row in range(len(rows)):
            for place in range(len(rows[0])):
                forged = [list(each) for each in rows]
                forged[row][place] = f"{float(rows[row][place] or 0) * 1.001 + 1e-6}" if row and place else "x"
                text = io.StringIO()
                csv.writer(text).writerows(forged)
                assert "FAIL" in _lines_of(made, tables | {part: text.getvalue()}).values(), (part, row, place)
                many += 1
        assert "FAIL" in _lines_of(made, tables | {part: table.rpartition('\r\n"')[0]}).values()
        assert "FAIL" in _lines_of(made, tables | {part: ""}).values()
    assert many > 15


def test_a_table_of_nothing_on_the_page_is_said_to_be_unchecked() -> None:
    assert _lines_of(facts("mean"), {"ranges.csv": "a,b"}) == {"ends.csv": "not checked", "ranges.csv": "not checked"}


@pytest.mark.parametrize("name", ["tiny", "mean"])
@pytest.mark.parametrize(
    ("file", "same", "forge", "what"),
    [
        ("design.json", lambda text: " " + text, lambda text: text.replace("1", "2", 1), "design.json"),
        ("design.json", lambda text: text, lambda text: text[:-9], "design.json"),
        ("estimates.svg", lambda text: text + "\r\n", lambda text: text.replace('y="', 'y="1', 1), "estimates.svg"),
        ("estimates.svg", lambda text: text, lambda text: text.replace("people", "persons", 1), "estimates.svg"),
    ],
)
def test_design_and_figure_beside_a_page_are_those_of_its_record(
    name: str, file: str, same: Any, forge: Any, what: str
) -> None:
    made = facts(name)
    text = {
        "design.json": json.dumps(made["design"]),
        "estimates.svg": release_svg(Record.from_json(made))._repr_svg_(),
    }[file]
    assert not verify(as_page(made)).failed
    found = verify(as_page(made), beside={file: same(text)})
    assert [each.outcome for each in found.checks if each.what == what] == ["pass"], "the control"
    assert forge(text) != text
    assert failed(verify(as_page(made), beside={file: forge(text)})) == {what}


def test_a_figure_of_another_version_is_searched_for_what_runs() -> None:
    made = facts("tiny")
    made["made"]["shuffledp"] = "9.0.0"
    page, drawn = as_page(rehashed(made)), release_svg(Record.from_json(made))._repr_svg_()
    assert verify(page, beside={"estimates.svg": drawn}).verdict == "pass"
    found = verify(page, beside={"estimates.svg": drawn.replace("people", "persons", 1)})
    assert [each.outcome for each in found.checks if each.what == "estimates.svg"] == ["not checked"]
    assert (found.verdict, found.of_record) == ("incomplete", "pass"), "whoever forged it chose the version, too"
    running = drawn.replace("</svg>", "<script>1</script></svg>")
    assert failed(verify(page, beside={"estimates.svg": running})) == {"what estimates.svg runs or loads"}


def test_the_command_reads_all_that_stands_beside_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = sdp.histogram([i % 2 for i in range(300)], categories=2, epsilon=1.0, delta=1e-3)
    folder = made.save(tmp_path / "result")
    assert main(["verify", str(folder / "page.html")]) == 0, "the control"
    for name in ("design.json", "estimates.svg", "estimates.csv"):
        whole = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(whole.replace("0", "1"), encoding="utf-8")
        capsys.readouterr()
        assert main(["verify", str(folder / "page.html")]) == 1, name
        assert name in capsys.readouterr().out
        (folder / name).unlink()
        assert main(["verify", str(folder / "page.html")]) == 0, "what is missing says nothing wrong"
