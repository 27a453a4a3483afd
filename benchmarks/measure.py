"""Measure the architecture of a checkout: sizes, types, switches, options, and two walks through it.

``python -m benchmarks.measure [ROOT] [--python PYTHON] [--json] [--where]``

Sizes, types and switches are read from the source in ROOT, which is not run. PYTHON is one that has
that checkout installed, such as ``ROOT/.venv/bin/python``; with it options, start-up and the two walks
are measured too. The package is found by ``[project.scripts]`` in ``pyproject.toml``, so files may
move. ``--where`` lists every type and every switch with its place.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["Checkout", "Place", "Source", "main", "models", "options", "sizes", "starts", "switches", "walk"]

# What the architecture is about. Folders of questions/ are added to these, and classes of randomizers/ to isinstance.
QUESTIONS = frozenset({"histogram", "crosstab", "quantile", "quantiles", "mean", "sum", "count", "top", "variance"})
FAMILIES = frozenset(
    {"krr", "rr", "hadamard", "oue", "rappor", "olh", "blh", "local-hash", "hash", "subset", "unary", "laplace"}
    | {"gaussian", "any", "matrix", "check-in", "fakes", "dummies", "signed", "split", "levels", "tree"}
)
STAGES = r"Asking|Asked|Question|Task|Protocol|Design|Designed|Released|Told|Shown|Hiding|Encoder|Reading"
KINDS = r"Histogram|Crosstab|Quantiles?|Mean|Sum|Count"
QUESTION_TYPE = re.compile(rf"^_?(\w*({STAGES})|({STAGES})[A-Z]\w*|\w*({KINDS})(Task|Question|Release|Protocol)?)$")
OWNERS = {"questions", "randomizers", "judge", "accounting", "literature"}  # they may switch on a question or a family
TEMPLATES = {".html", ".j2", ".css", ".sql", ".toml", ".txt", ".md"}  # what moves out of strings is still to be read
LONG = 120
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)  # what has a docstring
COLUMNS = ("files", "lines", "code", "over120", "public", "templates")
CHILD = """
import json, sys
sys.path.append(sys.argv[1])
from benchmarks import measure
print(json.dumps(getattr(measure, sys.argv[2])(*sys.argv[3:])))
"""


@dataclass(frozen=True)
class Source:
    """One file of the package, parsed once."""

    path: Path
    part: str
    text: str
    tree: ast.Module
    nodes: list[ast.AST]

    @classmethod
    def read(cls, path: Path, home: Path) -> Source:
        """The file, and the part of the package in ``home`` that it belongs to."""
        name, text = path.relative_to(home), path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        return cls(name, part_of(name), text, tree, list(ast.walk(tree)))

    def code(self) -> list[str]:
        """The lines that hold code: no blank line, comment or docstring."""
        written = self.text.splitlines()
        lines = {number for number, line in enumerate(written, 1) if line.strip() and line.lstrip()[0] != "#"}
        docstrings: set[int] = set()
        for node in self.nodes:
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno:
                lines.update(_span(node))
            elif isinstance(node, SCOPES) and node.body and _is_docstring(node.body[0]):
                docstrings.update(_span(node.body[0]))
        return [written[number - 1] for number in sorted(lines - docstrings)]

    def public(self) -> int:
        """How many of its functions and classes have a public name."""
        defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return sum(isinstance(node, defined) and node.name[0] != "_" for node in self.tree.body)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Something that was found: a type, or a switch with the names that it asks for."""

    kind: str
    where: str
    part: str
    names: str


@dataclass(frozen=True)
class Checkout:
    """A folder with a ``pyproject.toml`` and the source of a package."""

    root: Path

    @cached_property
    def entry(self) -> str:
        """The function of the package's first command, such as ``shuffledp.cli:main``."""
        project = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return str(next(iter(project["scripts"].values())))

    @cached_property
    def home(self) -> Path:
        """The folder of the package."""
        name = re.split("[.:]", self.entry)[0]
        return next(path for path in (self.root / "src" / name, self.root / name) if path.is_dir())

    @cached_property
    def sources(self) -> list[Source]:
        """Every file of the package."""
        gc.disable()  # to look for garbage among a million nodes takes longer than to parse them
        try:
            return [Source.read(path, self.home) for path in sorted(self.home.rglob("*.py"))]
        finally:
            gc.enable()

    def lines_of(self, pattern: str) -> dict[str, int]:
        """How many other files there are, and their lines."""
        paths = [path for path in self.root.glob(pattern) if "node_modules" not in path.parts]
        return {"files": len(paths), "lines": sum(len(path.read_text().splitlines()) for path in paths)}


def part_of(path: Path) -> str:
    """The package at the top to which a file of ours belongs."""
    return "(root)" if len(path.parts) == 1 else path.parts[0]


def sizes(checkout: Checkout) -> dict[str, Counter[str]]:
    """Of every part its files, lines, lines of code, long lines, public names, and lines of templates."""
    found: dict[str, Counter[str]] = {}
    for source in checkout.sources:
        code = source.code()
        over = sum(len(line) > LONG for line in code)
        lines = len(source.text.splitlines())
        row = found.setdefault(source.part, Counter())
        row.update(files=1, lines=lines, code=len(code), over120=over, public=source.public())
    for path in checkout.home.rglob("*.*"):
        if path.suffix in TEMPLATES:
            part = part_of(path.relative_to(checkout.home))
            lines = len(path.read_text(encoding="utf-8", errors="replace").splitlines())
            found.setdefault(part, Counter()).update(templates=lines)
    return dict(sorted(found.items()))


def models(checkout: Checkout) -> list[Place]:
    """Classes that model a question at one of its stages."""
    return [
        Place("type", str(source.path), source.part, node.name)
        for source in checkout.sources
        for node in source.nodes
        if isinstance(node, ast.ClassDef) and QUESTION_TYPE.match(node.name)
    ]


def switches(checkout: Checkout) -> list[Place]:
    """Where code outside the owners asks which question or family this is."""
    known = QUESTIONS | FAMILIES
    known |= {path.name for path in checkout.home.glob("questions/*/") if not path.name.startswith("_")}
    families = {
        node.name
        for source in checkout.sources
        if source.part == "randomizers"
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    }
    found = []
    for source in checkout.sources:
        if source.part in OWNERS:
            continue
        for node in source.nodes:
            kind, names = _switch(node, known, families)
            if names:
                place = f"{source.path}:{getattr(node, 'lineno', 0)}"
                found.append(Place(kind, place, source.part, ",".join(dict.fromkeys(names))))
    return found


def _switch(node: ast.AST, known: frozenset[str], families: set[str]) -> tuple[str, list[str]]:
    """What kind of switch a node is, and the names that it asks for; none if it is no switch."""
    if isinstance(node, ast.Compare):
        by_name = any(isinstance(each, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for each in node.ops)
        return "comparison", _known((node.left, *node.comparators), known) if by_name else []
    if isinstance(node, ast.MatchValue):
        return "comparison", _known([node.value], known)
    if isinstance(node, ast.Dict):
        names = _known([key for key in node.keys if key is not None], known)
        return "registry", names if len(names) > 1 else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
        asked = [each for each in ast.walk(node.args[1]) if isinstance(each, (ast.Name, ast.Attribute))]
        names = [each.attr if isinstance(each, ast.Attribute) else each.id for each in asked]
        return "isinstance", [name for name in names if name in families or QUESTION_TYPE.match(name)]
    return "", []


def _known(nodes: Iterable[ast.expr], known: frozenset[str]) -> list[str]:
    """The known names among literals, and among those in a tuple, list or set."""
    each = [
        one for node in nodes for one in (node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node])
    ]
    return [name for one in each if (name := _literal(one)) in known and name is not None]


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and _literal(node.value) is not None


def _span(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def options(python: str, entry: str) -> dict[str, Any]:
    """How many options the commands have, by a fresh process of ``python``."""
    commands: dict[str, tuple[int, list[str]]] = _in(python, "_options", entry)
    return {
        "commands": len(commands),
        "all": sum(count for count, _ in commands.values()),
        "distinct": len({name for _, names in commands.values() for name in names}),
        "most visible in one help": max((len(names), command) for command, (_, names) in commands.items()),
    }


def walk(python: str, entry: str, what: str) -> dict[str, Any]:
    """What "epsilon" or "histogram" runs, and how often a call goes from one package to another, by a fresh process."""
    found: dict[str, Any] = _in(python, "_walk", entry, what)
    return found


def starts(python: str, entry: str) -> dict[str, float]:
    """CPU seconds until a fresh process is ready."""
    module, _, name = entry.partition(":")
    main = f"import sys; from {module} import {name} as main; sys.exit(main())"
    helps = {
        f"{words} --help".strip(): _cpu(python, main, *words.split(), "--help")
        for words in ("", "epsilon", "histogram")
    }
    package = module.partition(".")[0]
    return {"python": _cpu(python, "pass"), "import of the package": _cpu(python, f"import {package}"), **helps}


def _cpu(python: str, code: str, *words: str) -> float:
    before = os.times()
    subprocess.run([python, "-c", code, *words], capture_output=True, check=False)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return round(spent, 2)


def _in(python: str, function: str, *words: str) -> Any:
    """What a function of this file returns in a fresh process of another Python, in a folder of its own."""
    above = str(Path(__file__).resolve().parents[1])
    with tempfile.TemporaryDirectory() as folder:
        line = [os.path.abspath(shutil.which(python) or python), "-c", CHILD, above, function, *words]
        done = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise RuntimeError(f"{python} cannot measure {function[1:]} of {words[0]}: {done.stderr[-400:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _options(entry: str) -> dict[str, tuple[int, list[str]]]:
    """Of every command how many options it has, and the visible ones."""
    import typer
    import typer.main

    module = importlib.import_module(entry.partition(":")[0])
    above = module if hasattr(module, "__path__") else importlib.import_module(module.__package__ or "")
    for each in pkgutil.iter_modules(above.__path__, f"{above.__name__}."):
        if not each.name.endswith("__main__"):
            importlib.import_module(each.name)

    def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "list_commands"):
            yield " ".join(path), command
            return
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*path, name))

    apps = [each for each in gc.get_objects() if isinstance(each, typer.Typer) and each.registered_commands]
    commands = max((dict(leaves(typer.main.get_command(app), ())) for app in apps), key=len)
    found = {}
    for path, command in commands.items():
        given = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
        found[path] = len(given), [each.opts[0] for each in given if not each.hidden]
    return found


class _Seen:
    """For ``sys.setprofile``: functions of ours, and calls from one part to another, but for those of an import."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.parts: dict[str, str] = {}
        self.functions: set[tuple[str, int]] = set()
        self.crossings: Counter[tuple[str, str]] = Counter()
        self.calls = self.importing = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "_find_and_load" and code.co_filename.startswith("<frozen"):
            self.importing += {"call": 1, "return": -1}.get(event, 0)
        if event != "call" or self.importing or not code.co_filename.startswith(self.home):
            return
        self.calls += 1
        self.functions.add((code.co_filename, code.co_firstlineno))
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(self.home):
            caller = caller.f_back
        if caller is None:
            return
        one, other = self._part(caller.f_code.co_filename), self._part(code.co_filename)
        if one != other:
            self.crossings[one, other] += 1

    def _part(self, file: str) -> str:
        if file not in self.parts:
            path = Path(file[len(self.home) :])
            self.parts[file] = path.stem if len(path.parts) == 1 else part_of(path)
        return self.parts[file]


def _walk(entry: str, what: str) -> dict[str, Any]:
    """One question, asked in this process."""
    module, _, name = entry.partition(":")
    package: Any = importlib.import_module(module.partition(".")[0])
    seen = _Seen(os.path.dirname(os.path.abspath(package.__file__)) + os.sep)
    if what == "epsilon":

        def run() -> None:
            package.shuffle(package.KRR(k=16, epsilon0=4.0), n=10_000).epsilon(delta=1e-6)

    else:
        rows = "".join("abcd"[i * i % 4] + "\n" for i in range(100))
        Path("people.csv").write_text(f"city\n{rows}", encoding="utf-8")
        main = getattr(importlib.import_module(module), name)
        words = f"{what} people.csv --column city --categories a,b,c,d --epsilon 1 --delta 1e-6 --out result"

        def run() -> None:
            if main(words.split()):
                raise RuntimeError(f"{words} failed")

    sys.setprofile(seen)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            run()
    finally:
        sys.setprofile(None)
    laws = {"accounting", "randomizers"}  # calibration asks for a law over and over
    between = sum(count for pair, count in seen.crossings.items() if set(pair) == laws)
    return {
        "modules loaded": sum(each.partition(".")[0] == package.__name__ for each in sys.modules),
        "files run": len({file for file, _ in seen.functions}),
        "functions": len(seen.functions),
        "calls": seen.calls,
        "crossings": seen.crossings.total(),
        "without accounting<->randomizers": seen.crossings.total() - between,
        "kinds of crossings": len(seen.crossings),
        "most": [f"{one}->{other} {count}" for (one, other), count in seen.crossings.most_common(6)],
    }


def main() -> int:
    """Print the table of sizes, and below it everything else."""
    parser = argparse.ArgumentParser(description="Measure the architecture of a checkout.")
    parser.add_argument("root", nargs="?", default=".", type=Path, metavar="ROOT")
    parser.add_argument("--python", metavar="PYTHON", help="one that has the checkout installed")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--where", action="store_true", help="list every type and every switch")
    given = parser.parse_args()
    checkout = Checkout(given.root)
    packages = sizes(checkout)
    total = sum(packages.values(), Counter[str]())
    types, places = models(checkout), switches(checkout)
    outside = sum(not each.part.startswith("questions") for each in types)
    result: dict[str, Any] = {
        "types that model a question": {"outside questions/": outside, "all": len(types)},
        "switches on a question or family": dict(Counter(each.kind for each in places)),
        "tests": checkout.lines_of("tests/**/*.py"),
        "benchmarks": checkout.lines_of("benchmarks/**/*.py"),
        "browser": checkout.lines_of("clients/**/src/**/*.ts"),
    }
    if given.python:
        result["CPU seconds of a fresh process"] = starts(given.python, checkout.entry)
        for what in ("epsilon", "histogram"):
            result[f"walk of {what}"] = walk(given.python, checkout.entry, what)
        result["options"] = options(given.python, checkout.entry)
    if given.json:
        print(json.dumps({"packages": packages, "total": total, **result}, indent=1))
        return 0
    print(f"{'package':28}" + "".join(f"{name:>10}" for name in COLUMNS))
    for name, row in {**packages, "TOTAL": total}.items():
        print(f"{name:28}" + "".join(f"{row[column]:10,}" for column in COLUMNS))
    for name, facts in result.items():
        print(f"{name}: {', '.join(f'{key} {value}' for key, value in facts.items())}")
    if given.where:
        for each in (*types, *sorted(places)):
            print(each.kind, each.where, each.names)
    return 0


if __name__ == "__main__":
    sys.exit(main())
