"""The browser's law is the accounted one: the same words give the same report, and words are asked
for alike.
"""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import chi2

from shuffledp.client import Reporter
from shuffledp.design import CHECK_IN, Design
from shuffledp.domain import ENCODINGS
from shuffledp.questions import OURS
from shuffledp.questions.count.question import CountQuestion
from shuffledp.randomizers import KRR, OUE, Hadamard
from shuffledp.randomizers.messages import MessageLaw, SignedUnits, SplitShares, UserFakes
from shuffledp.randomizers.messages.signed_units import BLANK, MINUS, PLUS
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.randomizers.wrappers import VotingCheckIn
from shuffledp.sampling import WORD
from shuffledp.survey.collection import Collection
from tests.survey.studies import ADDRESS, KEY
from tests.survey.tapes import MADE, Asks, encoded, encoder_of, integers_of, replay, tapes_of, ties, written

if TYPE_CHECKING:
    from playwright.sync_api import Page

Tapes = list[tuple[float, Asks, bytes]]
FRESH = 10
ELSEWHERE = {"quantile", "top"}  # tasks that have tests of their own, or are for the Python client
ONE_IN = 1e-9
# A source that gives the words of a tape, in JSON, and one that writes down what the browser draws.
SOURCES = """() => {
    const ARRAYS = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array };
    globalThis.replayed = (asks) => ({
        left: asks,
        words(count, bits) {
            const [written, words] = this.left.shift() ?? [];
            if (written !== bits || words.length !== count) throw new Error(`asked for ${count} words of ${bits} bits`);
            return ARRAYS[bits].from(words, bits === 64 ? BigInt : Number);
        },
    });
    globalThis.recorded = () => ({
        asks: [],
        words(count, bits) {
            const drawn = client.SECURE.words(count, bits);
            this.asks.push([bits, Array.from(drawn, String)]);
            return drawn;
        },
    });
    globalThis.designOf = async (text) => (await client.readCollection(new TextEncoder().encode(text))).design;
}"""


@pytest.fixture(scope="module", autouse=True)
def sources(page: Page) -> None:
    page.evaluate(SOURCES)


def file_of(design: Design) -> str:
    """The collection file of a design."""
    return Collection(design=design, key=KEY.public, shuffler=ADDRESS).content.decode()


def values_of(design: Design, rng: random.Random) -> list[float]:
    """Values at the ends and anywhere."""
    if design.domain.bounds is None:
        return [0, design.mechanism.values - 1, rng.randrange(design.mechanism.values)]
    lower, upper = design.domain.bounds
    inside = [min(max(lower + rng.random() * (upper - lower), lower), upper) for _ in range(4)]
    return [lower, upper, math.nextafter(lower, upper), math.nextafter(upper, lower), *inside]


def test_there_is_a_design_of_every_kind() -> None:
    laws = [(str(encoder_of(name).design.question.type), encoder_of(name).design.mechanism) for name in MADE]
    counted = {("histogram", family) for family in ("krr", *ENCODINGS)}
    assert {(task, law.type) for task, law in laws if law.type != CHECK_IN} == counted | {
        ("mean", "krr"),
        ("crosstab", "krr"),
        ("crosstab", "fakes"),
        ("crosstab", "dummies"),
        ("histogram", "fakes"),
        ("histogram", "dummies"),
        ("count", "signed"),
        ("mean", "split"),
        ("sum", "split"),
    }
    inside = {(task, law.inside.type) for task, law in laws if law.type == CHECK_IN}
    assert inside == counted - {("histogram", "hadamard")}, "whose reports cannot be counted with blanks"
    assert {task for task, _ in laws} >= set(OURS) - ELSEWHERE


@pytest.mark.parametrize("name", MADE)
def test_words_give_the_same_report_in_python_and_in_the_browser(page: Page, name: str) -> None:
    rng, reporter = random.Random(name), encoder_of(name)
    design = reporter.design
    tapes = tapes_of(reporter, values_of(design, rng), rng)
    pairs = [pair for _, asks, _ in tapes for pair in pairwise(asks) if [bits for bits, _ in pair] == [16, 64]]
    looks = {look for (_, first), (_, second) in pairs for look in product(first, second)}
    assert looks >= set(ties(design.mechanism)), "every border of every second look was reached"
    assert not unlike(page, file_of(design), tapes)
    assert len({report for _, _, report in tapes}) > 1


@pytest.mark.parametrize("name", MADE)
def test_the_words_of_the_browser_give_its_report_in_python(page: Page, name: str) -> None:
    reporter = encoder_of(name)
    values = values_of(reporter.design, random.Random(name)) * FRESH
    drawn = page.evaluate(
        """async ([text, values]) => {
            const design = await designOf(text);
            return JSON.stringify(values.map((value) => {
                const source = recorded();
                return [client.hex(client.encode(design, value, source)), source.asks];
            }));
        }""",
        [file_of(reporter.design), values],
    )
    for value, (report, asks) in zip(values, json.loads(drawn), strict=True):
        read = [(bits, [*map(int, words)]) for bits, words in asks]
        tape = replay(read)
        assert encoded(reporter, value, tape).hex() == report
        assert tape.asks == read, "all of them, asked for alike"


@pytest.mark.parametrize("name", ["krr 3", "mean 7", "hadamard 300", "hash to 8", "subset 3 of 300", "oue 10"])
def test_the_tapes_tell_a_threshold_that_is_off_by_one(page: Page, name: str) -> None:
    """The positive control: the last of 64 bits of a probability is looked at."""
    rng, reporter = random.Random(name), encoder_of(name)
    tapes = tapes_of(reporter, values_of(reporter.design, rng), rng)
    text, threshold = file_of(reporter.design), integers_of(reporter.design.mechanism)[-1]
    for other in (threshold - 1, threshold + 1):
        assert unlike(page, text.replace(f'"{threshold}"', f'"{other}"'), tapes), other
    assert not unlike(page, text, tapes)


@pytest.mark.parametrize("name", ["fakes 3", "fakes, light", "fakes, poisson", "dummies", "signed 24", "split in 5"])
def test_integers_that_are_not_those_of_the_law_are_refused(page: Page, name: str) -> None:
    """Whoever takes part is told what the file says, and what is drawn must be that."""
    law, text = encoder_of(name).design.mechanism, file_of(encoder_of(name).design)
    most = str(max(integers_of(law)))
    wrong = [text.replace(f'"{most}"', f'"{int(most) * 9 // 10}"')]
    wrong += [text.replace('"integers":["0",', '"integers":["5",')] if law.integers[0] == "0" else []
    wrong += [text.replace('"integers":[', '"integers":["7",')]
    for each in wrong:
        assert each != text
        said = page.evaluate("(text) => designOf(text).then(() => '', (error) => error.message)", each)
        assert "must be" in said, each


def test_a_table_without_fakes_or_dummies_and_shares_without_noise_are_refused(page: Page) -> None:
    """Each of a billion people adds so little that a probability of none differs in the tenth digit."""

    def own(design: Design) -> tuple[int, ...]:
        return integers_of(design.mechanism)

    dummies = [encoder_of(name).design for name in ("dummies", "dummies 300, light", "crosstab, dummies")]
    many = written(CountQuestion(value="yes"), SignedUnits(honest=10**9, decay=0.9, pairs=10**6, messages=4))
    for design, changed in (
        (encoder_of("fakes, poisson").design, ("0", "0", str(WORD))),
        (many, (own(many)[0], *[WORD - 1] * 2, *own(many)[3:])),
        *((each, (*own(each)[:2], 0, WORD)) for each in dummies),
        *((each, (*own(each)[:2], own(each)[2] + 1, *own(each)[3:])) for each in dummies),
    ):
        text = file_of(design)
        found = [json.dumps([*map(str, each)], separators=(",", ":")) for each in (design.mechanism.integers, changed)]
        asked = [text, text.replace(*found)]
        assert asked[0] != asked[1]
        said = page.evaluate(
            "(texts) => Promise.all(texts.map((each) => designOf(each).then(() => '', (error) => error.message)))",
            asked,
        )
        assert said[0] == ""
        assert "protects you differently" in said[1]


def unlike(page: Page, text: str, tapes: Tapes) -> int:
    """How many reports differ in the browser with that file."""
    given = [(value, [(bits, [*map(str, words)]) for bits, words in asks]) for value, asks, _ in tapes]
    found = page.evaluate(
        """async ([text, tapes]) => {
            const design = await designOf(text);
            const report = (value, source) => [client.hex(client.encode(design, value, source)), source.left.length];
            return JSON.parse(tapes).map(([value, asks]) => {
                try { return report(value, replayed(asks)); } catch (error) { return [error.message, 0]; }
            });
        }""",
        [text, json.dumps(given)],
    )
    return sum(answer != [report.hex(), 0] for answer, (_, _, report) in zip(found, tapes, strict=True))


ROLLED = {
    "krr 3": 200_000,
    "krr 257": 20_000,
    "mean 7": 10_000,
    "hadamard 5": 10_000,
    "subset 2 of 5": 10_000,
    "oue 2": 10_000,
    "check-in, krr 3": 10_000,
    "check-in, subset": 10_000,
    "fakes 3": 20_000,
    "fakes, light": 40_000,
    "signed 2": 20_000,
    "split in 2": 40_000,
}


@pytest.mark.parametrize("name", ROLLED)
def test_what_the_browser_draws_has_the_law_of_the_integers(page: Page, name: str) -> None:
    reporter = encoder_of(name)
    value = {"mean 7": 0.1725, "split in 2": 30.0}.get(name, 1)
    counts = rolled(page, reporter.design, value, ROLLED[name])
    assert surprise(counts, law_of_reports(reporter, value)) > ONE_IN


def test_hashed_reports_speak_for_their_value_as_often_as_the_integers_say(page: Page) -> None:
    """Six standard errors, for the value and for another; the seeds are too many for a table."""
    reporter, draws, value = encoder_of("hash to 8"), 10_000, 7
    randomizer = reporter.randomizer
    reports = np.frombuffer(b"".join(rolled(page, reporter.design, value, draws)), "<u8").reshape(-1, 2)
    assert len(reports) == draws, "no seed twice"
    votes = randomizer.supports(reports.astype(np.uint64))
    for place, chance in ((value, randomizer.hit), (value + 1, randomizer.miss)):
        assert abs(votes[place] - draws * chance) <= 6.0 * math.sqrt(draws * chance * (1.0 - chance))


def test_more_words_than_a_browser_gives_at_once_are_all_drawn(page: Page) -> None:
    assert page.evaluate("new Set(client.SECURE.words(50_000, 32)).size") > 49_900, (
        "fresh ones, about 0.3 of which are drawn twice"
    )


def test_a_biased_law_is_caught(page: Page) -> None:
    """The positive control: an epsilon0 of 1.8 in place of 1.5."""
    reporter = encoder_of("krr 3")
    counts = rolled(page, written(reporter.design.resolved, KRR(k=3, epsilon0=1.8)), 1, 20_000)
    assert surprise(counts, law_of_reports(reporter, 1)) < ONE_IN


def rolled(page: Page, design: Design, value: float, count: int) -> dict[bytes, int]:
    """How often the browser reports what, with its own randomness."""
    found = page.evaluate(
        """async ([text, value, count]) => {
            const design = await designOf(text);
            const counts = new Map();
            for (let turn = 0; turn < count; turn++) {
                const report = client.encode(design, value).join();
                counts.set(report, (counts.get(report) ?? 0) + 1);
            }
            return JSON.stringify([...counts]);
        }""",
        [file_of(design), value, count],
    )
    return {bytes(map(int, report.split(","))): times for report, times in json.loads(found)}


def surprise(counts: dict[bytes, int], law: dict[bytes, Fraction]) -> float:
    """How often chance alone differs from ``law`` by so much (Pearson); 0 if something has no
    chance at all.
    """
    if not counts.keys() <= law.keys():
        return 0.0
    total = sum(counts.values())
    expected = {report: float(total * chance) for report, chance in law.items()}
    assert min(expected.values()) > 20.0
    off = sum((counts.get(report, 0) - mean) ** 2 / mean for report, mean in expected.items())
    return float(chi2.sf(off, len(law) - 1))


def law_of_reports(reporter: Reporter, value: float) -> dict[bytes, Fraction]:
    """The exact chance of every report, from the integers: nothing that draws is asked."""
    randomizer, bounds = reporter.randomizer, reporter.design.domain.bounds
    if bounds is None:
        return chances(randomizer, int(value))
    lower, upper = bounds
    position = (value - lower) / (upper - lower) * (randomizer.k - 1)
    below, up = math.floor(position), Fraction(position % 1.0)
    low, high = chances(randomizer, below), chances(randomizer, below + 1)
    both = low.keys() | high.keys()
    return {report: (1 - up) * low.get(report, 0) + up * high.get(report, Fraction(0)) for report in both}


def chances(randomizer: VotingRandomizer | MessageLaw, value: int) -> dict[bytes, Fraction]:
    """The chance of every report about a value."""
    dtype, width, outputs = randomizer.form
    if isinstance(randomizer, VotingCheckIn):
        share, inside = Fraction(randomizer.integers[0], WORD), chances(randomizer.inner, value)
        blank = np.zeros(width or 1, dtype) if outputs is None else np.array(outputs - 1, dtype)
        front = b"" if outputs is not None else np.ones(1, dtype).tobytes()
        return {blank.tobytes(): 1 - share} | {front + report: share * chance for report, chance in inside.items()}
    if isinstance(randomizer, OUE):
        own, other = (Fraction(each, WORD) for each in randomizer.integers)
        ones = [own if place == value else other for place in range(randomizer.k)]
        return {
            np.packbits(bits).tobytes(): math.prod(
                (p if bit else 1 - p for p, bit in zip(ones, bits, strict=True)), start=Fraction(1)
            )
            for bits in product((0, 1), repeat=randomizer.k)
        }
    if isinstance(randomizer, SignedUnits):
        whole = sum(randomizer.weights)
        return {
            bytes([PLUS] * (plus + value) + [MINUS] * minus + [BLANK] * (randomizer.messages - plus - value - minus)): (
                Fraction(weight, whole)
            )
            for (plus, minus), weight in zip(randomizer.cells.tolist(), randomizer.weights, strict=True)
        }
    if isinstance(randomizer, SplitShares):
        assert randomizer.messages == 2
        whole, modulus = sum(randomizer.weights), randomizer.modulus
        found = dict.fromkeys((bytes(pair) for pair in product(range(modulus), repeat=2)), Fraction(0))
        for (up, more), (down, less) in product(enumerate(randomizer.weights), repeat=2):
            for share in range(modulus):
                last = (value + up - down - share) % modulus
                found[bytes([share, last])] += Fraction(more * less, whole**2 * modulus)
        return {report: chance for report, chance in found.items() if chance}
    if isinstance(randomizer, UserFakes):
        own = {value: Fraction(1)} if randomizer.light is None else chances(randomizer.light, value)
        fake, k = Fraction(randomizer.threshold, WORD), randomizer.k
        slot = {**dict.fromkeys(range(k), fake / k), k: 1 - fake}
        firsts = {each if isinstance(each, int) else each[0]: chance for each, chance in own.items()}
        return {
            np.array([first, *rest], dtype).tobytes(): math.prod((slot[each] for each in rest), start=chance)
            for first, chance in firsts.items()
            for rest in product(slot, repeat=randomizer.slots)
        }
    noise = Fraction(randomizer.integers[0], WORD)
    reports = [*combinations(range(randomizer.k), width)] if width else [(each,) for each in range(outputs or 0)]
    speaking = [speaks_for(randomizer, report, value) for report in reports]
    share = Fraction(sum(speaking), len(reports))
    weights = [(noise + (1 - noise) / share if each else noise) / len(reports) for each in speaking]
    return {np.array(report, dtype).tobytes(): weight for report, weight in zip(reports, weights, strict=True)}


def speaks_for(randomizer: VotingRandomizer, report: tuple[int, ...], value: int) -> bool:
    """Whether a report is one of those that are e^epsilon0 times as likely about this value."""
    if not isinstance(randomizer, Hadamard):
        return value in report
    block, row = divmod(value, randomizer.block_size - 1)
    sent, column = divmod(report[0], randomizer.block_size)
    return block == sent and ((row + 1) & column).bit_count() % 2 == 0
