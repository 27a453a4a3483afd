"""SIGKILL at any moment: an output is absent or complete, a rerun works, and the ledger has a
record of whatever came out.
"""

import json
import shutil
import signal
from collections.abc import Callable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.ledger import Ledger
from shuffledp.record import HASHED, embedded_json
from shuffledp.storage.canonical import digest_of
from shuffledp.tables.reports import open_reports
from tests.cli.people import FILES
from tests.faults.conftest import Made
from tests.faults.runner import Runner

LEAST = 12  # kills of every command
LIMIT = 20.0
LIMITS = ("--population", "p", "--limit-epsilon", LIMIT, "--limit-delta", 1e-6)
Record = Callable[[str, object], None]


def whole_release(folder: Path) -> dict[str, Any]:
    """The facts of a release of which nothing is missing."""
    assert {each.name for each in folder.iterdir()} == FILES
    facts: dict[str, Any] = json.loads((folder / "estimates.json").read_text(encoding="utf-8"))
    assert embedded_json((folder / "page.html").read_text(encoding="utf-8")) == facts
    assert facts["hashes"] == {name: digest_of(facts[name]) for name in HASHED}
    assert json.loads((folder / "design.json").read_text(encoding="utf-8")) == facts["design"]
    assert len((folder / "estimates.csv").read_text(encoding="utf-8").splitlines()) == 1 + facts["tables"][0]["of"]
    assert (folder / "estimates.svg").read_text(encoding="utf-8").endswith("</svg>\n")
    return facts


def whole_reports(path: Path) -> int:
    """How many reports a file holds, all of which can be read."""
    file = open_reports(path)
    assert sum(len(rows) for rows in file.batches()) == file.count
    return file.count


def strangers(place: Path, *known: str) -> list[str]:
    """What lies in a folder beside what should, and beside hidden remains of an output."""
    ledger = {f"budget.sqlite{end}" for end in ("", "-wal", "-shm")}
    return [
        each.name for each in place.iterdir() if each.name not in {*known, *ledger} and not (each.match(".out*.part"))
    ]


class Deaths:
    """Runs of one command that are killed: spread over the time that it takes, then before each
    call that makes an output appear.
    """

    def __init__(self, runner: Runner, arguments: tuple[object, ...], *, among: int) -> None:
        self._runner, self._arguments, self._among = runner, arguments, among
        self.count = 0

    def at_times(self, out: Callable[[int], Path], *, whole: float) -> Iterator[Path]:
        """Spread over ``whole`` seconds; if too many of them come too late, some more that come
        earlier.
        """
        shares = np.linspace(0.02, 1.0, self._among).tolist()
        for number in count():
            if number == len(shares):
                if self.count >= LEAST:
                    return
                shares.append(0.5 * 0.9 ** (number - self._among))
            place = out(number)
            self._note(self._runner.kill_after(shares[number] * whole, *self._arguments, "--out", place))
            yield place

    def at_steps(self, out: Callable[[int], Path], *, first: int = 0) -> Iterator[Path]:
        """All there are: the last run is not killed any more."""
        dead = True
        while dead:
            place = out(first)
            dead = self._note(self._runner.kill_at(first, *self._arguments, "--out", place))
            assert dead or place.exists()
            yield place
            first += 1

    def _note(self, code: int) -> bool:
        assert code in (0, -signal.SIGKILL), code
        self.count += code != 0
        return code != 0


def usual(runner: Runner, *arguments: object) -> float:
    """The seconds that a command takes, which must succeed."""
    code, said, seconds = runner.run(*arguments)
    assert code == 0, said
    return seconds


def remove(out: Path) -> Path:
    """Make room for the next try."""
    if out.is_dir():
        shutil.rmtree(out)
    out.unlink(missing_ok=True)
    return out


def test_a_killed_encode_leaves_nothing_or_all_and_can_be_run_again(
    runner: Runner, made: Made, tmp_path: Path, record_property: Record
) -> None:
    out, complete = tmp_path / "out", 0
    expected = open_reports(made.encoded).count
    whole = min(usual(runner, *made.encode, "--out", remove(out)) for _ in range(2))
    deaths = Deaths(runner, made.encode, among=14)
    fresh = lambda _: remove(out)  # noqa: E731
    for _ in chain(deaths.at_times(fresh, whole=whole), deaths.at_steps(fresh)):
        assert strangers(tmp_path, "out") == []
        if out.exists():
            assert whole_reports(out) == expected
            complete += 1
    usual(runner, *made.encode, "--out", remove(out))
    assert whole_reports(out) == expected
    assert [each.name for each in tmp_path.iterdir()] == ["out"], "remains are swept away"
    record_property(
        "fault: encode", f"{deaths.count} kills; {complete} outputs, all complete; a rerun worked and swept the remains"
    )


def test_a_killed_shuffle_leaves_nothing_or_all_and_what_came_out_is_in_the_ledger(
    runner: Runner, made: Made, tmp_path: Path, record_property: Record
) -> None:
    out, ledger, complete = tmp_path / "out", tmp_path / "budget.sqlite", 2
    expected = open_reports(made.encoded).count
    arguments = ("stage", "shuffle", made.encoded, "--ledger", ledger, *LIMITS)
    whole = min(usual(runner, *arguments, "--out", remove(out)) for _ in range(2))
    deaths = Deaths(runner, arguments, among=14)
    fresh = lambda _: remove(out)  # noqa: E731
    for _ in chain(deaths.at_times(fresh, whole=whole), deaths.at_steps(fresh)):
        assert strangers(tmp_path, "out") == []
        if out.exists():
            assert whole_reports(out) == expected
            complete += 1
        assert complete <= len(Ledger(ledger).releases()), "recorded first, written afterwards"
    usual(runner, *arguments, "--out", remove(out))
    assert whole_reports(out) == expected
    assert sorted(each.name for each in tmp_path.iterdir()) == ["budget.sqlite", "out"]
    records = sound(ledger)
    record_property(
        "fault: shuffle --ledger",
        f"{deaths.count} kills; {complete + 1} outputs, all complete; {records} records, ledger clean",
    )


def test_a_killed_analysis_leaves_nothing_or_all_and_can_be_run_again(
    runner: Runner, made: Made, tmp_path: Path, record_property: Record
) -> None:
    out, complete = tmp_path / "out", 0
    arguments = ("stage", "analyze", made.shuffled)
    runner.warm(*arguments, "--out", out)
    whole = usual(runner, *arguments, "--out", remove(out))
    deaths = Deaths(runner, arguments, among=13)
    for _ in deaths.at_times(lambda _: remove(out), whole=whole):
        assert strangers(tmp_path, "out") == []
        if out.exists():
            whole_release(out)
            complete += 1
    usual(runner, *arguments, "--out", remove(out))
    whole_release(out)
    assert [each.name for each in tmp_path.iterdir()] == ["out"], "remains are swept away"
    record_property(
        "fault: analyze",
        f"{deaths.count} kills; {complete} outputs, all complete; a rerun worked and swept the remains",
    )


def test_a_killed_release_leaves_nothing_or_all_and_what_came_out_is_in_the_ledger(
    runner: Runner, made: Made, tmp_path: Path, record_property: Record
) -> None:
    ledger = tmp_path / "budget.sqlite"
    arguments = (*made.histogram, "--ledger", ledger, *LIMITS)
    runner.warm(*arguments, "--out", tmp_path / "out-warm")
    whole = usual(runner, *arguments, "--out", tmp_path / "out-usual")
    deaths = Deaths(runner, arguments, among=13)
    places = [tmp_path / "out-warm", tmp_path / "out-usual"]
    places += deaths.at_times(lambda number: tmp_path / f"out-time-{number}", whole=whole)
    places += deaths.at_steps(lambda number: tmp_path / f"out-step-{number}")
    assert strangers(tmp_path, *(place.name for place in places)) == []
    complete = [whole_release(place)["ledger"]["id"] for place in places if place.exists()]
    assert set(complete) <= {each.id for each in Ledger(ledger).releases()}, "recorded first, written afterwards"
    assert len(set(complete)) == len(complete) <= sound(ledger) <= len(places)
    again = next(place for place in places if not place.exists())
    usual(runner, *arguments, "--out", again)
    assert whole_release(again)["ledger"]["id"] == sound(ledger)
    assert not list(tmp_path.glob(f".{again.name}.*")), "remains are swept away"
    record_property(
        "fault: histogram --ledger",
        f"{deaths.count} kills; {len(complete) + 1} outputs, all complete; {sound(ledger)} records, ledger clean",
    )


def sound(ledger: Path) -> int:
    """How many records a ledger holds that passes its check and keeps its limit."""
    book = Ledger(ledger)
    assert book.check().faults == ()
    assert book.total("p").delta(epsilon=LIMIT).upper <= 1e-6
    return len(book.releases())
