"""Collecting the tests computes nothing: modules name their cases, and tests build them. It took
minutes on a busy machine, in every worker.
"""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
def test_no_test_computes_while_it_is_imported() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.collecting"],
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == []
