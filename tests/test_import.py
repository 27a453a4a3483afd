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


def test_import_leaves_the_outermost_dependencies_alone() -> None:
    run = fresh_interpreter(
        "import shuffledp, sys, json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    assert run.returncode == 0, run.stderr
    loaded = set(json.loads(run.stdout))
    assert "shuffledp" in loaded
    assert loaded & NOT_ON_IMPORT == set()
