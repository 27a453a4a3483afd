"""Top words, measured: on a made-up search log, beside published figures, over many runs, and at
1e6 and 1e7 people. ``make top-words`` writes docs/top-words-measured.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.attacked_searches import ATTACKS, ERROR, FEW, Attack, attacked
from shuffledp.design import Design
from shuffledp.search.found import Found
from shuffledp.search.planning import planned_search
from shuffledp.search.search import OUT_OF, Search

EPSILON, DELTA = 1.0, 1e-6
VOCABULARY = 100_000
LETTERS = tuple(string.ascii_lowercase + " ")
HEX = tuple("0123456789abcdef")
# The command, and then how much memory it had at most. That a process asks the system for includes what its parent had.
PROGRAM = """
import sys
from pathlib import Path
from shuffledp.cli import main
code = main(sys.argv[2:])
(peak,) = [line.split()[1] for line in Path("/proc/self/status").read_text().split("\\n") if "VmHWM" in line]
Path(sys.argv[1]).write_text(peak)
sys.exit(code)
"""


class Log(NamedTuple):
    """Words, and the place of each person's among them."""

    words: list[str]
    held: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.bincount(self.held, minlength=len(self.words))


def search_log(people: int, *, seed: int, vocabulary: int = VOCABULARY) -> Log:
    """Queries of 2 to 16 letters, by Zipf's law: the r-th of them has a share of about 1/(12 r)."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 17, vocabulary)
    words = {"".join(rng.choice(LETTERS, length)).strip() or "a" for length in lengths}
    listed = sorted(words)
    rng.shuffle(listed)
    weights = 1.0 / np.arange(1, len(listed) + 1)
    return Log(listed, rng.choice(len(listed), people, p=weights / weights.sum()))


def numbers_of_48_bits(people: int, *, heavy: int, share: float, seed: int) -> Log:
    """``heavy`` values that have a ``share`` each, and as many others as people, which nobody
    shares.
    """
    rng = np.random.default_rng(seed)
    rest = 1.0 - heavy * share
    held = np.where(rng.random(people) < rest, heavy + np.arange(people), rng.integers(0, heavy, people))
    used, places = np.unique(held, return_inverse=True)
    values = rng.integers(0, 1 << 48, len(used))
    return Log([f"{value:012x}" for value in values], places)


def carried_out(search: Search, log: Log, *, seed: int) -> Found:
    """A search in memory, by seeded noise."""
    rng = np.random.default_rng(seed)
    dictionary = search.alphabet.rows(log.words, longest=search.longest)
    levels = search.levels_of(rng.integers(0, OUT_OF, len(log.held), dtype=np.uint32))
    tallies = list[NDArray[np.int64]]()
    while isinstance(step := search.next(tallies), Design):
        mine = levels >= len(tallies) if step.resolved.counting else levels == len(tallies)
        places = step.resolved.level.places(dictionary)[log.held[mine]]
        law = step.poll.randomizer
        tallies.append(law.tally(law.randomize(places, rng=rng)))
    return step


def labelled(words: Sequence[str], longest: int) -> list[str]:
    """Words as a search lists them: longer ones by their beginnings."""
    return [word if len(word) <= longest else word[:longest] + "…" for word in words]


class Quality(NamedTuple):
    """How many of the true top words are listed, and how many listed ones are among them."""

    listed: int
    recall: float
    precision: float
    least: int
    found_from: int | None


def quality(found: Found, log: Log, wanted: Sequence[int]) -> Quality:
    """Against the truth; a beginning stands for the words that go on from it."""
    labels = np.array(labelled(log.words, found.search.longest))
    names, back = np.unique(labels, return_inverse=True)
    held = dict(zip(names.tolist(), np.bincount(back, weights=log.counts).astype(int).tolist(), strict=True))
    true, listed = {str(labels[place]) for place in wanted}, {str(word) for word in found.listed.labels}
    hits = len(true & listed)
    least = min((held.get(word, 0) for word in listed), default=0)
    return Quality(len(listed), hits / len(true), hits / max(1, len(listed)), least, found.found_from)


class Coverage(NamedTuple):
    """Over many runs: how often all intervals of what was counted held at once, how often each by
    itself, and how often a word was listed that too few hold.
    """

    runs: int
    together: float
    each: float
    words: int
    few: int


def coverage(runs: int, people: int) -> Coverage:
    log = search_log(people, seed=1, vocabulary=2000)
    search = planned_search(people=people, epsilon=EPSILON, delta=DELTA, k=20, longest=6, tokens=LETTERS)
    labels = np.array(labelled(log.words, search.longest))
    names, back = np.unique(labels, return_inverse=True)
    held = dict(zip(names.tolist(), np.bincount(back, weights=log.counts).tolist(), strict=True))
    together = each = words = few = 0
    for run in range(runs):
        found = carried_out(search, log, seed=run)
        low, high = found.estimate.interval(0.95)
        true = [held.get(str(label), 0.0) for label in found.estimate.labels]
        lowest, highest = found.estimate.simultaneous(0.95)
        together += all(lowest[place] <= true[place] <= highest[place] for place in range(len(true)))
        each += sum(low[place] <= true[place] <= high[place] for place in range(len(true)))
        words += len(true)
        few += sum(held.get(str(word), 0.0) < search.least_holders for word in found.listed.labels)
    return Coverage(runs, together / runs, each / words, words, few)


class Cost(NamedTuple):
    people: int
    seconds: float
    megabytes: float


def cost(people: int) -> Cost:
    """CPU seconds and memory of the whole command, on a Parquet file."""
    log = search_log(people, seed=3)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "log.parquet"
        pq.write_table(pa.table({"query": pa.array(log.words).take(pa.array(log.held))}), table)
        words = ["top", str(table), "--column", "query", "--epsilon", "1", "--delta", "1e-6", "--out", f"{folder}/out"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        program = [sys.executable, "-c", PROGRAM, f"{folder}/peak"]
        subprocess.run([*program, *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak = int(Path(f"{folder}/peak").read_text())
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(people, used, peak / 1024)


def attacked_once(search: Search, attack: Attack, seed: int) -> Found:
    """One of many searches, by seeded noise."""
    return carried_out(search, Log(attack.words, attack.places), seed=seed)


def page(people: int, many: int, runs: int, attacks: int) -> Iterator[str]:
    """The measured page, line by line."""
    yield "# Top words, measured\n"
    yield (
        f"`make top-words` repeats this and writes this page. Everywhere epsilon = {EPSILON:g} and delta = {DELTA:g} "
        f"for every person, all of them honest, `--least-holders 50` and `--error 0.001`; noise is seeded, so that the "
        f"same numbers come again.\n"
    )
    yield f"## A made-up search log, {people:,} people\n"
    yield (
        f"{VOCABULARY:,} queries of 2 to 16 letters by Zipf's law; the 50 most frequent ones are looked for. Recall is "
        f"the share of them that is listed, precision the share of the list that is among them: whatever else is "
        f"listed is a frequent word, too, of a lower rank.\n"
    )
    yield "| symbols | levels | listed | recall | precision | fewest holders of a listed word | found from |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    log = search_log(people, seed=2)
    wanted = np.argsort(-log.counts)[:50].tolist()
    for title, tokens, longest in (
        ("16 bytes", None, 16),
        ("8 bytes", None, 8),
        ("16 of 27 letters", LETTERS, 16),
        ("8 of 27 letters", LETTERS, 8),
    ):
        search = planned_search(people=people, epsilon=EPSILON, delta=DELTA, k=50, longest=longest, tokens=tokens)
        found = quality(carried_out(search, log, seed=4), log, wanted)
        yield (
            f"| {title} | {len(search.spans) + 1} | {found.listed} | {found.recall:.0%} | {found.precision:.0%} | "
            f"{found.least:,} | {found.found_from:,} |"
        )
    yield f"\n## Numbers of 48 bits, {many:,} people\n"
    yield (
        "SDPFE publishes, for 10,000,000 people, 2^48 values and a share of 0.005, a recall of 100 % and a precision "
        "of 21.9 %. Here 100 values have a share of 0.005 each, and everybody else a value that nobody shares; values "
        "are 12 hexadecimal digits, and up to 200 may be listed.\n"
    )
    yield "| | listed | recall | precision | found from |"
    yield "|---|--:|--:|--:|--:|"
    yield "| SDPFE, as published | | 100 % | 21.9 % | |"
    log = numbers_of_48_bits(many, heavy=100, share=0.005, seed=5)
    search = planned_search(people=many, epsilon=EPSILON, delta=DELTA, k=200, longest=12, tokens=HEX)
    wanted = np.flatnonzero(log.counts > 1).tolist()
    found = quality(carried_out(search, log, seed=6), log, wanted)
    yield f"| here | {found.listed} | {found.recall:.0%} | {found.precision:.0%} | {found.found_from:,} |"
    del log
    yield "\n## Intervals\n"
    seen = coverage(runs, 50_000)
    yield (
        f"{seen.runs} searches among 50,000 people, words of up to 6 letters. The 95 % intervals that are to hold for "
        f"all counted words at once did so in {seen.together:.1%} of the runs; of {seen.words:,} counted words, "
        f"{seen.each:.2%} lay in their own 95 % interval. A word that fewer than 50 people hold was listed "
        f"{seen.few} times.\n"
    )
    yield "## Data that were made to break it\n"
    yield (
        f"{attacks:,} searches each, at `--error {ERROR}`: in how many something was listed or followed that {FEW} or "
        f"fewer people hold, of those that listed anything, in how many all intervals held at once, and how many words "
        f"were missed of those with as many holders as are said to be found but once in 20 times. No label was "
        f"unprintable, or twice in a list, in {len(ATTACKS) * attacks:,} searches.\n"
    )
    yield "| words | too few hold it | list something | all intervals held | missed, of enough holders |"
    yield "|---|--:|--:|--:|--:|"
    for attack in ATTACKS:
        kept = attacked(attack, attacks, attacked_once)
        assert not kept.wrong, attack
        together = f"{kept.together / kept.listing:.2%}" if kept.listing else ""
        yield (
            f"| {attack.name} | {kept.too_few / kept.searches:.2%} | {kept.listing:,} | {together} | "
            f"{kept.missed:,} of {kept.enough:,} |"
        )
    yield "\n## Time and memory\n"
    yield "The whole command on a Parquet file, 16 bytes: reading, calibrating, 16 or 17 levels, page and figure.\n"
    yield "| people | CPU | peak memory |"
    yield "|--:|--:|--:|"
    for each in (people, many):
        spent = cost(each)
        yield f"| {spent.people:,} | {spent.seconds:.1f} s | {spent.megabytes:.0f} MB |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=float, default=1e6)
    parser.add_argument("--many", type=float, default=1e7)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--attacks", type=int, default=300)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args(arguments)
    os.environ.setdefault("MPLBACKEND", "Agg")
    text = "\n".join(page(int(given.people), int(given.many), given.runs, given.attacks)) + "\n"
    print(text)
    if given.page is not None:
        given.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
