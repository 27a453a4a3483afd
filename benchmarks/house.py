"""The house as a table: of every wing its files, its lines, and who imports whom.

``python -m benchmarks.house [SRC] [--load MODULE ...]``: ``SRC`` holds the package, ``src`` unless
told, and is read without being run. An import counts wherever it stands, inside a function and for
types alone too; the lazy names of ``__init__`` are strings, and do not. Of each ``MODULE``, such as
``report.page``, it is counted how many modules of ours a fresh process loads with it.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "shuffledp"
WITH_ROOMS = "collection"
LOADED = """
import importlib, sys
importlib.import_module(sys.argv[1])
print(sum(name.partition(".")[0] == sys.argv[2] for name in sys.modules))
"""
HEADINGS = ("wing", "files", "lines", "fan-in", "from wings", "fan-out", "to wings")


@dataclass(frozen=True, slots=True)
class Module:
    """One file, by its dotted name within the package, and the modules of the package that it imports."""

    name: str
    lines: int
    imports: frozenset[str]

    def within(self, wing: str) -> bool:
        """Whether it belongs to a wing or a room."""
        return _within(self.name, wing)


def modules_in(source: Path) -> list[Module]:
    """Every module of the package in ``source``."""
    root = source / PACKAGE
    paths = {_name(path.relative_to(root)): path for path in sorted(root.rglob("*.py"))}
    return [_module(name, path, set(paths)) for name, path in paths.items()]


def wings_of(modules: list[Module]) -> list[str]:
    """The top-level entries, and after the wing that has rooms its rooms."""
    names = [module.name for module in modules]
    rooms = {".".join(name.split(".")[:2]) for name in names if name.startswith(f"{WITH_ROOMS}.")}
    return sorted(_wings(set(names)) | rooms)


def row_of(wing: str, modules: list[Module]) -> tuple[str, ...]:
    """Of one wing or room: its size; how many modules, of how many wings, import it; and are imported by it."""
    own = [module for module in modules if module.within(wing)]
    others = [module for module in modules if not module.within(wing)]
    users = {module.name for module in others if any(_within(name, wing) for name in module.imports)}
    used = {name for module in own for name in module.imports if not _within(name, wing)}
    lines = sum(module.lines for module in own)
    numbers = (len(own), lines, len(users), len(_wings(users)), len(used), len(_wings(used)))
    return "  " * wing.count(".") + wing, *(f"{number:,}" for number in numbers)


def loaded_with(module: str, source: Path) -> str:
    """How many modules of ours a fresh process holds after importing one; or why it cannot."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    words = [sys.executable, "-c", LOADED, f"{PACKAGE}.{module}", PACKAGE]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


def _module(name: str, path: Path, known: set[str]) -> Module:
    text = path.read_text(encoding="utf-8")
    package = name.removesuffix("__init__").rstrip(".") if path.name == "__init__.py" else name.rpartition(".")[0]
    found = {each for node in ast.walk(ast.parse(text)) for each in _imported(node, package, known)}
    return Module(name, text.count("\n"), frozenset(found - {name}))


def _imported(node: ast.AST, package: str, known: set[str]) -> Iterator[str]:
    """The modules of the package that one statement names."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.partition(".")[0] == PACKAGE:
                yield _found(alias.name.partition(".")[2], known)
    if not isinstance(node, ast.ImportFrom):
        return
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*above, *([node.module] if node.module else [])]).strip(".")
    elif (node.module or "").partition(".")[0] == PACKAGE:
        base = (node.module or "").partition(".")[2]
    else:
        return
    for alias in node.names:
        longer = f"{base}.{alias.name}".lstrip(".")
        yield _found(longer if {longer, f"{longer}.__init__"} & known else base, known)


def _found(dotted: str, known: set[str]) -> str:
    """The file that a dotted name stands for: a module, or the front of a package."""
    return dotted if dotted in known else f"{dotted}.__init__".lstrip(".")


def _within(name: str, wing: str) -> bool:
    return name == wing or name.startswith(f"{wing}.")


def _wings(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def main() -> int:
    """Print the table, its sums, and what importing some modules loads."""
    parser = argparse.ArgumentParser(description="The wings of the package, and who imports whom.")
    parser.add_argument("source", nargs="?", default="src", type=Path, metavar="SRC")
    parser.add_argument("--load", nargs="+", default=[], metavar="MODULE")
    given = parser.parse_args()
    modules = modules_in(given.source)
    if not modules:
        parser.error(f"SRC must hold the package {PACKAGE}, got {str(given.source)!r}. Name the folder above it.")
    rows = [HEADINGS, *(row_of(wing, modules) for wing in wings_of(modules))]
    for row in rows:
        print(f"{row[0]:28}" + "".join(f"{cell:>12}" for cell in row[1:]))
    edges = {(module.name, name) for module in modules for name in module.imports}
    crossing = {(one, other) for one, other in edges if one.partition(".")[0] != other.partition(".")[0]}
    joined = {(one.partition(".")[0], other.partition(".")[0]) for one, other in crossing}
    wings = _wings({module.name for module in modules})
    print(f"\n{len(wings)} wings, {len(modules)} files, {sum(module.lines for module in modules):,} lines")
    print(f"{len(edges)} imports between modules, {len(crossing)} of them between wings; {len(joined)} pairs of wings")
    for name in given.load:
        print(f"modules of ours loaded by importing {name}: {loaded_with(name, given.source)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
