"""The whole story in a minute, told by the commands themselves: plan, run, estimate against the
truth, report, audit; and once more between three parties that do not trust each other. ``make
demo`` runs it.
"""

import csv
import json
import shlex
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shlex import quote
from time import perf_counter

from rich.console import Console

from shuffledp.cli import main as shuffledp
from shuffledp.cli import show

FOLDER = Path("build/demo")
NEXT = """\
What to try next:
  open {page}
  {command} histogram YOUR.csv --column COLUMN --categories a,b,c --epsilon 1 --delta 1e-6 --out result
  {command} --help
  README.md and docs/ go on from here; make site builds them as a web site"""


def main(folder: Path = FOLDER) -> int:
    """Run every command of the story in ``folder``; what an earlier demo left there is replaced."""
    began = perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("data", "affairs", "cities", "ages", "religion", "network"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for spent in folder.glob("budget.sqlite*"):
        spent.unlink()
    here, data, figure = quote(str(folder)), folder / "data", folder / "bounds.png"

    _say("1. Data: a real survey with a sensitive question, and a made-up million.")
    _run(f"example {here}/data")

    _say("2. Plan. 6,366 women will be asked whether they had an affair. Which mechanism, and what error?")
    _run("plan histogram --categories 2 --n 6366 --epsilon 1 --delta 1e-6")

    _say("3. Run it. Every answer is randomized, the reports are shuffled, and the noise is removed again on average.")
    asked = "--column affair --categories yes,no --epsilon 1 --delta 1e-6"
    ledger, limits = f"--ledger {here}/budget.sqlite", "--limit-epsilon 2 --limit-delta 1e-6"
    _run(f"histogram {here}/data/affairs.csv {asked} {ledger} --population readers {limits} --out {here}/affairs")
    _truth(folder / "affairs", _survey(data / "affairs.csv"))

    _say("4. The same for a million people, 13 cities, from Parquet; then their mean age.")
    people, promised = f"{here}/data/people.parquet", f"--epsilon 1 --delta 1e-8 {ledger} --population everybody"
    city = f"--column city --categories {here}/data/cities.txt"
    _run(f"histogram {people} {city} {promised} {limits} --out {here}/cities")
    counts, age = _population(data / "people.parquet")
    _truth(folder / "cities", counts)
    _run(f"mean {people} --column age --lower 0 --upper 120 {promised} --out {here}/ages")
    _truth(folder / "ages", {"mean": age})

    _say("5. Another question: how do affairs and religion (1, not at all; 4, very) go together? With shares and sums.")
    _run(
        f"crosstab {here}/data/affairs.csv --column affair --by religious --categories affair=yes,no "
        f"--categories religious=1,2,3,4 --epsilon 1 --delta 1e-6 {ledger} --population readers --out {here}/religion"
    )

    _say(
        "6. The budget. Two questions went to the same people, so what they give away adds up; the accountant "
        "does the sum."
    )
    _run(f"ledger show {here}/budget.sqlite")

    _say("7. Defend it. Every number of the page, computed again by a slow and independent oracle.")
    _run(f"verify {here}/affairs/page.html")

    _say(
        "8. Attack it. Many runs of the code itself, on two data sets that differ in one person: what leaks must stay "
        "below what is certified."
    )
    _run("audit privacy --randomizer rr --epsilon0 1 --n 100 --delta 1e-3 --runs 20000")

    _say("9. Compare. Every published bound for 10,000 people and 16 categories, beside the certified interval.")
    _run(f"compare --randomizer krr --k 16 --epsilon0 4 --n 10000 --delta 1e-6 --plot {here}/bounds.png")

    _say(
        "10. The same survey between three parties: clients that randomize and seal, a shuffler that cannot read what "
        "it stores, an analyst who cannot tell who sent what. Each is a process of its own, and the shuffler is "
        "killed once."
    )
    _three_parties(folder / "network", data / "affairs.csv")
    _truth(folder / "network" / "result", _survey(data / "affairs.csv"))

    command = Path(sys.executable).with_name("shuffledp")
    shown = command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command.name
    _say(f"{perf_counter() - began:.0f} s in all. Figures: {figure}, {folder / 'affairs' / 'estimates.svg'}")
    pages = f"{folder / 'affairs' / 'page.html'} and {folder / 'network' / 'result' / 'page.html'}"
    print(NEXT.format(page=pages, command=shown))
    return 0


def _three_parties(folder: Path, table: Path) -> None:
    """From a design to a page, over loopback."""
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url, here = f"http://127.0.0.1:{port}", quote(str(folder))
    _run(
        "stage design histogram --categories yes,no --n 6366 --honest 80% --epsilon 1 --delta 1e-6 "
        f"--out {here}/design.json"
    )
    _run(f"survey new --shuffler {url} --design {here}/design.json --out {here}/study")
    announced, token = f"{here}/study/collection.json", f"--token {here}/token"
    serve = f"survey serve {announced} --store {here}/reports.sqlite --port {port} {token}"
    send = f"survey send {announced} --column affair"
    log = folder / "shuffler.log"
    _halves(table, folder)
    with _beside(serve, log=log) as shuffler:
        with _beside(f"{send} --table {here}/some.csv --outbox {here}/first-outbox") as clients:
            _finished(clients)
        shuffler.kill()
    _say(
        "The shuffler is killed (kill -9). What it acknowledged is on its disk; the other half of the people send "
        "while it is away, and send the same bytes again until it is back."
    )
    others = f"{send} --table {here}/others.csv --outbox {here}/second-outbox"
    with _beside(others) as clients, _beside(serve, log=log):
        _finished(clients)
        _run(f"survey status {url}")
        _run(f"survey close {url} {token}")
        _run(f"survey fetch {url} {token} --out {here}/sealed.bin")
    _run(f"survey open {here}/study {here}/sealed.bin --out {here}/result")
    _run(f"verify {here}/result/page.html")


def _halves(table: Path, folder: Path) -> None:
    """The people of a table in two files."""
    head, *people = table.read_text(encoding="utf-8").splitlines(keepends=True)
    half = len(people) // 2
    for name, part in (("some.csv", people[:half]), ("others.csv", people[half:])):
        (folder / name).write_text("".join([head, *part]), encoding="utf-8")


def _finished(process: subprocess.Popen[bytes]) -> None:
    """Wait for it; the demo ends where it failed."""
    if code := process.wait():
        sys.exit(code)


@contextmanager
def _beside(line: str, log: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Show a command, and run it beside this process; what it says goes to ``log``, if there is
    one.
    """
    call = [sys.executable, "-m", "shuffledp", *_shown(line, " &")]
    with ExitStack() as open_:
        said = None if log is None else open_.enter_context(log.open("ab"))
        process = open_.enter_context(subprocess.Popen(call, stdout=said, stderr=said))
        try:
            yield process
        finally:
            process.terminate()


def _say(words: str) -> None:
    Console(highlight=False).print(f"\n{words}\n", style="bold", soft_wrap=True)


def _run(line: str) -> None:
    """Show a command and run it; the demo ends where one fails."""
    if code := shuffledp(_shown(line)):
        sys.exit(code)


def _shown(line: str, end: str = "") -> list[str]:
    """Show a command, and return its arguments."""
    arguments = shlex.split(line)
    shown = f"$ shuffledp {shlex.join(arguments)}{end}\n"
    Console(highlight=False).print(shown, style="cyan", soft_wrap=True, markup=False)
    return arguments


def _truth(folder: Path, truth: Mapping[str, float]) -> None:
    """The estimates beside the truth, which only a demo can know."""
    estimates = json.loads((folder / "estimates.json").read_text(encoding="utf-8"))["tables"][0]
    columns = zip(estimates["label"], estimates["value"], estimates["lower"], estimates["upper"], strict=True)
    rows = []
    for label, value, low, high in columns:
        true = truth[label]
        covered = "yes" if low <= true <= high else "no"
        rows.append((f"{true:,.6g}", f"{value:,.{0 if value > 1000 else 4}f}", f"{value - true:+,.2g}", covered, label))
    print("\nAgainst the truth, which only a demo can know (one interval in twenty may miss it):")
    show.table(["truth", "estimate", "off by", "in the 95 % interval", ""], rows, numbers=4)


def _survey(path: Path) -> dict[str, float]:
    with path.open(encoding="utf-8", newline="") as file:
        return dict(Counter(row["affair"] for row in csv.DictReader(file)))


def _population(path: Path) -> tuple[dict[str, float], float]:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    counts = {
        each["values"]: each["counts"] for each in pc.value_counts(table["city"].cast("string").drop_null()).to_pylist()
    }
    return counts, pc.mean(table["age"]).as_py()


if __name__ == "__main__":
    sys.exit(main(*(Path(argument) for argument in sys.argv[1:2])))
