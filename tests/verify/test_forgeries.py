"""What a forger who mends the hashes might try, and what an honest report must not be blamed
for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from shuffledp import KRR, Poll
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.judge.effort import TooLarge
from shuffledp.judge.lattice import DIGITS, haystack_interval
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.oracle import Oracle
from shuffledp.randomizers.law_file import law_of
from shuffledp.record import Certificate, data_block
from shuffledp.release.certificate import certificate
from shuffledp.verify import Verification, verify
from shuffledp.verify.check_certificate import check_certificate
from shuffledp.verify.check_comparison import _local_delta
from shuffledp.verify.outcomes import Check
from tests.verify.releases import as_page, compared, facts, judged, made_by, rehashed

Change = Callable[[dict[str, Any]], object]


def verified(made: dict[str, Any]) -> Verification:
    return verify(json.dumps(rehashed(made)))


def certified(protocol: Any, *, every: int = 1) -> tuple[Certificate, Oracle]:
    """A certificate, with so much of its curve as the test has time for, and the oracle that is to
    judge it.
    """
    design = Design.of(protocol)
    made = certificate(design).as_json()
    made["curve"] = {name: column[::every] for name, column in made["curve"].items()}
    read = Certificate.read(json.loads(json.dumps(made)))
    return read, Oracle(CountedLaw.of(design.mechanism.as_json()), design.honest, design.rounds)


def failed(checks: list[Check]) -> set[str]:
    return {check.what for check in checks if check.outcome == "FAIL"}


def test_a_curve_beyond_the_reach_of_the_oracle_in_several_rounds_is_not_called_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By sums on a lattice, which are quicker than balls for so few users."""
    monkeypatch.setattr("shuffledp.judge.oracle.BALLS", False)
    checks = check_certificate(
        *certified(Poll("histogram", categories=list("abcd"), n=50, epsilon=2.0, delta=1e-3, rounds=5), every=24)
    )
    assert not failed(checks)
    assert not [check.what for check in checks if check.vital and check.outcome != "pass"]


@pytest.mark.parametrize("rounds", [2, 12])
def test_an_upper_end_a_thousandth_too_small_does_not_pass_in_several_rounds(
    rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the lattice, too."""
    monkeypatch.setattr("shuffledp.judge.oracle.BALLS", False)
    made, oracle = certified(
        Poll("histogram", categories=list("abc"), n=200, epsilon=1.0, delta=1e-4, rounds=rounds), every=24
    )
    assert not failed(check_certificate(made, oracle))
    assert made.delta is not None
    less = 0.95 * made.delta.upper
    small = replace(made, delta=replace(made.delta, lower=less, upper=less))
    assert "delta at epsilon = 1, upper" in failed(check_certificate(small, oracle))
    less = 0.999 * made.epsilon.upper
    small = replace(made, epsilon=replace(made.epsilon, lower=0.0, upper=less))
    assert Verification(tuple(check_certificate(small, oracle))).verdict != "pass"
    less = 0.95 * made.epsilon.upper
    small = replace(made, epsilon=replace(made.epsilon, lower=less, upper=less))
    assert "epsilon at delta = 0.0001, upper" in failed(check_certificate(small, oracle))


def test_a_thousandth_less_than_the_swap_gives_is_not_believed() -> None:
    made, blanket = certified(
        Poll("histogram", categories=10, n=30_000, epsilon=0.3, delta=1e-6, mechanism="oue"), every=48
    )
    oracle = replace(blanket, swap=True)
    assert made.delta is not None
    honest = {check.outcome for check in check_certificate(made, oracle) if check.vital}
    less, fewer = 0.999 * made.epsilon.upper, 0.985 * made.delta.upper
    forged = [
        replace(made, epsilon=replace(made.epsilon, lower=min(less, made.epsilon.lower), upper=less)),
        replace(made, delta=replace(made.delta, lower=min(fewer, made.delta.lower), upper=fewer)),
    ]
    assert honest == {"pass"}
    for each in forged:
        assert {check.outcome for check in check_certificate(each, oracle) if check.vital} != {"pass"}


def test_the_ids_are_those_of_the_method_that_is_named() -> None:
    made = facts("hash")
    certificate = made["certificate"]
    assert certificate["theorem_ids"] == ["blanket", "swap"]
    certificate["theorem_ids"] = ["blanket"]
    assert "the ids of theorem and assumptions" in failed(list(verified(made).checks))


@pytest.mark.parametrize("epsilon0, epsilon", [(3e-6, 1e-300), (1.0, 0.5), (1e-12, 0.0)])
def test_the_delta_of_a_lone_report_is_exact_even_where_it_nearly_vanishes(epsilon0: float, epsilon: float) -> None:
    law = CountedLaw.of(law_of(KRR(k=3, epsilon0=epsilon0)))
    exact = float(law.hit - Fraction(math.exp(epsilon)) * law.miss)
    assert _local_delta(law, epsilon, 1) == pytest.approx(exact, rel=1e-10)


def test_lattice_sums_keep_their_digits_where_the_needles_nearly_cancel() -> None:
    law = CountedLaw.of(law_of(KRR(k=3, epsilon0=1e-12)))
    eps = 0.5 * float(law.implied)
    exact = float(law.hit - Fraction(DIGITS.exp(Decimal(eps))) * law.miss)
    low, high = haystack_interval(*zip(*law.blankets[0], strict=True), 1, eps, gap=1e-5)
    assert low <= exact <= high
    assert high <= low * 1.0001


def test_points_too_large_to_sum_are_listed_and_leave_a_verification_incomplete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, oracle = certified(Poll("histogram", categories=list("abc"), n=6, epsilon0=2.0, delta=1e-3))
    slow, least = Oracle._sum, 0.5 * made.epsilon.lower

    def refuse(self: Oracle, kind: Any, eps: float, gap: float) -> tuple[float, float]:
        if eps < least:
            raise TooLarge("too long")
        return slow(self, kind, eps, gap)

    monkeypatch.setattr(Oracle, "_sum", refuse)
    found = Verification(tuple(check_certificate(made, oracle)))
    assert {check.what for check in found.checks if check.outcome == "not checked"} == {
        "delta on the curve, upper",
        "delta on the curve, lower",
    }
    assert found.verdict == "incomplete"
    least = math.inf
    assert Verification(tuple(check_certificate(made, oracle))).verdict == "incomplete"


@pytest.mark.parametrize(
    "change, what",
    [
        (lambda made: made["certificate"].update(assumptions=[]), "the assumptions"),
        (lambda made: made["certificate"].update(adversary="everybody, the shuffler included"), "the adversary"),
        (lambda made: made["certificate"].update(adjacency="any ten people"), "the adjacency"),
        (lambda made: made["certificate"].update(method=made["certificate"]["method"] + "; approved"), "the method"),
        (lambda made: made["certificate"].update(numerical_error=None), "the numerical error"),
        (lambda made: made["tables"][0].update(label=["a", "a", "c"]), "labels of the estimates"),
        (lambda made: made["tables"][0].update(label=["b", "a", "c"]), "labels of the estimates"),
        (lambda made: made["design"]["mechanism"].update(audited=1), "the design"),
        (
            lambda made: (
                [column.pop() for column in made["tables"][0].values() if isinstance(column, list)]
                and made["tally"]["votes"].pop()
            ),
            "rows of the estimates",
        ),
    ],
)
def test_changed_words_and_hidden_estimates_fail(change: Change, what: str) -> None:
    made = facts("tiny")
    change(made)
    assert what in {check.what for check in verified(made).failed}


@pytest.mark.parametrize(
    "change",
    [
        lambda made: made["certificate"].update(numerical_error=-1e-3),
        lambda made: made["certificate"].update(numerical_error="x"),
        lambda made: made["certificate"].update(assumptions=5),
        lambda made: made["certificate"].update(approved="yes"),
        lambda made: made.update(secure="yes"),
        lambda made: made.update(made={}),
        lambda made: made["made"].update({"certified by": "somebody"}),
        lambda made: made["made"].update(when=5),
        lambda made: made["made"].update(when="yesterday"),
        lambda made: made.update(notes=3),
        lambda made: made.update(more="words"),
        lambda made: made["counted"].update(missing=-5),
        lambda made: made["counted"].update(missing={"a": 1}),
        lambda made: made["asked"].update(title=["a"]),
        lambda made: made["design"]["target"].update(n=6.0),
        lambda made: made["design"]["question"].update(type=["histogram"]),
        lambda made: made["design"]["target"].pop("rounds"),
        lambda made: made["design"]["mechanism"].update(integers=[" " + made["design"]["mechanism"]["integers"][0]]),
        lambda made: made["tally"].update(votes=[1.5, 2.5, 2]),
        lambda made: made["tables"][0].update(value=[1e999, 0.0, 0.0]),
    ],
)
def test_facts_of_another_form_are_refused_in_one_sentence_in_json_and_on_the_page(change: Change) -> None:
    made = facts("tiny")
    page = as_page(rehashed(made)).replace(data_block(made), "FACTS")
    change(made)
    written = json.dumps(made).replace("Infinity", "1e999")
    for text in (written, page.replace("FACTS", data_block({}).replace("{}", written))):
        with pytest.raises(InvalidInput, match=r"^the (record|law) of a .* must .*, got .*\. Pass (a|the) page"):
            verify(text)


def test_a_part_that_the_oracle_cannot_compute_leaves_a_report_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OverflowError("too large")

    monkeypatch.setattr(Oracle, "spans", broken)
    found = verified(facts("tiny"))
    assert found.verdict == "incomplete"
    assert not found.failed


def test_a_total_that_only_the_ledger_knows_is_not_checked() -> None:
    made = facts("tiny")
    limit = {"epsilon": 3.0, "delta": 1e-9}
    made["ledger"] = {
        "population": "x",
        "id": 1,
        "record": "ab",
        "releases": 1,
        "limit": limit,
        "total": {"lower": 0.0, "upper": 1e-4},
    }
    assert [check.outcome for check in verified(made).checks if check.what == "the ledger's total"] == ["not checked"]


@pytest.mark.parametrize("change", ["none", "two fewer", "order", "twice", "unknown"])
def test_of_very_many_values_ten_thousand_distinct_ones_are_listed_in_order(change: str) -> None:
    protocol = Poll("histogram", categories=12_000, mechanism="subset", n=50, epsilon0=3.0, delta=1e-3)
    design, rows = Design.of(protocol).as_json(), 10_000 - 2 * (change == "two fewer")
    votes, label = [3] * rows, [str(place + 7) for place in range(rows)]
    label[:2] = {"order": ["8", "7"], "twice": ["7", "7"], "unknown": ["x", "8"]}.get(change, ["7", "8"])
    columns = {name: [0.0] * rows for name in ("value", "stderr", "lower", "upper", "all_lower", "all_upper")}
    claimed = {"name": "estimates", "unit": "people", "level": 0.95, "of": 12_000, "label": label, **columns}
    made = facts("subset") | {"design": design, "tables": [claimed]}
    made["tally"] = {"reports": 50, "blocks": [], "votes": votes}
    found = "rows of the estimates" if change == "two fewer" else "labels of the estimates"
    assert (found in failed(judged(made)[0])) == (change != "none")


COMPARED: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: lambda name=name: facts(name) for name in ("poll", "binary", "mean", "oue", "rounds", "dummies")},  # type: ignore[misc]
    "quantile": lambda: made_by(Poll("quantile", cuts=range(21), at=[0.5], n=60, epsilon=1.0, delta=1e-3)),
    "levels": lambda: made_by(Poll("quantile", cuts=range(21), at=[0.5], n=60, epsilon=4.0, delta=1e-3)),
}


@pytest.mark.parametrize("name", COMPARED)
def test_a_forged_baseline_fails_by_its_name_and_by_its_number(name: str) -> None:
    """Weaker mechanisms with their own right numbers, too."""
    made = COMPARED[name]()

    def wrong(row: int, **forged: object) -> set[str]:
        rows = [dict(each) for each in made["comparison"]]
        rows[row] |= forged
        return failed(compared(json.loads(json.dumps(made | {"comparison": rows}))))

    alone, _, curator = made["comparison"]
    assert not wrong(0)
    for row, who in ((0, "without a shuffler"), (2, "with a curator")):
        for factor in (0.999, 1.001, 2.0):
            assert wrong(row, stderr=factor * made["comparison"][row]["stderr"]) == {f"error to expect {who}"}
    assert wrong(2, mechanism="Gaussian noise on magic") == {"mechanism of a curator"}
    assert "mechanism without a shuffler" in wrong(0, mechanism="randomized silence")
    assert wrong(1, mechanism=alone["mechanism"]) == {"mechanism with a shuffler"}
    if curator["mechanism"].startswith("discrete Laplace"):
        name = curator["mechanism"].replace("discrete Laplace", "Gaussian")
        sigma = gaussian.sigma(epsilon=1.0, delta=1e-3, sensitivity=math.sqrt(2.0))
        assert wrong(2, mechanism=name, stderr=sigma) == {"mechanism of a curator", "error to expect with a curator"}


def test_randomized_response_is_no_baseline_where_subsets_err_less() -> None:
    """The error that k-ary randomized response has at the same epsilon0 is not the least."""
    made = made_by(Poll("histogram", categories=40, mechanism="hadamard", n=60, epsilon=1.0, delta=1e-3))
    weak = Poll("histogram", categories=range(40), n=60, epsilon=1.0, delta=1e-3, honest=1)
    row = {"mechanism": "k-ary randomized response", "epsilon0": weak.epsilon0, "stderr": weak.predicted_stderr()}
    made["comparison"][0] |= row
    found = failed(compared(json.loads(json.dumps(made))))
    assert found == {"mechanism without a shuffler"}
