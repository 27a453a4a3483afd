"""What the package is for, in a minute: certified epsilons of familiar set-ups, and one figure. ``make demo`` runs it."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from shuffledp.guarantee import Guarantee
from shuffledp.mechanism import shuffle
from shuffledp.plots import curve_figure, parts, rounded
from shuffledp.randomizers import KRR, OLH, OUE, RAPPOR, RR, AnyLDP, Gaussian, Hadamard, Laplace, SubsetSelection

__all__ = ["main"]

DELTA = 1e-6
FOLDER = Path("build/demo")
NEXT = """\
Try next:
  shuffledp epsilon   --randomizer krr --k 16 --epsilon0 4 --n 10000 --delta 1e-6
  shuffledp calibrate --randomizer krr --k 16 --n 10000 --epsilon 1 --delta 1e-6
  shuffledp explain   --randomizer rappor --k 1000 --epsilon0 4 --n 1e5 --delta 1e-6
  shuffledp --help, README.md, docs/quickstart.md"""


def setups() -> Iterator[tuple[str, Guarantee]]:
    """Set-ups that many will recognise."""
    telemetry = KRR(k=16, epsilon0=4.0)
    yield "yes or no, Warner's survey", shuffle(RR(epsilon0=math.log(3.0)), n=1_000)
    yield "16 categories, k-RR", shuffle(telemetry, n=10_000)
    yield "  a tenth of them collude", shuffle(telemetry, n=10_000, honest=9_000)
    yield "  every day for a month", shuffle(telemetry, n=10_000).compose(30)
    yield "  a million users", shuffle(telemetry, n=10**6)
    yield "  a billion users", shuffle(telemetry, n=10**9)
    yield "1,000 pages, RAPPOR", shuffle(RAPPOR(k=1_000, epsilon0=4.0), n=100_000)
    yield "  optimised unary encoding", shuffle(OUE(k=1_000, epsilon0=4.0), n=100_000)
    yield "  optimal local hashing", shuffle(OLH(k=1_000, epsilon0=4.0), n=100_000)
    yield "  Hadamard response", shuffle(Hadamard(k=1_000, epsilon0=4.0), n=100_000)
    yield "  subset selection", shuffle(SubsetSelection(k=1_000, epsilon0=4.0), n=100_000)
    yield "  any randomizer at all", shuffle(AnyLDP(epsilon0=4.0), n=100_000)
    yield "a number, Laplace noise", shuffle(Laplace(epsilon0=2.0), n=100_000)
    yield "  Gaussian noise", shuffle(Gaussian(sigma=1.0), n=100_000)


def main(folder: Path = FOLDER) -> None:
    """Print the table, and draw the figure into ``folder``."""
    console = Console(highlight=False)
    console.print("How private are reports that go through a shuffler?", style="bold")
    console.print("The true epsilon at delta = 1e-6 lies between the two ends; smaller is better.\n")
    shuffle(RR(epsilon0=1.0), n=100).epsilon(delta=DELTA)  # so that nobody pays for the first call
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("set-up")
    for column in ("users", "rounds", "alone", "at least", "at most", "ms"):
        table.add_column(column, justify="right", no_wrap=True)
    began = perf_counter()
    for words, guarantee in setups():
        start = perf_counter()
        bound = guarantee.epsilon(delta=DELTA)
        spent = 1e3 * (perf_counter() - start)
        part, rounds = parts(guarantee)[0]
        users = f"{part.n:,}" if part.n < 10**8 else f"{part.n:.0e}".replace("e+0", "e")
        pure = part.randomizer.epsilon0
        alone = pure if math.isfinite(pure) else shuffle(part.randomizer, n=1).epsilon(delta=DELTA).upper
        table.add_row(words, users, f"{rounds}", f"{alone:.2g}", rounded(bound.lower, up=False), rounded(bound.upper, up=True), f"{spent:.0f}")
    console.print(table)
    console.print("\nalone: the epsilon of one report without a shuffler.")

    folder.mkdir(parents=True, exist_ok=True)
    figure = curve_figure(shuffle(RAPPOR(k=1_000, epsilon0=4.0), n=100_000), folder / "curve.png", delta=DELTA)
    console.print(f"\nfigure: {figure}\n        RAPPOR from the table: delta against epsilon, beside one report without a shuffler", soft_wrap=True)
    console.print(f"\n{perf_counter() - began:.1f} s in all. {NEXT}", soft_wrap=True)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
