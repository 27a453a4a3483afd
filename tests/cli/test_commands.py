"""The command line answers what the library answers, and refuses in one line what it cannot
answer.
"""

import json
import math
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.cli.setup import RANDOMIZERS as LISTED_RANDOMIZERS
from shuffledp.cli.setup import parameters
from shuffledp.design import Design
from shuffledp.randomizers import AnyDeletionLDP, CheckIn, UserFakes
from shuffledp.randomizers.names import NAMES
from tests.cli.people import done

COMMANDS = ["epsilon", "delta", "calibrate", "explain", "curve"]
KRR = ["--randomizer", "krr", "--k", "16", "--epsilon0", "4"]
PLAN = [*KRR, "--n", "1000"]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain terminal, wide enough for every sentence."""
    monkeypatch.setenv("COLUMNS", "300")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)


def answer(capsys: Capture, *arguments: str) -> str:
    code = main(arguments)
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def as_json(capsys: Capture, *arguments: str) -> dict[str, object]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"not strict JSON: {constant}")

    found = json.loads(answer(capsys, *arguments, "--json"), parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def refusal(capsys: Capture, *arguments: str) -> str:
    code = main(arguments)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


# Answers


def test_ends_are_proven_in_balls(capsys: Capture) -> None:
    found = as_json(capsys, "epsilon", *KRR, "--n", "1e6", "--delta", "1e-6", "--proven")
    proven = found["proven"]
    assert isinstance(proven, dict)
    assert proven["holds"]
    assert (proven["lower"], proven["upper"]) == (found["lower"], found["upper"])
    assert "Proven in balls" in answer(capsys, "delta", *KRR, "--n", "1e6", "--epsilon", "0.03", "--proven")


def test_epsilon_is_that_of_the_library(capsys: Capture) -> None:
    found = as_json(capsys, "epsilon", *KRR, "--n", "1e4", "--delta", "1e-6", "--rounds", "30", "--honest", "90%")
    bound = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000, honest=9_000).compose(30).epsilon(delta=1e-6)
    ends = {"lower": bound.lower, "upper": bound.upper, "method": bound.method, "assumptions": list(bound.assumptions)}
    inputs = {
        "randomizer": "krr",
        "k": 16,
        "epsilon0": 4.0,
        "n": 10_000,
        "honest": 9_000,
        "rounds": 30,
        "adversary": "shuffled",
        "delta": 1e-6,
    }
    assert found == ends | inputs


def test_delta_is_that_of_the_library(capsys: Capture) -> None:
    found = as_json(capsys, "delta", *PLAN, "--epsilon", "0.5", "--adversary", "weak")
    bound = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=1000, adversary="weak").delta(epsilon=0.5)
    assert (found["lower"], found["upper"], found["epsilon"], found["adversary"], found["rounds"]) == (
        bound.lower,
        bound.upper,
        0.5,
        "weak",
        1,
    )


RANDOMIZERS = {
    "krr --k 4 --epsilon0 1": sdp.KRR(k=4, epsilon0=1.0),
    "krr --k 4 --gamma 0.25": sdp.KRR.from_gamma(k=4, gamma=0.25),
    "rr --epsilon0 1": sdp.RR(epsilon0=1.0),
    "rr --gamma 0.25": sdp.KRR.from_gamma(k=2, gamma=0.25),
    "any --epsilon0 1": sdp.AnyLDP(epsilon0=1.0),
    "static --epsilon0 1": sdp.AnyLDP(epsilon0=1.0, adaptive=False),
    "any --epsilon0 1 --delta0 1e-12": sdp.AnyLDP(epsilon0=1.0, delta0=1e-12),
    "deletion --epsilon0 1 --delta0 1e-12": AnyDeletionLDP(epsilon0=1.0, delta0=1e-12),
    "laplace --epsilon0 1": sdp.Laplace(epsilon0=1.0),
    "laplace --scale 0.5": sdp.Laplace(epsilon0=2.0),
    "gaussian --sigma 2": sdp.Gaussian(sigma=2.0),
    "hadamard --k 8 --epsilon0 1": sdp.Hadamard(k=8, epsilon0=1.0),
    "oue --k 8 --epsilon0 1": sdp.OUE(k=8, epsilon0=1.0),
    "rappor --k 8 --epsilon0 1": sdp.RAPPOR(k=8, epsilon0=1.0),
    "rappor --k 8 --flip 0.25": sdp.RAPPOR.from_flip(k=8, flip=0.25),
    "olh --k 8 --epsilon0 1": sdp.OLH(k=8, epsilon0=1.0),
    "blh --k 8 --epsilon0 1": sdp.BLH(k=8, epsilon0=1.0),
    "local-hash --k 8 --g 3 --epsilon0 1": sdp.LocalHash(k=8, g=3, epsilon0=1.0),
    "Local_Hash --k 8 --g 3 --epsilon0 1": sdp.LocalHash(k=8, g=3, epsilon0=1.0),
    "subset --k 8 --epsilon0 1": sdp.SubsetSelection(k=8, epsilon0=1.0),
    "subset --k 8 --epsilon0 1 --size 3": sdp.SubsetSelection(k=8, epsilon0=1.0, size=3),
    "unary --k 8 --p 0.5 --q 0.25": sdp.Unary(k=8, p=0.5, q=0.25),
    "check-in --k 8 --probability 0.25 --epsilon0 1": CheckIn(sdp.KRR(k=8, epsilon0=1.0), probability=0.25),
    "matrix --matrix noise.csv": sdp.FromMatrix([[2 / 3, 1 / 3], [1 / 4, 3 / 4]]),
}


def test_every_randomizer_is_tried() -> None:
    assert {line.split()[0] for line in RANDOMIZERS} >= set(NAMES)
    typed = {word for line in RANDOMIZERS for word in line.split() if word.startswith("--")}
    assert typed == {each.flag for each in parameters().values()}


def test_the_whole_help_lists_every_randomizer_once(capsys: Capture) -> None:
    assert sorted(LISTED_RANDOMIZERS.split()) == sorted(NAMES)
    main(["epsilon", "--help-all"])
    text = capsys.readouterr().out
    assert all(f" {name:<11}{kind.usage():<29}  {kind.title}\n" in text for name, kind in NAMES.items())


@pytest.mark.parametrize("line", RANDOMIZERS)
def test_every_randomizer_is_built_as_in_the_library(
    line: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("noise.csv").write_text("# mine\n2/3, 1/3\n\n0.25, 0.75\n", encoding="utf-8")
    found = as_json(capsys, "delta", "--randomizer", *line.split(), "--n", "2000", "--epsilon", "0.05")
    bound = sdp.shuffle(RANDOMIZERS[line], n=2000).delta(epsilon=0.05)
    assert (found["lower"], found["upper"]) == (bound.lower, bound.upper)
    assert found["randomizer"] == line.split()[0].lower().replace("_", "-")


DESIGNS: dict[str, Any] = {
    "signed": partial(Poll, "count", value="yes"),
    "dummies": partial(Poll, "histogram", mechanism="dummies", categories=["a", "b", "c"]),
    "fakes": partial(Poll, "histogram", mechanism="fakes", categories=["a", "b", "c"], kind="poisson"),
    "split": partial(Poll, "mean", mechanism="split", lower=0, upper=1),
    "krr": partial(Poll, "histogram", categories=["a", "b", "c"], rounds=2),
    "hadamard": partial(Poll, "histogram", categories=["a", "b", "c"], mechanism="hadamard"),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_the_law_of_a_design_is_accounted_for_with_its_people(name: str, capsys: Capture, tmp_path: Path) -> None:
    path, poll = tmp_path / "design.json", DESIGNS[name](n=2000, honest=1500, epsilon=1.0, delta=1e-6)
    path.write_text(Design.of(poll).file_text(), encoding="utf-8")
    found = as_json(capsys, "epsilon", "--design", str(path), "--delta", "1e-6")
    bound = poll.guarantee.epsilon(delta=1e-6)
    assert (found["lower"], found["upper"]) == pytest.approx((bound.lower, bound.upper), rel=1e-6)
    assert (found["randomizer"], found["n"], found["honest"]) == (name, 2000, 1500)
    assert found["rounds"] == poll.rounds
    assert (found["epsilon0"] is None) == (poll.epsilon0 == math.inf)
    among = as_json(capsys, "delta", "--design", str(path), "--n", "1600", "--epsilon", "0.5")
    alone = sdp.shuffle(poll.randomizer, n=1600).delta(epsilon=0.5)
    assert (among["lower"], among["upper"], among["honest"]) == (alone.lower, alone.upper, 1600)


@pytest.mark.parametrize("name", sorted(set(DESIGNS) - {"fakes"}))
def test_the_fewest_people_of_a_design_report_as_often_and_as_honestly_as_it_says(
    name: str, capsys: Capture, tmp_path: Path
) -> None:
    path, poll = tmp_path / "design.json", DESIGNS[name](n=2000, honest=1500, epsilon=1.0, delta=1e-6)
    path.write_text(Design.of(poll).file_text(), encoding="utf-8")
    target = ["calibrate", "--design", str(path), "--epsilon", "1.5", "--delta", "1e-6"]
    if name in ("signed", "split", "dummies"):  # however many people there are, the same noise hides each of them
        assert "--n must be given for a design whose noise does not grow with the people" in refusal(capsys, *target)
        assert as_json(capsys, *target, "--n", "2000")["solved_for"] == "rounds"
        return
    found = as_json(capsys, *target)
    assert (found["rounds"], found["honest"]) == (poll.rounds, math.floor(0.75 * int(str(found["n"]))))
    assert int(str(found["n"])) < 2000, "the promise of the design is a stricter one"
    alone = as_json(capsys, *target, "--rounds", "1", "--honest", "100%")
    assert (alone["rounds"], alone["honest"]) == (1, alone["n"])


def test_laws_of_several_messages_are_calibrated_compared_and_said_to_be_sealed(
    capsys: Capture, tmp_path: Path
) -> None:
    law = UserFakes(k=4, slots=1, chance=0.5).realised
    poll = Poll("histogram", categories=["a", "b", "c", "d"], n=1000, randomizer=law, delta=1e-6)
    path = tmp_path / "design.json"
    path.write_text(Design.of(poll).file_text(), encoding="utf-8")
    fakes = ["--design", str(path)]
    found = as_json(capsys, "calibrate", *fakes, "--epsilon", "0.5", "--delta", "1e-6")
    assert (found["solved_for"], found["n"], found["epsilon0"]) == ("n", 1084, None)
    beside = as_json(capsys, "compare", *fakes, "--n", "1084", "--delta", "1e-6")
    assert [row["name"] for row in beside["bounds"]] == ["shuffledp", "shuffledp"]
    assert all("one message of each user" in left["reason"] for left in beside["refused"])
    assert "only the analyst can read a message" in " ".join(
        answer(capsys, "epsilon", *fakes, "--n", "1084", "--delta", "1e-6").split()
    )


def test_calibrate_solves_for_what_is_left_out(capsys: Capture) -> None:
    target = ["--epsilon", "1", "--delta", "1e-6"]
    strength = as_json(capsys, "calibrate", "--randomizer", "krr", "--k", "16", "--n", "10000", *target)
    plan = sdp.calibrate(sdp.KRR, k=16, n=10_000, epsilon=1.0, delta=1e-6)
    assert (strength["solved_for"], strength["epsilon0"], strength["reached_epsilon"]) == (
        "epsilon0",
        plan.value,
        plan.epsilon,
    )
    assert strength["gamma"] == pytest.approx(sdp.KRR(k=16, epsilon0=plan.value).gamma)
    users = as_json(capsys, "calibrate", *KRR, *target)
    assert (users["solved_for"], users["n"]) == (
        "n",
        sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), epsilon=1.0, delta=1e-6).value,
    )
    rounds = as_json(capsys, "calibrate", *KRR, "--n", "10000", *target)
    expected = sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), n=10_000, rounds=None, epsilon=1.0, delta=1e-6)
    assert (rounds["solved_for"], rounds["rounds"]) == ("rounds", expected.value)


def test_calibrate_finds_the_noise_of_a_gaussian(capsys: Capture) -> None:
    found = as_json(capsys, "calibrate", "--randomizer", "gaussian", "--n", "100", "--epsilon", "1", "--delta", "1e-4")
    assert found["solved_for"] == "sigma"
    assert found["sigma"] == sdp.calibrate(sdp.Gaussian, n=100, epsilon=1.0, delta=1e-4).value


@pytest.mark.parametrize("text, percent", [("0.8", "80%"), (".995", "99.5%"), ("0.050", "5%")])
def test_a_share_of_honest_users_is_a_percentage(text: str, percent: str, capsys: Capture) -> None:
    assert main(["epsilon", *KRR, "--n", "1e4", "--delta", "1e-6", "--honest", text]) == 2
    assert f"{text!r} is not a count. Write that share of the users as {percent}." in capsys.readouterr().err


@pytest.mark.parametrize("honest", ["290", "29%"])
def test_calibrate_counts_honest_users_exactly(honest: str, capsys: Capture) -> None:
    found = as_json(
        capsys,
        "calibrate",
        "--randomizer",
        "rr",
        "--n",
        "1000",
        "--honest",
        honest,
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
    )
    assert found["honest"] == 290
    alone = sdp.shuffle(sdp.RR(epsilon0=float(str(found["epsilon0"]))), n=1000, honest=290)
    assert alone.epsilon(delta=1e-6).upper <= 1.0


def test_explain_lists_every_bound(capsys: Capture) -> None:
    small = ("--randomizer", "krr", "--k", "3", "--epsilon0", "1", "--n", "200", "--delta", "1e-6")
    found = as_json(capsys, "explain", *small)
    report = sdp.shuffle(sdp.KRR(k=3, epsilon0=1.0), n=200).explain(delta=1e-6)
    assert found["bounds"] == [{"side": row.side, "epsilon": row.epsilon, "source": row.source} for row in report.rows]
    text = answer(capsys, "explain", *small)
    assert all(row.source in text for row in report.rows)
    assert all(assumption in text for assumption in report.bound.assumptions)


def test_curve_is_the_profile(capsys: Capture, tmp_path: Path) -> None:
    table, figure = tmp_path / "curve.csv", tmp_path / "curve.svg"
    found = as_json(
        capsys,
        "curve",
        *PLAN,
        "--from",
        "0.1",
        "--to",
        "0.5",
        "--points",
        "5",
        "--csv",
        str(table),
        "--plot",
        str(figure),
    )
    band = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=1000).profile([0.1, 0.2, 0.3, 0.4, 0.5])  # type: ignore[arg-type]
    assert (found["epsilons"], found["lower"], found["upper"]) == (
        band.at.tolist(),
        band.lower.tolist(),
        band.upper.tolist(),
    )
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    assert header == "epsilon,lower,upper"
    assert [float(row.split(",")[2]) for row in rows] == band.upper.tolist()
    assert figure.read_text(encoding="utf-8").startswith("<?xml")


def test_curve_ends_by_itself_where_delta_is_tiny(capsys: Capture) -> None:
    found = as_json(capsys, "curve", *PLAN)
    epsilons, upper = found["epsilons"], found["upper"]
    assert isinstance(epsilons, list)
    assert isinstance(upper, list)
    assert (len(epsilons), epsilons[0]) == (11, 0.0)
    assert 0.0 < upper[-1] <= 1e-12 < upper[-2]


@pytest.mark.parametrize(
    "line",
    [
        "curve --randomizer rr --epsilon0 1e-6 --n 1000",
        "curve --randomizer krr --k 3 --epsilon0 1 --n 1 --points 3",
        "curve --randomizer krr --k 3 --epsilon0 1 --n 1 --points 3 --adversary strong",
        "epsilon --randomizer krr --k 1e6 --epsilon0 1 --n 1e12 --delta 1e-12",
        "epsilon --randomizer rr --epsilon0 30 --n 2 --delta 1e-6",
        "epsilon --randomizer rr --epsilon0 1e-6 --n 2 --delta 1e-6",
        "delta --randomizer rr --epsilon0 1 --n 2 --epsilon 1",
    ],
)
def test_extremes_have_answers(line: str, capsys: Capture) -> None:
    assert "nan" not in answer(capsys, *line.split())
    as_json(capsys, *line.split())


def test_what_is_infinite_becomes_null_with_a_note(capsys: Capture) -> None:
    line = [
        "epsilon",
        "--randomizer",
        "krr",
        "--k",
        "3",
        "--epsilon0",
        "1",
        "--n",
        "1",
        "--adversary",
        "strong",
        "--delta",
        "1e-6",
    ]
    found = as_json(capsys, *line)
    assert found["upper"] is None
    assert "upper is infinite" in str(found["note"])
    text = answer(capsys, *line)
    assert "infinite" in text
    assert "No finite epsilon is certified" in text


def test_a_large_delta_earns_a_note(capsys: Capture) -> None:
    assert "aim for less than 0.001" in str(as_json(capsys, "epsilon", *PLAN, "--delta", "0.001")["note"])
    assert "Note: " in answer(capsys, "epsilon", *PLAN, "--delta", "0.001")
    assert "note" not in as_json(capsys, "epsilon", *PLAN, "--delta", "1e-6")


def test_what_is_not_proven_is_said(capsys: Capture) -> None:
    line = ["epsilon", "--randomizer", "gaussian", "--sigma", "1", "--n", "1000", "--delta", "1e-6"]
    (premise,) = sdp.Gaussian(sigma=1.0).assumptions
    assert f"Note: this takes for granted that {premise}." in answer(capsys, *line)
    assumptions = as_json(capsys, *line)["assumptions"]
    assert isinstance(assumptions, list)
    assert premise in assumptions


# Words


def test_an_answer_reads_well(capsys: Capture) -> None:
    text = answer(capsys, "epsilon", *KRR, "--n", "10,000", "--honest", "9000", "--rounds", "2", "--delta", "1e-6")
    upper = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000, honest=9_000).compose(2).epsilon(delta=1e-6).upper
    shown = float(text.partition("epsilon  ")[2].split()[0])
    assert upper <= shown <= upper * 1.001
    assert (
        "With 10,000 people, 9,000 of them honest, who report 2 times each, the true epsilon at delta = 1e-6 is between"
        in text
    )
    assert (
        "In plain words: changing one person's answer changes the probability of any result by at most "
        "a factor of" in text
    )
    assert "\x1b" not in text


def test_calibrate_says_which_way_is_safe(capsys: Capture) -> None:
    assert "at least: fewer users would miss the target" in answer(
        capsys, "calibrate", *KRR, "--epsilon", "1", "--delta", "1e-6"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_that_works(
    command: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = answer(capsys, command, "--help")
    examples = [line.split()[1:] for line in text.splitlines() if line.strip().startswith("shuffledp ")]
    assert examples
    for example in examples:
        assert example[0] == command
        answer(capsys, *example)


def test_help_lists_commands(capsys: Capture) -> None:
    for arguments in ([], ["--help"], ["--help-all"]):
        text = answer(capsys, *arguments)
        assert all(re.search(rf"  (mean, )?{word}(, sum)? +[A-Z]", text) for word in COMMANDS)


def test_version(capsys: Capture) -> None:
    assert answer(capsys, "--version") == f"shuffledp {sdp.__version__}\n"


# Refusals


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("epsilon {krr} --n 0 --delta 1e-6", "n must be at least 1, got 0"),
        ("epsilon {krr} --n -5 --delta 1e-6", "n must be at least 1, got -5"),
        ("epsilon {krr} --n 2.5 --delta 1e-6", "'2.5' is not a whole number"),
        ("epsilon {krr} --n 1e999999 --delta 1e-6", "is not a whole number of reasonable size"),
        ("epsilon {krr} --n ten --delta 1e-6", "'ten' is not a whole number"),
        ("epsilon {krr} --delta 1e-6", "--n is missing"),
        ("epsilon --randomizer krr --k 16 --epsilon0 -1 --n 9 --delta 1e-6", "epsilon0 must be positive, got -1.0"),
        ("epsilon --randomizer krr --k 16 --epsilon0 nan --n 9 --delta 1e-6", "epsilon0 must be finite, got nan"),
        ("epsilon --randomizer krr --k 16 --epsilon0 four --n 9 --delta 1e-6", "'four' is not a number"),
        ("epsilon --randomizer krr --k 1 --epsilon0 4 --n 9 --delta 1e-6", "k must be at least 2, got 1"),
        ("epsilon {krr} --n 9 --delta 0", "delta must lie in (0, 1), got 0.0"),
        ("epsilon {krr} --n 9 --delta 1", "delta must lie in (0, 1), got 1.0"),
        ("epsilon {krr} --n 9 --delta -0.1", "delta must lie in (0, 1), got -0.1"),
        ("epsilon {krr} --n 9 --delta nan", "delta must be finite, got nan"),
        ("explain {krr} --n 9 --delta 2", "delta must lie in (0, 1), got 2.0"),
        ("delta {krr} --n 9 --epsilon -1", "got -1.0"),
        ("epsilon {krr} --n 9 --delta 1e-6 --rounds 0", "rounds must be at least 1, got 0"),
        ("epsilon {krr} --n 9 --delta 1e-6 --honest 10", "honest must be at most n = 9, got 10"),
        ("epsilon {krr} --n 9 --delta 1e-6 --honest 120%", "'120%' is not a share"),
        (
            "epsilon {krr} --n 9 --delta 1e-6 --adversary evil",
            "adversary must be one of shuffled, weak, strong, got 'evil'",
        ),
        ("epsilon --randomizer kr --n 9 --delta 1e-6", "got 'kr'. Did you mean 'krr'? Known: krr, rr, any"),
        ("epsilon --randomizer zzz --n 9 --delta 1e-6", "got 'zzz'. Known: krr, rr, any"),
        (
            "epsilon --randomizer krr --n 9 --delta 1e-6",
            "krr needs --k, how many different values a person can hold, and --epsilon0",
        ),
        (
            "epsilon {krr} --sigma 2 --n 9 --delta 1e-6",
            "krr takes no --sigma, got 2.0. Leave it out; krr takes --k --epsilon0 or --k --gamma.",
        ),
        ("epsilon {krr} --gamma 0.5 --n 9 --delta 1e-6", "krr takes either --epsilon0 or --gamma, got both"),
        ("epsilon {krr} --slots 1 --n 9 --delta 1e-6", "No such option: --slots"),
        ("epsilon --randomizer fakes --k 4 --n 9 --delta 1e-6", "Others come with --design FILE"),
        ("epsilon {krr} --design x.json --n 9 --delta 1e-6", "exactly one of --randomizer and --design must be given"),
        ("epsilon --design x.json --delta 1e-6", "--design must name a file that `shuffledp stage design` wrote"),
        ("epsilon --design x.json --k 3 --delta 1e-6", "a design takes no --k, got 3. Leave it out"),
        (
            "calibrate --design x.json --n 20 --rounds 2 --epsilon 1 --delta 1e-6",
            "--rounds must be left out",
        ),
        ("epsilon --randomizer matrix --matrix short.csv --n 9 --delta 1e-6", "row 1 must sum to 1, got 0.99"),
        ("epsilon --randomizer matrix --matrix words.csv --n 9 --delta 1e-6", "line 1 of 'words.csv' does not"),
        ("epsilon --randomizer matrix --matrix none.csv --n 9 --delta 1e-6", "must be a readable file, got 'none.csv'"),
        ("epsilon {krr} --n 9", "Missing option '--delta'. The delta to allow"),
        ("epsilon --n 9 --delta 1e-6", "exactly one of --randomizer and --design must be given, got neither"),
        ("epsilon {krr} --n 9 --delta", "requires an argument"),
        ("epsilon {krr} --n 9 --delta 1e-6 --typo 3", "No such option: --typo"),
        ("epsilon {krr} --n 9 --delta 1e-6 stray", "stray"),
        ("epsilonn {krr} --n 9 --delta 1e-6", "Did you mean 'epsilon'?"),
        ("calibrate --randomizer krr --k 16 --epsilon 1 --delta 1e-6", "got neither --epsilon0 nor --n"),
        ("calibrate {krr} --n 9 --rounds 2 --epsilon 1 --delta 1e-6", "got all three"),
        ("calibrate {krr} --honest 9 --epsilon 1 --delta 1e-6", "--honest must be a share while n is unknown"),
        ("calibrate {krr} --n 9 --honest 0 --epsilon 1 --delta 1e-6", "honest must be at least 1, got 0"),
        ("calibrate {krr} --n 9 --honest 10 --epsilon 1 --delta 1e-6", "honest must be at most n = 9, got 10"),
        ("calibrate {krr} --n 0 --honest 5 --epsilon 1 --delta 1e-6", "n must be at least 1, got 0"),
        ("calibrate {krr} --epsilon 0 --delta 1e-6", "epsilon must be positive to calibrate for"),
        ("calibrate {krr} --n 3 --epsilon 0.1 --delta 1e-6", "Use more people"),
        ("calibrate --randomizer unary --k 16 --n 9 --epsilon 1 --delta 1e-6", "unary needs --p"),
        (
            "calibrate --randomizer krr --k 16 --n 9 --rounds 0 --epsilon 1 --delta 1e-6",
            "rounds must be at least 1, got 0",
        ),
        ("curve {krr} --n 9 --from 1 --to 0.5", "--to must exceed --from"),
        ("curve {krr} --n 9 --points 1", "points must be at least 2, got 1"),
        ("curve {krr} --n 9 --plot curve.gif", "a figure must end in .png, .svg or .pdf"),
        ("curve {krr} --n 9 --plot missing/curve.png", "mkdir -p missing"),
        ("curve {krr} --n 9 --csv .", "must be a file, got a folder"),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(
    line: str, words: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.csv").write_text("0.5,0.5\n0.5,0.49\n", encoding="utf-8")
    Path("words.csv").write_text("yes,no\n0.5,0.5\n", encoding="utf-8")
    assert words in refusal(capsys, *line.format(krr=" ".join(KRR)).split())


def test_an_answer_that_fails_its_own_check_is_withheld(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def contradict(*_: object, **__: object) -> None:
        raise sdp.ShuffledpError("the ends contradict each other.\nPlease report it.")

    monkeypatch.setattr("shuffledp.accounting.guarantee.Guarantee.epsilon", contradict)
    assert main(["epsilon", *PLAN, "--delta", "1e-6"]) == 1
    assert capsys.readouterr() == ("", "error: the ends contradict each other.\\nPlease report it.\n")


# The process


def run(*arguments: str, program: str = "shuffledp", stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", program, *arguments]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False)


def test_python_m_is_the_command() -> None:
    good, bad = run("epsilon", *PLAN, "--delta", "1e-6", "--json"), run("epsilon", *PLAN, "--delta", "2")
    assert (good.returncode, good.stderr) == (0, "")
    assert (
        json.loads(good.stdout)["upper"] == sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=1000).epsilon(delta=1e-6).upper
    )
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)


def test_a_reader_that_leaves_early_is_no_error() -> None:
    program = [sys.executable, "-m", "shuffledp", "curve", *PLAN, "--points", "3", "--json"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=120) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said_in_one_line() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run("--version", stdout=full.fileno())
    assert (done.returncode, done.stderr) == (1, "error: the answer could not be written: No space left on device.\n")


def test_figures_are_not_loaded_for_a_number() -> None:
    program = "import sys; from shuffledp.cli import main; main(['--version']); sys.exit('matplotlib' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120, check=False).returncode == 0
    )


def test_the_factor_in_plain_words_is_rounded_up(capsys: Capture) -> None:
    text = answer(capsys, "delta", *PLAN, "--epsilon", "0.5")
    assert math.exp(0.5) <= float(text.partition("a factor of ")[2].split(",")[0]) <= 1.001 * math.exp(0.5)


def test_huge_exponents_neither_hang_nor_trace(tmp_path: Path, capsys: Capture) -> None:
    for cell in ("1e400", "1e999999999"):
        table = tmp_path / "table.csv"
        table.write_text(f"0.5,0.5\n{cell},0\n")
        assert main(["epsilon", "--randomizer", "matrix", "--matrix", str(table), "--n", "10", "--delta", "1e-6"]) == 2
        assert capsys.readouterr().err.startswith("error: matrix must hold a line per value")
    assert main(["epsilon", *PLAN, "--honest", "1e9999999999%", "--delta", "1e-6"]) == 2
    assert "not a share" in capsys.readouterr().err


def test_a_closed_output_is_said_in_one_line() -> None:
    command = f"{sys.executable} -m shuffledp --version >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, "error: the answer could not be written: standard output is closed.\n")


def test_a_view_of_sums_is_asked_for_by_name(capsys: Capture) -> None:
    oue = ["--randomizer", "oue", "--k", "16", "--epsilon0", "4", "--n", "30", "--view", "sums"]
    found = as_json(capsys, "epsilon", *oue, "--delta", "1e-6")
    expected = sdp.shuffle(sdp.OUE(k=16, epsilon0=4.0), n=30, view="sums").epsilon(delta=1e-6)
    assert (found["lower"], found["upper"], found["view"]) == (expected.lower, expected.upper, "sums")
    assert main(["epsilon", *PLAN, "--delta", "1e-6", "--view", "sums"]) == 2
    assert 'the view "sums" must be of reports that are bits' in capsys.readouterr().err


UNPROVEN = {"gaussian --sigma 2": "if (0, 1) is the worst pair", "olh --k 20 --epsilon0 3": "if the hash functions are"}


@pytest.mark.parametrize("law", UNPROVEN)
def test_an_upper_end_that_is_not_proven_says_so_beside_the_number(law: str) -> None:
    asked, only = ("--randomizer", *law.split(), "--n", 1000), UNPROVEN[law]
    for command in (("epsilon", "--delta", 1e-6), ("delta", "--epsilon", 0.1)):
        out = done(*command, *asked).out
        line = next(line for line in out.splitlines() if "at most" in line)
        assert "this is guaranteed" not in out
        assert only in line
        assert f"the upper end holds {only}" in json.loads(done(*command, *asked, "--json").out)["note"]
    assert f"at most, {only}" in done("curve", *asked).out
    assert f"the upper end holds {only}" in json.loads(done("curve", *asked, "--json").out)["note"]
    said = " ".join(done("explain", *asked, "--delta", 1e-6).out.split())
    assert f"first-clone swap (docs/theory.md), {only}" in said
    compared = done("compare", *asked, "--delta", 1e-6, "--patience", 0.01).out.splitlines()
    assert any("at most" in line and "assumed" in line and only in line for line in compared)
    written = json.loads(done("compare", *asked, "--delta", 1e-6, "--patience", 0.01, "--json").out)
    assert f"the upper end holds {only}" in written["note"]
    assert {
        (row["side"], row["status"], only in row["rests"]) for row in written["bounds"] if row["name"] == "shuffledp"
    } == {
        ("lower", "proven", False),
        ("upper", "assumed", True),
    }


def test_the_repr_of_a_bound_says_what_its_upper_end_rests_on() -> None:
    for law in (sdp.OLH(k=10, epsilon0=2.0), sdp.BLH(k=10, epsilon0=2.0)):
        assert repr(sdp.shuffle(law, n=100).epsilon(delta=1e-6)).endswith(" if the hash functions are ideal)")
    assert " if (0, 1) is the worst pair, " in repr(sdp.shuffle(sdp.Gaussian(sigma=1.0), n=100).epsilon(delta=1e-6))
