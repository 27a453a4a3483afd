"""What Python users have, one value for each name."""

from __future__ import annotations

import re

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting import Calibration
from shuffledp.accounting.interop import to_dp_accounting, to_dp_event
from shuffledp.mechanisms.estimate import likelihood, simplex
from shuffledp.mechanisms.grids import printed_bound, printed_law
from shuffledp.questions.mean.statistical_query import StatisticalQuery
from shuffledp.training import RandomAllocation
from tests.pins.asked import Tape

COLUMNS = {
    "estimate": [211.17841593409693, 142.56238951795996, 46.25919454794309],
    "stderr": [6.723758073224663, 6.367718381875754, 5.8314632276053],
    "lower": [198.0, 130.0, 35.0],
    "upper": [225.0, 155.0, 58.0],
    "all_lower": [195.0, 127.0, 32.0],
    "all_upper": [228.0, 158.0, 60.0],
}
PEOPLE = ["Lima"] * 200 + ["Quito"] * 150 + ["Cusco"] * 50


@pytest.fixture(scope="module")
def release() -> sdp.Release:
    cities = ["Lima", "Quito", "Cusco"]
    return sdp.histogram(PEOPLE, categories=cities, epsilon=1.0, delta=1e-5, title="Where?", rng=Tape("a release"))


def test_the_estimates_of_a_release_are_the_same_table_everywhere(release: sdp.Release) -> None:
    table = release.estimates
    assert table.to_dict()["label"] == ["Lima", "Quito", "Cusco"]
    found = {name: column for name, column in table.to_dict().items() if name != "label"}
    assert found == {name: pytest.approx(column, rel=1e-9) for name, column in COLUMNS.items()}
    assert table.to_arrow().to_pydict() == table.to_polars().to_dict(as_series=False) == table.to_dict()


def test_a_notebook_shows_the_numbers(release: sdp.Release) -> None:
    page = re.sub("<[^>]*>", " ", re.sub("<svg.*?</svg>|<style.*?</style>", " ", release._repr_html_(), flags=re.S))
    table = "Lima 211 7 198 to 225 Quito 143 6 130 to 155 Cusco 46 6 35 to 58"
    assert table in " ".join(page.split())


def test_a_guarantee_is_handed_to_another_accountant() -> None:
    pytest.importorskip("dp_accounting", reason="the extra interop is not installed")
    survey = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000).compose(5)
    handed = to_dp_accounting(survey, value_discretization_interval=1e-3)
    assert handed.get_epsilon_for_delta(1e-6) == pytest.approx(0.8508182160145951, rel=1e-9)
    assert handed.get_delta_for_epsilon(0.5) == pytest.approx(0.0005944523901652101, rel=1e-9)


def test_training_is_handed_over_as_an_event() -> None:
    pytest.importorskip("dp_accounting", reason="the extra interop is not installed")
    event = to_dp_event(RandomAllocation(sigma=0.8, steps=100, epochs=3))
    assert (event.count, event.event.steps, event.event.event.noise_multiplier) == (3, 100, 0.8)


def test_the_biased_estimators() -> None:
    assert simplex(np.array([6.0, 5.0, -1.0]), 10.0).tolist() == [5.5, 4.5, 0.0]
    found = likelihood(np.array([70, 25, 5]), hit=0.8, miss=0.1)
    assert found.tolist() == pytest.approx([80.45112781954887, 19.548872180451124, 0.0], rel=1e-12)


def test_the_printed_choice_of_a_sum() -> None:
    tally = sdp.Poll("sum", n=100_000, randomizer=printed_law(n=100_000, epsilon=1.0, delta=1e-6))
    law = tally.randomizer
    found = (law.k - 1, law.epsilon0, law.gamma, tally.predicted_stderr(), printed_bound(100_000, law))
    assert found == pytest.approx(
        (8, 6.182729242557637, 0.018281091561456127, 30.960455950405308, 36.69213435583885), rel=1e-12
    )


def test_a_statistical_query() -> None:
    query = StatisticalQuery(query=lambda age: float(age >= 18), name="adults")
    adults = sdp.Poll(query, n=400, epsilon0=4.0, k=1)
    bag = adults.shuffle(adults.encode([*range(10, 50)] * 10, rng=Tape("adults")))
    estimate = adults.analyse(bag)
    found = [estimate.value, *estimate.stderr.tolist(), *(float(end[0]) for end in estimate.interval())]
    assert found == pytest.approx(
        [0.7982279822091701, 0.025932868018188705, 0.7459492057097898, 0.8505067587085504], rel=1e-9
    )


def test_a_calibration() -> None:
    plan = sdp.calibrate(sdp.KRR, k=16, n=10_000, epsilon=1.0, delta=1e-6)
    assert isinstance(plan, Calibration)
    assert (plan.unknown, plan.value, float(plan), plan.target, plan.delta) == ("epsilon0", 5.5341, 5.5341, 1.0, 1e-6)
    assert plan.epsilon == pytest.approx(0.9999240715852299, rel=1e-12)
    assert repr(plan) == (
        "Calibration(epsilon0=5.5341, guarantee=shuffle(KRR(k=16, epsilon0=5.5341), n=10000), target=1.0, delta=1e-06)"
    )
