import math
import tracemalloc

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.audits import Audit, Check, audit, subject_of
from shuffledp.audits.attack import BAG
from shuffledp.errors import InvalidInput
from shuffledp.questions.mean.statistical_query import StatisticalQuery
from shuffledp.sampling import source_of
from shuffledp.training.descent import ShuffledSGD

DELTA = 1e-2
SHIPPED = {
    "Histogram": lambda: Poll("histogram", categories=["tea", "coffee", "water"], n=40, epsilon0=2.0, delta=DELTA),
    "promised Histogram": lambda: Poll("histogram", categories=range(4), n=40, epsilon=1.0, delta=DELTA),
    "Sum": lambda: Poll("sum", n=40, epsilon0=2.0, k=3, delta=DELTA),
    "Mean": lambda: Poll("mean", n=40, epsilon0=2.0, k=1, delta=DELTA, lower=-1.0, upper=3.0),
    "StatisticalQuery": lambda: Poll(
        StatisticalQuery(query=lambda record: record["age"] / 120.0), n=40, epsilon0=2.0, k=2, delta=DELTA
    ),
    "Histogram by Hadamard response": lambda: Poll(
        "histogram", categories=20, n=40, epsilon0=2.0, mechanism="hadamard", delta=DELTA
    ),
    "Histogram by hashing": lambda: Poll("histogram", categories=20, n=40, epsilon0=2.0, mechanism="hash", delta=DELTA),
    "Histogram by subsets": lambda: Poll(
        "histogram", categories=20, n=40, epsilon0=2.0, mechanism="subset", delta=DELTA
    ),
    "Histogram by bits": lambda: Poll("histogram", categories=20, n=40, epsilon0=2.0, mechanism="oue", delta=DELTA),
    "ShuffledSGD": lambda: ShuffledSGD(n=40, dimension=2, noise=1.0, delta=DELTA, batch=40),
    "allocated SGD": lambda: ShuffledSGD(
        n=40, dimension=2, noise=1.0, delta=DELTA, batch=8, order="allocated", epochs=2
    ),
    "SGD of several epochs": lambda: ShuffledSGD(n=40, dimension=2, noise=2.0, delta=DELTA, batch=8, epochs=2),
    "SGD of batches": lambda: ShuffledSGD(
        n=39, dimension=2, noise=2.0, delta=DELTA, batch=4, epochs=2, noise_from="batch"
    ),
    "local SGD": lambda: ShuffledSGD(n=10, dimension=2, epsilon=1.0, delta=DELTA, batch=5, order="given"),
}
RANDOMIZERS = [
    sdp.RR(epsilon0=2.0),
    sdp.RAPPOR(k=5, epsilon0=2.0),
    sdp.BLH(k=10, epsilon0=2.0),
    sdp.Laplace(epsilon0=2.0),
    sdp.Gaussian(sigma=0.5),
]


def seeded(seed=1):
    return np.random.default_rng(seed)


def source(seed):
    return source_of(seeded(seed))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_protocol_stays_below_its_certified_end(name):
    # As many runs as catch most planted faults (test_faults.py); descents are slow.
    found = audit(SHIPPED[name](), runs=400 if "SGD" in name else 1000, rng=seeded())
    assert found.verdict == "consistent", found.reasons()
    assert found.epsilon_lower <= found.certified
    assert found.delta == DELTA


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda r: str(r.describe()["randomizer"]))
def test_every_randomizer_behind_a_shuffler_stays_below_its_certified_end(randomizer):
    found = audit(randomizer, n=40, delta=DELTA, runs=3000, rng=seeded())
    assert found.verdict == "consistent", found.reasons()
    assert found.epsilon_lower <= found.attainable <= found.certified * (1.0 + 1e-6)


def test_many_runs_prove_most_of_what_is_true():
    found = audit(sdp.KRR(k=4, epsilon0=2.0), n=20, delta=DELTA, runs=60_000, rng=seeded())
    assert 0.75 * found.attainable < found.epsilon_lower <= found.certified


def test_the_verdict_follows_from_the_numbers():
    passed = Check("law", "reports are biased", 0.5, False)
    parts = {
        "subject": "s",
        "n": 2,
        "delta": 0.1,
        "confidence": 0.95,
        "runs": 200,
        "attainable": None,
        "attack": BAG,
        "seconds": 1.0,
    }
    assert Audit(**parts, epsilon_lower=0.9, epsilon_sure=0.8, certified=1.0, checks=(passed,)).verdict == "consistent"
    assert Audit(**parts, epsilon_lower=1.1, epsilon_sure=0.9, certified=1.0, checks=(passed,)).verdict == "consistent"
    caught = Audit(**parts, epsilon_lower=1.2, epsilon_sure=1.1, certified=1.0, checks=(passed,))
    assert caught.failed == ("epsilon",)
    assert "epsilon >= 1.1" in caught.reasons()[0]
    assert "confidence 0.9999" in caught.reasons()[0]
    failed = Check("law", "reports are biased", 1e-9, True)
    assert Audit(**parts, epsilon_lower=0.9, epsilon_sure=0.8, certified=1.0, checks=(failed,)).reasons() == [
        "reports are biased (p = 1e-09)"
    ]
    exact = Check("format", "reports are too long", 0.0, True, "two bytes")
    assert Audit(**parts, epsilon_lower=0.9, epsilon_sure=0.8, certified=1.0, checks=(exact,)).reasons() == [
        "reports are too long (exact, two bytes)"
    ]


def test_the_bound_of_the_verdict_is_the_stricter_one():
    usual = audit(sdp.KRR(k=4, epsilon0=2.0), n=20, delta=DELTA, runs=4000, rng=seeded(4))
    assert 0.0 < usual.epsilon_sure < usual.epsilon_lower
    strict = audit(sdp.KRR(k=4, epsilon0=2.0), n=20, delta=DELTA, runs=4000, rng=seeded(4), confidence=1.0 - 1e-6)
    assert strict.epsilon_sure == strict.epsilon_lower


RARE = [
    (4, 15.0, 10, 5000),
    (4, 17.0, 10, 5000),
    (2, 20.0, 10, 1000),
    (10_000, 1.0, 3, 400),
    (1000, 1.0, 2, 2000),
    (4, 6.0, 2, 2000),
]


@pytest.mark.parametrize(("k", "epsilon0", "n", "runs"), RARE)
def test_honest_code_with_rare_events_is_not_accused(monkeypatch, k, epsilon0, n, runs):
    subject = subject_of(sdp.KRR(k=k, epsilon0=epsilon0), n)
    certified, attainable = subject.certified(1e-3), subject.choose(1e-3)
    monkeypatch.setattr(subject, "certified", lambda _: certified)  # the same for all seeds, and slow
    monkeypatch.setattr(subject, "choose", lambda _: attainable)
    for seed in range(3):
        found = audit(subject, delta=1e-3, runs=runs, rng=seeded(seed))
        assert found.verdict == "consistent", found.reasons()


def test_a_large_audit_keeps_little_in_memory():
    tracemalloc.start()
    found = audit(sdp.KRR(k=4, epsilon0=1.0), n=1000, delta=1e-3, runs=9000, rng=seeded(), seconds=600.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.runs == 9000
    assert peak < 200e6


def test_a_domain_too_large_to_audit_is_refused_by_name():
    with pytest.raises(InvalidInput, match="Lower k"):
        audit(sdp.Hadamard(k=10**6, epsilon0=1.0), n=10, delta=1e-3, runs=400)
    with pytest.raises(InvalidInput, match="Lower k"):
        audit(sdp.KRR(k=10**12, epsilon0=1.0), n=10, delta=1e-3, runs=400)


def test_a_seed_repeats_an_audit():
    first, again = (audit(sdp.KRR(k=4, epsilon0=2.0), n=20, delta=DELTA, runs=1000, rng=seeded(4)) for _ in range(2))
    assert (first.epsilon_lower, first.checks) == (again.epsilon_lower, again.checks)


def test_the_budget_ends_an_audit_and_progress_is_told():
    told = []
    found = audit(
        sdp.KRR(k=4, epsilon0=2.0),
        n=1000,
        delta=DELTA,
        runs=10**7,
        seconds=1.0,
        rng=seeded(),
        progress=lambda *each: told.append(each),
    )
    assert 200 <= found.runs < 10**7
    assert found.seconds < 10.0
    assert told == sorted(told)
    assert {total for _, total in told} == {told[0][1]}
    assert told[-1][0] < told[0][1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"runs": 10},
        {"confidence": 1.0},
        {"delta": 0.0},
        {"seconds": 0.0},
        {"n": 1},
        {"n": 10**8},
        {"what": sdp.AnyLDP(epsilon0=1.0)},
        {"what": "poll"},
        {"what": Poll("histogram", categories=range(3), n=20, epsilon0=1.0, rounds=2)},
    ],
)
def test_what_cannot_be_audited_is_refused(wrong):
    settings = {"what": sdp.KRR(k=4, epsilon0=2.0), "n": 20, "delta": DELTA, "runs": 1000} | wrong
    with pytest.raises(InvalidInput):
        audit(settings.pop("what"), **settings)


def test_gradient_descent_is_audited_at_its_own_delta():
    with pytest.raises(InvalidInput, match="own"):
        subject_of(SHIPPED["ShuffledSGD"]()).certified(0.5)


def test_a_report_that_exposes_its_sender_has_no_finite_epsilon():
    found = audit(sdp.FromMatrix([[0.7, 0.3, 0.0], [0.1, 0.8, 0.1]]), n=20, delta=1e-3, runs=1000, rng=seeded())
    assert found.attainable == found.certified == math.inf
    assert found.verdict == "consistent"
