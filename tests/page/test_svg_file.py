"""The chart of an answer by itself."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.page import html
from shuffledp.page.page import ResultPage, release_svg
from tests.page.releases import record

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["survey", "mean", "many", "rounds", "hostile", "quantile", "crosstab"]


def elements(drawn: str) -> list[ElementTree.Element]:
    """Those of a drawing, which must be well-formed."""
    return list(ElementTree.fromstring(drawn).iter())


def words(drawn: str) -> list[str]:
    """The texts of a drawing, without spaces at which no line ends."""
    return [(each.text or "").replace("\u00a0", " ") for each in elements(drawn)]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_chart_of_the_page(name: str) -> None:
    chart = ResultPage(record(name)).chart
    assert chart is not None
    assert chart in html(record(name))
    assert chart in release_svg(record(name))._repr_svg_()


@pytest.mark.parametrize("name", NAMES)
def test_it_needs_nothing_but_itself(name: str) -> None:
    drawn = release_svg(record(name))._repr_svg_()
    root, *inside = elements(drawn)
    assert root.tag == f"{SVG}svg"
    assert float(root.attrib["width"]) == 720.0
    assert float(root.attrib["height"]) > 120.0
    assert [each.tag for each in inside[:4]] == [f"{SVG}{tag}" for tag in ("title", "desc", "style", "rect")]
    assert all(each.text for each in inside[:3])
    style = inside[2].text or ""
    rules = [line.strip() for line in style.splitlines()]
    assert all(rule.startswith(".chart") for rule in rules), "in a notebook, it changes nothing else"
    used = {kind for each in inside for kind in each.get("class", "").split()} - {"chart", "bars", "scale", "curve"}
    assert all(f".{kind} " in style or f".{kind}," in style for kind in used - {"full"})
    assert not {each.tag for each in inside} & {f"{SVG}script", f"{SVG}image", f"{SVG}a"}
    assert not any(sign in drawn for sign in ("var(", "url(", "href", "@import"))


def test_it_says_what_the_record_says() -> None:
    made = record("rounds")
    drawn = release_svg(made)._repr_svg_()
    said, found = words(drawn), made.estimates
    assert set(found.label) <= set(said)
    assert "letter: number of people per answer" in said
    assert any(each.startswith("20,000 people; ε ≤ 0.9542 at δ = 10⁻⁶; accuracy ± 58 (people for the") for each in said)
    scale = 100.0 / max(found.upper)
    errors = [each.attrib for each in elements(drawn) if each.get("class") == "error"]
    errors = [each for each in errors if each["x1"] != each["x2"]]
    for value, low, high, error in zip(found.value, found.lower, found.upper, errors, strict=True):
        assert any(each.startswith(f"{value:,.0f} ± ") for each in said)
        assert [float(error[end].rstrip("%")) for end in ("x1", "x2")] == pytest.approx(
            [low * scale, high * scale], abs=0.01
        )


def test_a_long_list_has_intervals_for_all_at_once_and_a_mean_its_own() -> None:
    long = " ".join(words(release_svg(record("many"))._repr_svg_()))
    assert "The 30 largest of 300 estimates, the largest first." in long
    assert "intervals that hold for all 300 at once" in long
    mean = " ".join(words(release_svg(record("mean"))._repr_svg_()))
    assert "49.967 (95 % interval: 49.885 to 50.049)" in mean
    assert "The scale from 0 to 100, which is all that is possible" in mean


def test_it_is_saved_whole_as_svg_only(tmp_path: Path) -> None:
    made = release_svg(record("tiny"))
    path = made.save(tmp_path / "estimates.svg")
    assert path.read_text(encoding="utf-8") == made._repr_svg_() + "\n"
    assert [each.name for each in tmp_path.iterdir()] == ["estimates.svg"]
    for name in ("estimates.png", "estimates", "estimates.pdf"):
        with pytest.raises(InvalidInput, match=r"must end in \.svg, got .* Write .*\.svg': a browser opens it"):
            made.save(tmp_path / name)
    with pytest.raises(InvalidInput, match="mkdir -p"):
        made.save(tmp_path / "none" / "estimates.svg")


def test_what_was_seeded_says_so() -> None:
    assert not record("hostile").secure
    assert "not for release" in release_svg(record("hostile"))._repr_svg_()
    assert "not for release" not in release_svg(record("survey"))._repr_svg_()


def test_quantiles_are_said_and_marked() -> None:
    made = record("quantile")
    drawn = release_svg(made)._repr_svg_()
    found = made.table("quantiles")
    assert found is not None
    rows = [f"{name}: {point} (95 % interval: {ends})" for name, point, ends in made.question.told(made)[0].rows]
    assert len(rows) == 3
    assert all(row in " ".join(words(drawn)) for row in rows)
    dots = [each for each in elements(drawn) if each.get("class") == "dot"]
    places = list(found.value)  # of a range from 0 to 100, in per cent
    assert [float(each.attrib["cx"].rstrip("%")) for each in dots] == pytest.approx(places, abs=0.01)


def test_a_crosstab_is_a_map_and_one_too_large_has_bars() -> None:
    made = record("crosstab")
    said = words(release_svg(made)._repr_svg_())
    assert {"north", "south", "tea", "coffee", "water", "(all)"} <= set(said)
    assert [f"{value:,.0f}" for value in made.estimates.value if f"{value:,.0f}" not in said] == []
    wide = release_svg(record("wide crosstab"))
    assert "The 30 largest of 120 estimates" in wide.caption
    assert wide.charts[0][1].kind == "bars"
