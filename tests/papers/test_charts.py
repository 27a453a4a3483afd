"""Figures and tables of experiments: nothing is lost, nothing is guessed, and the same lines give
the same files.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from shuffledp.papers.charts import draw, figure
from shuffledp.papers.experiment import Axis, Line, arranged, facts, read_table, write_table
from tests.papers.toy import curves, toy

TOY = toy("toy", curves, 11)
X = np.geomspace(1e-7, 1e-3, 30)


def assert_same(found: Sequence[Line], wanted: Sequence[Line]) -> None:
    names = [[(line.panel, line.label, line.kind) for line in lines] for lines in (found, wanted)]
    assert names[0] == names[1]
    for mine, yours in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine.x, yours.x)
        np.testing.assert_array_equal(mine.y, yours.y)


def legend(drawn: Figure) -> list[str]:
    return [text.get_text() for text in drawn.legends[0].get_texts()]


# Tables


def test_a_table_gives_back_the_very_same_lines() -> None:
    about, lines = read_table(write_table(TOY, curves()))
    assert_same(lines, arranged(curves()))
    assert about == facts(TOY)


VALUES = st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.dictionaries(
        st.tuples(
            st.sampled_from(["", "a, b"]),
            st.sampled_from(["plain", 'with "quotes", [brackets]']),
            st.sampled_from(["upper", "law"]),
        ),
        st.lists(st.tuples(st.floats(-1e3, 1e3), VALUES), min_size=1, max_size=5),
        max_size=5,
    )
)
def test_any_lines_survive_the_table(content: dict[tuple[str, str, str], list[tuple[float, float]]]) -> None:
    lines = arranged(Line(label, kind, *np.array(points).T, panel) for (panel, label, kind), points in content.items())  # type: ignore[arg-type]
    assert_same(read_table(write_table(TOY, lines))[1], lines)


def test_points_are_ordered_and_empty_lines_are_left_out() -> None:
    (line,) = arranged(
        [Line("a", "law", np.array([2.0, 1.0]), np.array([20.0, 10.0])), Line("b", "law", np.empty(0), np.empty(0))]
    )
    assert (line.x.tolist(), line.y.tolist()) == ([1.0, 2.0], [10.0, 20.0])


def test_two_lines_of_one_name_are_refused() -> None:
    with pytest.raises(AssertionError, match="two lines are called 'a'"):
        arranged([Line("a", "law", X, X), Line("a", "law", X, X)])


@pytest.mark.parametrize("damage", ["a row less", "cut", "another digit", "no checksum"])
def test_a_damaged_table_is_not_read(damage: str) -> None:
    text = write_table(TOY, curves())
    spoilt = {
        "a row less": text[: text.rstrip("\n").rindex("\n") + 1],
        "cut": text[: text.index("panel,epsilon") + 20],
        "another digit": text.replace("n = 100,0.1,", "n = 100,0.2,"),
        "no checksum": "".join(row for row in text.splitlines(keepends=True) if not row.startswith("# sha256")),
    }[damage]
    assert spoilt != text
    with pytest.raises(ValueError, match="changed since it was written"):
        read_table(spoilt)


def test_the_table_explains_itself() -> None:
    text = write_table(TOY, curves())
    assert "# parameters: epsilon0 = 1, k = 3, ours\n" in text
    assert "panel,epsilon,certified [upper],certified [lower],Thm 1 [published]" in text
    assert "\nn = 100,0.1," in text


# Figures


def test_figures_are_written_whole_and_the_same_every_time(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(TOY, list(curves()), tmp_path / "toy.png", first)
    draw(TOY, list(curves()), second)
    assert (tmp_path / "toy.png").read_bytes().startswith(b"\x89PNG")
    assert first.read_bytes() == second.read_bytes()
    assert b"<dc:date>" not in first.read_bytes()
    assert "<!-- Figure 1: δ against ε -->" in first.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.svg", "second.svg", "toy.png"]
    assert dict(mpl.rcParams) == before


def test_panels_stand_side_by_side_with_one_y_label() -> None:
    axes = figure(TOY, list(curves())).axes
    assert [each.get_title(loc="left") for each in axes] == ["n = 100", "n = 1000"]
    assert [each.get_xlabel() for each in axes] == ["ε", "ε"]
    assert [each.get_ylabel() for each in axes] == ["δ", ""]
    assert axes[0].get_yscale() == "log"


def test_the_legend_says_what_every_curve_is() -> None:
    words = "certified", "Thm 1 (dashed: outside its conditions)", "eq. (2), as printed (invalid)", "the paper's table"
    assert legend(figure(TOY, list(curves()))) == [*words]


def test_the_axis_shows_the_curves_and_not_the_bottom_of_the_band() -> None:
    lines = [
        Line("ours", "upper", X, np.full(30, 1e-3)),
        Line("ours", "lower", X, np.zeros(30)),
        Line("theirs", "published", X, np.full(30, 0.5)),
    ]
    low, high = figure(TOY, lines).axes[0].get_ylim()
    assert 1e-4 < low < 1e-3
    assert 0.5 < high < 1.0


def test_a_panel_may_have_a_range_of_its_own() -> None:
    lines = [Line("a", "law", X, X / X.max(), "one"), Line("a", "law", X, 2.0 * X / X.max(), "two")]
    for own in (False, True):
        one, two = figure(dataclasses.replace(TOY, y=Axis("epsilon", own=own)), lines).axes
        assert (one.get_ylim() == two.get_ylim()) is not own


def test_no_band_falls_from_the_last_point_where_both_ends_are_0() -> None:
    x, high = np.arange(4.0), np.array([1e-1, 1e-2, 1e-3, 0.0])
    axes = figure(TOY, [Line("ours", "upper", x, high), Line("ours", "lower", x, 0.5 * high)]).axes[0]
    (band,) = axes.collections
    corners = np.concatenate([path.vertices for path in band.get_paths()])
    assert corners[:, 0].max() == 2.0
    assert corners[:, 1].min() > 1e-4


def test_an_unproven_bound_says_so_and_is_dash_dotted() -> None:
    drawn = figure(TOY, [Line("Thm 7", "unproven", X, X), Line("Thm 8", "published", X, X)])
    assert legend(drawn) == ["Thm 7 (unproven)", "Thm 8"]
    assert drawn.axes[0].lines[0].get_linestyle() != drawn.axes[0].lines[1].get_linestyle() == "-"


def test_limits_are_kept() -> None:
    x, y = Axis("delta", log=True, limits=(1e-6, 1e-4)), Axis("epsilon", limits=(0.0, 2.0))
    lines = [Line("ours", "upper", X, X), Line("ours", "lower", X, 0.5 * X)]
    axes = figure(dataclasses.replace(TOY, x=x, y=y), lines).axes[0]
    assert axes.get_xlim() == pytest.approx((1e-6, 1e-4))
    assert axes.get_ylim() == pytest.approx((0.0, 2.0))


def test_eighteen_curves_are_told_apart_without_colour() -> None:
    names = ["certified", "Koskela et al.", "Balle et al."]
    lines = [
        Line(f"{name}, k = {k}", "upper" if name == "certified" else "published", X, i + k * X)
        for i, name in enumerate(names)
        for k in (2, 3, 4, 8, 16, 32)
    ]
    drawn = figure(TOY, lines)
    assert len({(line.get_marker(), line.get_linewidth(), line.get_markersize()) for line in drawn.axes[0].lines}) == 18
    for k in range(6):  # the parameter is the marker
        assert len({line.get_marker() for line in drawn.axes[0].lines[k::6]}) == 1
    assert len({line.get_marker() for line in drawn.axes[0].lines}) == 6


def test_a_long_legend_is_factored_into_families_and_markers() -> None:
    lines = [Line(f"{name}, k = {k}", "published", X, k * X) for name in ("first", "second") for k in (2, 3, 4)]
    words = ["first", "second", "alone, S = 1 (invalid)", "k = 2", "k = 3", "k = 4"]
    assert legend(figure(TOY, [*lines, Line("alone, S = 1", "invalid", X, X)])) == words


@pytest.mark.parametrize(
    "labels", [("certified", "certified"), ("ours", "no less is possible"), ("RR-2, ours", "RR-2, no less is possible")]
)
def test_the_certified_ends_enclose_a_band(labels: tuple[str, str]) -> None:
    ends = [Line(label, kind, X, y) for label, kind, y in zip(labels, ("upper", "lower"), (2.0 * X, X), strict=True)]  # type: ignore[arg-type]
    assert len(figure(TOY, ends).axes[0].collections) == 1
    assert len(figure(TOY, ends[:1]).axes[0].collections) == 0


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [Line("one point", "printed", np.array([0.5]), np.array([0.25]))],
        [Line("nothing known", "published", X, np.full(30, np.nan))],
        [Line("nothing positive", "published", X, np.zeros(30))],
        [Line("infinite", "invalid", X, np.full(30, np.inf)), Line("ours", "upper", X, X)],
        [Line("many panels", "law", X, X * i, f"panel {i}") for i in range(1, 5)],
        [Line("far apart", "law", X * 10.0 ** (9 * i), X * 10.0 ** (-9 * i), f"panel {i}") for i in range(2)],
    ],
    ids=lambda lines: lines[0].label if lines else "empty",
)
def test_odd_lines_can_be_drawn(lines: list[Line], tmp_path: Path) -> None:
    draw(TOY, lines, tmp_path / "odd.png")
    assert (tmp_path / "odd.png").stat().st_size > 3000
