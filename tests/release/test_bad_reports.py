"""What is wrong with reports is found before they are paid for: one illegal report, one repeated
person or one foreign design costs nothing.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import CertificateError, InvalidInput
from shuffledp.release import pipeline, stages
from shuffledp.release.budget import Budget, Spent, Unnoted
from shuffledp.tables.reports import Header, ReportsFile, open_reports, write_reports
from tests.cli.people import done, listing, run
from tests.tables.tables import small_files

PEOPLE = 1000
LIMITS = ("--population", "people", "--limit-epsilon", 2, "--limit-delta", 1e-6)


@pytest.fixture(scope="module")
def settled() -> Design:
    return Design.of(Poll("histogram", categories=("yes", "no", "else"), n=PEOPLE, honest=990, epsilon=1.0, delta=1e-6))


@pytest.fixture
def design(tmp_path: Path, settled: Design) -> Path:
    (tmp_path / "design.json").write_text(json.dumps(settled.as_json()))
    return tmp_path / "design.json"


def reports(path: Path, design: Design, rows: Any, ids: list[str | None] | None = None) -> Path:
    write_reports(
        path,
        Header.encoded(design.as_json(), secure=True),
        [(np.asarray(rows, dtype=np.uint8), None if ids is None else pa.array(ids, pa.string()))],
    )
    return path


def honest(count: int) -> list[int]:
    return [i % 3 for i in range(count)]


def releases(ledger: Path) -> int:
    return (
        sum(len(each["releases"]) for each in done("ledger", "show", ledger, "--json").facts["populations"])
        if ledger.exists()
        else 0
    )


def test_one_bad_report_costs_nothing_and_the_honest_ones_are_released_afterwards(
    tmp_path: Path, settled: Design
) -> None:
    """The attack of the issue: 999 honest reports and one byte 200, three tries, then the honest
    batch alone.
    """
    good, bad, ledger = (
        reports(tmp_path / "good", settled, honest(999)),
        reports(tmp_path / "bad", settled, [200]),
        tmp_path / "budget.sqlite",
    )
    spend = ("--ledger", ledger, *LIMITS)
    before = listing(tmp_path)
    for _ in range(3):
        run("stage", "shuffle", good, bad, "--out", tmp_path / "out", *spend).refused(
            f"row 1 of '{bad}' must be a report that its design allows"
        )
    assert listing(tmp_path) == before, "no output, and no ledger either"
    done("stage", "shuffle", good, "--out", tmp_path / "out", *spend)
    assert releases(ledger) == 1


def test_bad_reports_are_dropped_and_counted_on_request(tmp_path: Path, settled: Design) -> None:
    rows = [*honest(500), 200, *honest(497), 3, 3]
    mixed, ledger = reports(tmp_path / "mixed", settled, rows), tmp_path / "budget.sqlite"
    run("stage", "shuffle", mixed, "--out", tmp_path / "out").refused("row 501 of")
    said = done(
        "stage", "shuffle", mixed, "--out", tmp_path / "out", "--drop-invalid", "--ledger", ledger, *LIMITS, "--json"
    ).facts
    assert (said["reports"], said["dropped"], said["dropped_by_file"]) == (997, 3, {str(mixed): 3})
    kept = np.concatenate(list(open_reports(tmp_path / "out").batches()))
    assert np.bincount(kept).tolist() == np.bincount(honest(500) + honest(497)).tolist()
    spoken = " ".join(done("stage", "shuffle", mixed, "--out", tmp_path / "again", "--drop-invalid").out.split())
    assert "3 invalid reports were dropped:" in spoken


def test_what_is_left_must_be_as_many_as_were_promised_and_costs_nothing_otherwise(
    tmp_path: Path, settled: Design
) -> None:
    mixed = reports(tmp_path / "mixed", settled, [*honest(985), *[77] * 15])
    before = listing(tmp_path)
    asked = (
        "stage",
        "shuffle",
        mixed,
        "--out",
        tmp_path / "out",
        "--drop-invalid",
        "--ledger",
        tmp_path / "budget.sqlite",
        *LIMITS,
    )
    run(*asked).refused("at least the 990 that were promised, got 985 without the 15 that were dropped")
    assert listing(tmp_path) == before


def test_bad_reports_may_outnumber_the_people_if_they_are_dropped(tmp_path: Path, settled: Design) -> None:
    mixed = reports(tmp_path / "mixed", settled, [*honest(1000), *range(3, 250)])
    run("stage", "shuffle", mixed, "--out", tmp_path / "out").refused("at most the 1000 people")
    assert (
        done("stage", "shuffle", mixed, "--out", tmp_path / "out", "--drop-invalid", "--json").facts["dropped"] == 247
    )


def test_no_room_for_the_output_costs_nothing(tmp_path: Path, settled: Design) -> None:
    good = reports(tmp_path / "good", settled, honest(999))
    budget = Budget(tmp_path / "budget.sqlite", "people", 2.0, 1e-6)
    before = listing(tmp_path)
    with small_files(1 << 14), pytest.raises(InvalidInput, match="must be writable"):
        stages.shuffle([good], tmp_path / "out", budget=budget)
    assert listing(tmp_path) == before


def test_a_file_that_becomes_another_is_refused_and_costs_nothing(
    tmp_path: Path, settled: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the headers and the reading of the rows, somebody puts another batch in
    place of the first.
    """
    good, other = reports(tmp_path / "good", settled, honest(999)), reports(tmp_path / "other", settled, honest(999))
    budget, whole = Budget(tmp_path / "budget.sqlite", "people", 2.0, 1e-6), ReportsFile.rows

    def late(file: ReportsFile, **options: Any) -> Any:
        shutil.copy(other, good)
        return whole(file, **options)

    monkeypatch.setattr(ReportsFile, "rows", late)
    with pytest.raises(InvalidInput, match="must not change while it is read"):
        stages.shuffle([good], tmp_path / "out", budget=budget)
    assert not (tmp_path / "budget.sqlite").exists()


def test_what_is_written_is_what_was_checked(tmp_path: Path, settled: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is overwritten when the budget has been spent, just before the output begins."""
    good, ruined = reports(tmp_path / "good", settled, honest(999)), tmp_path / "budget.sqlite"
    spend = Budget.spend

    def and_ruin(*given: Any, **named: Any) -> Any:
        good.write_bytes(b"something else")
        return spend(*given, **named)

    monkeypatch.setattr(Budget, "spend", and_ruin)
    made = stages.shuffle([good], tmp_path / "out", budget=Budget(ruined, "people", 2.0, 1e-6))
    assert np.bincount(np.concatenate(list(made.file.batches()))).tolist() == [333, 333, 333]


def test_an_analyst_is_told_the_row_of_a_bad_report(tmp_path: Path, settled: Design) -> None:
    write_reports(
        tmp_path / "s",
        Header.shuffled(settled.as_json(), secure=True, batches=1),
        [(np.array([*honest(995), 9], dtype=np.uint8), None)],
    )
    run("stage", "analyze", tmp_path / "s", "--out", tmp_path / "result").refused("row 996 of")
    assert not (tmp_path / "result").exists()


def test_a_repeated_person_is_refused_and_costs_nothing(tmp_path: Path, settled: Design) -> None:
    names = [f"p{i}" for i in range(1000)]
    first = reports(tmp_path / "first", settled, honest(600), [*names[:600]])
    second = reports(tmp_path / "second", settled, honest(400), [*names[590:990]])
    before = listing(tmp_path)
    said = run(
        "stage", "shuffle", first, second, "--out", tmp_path / "out", "--ledger", tmp_path / "budget.sqlite", *LIMITS
    )
    said.refused(f"'{second}' must hold one report per person, got 10 whose ids were there before")
    assert listing(tmp_path) == before
    nameless = reports(tmp_path / "nameless", settled, honest(395), [None] * 395)
    done("stage", "shuffle", first, nameless, "--out", tmp_path / "out")


@pytest.mark.parametrize("command", ["shuffle", "analyze"])
def test_the_design_that_was_settled_is_believed_and_not_the_files(
    tmp_path: Path, settled: Design, design: Path, command: str
) -> None:
    """The positive control is the same without --design: the files are trusted."""
    weak = Design.of(Poll("histogram", categories=("yes", "no", "else"), n=PEOPLE, honest=1, epsilon=30.0, delta=1e-6))
    if command == "shuffle":
        foreign, own = reports(tmp_path / "weak", weak, honest(999)), reports(tmp_path / "own", settled, honest(999))
    else:
        foreign, own = tmp_path / "weak", tmp_path / "own"
        for path, mine in ((foreign, weak), (own, settled)):
            write_reports(
                path,
                Header.shuffled(mine.as_json(), secure=True, batches=1),
                [(np.array(honest(999), dtype=np.uint8), None)],
            )
    run("stage", command, foreign, "--design", design, "--out", tmp_path / "out").refused(
        f"'{foreign}' must be of the design in --design, got another"
    )
    if command == "shuffle":
        done("stage", command, foreign, "--out", tmp_path / "believed")
    done("stage", command, own, "--design", design, "--out", tmp_path / "out")


def test_a_shuffler_says_whether_it_compared_the_design(tmp_path: Path, settled: Design, design: Path) -> None:
    own = reports(tmp_path / "own", settled, honest(999))
    assert "it was not compared" in done("stage", "shuffle", own, "--out", tmp_path / "a").out
    assert "it was not compared" not in done("stage", "shuffle", own, "--design", design, "--out", tmp_path / "b").out
    assert (
        done("stage", "shuffle", own, "--design", design, "--out", tmp_path / "c", "--json").facts["design_given"]
        is True
    )


def answers(path: Path) -> Path:
    path.write_text("answer\n" + "yes\nno\n" * 500)
    return path


def encode(tmp_path: Path, design: Design, *more: object) -> Any:
    (tmp_path / "d.json").write_text(json.dumps(design.as_json()))
    return run(
        "stage", "encode", answers(tmp_path / "t.csv"), "--design", tmp_path / "d.json", "--out", tmp_path / "r", *more
    )


def test_a_client_refuses_a_design_without_a_promise(tmp_path: Path) -> None:
    """The attack of the issue: epsilon null and epsilon0 = 40 sent every true value."""
    naked = Design.of(Poll("histogram", categories=("yes", "no"), n=PEOPLE, epsilon0=40.0, delta=1e-6))
    assert naked.epsilon is None
    sent = naked.poll.encode(["yes", "no"] * 500).rows
    assert sent.tolist() == [0, 1] * 500, "the control: such reports are the truth"
    encode(tmp_path, naked).refused("a design must promise an epsilon")
    assert not (tmp_path / "r").exists()


def test_a_client_hears_what_one_report_says_and_can_refuse_it(tmp_path: Path, settled: Design) -> None:
    epsilon0 = settled.poll.randomizer.epsilon0
    encode(tmp_path, settled, "--most-epsilon0", epsilon0 * 0.99).refused("must be at most the")
    assert not (tmp_path / "r").exists()
    said = " ".join(encode(tmp_path, settled, "--most-epsilon0", epsilon0 * 1.01).out.split())
    assert (
        "If the shuffler shares what it sees, your report multiplies the odds of any guess about you by up to "
        "e^epsilon0 = " in said
    )
    promise = "epsilon at most 1 at delta = 1e-6, if 990 honest reports are shuffled together."
    assert f"Promised by the design, not checked here (see --certify): {promise}" in said
    said = " ".join(encode(tmp_path, settled, "--certify", "--force").out.split())
    assert f"Promised to you, and checked: {promise}" in said
    assert "not checked" not in said
    assert "Warning" not in said


def test_a_promise_that_nobody_checked_is_not_repeated_as_the_truth(tmp_path: Path, settled: Design) -> None:
    """An analyst may write any epsilon beside noise that does not keep it."""
    false = replace(settled, target=replace(settled.target, epsilon=1e-9))
    said = " ".join(encode(tmp_path, false).out.split())
    assert "Promised to you" not in said
    assert "Promised by the design, not checked here (see --certify): epsilon at most 1e-9" in said
    assert encode(tmp_path, false, "--force", "--json").facts["certified"] is False
    assert encode(tmp_path, settled, "--certify", "--force", "--json").facts["certified"] is True
    encode(tmp_path, false, "--certify", "--force").refused("a design must keep its promise")


def test_a_client_is_warned_of_next_to_no_noise_and_of_a_delta_that_promises_nothing(tmp_path: Path) -> None:
    weak = Design.of(Poll("histogram", categories=("yes", "no"), n=PEOPLE, epsilon=12.0, delta=1e-6, rounds=1))
    assert weak.poll.randomizer.epsilon0 > 8.0
    assert "Warning: an epsilon0 above 8 leaves a report close to the truth" in " ".join(
        encode(tmp_path, weak).out.split()
    )
    empty = Design.of(Poll("histogram", categories=("yes", "no"), n=PEOPLE, epsilon=1.0, delta=0.1))
    assert "delta is not below 1/n" in encode(tmp_path, empty, "--force", "--json").facts["note"]


def test_an_output_that_fails_after_it_was_paid_for_blocks_nothing_and_is_not_paid_for_twice(
    tmp_path: Path, settled: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up while the output is written: nothing was seen, so alone or in other company
    the batch may be released; once seen, it may not.
    """
    first, second = reports(tmp_path / "first", settled, honest(995)), reports(tmp_path / "second", settled, honest(3))
    budget = Budget(tmp_path / "budget.sqlite", "people", 2.0, 1e-6)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("shuffledp.tables.reports.pa.parquet.ParquetWriter", full)
        for _ in range(3):
            with pytest.raises(InvalidInput, match="No space left"):
                stages.shuffle([first], tmp_path / "out", budget=budget)
    assert releases(budget.path) == 1, "the same output, tried three times, is one record"
    stages.shuffle([first], tmp_path / "out", budget=budget)
    assert releases(budget.path) == 1, "and takes that record over"
    with pytest.raises(InvalidInput, match="got some of release 1 with others"):
        stages.shuffle([first, second], tmp_path / "more", budget=budget)


def test_once_an_output_may_have_been_seen_its_batches_are_taken(
    tmp_path: Path, settled: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The positive control: killed between putting the file in place and noting it, the batch in
    other company is refused.
    """
    first, second = reports(tmp_path / "first", settled, honest(995)), reports(tmp_path / "second", settled, honest(3))
    budget = Budget(tmp_path / "budget.sqlite", "people", 2.0, 1e-6)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Spent, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            stages.shuffle([first], tmp_path / "out", budget=budget)
    with pytest.raises(InvalidInput, match="got some of release 1 with others"):
        stages.shuffle([first, second], tmp_path / "more", budget=budget)


def test_a_ledger_that_fails_when_the_output_stands_does_not_say_that_nothing_was_recorded(
    tmp_path: Path, settled: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever believed that would ask again, and be charged again."""
    first, budget = (
        reports(tmp_path / "first", settled, honest(995)),
        Budget(tmp_path / "budget.sqlite", "people", 2.0, 1e-6),
    )

    def full(*_: Any) -> None:
        raise InvalidInput(
            "the ledger must have room to grow, got: disk is full. Nothing was recorded; make room on the disk, and "
            "try again."
        )

    monkeypatch.setattr("shuffledp.ledger.Ledger.publish", full)
    with pytest.raises(
        Unnoted, match=r"is complete and was charged as release 1, but .* got: disk is full\. Do not ask again"
    ) as caught:
        stages.shuffle([first], tmp_path / "out", budget=budget)
    assert "Nothing was recorded" not in str(caught.value)
    assert (tmp_path / "out").exists()


def test_a_release_that_fails_after_it_was_paid_for_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text("answer\n" + "yes\nno\n" * 100)

    def full(*_: Any, **__: Any) -> None:
        raise InvalidInput("the disk must have room, got none. Make some.")

    monkeypatch.setattr(pipeline, "write_release", full)
    asked = (
        "histogram",
        tmp_path / "people.csv",
        "--categories",
        "yes,no",
        "--epsilon",
        1,
        "--delta",
        1e-6,
        "--out",
        tmp_path / "result",
    )
    run(*asked).refused("Make some.")
    said = run(*asked, "--ledger", tmp_path / "budget.sqlite", *LIMITS)
    said.refused("The ledger was charged before that: release 1.")
    assert releases(tmp_path / "budget.sqlite") == 1


def test_an_interrupted_release_says_that_it_was_paid_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text("answer\n" + "yes\nno\n" * 100)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "write_release", interrupted)
    asked = (
        "histogram",
        tmp_path / "people.csv",
        "--categories",
        "yes,no",
        "--epsilon",
        1,
        "--delta",
        1e-6,
        "--out",
        tmp_path / "result",
    )
    said = run(*asked)
    assert (said.code, said.error.strip()) == (130, "")
    said = run(*asked, "--ledger", tmp_path / "budget.sqlite", *LIMITS)
    assert (said.code, said.error.strip()) == (
        130,
        "error: interrupted. The ledger was charged before that: release 1.",
    )


def test_an_error_after_a_release_was_paid_for_keeps_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text("answer\n" + "yes\nno\n" * 100)

    def fail(*_: Any, **__: Any) -> None:
        raise CertificateError("An estimate failed its check.")

    monkeypatch.setattr(pipeline, "write_release", fail)
    asked = (
        "histogram",
        tmp_path / "people.csv",
        "--categories",
        "yes,no",
        "--epsilon",
        1,
        "--delta",
        1e-6,
        "--out",
        tmp_path / "result",
    )
    said = run(*asked, "--ledger", tmp_path / "budget.sqlite", *LIMITS)
    assert (said.code, said.error.strip()) == (
        1,
        "error: An estimate failed its check. The ledger was charged before that: release 1.",
    )


def test_a_release_that_stands_is_shown_although_nobody_can_say_what_else_would_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text("answer\n" + "yes\nno\n" * 100)

    def busy(*_: Any, **__: Any) -> None:
        raise InvalidInput("the ledger must be at rest for a moment, got others that keep writing. Try again.")

    monkeypatch.setattr(Budget, "more", busy)
    asked = (
        "histogram",
        tmp_path / "people.csv",
        "--categories",
        "yes,no",
        "--epsilon",
        1,
        "--delta",
        1e-6,
        "--out",
        tmp_path / "result",
    )
    assert "200 reports" in done(*asked, "--ledger", tmp_path / "budget.sqlite", *LIMITS).out


def test_what_another_run_put_there_meanwhile_is_not_replaced_and_costs_nothing(
    tmp_path: Path, settled: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, budget = (
        reports(tmp_path / "first", settled, honest(995)),
        Budget(tmp_path / "budget.sqlite", "people", 2.0, 1e-6),
    )
    spend = Budget.spend

    def slow(*arguments: Any, **named: Any) -> Spent:
        (tmp_path / "out").write_text("theirs")
        return spend(*arguments, **named)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Budget, "spend", slow)
        with pytest.raises(InvalidInput, match="must not exist yet"):
            stages.shuffle([first], tmp_path / "out", budget=budget)
    assert (tmp_path / "out").read_text() == "theirs"
    stages.shuffle([first], tmp_path / "other", budget=budget)
    assert releases(tmp_path / "budget.sqlite") == 1
