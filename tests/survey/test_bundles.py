"""The bundles that are shipped: small, from this source, and asking nobody else."""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import shuffledp
from tests.survey.shipped import web

SOURCES = Path(__file__).parents[2] / "clients" / "web"
MOST = {"client.js": 19_500, "x25519.js": 9_000}  # bytes after gzip


@pytest.mark.parametrize("name", MOST)
def test_a_bundle_is_small(name: str) -> None:
    size = len(gzip.compress((web() / name).read_bytes(), 9, mtime=0))
    print(f"{name}: {size:,} bytes after gzip")
    assert size <= MOST[name]


def test_no_bundle_names_another_host() -> None:
    bundles = [*web().glob("*.js")]
    assert {each.name for each in bundles} >= MOST.keys()
    for bundle in bundles:
        found = re.findall(r"(?:https?:|wss?:|)//[\w.-]+\.[a-z]{2,}", bundle.read_text(encoding="utf-8"))
        assert not [each for each in found if "www.w3.org" not in each], bundle  # the name of SVG is no address


def test_the_licenses_of_what_is_bundled_are_beside_it() -> None:
    licenses = (web() / "LICENSES.txt").read_text(encoding="utf-8")
    for name in ("@hpke/common", "@hpke/core", "@hpke/dhkem-x25519", "noble-curves"):
        assert name in licenses
    assert licenses.count("Permission is hereby granted") == 3


def test_the_source_gives_the_bytes_that_are_shipped(tmp_path: Path) -> None:
    if shutil.which("node") is None or not (SOURCES / "node_modules" / "esbuild").is_dir():
        pytest.skip("the bundles are built again where npm has installed: cd clients/web && npm ci")
    home = tmp_path / "clients" / "web"
    shutil.copytree(SOURCES, home, ignore=shutil.ignore_patterns("node_modules"))
    (home / "node_modules").symlink_to(SOURCES / "node_modules")
    subprocess.run(["node", "build.mjs"], cwd=home, check=True, timeout=120)
    package = Path(shuffledp.__path__[0])
    built = sorted((tmp_path / "src" / "shuffledp").rglob("*.*"))
    assert {each.name for each in built} >= {*MOST, "LICENSES.txt"}
    for file in built:
        shipped = package / file.relative_to(tmp_path / "src" / "shuffledp")
        assert digest(file) == digest(shipped), f"{shipped.name} is not what npm run build makes of clients/web"


def test_the_page_says_how_often_a_report_is_true_and_of_other_laws_at_most() -> None:
    """By the sentence itself, for laws of two answers, a blank among them."""
    if shutil.which("node") is None or not (SOURCES / "node_modules" / "esbuild").is_dir():
        pytest.skip("sentences are said where npm has installed: cd clients/web && npm ci")
    program = """
        import { build } from "esbuild";
        const entryPoints = ["src/participant/wording.ts"];
        const made = await build({ entryPoints, bundle: true, write: false, format: "esm" });
        const page = await import("data:text/javascript," + encodeURIComponent(made.outputFiles[0].text));
        for (const law of [["krr", 0], ["krr", 0.5], ["oue", 0]]) {
            const [family, blank] = law;
            console.log(page.shownAlone({ law: { family, blank, k: 2, epsilon0: 5.1212 }, bounds: null, edges: null }));
        }"""
    asked = ["node", "--input-type=module", "-e", program]
    said = subprocess.run(asked, cwd=SOURCES, check=True, timeout=120, capture_output=True, text=True).stdout
    at_most = "the best guess from it is right with probability at most 99.5 %"
    assert said.splitlines() == ["it is your true answer with probability 99.4 %", at_most, at_most]


def digest(file: Path) -> str:
    """What tells two files apart."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


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
