"""Utility of Biswas et al. 2023: the simulation is k-RR, central noise has its guarantee, and every
figure says what its data are.
"""

import gzip
import math
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import InvalidInput
from shuffledp.literature.biswas import delta_corrected, delta_printed
from shuffledp.papers import biswas_utility as utility
from shuffledp.papers.biswas_utility import box_plots
from shuffledp.papers.charts import draw, heat_maps
from shuffledp.papers.cities import CITIES, Box, City, Unreadable, read_gowalla, synthetic_city
from shuffledp.papers.experiment import Experiment, Kind, Line, arranged, by_panel, find, read_table, write_table
from shuffledp.papers.files import reproduce
from shuffledp.randomizers import KRR

pytestmark = pytest.mark.long

EXPERIMENTS = {experiment.name: experiment for experiment in utility.experiments(None)}
MAPS = ["biswas-fig1", "biswas-table5", "biswas-fig3", "biswas-map"]
ENDS: tuple[Kind, Kind] = ("upper", "lower")
Computed = dict[str, list[Line]]
BOX = Box(37.72, 37.81, -122.52, -122.38, rows=2, columns=2)
GOOD = (
    "0\t2010-10-19T23:55:27Z\t37.73\t-122.50\t22847\n"
    "1\t2010-10-18T22:17:43Z\t37.80\t-122.39\t420315\n"
    "1\t2010-10-18T22:17:44Z\t405.2\t-122.39\t7\n"
)


@pytest.fixture(scope="module")
def computed() -> Computed:
    return {name: list(experiment.compute()) for name, experiment in EXPERIMENTS.items()}


def test_reports_have_the_mean_and_variance_of_krr() -> None:
    krr, truth = KRR(k=5, epsilon0=1.0), np.array([400, 300, 200, 100, 0])
    estimates = utility.inverted(utility.reports(truth, krr, np.random.default_rng(1), 20_000), krr)
    deviation = np.sqrt(krr.count_variance(truth))
    np.testing.assert_allclose(estimates.mean(axis=0), truth, atol=5.0 * float(deviation.max()) / math.sqrt(20_000))
    np.testing.assert_allclose(estimates.std(axis=0), deviation, rtol=0.03)


def test_counting_the_reports_of_users_gives_the_same_law() -> None:
    krr, truth = KRR(k=4, epsilon0=2.0), np.array([50, 30, 15, 5])
    rng, users = np.random.default_rng(2), np.repeat(np.arange(4), truth)
    one_by_one = np.array([krr.supports(krr.randomize(users, rng=rng)) for _ in range(1000)])
    at_once = utility.reports(truth, krr, rng, 1000)
    assert (at_once.sum(axis=1) == 100).all()
    spread = 5.0 * one_by_one.std(axis=0) * math.sqrt(2.0 / 1000)
    assert (np.abs(one_by_one.mean(axis=0) - at_once.mean(axis=0)) < spread).all()


def test_geometric_noise_has_its_guarantee_and_its_error() -> None:
    z = np.arange(-400, 401)
    law = np.exp(-2.0 * np.abs(z))  # of one bin at epsilon = 4; a user changes two bins by 1, and each costs 2
    law /= law.sum()
    assert np.abs(np.diff(np.log(law[350:450]))).max() == pytest.approx(2.0)
    assert law @ np.abs(z) == pytest.approx(utility._geometric(4.0), rel=1e-12)


def test_at_the_papers_epsilon_delta_is_zero_so_that_no_gaussian_fits() -> None:
    bound = shuffle(KRR(k=15, epsilon0=4.0), n=1000).delta(epsilon=4.0)
    assert (bound.lower, bound.upper) == (0.0, 0.0)
    for formula in (delta_printed, delta_corrected):
        assert max(formula(1000, 15, 4.0, n0, 4.0) for n0 in (0, 50, 500, 999)) == 0.0


# The figures


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_as_many_lines_as_announced_and_a_verdict_that_follows_from_the_table(name: str, computed: Computed) -> None:
    experiment, lines = EXPERIMENTS[name], computed[name]
    assert len(lines) == experiment.count
    assert all(line.x.shape == line.y.shape and np.isfinite(line.y).all() for line in lines)
    _, stored = read_table(write_table(experiment, lines))
    verdict = experiment.verdict(stored)
    assert verdict.startswith('The paper: "')
    assert verdict == experiment.verdict(arranged(lines))


@pytest.mark.parametrize("name", ["biswas-table4", "biswas-map"])
def test_the_same_numbers_every_time(name: str, computed: Computed) -> None:
    for line, again in zip(computed[name], EXPERIMENTS[name].compute(), strict=True):
        np.testing.assert_array_equal(line.y, again.y)


def test_names_are_those_of_the_catalogue_and_all_say_that_they_are_not_for_release() -> None:
    assert [*EXPERIMENTS] == ["biswas-table4", "biswas-fig1", "biswas-table5", "biswas-fig3", "biswas-map"]
    assert all("seeded, not for release" in experiment.parameters for experiment in EXPERIMENTS.values())


@pytest.mark.parametrize("name", MAPS)
def test_a_synthetic_city_is_called_synthetic_everywhere(name: str, computed: Computed) -> None:
    experiment = EXPERIMENTS[name]
    for text in (experiment.title, experiment.parameters, *(line.panel for line in computed[name])):
        assert "synthetic" in text


@pytest.mark.parametrize("name", ["biswas-table4", "biswas-table5"])
def test_comparable_at_the_certified_guarantee_and_far_apart_at_the_papers(name: str, computed: Computed) -> None:
    lines = computed[name]
    for panel, mine in by_panel(lines).items():
        upper, lower = (find(mine, utility.EQUAL, kind).y for kind in ENDS)
        assert (lower <= upper).all()
        np.testing.assert_allclose(lower, upper, rtol=1e-3)
        equal = utility._ratio(lines, panel, utility.EQUAL, "upper")
        assert equal.max() < 2.0 < 10.0 < utility._ratio(lines, panel, utility.PURE, "law").min()


def test_the_misprint_would_make_the_gaussian_worse_than_the_shuffle(computed: Computed) -> None:
    lines = computed["biswas-table4"]
    for panel in utility._panels(lines):
        assert (utility._ratio(lines, panel, utility.MISPRINT, "invalid") < 0.5).all()


def test_inversion_helps_and_ten_runs_are_kept(computed: Computed) -> None:
    lines = computed["biswas-fig3"]
    panels = by_panel(lines)
    assert len(panels) == 4
    for mine in panels.values():
        raw, inverse = (find(mine, label).y.reshape(-1, 10) for label in (utility.SHUFFLE, utility.INVERTED))
        assert inverse[-1].max() < raw[-1].min()
        assert inverse[-1].max() < inverse[0].min()


# The drawing


def test_ten_runs_are_drawn_as_boxes_and_central_noise_as_a_line(computed: Computed) -> None:
    lines = computed["biswas-fig3"]
    drawn = box_plots(EXPERIMENTS["biswas-fig3"], lines)
    titles = [axes.get_title(loc="left").partition(",")[0] for axes in drawn.axes]
    assert titles == 2 * ["San Francisco (synthetic)"] + 2 * ["Paris (synthetic)"]
    for axes, mine in zip(drawn.axes, by_panel(lines).values(), strict=True):
        runs = find(mine, utility.INVERTED)
        boxes = [drawing.get_xydata() for drawing in axes.lines if len(drawing.get_xydata()) == 5]
        for x in np.unique(runs.x):
            quarters = np.quantile(runs.y[runs.x == x], [0.25, 0.75])
            near = [box[:, 1] for box in boxes if abs(box[:, 0].mean() - x) < 0.1 * x]
            assert any(np.allclose([y.min(), y.max()], quarters) for y in near)
        assert len(boxes) == 12  # shuffle and shuffle+INV


def test_two_maps_of_one_figure_are_next_to_each_other(computed: Computed) -> None:
    drawn = heat_maps(EXPERIMENTS["biswas-fig1"], computed["biswas-fig1"])
    first, second = (axes.get_position() for axes in drawn.axes if axes.images)
    assert first.x1 < second.x0
    assert first.y0 < second.y1
    assert second.y0 < first.y1


def test_maps_of_a_row_share_one_scale_and_name_their_axes(computed: Computed) -> None:
    drawn = heat_maps(EXPERIMENTS["biswas-map"], computed["biswas-map"])
    maps = [axes for axes in drawn.axes if axes.images]
    titles = [axes.get_title(loc="left").partition("\n")[0] for axes in maps]
    assert titles == 2 * ["true", "shuffle", "shuffle+INV", "central Gaussian"]
    for city, row in zip(CITIES, (maps[:4], maps[4:]), strict=True):
        assert len({axes.images[0].get_clim() for axes in row}) == 1
        assert row[0].get_ylabel().startswith(f"{city.name} (synthetic)")
        assert row[0].get_ylabel().endswith("latitude")
        assert {axes.get_xlabel() for axes in row} == {"longitude"}
        assert row[0].images[0].get_array().shape == (city.box.rows, city.box.columns)  # type: ignore[union-attr]


def test_darkness_alone_orders_the_colours(computed: Computed) -> None:
    drawn = heat_maps(EXPERIMENTS["biswas-map"], computed["biswas-map"])
    colours = next(axes.images[0].get_cmap() for axes in drawn.axes if axes.images)(np.linspace(0.0, 1.0, 100))
    assert (np.diff(colours[:, :3] @ [0.299, 0.587, 0.114]) < 0.0).all()


def test_an_experiment_may_bring_its_own_drawing(tmp_path: Path, computed: Computed) -> None:
    experiment, lines = EXPERIMENTS["biswas-map"], computed["biswas-map"]
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(experiment, lines, first, second)  # laid out once: the second is as the first
    assert first.read_bytes() == second.read_bytes()
    assert first.read_text(encoding="utf-8").count("<image") >= 8


# The data


@pytest.mark.parametrize("city", CITIES, ids=lambda city: city.name)
def test_a_synthetic_city_is_the_same_every_time_and_has_water(city: City) -> None:
    shares = synthetic_city(city.box, seed=city.seed, water=city.water)
    assert shares.shape == (city.box.rows, city.box.columns)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() == 0.0
    assert 10.0 / city.box.cells < shares.max() < 0.25
    np.testing.assert_array_equal(shares, synthetic_city(city.box, seed=city.seed, water=city.water))


def test_gowalla_is_read_plain_or_packed_and_places_off_the_earth_are_outside(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text(GOOD, encoding="utf-8")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(GOOD.encode()))
    for name in ("plain.txt", "packed.txt.gz"):
        assert read_gowalla(tmp_path / name, BOX).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "must have check-ins in the box"),
        ("0\t2010-10-19T23:55:27Z\t48.86\t2.34\t1\n", "must have check-ins in the box"),
        (GOOD + "1\t2010-10-18T22:17:43Z\t37.80\n", "line 4 of 'file.txt' must be user"),
        (GOOD + "1,2010-10-18T22:17:43Z,37.80,-122.39,7\n", "line 4 of 'file.txt' must be user"),
        ("1\t2010-10-18T22:17:43Z\tnorth\t-122.39\t7\n" + GOOD, "line 1 of 'file.txt' must be user"),
        (GOOD + "1\t2010-10-18T22:17:43Z\tnan\t-122.39\t7\n", "line 4 of 'file.txt' must be user"),
        (GOOD + "1\tyesterday\t37.80\t-122.39\t7\n", "line 4 of 'file.txt' must be user"),
    ],
)
def test_a_file_that_is_not_gowalla_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=words):
        read_gowalla(path, BOX)


def test_a_file_that_is_missing_or_cut_off_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must be in a file"):
        read_gowalla(tmp_path / "nothing.txt", BOX)
    packed = tmp_path / "cut.gz"
    packed.write_bytes(gzip.compress(200 * GOOD.encode(), mtime=0)[:-20])
    with pytest.raises(InvalidInput, match="cut off; download it again"):
        read_gowalla(packed, BOX)


@pytest.mark.parametrize(
    "ends", [(2.0, 1.0, 0.0, 1.0), (0.0, 1.0, 1.0, 1.0), (-91.0, 0.0, 0.0, 1.0), (0.0, math.nan, 0.0, 1.0)]
)
def test_a_box_that_is_none_is_refused(ends: tuple[float, float, float, float]) -> None:
    with pytest.raises(InvalidInput, match=r"must (increase|be finite)"):
        Box(*ends, rows=2, columns=2)


@pytest.fixture
def gowalla(tmp_path: Path) -> Path:
    rng, lines = np.random.default_rng(3), []
    for city in CITIES:
        box = city.box
        places = zip(rng.uniform(box.south, box.north, 500), rng.uniform(box.west, box.east, 500), strict=True)
        lines += [f"{i}\t2010-10-18T22:17:43Z\t{place[0]}\t{place[1]}\t{i}\n" for i, place in enumerate(places)]
    path = tmp_path / "checkins.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_the_users_file_takes_the_place_of_the_synthetic_cities(gowalla: Path) -> None:
    mine: dict[str, Experiment] = {experiment.name: experiment for experiment in utility.experiments(gowalla)}
    experiment = mine["biswas-map"]
    lines = list(experiment.compute())
    words = [experiment.title, experiment.parameters, experiment.verdict(lines), *(line.panel for line in lines)]
    assert not any("synthetic" in text for text in words)
    digest = sha256(gowalla.read_bytes()).hexdigest()[:16]
    assert f"check-ins of checkins.txt (SHA-256 {digest})" in experiment.parameters
    assert "Gowalla check-ins" in experiment.title


def test_a_table_of_a_made_up_city_is_not_taken_for_one_of_check_ins(gowalla: Path, tmp_path: Path) -> None:
    packed, out = tmp_path / "checkins.txt.gz", tmp_path / "out"
    packed.write_bytes(gzip.compress(gowalla.read_bytes()))

    def made(file: Path | None) -> tuple[str, str]:
        (outcome,) = reproduce(["biswas-fig1"], out, gowalla=None if file is None else str(file))
        return outcome.state, (out / "biswas-fig1.csv").read_text(encoding="utf-8")

    state, text = made(None)
    assert state == "computed"
    assert "where the check-ins are, synthetic cities" in text
    for file in (gowalla, packed):
        state, text = made(file)
        assert state == "computed"
        assert f"check-ins of {file.name} (SHA-256 {sha256(file.read_bytes()).hexdigest()[:16]})" in text
        assert "San Francisco, n = 500" in text
        assert "synthetic" not in text
    assert made(packed) == ("kept", text)
    assert made(gowalla)[0] == "computed"
    moved = gowalla.read_text(encoding="utf-8").replace("2010", "2011", 1)
    assert len(moved) == gowalla.stat().st_size, "as large as before"
    gowalla.write_text(moved, encoding="utf-8")
    assert made(gowalla)[0] == "computed"
    odd = gowalla.rename(tmp_path / os.fsdecode(b"odd\xff.txt"))
    assert "odd\\xff.txt" in made(odd)[1]
    assert made(None)[0] == "computed"


def test_a_command_reproduces_the_paper_on_check_ins(gowalla: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    chosen = ["biswas-table1", "biswas-map", "--gowalla", str(gowalla), "--out", str(out)]
    command = [sys.executable, "-m", "shuffledp", "papers", "reproduce", *chosen]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "San Francisco, n = 100000" in ended.stdout
    assert "check-ins of checkins.txt" in (out / "biswas-map.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text, words",
    [
        ("no check-in\n", "line 1 of 'file.txt' must be user"),
        ("0\t2010-10-19T23:55:27Z\t48.86\t2.34\t1\n", "must have check-ins in the box"),
    ],
)
def test_a_file_of_another_kind_ends_a_reproduction_as_the_users_mistake(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Unreadable, match=words):
        reproduce(["biswas-map"], tmp_path / "out", force=True, gowalla=str(path))


def test_eight_numbers_give_a_range_of_sigma_and_two_cities_no_trend(computed: Computed) -> None:
    verdicts = {name: EXPERIMENTS[name].verdict(computed[name]) for name in ("biswas-table4", "biswas-table5")}
    assert "sigma between 0.89 and 2.5 counts (95 % range from 8 numbers" in verdicts["biswas-table4"]
    assert "a delta of at least 3e-13, and not 0" in verdicts["biswas-table4"]
    assert "grows with n" not in verdicts["biswas-table5"]
