"""The demo tells the whole story, by commands that anybody can repeat."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a demo that ran, and what it printed."""
    folder = tmp_path_factory.mktemp("a place with blanks")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "shuffledp.cli.demo"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "build" / "demo", done.stdout


def test_every_chapter_is_told(demo: tuple[Path, str]) -> None:
    _, printed = demo
    commands = re.findall(r"^\$ shuffledp ((?:(?:stage|survey|audit|ledger) )?\w+)", printed, flags=re.MULTILINE)
    alone = [
        "example",
        "plan",
        "histogram",
        "histogram",
        "mean",
        "crosstab",
        "ledger show",
        "verify",
        "audit privacy",
        "compare",
    ]
    words = "new serve send send serve status close fetch open"
    parties = ["stage design", *(f"survey {each}" for each in words.split())]
    assert commands == [*alone, *parties, "verify"]
    assert "What to try next:" in printed


def test_the_estimates_are_near_the_truth(demo: tuple[Path, str]) -> None:
    folder, printed = demo
    facts = json.loads((folder / "affairs" / "estimates.json").read_text())
    estimate, stderr = (
        dict(zip(facts["tables"][0]["label"], facts["tables"][0][name], strict=True)) for name in ("value", "stderr")
    )
    assert abs(estimate["yes"] - 2053) < 6 * stderr["yes"]
    assert facts["certificate"]["epsilon"]["upper"] <= 1.0
    assert printed.count("Against the truth") == 4


def test_the_three_parties_lose_nobody_though_the_shuffler_is_killed(demo: tuple[Path, str]) -> None:
    folder, printed = demo
    facts = json.loads((folder / "network" / "result" / "estimates.json").read_text())
    assert facts["counted"]["collected"]["arrived"] == 6366
    assert facts["counted"]["collected"]["invalid"] == 0
    assert "kill -9" in printed
    estimates = facts["tables"][0]
    for label, truth in (("yes", 2053), ("no", 4313)):
        at = estimates["label"].index(label)
        assert abs(estimates["value"][at] - truth) < 6 * estimates["stderr"][at]


def test_the_answers_are_all_there(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    for name in ("affairs", "cities", "ages", "network/result"):
        assert {each.name for each in (folder / name).iterdir()} == {
            "page.html",
            "estimates.csv",
            "estimates.json",
            "estimates.svg",
            "design.json",
        }
        assert (folder / name / "estimates.svg").read_text(encoding="utf-8").endswith("</svg>\n")
    assert (folder / "bounds.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "budget.sqlite").is_file()
