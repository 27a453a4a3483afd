"""The layout of the package: as README draws it, as the linter enforces it, and as the folders are."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import shuffledp
from tests.conftest import FLEET

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(shuffledp.__file__).parent
QUIET = {"__init__", "__main__", "_types", "_lazy"}


def contracts() -> dict[str, dict[str, object]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {each["name"]: each for each in table}


def layers(name: str) -> list[str]:
    listed = next(each["layers"] for title, each in contracts().items() if title.startswith(name))
    return [module.strip() for layer in listed for module in re.split("[:|]", str(layer))]  # type: ignore[attr-defined]


def drawn() -> list[str]:
    """The names in README's drawing."""
    drawing = (ROOT / "README.md").read_text().split("```text\nsrc/shuffledp/\n")[1].split("```")[0]
    return re.findall(r"^  (\w+)(?:/|\.py) ", drawing, re.M)


def test_the_drawing_is_what_the_linter_enforces() -> None:
    enforced = [layer for layer in reversed(layers("A package imports only")) if layer not in QUIET]
    assert drawn() == enforced


def test_every_module_at_the_top_has_rules() -> None:
    """One that is not drawn would have none."""
    tree = {path.stem for path in SOURCE.iterdir() if (path / "__init__.py").is_file() or path.suffix == ".py"}
    assert tree - QUIET - {"__pycache__", "py"} == set(drawn())


def test_no_module_hides_behind_a_function_of_its_name() -> None:
    for folder in sorted({path.parent for path in SOURCE.rglob("*.py")}):
        package = ".".join(("shuffledp", *folder.relative_to(SOURCE).parts))
        loaded = import_module(package)
        for name in [path.stem for path in folder.glob("*.py") if path.stem not in QUIET]:
            import_module(f"{package}.{name}")
            assert isinstance(getattr(loaded, name), ModuleType), f"{package}.{name}"


def test_every_package_lists_its_modules() -> None:
    """The first lines of a package are its map: every module once, and no other."""
    for init in sorted(SOURCE.rglob("__init__.py")):
        modules = {path.stem for path in init.parent.glob("*.py")} - QUIET
        modules |= {path.parent.name for path in init.parent.glob("*/__init__.py")}
        if not modules:
            continue
        package = ".".join(("shuffledp", *init.parent.relative_to(SOURCE).parts))
        listed = re.findall(r"^([a-z_0-9]+) {2,}\S", import_module(package).__doc__ or "", re.M)
        assert sorted(listed) == sorted(modules), package


def test_what_starts_more_than_a_process_is_the_fleets(request: pytest.FixtureRequest) -> None:
    """But for one sample of each kind. It sees what was collected with it."""
    samples = Counter[str]()
    for item in request.session.items:
        started = [name for name in FLEET if name in getattr(item, "fixturenames", ())]
        if started and item.get_closest_marker("fleet") is None:
            assert item.get_closest_marker("sample"), item.nodeid
            samples[started[0]] += 1
    assert all(count == 1 for count in samples.values()), samples
    recipes = (
        ("test", '-m "not fleet and not long"'),
        ("fleet", '-m "long and not fleet" tests'),
        ("fleet", "-m fleet tests"),
    )
    for target, chosen in recipes:
        recipe = (ROOT / "Makefile").read_text().split(f"\n{target}: .venv/.installed")[1].split("\n\n")[0]
        assert chosen in recipe
