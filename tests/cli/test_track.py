"""The command track: what it says, and what it refuses with one sentence and exit code 2."""

import json
from pathlib import Path
from typing import Any

import pytest

from shuffledp.cli import main
from shuffledp.ledger import Ledger

PEOPLE = ("--n", "400", "--honest", "300", "--rounds", "3", "--epsilon", "2", "--delta", "1e-6")
SETTLED = ("histogram", "--categories", "yes,no", *PEOPLE)
LIMITS = ("--population", "p", "--limit-epsilon", "3", "--limit-delta", "1e-5")


class Tracking:
    """The command, in a folder with a table of 350 answers."""

    def __init__(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.place, self._capsys = place, capsys
        (place / "week.csv").write_text("answer\n" + "yes\n" * 200 + "no\n" * 150, encoding="utf-8")

    def designed(self, *words: object) -> tuple[str, str]:
        """The option that names a design of this."""
        assert main(["stage", "design", *map(str, words), "--out", "design.json", "--force"]) == 0, (
            self._capsys.readouterr().err
        )
        self._capsys.readouterr()
        return "--design", "design.json"

    def said(self, *words: object) -> dict[str, Any]:
        assert main(["series", *map(str, words), "--json"]) == 0, self._capsys.readouterr().err
        found: dict[str, Any] = json.loads(self._capsys.readouterr().out)
        return found

    def refused(self, *words: object) -> str:
        assert main(["series", *map(str, words)]) == 2
        return " ".join(self._capsys.readouterr().err.split())


@pytest.fixture
def track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tracking:
    monkeypatch.chdir(tmp_path)
    return Tracking(tmp_path, capsys)


@pytest.mark.long
def test_from_a_new_series_to_its_trend(track: Tracking) -> None:
    made = track.said("new", "polls", *track.designed(*SETTLED), "--ledger", "b.sqlite", *LIMITS)
    assert (made["series"]["name"], made["series"]["ledger"]["path"]) == ("polls", "../b.sqlite")
    for week in (1, 2):
        said = track.said("add", "polls", "week.csv", "--column", "answer", "--period", f"2026-W{9 + week}")
        assert said["asked"]["series"]["week"] == week
    status = track.said("status", "polls")
    assert (status["left"], [each["week"] for each in status["released"]]) == (1, [1, 2])
    assert status["spent"]["upper"] < status["promised"]["epsilon"] == 2
    trend = track.said("plot", "polls")
    assert len(trend["points"]) == 4
    assert {each.name for each in (track.place / "polls").glob("trend.*")} == {"trend.csv", "trend.html", "trend.svg"}
    assert "Write 'trend.svg': a browser opens it." in track.refused("plot", "polls", "--out", "trend.png")


def test_bad_input_is_one_sentence_and_spends_nothing(track: Tracking) -> None:
    ledger = ("--ledger", "b.sqlite", *LIMITS)
    settled = track.designed(*SETTLED)
    for words, remedy in (
        ((), "Missing option '--design'"),
        (("--design", "x.json"), "--design must name a file that `shuffledp stage design` wrote"),
        ((*settled, "--weeks", "4"), "--weeks must be the rounds of the design, 3, got 4"),
        ((*settled, "--by", "x"), "--by must be one of the columns of a crosstab"),
        ((*settled, "--name", " "), "series must be text without spaces around it"),
    ):
        assert remedy in track.refused("new", "polls", *words, *ledger)
    assert not (track.place / "b.sqlite").exists()
    track.said("new", "polls", *settled, *ledger)
    (track.place / "few.csv").write_text("answer\n" + "yes\n" * 299, encoding="utf-8")
    (track.place / "empty.csv").write_text("answer\n", encoding="utf-8")
    for words, remedy in (
        (("polls", "few.csv"), "at least the 300 that were promised, got 299"),
        (("polls", "empty.csv"), "at least one value, got no rows"),
        (("polls", "week.csv", "--week", "4"), "--week must be at most 3"),
        (("polls", "week.csv", "--period", "soon"), "--period must be a week, a month or a day"),
        (("polls", "week.csv", "--clip"), "--clip must be left out for a histogram"),
        (("polls", "week.csv", "--missing", "gone"), "--missing must be one of the 2 categories"),
        (("polls", "week.csv", "--ledger", "c.sqlite"), "the ledger of series 'polls' must be there"),
        ((".", "week.csv"), "must be the folder of a series"),
    ):
        assert remedy in track.refused("add", *words)
    assert "must have a week to draw" in track.refused("plot", "polls")
    assert [each.state for each in Ledger(track.place / "b.sqlite").releases()] == ["paid in advance"]
    assert not list((track.place / "polls" / "weeks").iterdir())


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("top", "--longest", "2", "--n", "20000", "--epsilon", "1", "--delta", "1e-6"), "got a search for top words"),
        (("histogram", "--categories", "yes,no", "--n", "400", "--epsilon", "2", "--delta", "1e-6"), "--rounds 52"),
    ],
)
def test_what_a_series_cannot_ask_is_refused(track: Tracking, words: tuple[str, ...], remedy: str) -> None:
    assert remedy in track.refused("new", "polls", *track.designed(*words), "--ledger", "b.sqlite", *LIMITS)
    assert not (track.place / "b.sqlite").exists()
    assert not (track.place / "polls").exists()


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (
            ("mean", "--lower", "0", "--upper", "9", "--mechanism", "fakes"),
            "mean takes no --mechanism. It is for histogram, crosstab, quantile. Leave out --mechanism.",
        ),
        (("histogram", "--categories", "yes,no", "--bins", "4"), "histogram takes no --bins"),
        (("histogram", "--categories", "yes,no", "--value", "yes"), "histogram takes no --value. It is for count."),
        (("histogram", "--categories", "yes,no", "--longest", "5"), "histogram takes no --longest. It is for top."),
        (
            ("quantile", "--lower", "0", "--upper", "9", "--error", "5"),
            "quantile takes no --error. It is for count, mean, sum",
        ),
        (("quantile", "--lower", "0", "--upper", "9", "--at", "1.5"), "between 0 and 1"),
        (("crosstab", "--column", "a", "--categories", "yes,no"), "at least two columns"),
        (("count", "--tokens", "t.txt"), "count takes no --tokens"),
        (("top", "--categories", "yes,no"), "top takes no --categories"),
        (("top", "--range", "1:2"), "top takes no --range"),
    ],
)
def test_what_a_design_cannot_ask_is_refused(
    words: tuple[str, ...], remedy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stage", "design", *words, *PEOPLE, "--out", str(tmp_path / "design.json")]) == 2
    assert remedy in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.fleet
def test_groups_are_followed_by_dummies(track: Tracking) -> None:
    rows = ["north,yes", "north,no", "south,no"] * 117
    (track.place / "week.csv").write_text("\n".join(["region,smoker", *rows]) + "\n", encoding="utf-8")
    asked = ("--column", "region", "--column", "smoker", "--categories", "region=north,south", "--categories", "yes,no")
    settled = track.designed("crosstab", *asked, "--mechanism", "dummies", *PEOPLE)
    track.said("new", "areas", *settled, "--by", "region")
    for _ in range(2):
        said = track.said("add", "areas", "week.csv")
        assert said["asked"]["by"] == "region"
        assert [each["name"] for each in said["tables"]] == ["estimates", "shares"]
    trend = track.said("plot", "areas")
    assert {each["unit"] for each in trend["points"]} == {"share of people", "share of the group"}
    assert sum(each["label"] == "north: yes" for each in trend["points"]) == 2
    assert [pace["gain"] for pace in track.said("status", "areas")["paces"]] == [None]
