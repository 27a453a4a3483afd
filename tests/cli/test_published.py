"""A published bound, asked by its name, as a row, a column or a line: what it says is never taken
for what is certified.
"""

import csv
import json
import math
import shlex
from pathlib import Path

import pytest

import shuffledp as sdp
from shuffledp.cli import main
from shuffledp.literature.bounds import Published, Setting, find
from shuffledp.wording import rounded
from tests.cli.people import done
from tests.cli.test_commands import KRR, PLAN, Capture, answer, as_json


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)


def test_a_reconstructed_bound_says_so_next_to_the_number() -> None:
    rr = ("--randomizer", "rr", "--epsilon0", 1, "--n", 10_000)
    table, listed = done("compare", *rr, "--delta", 1e-6, "--patience", 0.03).out, done("papers", "bounds").out
    assert "cheu-2019 (at most, proven)" in listed
    for name in ("girgis-2021", "balle-2020-checkins"):
        line = next(line for line in table.splitlines() if name in line)
        assert "unproven" in line
        assert f"{name}, reconstructed" in line
        assert f"{name} (at most, unproven, reconstructed)" in listed
        alone = done("epsilon", *rr, "--delta", 1e-6, "--bound", name).out
        assert f"at most, says {name}, reconstructed (unproven)" in alone
        assert f"Warning: {name} is reconstructed: " in alone
        assert "reconstructed" in done("curve", *rr, "--points", 2, "--bound", name).out
    assert "at most: this is guaranteed" in done("epsilon", *PLAN, "--delta", 1e-3).out


BLANKET = ("--bound", "balle-2019-blanket-exact")


def test_a_bound_by_its_name_stands_above_the_certified_ends(capsys: Capture) -> None:
    survey, clones = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000), find("feldman-2020-clones-exact")
    krr = (*KRR, "--n", "10000", "--bound", clones.name)
    for command, at, truth, stated in (
        ("epsilon", "delta", survey.epsilon(delta=1e-6), clones.epsilon(Setting.of(survey), delta=1e-6)),
        ("delta", "epsilon", survey.delta(epsilon=0.25), clones.delta(Setting.of(survey), epsilon=0.25)),
    ):
        asked = (command, *krr, f"--{at}", "1e-6" if at == "delta" else "0.25")
        found = as_json(capsys, *asked)
        assert (found["lower"], found["upper"], found["method"]) == (truth.lower, truth.upper, truth.method)
        assert (found[command], found["bound"], found["status"]) == (stated, clones.name, "proven")
        assert (found["ratio"], found["refuted"], found["rests"]) == (stated / truth.lower, False, "")
        text = answer(capsys, *asked)
        assert f"{rounded(stated, up=True)}" in text
        assert f"at most, says {clones.name} (proven)" in text
        assert "at least, certified by this package" in text
        assert "Warning" not in text


def test_a_bound_that_is_wrong_cannot_be_overlooked() -> None:
    asked = (*KRR, "--n", 10_000, "--bound", "balle-2019-bennett-krr-printed")
    said = " ".join(done("epsilon", *asked, "--delta", 1e-6).out.split())
    assert "says balle-2019-bennett-krr-printed (invalid)" in said
    assert "Warning: balle-2019-bennett-krr-printed is invalid: exact enumeration refutes it in general." in said
    assert "Here it contradicts the certified ends." in said
    assert json.loads(done("delta", *asked, "--epsilon", 0.5, "--json").out)["refuted"] is True
    assert "Warning: balle-2019-bennett-krr-printed is invalid" in done("curve", *asked, "--points", 2).out


def test_a_bound_on_one_round_is_composed_and_says_so(capsys: Capture) -> None:
    asked = ("epsilon", *KRR, "--n", "10000", "--rounds", "4", "--delta", "1e-6", "--bound", "balle-2019-bennett-krr")
    text = answer(capsys, *asked)
    assert "says balle-2019-bennett-krr+advanced (proven)" in text
    assert "The bound is about one round; this package composed 4 of them." in text
    assert as_json(capsys, *asked)["bound"] == "balle-2019-bennett-krr+advanced"
    assert "this package composed" not in answer(capsys, *asked[:-1], "koskela-2021-krr-strong-exact")
    curve = ("curve", *asked[1:11], "--points", "2", "--bound", "balle-2019-bennett-krr")
    assert "balle-2019-bennett-krr is about one round; this package composed the rounds." in answer(capsys, *curve)
    assert "composed the rounds" not in answer(capsys, *curve[:-1], "local")
    assert main([*asked[:-1], "cheu-2019"]) == 2
    assert "cheu-2019 does not apply here: it is about binary" in capsys.readouterr().err
    thm_1 = ("--randomizer", "rr", "--epsilon0", "1", "--n", "1e5", "--delta", "1e-6", "--bound", "balle-2019-thm-1")
    assert "Condition, which holds in each round: epsilon <= 1" in answer(capsys, "epsilon", *thm_1, "--rounds", "3")
    assert "Condition, which holds here: epsilon <= 1" in answer(capsys, "epsilon", *thm_1)
    assert main([*asked[:-1], "biswas-2023-one-bin"]) == 2
    assert "gets a part" not in capsys.readouterr().err


def test_a_bound_that_is_assumed_says_what_of(capsys: Capture) -> None:
    asked = ("epsilon", "--randomizer", "gaussian", "--sigma", "2", "--n", "1000", "--delta", "1e-6", *BLANKET)
    assert "if (0, 1) is the worst pair" in next(
        line for line in answer(capsys, *asked).splitlines() if "says balle-2019-blanket-exact" in line
    )
    assert as_json(capsys, *asked)["status"] == "assumed"
    drawn = answer(capsys, "curve", *asked[1:7], "--points", "2", *BLANKET)
    assert "blanket-exact, if (0, 1) is the worst pair" in drawn


def test_an_explanation_reserves_what_rests_on_the_law_alone(capsys: Capture) -> None:
    for asked, free, bound in (
        (("--randomizer", "gaussian", "--sigma", "2"), "Thm 3.8", "Lemma 8"),
        (("--randomizer", "olh", "--k", "10", "--epsilon0", "1"), "Thm 3.1, eq (1)", "Thm 4.1, eq (10)"),
    ):
        text = answer(capsys, "explain", *asked, "--n", "10000", "--delta", "1e-6")
        free_line, bound_line = (next(line for line in text.splitlines() if each in line) for each in (free, bound))
        assert ", if " not in free_line
        assert ", if " in bound_line


def test_numbers_that_json_has_not_are_null(capsys: Capture) -> None:
    never = as_json(capsys, "delta", *KRR, "--n", "100", "--epsilon", "5", *BLANKET)
    assert (never["delta"], never["ratio"], never["upper"]) == (0.0, None, 0.0)
    strong = ("epsilon", "--randomizer", "rr", "--epsilon0", "5", "--n", "3", "--delta", "1e-6")
    found = as_json(capsys, *strong, "--bound", "shuffledp-strong")
    assert found["epsilon"] is None
    assert "epsilon is infinite where it is null" in str(found["note"])


@pytest.mark.parametrize(
    "line, words",
    [
        ("--delta 1e-6 --bound balle-2019-blanket-exat", ["Did you mean balle-2019-blanket-exact?"]),
        ("--delta 1e-6 --bound ''", ["a bound must be known by its name, got ''", "shuffledp papers bounds"]),
        (
            "--delta 1e-6 --bound erlingsson-2019",
            ["erlingsson-2019 does not apply here: epsilon0 must be below 1/2, got 4", "`shuffledp compare`"],
        ),
        (
            "--rounds 4 --delta 1e-6 --bound feldman-2020-thm-3.1",
            ["number of clones must be at least 16 log(2/delta)", "Each of 4 rounds gets a part of delta."],
        ),
        ("--delta nan --bound local", ["delta must be finite, got nan"]),
        ("--delta 1e-6 --bound local --proven", ["--bound asks what a paper says, and --proven"]),
        ("--delta 1e-6 --bound local --between 0 1", ["--bound asks what a paper says, and --between"]),
    ],
)
def test_a_bound_that_cannot_be_asked_is_refused_in_one_sentence(line: str, words: list[str], capsys: Capture) -> None:
    assert main(["epsilon", *KRR, "--n", "10000", *shlex.split(line)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert all(each in err for each in words), err
    assert main(["epsilon", *KRR, "--n", "10000", *shlex.split(line), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["exit"] == 2


def test_bounds_on_a_curve_are_columns_and_lines(capsys: Capture, tmp_path: Path) -> None:
    krr, table, figure = (*KRR, "--n", "10000"), tmp_path / "curve.csv", tmp_path / "curve.svg"
    names = ("feldman-2020-clones-exact", "feldman-2020-cor-4.2")
    flags = [each for name in names for each in ("--bound", name)]
    asked = ("curve", *krr, "--from", "0.2", "--to", "0.8", "--points", "4", *flags)
    found = as_json(capsys, *asked, "--csv", str(table), "--plot", str(figure))
    setting, epsilons = Setting(sdp.KRR(k=16, epsilon0=4.0), 10_000), found["epsilons"]
    clones, closed = found["bounds"]
    assert [each["name"] for each in found["bounds"]] == list(names)
    assert clones["delta"] == [find(names[0]).delta(setting, epsilon=each) for each in epsilons]
    assert closed["delta"][0] is None
    assert closed["delta"][3] == find(names[1]).delta(setting, epsilon=0.8)
    assert "wherever it applies, its epsilon is above 0.2." in closed["notes"][0]
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [row[names[1]] != "" for row in rows] == [each is not None for each in closed["delta"]]
    assert [float(row[names[0]]) for row in rows] == clones["delta"]
    assert all(f"<!-- {name} -->" in figure.read_text(encoding="utf-8") for name in names)
    said = " ".join(answer(capsys, *asked).split())
    assert "feldman-2020-cor-4.2 has no number at 1 of 4 epsilons: it does not apply here: wherever" in said
    assert main([*asked, "--bound", "erlingsson-2019"]) == 2
    refused = capsys.readouterr().err
    assert "erlingsson-2019 does not apply here: epsilon0 must be below 1/2, got 4. It has no number" in refused
    assert as_json(capsys, "curve", *krr, "--points", "2")["bounds"] == []


def test_a_curve_is_held_against_the_certified_ends(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    facts = {"name": "toy", "paper": "A", "where": "Thm 1", "covers": "all", "status": "proven"}
    wrong = Published(**facts, delta_at=lambda _setting, _epsilon: 1e-30)  # type: ignore[arg-type]
    monkeypatch.setattr("shuffledp.literature.bounds.find", lambda _name: wrong)
    assert main(["curve", *KRR, "--n", "10000", "--points", "3", "--bound", "toy"]) != 0
    assert "A, Thm 1 says upper 1e-30, but delta at epsilon = 0.0 is certified to lie in" in capsys.readouterr().err


def test_deltas_of_all_bounds_as_text_json_csv_and_figure(capsys: Capture, tmp_path: Path) -> None:
    krr, table, figure = (*KRR, "--n", "10000"), tmp_path / "bounds.csv", tmp_path / "bounds.svg"
    asked = ("compare", *krr, "--epsilon", "0.5", "--patience", "0.1")
    found = as_json(capsys, *asked, "--csv", str(table), "--plot", str(figure))
    expected = sdp.compare(sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000), epsilon=0.5, patience=0.1)
    assert (found["epsilon"], "delta" in found) == (0.5, False)
    assert [(row["name"], row["delta"]) for row in found["bounds"]] == [(row.name, row.value) for row in expected.rows]
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [float(row["delta"]) for row in rows if row["delta"]] == [row.value for row in expected.rows]
    drawn = figure.read_text(encoding="utf-8")
    assert f"<!-- δ at ε = 0.5; {len(expected.skipped)} slow bounds left out -->" in drawn
    assert "<!-- certified: δ in [6.36" in drawn
    text = answer(capsys, *asked)
    assert "The true delta at epsilon = 0.5 lies between 6.36" in text
    assert all(row.name in text for row in expected.rows)
    for wrong in ((), ("--delta", "1e-6", "--epsilon", "1")):
        assert main(["compare", *krr, *wrong]) == 2
        assert "exactly one of --delta and --epsilon must be given" in capsys.readouterr().err
    never = as_json(capsys, "compare", *krr, "--epsilon", "4", "--patience", "0.1")
    assert {row["ratio"] for row in never["bounds"]} == {None}


def test_names_of_bounds_stay_whole_on_a_narrow_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = answer(capsys, "compare", *KRR, "--n", "10000", "--epsilon", "0.5", "--patience", "inf")
    words = {word.rstrip(",") for word in text.split()}
    rows = sdp.compare(sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000), epsilon=0.5, patience=math.inf).rows
    assert {row.name for row in rows} <= words


def test_an_explanation_names_the_bounds_it_left_out(capsys: Capture) -> None:
    asked = ("explain", *KRR, "--n", "10000", "--delta", "1e-6")
    skipped = as_json(capsys, *asked)["skipped"]
    assert "koskela-2021-krr-weak-exact" in skipped
    text = answer(capsys, *asked)
    assert all(name in text for name in skipped)
    assert "shuffledp compare ... --patience inf" in text
    rounds = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000).compose(3).explain(delta=1e-6)
    assert "feldman-2020-clones-renyi" in rounds.skipped
    assert "koskela-2021-clones" in str(rounds)
