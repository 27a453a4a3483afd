"""`import shuffledp` is cheap: what only the command line, the figures or the comparisons need is
loaded by those.
"""

import json
import subprocess
import sys

NOT_ON_IMPORT = {"click", "dp_accounting", "flint", "hypothesis", "matplotlib", "pandas", "pyarrow", "rich", "typer"}


def fresh_interpreter(program: str) -> subprocess.CompletedProcess[str]:
    """Run `program` where nothing has been imported yet and any warning is an error."""
    return subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", program], capture_output=True, text=True, timeout=120, check=False
    )


def test_import_is_silent() -> None:
    run = fresh_interpreter("import shuffledp")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_what_is_slow_to_import_is_left_to_the_laws_that_need_it() -> None:
    """Every command, every worker of an engine and every process that a test starts would wait for it:
    it is nearly half of what they load.
    """
    run = fresh_interpreter(
        """
import sys
import shuffledp as sdp
from shuffledp.randomizers import SignedUnits
def loaded():
    return [name for name in ("optimize", "signal", "stats") if f"scipy.{name}" in sys.modules]
sdp.shuffle(sdp.KRR(k=3, epsilon0=1.0), n=100).epsilon(delta=1e-6)
print(loaded())
from shuffledp.cli.app import load
load(None)
import shuffledp.papers.experiments
print(loaded())
sdp.shuffle(SignedUnits(honest=10, decay=0.5, pairs=50, messages=24), n=10).epsilon(delta=1e-3)
print(loaded())
"""
    )
    assert run.returncode == 0, run.stderr
    one_round, every_command, control = run.stdout.splitlines()
    assert (one_round, every_command) == ("[]", "[]")
    assert "signal" in control


def test_import_leaves_the_outermost_dependencies_alone() -> None:
    run = fresh_interpreter(
        "import shuffledp, sys, json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    assert run.returncode == 0, run.stderr
    loaded = set(json.loads(run.stdout))
    assert "shuffledp" in loaded
    assert loaded & NOT_ON_IMPORT == set()


def test_reports_of_every_family_are_drawn_and_counted_without_scipy() -> None:
    run = fresh_interpreter(
        """
import sys
from shuffledp.randomizers import BLH, KRR, OLH, OUE, RAPPOR, FromMatrix, Gaussian, Hadamard, Laplace, SubsetSelection
from shuffledp.randomizers.law_file import from_law, law_of
for family in (KRR, Hadamard, OLH, BLH, SubsetSelection, OUE, RAPPOR):
    again = from_law(law_of(family(k=10, epsilon0=2.0)))
    again.debias(again.randomize([0, 9]))
for other in (Laplace(epsilon0=1.0), Gaussian(sigma=1.0), FromMatrix([[0.6, 0.4], [0.4, 0.6]])):
    other.randomize([0, 1])
print(sorted({name.partition(".")[0] for name in sys.modules} & {"scipy", "matplotlib", "pyarrow", "pandas"}))
"""
    )
    assert (run.returncode, run.stdout) == (0, "[]\n"), run.stderr
