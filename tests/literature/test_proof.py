from __future__ import annotations

import copy
import dataclasses
import pickle
import sys

import pytest

import shuffledp as sdp
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.judge.balls import clones
from shuffledp.randomizers import AnyDeletionLDP

SURVEYS = [
    sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000),
    sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000, adversary="strong"),
    sdp.shuffle(sdp.KRR(k=3, epsilon0=1.0), n=7, adversary="weak"),
    sdp.shuffle(sdp.RR(epsilon0=2.0), n=3_000),
    sdp.shuffle(sdp.OUE(k=16, epsilon0=2.0), n=100_000),
    sdp.shuffle(sdp.Hadamard(k=64, epsilon0=1.0), n=10**12),
    sdp.shuffle(sdp.AnyLDP(epsilon0=1.0), n=10_000),
    sdp.shuffle(AnyDeletionLDP(epsilon0=1.0), n=10_000),
    sdp.shuffle(sdp.FromMatrix([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]), n=10_000),
    sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=1_000, honest=900),
    sdp.shuffle(sdp.LocalHash(k=16, g=2, epsilon0=2.0), n=100_000),
    sdp.shuffle(sdp.AnyLDP(epsilon0=1.0, adaptive=False), n=100_000),
]


@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_both_ends_are_proven_as_they_are(survey: Shuffled) -> None:
    bound = survey.epsilon(delta=1e-6)
    proof = bound.proven()
    assert proof.holds
    assert (proof.lower.value, proof.upper.value) == (bound.lower, bound.upper)
    assert proof.upper.delta[1] <= 1e-6
    assert proof.lower.delta[0] > 1e-6 or bound.lower == 0.0
    assert "proven in ball arithmetic" in str(proof)


def test_delta_is_enclosed() -> None:
    bound = SURVEYS[4].delta(epsilon=0.01)
    proof = bound.proven()
    assert proof.holds
    assert bound.lower <= proof.lower.delta[0]
    assert proof.upper.delta[1] <= bound.upper


def test_a_false_upper_end_is_moved_to_where_it_is_true() -> None:
    right = SURVEYS[0].epsilon(delta=1e-6)
    wrong = dataclasses.replace(right, upper=right.upper * (1 - 1e-5)).answering(right.goal)
    proof = wrong.proven()
    assert not proof.upper.as_given
    assert proof.lower.as_given
    assert right.upper * (1 - 1e-6) < proof.upper.value <= right.upper * (1 + 1e-3)
    assert "the nearest that is proven" in str(proof)


def test_a_false_lower_end_is_moved_to_where_it_is_true() -> None:
    right = SURVEYS[0].epsilon(delta=1e-6)
    wrong = dataclasses.replace(right, lower=right.upper).answering(right.goal)
    proof = wrong.proven()
    assert not proof.lower.as_given
    assert right.lower * (1 - 1e-3) < proof.lower.value <= right.lower * (1 + 1e-6)


def test_a_false_delta_is_moved_too() -> None:
    right = SURVEYS[0].delta(epsilon=0.3)
    wrong = dataclasses.replace(right, upper=right.lower * (1 - 1e-5), lower=right.lower * (1 - 2e-5)).answering(
        right.goal
    )
    assert wrong.proven().upper.value >= right.lower


def test_at_epsilon0_nothing_leaks() -> None:
    bound = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=2).epsilon(delta=1e-200)
    proof = bound.proven()
    assert proof.upper.value == bound.upper == 4.0


def test_laws_of_many_classes_are_taken_as_the_accountant_made_them() -> None:
    bound = sdp.shuffle(sdp.Laplace(epsilon0=1.0), n=3_000, adversary="weak").epsilon(delta=1e-4)
    proof = bound.proven()
    assert proof.holds
    assert "that the accountant made" in proof.what


def test_a_theorem_without_balls_leaves_the_next_one() -> None:
    """The swap of Laplace noise by cells is not in balls: what is proven is the blanket."""
    bound = sdp.shuffle(sdp.Laplace(epsilon0=1.0), n=10_000).epsilon(delta=1e-4)
    assert "swap" in bound.method
    proof = bound.proven()
    assert proof.lower.as_given
    assert bound.upper < proof.upper.value < 1.5 * bound.upper
    assert "not in balls: first-clone swap" in proof.what


def test_only_one_round_can_be_proven() -> None:
    with pytest.raises(sdp.InvalidInput, match="must be of one round"):
        SURVEYS[0].compose(3).epsilon(delta=1e-6).proven()


def test_a_stored_bound_has_no_goal() -> None:
    bound = SURVEYS[0].epsilon(delta=1e-6)
    stored = pickle.loads(pickle.dumps(bound))
    assert stored == bound
    assert repr(stored) == repr(bound)
    assert hash(stored) == hash(bound)
    assert len(pickle.dumps(bound)) < 2_000
    for each in (stored, Bound(0.1, 0.2)):
        with pytest.raises(sdp.InvalidInput, match="must know what it answers"):
            each.proven()


def test_a_bound_is_stored_and_written_as_it_was_before_it_knew_its_goal() -> None:
    old = (
        b"\x80\x02cshuffledp.accounting.curves\nBound\nq\x00)\x81q\x01]q\x02(G?\xd0\x00\x00\x00\x00\x00\x00G?"
        b"\xe0\x00\x00\x00\x00\x00\x00X\x01\x00\x00\x00mq\x03X\x01\x00\x00\x00aq\x04\x85q\x05eb."
    )
    kept = pickle.loads(old)
    for each in (kept, copy.copy(kept), pickle.loads(pickle.dumps(kept)), dataclasses.replace(kept)):
        assert each == Bound(0.25, 0.5, "m", ("a",))
        with pytest.raises(sdp.InvalidInput, match="must know what it answers"):
            each.proven()
    written = dataclasses.asdict(SURVEYS[0].epsilon(delta=1e-6))
    assert list(written) == ["lower", "upper", "method", "assumptions"]


def test_without_python_flint_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each == "flint" or "judge.balls" in each]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(sdp.InvalidInput, match=r"python-flint must be installed .* shuffledp\[arb\]"):
        SURVEYS[0].epsilon(delta=1e-6).proven()


def test_a_swap_is_proven_with_as_many_nodes_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With little blur from the first try on it took 9,840 blocks of nodes, those of phi_* among them."""
    blocks: list[int] = []
    sizes = clones._Line._sizes
    monkeypatch.setattr(clones._Line, "_sizes", lambda *given: blocks.append(given[-1]) or sizes(*given))
    proof = sdp.shuffle(sdp.OUE(k=4, epsilon0=1.0), n=30).epsilon(delta=1e-6).proven()
    assert proof.holds
    assert len(blocks) <= 4000
