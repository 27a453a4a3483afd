"""Protocols whose randomizer is a wrapper: unbiased counts of all users, with honest intervals; and
laws of wrappers as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.judge import worst_delta
from shuffledp.ledger import Entry, Ledger
from shuffledp.poll import certify
from shuffledp.randomizers import BLH, KRR, OUE, RR, AllOf, CheckIn, FromMatrix, Hadamard, OneOf, SubsetSelection
from shuffledp.randomizers.law_file import from_law, law_of, randomizer_of, scaled
from shuffledp.randomizers.wrappers import OneLevel, VotingCheckIn
from shuffledp.release.pipeline import check_sayable

CATEGORIES = ["a", "b", "c"]
HELD = np.repeat([0, 1, 2], [1200, 600, 200])


@pytest.mark.parametrize(
    "inside",
    [
        lambda: KRR(k=3, epsilon0=2.0),
        lambda: OUE(k=3, epsilon0=2.0),
        lambda: BLH(k=3, epsilon0=2.0),
        lambda: SubsetSelection(k=3, epsilon0=1.0),
        lambda: CheckIn(KRR(k=3, epsilon0=2.0), probability=0.8),
        lambda: FromMatrix([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.1, 0.3, 0.6]]),
    ],
    ids=["krr", "oue", "hash", "subset", "check-in", "matrix"],
)
def test_counts_are_unbiased_and_intervals_cover(inside: Any) -> None:
    """The counts of all users, whether they took part or not."""
    poll = Poll("histogram", categories=CATEGORIES, n=2000, delta=1e-6, randomizer=CheckIn(inside(), probability=0.4))
    labels = [CATEGORIES[each] for each in HELD]
    rng = np.random.default_rng(8)
    estimates = [poll.analyse(poll.shuffle(poll.encode(labels, rng=rng))) for _ in range(60)]
    values = np.array([each.values for each in estimates])
    predicted = poll.predicted_stderrs([1200, 600, 200])
    assert np.all(np.abs(values.mean(axis=0) - [1200, 600, 200]) < 4.5 * predicted / np.sqrt(60))
    assert np.all(np.abs(values.std(axis=0) / predicted - 1.0) < 0.45)
    covered = [
        (low <= [1200, 600, 200]) & (high >= [1200, 600, 200]) for low, high in (e.interval() for e in estimates)
    ]
    assert np.mean(covered) > 0.9
    assert estimates[0].n == 2000


def test_what_is_promised_is_that_of_the_wrapper() -> None:
    poll = Poll(
        "histogram", categories=range(16), n=10_000, randomizer=CheckIn(KRR(k=16, epsilon0=4.0), probability=0.1)
    )
    alone = sdp.shuffle(CheckIn(KRR(k=16, epsilon0=4.0), probability=0.1).realised, n=10_000)
    assert poll.guarantee.epsilon(delta=1e-6).upper == pytest.approx(alone.epsilon(delta=1e-6).upper, rel=1e-9)
    words = Poll("histogram", categories=16, n=1000, randomizer=CheckIn(OUE(k=16, epsilon0=2.0), probability=0.5))
    bag = words.shuffle(words.encode(np.zeros(1000, dtype=int), rng=np.random.default_rng(1)))
    assert words.analyse(bag, values=[0]).value == pytest.approx(1000, abs=5 * words.predicted_stderr())


def test_questions_of_one_survey_are_counted_one_by_one() -> None:
    survey = OneOf([KRR(k=3, epsilon0=3.0), RR(epsilon0=2.0)], weights=[0.7, 0.3]).realised
    answers = np.stack([HELD, HELD % 2], axis=1)
    reports = survey.randomize(answers, rng=np.random.default_rng(2))
    for number, (k, truth) in enumerate(((3, [1200, 600, 200]), (2, [1400, 600]))):
        poll = Poll("histogram", categories=range(k), n=2000, randomizer=survey.question(number))
        estimate = poll.analyse(poll.shuffle(survey.split(reports)[number]))
        assert np.all(np.abs(estimate.values - truth) < 5.0 * estimate.stderr)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CheckIn(Hadamard(k=3, epsilon0=1.0), probability=0.5), "votes for values only"),
        (lambda: OneOf([KRR(k=3, epsilon0=1.0)]), "whose reports vote"),
    ],
)
def test_what_cannot_be_counted_is_refused(make: Any, words: str) -> None:
    with pytest.raises(sdp.InvalidInput, match=words):
        Poll("histogram", categories=CATEGORIES, n=100, randomizer=make())


def test_a_blank_is_all_zeros() -> None:
    counted = VotingCheckIn.of(CheckIn(OUE(k=9, epsilon0=1.0), probability=0.5))
    assert counted is not None
    with pytest.raises(sdp.InvalidInput, match="a blank must be all zeros"):
        counted.check_reports(np.array([[0, 1, 0]], dtype=np.uint8))
    with pytest.raises(sdp.InvalidInput, match="zeros after bit 9"):
        counted.check_reports(np.array([[1, 1, 1]], dtype=np.uint8))
    assert counted.supports(np.zeros((4, 3), dtype=np.uint8)).tolist() == [0] * 9


WRITTEN = {
    "check-in": lambda: CheckIn(KRR(k=4, epsilon0=2.0), probability=0.25),
    "one of": lambda: OneOf([KRR(k=4, epsilon0=2.0), OUE(k=9, epsilon0=1.0)], weights=[0.3, 0.7]),
    "all of": lambda: AllOf([KRR(k=4, epsilon0=2.0), RR(epsilon0=1.0)]),
    "nested twice": lambda: CheckIn(OneOf([AllOf([RR(epsilon0=1.0)] * 2), BLH(k=3, epsilon0=1.0)]), probability=0.5),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_laws_are_written_and_read_again(name: str) -> None:
    wrapper = WRITTEN[name]()
    law = json.loads(json.dumps(law_of(wrapper)))
    assert randomizer_of(law) == wrapper
    assert scaled(wrapper, 0.5).epsilon0 == pytest.approx(0.5 * wrapper.epsilon0)
    for key, other in (("integers", ["5"]), ("epsilon0", 9.0), ("extra", 1)):
        with pytest.raises(sdp.InvalidInput, match=f"a difference in {key}"):
            randomizer_of(law | {key: other})
    with pytest.raises(sdp.InvalidInput):
        randomizer_of({"type": law["type"]})
    with pytest.raises(sdp.InvalidInput):
        randomizer_of({"type": ["krr"], "integers": []})


def test_only_votes_are_read_where_votes_are_counted() -> None:
    assert from_law(law_of(WRITTEN["check-in"]())).k == 4
    with pytest.raises(sdp.InvalidInput, match="a law's type must be one of"):
        from_law(law_of(WRITTEN["all of"]()))
    with pytest.raises(sdp.InvalidInput, match="the randomizer must be one of"):
        law_of(CheckIn(FromMatrix([[0.5, 0.5], [0.4, 0.6]]), probability=0.5))


@pytest.mark.parametrize("inside", [KRR(k=3, epsilon0=2.0), OUE(k=3, epsilon0=2.0)])
def test_a_design_holds_a_check_in(inside: Any) -> None:
    """Written down, read again, reported by, shuffled and analyzed; a page it has not."""
    terms: dict[str, Any] = {"n": 2000, "delta": 1e-6}
    protocol: Any = Poll("histogram", categories=CATEGORIES, randomizer=CheckIn(inside, probability=0.5), **terms)
    written = json.loads(json.dumps(Design.of(protocol).as_json()))
    design = Design.from_json(written)
    assert design == Design.of(protocol)
    assert design.mechanism.values == 3
    reports = Reporter.of(design).encode(HELD, rng=np.random.default_rng(3))
    analyst = certify(design).poll
    bag = analyst.shuffle(reports)
    estimate = analyst.analyse(bag)
    assert np.all(np.abs(estimate.values - [1200, 600, 200]) < 5.0 * estimate.stderr)
    votes = analyst.randomizer.opened(analyst.randomizer.tally(reports))
    assert (votes[0], len(votes[2])) == (2000, 3)
    with pytest.raises(sdp.InvalidInput, match="Analyze the shuffled reports in Python"):
        check_sayable(design)
    for wrong in ({"probability": 1}, {"of": None}, {"more": 1.0}, {"integers": ["7"]}):
        with pytest.raises(sdp.InvalidInput):
            Reporter.of(Design.from_json(written | {"mechanism": written["mechanism"] | wrong}))


def test_a_mean_is_not_of_a_check_in() -> None:
    written = Design.of(Poll("mean", n=100, k=4, epsilon0=1.0, delta=1e-6)).as_json()
    inside = written["mechanism"]
    law = law_of(CheckIn(KRR(k=inside["k"], epsilon0=inside["epsilon0"]), probability=0.5))
    with pytest.raises(sdp.InvalidInput, match="must fit its domain"):
        Design.from_json(written | {"mechanism": law})


def test_a_ledger_holds_wrappers(tmp_path: Path) -> None:
    ledger, whole = Ledger(tmp_path / "spent.sqlite"), sdp.Accountant()
    for each in (WRITTEN["one of"](), WRITTEN["nested twice"](), WRITTEN["one of"]()):
        survey = sdp.shuffle(each, n=1000)
        whole = whole.add(survey)
        entry = Entry.of(survey, what="a survey", design="0" * 64, epsilon=1.0, delta=1e-6)
        receipt = ledger.spend("all", entry, limit_epsilon=9.0, limit_delta=1e-6)
    assert receipt.total.upper == pytest.approx(whole.epsilon(delta=1e-6).upper, rel=1e-2)
    assert Ledger(tmp_path / "spent.sqlite").check().faults == ()


def test_a_law_that_is_nested_without_end_is_refused() -> None:
    law = law_of(KRR(k=3, epsilon0=1.0))
    for _ in range(2000):
        law = {"type": "check-in", "epsilon0": 1.0, "probability": 0.5, "of": law, "integers": [str(2**63)]}
    for read in (randomizer_of, from_law):
        with pytest.raises(sdp.InvalidInput, match="at most 32 others"):
            read(law)


EPSILONS = np.array([0.0, 0.2, 0.5, 1.0, 1.5])


@pytest.mark.parametrize("sizes", [(3, 4), (3, 6), (4, 5), (3, 4, 5)])
@pytest.mark.parametrize("epsilon0", [1.0, 2.5])
def test_both_ends_hold_the_truth(sizes: tuple[int, ...], epsilon0: float) -> None:
    """Enumeration of every dataset of two and three people, and of every view."""
    law = OneLevel.of_sizes(sizes=sizes, epsilon0=epsilon0).realised
    for n in (2, 3):
        exact = np.asarray(worst_delta(law.rows.tolist(), n=n, epsilons=EPSILONS.tolist()))
        bounds = [sdp.shuffle(law, n=n).delta(epsilon=each) for each in EPSILONS.tolist()]
        assert np.all(np.array([each.lower for each in bounds]) <= exact + 1e-12)
        assert np.all(np.array([each.upper for each in bounds]) >= exact - 1e-12)


def test_what_is_drawn_is_the_law() -> None:
    law = OneLevel.of_sizes(sizes=(3, 6), epsilon0=2.0).realised
    rng, many = np.random.default_rng(5), 20_000
    for value in range(6):
        seen = law.tally(law.randomize(np.full(many, value), rng=rng))
        mean = many * law.rows[value]
        assert np.all(np.abs(seen - mean) < 6.0 * np.sqrt(mean) + 6.0)
        assert law.adds_up(seen, many)
    assert law.rows.sum(axis=1) == pytest.approx(1.0, abs=1e-15)
    assert not law.adds_up(seen, many + 1)


def test_a_report_names_a_node_of_one_level() -> None:
    law = OneLevel.of_sizes(sizes=(4, 16), epsilon0=30.0)
    reports = law.randomize(np.arange(16).repeat(100), rng=np.random.default_rng(5))
    values = np.arange(16).repeat(100)
    coarse = reports < 4
    assert np.array_equal(reports[coarse], values[coarse] // 4)
    assert np.array_equal(reports[~coarse] - 4, values[~coarse])
    assert law.favours(reports, values).all()


def test_it_is_written_down_and_read() -> None:
    law = OneLevel.of_sizes(sizes=(4, 16, 64), epsilon0=3.0).realised
    again = from_law(law_of(law))
    assert again == law
    assert again.k == 64
    with pytest.raises(InvalidInput, match="levels must be KRR, coarse first"):
        from_law(law_of(OneOf([KRR(k=8, epsilon0=1.0), KRR(k=4, epsilon0=1.0)])))
    with pytest.raises(InvalidInput, match="of 3 nodes or more"):
        OneLevel.of_sizes(sizes=(2, 4), epsilon0=1.0)
