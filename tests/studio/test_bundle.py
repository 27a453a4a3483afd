"""The script that is shipped is the one that its source gives."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WEB, BUILT = ROOT / "clients" / "web", ROOT / "src" / "shuffledp" / "studio" / "web" / "studio.js"


@pytest.mark.skipif(
    not (WEB / "node_modules").is_dir() or shutil.which("node") is None,
    reason="clients/web/node_modules or node is missing; `cd clients/web && npm ci` installs what builds the page",
)
def test_the_bundle_is_what_its_source_gives(tmp_path: Path) -> None:
    web = tmp_path / "clients" / "web"
    web.mkdir(parents=True)
    for name in ("build.mjs", "package.json", "tsconfig.json"):
        shutil.copy(WEB / name, web)
    shutil.copytree(WEB / "src" / "studio", web / "src" / "studio")
    (web / "node_modules").symlink_to(WEB / "node_modules")
    subprocess.run(["node", "build.mjs"], cwd=web, check=True, timeout=120)
    assert (tmp_path / "src" / "shuffledp" / "studio" / "web" / "studio.js").read_bytes() == BUILT.read_bytes()


def test_the_page_names_no_other_host() -> None:
    for path in sorted(BUILT.parent.iterdir()):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")  # a name, not an address
        assert "http://" not in text
        assert "https://" not in text
