"""What a terminal shows: the options of every command, the keys and types of every ``--json``, and
text at 80 columns.

``python -m tests.pins.surfaces --write`` writes ``options.json``, ``answers.json`` and ``transcripts/``
again; review the difference before it is committed. With names of chapters, only those.

The bytes of ``os.urandom`` are the same for every command here, so a question that draws secure
randomness draws the same noise every time, and its estimates are pinned as they are printed. What
varies in truth (times, digests, keys, ports) is masked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from shuffledp.sampling import source
from tests.cli.people import Said, people, run
from tests.survey.shufflers import free_port

__all__ = ["ANSWERS", "CHAPTERS", "OPTIONS", "TRANSCRIPTS", "options", "played", "shape"]

HERE = Path(__file__).parent
OPTIONS, ANSWERS, TRANSCRIPTS = HERE / "options.json", HERE / "answers.json", HERE / "transcripts"

# A line is a command. It is run twice: as text, which is kept as it is, and with --json, of which keys
# and types are kept; --out is another one then. "text:" runs it only in the first way, "json:" only in
# the second, "values:" keeps what --json prints too, to nine digits. "quiet:" runs it and keeps nothing.
# "serve:" starts a shuffler, which stops when the next one starts, and keeps what it prints as JSON.
# PORT is a free one.
KRR = "--randomizer krr --k 16 --epsilon0 4 --n 10000"
PROMISE = "--epsilon 1 --delta 1e-6"
BUDGET = "--ledger budget.sqlite --population people --limit-epsilon 5 --limit-delta 1e-5"
CITY = f"people.csv --column city --categories Lima,Osaka,Turku,Zürich {PROMISE}"
AGE = f"people.csv --column age --lower 0 --upper 100 {PROMISE}"
SMOKERS = f"smokers.csv --column smoker --by region --categories region=north,south --categories yes,no {PROMISE}"
WORDS = f"words.csv --column word --tokens letters.txt --longest 2 --words 3 {PROMISE}"
SEARCH = "--tokens letters.txt --longest 2"
LESS = "--least-holders 20 --epsilon 3 --delta 1e-4"
LOOP = "http://127.0.0.1:PORT"
WEEKS = "--n 400 --honest 300 --rounds 3 --epsilon 2 --delta 1e-6"
CHAPTERS = {
    "accounting": f"""
        epsilon {KRR} --delta 1e-6
        epsilon {KRR} --honest 9000 --rounds 2 --delta 1e-6
        text: epsilon --randomizer gaussian --sigma 5 --n 1000 --delta 1e-6
        text: epsilon {KRR} --adversary strong --delta 1e-6
        delta {KRR} --epsilon 0.5
        text: delta --randomizer rr --epsilon0 1 --n 30 --epsilon 0.5 --proven
        calibrate --randomizer krr --k 16 --epsilon0 4 {PROMISE}
        calibrate --randomizer rr --n 1000 {PROMISE}
        explain {KRR} --delta 1e-6
        curve {KRR} --points 5
        text: curve {KRR} --points 3 --latex
        curve {KRR} --points 3 --bound balle-2019-bennett-krr --bound girgis-2021
        epsilon {KRR} --rounds 2 --delta 1e-6 --bound balle-2019-bennett-krr
        delta {KRR} --epsilon 0.5 --bound balle-2019-bennett-krr-printed
        plan histogram --categories 4 --n 1000 {PROMISE}
        plan mean --n 200 --epsilon 1 --delta 1e-4
        training --sigma 2 --steps 20 --delta 1e-5
        training --steps 50 --epsilon 1 --delta 1e-5
        compare --randomizer krr --k 4 --epsilon0 1 --n 1000 --delta 1e-6
        json: compare --randomizer krr --k 4 --epsilon0 1 --n 1000 --epsilon 0.1 --patience 0.1
        papers list
        papers show chen-2024
        papers bounds erlingsson-2019
        papers reproduce biswas-table1 --list
        audit privacy --randomizer krr --k 4 --epsilon0 1 --n 50 --delta 1e-2 --runs 1000 --seed 1 --seconds 600
        text: --version
        text: epsilon --randomizer kr --n 9 --delta 1e-6
        text: epsilon --randomizer krr --k 16 --epsilon0 4 --n 10000
        text: delta {KRR} --epsilon -1
        text: plan medians --n 100 {PROMISE}
        text: calibrate --randomizer krr --k 16 {PROMISE}
        text: epsilon {KRR} --delta 1e-6 --bound erlingsson-2019
        text: papers show
        text: papers reproduce biswas-tabel1
        text: epsilonn
        values: epsilon {KRR} --delta 2
    """,
    "questions": f"""
        look people.csv
        text: look people.csv --column age
        histogram {CITY} --dry-run
        histogram {CITY} --out city
        text: histogram {CITY} --rounds 3 --honest 90% --title "Where people live" --out rounds
        text: histogram {CITY} --mechanism fakes --out fakes
        histogram {CITY} --mechanism dummies --out dummies
        histogram {CITY} --mechanism hadamard --out hadamard
        mean {AGE} --out mean
        sum {AGE} --out sum
        count people.csv --column city --value Lima {PROMISE} --out count
        quantile {AGE} --bins 20 --at 0.25,0.5,0.75 --range 20:40 --out quantile
        crosstab {SMOKERS} --out crosstab
        text: histogram {CITY} --out city
        text: histogram {CITY} --out city --force --dry-run
        text: histogram people.csv --column town --categories a,b {PROMISE} --out town
        text: histogram people.csv --column city --categories Lima,Osaka {PROMISE} --out town
        text: histogram people.csv {PROMISE}
        text: mean people.csv --column age --lower 0 --upper 50 {PROMISE} --out outside
        text: quantile {AGE} --at 1.5 --out outside
        text: histogram nowhere.csv --column c --categories a,b {PROMISE} --out town
        text: histogram {CITY} --id name --keep any --out town
    """,
    "verified": f"""
        histogram {CITY} {BUDGET} --out city
        quiet: mean {AGE} {BUDGET} --out mean
        verify city/page.html --ledger budget.sqlite
        text: verify mean/estimates.json --seconds 0
        text: verify forged.json
        text: verify people.csv
        ledger show budget.sqlite
        ledger check budget.sqlite
        values: ledger export budget.sqlite
        text: histogram {CITY} {BUDGET.replace("5", "9")} --out more
        text: ledger show people.csv
    """,
    "stages": f"""
        text: example given --people 500
        json: example again --people 500
        stage design histogram --categories yes,no --n 40 --epsilon 2 --delta 1e-2 --out design.json
        stage design mean --lower 0 --upper 100 --n 1000 {PROMISE} --out ages.json
        stage encode answers.csv --column answer --design design.json --out reports.parquet
        stage shuffle reports.parquet --out shuffled.parquet
        stage analyze shuffled.parquet --out answered
        values: stage analyze shuffled.parquet --out again
        epsilon --design design.json --delta 1e-2
        audit poisoning design.json --seed 1
        text: audit poisoning ages.json --seed 1
        text: audit privacy --design design.json --runs 1000 --seed 1 --seconds 600
        text: stage encode answers.csv --column answer --design people.csv --out other.parquet
        text: stage shuffle shuffled.parquet --out twice.parquet
        text: stage analyze reports.parquet --out early
        text: stage encode people.csv --column city --design design.json --out other.parquet
        text: stage design histogram --n 40 --epsilon 2 --delta 1e-2 --out other.json
    """,
    "searched": f"""
        top {WORDS} --dry-run
        text: plan top --n 16000 {PROMISE}
        top {WORDS} --out words
        text: verify words/page.html --seconds 0
        text: top {WORDS} --rounds 2 --out more
        text: top people.csv --column city --longest 6 {PROMISE} --out cities
    """,
    "network": f"""
        quiet: stage design histogram --categories yes,no --n 40 --honest 30 --epsilon 2 --delta 1e-2 --out design.json
        survey new --design design.json --shuffler https://shuffle.example.org --text Tea? --out study
        survey new --design design.json --shuffler https://shuffle.example.org --codes --out coded
        text: survey invite coded/collection.json --count 3 --out codes.txt --hashes hashes.txt
        json: survey invite coded/collection.json --count 3 --out more.txt --hashes more-hashes.txt
        stage design top --n 20000 {SEARCH} {PROMISE} --out words.json
        survey new --design words.json --shuffler https://shuffle.example.org --out search
        survey send study/collection.json --value yes --dry-run
        text: survey send study/collection.json --value maybe --dry-run
        text: survey send coded/collection.json --value yes --outbox box
        text: survey new --design design.json --shuffler ftp://shuffle.example.org --out third
        text: survey serve design.json --store store.sqlite
        text: survey open study people.csv --out result
        text: survey next search people.csv --out result
        text: survey status ftp://127.0.0.1
    """,
    "served": f"""
        quiet: stage design histogram --categories yes,no --n 40 --honest 30 --epsilon 2 --delta 1e-2 --out design.json
        quiet: survey new --design design.json --shuffler {LOOP} --out study
        serve: study/collection.json --store study.sqlite --connections 10 --behind-proxy
        survey send study/collection.json --table answers.csv --column answer --outbox box
        text: survey send study/collection.json --value yes --outbox mine
        survey status {LOOP}
        text: survey close {LOOP} --token people.csv
        survey close {LOOP} --token study.sqlite.token
        survey fetch {LOOP} --token study.sqlite.token --out sealed.bin
        survey open study sealed.bin --out result
        text: verify result/page.html
        text: survey send study/collection.json --value no --outbox late
        quiet: stage design top --n 3000 {SEARCH} {LESS} --out words.json
        quiet: survey new --design words.json --shuffler {LOOP} --out search
        serve: search/level-1/collection.json --store level.sqlite --codes search/level-1/hashes.txt
        quiet: survey send search/level-1/collection.json --table level.csv --codes level.txt --outbox level
        quiet: survey close {LOOP} --token level.sqlite.token
        quiet: survey fetch {LOOP} --token level.sqlite.token --out level.bin
        json: survey next search level.bin --out found
        text: survey next search level.bin --out found
        text: survey status {LOOP} --collection study/collection.json
    """,
    "series": f"""
        quiet: stage design histogram --categories yes,no {WEEKS} --out polls.json
        values: series new polls --design polls.json
        values: series add polls weeks.csv --column answer --period 2026-W10
        values: series add polls weeks.csv --column answer --period 2026-W11
        text: series status polls
        values: series status polls
        values: series plot polls
        text: verify polls
        json: verify polls
        quiet: stage design mean --lower 0 --upper 100 {WEEKS} --out ages.json
        text: series new ages --design ages.json {BUDGET}
        text: series add ages weeks.csv --column age --period 2026-W10
        values: series add ages weeks.csv --column age --period 2026-W11
        values: series status ages
        text: series plot ages
        values: series plot ages
        json: verify ages
        text: series add ages weeks.csv --column age --week 7
        text: series add . weeks.csv
        quiet: stage design top --n 20000 --longest 2 {PROMISE} --out words.json
        text: series new words --design words.json
    """,
    "series of quantiles": f"""
        quiet: stage design quantile --lower 0 --upper 100 --bins 10 --at 0.5 {WEEKS} --out spread.json
        values: series new spread --design spread.json
        text: series add spread weeks.csv --column age --period 2026-W10
        values: series add spread weeks.csv --column age --period 2026-W11
        values: series status spread
        values: series plot spread
        json: verify spread
    """,
}

MASKS = (  # in a narrow column a time or a digest stands on several lines
    (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d(\d(:\d\d)?(\.\d+)?(Z|\+00:00| UTC)?)?", "<time>"),
    (r"(?<![\d:])\d:\d\d\+00:00", "<time>"),
    (r"\b(?:[0-9a-f]{14,15}|(?=\d*[a-f])[0-9a-f]{16,}|[0-9a-f]{7,}(?=\.\.\.))\b", "<digest>"),
    (r"\bshuffledp \d+\.\d+\.\d+\b", "shuffledp <version>"),
    (r"\b\d+(?=  or a little more)", "<some>"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
)
DURATION = re.compile(r"\b[0-9]+(\.[0-9]+)?(e-?\d+)? (ms|s|min)\b")
VERSION = re.compile(r"\d+\.\d+(\.\w+)+")


def masked(text: str) -> str:
    """Text without what varies; columns are one space apart where the width of one of them does."""
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    if DURATION.search(text):
        text = re.sub(r"(?<=\S) {2,}|(?m:^ {20,})", " ", DURATION.sub("<duration>", text))
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def shape(value: Any) -> Any:
    """Keys and types of a JSON value: an object as an object, a list as a list of what any of its
    elements may be, anything else as the name of its type.

    >>> shape({"a": 1, "b": [{"c": 0.5}, {"c": None, "d": "x"}]})
    {'a': 'integer', 'b': [{'c': 'null or number', 'd?': 'string'}]}
    """
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return _any_of([shape(each) for each in value])
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return names[type(value)]


def _any_of(shapes: list[Any]) -> list[Any]:
    """The shape of a list, from those of its elements."""
    objects = [each for each in shapes if isinstance(each, dict)]
    lists = [each for each in shapes if isinstance(each, list)]
    words = sorted({word for each in shapes if isinstance(each, str) for word in each.split(" or ")})
    found: list[Any] = [" or ".join(words)] if words else []
    if lists:
        found.append(_any_of([each for inner in lists for each in inner]))
    if objects:
        keys = dict.fromkeys(key.removesuffix("?") for each in objects for key in each)
        merged = {}
        for key in keys:
            held = [each[name] for each in objects for name in (key, f"{key}?") if name in each]
            always = all(key in each for each in objects)
            together = _any_of(held)
            merged[key if always else f"{key}?"] = together[0] if len(together) == 1 else together
        found.append(merged)
    return found


def rounded(value: Any) -> Any:
    """Numbers to nine digits, and text without what varies."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return VERSION.sub("<version>", "\n".join(masked(value).splitlines())) if isinstance(value, str) else value


@contextmanager
def _still(folder: Path, seed: str) -> Iterator[None]:
    """In this folder, on no terminal, with the same random bytes for whatever asks for them."""

    asked = Counter[int]()

    def bytes_of(count: int) -> bytes:
        asked[count] += 1
        return hashlib.shake_256(f"{seed} {asked[count]}".encode()).digest(count)

    before, cwd = dict(os.environ), Path.cwd()
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "NO_COLOR", "TTY_COMPATIBLE"):
        os.environ.pop(name, None)
    os.environ |= {"COLUMNS": "80", "TERM": "dumb", "TZ": "UTC"}
    os.chdir(folder)
    try:
        with mock.patch("os.urandom", bytes_of):
            source._default.cache_clear()  # what this process has begun to draw from already
            yield
    finally:
        source._default.cache_clear()
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(before)


def _tables(folder: Path) -> None:
    """What the commands read."""
    from pyarrow import csv

    csv.write_csv(people(), folder / "people.csv")
    rows = ["north,yes"] * 900 + ["north,no"] * 600 + ["south,yes"] * 100 + ["south,no"] * 1400
    words = ["ab"] * 9000 + ["b"] * 5000 + ["c"] * 2000
    weeks = [f"{'yes' if i % 7 < 4 else 'no'},{18 + i % 60}" for i in range(350)]
    texts = {
        "smokers.csv": "\n".join(["region,smoker", *rows]),
        "words.csv": "\n".join(["word", *words]),
        "letters.txt": "a\nb\nc",
        "weeks.csv": "\n".join(["answer,age", *weeks]),
        "answers.csv": "\n".join(["answer", *(["yes"] * 25 + ["no"] * 15)]),
    }
    for name, text in texts.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")


def _invited(folder: Path) -> None:
    """The words and codes of those whom the first level of a search asks, as soon as there is one."""
    source = folder / "search" / "level-1" / "invitations.csv"
    if source.exists() and not (folder / "level.txt").exists():
        rows = [line.split(",") for line in source.read_text(encoding="utf-8").split()[1:]]
        words = ["ab" if int(person) % 3 else "b" for person, _ in rows]
        (folder / "level.csv").write_text("\n".join(["word", *words]) + "\n", encoding="utf-8")
        (folder / "level.txt").write_text("".join(f"{code}\n" for _, code in rows), encoding="utf-8")


def _forge(folder: Path) -> None:
    """A release whose certified epsilon is too small, as soon as there is one."""
    source = folder / "city" / "estimates.json"
    if source.exists() and not (folder / "forged.json").exists():
        facts = json.loads(source.read_text(encoding="utf-8"))
        facts["certificate"]["epsilon"]["upper"] *= 0.9
        (folder / "forged.json").write_text(json.dumps(facts), encoding="utf-8")


class _Play:
    """One chapter, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder.resolve(), free_port()
        self.shuffler: subprocess.Popen[str] | None = None
        self.text, self.answers = "", dict[str, Any]()
        _tables(folder)

    def line(self, line: str) -> None:
        form, rest = re.fullmatch(r"(?:(text|json|values|quiet|serve): )?(.*)", line).groups()  # type: ignore[union-attr]
        words = shlex.split(rest.replace("PORT", str(self.port)))
        if form == "serve":
            return self.serve(words)
        if form in (None, "text", "quiet"):
            said = self.said(words, seed=rest)
            if form != "quiet":
                self.keep(rest, masked(said.out) + masked(said.error), said.code)
        if form in (None, "json", "values"):
            if form is None and "--out" in words:
                words[words.index("--out") + 1] = f"json-{words[words.index('--out') + 1]}"
            said = self.said([*words, "--json"], seed=rest)
            facts = json.loads(said.out or said.error)
            self.answers[rest] = {"exit": said.code, "answer": shape(facts)}
            if form == "values":
                self.keep(f"{rest} --json", _values(facts), said.code)
        return None

    def said(self, words: list[str], seed: str) -> Said:
        _forge(self.folder)
        _invited(self.folder)
        with _still(self.folder, seed):
            said = run(*words)
        here = str(self.folder)
        return Said(said.code, said.out.replace(here, "<folder>"), said.error.replace(here, "<folder>"))

    def keep(self, words: str, text: str, code: int) -> None:
        self.text += f"$ shuffledp {words}\n{text}[exit {code}]\n\n"

    def serve(self, words: list[str]) -> None:
        """Start a shuffler, and wait until it listens."""
        self.stop()
        line = [
            sys.executable,
            "-m",
            "shuffledp",
            "survey",
            "serve",
            *words,
            "--port",
            str(self.port),
            "--rate",
            "0",
            "--json",
        ]
        with (self.folder / "log.txt").open("a") as log:
            self.shuffler = subprocess.Popen(line, cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.shuffler.stdout is not None
        self.answers[f"survey serve {shlex.join(words)}"] = {
            "answer": shape(json.loads(self.shuffler.stdout.readline()))
        }

    def stop(self) -> None:
        if self.shuffler is not None:
            with self.shuffler:
                self.shuffler.terminate()
            self.shuffler = None


def played(chapter: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The transcript of a chapter, and the shapes and exit codes of its answers as JSON."""
    play = _Play(folder)
    try:
        for line in filter(None, map(str.strip, CHAPTERS[chapter].splitlines())):
            play.line(line)
    finally:
        play.stop()
    return play.text, play.answers


def _values(facts: dict[str, Any]) -> str:
    """A line for each key."""
    return "".join(f"{key}: {json.dumps(rounded(each), ensure_ascii=False)}\n" for key, each in facts.items())


def options() -> dict[str, Any]:
    """The options and arguments of every command, by their first name."""
    import typer
    import typer.main

    from shuffledp.cli.app import app, load

    load(None)

    def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "list_commands"):
            yield " ".join(path), command
            return
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*path, name))

    return {
        path: {each.opts[0]: _option(each) for each in command.params}
        for path, command in sorted(leaves(typer.main.get_command(app), ()))
    }


def _option(given: Any) -> dict[str, Any]:
    """What a person can know of an option."""
    default = given.default
    return {
        "kind": given.param_type_name,
        "flags": [*given.opts, *given.secondary_opts],
        "type": "flag" if getattr(given, "is_flag", False) else getattr(given, "metavar", None) or given.type.name,
        "default": default if isinstance(default, (bool, int, float, str, type(None))) else str(default),
        "required": given.required,
        "hidden": getattr(given, "hidden", False),
        "many": bool(getattr(given, "multiple", False)) or given.nargs != 1,
    }


def _written(facts: Any, depth: int, margin: str = "") -> str:
    """JSON with a line for each of the keys down to a depth."""
    if not depth or not isinstance(facts, dict) or not facts:
        return json.dumps(facts, ensure_ascii=False)
    inner = f"{margin} "
    lines = (f"{inner}{json.dumps(key)}: {_written(each, depth - 1, inner)}" for key, each in facts.items())
    return "{\n" + ",\n".join(lines) + f"\n{margin}}}"


def main() -> None:
    """Write everything again, or only some chapters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", choices=[[], *CHAPTERS])
    parser.add_argument("--write", action="store_true", required=True)
    chosen = parser.parse_args().chapters or list(CHAPTERS)
    answers = json.loads(ANSWERS.read_text(encoding="utf-8")) if ANSWERS.exists() else {}
    TRANSCRIPTS.mkdir(exist_ok=True)
    OPTIONS.write_text(_written(options(), depth=2) + "\n", encoding="utf-8")
    with ProcessPoolExecutor(6) as processes:
        for chapter, (text, facts) in zip(chosen, processes.map(_played_alone, chosen), strict=True):
            (TRANSCRIPTS / f"{chapter}.txt").write_text(text, encoding="utf-8")
            answers[chapter] = facts
            kept = {each: answers[each] for each in CHAPTERS if each in answers}
            ANSWERS.write_text(_written(kept, depth=4) + "\n", encoding="utf-8")


def _played_alone(chapter: str) -> tuple[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        return played(chapter, Path(folder))


if __name__ == "__main__":
    main()
