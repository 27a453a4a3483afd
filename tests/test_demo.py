"""The demo prints its table, draws its figure, and is quick."""

import re
import subprocess
import sys
from pathlib import Path

from shuffledp.demo import setups


def test_the_demo_runs_anywhere(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-m", "shuffledp.demo"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rows = re.findall(r"^(.+?) +[\d,e]+ +\d+ +[\d.]+ +([\d.]+) +([\d.]+) +\d+ *$", done.stdout, flags=re.MULTILINE)
    assert [words for words, _, _ in rows] == [words for words, _ in setups()]
    assert all(0.0 < float(lower) < float(upper) for _, lower, upper in rows)
    assert "build/demo/curve.png" in done.stdout
    assert (tmp_path / "build" / "demo" / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "Try next:" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 90
