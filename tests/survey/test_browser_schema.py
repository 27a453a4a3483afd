"""The types that the browser reads a design by follow from the published schema."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = Path("clients/web/src/core/schema.ts")


def test_the_browsers_types_are_those_of_the_published_schema(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("the types are written again where npm is installed")
    web = tmp_path / "clients" / "web"
    (web / "src" / "core").mkdir(parents=True)
    for name in ("package.json", "schema.mjs"):
        shutil.copy(ROOT / "clients" / "web" / name, web)
    shutil.copytree(ROOT / "docs" / "schemas", tmp_path / "docs" / "schemas")
    subprocess.run(["npm", "--prefix", str(web), "run", "schema"], check=True, timeout=120)
    assert (tmp_path / MADE).read_text() == (ROOT / MADE).read_text(), "run: npm --prefix clients/web run schema"
