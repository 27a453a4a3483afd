"""``make bench``: tightness, speed, waiting, memory and throughput, as ratios measured side by side
in one run.

Every line names its target and whether it was met; the exit code is 1 if one was missed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from benchmarks import (
    engines,
    latency,
    ledger,
    memory,
    pipeline,
    pointer,
    speed,
    startup,
    swapped,
    throughput,
    tightness,
    training,
)
from benchmarks.result import Result

SECTIONS: list[tuple[str, Callable[[], list[Result]]]] = [
    (
        "Tightness, delta = 1e-6, one round: the widest (upper - lower) / upper over n = 1e3..1e6 and epsilon0 = 0.5, "
        "1, 2, 4",
        tightness.one_round,
    ),
    ("Tightness, delta = 1e-6: 16 rounds, and randomizers without a target", tightness.reported),
    ("Tightness and time of the first-clone swap beside the blanket, delta = 1e-6", swapped.beside_the_blanket),
    ("Speed against Feldman et al. 2020, Appendix F, n = 1e6", speed.against_feldman),
    ("Speed against Koskela et al. 2021, Algorithm 1 with L = 20 and m = 1e7, n = 1e4", speed.against_koskela),
    ("Run time as Koskela et al. 2021 state it, CPU seconds", speed.koskelas_claims),
    ("Growth of the cost", speed.growth),
    ("Training: random allocation", training.ends_apart),
    ("Training: beside the package of those who proposed it, CPU time", training.against_peer),
    ("Waiting: one call each, nothing remembered", latency.calls),
    ("Waiting: whole commands, a fresh process each", latency.commands),
    ("Waiting: the planner, a step of a slider each, nothing remembered", pointer.steps),
    ("Waiting: imports and small commands, beside the Python that BEFORE names if it does", startup.starts),
    ("Peak memory of a fresh process", memory.peaks),
    (
        "Reports drawn: against np.where(rng.random(n) < p, x, rng.integers(0, k, n)), which is not secure",
        throughput.against_numpy,
    ),
    ("Reports drawn: every randomizer, secure source", throughput.every_randomizer),
    (
        "Files: against `select c, count(*) group by c`, which protects nobody, two threads each",
        pipeline.against_engines,
    ),
    ("Files: the external shuffle, secure source", pipeline.external_shuffle),
    (
        "Engines: CPU of the whole tree of processes against the engine's own count, which protects nobody; ROWS rows",
        engines.against_plain_counts,
    ),
    ("A ledger that is full already, CPU time", ledger.spending),
]


def main() -> int:
    """Run every section and print one table each."""
    console, missed = Console(width=150), 0
    for title, section in SECTIONS:
        table = Table("what", "measured", "target", "", title=title, title_justify="left")
        for result in section():
            missed += result.met is False
            table.add_row(
                result.what, result.measured, result.target, {True: "met", False: "MISSED", None: ""}[result.met]
            )
        console.print(table)
    console.print(f"{missed} targets missed" if missed else "every target met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
