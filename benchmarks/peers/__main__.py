"""``make peers``: ask everybody, print the table, and write docs/peers.md."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.peers.installed import INSTALLED
from benchmarks.peers.questions import QUESTIONS, Question

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 900.0  # seconds of waiting for one answer
KEPT = ROOT / "build" / "peers-answers.json"  # so that a run that was interrupted goes on; `make clean` removes it

WHO = {
    "shuffledp": "**shuffledp**",
    "pld-accounting": "PLD_accounting 2.0 (Feldman and Shenfeld), installed",
    "dp-accounting-poisson": "dp-accounting 0.6, *Poisson sampling instead*, installed",
    "liew-takahashi": "shuffgauss (Liew and Takahashi 2022), rewritten",
    "apple": "Apple's script (Feldman et al. 2020, Appendix F), rewritten",
    "feldman-closed": "Feldman et al. 2020, Theorem 3.1",
    "su-cheng-wang-clones": "Su, Cheng and Wang 2025 with the stronger clones, rewritten",
    "su-cheng-wang-krr": "Su, Cheng and Wang 2025, rewritten",
    "su-cheng-wang-hash": "Su, Cheng and Wang 2025, rewritten",
    "koskela-clones": "Koskela et al. 2021 with Feldman's clones, rewritten",
    "koskela-krr": "Koskela et al. 2021, the weak adversary, rewritten",
    "variation-ratio": "variation-ratio (Wang et al. 2023), rewritten",
}
OTHER = "dp-accounting-poisson"  # the answer to another question, shown for orientation


def asked_once(python: Path, peer: str, name: str) -> dict[str, Any]:
    """One answer, kept for the next run."""
    kept: dict[str, dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    question = f"{name}, {peer}"
    if question not in kept:
        kept[question] = ask(python, peer, name)
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    return kept[question]


def ask(python: Path, peer: str, name: str) -> dict[str, Any]:
    """One answer, in a fresh process."""
    call = [str(python), "-m", "benchmarks.peers.answer", peer, name]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        found = subprocess.run(call, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer within {PATIENCE:.0f} s"}
    if found.returncode:
        return {"failed": (found.stderr.strip() or "no answer").splitlines()[-1]}
    answer: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return answer


def verdict(peer: str, answer: dict[str, Any], ours: dict[str, Any]) -> str:
    """Whether the answer can be true: the truth lies between our two ends."""
    if peer == "shuffledp":
        return "certified"
    if peer == OTHER:
        return "another sampler"
    low, high = answer["lower"], answer["upper"]
    if high is not None and high < ours["lower"]:
        return "**false**: below our lower end"
    if low is not None and low > ours["upper"]:
        return "**false**: above our upper end"
    return "valid here"


def row(peer: str, answer: dict[str, Any], ours: dict[str, Any]) -> str:
    """A line of the table."""
    if "failed" in answer:
        return f"| {WHO[peer]} | | | | | {answer['failed']} |"
    lower, upper = answer["lower"], answer["upper"]
    excess = "" if peer in ("shuffledp", OTHER) else f"{100.0 * (upper / ours['lower'] - 1.0):+.3g} %"
    if peer == "shuffledp":
        excess = f"{100.0 * (upper / lower - 1.0):+.2g} %" if lower else ""
    low = "" if lower is None else f"{lower:.6g}"
    cost = f"{answer['seconds']:.2g} s, {answer['megabytes']:.0f} MB"
    return f"| {WHO[peer]} | {low} | {upper:.6g} | {excess} | {cost} | {verdict(peer, answer, ours)} |"


def section(asked: Question, answers: dict[str, dict[str, Any]]) -> list[str]:
    """A question and its answers."""
    head = ["", f"## {asked.words}", "", f"`{asked.ours}.epsilon(delta={asked.delta:g})`", ""]
    table = ["| who | lower | upper | above our lower end | CPU, memory | |", "|---|---|---|---|---|---|"]
    return head + table + [row(peer, answer, answers["shuffledp"]) for peer, answer in answers.items()]


def page(sections: list[list[str]]) -> str:
    """docs/peers.md."""
    top = [
        "# Peers on one page",
        "",
        "The same questions, asked of the software of others and of ours, one after the other on one machine with one",
        "thread, each in a fresh process. `make peers` repeats it: it makes an environment of its own in",
        "`build/peers`, installs there what the package index has (`benchmarks/peers/requirements.txt`), and writes",
        "this page. What cannot be installed was written anew from its paper (`benchmarks/peers/rewritten.py`), so its",
        "time and memory are those of our rewriting. CPU seconds count after the imports; memory is the peak of the",
        'process. "False" means that the claimed end contradicts an end that we certify; "valid here" means no more',
        "than that this one answer does not.",
    ]
    return "\n".join(top + [line for each in sections for line in each]) + "\n"


def main() -> int:
    """Ask, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument(
        "python", type=Path, help="the Python of the environment that requirements.txt was installed in"
    )
    parser.add_argument("--only", choices=sorted(QUESTIONS), help="one question")
    chosen = parser.parse_args()
    console, sections = Console(), []
    for name, asked in QUESTIONS.items():
        if chosen.only not in (None, name):
            continue
        answers: dict[str, dict[str, Any]] = {}
        for peer in ("shuffledp", *asked.peers):
            with console.status(f"{name}: {peer}"):
                answers[peer] = asked_once(chosen.python if peer in INSTALLED else Path(sys.executable), peer, name)
        sections.append(section(asked, answers))
        console.print("\n".join(sections[-1]), markup=False)
    if chosen.only is None:
        (ROOT / "docs" / "peers.md").write_text(page(sections), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
