"""A search from its first level to its words."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp.accounting.accountant import Accountant
from shuffledp.accounting.shuffled import shuffle
from shuffledp.design import Design, Law
from shuffledp.errors import InvalidInput
from shuffledp.poll import certify
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.law_file import law_of
from shuffledp.search import planning
from shuffledp.search.found import Found
from shuffledp.search.planning import planned_search, rarest_found
from shuffledp.search.search import OUT_OF, Search, gentler

LETTERS = tuple("abcdefgh")
PEOPLE = 60_000


@pytest.fixture(scope="module")
def search() -> Search:
    return planned_search(
        people=PEOPLE, epsilon=1.0, delta=1e-6, k=6, longest=5, tokens=LETTERS, candidates=8, least_holders=300
    )


def held() -> list[str]:
    """Words that many hold, one that is too long, and one that few hold."""
    common = ["a"] * 16_000 + ["bad"] * 12_000 + ["cafe"] * 9000 + ["cafeface"] * 6000 + ["head"] * 5000
    return common + ["dead"] * 100 + ["?"] * (PEOPLE - len(common) - 100)


def carried_out(search: Search, words: list[str], seed: int, malicious: int = 0) -> Found:
    """The last people are ``malicious``: they send what they hold without noise."""
    rng = np.random.default_rng(seed)
    rows = search.alphabet.rows(words, longest=search.longest)
    levels = search.levels_of(rng.integers(0, OUT_OF, len(words), dtype=np.uint32))
    tallies = list[NDArray[np.int64]]()
    while isinstance(step := search.next(tallies), Design):
        mine = levels >= len(tallies) if step.resolved.counting else levels == len(tallies)
        places = step.resolved.level.places(rows[mine])
        law = step.poll.randomizer
        reports = law.randomize(places, rng=rng)
        cheats = np.arange(len(words))[mine] >= len(words) - malicious
        reports[cheats] = places[cheats]
        tallies.append(law.tally(reports))
    return step


def test_the_frequent_words_are_found_and_counted(search: Search) -> None:
    words = held()
    found = carried_out(search, words, seed=1)
    true = Counter(words)
    expected = {"a", "bad", "cafe", "cafef…", "head"}
    listed = found.listed
    assert set(listed.labels) == expected
    for word, estimate, stderr, lower, upper in zip(
        listed.labels, listed.values, listed.stderr, *listed.simultaneous(), strict=True
    ):
        count = true[str(word)] if word in true else true["cafeface"]
        assert abs(estimate - count) < 6 * stderr
        assert lower < estimate < upper
    assert listed.values.tolist() == sorted(listed.values.tolist(), reverse=True)
    assert found.found_from is not None
    assert 300 < found.found_from < 5000


def test_what_few_hold_is_never_listed(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    """And would be, were there no threshold: then the same reports list what few or none hold."""
    words = held()
    for seed in range(3):
        assert not {*carried_out(search, words, seed).listed.labels} & {"dead"}
    monkeypatch.setattr(Search, "threshold", lambda *_: 1)
    listed = {*carried_out(search, words, seed=1).listed.labels}
    assert listed - {"a", "bad", "cafe", "cafef…", "head"}


def test_as_many_malicious_people_as_is_said_have_a_word_listed_and_far_fewer_have_not(search: Search) -> None:
    """Fewer than the holders that it would need; with half as many it is listed in no run."""
    honest = carried_out(search, held(), seed=4)
    assert honest.found_from is not None
    assert honest.faked_from is not None
    assert 300 < honest.faked_from < honest.found_from

    def listed(malicious: int, seed: int) -> bool:
        words = held()
        words[PEOPLE - malicious :] = ["fade"] * malicious
        return "fade" in carried_out(search, words, seed, malicious).listed.labels

    assert all(listed(honest.faked_from, seed) for seed in (4, 5, 6))
    assert not any(listed(honest.faked_from // 2, seed) for seed in (4, 5, 6))


def test_a_search_without_frequent_words_ends_early(search: Search) -> None:
    found = carried_out(search, ["?"] * PEOPLE, seed=2)
    assert (found.listed.labels, found.estimate.labels, len(found.levels)) == ((), (), 1)


def test_nobody_is_asked_twice(search: Search) -> None:
    numbers = np.random.default_rng(3).integers(0, OUT_OF, 10_000, dtype=np.uint32)
    levels = search.levels_of(numbers)
    assert set(levels.tolist()) == set(range(len(search.spans) + 1))
    for asked in range(len(search.spans) + 1):  # whoever counts was at no level before
        assert not np.any((levels >= asked) & (levels < asked))
    shares = np.bincount(levels, minlength=len(search.spans) + 1) / len(levels)
    assert shares[0] == pytest.approx(search.share / OUT_OF, abs=0.03)


def test_every_level_keeps_the_promise(search: Search) -> None:
    level = search.next([])
    assert level == search.first_design
    design = Design.from_json(level.as_json())
    assert certify(design).poll.guarantee.epsilon_at_most(delta=search.delta) <= 1.0
    assert design.mechanism == search.law
    assert search.group(0).honest <= search.group(len(search.spans), counting=True).honest


def test_a_search_is_written_down_and_read(search: Search) -> None:
    assert Search.from_json(search.as_json()) == search
    for changed in ({"spans": [1]}, {"k": 0}, {"candidates": 3}, {"version": 2}, {"tokens": ["a", "a"]}):
        with pytest.raises(InvalidInput):
            Search.from_json(search.as_json() | changed)


@pytest.mark.parametrize("field", ["people", "honest", "share", "spans", "tokens", "epsilon", "delta", "k", "error"])
def test_a_search_of_a_stranger_is_refused_in_a_sentence(field: str, search: Search) -> None:
    written = search.as_json()
    for value in (None, "x", True, -1, 1.5, math.nan, [], {}, ["x"], [None], [[1]], 10**400):
        if (field, value) in (("tokens", None), ("epsilon", 1.5)):  # other searches
            continue
        with pytest.raises(InvalidInput):
            Search.from_json(written | {field: value})


def test_fewer_people_to_count_than_a_level_has_are_refused(search: Search) -> None:
    alone = {name: value for name, value in search.as_json().items() if name != "counting"}
    most = OUT_OF // (len(search.spans) + 1)
    assert Search.from_json(alone | {"share": most}).share == most
    for share in (most + 1, (OUT_OF - 1) // len(search.spans)):
        with pytest.raises(InvalidInput, match="share must leave as many people to count"):
            Search.from_json(alone | {"share": share})


def test_tallies_of_other_levels_are_refused(search: Search) -> None:
    with pytest.raises(InvalidInput, match="must count from"):
        search.next([np.ones(search.law.values, dtype=np.int64)])
    over = carried_out(search, ["?"] * PEOPLE, seed=2)
    votes = np.zeros(search.law.values, dtype=np.int64)
    votes[search.law.values - 1] = over.levels[0].reports
    with pytest.raises(InvalidInput, match="asked once"):
        search.next([votes, votes])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"k": 0}, "words must be"),
        ({"k": 5000}, "at most 4096"),
        ({"longest": 0}, "longest must be"),
        ({"longest": 300}, "at most 255"),
        ({"candidates": 2}, "candidates must be"),
        ({"least_holders": 0}, "least_holders must be"),
        ({"least_holders": 10**9}, "at most the 60000 people"),
        ({"error": 0.0}, "error must"),
        ({"tokens": ("a", "a")}, "distinct"),
        ({"people": 200, "tokens": ("a", "b"), "longest": 2, "k": 1}, "Ask about"),
    ],
)
def test_what_cannot_be_asked(changed: dict[str, object], words: str) -> None:
    usual: dict[str, object] = {"people": PEOPLE, "epsilon": 1.0, "delta": 1e-6, "k": 5, "longest": 6}
    with pytest.raises(InvalidInput, match=words):
        planned_search(**usual | changed)  # type: ignore[arg-type]


@pytest.mark.parametrize(("people", "honest"), [(15_500, 15_500), (7000, 5600)])
def test_too_few_people_are_told_how_many_are_enough(people: int, honest: int) -> None:
    """As many as are enough, as large a part of them honest, and hardly more."""
    terms = {"epsilon": 1.0, "delta": 1e-6, "k": 50}
    with pytest.raises(InvalidInput, match="Ask about") as refused:
        planned_search(people=people, honest=honest, **terms)  # type: ignore[arg-type]
    enough = int(str(refused.value).partition("Ask about ")[2].partition(" ")[0].replace(",", ""))
    assert enough < (16_500 if honest == people else 18_000)
    assert planned_search(people=enough, honest=enough * honest // people, **terms).people == enough  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"people": 10**6, "delta": 1e-15}, "even 10,000,000,000 are not: not even"),
        ({"people": 10**6, "delta": 1e-6}, "Ask about"),
        pytest.param(
            {"people": 10_000, "longest": 32, "tokens": ("a", "b"), "delta": 1e-6}, "Ask", marks=pytest.mark.long
        ),
    ],
)
def test_a_tiny_epsilon_is_refused_with_few_calibrations(
    terms: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tokens have 144 shapes, of which few are looked at; and no more people are asked for than
    there are.
    """
    calls, plain = list[int](), planning._law

    def counted(*given: Any) -> Law:
        calls.append(1)
        return plain(*given)

    monkeypatch.setattr(planning, "_law", counted)
    with pytest.raises(InvalidInput, match=words):
        planned_search(epsilon=1e-9, k=50, **terms)
    assert len(calls) < (150 if "tokens" in terms else 40)


def test_more_people_find_rarer_words() -> None:
    terms = {"epsilon": 1.0, "delta": 1e-6, "k": 5, "longest": 2, "tokens": LETTERS}
    rarest = [rarest_found(planned_search(people=people, **terms)) for people in (50_000, 500_000)]  # type: ignore[arg-type]
    assert rarest[0] is not None
    assert rarest[1] is not None
    assert rarest[1] / 500_000 < 0.5 * rarest[0] / 50_000


@pytest.mark.parametrize("delta", [1e-6, 1e-16, 1e-18])
def test_what_the_first_level_does_not_show_is_counted_whole(search: Search, delta: float) -> None:
    """A chance for short groups, and one for those who count; no digit of either is lost."""
    one_law = replace(search, counting=None, delta=delta)
    assert one_law.besides is None
    for each, parts in ((one_law, 1), (replace(search, delta=delta), 2)):
        besides = replace(each, honest=PEOPLE - 1).besides
        assert besides is not None
        for epsilon in (0.1, 1.0, 30.0):
            assert besides.delta_at_most(epsilon=epsilon) == pytest.approx(parts * 1e-3 * delta, rel=1e-9)
        left = replace(each, honest=PEOPLE - 1).level_delta
        assert left + parts * 1e-3 * delta == pytest.approx(delta, rel=1e-12)


def test_those_who_count_show_no_more_than_the_first_level(search: Search) -> None:
    """Alone, for every epsilon, and in sums; a law that a ledger would not know is refused."""
    first, last = search.group(0), search.group(len(search.spans), counting=True)
    assert last.randomizer.contrast > 1.1 * first.randomizer.contrast
    before, after = (shuffle(group.randomizer, n=group.honest) for group in (first, last))
    for epsilon in np.linspace(0.0, 4.0, 17).tolist():
        room = 1e-9 + before.delta(epsilon=epsilon).lower
        assert after.delta_at_most(epsilon=epsilon) <= room
    assert search.besides is not None
    charged = Accountant().add(before).add(search.besides).total.compose(5)
    assert after.compose(5).epsilon(delta=1e-6).upper <= charged.epsilon(delta=1e-6).lower
    louder = Law.from_json(law_of(KRR(k=last.law.k, epsilon0=last.law.epsilon0 + 0.5)))
    assert not gentler(replace(search, counting=louder))
    with pytest.raises(InvalidInput, match="show no more than the first level"):
        Search.from_json(search.as_json() | {"counting": louder.as_json()})


def test_a_search_of_an_earlier_version_has_one_law(search: Search) -> None:
    written = {name: value for name, value in search.as_json().items() if name != "counting"}
    read = Search.from_json(written)
    assert read.as_json() == written
    assert (read.counting, read.level_delta) == (None, read.delta)
    assert read.group(len(read.spans), counting=True).law == read.law
