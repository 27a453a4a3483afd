"""Bad inputs are refused, with the rule and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from shuffledp import FromMatrix, InvalidInput, Poll
from shuffledp.errors import check_taken
from shuffledp.mechanisms.shuffler import Bag, Reports
from shuffledp.planning import plan
from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.questions.mean.statistical_query import StatisticalQuery
from shuffledp.randomizers import UserFakes
from shuffledp.randomizers.law_file import from_law

POLL = Poll("histogram", categories=["yes", "no", "maybe"], n=10, epsilon0=2.0)
WORDS = Poll("histogram", categories=100, mechanism="hadamard", n=10, epsilon0=2.0)
UNARY = Poll("histogram", categories=100, n=10, epsilon0=2.0, mechanism="oue")
HASHED = Poll("histogram", categories=100, n=10, epsilon0=2.0, mechanism="hash")
TALLY = Poll("sum", n=10, epsilon0=2.0, k=4)
NAN = float("nan")


def refused(act: Callable[[], object], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule) as caught:
        act()
    message = str(caught.value)
    assert message.endswith(".")
    assert message.count(". ") >= 1  # a rule, then a remedy


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (["yes", "perhaps"], "got 'perhaps'. Add it, or declare other"),
        (["yes", NAN], "must not be NaN"),
        (np.array([1.0, NAN]), "NaN|got 1.0"),
        ([], "at least one value"),
        (np.array([]), "at least one value"),
        ("yes", "must be a list, got str"),
        ({"yes"}, "must be a list, got set"),
        ({"yes": 3}, "must be a list, got dict"),
        (7, "must be a list, got int"),
        ([["yes"], ["no"]], "hashable"),
        (np.array([["yes"], ["no"]]), "hashable"),
        (["yes", None], "got None"),
    ],
)
def test_values_that_are_not_categories(values: object, rule: str) -> None:
    refused(lambda: POLL.encode(values), rule)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "values", [[100], [-1], [0.5], [NAN], ["a"], [[1, 2]], np.array([3, 1000]), [True, False], np.array([1.0])]
)
def test_values_outside_a_numbered_domain(values: object) -> None:
    refused(lambda: WORDS.encode(values), "whole numbers from 0 to 99")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ([0.5, 1.5], r"lie in \[0, 1\], got 1.5"),
        ([0.5, -1e-9], r"lie in \[0, 1\], got -1e-09"),
        ([0.5, NAN], r"lie in \[0, 1\], got nan"),
        ([0.5, float("inf")], "got inf"),
        ([], "at least one number"),
        (["0.5"], "list of numbers"),
        ("0.5", "list of numbers"),
        (0.5, "list of numbers"),
        ([[0.5]], "list of numbers"),
        ([[0.5], [0.5, 0.5]], "different lengths"),
        ([None], "list of numbers"),
    ],
)
def test_values_that_are_not_numbers_in_range(values: object, rule: str) -> None:
    refused(lambda: TALLY.encode(values), rule)


@pytest.mark.parametrize("protocol", [POLL, WORDS, TALLY, UNARY, HASHED])
def test_a_number_of_reports_that_is_not_n(protocol: Poll) -> None:
    values = ["yes"] * 11 if protocol is POLL else [1.0] * 11 if protocol is TALLY else [1] * 11
    refused(
        lambda: protocol.shuffle(protocol.encode(values)),
        "at most n = 10, got 11. Each user sends one per round; build the poll with n=11",
    )
    refused(
        lambda: protocol.shuffle(protocol.encode(values[:9])),
        "at least 10, as guarantee assumes, got 9. Wait for more reports",
    )
    refused(
        lambda: protocol.shuffle(protocol.encode(values[:10]), colluding=10), "colluding must be below the 10 reports"
    )


def test_reports_that_no_user_sends() -> None:
    refused(lambda: POLL.shuffle(np.array([0, 1, 3])), "from 0 to 2")
    refused(lambda: POLL.shuffle(np.zeros(10)), "whole numbers")
    refused(lambda: POLL.shuffle(np.array([], dtype=np.uint8)), "empty")
    refused(lambda: POLL.shuffle([]), "empty")
    refused(lambda: UNARY.shuffle(np.zeros((10, 12), dtype=np.uint8)), "13 bytes")
    refused(lambda: HASHED.shuffle(np.zeros((10, 3), dtype=np.uint64)), "shape")
    refused(lambda: HASHED.shuffle(np.zeros(10, dtype=np.uint64)), "shape")


def test_the_same_reports_twice_are_not_twice_the_crowd() -> None:
    half = POLL.encode(["yes"] * 5)
    refused(lambda: POLL.shuffle([half, half]), "listed once each, got some twice")
    refused(lambda: POLL.shuffle([half, Reports(half.description, half.rows)]), "listed once each, got some twice")
    refused(lambda: POLL.shuffle([half, Reports(half.description, half.rows[1:])]), "listed once each, got some twice")
    refused(lambda: POLL.shuffle([half, half.rows]), "got a mixture")
    assert len(POLL.shuffle([half, POLL.encode(["yes"] * 5)])) == 10


def test_a_generator_of_reports_is_shuffled_and_a_bag_is_not() -> None:
    bag = POLL.shuffle(POLL.encode(["yes"] * 5) for _ in range(2))
    assert len(bag) == 10
    refused(lambda: POLL.shuffle(bag), "got a bag. It is shuffled already")  # type: ignore[arg-type]


def test_a_bag_by_hand_is_a_table_of_at_most_n_reports() -> None:
    refused(lambda: Bag({}, np.zeros((2, 2, 2), dtype=np.uint8)), "vector or a table")
    for protocol in (POLL, WORDS):
        refused(
            lambda protocol=protocol: protocol.analyse(Bag(protocol.describe(), np.zeros(50, dtype=np.uint8))),
            "at most n = 10, got 50",
        )  # type: ignore[misc]


def adult(age: float) -> bool:
    return age >= 18


def test_the_bag_of_another_query_is_refused() -> None:
    def asked(query: Callable[[float], float], name: str | None = None) -> Poll:
        return Poll(StatisticalQuery(query=query, name=name), n=10, epsilon0=2.0, k=1)

    def bag_of(protocol: Poll) -> Bag:
        return protocol.shuffle(protocol.encode([20.0] * 10))

    refused(lambda: asked(lambda age: age >= 18).analyse(bag_of(asked(lambda age: age >= 65))), "differs in name")
    refused(lambda: asked(adult).analyse(bag_of(asked(lambda age: age >= 65))), "differs in name")
    refused(lambda: asked(adult, "adults").analyse(bag_of(asked(adult, "elders"))), "differs in name")
    assert asked(adult).analyse(bag_of(asked(adult))).n == 10
    assert asked(lambda age: age >= 18, "adults").analyse(bag_of(asked(adult, "adults"))).n == 10


@pytest.mark.parametrize(
    "values",
    [
        np.ma.masked_array(["yes", "no"], mask=[False, True]),
        ["yes", None],
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
        [np.datetime64("NaT")],
        [np.float32("nan")],
    ],
)
def test_missing_values_are_not_other(values: object) -> None:
    poll = Poll("histogram", categories=["yes", "no", "else"], other="else", n=10, epsilon0=2.0)
    refused(lambda: poll.encode(values), "must not be")  # type: ignore[arg-type]


def test_masked_numbers_are_refused() -> None:
    refused(lambda: TALLY.encode(np.ma.masked_array([0.5, 0.5], mask=[False, True])), "masked")
    refused(lambda: WORDS.encode(np.ma.masked_array([1, 2], mask=[False, True])), "masked")  # type: ignore[arg-type]


def test_a_bag_or_reports_of_another_protocol() -> None:
    other = Poll("histogram", categories=["yes", "no", "never"], n=10, epsilon0=2.0)
    reports = other.encode(["yes"] * 10)
    refused(lambda: POLL.shuffle(reports), "the reports must come from this poll, got one that differs in categories")
    refused(
        lambda: POLL.analyse(other.shuffle(reports)),
        "the bag must come from this poll, got one that differs in categories",
    )
    louder = Poll("histogram", categories=["yes", "no", "maybe"], n=10, epsilon0=3.0)
    refused(lambda: POLL.analyse(louder.shuffle(louder.encode(["yes"] * 10))), "differs in epsilon0")
    refused(lambda: TALLY.analyse(POLL.shuffle(POLL.encode(["yes"] * 10))), "differs in question")
    refused(lambda: POLL.analyse(reports.rows), "bag must come from shuffle")  # type: ignore[arg-type]
    refused(lambda: POLL.analyse(Bag(POLL.describe(), np.array([9, 9], dtype=np.uint8))), "from 0 to 2")
    refused(lambda: POLL.shuffle([Reports(other.describe(), reports.rows)]), "differs in categories")


@pytest.mark.parametrize(
    ("build", "rule"),
    [
        (lambda: Poll("histogram", categories=["a"], n=10, epsilon0=1.0), "at least two"),
        (lambda: Poll("histogram", categories=["a", "b", "a"], n=10, epsilon0=1.0), "distinct, got 'a' twice"),
        (lambda: Poll("histogram", categories=["a", NAN], n=10, epsilon0=1.0), "NaN"),
        (lambda: Poll("histogram", categories=[["a"], ["b"]], n=10, epsilon0=1.0), "hashable"),
        (lambda: Poll("histogram", categories="ab", n=10, epsilon0=1.0), "must be a list"),
        (
            lambda: Poll("histogram", categories=["a", "b"], other="c", n=10, epsilon0=1.0),
            "other must be one of the categories",
        ),
        (
            lambda: Poll("histogram", categories=["a", "b"], n=10),
            "exactly one of epsilon and epsilon0 must be given, got neither",
        ),
        (lambda: Poll("histogram", categories=["a", "b"], n=10, epsilon=1.0, epsilon0=1.0, delta=1e-6), "got both"),
        (lambda: Poll("histogram", categories=["a", "b"], n=10, epsilon=1.0), "delta must be given with epsilon"),
        (lambda: Poll("histogram", categories=["a", "b"], n=0, epsilon0=1.0), "n must be at least 1"),
        (lambda: Poll("histogram", categories=["a", "b"], n=10, honest=11, epsilon0=1.0), "at most n = 10"),
        (lambda: Poll("histogram", categories=["a", "b"], n=10, epsilon0=-1.0), "epsilon0 must be positive"),
        (lambda: Poll("histogram", categories=["a", "b"], n=10, epsilon=1e-9, delta=1e-12), "Use more people"),
        (lambda: Poll("mean", n=10, epsilon=0.0, delta=1e-6), "epsilon must be positive to be promised"),
        (lambda: Poll("mean", n=10, epsilon=1e-200, delta=1e-12), "Use more people"),
        (lambda: Poll("histogram", categories=["a", "b"], n=10, epsilon0=1.0, rounds=0), "rounds must be at least 1"),
        (lambda: Poll("histogram", categories=1, mechanism="hadamard", n=10, epsilon0=1.0), "k must be at least 2"),
        (
            lambda: Poll("histogram", categories=10, mechanism="hadamard", other=3, n=10, epsilon0=1.0),
            "other must be left out",
        ),
        (lambda: Poll("mean", n=10, epsilon0=1.0, k=2, lower=1.0, upper=1.0), "lower must be below upper"),
        (lambda: Poll("mean", n=10, epsilon0=1.0, k=2, lower=-1e308, upper=1e308), "distance finite"),
        (lambda: Poll("mean", n=10, epsilon0=1.0, k=0), "k must be at least 1"),
        (lambda: plan("median", n=10, epsilon=1.0, delta=1e-6), "task must be one of"),  # type: ignore[arg-type]
        (lambda: plan("mean", n=10, categories=3, epsilon=1.0, delta=1e-6), "left out for a mean"),
        (lambda: plan("histogram", n=10, epsilon=1.0, delta=1e-6), "categories must be given for counts"),
        (
            lambda: Poll("histogram", categories=10**12, mechanism="hadamard", n=10, epsilon0=1.0),
            "at most 4194304, got 1000000000000",
        ),
        (lambda: Poll("sum", n=10, epsilon0=1.0, k=10**12), "k must be at most 4194304"),
        (lambda: plan("histogram", n=10, categories=10**12, epsilon=1.0, delta=1e-6), "at most 4194304"),
        (lambda: Poll("histogram", categories=["a", "b"], other=["x"], n=10, epsilon0=1.0), "other must be hashable"),  # type: ignore[arg-type]
        (lambda: Poll("histogram", categories=np.array(5), n=10, epsilon0=1.0), "must be a list"),  # type: ignore[arg-type]
        (lambda: Poll("histogram", categories=[([],), "a"], n=10, epsilon0=1.0), "hashable"),
        (lambda: Poll("histogram", categories=["a", None], n=10, epsilon0=1.0), "NaN, NaT or None"),
        (lambda: WORDS.encode([[0], [1, 2]]), "different lengths"),  # type: ignore[list-item]
        (lambda: POLL.analyse_counts([[0], [1, 2]]), "counts must be 3 whole numbers"),  # type: ignore[arg-type]
        (lambda: POLL.analyse_counts(np.array([2**63, 2**63, 5], dtype=np.uint64)), "counts must be 3 whole numbers"),
        (lambda: POLL.analyse_counts([5, 5, 0], estimator="foo"), "estimator must be one of"),  # type: ignore[arg-type]
        (lambda: POLL.predicted_stderrs("abc"), "counts must be finite numbers"),
        (lambda: WORDS.predicted_stderrs("abc"), "counts must be finite numbers"),
        (lambda: POLL.predicted_stderrs([float("inf"), 1, 1]), "counts must be finite numbers"),
        (lambda: Poll("histogram", categories=10, mechanism=["x"], n=10, epsilon0=1.0), "mechanism must be one of"),  # type: ignore[arg-type]
        (lambda: Poll(StatisticalQuery(query=5), n=10, epsilon0=1.0, k=1), "query must be a function"),  # type: ignore[arg-type]
        (lambda: Poll(StatisticalQuery(query=float, name=""), n=10, epsilon0=1.0, k=1), "name must be a string"),
        (lambda: Poll("sum", n=10, epsilon0=1.0, k=2, lower=-8e307, upper=8e307), "at most 1e"),
        (lambda: POLL.guarantee_for(11), "arrived must be at most n = 10"),
        (lambda: POLL.guarantee_for(0), "arrived must be at least 1"),
        (lambda: POLL.guarantee_for(5, colluding=5), "colluding must be below"),
        (lambda: POLL.analyse_counts([5, 5]), "counts must be 3 whole numbers"),
        (lambda: POLL.analyse_counts([5.0, 5.0, 0.0]), "counts must be 3 whole numbers"),
        (lambda: POLL.analyse_counts([5, 5, 5]), "from 1 to n = 10"),
        (lambda: POLL.analyse_counts([0, 0, 0]), "from 1 to n = 10"),
        (lambda: TALLY.analyse_counts([10, 0, 0, 0, 0], rounding="half"), "rounding must be one of"),  # type: ignore[arg-type]
        (lambda: POLL.analyse(POLL.shuffle(POLL.encode(["yes"] * 10)), estimator="guess"), "estimator must be one of"),  # type: ignore[arg-type]
        (lambda: POLL.analyse_counts([5, 5, 0], [5, 5, 0]), "at most rounds = 1, got 2"),
        (lambda: POLL.analyse_counts([5, 5, 0]).interval(1.5), "level must lie in"),
        (lambda: POLL.analyse_counts([5, 5, 0]).value, "single estimate"),
        (lambda: POLL.analyse_counts([5, 5, 0])["never"], "label must be one of"),
    ],
)
def test_requests_that_make_no_sense(build: Callable[[], object], rule: str) -> None:
    refused(build, rule)


def test_rounds_of_different_questions_are_not_averaged() -> None:
    two = Poll("histogram", categories=["yes", "no", "maybe"], n=10, honest=5, epsilon0=2.0, rounds=2)
    refused(lambda: two.analyse_counts([5, 5, 0], [5, 4, 0]), "same number of reports, got 10, 9")


@pytest.mark.parametrize("epsilon0", [1e-6, 50.0])
@pytest.mark.parametrize("n", [1, 7])
def test_extreme_noise_gives_finite_answers(epsilon0: float, n: int) -> None:
    for protocol, values in (
        (Poll("histogram", categories=["a", "b"], n=n, epsilon0=epsilon0), ["a"] * n),
        (Poll("sum", n=n, epsilon0=epsilon0, k=1), [1.0] * n),
        (Poll("sum", n=n, epsilon0=epsilon0, k=100), [0.3] * n),
        (Poll("histogram", categories=10, mechanism="hadamard", n=n, epsilon0=epsilon0), [3] * n),
    ):
        estimate = protocol.analyse(protocol.shuffle(protocol.encode(values, rng=np.random.default_rng(0))))  # type: ignore[arg-type]
        for numbers in (estimate.values, estimate.stderr, *estimate.interval(), *estimate.simultaneous()):
            assert np.all(np.isfinite(numbers))
        assert np.isfinite(protocol.predicted_stderr())


NUMBERS: dict[str, Any] = {"n": 10, "epsilon0": 2.0, "k": 3}
BINS: dict[str, Any] = {"cuts": range(33), "n": 10, "epsilon0": 2.0}


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        ({"question": "histogram", "n": 10, "epsilon0": 1.0}, "asked with categories, got none"),
        ({"question": "crosstab", "n": 10, "epsilon0": 1.0}, "asked with columns and categories, got none"),
        ({"question": "count", "n": 10, "epsilon": 1.0, "delta": 1e-3}, "asked with value, got none"),
        ({"question": 3, "n": 10, "epsilon0": 1.0}, "the question must be one of .*, got 3"),
        ({"question": MeanQuestion, **NUMBERS}, "the question must be one of"),
        ({"question": "mean", "colour": 3, **NUMBERS}, "colour must be left out of a mean by krr"),
        ({"question": "mean", "categories": ["a"], **NUMBERS}, "It takes lower, upper, view, k, levels"),
        ({"question": "mean", "levels": "nonsense", **NUMBERS}, "levels must be left out for a mean"),
        ({"question": "quantile", "mechanism": "fakes", "levels": (8, 32), **BINS}, "levels must be left out of"),
        ({"question": "mean", "mechanism": np.ones(2), **NUMBERS}, "the mechanism must be one of krr, split"),
        ({"question": "mean", "view": np.ones(2), **NUMBERS}, "view must be one of reports, sums"),
    ],
)
def test_questions_and_choices_that_do_not_fit(asked: dict[str, Any], rule: str) -> None:
    refused(lambda: Poll(**asked), rule)


@pytest.mark.parametrize(
    "asked",
    [
        {"question": "mean", **NUMBERS},
        {"question": "quantile", "levels": (8, 32), **BINS},
        {"question": "histogram", "categories": 3, "n": 10, "randomizer": UserFakes(k=3, slots=1, chance=0.5)},
        {"question": "histogram", "categories": 3, "n": 10, "mechanism": "dummies", "epsilon": 1.0, "delta": 1e-3},
    ],
)
def test_sums_of_reports_that_do_not_add_up(asked: dict[str, Any]) -> None:
    """A mean's came as a bag of as many "people" as named its first grid point."""
    refused(lambda: Poll(view="sums", **asked), "sums")


def test_bags_of_reports_where_sums_are_promised() -> None:
    poll = Poll("histogram", categories=3, n=10, epsilon0=2.0, mechanism="oue", view="sums")
    sorted_sums = Bag(poll.describe(), np.array([10, 3, 4, 5]))
    refused(lambda: poll.analyse(sorted_sums), "sums only")


def test_readings_that_a_question_does_not_know() -> None:
    bag = POLL.shuffle(POLL.encode(["yes"] * 10))
    refused(lambda: POLL.analyse(bag, rounding="none"), "rounding must be left out of the reading of a histogram")
    refused(lambda: POLL.influence(3), "what analyse")  # type: ignore[arg-type]


def test_a_round_counts_once() -> None:
    """Its error would seem to fall with the square root of how often it is listed."""
    asked = Poll("histogram", categories=3, n=10, rounds=2, epsilon0=2.0)
    bag = asked.shuffle(asked.encode([0] * 5 + [1] * 5))
    refused(lambda: asked.analyse(bag, bag), "different rounds")


@pytest.mark.parametrize("held", [[1.0], [1.0, 2.0], [-1.0, 5.0, 5.0], 7, [[1.0, 2.0, 3.0]]])
def test_people_that_are_not_one_number_for_each_value(held: object) -> None:
    """For fakes and dummies any numbers were taken, and said to have errors."""
    law = UserFakes(k=3, slots=1, chance=0.5)
    for poll in (POLL, Poll("histogram", categories=3, n=10, randomizer=law)):
        refused(lambda poll=poll: poll.predicted_stderrs(held), "3 numbers of at least 0")  # type: ignore[misc]


def test_no_estimates_have_a_text() -> None:
    asked = Poll("quantile", **BINS)
    none = asked.derive(asked.randomizer.tally(np.zeros(10, dtype=np.int64)))["ranges"]
    assert "10 reports" in repr(none)
    assert "10 reports" in str(none)


@pytest.mark.parametrize(
    "poll", [UNARY, Poll("histogram", categories=3, n=10, randomizer=UserFakes(k=3, slots=1, chance=0.5))]
)
def test_tallies_of_different_lengths(poll: Poll) -> None:
    refused(lambda: poll.analyse_counts([[1], [1, 2]]), "counts must be")  # type: ignore[arg-type, list-item]


def test_a_refusal_of_many_integers_is_short() -> None:
    """A tree's are hundreds, and a hostile file's any number."""
    terms: dict[str, Any] = {"n": 100, "epsilon": 1.0, "delta": 1e-4, "mechanism": "dummies"}
    law = Poll("histogram", categories=3, **terms).law.as_json()
    with pytest.raises(InvalidInput, match="the integers of dummies must be") as caught:
        from_law({**law, "integers": ["1"] * 10_000})
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("law", ["one of", "tree"])
def test_a_law_that_its_mechanism_chooses_is_no_mechanism(law: str) -> None:
    asked: dict[str, Any] = {"cuts": range(17), "n": 100, "epsilon": 1.0, "delta": 1e-6}
    refused(lambda: Poll("quantile", mechanism=law, **asked), "krr, fakes, dummies")


def test_a_poll_without_people_is_refused_with_an_example() -> None:
    refused(lambda: Poll("count", value="yes", epsilon0=1.0), r"n must be given, got none\. .* such as n=10_000")


def test_a_misspelled_question_is_refused_with_the_right_name() -> None:
    refused(lambda: Poll("histgram", n=10, epsilon0=1.0), r"got 'histgram'\. Did you mean 'histogram'\?")


def test_what_was_asked_for_cannot_be_changed() -> None:
    poll = Poll("histogram", categories=3, n=10, randomizer=FromMatrix(np.eye(3) * 0.7 + 0.1))
    for change in (lambda: poll.given.update(n=3), lambda: poll.given.__setitem__("n", 3)):  # type: ignore[attr-defined]
        with pytest.raises((AttributeError, TypeError)):
            change()
    assert dict(poll.given)["n"] == 10
    for name in ("table", "weights", "variances"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(poll.randomizer, name)[0] = 0.0


def test_a_question_that_reads_in_ways_of_its_own_is_handed_all_of_them() -> None:
    class Foreign:
        def estimate(self, mechanism: object, tally: object, **reading: object) -> None: ...

    check_taken(Foreign().estimate, {"rounding": "none"}, "the reading of a foreign question")
