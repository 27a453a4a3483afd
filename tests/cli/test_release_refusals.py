"""A wrong request is one line on standard error and exit code 2, and it leaves no trace: no output,
no ledger, no charge.
"""

import os
from pathlib import Path

import pytest

import shuffledp as sdp
from tests.cli.people import AGE, CITIES, CITY, PROMISE, done, listing, people, run
from tests.tables.tables import as_csv, as_parquet

LIST = ("--categories", ",".join(CITIES))
NOISE = ("--gamma", 0.2, "--delta", 1e-6)
OUT = ("--out", "result")
COUNT = ("histogram", "people.parquet", "--column", "city")
MEAN = ("mean", "people.parquet", "--column", "age")
ENDS = ("--lower", 0, "--upper", 100)
QUANTILE = ("quantile", "people.parquet", "--column", "age", "--lower", 0, "--upper", 120)
LEDGER = ("--ledger", "budget.sqlite", "--population", "people", "--limit-epsilon", 1.2, "--limit-delta", 1e-6)
NOT_TEXT = os.fsdecode(b"\xff\xfe")

WRONG: dict[str, tuple[tuple[object, ...], str]] = {
    # where to write
    "no folder": ((*COUNT, *LIST, *PROMISE), "--out is missing"),
    "existing folder": ((*COUNT, *LIST, *PROMISE, "--out", "full"), "must not exist yet"),
    "a folder of somebody else, by force": (
        (*COUNT, *LIST, *PROMISE, "--out", "full", "--force"),
        "got 'precious.txt' in it",
    ),
    "the folder that holds the table, by force": (
        (*COUNT, *LIST, *PROMISE, "--out", ".", "--force"),
        "must hold nothing else",
    ),
    "the folder above, by force": ((*COUNT, *LIST, *PROMISE, "--out", "..", "--force"), "must hold nothing else"),
    "the root, by force": ((*COUNT, *LIST, *PROMISE, "--out", "/", "--force"), "must hold nothing else"),
    "more people than are made up in a night": (
        ("example", "made", "--people", "1e12"),
        "people must be at most 1000000000",
    ),
    "a file": ((*COUNT, *LIST, *PROMISE, "--out", "people.csv"), "must not exist yet"),
    "a file, by force": (
        (*COUNT, *LIST, *PROMISE, "--out", "people.csv", "--force"),
        "must be a folder to be replaced",
    ),
    "no folder above": ((*COUNT, *LIST, *PROMISE, "--out", "nowhere/result"), "mkdir -p nowhere"),
    "a name that is too long": ((*COUNT, *LIST, *PROMISE, "--out", "x" * 250), "must have at most 200 bytes"),
    "a dangling link": ((*COUNT, *LIST, *PROMISE, "--out", "dangling"), "must not exist yet"),
    "the ledger": (
        (*COUNT, *LIST, *PROMISE, "--ledger", "new.sqlite", *LEDGER[2:], "--out", "new.sqlite"),
        "which would be lost",
    ),
    # the table
    "no table": (("histogram", "nobody.parquet", *CITY, *OUT), "got nothing there"),
    "a folder as table": (("histogram", "full", *CITY, *OUT), "got a folder"),
    "unknown column": (
        ("histogram", "people.parquet", "--column", "cty", *LIST, *PROMISE, *OUT),
        "Did you mean 'city'?",
    ),
    "no column": (
        ("histogram", "people.parquet", *LIST, *PROMISE, *OUT),
        "column must be named where there are several",
    ),
    "unknown format": ((*COUNT, *LIST, *PROMISE, "--format", "xls", *OUT), "format must be one of csv, parquet, arrow"),
    "wrong format": ((*COUNT, *LIST, *PROMISE, "--format", "csv", *OUT), "got a first line that names no columns"),
    "text as numbers": (
        ("mean", "people.csv", "--column", "city", "--lower", 0, "--upper", 1, *PROMISE, *OUT),
        "must hold numbers",
    ),
    # the categories
    "no categories": ((*COUNT, *PROMISE, *OUT), "; `shuffledp look FILE` prints a list to copy."),
    "no file of categories": ((*COUNT, "--categories", "citis.txt", *PROMISE, *OUT), "Did you mean 'cities.txt'?"),
    "a folder of categories": ((*COUNT, "--categories", "full", *PROMISE, *OUT), "Is a directory"),
    "one category": ((*COUNT, "--categories", "one.txt", *PROMISE, *OUT), "categories must number at least two, got 1"),
    "duplicate categories": ((*COUNT, "--categories", "twice.txt", *PROMISE, *OUT), "got 'Lima' twice"),
    "empty categories": (
        (*COUNT, "--categories", "empty.txt", *PROMISE, *OUT),
        "categories must number at least two, got 0",
    ),
    "only commas": ((*COUNT, "--categories", ",,", *PROMISE, *OUT), "categories must number at least two, got 0"),
    "categories in Latin-1": ((*COUNT, "--categories", "latin.txt", *PROMISE, *OUT), "must be a text file in UTF-8"),
    "a huge label": (
        (*COUNT, "--categories", "huge.txt", *PROMISE, *OUT),
        "at most 500 printable characters, got 'xxx",
    ),
    "a label with an escape code": (
        (*COUNT, "--categories", "escape.txt", *PROMISE, *OUT),
        "printable characters, got 'red\\x1b[31m'",
    ),
    "a label that is no text": ((*COUNT, "--categories", f"a,{NOT_TEXT}", *PROMISE, *OUT), "printable characters"),
    "a value that is no category": (
        (*COUNT, "--categories", "Lima,Osaka", *PROMISE, *OUT),
        "Add it to the list, or count",
    ),
    "one number": ((*COUNT, "--categories", "7..7", *PROMISE, *OUT), "categories must number at least two, got 1"),
    "numbers that fall": ((*COUNT, "--categories", "7..0", *PROMISE, *OUT), "categories must number at least two"),
    "very many numbers": ((*COUNT, "--categories", "0..999999999", *PROMISE, *OUT), "categories must be at most"),
    "a nameless other": ((*COUNT, *LIST, "--other", "", *PROMISE, *OUT), "--other must be one line"),
    "a nameless missing": ((*COUNT, *LIST, "--missing", " ", *PROMISE, *OUT), "--missing must be one line"),
    "unknown mechanism": (
        ("histogram", "people.parquet", *CITY, "--mechanism", "magic", *OUT),
        "--mechanism of a histogram must be one of krr, hadamard, hash, subset, oue, fakes, dummies, got 'magic'",
    ),
    # the words
    "a title that is no text": ((*COUNT, *LIST, *PROMISE, "--title", NOT_TEXT, *OUT), "--title must be one line"),
    "a huge title": ((*COUNT, *LIST, *PROMISE, "--title", "x" * 10_000, *OUT), "--title must be one line of 1 to 500"),
    # the promise
    "epsilon 0": ((*COUNT, *LIST, "--epsilon", 0, "--delta", 1e-6, *OUT), "epsilon must be positive"),
    "epsilon below 0": ((*COUNT, *LIST, "--epsilon", -1, "--delta", 1e-6, *OUT), "epsilon must lie in"),
    "epsilon nan": ((*COUNT, *LIST, "--epsilon", "nan", "--delta", 1e-6, *OUT), "epsilon must be finite"),
    "epsilon without number": ((*COUNT, *LIST, "--epsilon", "one", "--delta", 1e-6, *OUT), "'one' is not a number"),
    "no epsilon": ((*COUNT, *LIST, "--delta", 1e-6, *OUT), "exactly one of --epsilon, --gamma and --epsilon0 must be"),
    "epsilon and gamma": ((*COUNT, *LIST, *PROMISE, "--gamma", 0.2, *OUT), "got --epsilon and --gamma. With --epsilon"),
    "gamma and epsilon0": ((*COUNT, *LIST, *NOISE, "--epsilon0", 2, *OUT), "got --gamma and --epsilon0"),
    "gamma with dummies": (
        (*COUNT, *LIST, *NOISE, "--mechanism", "dummies", *OUT),
        "got --mechanism dummies. Use --epsilon",
    ),
    "gamma 1": ((*COUNT, *LIST, "--gamma", 1, "--delta", 1e-6, *OUT), "gamma must lie in (0, 1), got 1.0"),
    "all noise": ((*COUNT, *LIST, "--gamma", 0.999999, "--delta", 0.01, *OUT), "got an epsilon of 0 at delta = 0.01"),
    "gamma without k": ((*MEAN, *ENDS, *NOISE, *OUT), "a mean with --gamma or --epsilon0 needs --k"),
    "k 0": ((*MEAN, *ENDS, *NOISE, "--k", 0, *OUT), "--k must be at least 1, got 0"),
    "k with epsilon": ((*MEAN, *ENDS, *PROMISE, "--k", 4, *OUT), "got it with --epsilon. Leave it out"),
    "gamma with an error": (
        (*MEAN, *ENDS, *NOISE, "--k", 4, "--error", 0.5, *OUT),
        "single message, and must come without --error",
    ),
    "delta 0": ((*COUNT, *LIST, "--epsilon", 1, "--delta", 0, *OUT), "delta must lie in (0, 1)"),
    "delta 1": ((*COUNT, *LIST, "--epsilon", 1, "--delta", 1, *OUT), "delta must lie in (0, 1)"),
    "delta nan": ((*COUNT, *LIST, "--epsilon", 1, "--delta", "nan", *OUT), "delta must be finite"),
    "nobody honest": ((*COUNT, *LIST, *PROMISE, "--honest", "0%", *OUT), "'0%' is not a share"),
    "too many honest": ((*COUNT, *LIST, *PROMISE, "--honest", 3001, *OUT), "honest must be at most n = 3000"),
    "no rounds": ((*COUNT, *LIST, *PROMISE, "--rounds", 0, *OUT), "rounds must be at least 1"),
    # the bounds
    "quantiles outside": ((*QUANTILE, "--at", "0.5,1.5", *PROMISE, *OUT), "between 0 and 1"),
    "quantiles that are no numbers": ((*QUANTILE, "--at", "median", *PROMISE, *OUT), "--at must be numbers"),
    "cut points that fall": (
        ("quantile", "people.parquet", "--column", "age", "--cuts", "0,50,20", *PROMISE, *OUT),
        "cut points must increase, got 50 before 20",
    ),
    "bins given twice": ((*QUANTILE, "--cuts", "0,50,100", *PROMISE, *OUT), "the bins must be given in one way"),
    "bins that do not fit": ((*QUANTILE, "--bins", 5000, *PROMISE, *OUT), "at most 1,024"),
    "a scale that there is not": ((*QUANTILE, "--spacing", "cubic", *PROMISE, *OUT), "spacing must be one of"),
    "a logarithm of nothing": ((*QUANTILE, "--spacing", "log", *PROMISE, *OUT), "lower must be positive"),
    "a range that is not of cut points": (
        (*QUANTILE, "--range", "18.5:65", *PROMISE, *OUT),
        "got 18.5. The nearest one is 18",
    ),
    "a range without a colon": ((*QUANTILE, "--range", "18", *PROMISE, *OUT), "Write it as 18:65"),
    "numbers outside the bins": (
        ("quantile", "people.parquet", "--column", "age", "--lower", 0, "--upper", 20, *PROMISE, *OUT),
        "--clip",
    ),
    "equal bounds": ((*MEAN, "--lower", 5, "--upper", 5, *PROMISE, *OUT), "lower must be below upper"),
    "reversed bounds": ((*MEAN, "--lower", 100, "--upper", 0, *PROMISE, *OUT), "lower must be below upper"),
    "infinite bounds": ((*MEAN, "--lower", 0, "--upper", "inf", *PROMISE, *OUT), "upper must be finite"),
    "no lower bound": ((*MEAN, "--upper", 100, *PROMISE, *OUT), "Missing option '--lower'"),
    "values outside": ((*MEAN, "--lower", 0, "--upper", 20, *PROMISE, *OUT), "--clip"),
    # the budget
    "population without ledger": ((*COUNT, *LIST, *PROMISE, "--population", "people", *OUT), "must come with --ledger"),
    "limit without ledger": ((*COUNT, *LIST, *PROMISE, "--limit-delta", 1e-6, *OUT), "must come with --ledger"),
    "ledger without population": (
        (*COUNT, *LIST, *PROMISE, "--ledger", "new.sqlite", *OUT),
        "must come with --population",
    ),
    "first release without limit": (
        (*COUNT, *LIST, *PROMISE, "--ledger", "new.sqlite", "--population", "p", *OUT),
        "must have a limit",
    ),
    "limit too small": (
        (
            *COUNT,
            *LIST,
            *PROMISE,
            "--ledger",
            "new.sqlite",
            "--population",
            "p",
            "--limit-epsilon",
            0.5,
            "--limit-delta",
            1e-6,
            *OUT,
        ),
        "would still fit",
    ),
    "limit 0": (
        (
            *COUNT,
            *LIST,
            *PROMISE,
            "--ledger",
            "new.sqlite",
            "--population",
            "p",
            "--limit-epsilon",
            0,
            "--limit-delta",
            1e-6,
            *OUT,
        ),
        "positive",
    ),
    "a limit that moves": ((*COUNT, *LIST, *PROMISE, *LEDGER[:4], "--limit-epsilon", 9, *OUT), "must stay 1.2"),
    "a delta that moves": ((*COUNT, *LIST, *PROMISE, *LEDGER[:4], "--limit-delta", 1e-3, *OUT), "must stay 1e-06"),
    "a budget that is spent": ((*COUNT, *LIST, *PROMISE, *LEDGER[:4], *OUT), "would still fit"),
    "a folder as ledger": ((*COUNT, *LIST, *PROMISE, "--ledger", "full", *LEDGER[2:], *OUT), "got a folder"),
    "a text as ledger": (
        (*COUNT, *LIST, *PROMISE, "--ledger", "people.csv", *LEDGER[2:], *OUT),
        "not an SQLite database",
    ),
    "a ledger nowhere": (
        (*COUNT, *LIST, *PROMISE, "--ledger", "nowhere/x.sqlite", *LEDGER[2:], *OUT),
        "must exist, got none",
    ),
    # the stages
    "unknown task": (
        ("stage", "design", "median", *LIST, "--n", 100, *PROMISE, "--out", "d.json"),
        "QUESTION must be one of",
    ),
    "a mean without bounds": (
        ("stage", "design", "mean", "--n", 100, *PROMISE, "--out", "d.json"),
        "Missing options '--lower' and '--upper'",
    ),
    "nobody": (("stage", "design", "histogram", *LIST, "--n", 0, *PROMISE, "--out", "d.json"), "n must be at least 1"),
    "a design into a folder": (
        ("stage", "design", "histogram", *LIST, "--n", 100, *PROMISE, "--out", "full"),
        "must be a file, got a folder",
    ),
    "no design": (
        ("stage", "encode", "people.parquet", "--design", "d.json", "--column", "city", "--out", "r.parquet"),
        "Check the name",
    ),
    "no reports": (("stage", "shuffle", "r.parquet", "--out", "s.parquet"), "got nothing there"),
    "nothing to analyze": (("stage", "analyze", "s.parquet", *OUT), "got nothing there"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that a wrong request may meet, and a budget that is nearly spent."""
    place = tmp_path_factory.mktemp("place")
    as_parquet(place / "people.parquet", people())
    as_csv(place / "people.csv", people())
    for name, content in {
        "cities": "\n".join(CITIES).encode(),
        "one": b"Lima\n",
        "twice": b"Lima\nOsaka\nLima\n",
        "empty": b"\n\n",
        "latin": b"Z\xfcrich\nLima\n",
        "huge": b"x" * 1_000_000 + b"\nLima\n",
        "escape": b"red\x1b[31m\nLima\n",
    }.items():
        (place / f"{name}.txt").write_bytes(content)
    (place / "full").mkdir()
    (place / "full" / "precious.txt").write_text("precious")
    (place / "dangling").symlink_to("nowhere")
    done(
        "histogram",
        place / "people.parquet",
        *CITY,
        "--ledger",
        place / "budget.sqlite",
        *LEDGER[2:],
        "--out",
        place / "earlier",
    )
    return place


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_request_is_one_line_and_leaves_no_trace(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(place)
    arguments, words = WRONG[name]
    before = listing(place)
    run(*arguments).refused(words)
    assert listing(place) == before


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "got an empty file"),
        (b"city\n", "must hold at least one value, got no rows"),
        (b"city\n\n\n\n", "must hold at least one value, got 3 rows that hold none"),
        (b"Lima\nLima\nOsaka\n", "the first line of a table must name its columns"),
        (b"city\nLima\n" + b"x" * 1_000_000 + b"\n", "must hold only the 4 categories, got 'xxx"),
        (b"city\nLima\nZ\xfcrich\n", "must be text in UTF-8"),
        (b'city\nLima\n"Osaka\n', "must close every double quote"),
        (b"city,age\nLima,1\nOsaka\n", "row 2 of standard input must have 2 fields"),
    ],
)
def test_a_bad_table_is_one_line_and_leaves_no_trace(tmp_path: Path, content: bytes, words: str) -> None:
    column = ("--column", "city") if b"," in content else ()
    said = run("histogram", "-", *column, *LIST, *PROMISE, "--out", tmp_path / "result", stdin=content)
    said.refused(words)
    assert len(said.error) < 500, "no value is printed in full"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_writable_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    run("mean", tmp_path / "nobody.parquet", *AGE, "--out", tmp_path / "result").refused("must be writable")


def test_a_file_whose_name_is_no_text_is_read(tmp_path: Path) -> None:
    table = tmp_path / NOT_TEXT
    as_csv(tmp_path / "people.csv", people())
    (tmp_path / "people.csv").rename(table)
    facts = done("histogram", table, *CITY, "--out", tmp_path / "result", "--json").facts
    assert facts["asked"]["source"] == "\ufffd\ufffd"


ANSWERS = ["Yes"] * 300 + ["yes"] * 40 + [" YES"] * 5 + ["y"] * 2 + ["No"] * 200 + ["Yes; but"] * 3 + ["Yet"]


def answers(tmp_path: Path) -> Path:
    (tmp_path / "answers.csv").write_text("answer,n\n" + "".join(f"{each},1\n" for each in ANSWERS))
    return tmp_path / "answers.csv"


def test_a_value_that_no_row_holds_is_not_counted(tmp_path: Path) -> None:
    asked = ("count", answers(tmp_path), "--column", "answer", *PROMISE, "--dry-run")
    run(*asked, "--value", "Maybe").refused("got 'Maybe', which no row holds. If that may be, list all values")
    run(*asked, "--value", "YES").refused("347 rows hold 'Yes', 'yes', ' YES', 'y', which may mean 'YES'")
    run(*asked, "--value", "YES", "--categories", "YES,No,Yet").refused("must hold only the 3 categories, got 'Yes'")
    run(*asked, "--value", "YES", "--categories", "Yes,No").refused("--value must be one of the categories")
    run(*asked, "--value", "Yes", "--other", "No").refused("--other must come with --categories")
    assert done(*asked, "--value", "maybe", "--categories", "maybe,else", "--other", "else", "--json").facts


def test_what_looks_like_the_value_and_is_not_counted_is_named_and_stands_on_no_page(tmp_path: Path) -> None:
    asked = ("count", answers(tmp_path), "--column", "answer", "--value", "Yes", *PROMISE, "--out", tmp_path / "r")
    said = " ".join(done(*asked).out.split())
    assert "47 rows hold 'yes', ' YES', 'y', which may mean 'Yes' and is not counted: add --ignore-case" in said
    assert "3 rows hold 'Yes' among several answers, as in 'Yes; but', and are not counted" in said
    assert "among several" not in (tmp_path / "r" / "page.html").read_text()
    listed = done(*asked, "--categories", "Yes,else", "--other", "else", "--force", "--json").facts
    assert listed["asked"]["outside"] == "counted as else"
    assert abs(listed["tables"][0]["value"][0] - 300) < 6 * listed["tables"][0]["stderr"][0]
    with pytest.warns(UserWarning, match=r"47 rows hold .* add ignore_case=True and strip=True"):
        sdp.count(ANSWERS[:350], value="Yes", epsilon=1.0, delta=1e-6)
