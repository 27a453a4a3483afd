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
    data, ledger, figure = folder / "data", folder / "budget.sqlite", folder / "bounds.png"

    _say("1. Data: a real survey with a sensitive question, and a made-up million.")
    _run("example", data)

    _say("2. Plan. 6,366 women will be asked whether they had an affair. Which protocol, and what error?")
    _run("plan histogram --domain 2 --n 6366 --epsilon 1 --delta 1e-6")

    _say("3. Run it. Every answer is randomized, the reports are shuffled, and the noise is removed again on average.")
    asked, limits = (
        "--column affair --categories yes,no --epsilon 1 --delta 1e-6",
        "--limit-epsilon 2 --limit-delta 1e-6",
    )
    _run(
        "histogram",
        data / "affairs.csv",
        asked,
        "--ledger",
        ledger,
        f"--population readers {limits} --out",
        folder / "affairs",
    )
    _truth(folder / "affairs", _survey(data / "affairs.csv"))

    _say("4. The same for a million people, 13 cities, from Parquet; then their mean age.")
    people, promised = data / "people.parquet", "--epsilon 1 --delta 1e-8 --ledger"
    city = (
        "--column city --categories",
        data / "cities.txt",
        promised,
        ledger,
        f"--population everybody {limits} --out",
        folder / "cities",
    )
    _run("histogram", people, *city)
    counts, age = _population(people)
    _truth(folder / "cities", counts)
    _run(
        "mean",
        people,
        f"--column age --lower 0 --upper 120 {promised}",
        ledger,
        "--population everybody --out",
        folder / "ages",
    )
    _truth(folder / "ages", {"mean": age})

    _say("5. Another question: how do affairs and religion (1, not at all; 4, very) go together? With shares and sums.")
    _run(
        "crosstab",
        data / "affairs.csv",
        "--column affair --by religious --categories affair=yes,no --categories religious=1,2,3,4",
        "--epsilon 1 --delta 1e-6 --ledger",
        ledger,
        "--population readers --out",
        folder / "religion",
    )

    _say(
        "6. The budget. Two questions went to the same people, so what they give away adds up; the accountant "
        "does the sum."
    )
    _run("ledger show", ledger)

    _say("7. Defend it. Every number of the page, computed again by a slow and independent oracle.")
    _run("verify", folder / "affairs" / "page.html")

    _say(
        "8. Attack it. Many runs of the code itself, on two data sets that differ in one person: what leaks must stay "
        "below what is certified."
    )
    _run("audit --randomizer rr --epsilon0 1 --n 100 --delta 1e-3 --runs 20000")

    _say("9. Compare. Every published bound for 10,000 users and 16 categories, beside the certified interval.")
    _run("compare --randomizer krr --k 16 --epsilon0 4 --n 10000 --delta 1e-6 --plot", figure)

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
    url, design, study, token = f"http://127.0.0.1:{port}", folder / "design.json", folder / "study", folder / "token"
    _run("design histogram --categories yes,no --n 6366 --honest 80% --epsilon 1 --delta 1e-6 --out", design)
    _run("collection new --shuffler", url, "--design", design, "--out", study)
    serve = ("serve", study / "collection.json", "--store", folder / "reports.sqlite", f"--port {port} --token", token)
    send = ("send", study / "collection.json", "--column affair")
    log, (some, others) = folder / "shuffler.log", _halves(table, folder)
    with _beside(*serve, log=log) as shuffler:
        with _beside(*send, "--table", some, "--outbox", folder / "first-outbox") as clients:
            _finished(clients)
        shuffler.kill()
    _say(
        "The shuffler is killed (kill -9). What it acknowledged is on its disk; the other half of the people send "
        "while it is away, and send the same bytes again until it is back."
    )
    with _beside(*send, "--table", others, "--outbox", folder / "second-outbox") as clients, _beside(*serve, log=log):
        _finished(clients)
        _run("collection status", url)
        _run("collection close", url, "--token", token)
        _run("collection fetch", url, "--token", token, "--out", folder / "sealed.bin")
    _run("open", study, folder / "sealed.bin", "--out", folder / "result")
    _run("verify", folder / "result" / "page.html")


def _halves(table: Path, folder: Path) -> tuple[Path, Path]:
    """The people of a table in two files."""
    head, *people = table.read_text(encoding="utf-8").splitlines(keepends=True)
    files, half = (folder / "some.csv", folder / "others.csv"), len(people) // 2
    for file, part in zip(files, (people[:half], people[half:]), strict=True):
        file.write_text("".join([head, *part]), encoding="utf-8")
    return files


def _finished(process: subprocess.Popen[bytes]) -> None:
    """Wait for it; the demo ends where it failed."""
    if code := process.wait():
        sys.exit(code)


@contextmanager
def _beside(*pieces: str | Path, log: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Show a command, and run it beside this process; what it says goes to ``log``, if there is
    one.
    """
    call = [sys.executable, "-m", "shuffledp", *_shown(*pieces, "&")]
    with ExitStack() as open_:
        said = None if log is None else open_.enter_context(log.open("ab"))
        process = open_.enter_context(subprocess.Popen(call, stdout=said, stderr=said))
        try:
            yield process
        finally:
            process.terminate()


def _say(words: str) -> None:
    Console(highlight=False).print(f"\n{words}\n", style="bold", soft_wrap=True)


def _run(*pieces: str | Path) -> None:
    """Show a command and run it; the demo ends where one fails."""
    if code := shuffledp(_shown(*pieces)):
        sys.exit(code)


def _shown(*pieces: str | Path) -> list[str]:
    """Show a command, and return its arguments: a path is one, and text is as many as it has words,
    but for an & at its end.
    """
    words = [word for piece in pieces for word in ([str(piece)] if isinstance(piece, Path) else piece.split())]
    arguments = words[:-1] if words[-1] == "&" else words
    line = " ".join(["$ shuffledp", shlex.join(arguments), *words[len(arguments) :]])
    Console(highlight=False).print(f"{line}\n", style="cyan", soft_wrap=True, markup=False)
    return arguments


def _truth(folder: Path, truth: Mapping[str, float]) -> None:
    """The estimates beside the truth, which only a demo can know."""
    estimates = json.loads((folder / "estimates.json").read_text(encoding="utf-8"))["estimates"]
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
