"""Reports by keyed noise: the same whatever the batch, independent where anything in the key
differs, and of exactly the law that fresh words give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import shuffledp as sdp
from shuffledp.randomizers import votes
from shuffledp.randomizers.wrappers import VotingCheckIn
from shuffledp.sampling import keyed
from tests.sampling.fake import Scripted
from tests.sampling.keyed_rows import noise, numbered, told

RANDOMIZERS: dict[str, Callable[[], Any]] = {
    "rr": lambda: sdp.RR(epsilon0=1.0),
    "krr": lambda: sdp.KRR(k=5, epsilon0=1.0),
    "krr of two bytes": lambda: sdp.KRR(k=300, epsilon0=1.0),
    "hadamard": lambda: sdp.Hadamard(k=10, epsilon0=1.0),
    "olh": lambda: sdp.OLH(k=10, epsilon0=2.0),
    "blh": lambda: sdp.BLH(k=10, epsilon0=1.0),
    "subset": lambda: sdp.SubsetSelection(k=9, epsilon0=1.0),
    "oue": lambda: sdp.OUE(k=20, epsilon0=1.0),
    "rappor": lambda: sdp.RAPPOR(k=5, epsilon0=1.0),
    "check-in": lambda: VotingCheckIn.of(sdp.CheckIn(sdp.KRR(k=5, epsilon0=1.0), probability=0.4)),
    "check-in of bits": lambda: VotingCheckIn.of(sdp.CheckIn(sdp.OUE(k=5, epsilon0=1.0), probability=0.4)),
    "matrix": lambda: sdp.FromMatrix([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]),
    "laplace": lambda: sdp.Laplace(epsilon0=1.0),
    "one of": lambda: sdp.OneOf([sdp.KRR(k=2, epsilon0=1.0), sdp.OUE(k=2, epsilon0=1.0)]),
    "all of": lambda: sdp.AllOf([sdp.KRR(k=2, epsilon0=1.0), sdp.SubsetSelection(k=2, epsilon0=1.0)]),
}
PEOPLE = 40


def held(name: str, count: int = PEOPLE) -> NDArray[Any]:
    """Values that the randomizer of that name takes; every answer twice where it asks two
    questions.
    """
    if name == "laplace":
        return np.linspace(0.0, 1.0, count)
    values = np.arange(count) % 2
    return np.stack([values, values], axis=1) if name.endswith(" of") else values


def key_of(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.ndim == 1 else values[:, 0]


def at_borders(randomizer: Any) -> Callable[[bytes, NDArray[np.uint64]], NDArray[np.uint64]]:
    """AES, but for half of all blocks, whose first 16 bits are those that leave a coin open."""
    borders = np.array([each >> 48 for each in getattr(randomizer, "integers", ())] or [7], dtype=np.uint64) % (1 << 16)

    def encrypted(key: bytes, blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
        words = real(key, blocks)
        first, other = words[..., 0], words[..., 1]
        open_ = first >> np.uint64(16) << np.uint64(16) | borders[other % np.uint64(len(borders))]
        words[..., 0] = np.where(other >> np.uint64(63), open_, first)
        return words

    real = keyed.encrypted
    return encrypted


@pytest.mark.parametrize("name", RANDOMIZERS)
@settings(max_examples=8)
@given(order=st.permutations(range(PEOPLE)), cuts=st.sets(st.integers(1, PEOPLE - 1), max_size=4))
def test_a_persons_report_is_the_same_in_any_batch_and_order(name: str, order: list[int], cuts: set[int]) -> None:
    """Also where half of the coins need a second look."""
    randomizer, values, ids = RANDOMIZERS[name](), held(name), [f"person {i}" for i in range(PEOPLE)]
    for encrypted in (keyed.encrypted, at_borders(randomizer)):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(keyed, "encrypted", encrypted)
            whole = randomizer.randomize(values, rng=noise(key_of(values), ids))
            for rows in np.split(np.array(order), sorted(cuts)):
                part = randomizer.randomize(values[rows], rng=noise(key_of(values[rows]), [ids[row] for row in rows]))
                assert np.array_equal(part, whole[rows])


@pytest.mark.parametrize("name", RANDOMIZERS)
def test_the_chunks_that_fit_the_cache_do_not_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    randomizer, values = RANDOMIZERS[name](), held(name, 500)
    whole = randomizer.randomize(values, rng=noise(key_of(values)))
    monkeypatch.setattr(votes, "CHUNK", 64)
    assert np.array_equal(randomizer.randomize(values, rng=noise(key_of(values))), whole)


@pytest.mark.parametrize("name", RANDOMIZERS)
def test_the_same_words_give_the_same_reports_as_from_any_source(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keyed words decide is written down and told to a source that knows no rows. Half of the
    16-bit words are those that leave a coin open, so both looks at a word are taken.
    """
    randomizer, values = RANDOMIZERS[name](), held(name, 400)
    answers = list[tuple[str, list[int]]]()

    def written_down(draw: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
        def words(self: object, count: int, dtype: Any) -> NDArray[Any]:
            drawn = draw(self, count, dtype)
            if count:
                answers.append((np.dtype(dtype).str, drawn.tolist()))
            return drawn

        return words

    monkeypatch.setattr(keyed, "encrypted", at_borders(randomizer))
    for each in (keyed.KeyedSource, keyed._Cells):
        monkeypatch.setattr(each, "words", written_down(each.words))
    reports = randomizer.randomize(values, rng=noise(key_of(values)))
    told = Scripted(*answers)
    assert np.array_equal(randomizer.randomize(values, rng=told), reports)
    assert told.answers == []


@pytest.mark.parametrize("epsilon0", [0.01, 1.0, 10.0])
def test_the_coin_of_a_report_is_exact_on_the_integers(epsilon0: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """All 2^16 first looks at the coin, and where it is open the words on either side of the border;
    everybody holds 0, and noise says 7.
    """
    krr, rows = sdp.KRR(k=256, epsilon0=epsilon0), 1 << 16
    high, low = divmod(krr.threshold, 1 << 48)
    for later, noisy in ((low - 1, high + 1), (low, high)):
        words = (np.full(rows, 7), np.arange(rows), np.full(rows, later << 16))
        reports = krr.randomize(np.zeros(rows, dtype=np.uint8), rng=told(monkeypatch, *words))
        assert np.bincount(reports, minlength=256)[[0, 7]].tolist() == [rows - noisy, noisy]


def test_a_second_report_is_the_first_again() -> None:
    krr, values = sdp.KRR(k=5, epsilon0=1.0), np.arange(1000) % 5
    mine = noise(values)
    assert np.array_equal(krr.randomize(values, rng=mine), krr.randomize(values, rng=mine))
    assert not np.array_equal(krr.randomize(values), krr.randomize(values))  # fresh noise: two reports of everybody


MANY = 10**6
CHANGES: dict[str, Callable[[], dict[str, Any]]] = {
    "value": lambda: {"values": np.full(MANY, 2)},
    "round": lambda: {"round": 2},
    "design": lambda: {"digest": bytes(32)},
    "secret": lambda: {"secret": bytes(32)},
    "id": lambda: {"ids": numbered(MANY + 1)._replace(ends=np.arange(1, MANY + 2) * 8)},
}


def joint(one: NDArray[Any], other: NDArray[Any], k: int) -> NDArray[np.int64]:
    return np.bincount(one.astype(np.intp) * k + other, minlength=k * k).reshape(k, k)


@pytest.fixture(scope="module")
def reports() -> Callable[..., NDArray[Any]]:
    krr = sdp.KRR(k=4, epsilon0=1.5)

    def drawn(values: NDArray[Any] | None = None, keys: NDArray[Any] | None = None, **key: Any) -> NDArray[Any]:
        answers = np.full(MANY, 1) if values is None else values
        return krr.randomize(answers, rng=noise(answers if keys is None else keys, **key))

    return drawn


@pytest.mark.parametrize("change", CHANGES)
def test_another_value_round_design_secret_or_id_gives_an_independent_report(
    change: str, reports: Callable[..., NDArray[Any]]
) -> None:
    """A million pairs of reports against the product of their two exact laws; secrets are fixed, so
    the same happens every time.
    """
    law, key = sdp.KRR(k=4, epsilon0=1.5).realised, CHANGES[change]()
    other = 2 if change == "value" else 1
    chances = [np.where(np.arange(4) == value, law.hit, law.miss) for value in (1, other)]
    table = joint(reports(), reports(**key), 4)
    assert stats.chisquare(table.ravel(), MANY * np.outer(*chances).ravel()).pvalue > 1e-4


def test_noise_that_ignores_the_value_shows_every_change_of_an_answer(reports: Callable[..., NDArray[Any]]) -> None:
    """The control: somebody answered 1 and then 2. Keyed by the id alone, two reports that differ
    are the two answers, for certain; by the value too, they are any of twelve pairs.
    """
    same = np.zeros(MANY, dtype=np.int64)
    leaking = joint(reports(keys=same), reports(np.full(MANY, 2), keys=same), 4)
    np.fill_diagonal(leaking, 0)
    assert leaking[1, 2] == leaking.sum() > MANY / 3
    kept = joint(reports(), reports(np.full(MANY, 2)), 4)
    assert kept.min() > MANY / 100


def test_bits_of_a_report_are_independent_of_each_other_and_of_the_next_persons() -> None:
    """Wide reports: eight words of a row come from one block."""
    oue, many = sdp.OUE(k=16, epsilon0=1.0), 100_000
    values = np.zeros(many, dtype=np.int64)
    bits = np.unpackbits(oue.randomize(values, rng=noise(values)), axis=1, count=16)[:, 1:]
    share = oue.realised.miss
    expected = np.outer([1.0 - share, share], [1.0 - share, share]).ravel()
    for one, other in ((bits[:, 0], bits[:, 1]), (bits[:, 6], bits[:, 7]), (bits[:-1, 3], bits[1:, 3])):
        assert stats.chisquare(joint(one, other, 2).ravel(), len(one) * expected).pvalue > 1e-4


def test_noise_for_other_rows_is_refused() -> None:
    values = np.arange(6) % 2
    for wrong in (values[:5], np.arange(7) % 2):
        with pytest.raises(sdp.InvalidInput, match="keyed noise must be drawn for all of its 6 rows"):
            sdp.KRR(k=2, epsilon0=1.0).randomize(wrong, rng=noise(values))
