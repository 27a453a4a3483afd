"""How the command line begins and how it refuses: what it loads, what its help says first, what
Ctrl-C does, and errors as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import shuffledp as sdp
from shuffledp.cli import main
from shuffledp.cli.app import app, load
from shuffledp.cli.tree import OVERVIEW, SHOWN, SUMMARIES
from tests.pins.surfaces import OPTIONS, options

HEAVY = ("numpy", "scipy", "pyarrow", "matplotlib", "cryptography", "sqlite3")
INTERRUPTED = """
import signal, sys
from shuffledp import cli
imports = 0
def hook(event, arguments):
    global imports
    imports += event == "import"
    if event == "import" and imports == {moment}:
        signal.raise_signal(signal.SIGINT)
sys.addaudithook(hook)
if not {guarded}:
    cli._on_interrupt = lambda handler: None
sys.argv = "shuffledp delta --randomizer krr --k 4 --epsilon0 1 --n 100 --epsilon 0.5".split()
sys.exit(cli.main())
"""


def fresh(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    "call",
    [
        "import shuffledp.cli, shuffledp.cli.options",
        "from shuffledp.cli import main; main(['--help'])",
        "from shuffledp.cli import main; main(['--version'])",
    ],
)
def test_what_computes_nothing_loads_nothing(call: str) -> None:
    run = fresh(f"import sys; {call}; print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)")
    assert (run.returncode, run.stderr) == (0, "[]\n")


def test_no_help_of_a_command_loads_what_computes() -> None:
    """The helps of a command and of those below it, in a process of their own that has loaded nothing
    before. Each has an example, and at most fifteen options.
    """
    run = fresh(
        f"""
import contextlib, io, os, sys
import typer.main
from shuffledp.cli import main
from shuffledp.cli.app import app, load
from shuffledp.cli.tree import SUMMARIES

def leaves(command, path):
    if not hasattr(command, "list_commands"):
        return [path]
    names = command.list_commands(typer.Context(command))
    return [leaf for name in names for leaf in leaves(command.get_command(None, name), [*path, name])]

for name in SUMMARIES:
    child = os.fork()
    if child == 0:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            load(name)
            words = [path for path in leaves(typer.main.get_command(app), []) if path[0] == name]
            paths = {{(name,), *map(tuple, words)}}
            codes = [main([*path, wanted]) for path in paths for wanted in ("--help", "--help-all")]
        examples = said.getvalue().count("Example") == 2 * len(words)
        heavy = [name for name in {HEAVY!r} if name in sys.modules]
        print(name, len(words), examples, *set(codes), *heavy, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
    )
    said = {line.split()[0]: line.split()[1:] for line in run.stdout.splitlines()}
    assert said.keys() == SUMMARIES.keys(), run.stderr
    assert sum(int(count) for count, *_ in said.values()) == len(json.loads(OPTIONS.read_text(encoding="utf-8")))
    assert {tuple(rest) for _, *rest in said.values()} == {("True", "0")}, said


def test_a_command_loads_what_it_needs() -> None:
    """The control of the test above."""
    run = fresh(
        "import sys; from shuffledp.cli import main; main(['papers', 'bounds']); "
        "print('scipy' in sys.modules, 'matplotlib' in sys.modules, file=sys.stderr)"
    )
    assert (run.returncode, run.stderr) == (0, "True False\n")


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
@pytest.mark.parametrize("row", [["--id", "who"], ["--one-row-per-person", "--strip"], []])
def test_a_histogram_of_a_file_loads_neither_pandas_nor_matplotlib(name: str, row: list[str], tmp_path: Path) -> None:
    """Arrow imports pandas where it is installed, for most arrays that it makes or hands to NumPy."""
    assert importlib.util.find_spec("pandas") is not None
    table = pa.table({"user_id": [*range(40)], "who": ["p", *"qrst"] * 8, "city": ["a", "b", "a", None, "c"] * 8})
    write = pa.csv.write_csv if name.endswith("csv") else pa.parquet.write_table
    write(table, tmp_path / name)
    words = f"histogram {tmp_path / name} --column city --categories a,b,c --epsilon 2 --delta 1e-3".split()
    words += [*row, "--out", str(tmp_path / "made")]
    run = fresh(
        f"import sys; from shuffledp.cli import main; code = main({words!r}); "
        "print(code, sorted({'pandas', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    assert run.stderr.splitlines()[-1] == "0 []", run.stderr


def test_the_name_audit_is_the_function_whichever_is_imported_first() -> None:
    run = fresh(
        """
import sys
for first in (
    "import shuffledp.audits",
    "from shuffledp.audits.verdict import SURE",
    "import shuffledp.cli.audit",
    "",
):
    for name in [name for name in sys.modules if name.startswith("shuffledp")]:
        del sys.modules[name]
    exec(first)
    import shuffledp as sdp
    print(callable(sdp.audit), sdp.audit is sdp.audit, "audit" in dir(sdp))
"""
    )
    assert run.stdout == 4 * "True True True\n", run.stderr


def test_what_is_listed_is_what_there_is() -> None:
    """The help of all commands is a text: 45 lines, no wider than a terminal."""
    load(None)
    groups = {each.typer_instance.info.name for each in app.registered_groups if each.typer_instance is not None}
    assert {each.name for each in app.registered_commands} | groups == SUMMARIES.keys()
    assert len(OVERVIEW.splitlines()) <= 45
    assert max(map(len, OVERVIEW.splitlines())) <= 80


def test_a_help_shows_at_most_fifteen_options_and_all_of_them_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    for path, given in options().items():
        flags = {name for name, each in given.items() if each["kind"] == "option"}
        visible = {name for name in flags if not given[name]["hidden"]}
        assert len(visible) <= 15, path
        assert {f"--{name}" for name in SHOWN.get(path, ())} <= flags, path
        for wanted, expected in (("--help", visible), ("--help-all", flags)):
            assert main([*path.split(), wanted]) == 0
            told = capsys.readouterr().out
            assert all(re.search(rf"{name}\b", told) for name in expected), (path, wanted)


@pytest.mark.parametrize(
    "words, meant",
    [
        ("epsilonn", "'epsilon'"),
        ("survey clsoe", "'close'"),
        ("epsilon --detla 1", "'--delta'"),
        ("plan medean --n 9 --epsilon 1 --delta 1e-6", "'mean'"),
        ("stage design histgram --n 9 --epsilon 1 --delta 1e-6 --out x", "'histogram'"),
    ],
)
def test_a_letter_that_is_wrong_is_noticed(words: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert f"Did you mean {meant}?" in capsys.readouterr().err


def test_two_dashes_alone_are_no_likeness(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["epsilon", "--slots", "3", "--delta", "1e-6"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


def test_one_hidden_option_is_not_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["survey", "status", "--help"]) == 0
    assert " 1 more option: shuffledp survey status --help-all\n" in capsys.readouterr().out


def test_nothing_tells_people_to_type_a_step_without_its_group() -> None:
    stale = re.compile(r"shuffledp (design|encode|shuffle|serve|send|open|collection|track|studio|poison|bounds)\b")
    root = Path(__file__).parents[2]
    kinds = {".py", ".md", ".ts", ".js", ".html", ".json"}
    files = [
        each
        for name in ("src", "docs", "pages", "clients/web/src")
        for each in (root / name).rglob("*")
        if each.suffix in kinds
    ]
    assert [str(each) for each in [*files, root / "README.md"] if stale.search(each.read_text("utf-8"))] == []


@pytest.mark.parametrize("name", ["", *SUMMARIES, "ledger show"])
def test_an_option_without_a_value_has_no_type(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert "--help" in text
    assert "bool" not in text


def test_the_first_example_is_for_somebody_with_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    text = capsys.readouterr().out
    first = text[text.index("Examples:") :].splitlines()[1]
    assert first.strip() == "shuffledp histogram people.csv --column city --categories cities.txt \\"


@pytest.mark.parametrize(
    "words, code",
    [
        ("epsilon --randomizer krr --epsilon0 4 --n 10000 --delta 1e-6", 2),  # k is missing
        ("epsilon --randomizer krr --k 16 --epsilon0 4 --n 10000", 2),  # an option that the parser misses
        ("epsilon --randomizer krr --k x --epsilon0 4 --n 10000 --delta 1e-6", 2),
        ("histogram nowhere.csv --column c --categories a,b --epsilon 1 --delta 1e-6 --out somewhere", 2),
        ("epsilonn", 2),
        ("verify nowhere.html", 2),
    ],
)
def test_with_json_an_error_is_json(words: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == code
    plain = capsys.readouterr()
    assert main([*words.split(), "--json"]) == code
    said = capsys.readouterr()
    assert (plain.out, said.out) == ("", "")
    error = json.loads(said.err)
    assert set(error) == {"error", "exit"}
    assert error["exit"] == code
    assert plain.err == f"error: {error['error']}\n"


@pytest.mark.parametrize("moment", [1, 30, 150, 300, 500])
def test_ctrl_c_is_quiet_from_the_first_moment(moment: int) -> None:
    run = fresh(INTERRUPTED.format(moment=moment, guarded=True))
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


def test_ctrl_c_during_imports_would_show() -> None:
    """The control: the same moment without the guard."""
    run = fresh(INTERRUPTED.format(moment=30, guarded=False))
    assert run.returncode not in (0, 130)
    assert "Traceback" in run.stderr


def test_an_ignored_ctrl_c_stays_ignored() -> None:
    program = INTERRUPTED.format(moment=150, guarded=True).replace(
        "imports = 0", "signal.signal(signal.SIGINT, signal.SIG_IGN)\nimports = 0", 1
    )
    run = fresh(program)
    assert run.returncode == 0
    assert "at most" in run.stdout


def test_what_is_loaded_before_ctrl_c_is_heeded_is_next_to_nothing() -> None:
    """An interrupt in there is answered by Python, with a traceback."""
    source = Path(sdp.__file__).parents[1]
    program = (
        f"import sys; sys.path.insert(0, {str(source)!r}); before = set(sys.modules); import shuffledp.cli; "
        f"print(*set(sys.modules) - before)"
    )
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "shuffledp.cli" in loaded, "the control"
    assert not {"typing", "re", "inspect", "dataclasses", "typer"} & set(loaded), loaded
