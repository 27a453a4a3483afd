"""Figures are written whole, in the format that was asked for, or not at all."""

import math
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp import figures
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInput
from shuffledp.figures import curve_figure
from shuffledp.storage.files import check_file, replace_file
from shuffledp.wording import rounded

SURVEY = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=1000)
MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", figures.FIGURE_TYPES)
def test_a_figure_of_every_type(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"curve{suffix}"
    assert curve_figure(SURVEY, path) == path
    assert path.read_bytes().startswith(MAGIC[suffix])
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


GUARANTEES: dict[str, Callable[[], Guarantee]] = {
    "rounds": lambda: SURVEY.compose(4),
    "no ceiling": lambda: sdp.shuffle(sdp.Gaussian(sigma=1.0), n=1000),
    "leaky": lambda: sdp.shuffle(sdp.AnyLDP(epsilon0=2.0, delta0=1e-12), n=1000),
    "alone": lambda: sdp.shuffle(sdp.KRR(k=3, epsilon0=1.0), n=1),
    "alone and strong": lambda: sdp.shuffle(sdp.KRR(k=3, epsilon0=1.0), n=1, adversary="strong"),
    "next to nothing": lambda: sdp.shuffle(sdp.RR(epsilon0=1e-6), n=1000),
    "several": lambda: sdp.Accountant().add(SURVEY).add(sdp.shuffle(sdp.RR(epsilon0=1.0), n=1000)).total,
}


@pytest.mark.parametrize("name", GUARANTEES)
def test_every_guarantee_can_be_drawn(name: str, tmp_path: Path) -> None:
    assert curve_figure(GUARANTEES[name](), tmp_path / "curve.png").stat().st_size > 10_000


def test_chosen_epsilons_and_title(tmp_path: Path) -> None:
    path = curve_figure(SURVEY, tmp_path / "curve.svg", epsilons=np.linspace(0.0, 6.0, 20), title="mine")
    text = path.read_text(encoding="utf-8")
    assert "<!-- mine -->" in text
    assert "<!-- ε ≤ " in text


def test_the_words_in_the_figure_are_true(tmp_path: Path) -> None:
    text = curve_figure(SURVEY, tmp_path / "curve.svg", delta=1e-6).read_text(encoding="utf-8")
    shown = float(text.partition("<!-- ε ≤ ")[2].split()[0])
    upper = SURVEY.epsilon(delta=1e-6).upper
    assert upper <= shown <= 1.01 * upper
    assert "<!-- krr, k = 16, ε₀ = 4; 1,000 people -->" in text
    assert "<!-- one report without a shuffler -->" in text
    assert "<!-- ε = 4.00 -->" in text


def test_settings_of_the_caller_are_left_alone(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    curve_figure(SURVEY, tmp_path / "curve.pdf")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", ["curve.gif", "curve", "curve.", ".png", "curve.png.txt"])
def test_an_unknown_type_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(sdp.InvalidInput, match=r"must end in \.png, \.svg or \.pdf, got .*Rename it"):
        curve_figure(SURVEY, tmp_path / name)


def test_a_missing_folder_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(sdp.InvalidInput, match="mkdir -p"):
        curve_figure(SURVEY, tmp_path / "none" / "curve.png")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "curve.png").mkdir()
    with pytest.raises(sdp.InvalidInput, match="must be a file, got a folder"):
        curve_figure(SURVEY, tmp_path / "curve.png")


@pytest.mark.parametrize("failure", [OSError(28, "No space left"), RuntimeError("a bug"), KeyboardInterrupt()])
def test_what_was_there_survives_a_failure(failure: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "curve.png"
    path.write_text("old", encoding="utf-8")

    def write(temporary: Path) -> None:
        temporary.write_text("half", encoding="utf-8")
        raise failure

    with pytest.raises(sdp.InvalidInput if isinstance(failure, OSError) else type(failure)):
        replace_file(path, write)
    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["curve.png"]


def test_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sdp.InvalidInput, match="guarantee must come from shuffle"):
        curve_figure(sdp.KRR(k=3, epsilon0=1.0), tmp_path / "curve.png")  # type: ignore[arg-type]


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(1, 12))
def test_rounding_keeps_to_its_side(value: float, digits: int) -> None:
    low, high = (float(rounded(value, up=up, digits=digits)) for up in (False, True))
    assert low <= value <= high
    assert high - low <= value * 1.01 * 10.0 ** (1 - digits)


def test_rounding_of_nothing_and_of_everything() -> None:
    assert float(rounded(0.0, up=True)) == 0.0
    assert rounded(math.inf, up=True) == "infinite"


def test_devices_are_refused_and_links_stay(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="ordinary file"):
        check_file(Path("/dev/null"))
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    replace_file(link, lambda path: path.write_text("new"))
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_plan_is_drawn_with_every_protocol_that_fits(tmp_path: Path) -> None:
    path = figures.plan_figure("mean", tmp_path / "plan.svg", n=200, delta=1e-4, epsilons=(1.0, 2.0))
    text = path.read_text(encoding="utf-8")
    assert all(name in text for name in ("staircase noise", "mean, krr, trusts a shuffler", "hybrid mechanism"))
