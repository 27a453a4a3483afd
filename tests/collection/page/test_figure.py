"""The figure beside the report."""

from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.figures import FIGURE_TYPES, estimates_figure
from tests.collection.page.releases import facts


@pytest.mark.parametrize("name", ["survey", "mean", "many", "hostile"])
def test_every_release_can_be_drawn_whatever_its_labels(name: str, tmp_path: Path) -> None:
    made = facts(name)
    if name == "hostile":
        made["estimates"]["label"][0] = "$\\frac{"
    path = estimates_figure(made, tmp_path / "estimates.png")
    assert path.stat().st_size > 10_000
    assert [each.name for each in tmp_path.iterdir()] == ["estimates.png"]


def test_the_figure_says_what_the_facts_say(tmp_path: Path) -> None:
    text = estimates_figure(facts("many"), tmp_path / "estimates.svg").read_text(encoding="utf-8")
    assert "<!-- frequency of page; the 40 largest of 300" in text
    assert "<!-- 95 % interval, for all at once -->" in text
    made = facts("rounds")
    text = estimates_figure(made, tmp_path / "rounds.svg").read_text(encoding="utf-8")
    for value in made["estimates"]["value"]:
        assert f"<!-- {value:,.0f}  (" in text, "the interval as an interval: a plus-minus could be a standard error"


def test_another_type_of_file_is_refused(tmp_path: Path) -> None:
    assert ".png" in FIGURE_TYPES
    with pytest.raises(InvalidInput, match=r"must end in \.png"):
        estimates_figure(facts("tiny"), tmp_path / "estimates.gif")
