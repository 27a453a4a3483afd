"""Every planted fault, by the check that must see it. What no check sees is listed too: a promise
that the documentation repeats.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.audits import audit, subject_of
from shuffledp.training import ShuffledSGD
from tests.audits.faults.planted import FAULTS, faults

DELTA = 1e-2
SEEN = [name for name, fault in FAULTS.items() if fault.seen_by]
UNSEEN = [name for name, fault in FAULTS.items() if not fault.seen_by]
NEEDS_MANY = {
    "biased-swaps": {"runs": 10_000},
    "short-seed": {"runs": 10_000},  # 2,000 trials meet again among 65,536 seeds; 400 sometimes do not
    "one-in-a-thousand": {"n": 1000, "runs": 10_000},
    "doubled": {"n": 20, "runs": 20_000},
    "unshuffled": {"runs": 10_000},
    "reversed": {"runs": 10_000},
}


@pytest.mark.parametrize("name", SEEN)
def test_a_planted_fault_is_caught_by_the_check_that_is_meant_for_it(name):
    found = faults([name], **{"n": 50, "runs": 1000, "rng": np.random.default_rng(1)} | NEEDS_MANY.get(name, {}))[name]
    assert found.verdict == "violated"
    assert set(FAULTS[name].seen_by) <= set(found.failed)
    assert len(found.reasons()) == len(found.failed)


@pytest.mark.parametrize("name", UNSEEN)
def test_what_an_audit_cannot_see_is_known(name):
    assert faults([name], n=50, runs=1000, rng=np.random.default_rng(1))[name].verdict == "consistent"


def test_the_faults_of_the_shuffler_leave_the_reports_alone_and_the_other_way_round():
    for name in ("rotated", "first-kept"):
        assert faults([name], n=50, runs=2000, rng=np.random.default_rng(2))[name].failed == ("shuffling",)
    assert faults(["off-by-one"], n=50, runs=2000, rng=np.random.default_rng(2))["off-by-one"].failed == ("integers",)
    assert faults(["wrong-sign"], n=50, runs=2000, rng=np.random.default_rng(2))["wrong-sign"].failed == ("estimate",)


def test_a_kept_order_is_caught_by_where_reports_stand_and_by_the_shuffler_alone():
    found = faults(["unshuffled"], runs=10_000, rng=np.random.default_rng(1))["unshuffled"]
    assert found.failed == ("order", "shuffling")
    assert found.certified < found.epsilon_lower < 1.0  # never more than one report gives away


@pytest.mark.parametrize("name", ["doubled", "same-seed", "replayed", "quiet-value", "pinned", "shared-coins"])
def test_faults_are_caught_where_noise_is_rare(name):
    poll = Poll("histogram", categories=range(4), n=40, epsilon0=5.0, delta=DELTA)
    found = audit(FAULTS[name](poll), delta=DELTA, runs=4000, rng=np.random.default_rng(1))
    assert {*FAULTS[name].seen_by} - {"epsilon"} <= {*found.failed}


def test_a_shuffler_that_sorts_by_the_first_byte_is_caught_where_reports_are_long(monkeypatch):
    subject = subject_of(Poll("histogram", categories=20, n=40, epsilon0=2.0, mechanism="hash", delta=DELTA))
    assert "shuffling" not in audit(subject, runs=400, rng=np.random.default_rng(1)).failed
    monkeypatch.setattr(
        subject, "shuffle", lambda reports: reports.rows[np.argsort(reports.rows[:, 0] & np.uint64(1), kind="stable")]
    )
    assert "shuffling" in audit(subject, runs=400, rng=np.random.default_rng(1)).failed


def test_gradient_descent_that_goes_round_instead_of_permuting_is_caught(monkeypatch):
    training = ShuffledSGD(n=20, dimension=2, noise=1.0, delta=DELTA, batch=20)
    assert audit(training, runs=400, rng=np.random.default_rng(1)).verdict == "consistent"
    monkeypatch.setattr(
        "shuffledp.training.descent.permutation",
        lambda source, size: np.roll(np.arange(size), int(source.words(1, np.uint8)[0]) % size),
    )
    assert "shuffling" in audit(training, runs=400, rng=np.random.default_rng(1)).failed


def test_the_documentation_lists_every_fault_and_what_passes():
    page = (Path(__file__).parents[2] / "docs" / "api" / "audit.md").read_text().split("## Planted faults")[1]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| .* \| ([^|]*) \|$", page, flags=re.MULTILINE))
    assert set(rows) == set(FAULTS) - {"none"}
    for name, seen in rows.items():
        assert set(re.findall(r"[a-z]+", seen)) == set(FAULTS[name].seen_by or ["nothing"])
        assert FAULTS[name].sentence.rstrip(".") in page
