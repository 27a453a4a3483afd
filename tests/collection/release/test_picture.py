"""The figure beside the page."""

from pathlib import Path

import pytest

from shuffledp.collection.record import Record
from shuffledp.collection.release.picture import release_figure
from shuffledp.errors import InvalidInput
from shuffledp.figures import FIGURE_TYPES
from tests.collection.page.releases import facts, record


@pytest.mark.parametrize("name", ["survey", "mean", "many", "hostile"])
def test_every_release_can_be_drawn_whatever_its_labels(name: str, tmp_path: Path) -> None:
    made = facts(name)
    if name == "hostile":
        made["estimates"]["label"][0] = "$\\frac{"
    path = release_figure(Record.from_json(made), tmp_path / "estimates.png")
    assert path.stat().st_size > 10_000
    assert [each.name for each in tmp_path.iterdir()] == ["estimates.png"]


def test_the_figure_says_what_the_facts_say(tmp_path: Path) -> None:
    text = release_figure(record("many"), tmp_path / "estimates.svg").read_text(encoding="utf-8")
    assert "<!-- frequency of page; the 40 largest of 300" in text
    assert "<!-- 95 % interval, for all at once -->" in text
    made = record("rounds")
    text = release_figure(made, tmp_path / "rounds.svg").read_text(encoding="utf-8")
    for value in made.estimates.value:
        assert f"<!-- {value:,.0f}  (" in text, "the interval as an interval: a plus-minus could be a standard error"


def test_another_type_of_file_is_refused(tmp_path: Path) -> None:
    assert ".png" in FIGURE_TYPES
    with pytest.raises(InvalidInput, match=r"must end in \.png"):
        release_figure(record("tiny"), tmp_path / "estimates.gif")
