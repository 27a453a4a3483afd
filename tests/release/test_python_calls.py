"""sdp.histogram and sdp.mean: the same answers, folders and refusals as the command,
from values in memory.
"""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import Argument
from shuffledp.ledger import Ledger
from shuffledp.mechanisms.grids import printed_bound
from shuffledp.papers.files import Outcome, ReproductionError
from shuffledp.release.released import Release
from shuffledp.survey.wire import Refused
from shuffledp.verify import verify
from tests.cli.people import done

CITIES = ["Lima", "Osaka", "Paris"]
PEOPLE = ["Lima"] * 200 + ["Osaka"] * 100 + ["Paris"] * 100
PROMISE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5}
ASKED: dict[str, Any] = PROMISE | {"categories": CITIES}
COLUMNS = ["label", "estimate", "stderr", "lower", "upper", "all_lower", "all_upper"]


def seeded() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A release with a title to be escaped and a place in a ledger."""
    ledger = tmp_path_factory.mktemp("budget") / "budget.sqlite"
    limits = {"population": "app <users>", "limit_epsilon": 2.0, "limit_delta": 1e-5}
    return sdp.histogram(PEOPLE, **ASKED, title="<b>Where</b>", ledger=ledger, **limits)


def test_a_frame_a_file_and_a_list_give_the_same_answer(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("city\n" + "\n".join(PEOPLE) + "\n", encoding="utf-8")
    frame = pl.DataFrame({"city": PEOPLE, "other": 1}).lazy()
    found = [
        sdp.histogram(data, column, **ASKED, rng=seeded()).estimates.to_dict()
        for data, column in ((PEOPLE, None), (frame, "city"), (tmp_path / "people.csv", "city"))
    ]
    assert found[0] == found[1] == found[2]


def test_the_answer_is_a_table_for_every_library(made: Release) -> None:
    table = made.estimates
    assert [row.label for row in table] == CITIES
    assert len(table) == 3
    assert list(table.to_dict()) == COLUMNS
    for frame in (table.to_pandas(), table.to_polars(), table.to_arrow().to_pandas()):
        assert list(frame.columns) == COLUMNS
        assert frame["estimate"].to_list() == made.estimate.values.tolist()
    row = table["Lima"]
    assert row.all_lower < row.lower < row.estimate < row.upper < row.all_upper
    assert abs(row.estimate - 200) < 8 * row.stderr
    with pytest.raises(sdp.InvalidInput, match="label must be one of the 3 that were estimated, got 'Rome'"):
        table["Rome"]


def test_a_library_that_is_not_there_is_named(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(sdp.InvalidInput, match=r"polars must be installed for to_polars\(\), got no such package"):
        made.estimates.to_polars()


def test_a_release_says_what_it_is(made: Release) -> None:
    bound = made.certificate.epsilon
    assert 0.9 < bound.lower <= bound.upper <= 1.0
    assert repr(made).startswith("<Release: histogram of a column: 400 reports; epsilon at most ")
    assert "\n" not in repr(made)
    assert "Certified: epsilon is at most" in str(made)
    assert "Budget of 'app <users>'" in str(made)
    assert made.ledger is not None
    assert (made.ledger.releases, made.ledger.limit.epsilon) == (1, 2.0)


def test_a_notebook_shows_no_script_and_no_markup_of_the_users(made: Release) -> None:
    page = made._repr_html_()
    assert "&lt;b&gt;Where&lt;/b&gt;" in page
    assert "app &lt;users&gt;" in page
    assert "<script" not in page
    assert page.count("<svg") == 3
    assert "Certified: epsilon is at most" in page


def test_it_is_drawn_and_not_shown(made: Release) -> None:
    for figure in (made.plot(), made.estimate.plot()):
        rows = [f"{each.estimate:,.0f}" for each in made.estimates]
        words = [each.text or "" for each in ElementTree.fromstring(figure._repr_svg_()).iter()]
        assert [any(each.startswith(row) for each in words) for row in rows] == [True] * len(CITIES)
        assert set(CITIES) <= set(words)


def test_what_is_saved_is_what_the_command_writes_and_verifies(made: Release, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("city\n" + "\n".join(PEOPLE) + "\n", encoding="utf-8")
    options = ["--categories", ",".join(CITIES), "--epsilon", 1, "--delta", 1e-5, "--out", tmp_path / "command"]
    done("histogram", people, *options)
    folder = made.save(tmp_path / "saved")
    assert sorted(each.name for each in folder.iterdir()) == sorted(
        each.name for each in (tmp_path / "command").iterdir()
    )
    ours, theirs = (json.loads((tmp_path / name / "design.json").read_text()) for name in ("saved", "command"))
    assert ours == theirs
    assert json.loads((folder / "estimates.json").read_text(encoding="utf-8")) == made.facts
    assert verify((folder / "page.html").read_text(encoding="utf-8")).verdict == "pass"
    with pytest.raises(sdp.InvalidInput, match=r"must not exist yet, got one that does\. Choose another name\.$"):
        made.save(folder)


def test_a_budget_is_spent_before_anything_is_shown_and_never_beyond_it(tmp_path: Path) -> None:
    ledger = tmp_path / "budget.sqlite"
    budget: dict[str, Any] = {"ledger": ledger, "population": "app-users"}
    first = sdp.histogram(PEOPLE, **ASKED, **budget, limit_epsilon=1.1, limit_delta=1e-5)
    assert first.ledger is not None
    assert [each.state for each in Ledger(ledger).releases("app-users")] == ["published"]
    with pytest.raises(sdp.InvalidInput, match="'app-users'"):
        sdp.histogram(PEOPLE, **ASKED, **budget)
    assert len(Ledger(ledger).releases("app-users")) == 1
    assert [each.name for each in tmp_path.iterdir() if not each.name.startswith(ledger.name)] == []


def test_a_release_that_the_ledger_cannot_note_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwritable(*_: object) -> None:
        raise sdp.InvalidInput("the ledger must be writable, got a full disk. Make room.")

    monkeypatch.setattr(Ledger, "publish", unwritable)
    limits: dict[str, Any] = {"population": "app-users", "limit_epsilon": 1.5, "limit_delta": 1e-5}
    with pytest.warns(UserWarning, match="the release is complete and was charged as release 1"):
        kept = sdp.histogram(PEOPLE, **ASKED, ledger=tmp_path / "budget.sqlite", **limits)
    assert len(kept.estimates) == 3


@pytest.mark.parametrize(
    "values, absent",
    [
        ([*PEOPLE, None, float("nan")], 2),
        (pd.Series([*PEOPLE, pd.NA, None]), 2),
        (pl.Series([*PEOPLE, None]), 1),
        (np.ma.masked_array(np.array([*PEOPLE, "?"]), mask=[False] * 400 + [True]), 1),
    ],
    ids=["list", "pandas", "polars", "masked"],
)
def test_missing_values_are_left_out(values: object, absent: int) -> None:
    left_out = sdp.histogram(values, **ASKED).record.counted
    assert (left_out.reports, left_out.missing) == (400, absent)


def test_missing_values_are_a_category_if_they_are_given_a_name() -> None:
    made = sdp.histogram([*PEOPLE, None, float("nan")], **ASKED, missing="none")
    assert (made.record.counted.reports, made.record.counted.missing) == (402, None)
    assert made.estimates.label == (*CITIES, "none")


def test_categories_compare_by_their_usual_text() -> None:
    for values, categories, labels in (
        ([1, 2, 2] * 20, [1, 2], ("1", "2")),
        (np.array([1.0, 2.0, np.nan] * 20), np.array([1, 2]), ("1", "2")),
        ([True, False] * 20, [True, False], ("true", "false")),
        ([date(2026, 1, 31)] * 40, [date(2026, 1, 31), "never"], ("2026-01-31", "never")),
        (np.array([0, 1], dtype=">i4"), 2, ("0", "1")),
    ):
        assert sdp.histogram(values, categories=categories, **PROMISE).estimates.label == labels


def test_a_messy_table_is_forgiven_what_is_asked_for(tmp_path: Path) -> None:
    frame = pd.DataFrame({"who": [1, 2, 3, 3], "city": [" lima", "LIMA", "?", "rome"]})
    made = sdp.histogram(
        frame, "city", **ASKED, other="elsewhere", strip=True, ignore_case=True, na="?", ids="who", keep="random"
    )
    counted = made.record.counted
    assert (counted.reports, counted.missing, counted.repeated) == (3, 0, 1)
    assert made.record.asked.cleaned is not None
    assert made.record.asked.source == "pandas DataFrame"
    (tmp_path / "cities.txt").write_text("Lima\nOsaka\n", encoding="utf-8")
    listed = sdp.histogram(["Lima"] * 20, categories=tmp_path / "cities.txt", **PROMISE)
    assert listed.estimates.label == ("Lima", "Osaka")


def test_a_mean_of_clipped_values_says_so(tmp_path: Path) -> None:
    ages = np.linspace(0.0, 130.0, 400)
    made = sdp.mean(ages, lower=0, upper=100, clip=True, **PROMISE)
    (row,) = made.estimates
    assert row.label == "mean of the clipped values"
    assert abs(row.estimate - np.clip(ages, 0, 100).mean()) < 8 * row.stderr
    assert "not of the values themselves" in str(made)
    assert made._repr_html_().count("<svg") == 1
    page = made.save(tmp_path / "mean") / "page.html"
    assert verify(page.read_text(encoding="utf-8")).verdict == "pass"
    german = sdp.mean(
        ["1.200,5", "800", "k. A."] * 40, lower=0, upper=2000, decimal=",", thousands=".", na=["k. A."], **PROMISE
    )
    assert german.record.counted.missing == 40


def test_many_values_are_cut_with_intervals_for_all_at_once() -> None:
    made = sdp.histogram(np.full(2000, 7), categories=60, mechanism="hadamard", **PROMISE)
    assert (len(made.estimates), made.estimates.cut) == (60, True)
    assert "... and 40 more" in repr(made.estimates)
    assert "95 % for all at once" in made._repr_html_()
    assert made.record.design.domain.names == tuple(map(str, range(60)))


def test_a_seeded_release_says_that_it_is_not_for_release() -> None:
    made = sdp.histogram(PEOPLE, **ASKED, rng=seeded())
    assert not made.record.secure
    again = sdp.histogram(PEOPLE, **ASKED, rng=seeded())
    assert made.estimates.to_dict() == again.estimates.to_dict()


def test_a_share_of_the_people_may_be_promised_to_be_honest() -> None:
    assert sdp.histogram(PEOPLE, **ASKED, honest=0.9).certificate.honest == 360
    assert sdp.histogram(PEOPLE, **ASKED, honest=300, rounds=2).certificate.honest == 300


def test_pandas_and_polars_are_not_loaded_by_the_door() -> None:
    program = (
        "import sys; import shuffledp as sdp; from shuffledp.tables.memory import held_table; "
        "held_table([1]); print(sorted({'pandas', 'polars', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"


FRAME = pd.DataFrame({"city": ["Lima"] * 4, "age": [1.5] * 4, "mixed": ["a", 1] * 2})
REFUSED: dict[str, tuple[object, dict[str, Any], str]] = {
    "no column": (FRAME, {}, "column must be named where there are several, got none. The columns are 'city'"),
    "no such column": (FRAME, {"column": "citi"}, "got 'citi'. Did you mean 'city'?"),
    "a column of a series": (FRAME["city"], {"column": "city"}, "the pandas Series, which is a single column"),
    "ids of a list": (["Lima"], {"ids": "who"}, "ids must name a column of a table, got 'who' for the list"),
    "fractions": (FRAME, {"column": "age"}, "must hold text or whole numbers to be counted by category"),
    "a mixture": (FRAME, {"column": "mixed"}, "column 'mixed' of the pandas DataFrame must hold values of one kind"),
    "a list of lists": ([["Lima"]], {}, "got a column of list<item: string>. Convert it to text first."),
    "complex numbers": (np.array([1j]), {}, "the array must hold values of one kind that Arrow can hold"),
    "two dimensions": (np.zeros((3, 2)), {}, "got one of shape (3, 2). Pass one column of it"),
    "fields": (np.zeros(3, dtype=[("a", int)]), {}, "got one with several fields"),
    "nothing": ([], {}, "the list must hold at least one value, got no rows. Check"),
    "an empty frame": (pd.DataFrame(), {}, "the pandas DataFrame must have at least one column, got none"),
    "only gaps": ([None, float("nan")], {}, "the list must hold at least one value, got 2 rows that hold none"),
    "a set": ({"Lima"}, {}, "got a set. A set keeps equal values only once"),
    "a dict": ({"city": ["Lima"]}, {}, "got a dict. Make a table of it: pyarrow.table(data)"),
    "a generator": ((each for each in PEOPLE), {}, "got a generator. Make a list of it: list(data)."),
    "None": (None, {}, "got None. Pass one value per person."),
    "a path to nowhere": ("nowhere.csv", {}, "'nowhere.csv' must be a file, got nothing there"),
    "a plan that fails": (pl.scan_csv("nowhere.csv"), {}, "the polars LazyFrame must be computable, got: "),
    "no categories": (PEOPLE, {"categories": None}, 'got none. Add categories="FILE" (one per line)'),
    "a single category": (PEOPLE, {"categories": ["Lima"]}, "categories must number at least two, got 1"),
    "a missing category": (PEOPLE, {"categories": ["Lima", None]}, 'counted with missing="NAME"'),
    "an empty category": (PEOPLE, {"categories": ["Lima", ""]}, "a category must be one line of 1 to 500"),
    "a set of categories": (PEOPLE, {"categories": set(CITIES)}, "categories must be a list, got set"),
    "a value that is not listed": (["Rome"], {}, "got 'Rome'. Add it to the list, or count such values together: "),
    "an encoding of a list": (PEOPLE, {"encoding": "latin-1"}, "encoding must be left out for values in memory"),
    "a choice without ids": (PEOPLE, {"keep": "random"}, "keep must come with ids, got none"),
    "too many honest": (PEOPLE, {"honest": 401}, "honest must be at most n = 400, got 401"),
    "a ledger of nobody": (PEOPLE, {"ledger": "b.sqlite"}, "ledger must come with population, got none"),
    "a population without a ledger": (PEOPLE, {"population": "us"}, 'got none. Add ledger="budget.sqlite".'),
    "a negative epsilon": (PEOPLE, {"epsilon": -1.0}, "epsilon must lie in [0, 700], got -1.0"),
    "a number for a title": (PEOPLE, {"title": 3}, "title must be one line of 1 to 500 printable characters, got 3"),
    "a list for a column": (FRAME, {"column": ["city"]}, "column must be the name of a column, got ['city']"),
    "a surrogate": (["\ud800"], {}, "the list must hold values of one kind"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_data_is_refused_in_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data, changed, words = REFUSED[name]
    with pytest.raises(sdp.InvalidInput) as refused:
        sdp.histogram(data, **ASKED | changed)
    assert words in str(refused.value)
    assert "--" not in str(refused.value)
    assert list(tmp_path.iterdir()) == [], "nothing is spent and nothing written"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: sdp.crosstab(pa.table({"a": PEOPLE, "b": PEOPLE}), ["a", "b"], categories=3, **PROMISE), "be a list"),
        (lambda: sdp.top(PEOPLE, words=None, **PROMISE), "words must be a whole number, got None"),
        (lambda: sdp.top(PEOPLE, tokens=3, **PROMISE), "tokens must be a list, got int"),
        (lambda: sdp.plan("mean", n="x", **PROMISE), "n must be a whole number, got 'x'"),
        (lambda: sdp.plan("mean", n=None, **PROMISE), "n must be a whole number, got None"),
        (lambda: sdp.plan("mean", n=100, rounds="x", **PROMISE), "rounds must be a whole number, got 'x'"),
        (lambda: sdp.plan("mean", n=100, epsilon="x", delta=1e-6), "epsilon must be a number, got 'x'"),
        (lambda: sdp.plan("mean", n=100, honest=200, **PROMISE), "honest must be at most n = 100, got 200"),
        (lambda: sdp.calibrate(sdp.KRR, k=4, n="x", **PROMISE), "n must be a whole number, got 'x'"),
    ],
)
def test_an_argument_of_another_type_is_refused_in_a_sentence(ask: Any, said: str) -> None:
    with pytest.raises(sdp.InvalidInput, match=re.escape(said)):
        ask()


def test_a_refusal_names_options_to_the_command_also_from_another_process() -> None:
    with pytest.raises(sdp.InvalidInput) as caught:
        sdp.histogram([*PEOPLE, "Rome"], **ASKED)
    for refused in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert str(refused).endswith('count such values together: other="elsewhere".')
        assert refused.typed.endswith("count such values together: --other elsewhere.")


def test_every_error_comes_whole_out_of_another_process() -> None:
    for module in ("engines.spark_session", "ledger", "papers", "release.budget", "survey.analyst"):
        import_module(f"shuffledp.{module}")
    made: dict[Any, tuple[Any, ...]] = {
        Refused: (425, "Come again."),
        ReproductionError: ([Outcome("fig", "failed", 1.0, (), "no")],),
    }
    kinds: list[type[sdp.ShuffledpError]] = [sdp.ShuffledpError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        error = kind(*made.get(kind, ("a sentence.",)))
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))


def test_every_option_that_a_message_names_is_an_argument() -> None:
    """A remedy with an option that Python does not have under that name fails here, and so does an
    option that is written as text, which Python would be shown as it is.
    """
    import inspect

    calls = (sdp.histogram, sdp.mean, sdp.sum, sdp.count, sdp.crosstab, sdp.quantile, sdp.top)
    known = {each for call in calls for each in inspect.signature(call).parameters}
    source = Path(sdp.__file__).parent
    packages = [source / "tables", source / "release", source / "ledger"]
    elsewhere = {"force", "out", "design", "drop_invalid", "tokens"}  # of other commands
    for path in (path for package in packages for path in package.rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        for name in re.findall(r'\bArgument\("([^"]+)"', code):
            assert str(Argument(name)) in known | elsewhere, f"{name} in {path.name}"
        for line in code.splitlines():
            assert not re.search("--[a-z]", line) or "`shuffledp " in line or "``" in line, f"{line} in {path.name}"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"strip": "no"}, "strip must be True or False, got 'no'"),
        ({"ledger": b"budget", "population": "all"}, "ledger must be the path of a file, got b'budget'"),
        ({"ledger": 3, "population": "all"}, "ledger must be the path of a file, got 3"),
        ({"data": "a\0b"}, r"data must be the path of a file, got 'a\x00b'"),
        ({"categories": "a\0b"}, r"categories must be the path of a file, got 'a\x00b'"),
        ({"categories": [10**5000, 1]}, "a category must be text, a whole number of at most 18 digits"),
        ({"epsilon": None}, "exactly one of epsilon, gamma and epsilon0 must be given. With epsilon"),
        ({"delta": None}, "delta must be a number, got None"),
        ({"strip": PEOPLE}, "strip must be True or False, got a list."),
        ({"ledger": np.array(PEOPLE)}, "ledger must be the path of a file, got an ndarray."),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else "",
)
def test_what_is_no_argument_at_all_is_answered_by_a_sentence(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(sdp.InvalidInput) as caught:
        sdp.histogram(**({"data": PEOPLE} | ASKED | wrong))
    assert str(caught.value).startswith(said)


def test_a_mean_is_clipped_only_by_a_truth_value() -> None:
    with pytest.raises(sdp.InvalidInput, match="clip must be True or False, got 'no'"):
        sdp.mean([0.5, 7.0], lower=0, upper=1, clip="no", **PROMISE)  # type: ignore[arg-type]


def test_numbers_and_labels_of_other_libraries_are_taken() -> None:
    labels = pa.array(CITIES)
    found = [
        sdp.histogram(PEOPLE, categories=known, honest=honest, **PROMISE, rng=seeded()).estimates.to_dict()
        for known, honest in ((CITIES, 0.9), (labels, np.float64(0.9)))
    ]
    assert found[0] == found[1]


def test_a_misspelt_call_does_not_repeat_what_people_hold() -> None:
    wrong = (lambda: sdp.histogram(PEOPLE, None, PEOPLE), lambda: sdp.histogram(frame=PEOPLE))  # type: ignore[call-arg,misc]
    for call in wrong:
        with pytest.raises(TypeError, match="argument") as caught:
            call()
        assert "Lima" not in str(caught.value)


def test_nothing_is_charged_for_randomness_that_is_none(tmp_path: Path) -> None:
    ledger = tmp_path / "budget.sqlite"
    limits = {"ledger": ledger, "population": "all", "limit_epsilon": 2.0, "limit_delta": 1e-5}
    with pytest.raises(sdp.InvalidInput, match="rng must be"):
        sdp.histogram(PEOPLE, **ASKED, **limits, rng=7)
    assert not ledger.exists()


def test_a_seeded_release_says_everywhere_that_it_is_not_for_release(made: Release) -> None:
    drawn = sdp.histogram(PEOPLE, **ASKED, rng=seeded())
    for shown in (repr(drawn), str(drawn), drawn._repr_html_()):
        assert "ot for release" in shown
        assert "Certified" not in shown
    assert all("ot for release" not in shown for shown in (repr(made), str(made), made._repr_html_()))


def test_a_seeded_release_says_so_in_figures_and_when_verified(made: Release) -> None:
    """A figure travels without its page, and a verdict of "pass" was all that a reader saw."""
    drawn = sdp.histogram(PEOPLE, **ASKED, rng=seeded())
    for seen, said in ((drawn, True), (made, False)):
        for figure in (seen.plot(), seen.estimate.plot()):
            assert ("not for release" in figure._repr_svg_()) is said
        checks = {check.what: check.how for check in verify(json.dumps(seen.facts), seconds=0.01).checks}
        assert ("not for release" in checks["secure randomness"]) is said


def test_the_noise_of_algorithms_2_and_3_is_given_and_its_epsilon_is_certified() -> None:
    hours = np.linspace(0.0, 60.0, 2000)
    made = sdp.sum(hours, lower=0, upper=60, k=5, gamma=0.2, delta=1e-6, rng=seeded())
    design, certified = made.record.design, made.record.certificate
    theirs = Poll("sum", n=2000, k=5, epsilon0=sdp.KRR.from_gamma(k=6, gamma=0.2).epsilon0, delta=1e-6, upper=60.0)
    assert Design.of(theirs).mechanism.as_json() == design.mechanism.as_json()
    assert theirs.randomizer.gamma == pytest.approx(0.2, abs=1e-15)
    assert certified.epsilon.upper == theirs.guarantee.epsilon(delta=1e-6).upper
    assert certified.epsilon.upper <= design.epsilon < certified.epsilon.upper * 1.001
    (row,) = made.estimates
    assert row.stderr <= 60.0 * printed_bound(2000, theirs.randomizer)
    assert abs(row.estimate - hours.sum()) < 5 * row.stderr
    whole = sdp.mean(hours, lower=0, upper=60, k=5, epsilon0=design.mechanism.alone, delta=1e-6, rng=seeded())
    assert whole.record.design.epsilon == design.epsilon
    assert next(iter(whole.estimates)).estimate == pytest.approx(row.estimate / 2000)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"gamma": 0.2}, "a sum with gamma or epsilon0 needs k: "),
        ({"epsilon": 1.0, "k": 5}, "k must come with gamma or epsilon0, got it with epsilon"),
        (
            {"gamma": 0.2, "k": 5, "error": 1.0},
            "gamma and epsilon0 are the noise of a single message, and must come without error",
        ),
    ],
)
def test_half_of_a_noise_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(sdp.InvalidInput) as caught:
        sdp.sum([1.0, 2.0], lower=0, upper=60, delta=1e-6, **wrong)
    assert said in str(caught.value)
