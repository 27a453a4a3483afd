"""A browser reads the collection files that Python reads, and refuses the others with a sentence."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from shuffledp.client import MUCH
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.support import MixingRandomizer
from shuffledp.randomizers.wrappers import VotingCheckIn
from shuffledp.sampling import WORD
from shuffledp.storage.canonical import canonical
from shuffledp.survey.collection import SKEW, Collection, is_web_address
from shuffledp.survey.envelopes import Envelopes
from shuffledp.survey.wire import code_text, new_codes, read_code
from tests.survey.shipped import library
from tests.survey.tapes import MADE, file, thresholds

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

READ = """async ([contents, pinned]) => {
    const read = async (content) => {
        try {
            const { digest } = await client.readCollection(bytesOf(content), pinned ?? undefined);
            return [digest, null];
        } catch (error) {
            return [null, error instanceof client.Refused ? error.message : `a crash: ${error.stack}`];
        }
    };
    return Promise.all(contents.map(read));
}"""
WRONG = [None, True, False, 0, -1, 1, 1.5, -0.0, 1e-9, 1e200, 2**53 - 1, "", "x", "1", [], [1], ["a"], {}, {"a": 1}]


def read_in(page: Page, contents: list[bytes], pinned: str | None = None) -> list[tuple[str | None, str | None]]:
    """The digest of each file, or the sentence that refuses it."""
    found = page.evaluate(READ, [[each.decode("latin-1") for each in contents], pinned])
    return [(digest, sentence) for digest, sentence in found]


def python_reads(content: bytes) -> bool:
    """Whether it is a collection here."""
    try:
        return Collection.of_bytes(content).reporter is not None
    except InvalidInput:
        return False


@pytest.mark.parametrize("name", MADE)
def test_every_design_is_read_and_has_its_digest(page: Page, name: str) -> None:
    collection = file(name, codes=True, round=2, opens=1, closes=2, question='Wie heißt „du“? 🌻 \\ "')
    assert read_in(page, [collection.content], collection.digest) == [(collection.digest, None)]


def test_another_digest_than_the_pinned_one_is_refused(page: Page) -> None:
    ((digest, sentence),) = read_in(page, [file("krr 3").content], file("krr 3", codes=True).digest)
    assert digest is None
    assert sentence is not None
    assert file("krr 3").digest in sentence
    assert file("krr 3", codes=True).digest in sentence
    assert sentence.endswith("do not answer, and tell the organizer.")


def test_a_question_that_the_page_does_not_know_is_answered_all_the_same(page: Page) -> None:
    """It reads how an answer becomes a place, and how that hides, and never the question."""
    facts = file("krr 3").as_json()
    facts["design"]["question"] = {"type": "ranking", "candidates": ["x", "y"], "rounds": [1, None, {"a": 0.5}]}
    content = canonical(facts).encode() + b"\n"
    assert python_reads(content)
    ((digest, sentence),) = read_in(page, [content])
    assert (digest is not None, sentence) == (True, None)


@pytest.mark.parametrize(
    "domain",
    [
        {"labels": 4},
        {"labels": ["a", "b"]},
        {"labels": ["a", "b", "c"], "other": 3},
        {"labels": ["a", "b", "c"], "missing": -1},
        {"type": "bins", "cuts": [0.0, 1.0, 2.0], "clip": False},
    ],
)
def test_a_domain_that_is_not_the_mechanisms_is_refused_as_in_python(page: Page, domain: dict[str, object]) -> None:
    facts = file("krr 3").as_json()
    facts["design"]["domain"] = domain if "type" in domain else facts["design"]["domain"] | domain
    assert not python_reads(canonical(facts).encode() + b"\n")
    assert " must " in refused(page, facts)


@pytest.mark.parametrize("categories", [[1, "1", "no"], ["caf\u00e9", "cafe\u0301", "no"]])
def test_answers_that_look_the_same_are_refused_as_in_python(page: Page, categories: list[object]) -> None:
    facts = file("krr 3").as_json()
    facts["design"]["domain"]["labels"] = categories
    content = canonical(facts).encode() + b"\n"
    assert not python_reads(content)
    ((digest, sentence),) = read_in(page, [content])
    assert digest is None
    assert sentence is not None
    assert "that look different, got a list" in sentence


def changed_fields(collection: Collection) -> Iterator[bytes]:
    """The file with one field at a time wrong, missing or too many, at every depth."""
    whole = collection.as_json()
    places: list[tuple[str, ...]] = [
        (),
        *(("design", *each) for each in ((), ("question",), ("domain",), ("mechanism",), ("target",))),
    ]
    if "of" in whole["design"]["mechanism"]:
        places.append(("design", "mechanism", "of"))
    for place in places:
        for name, value in product([*at(whole, place), "more"], WRONG):
            other = json.loads(canonical(whole))
            at(other, place)[name] = value
            yield canonical(other).encode() + b"\n"
        for name in at(whole, place):
            other = json.loads(canonical(whole))
            del at(other, place)[name]
            yield canonical(other).encode() + b"\n"


def at(whole: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """The fields at that place."""
    for name in place:
        whole = whole[name]
    return whole


def damaged(collection: Collection, rng: random.Random, count: int) -> Iterator[bytes]:
    """The file with bytes changed, put in, taken out or doubled; not in the integers of its law, of
    which a browser does not check the last digits.
    """
    content = collection.content
    digits = [content.index(b'"%d"' % each) for each in thresholds(collection.design.mechanism)]
    for _ in range(count):
        start = rng.randrange(len(content))
        if any(first - 1 <= start <= first + 22 for first in digits):
            continue
        new = rng.choice([b'"', b"0", b"1", b".", b"e", b" ", b"\0", b"\xff", b"\\", b"{", b"}", b",", b"-", b"\n"])
        end = start + rng.choice([0, 1, 1, 1, 2, 5])
        yield content[:start] + rng.choice([b"", new, content[start:end] * 2]) + content[end:]


@pytest.mark.parametrize("name", ["krr 3", "mean 7", "check-in, hash"])
def test_what_python_refuses_the_browser_refuses_with_a_sentence(page: Page, name: str) -> None:
    collection = file(name, opens=1000, closes=2000, question="Tea?", round=2)
    contents = [*changed_fields(collection), *damaged(collection, random.Random(name), 300)]
    answers = read_in(page, contents)
    for content, (digest, sentence) in zip(contents, answers, strict=True):
        if sentence is None:
            assert digest is not None
            assert python_reads(content), content
        else:
            assert " must " in sentence, sentence
            assert sentence.endswith("."), sentence
            known = sentence.startswith("shuffler must")  # a browser knows of more hosts that there cannot be
            assert known or not python_reads(content), (content, sentence)
    assert sum(digest is not None for digest, _ in answers) > 10, "some changes are sound"


def refused(page: Page, facts: dict[str, Any]) -> str:
    """The sentence that refuses a file with these facts."""
    ((digest, sentence),) = read_in(page, [canonical(facts).encode() + b"\n"])
    assert digest is None
    return sentence or ""


@pytest.mark.parametrize("name", ["krr 3", "hadamard 5", "hash to 8", "subset 2 of 5", "oue 10"])
def test_noise_that_is_not_that_of_epsilon0_is_refused(page: Page, name: str) -> None:
    """Whoever reads a small epsilon0 on the page must not send what a larger one draws."""
    facts = file(name).as_json()
    law = facts["design"]["mechanism"]
    right = law["integers"][-1]
    for wrong in (int(right) * 99 // 100, int(right) * 101 // 100, 1):
        law["integers"][-1] = str(wrong)
        assert "must be those of its epsilon0" in refused(page, facts), wrong
    law["integers"][-1] = right
    law["epsilon0"] *= 0.999
    assert "must be those of its epsilon0" in refused(page, facts)


def test_a_law_of_a_family_that_is_not_known_here_is_refused(page: Page) -> None:
    facts = file("krr 3").as_json()
    facts["design"]["mechanism"]["type"] = "rappor"
    assert "Take part with the Python package instead" in refused(page, facts)


def test_numbers_that_a_browser_would_round_are_refused(page: Page) -> None:
    facts = file("krr 3").as_json()
    facts["design"]["target"]["n"] = 10**15 + 1
    assert refused(page, facts).startswith("n must be a whole number from 1 to 1000000000000000")


def test_addresses_are_those_of_python(page: Page) -> None:
    ends = ["a", "a/b", "a:", "[::1]:80", "a/", "/a", "", "a\x7f", "a\u00a0", "é", "a b", "a?b", "u@a", "a:0"]
    facts = [file("krr 3").as_json() | {"shuffler": f"https://{end}"} for end in ends]
    answers = read_in(page, [canonical(each).encode() + b"\n" for each in facts])
    assert [digest is not None for digest, _ in answers] == [is_web_address(each["shuffler"]) for each in facts]


def test_lists_in_lists_in_lists_are_refused(page: Page) -> None:
    answers = read_in(page, [b"[" * 100_000 + b"]" * 100_000 + b"\n", b'{"a":' * 100_000 + b"\n", b"", b"\n"])
    assert all(sentence is not None and "JSON as shuffledp writes it" in sentence for _, sentence in answers[:2])
    assert all(sentence is not None and sentence.endswith(".") for _, sentence in answers)


def test_a_page_without_https_says_so(chromium: Browser) -> None:
    with library(chromium, "http://shuffler.test") as page:
        ((_, sentence),) = read_in(page, [file("krr 3").content])
        assert sentence is not None
        assert "loaded over HTTPS, and this one was not" in sentence


def test_when_it_opens_and_closes(page: Page) -> None:
    collection = file("krr 3", opens=10_000, closes=20_000)
    moments = [0, 10_000 - SKEW - 1, 10_000 - SKEW, 15_000, 20_000 + SKEW, 20_000 + SKEW + 1]
    phases = page.evaluate(
        """async ([content, moments]) => {
            const collection = await client.readCollection(bytesOf(content));
            return moments.map((moment) => client.phaseOf(collection, moment));
        }""",
        [collection.content.decode("latin-1"), moments],
    )
    assert phases == ["early", "early", "open", "open", "open", "over"]


def test_codes_are_read_as_they_are_typed(page: Page) -> None:
    codes = [*new_codes(50), bytes(16), b"\xff" * 16]
    typed = [code_text(code) for code in codes]
    spelled = [
        *typed,
        *(text.lower().replace("-", " ") for text in typed),
        *(text.replace("O", "0").replace("I", "1").replace("B", "8").replace("-", "") for text in typed),
    ]
    wrong = ["", typed[0][:-1], typed[0] + "A", typed[0][:-1] + "B", "Ä" + typed[0][1:], typed[0].replace("-", "_")]
    answers = page.evaluate(
        """(texts) => texts.map((text) => {
            try { return client.hex(client.readCode(text)); } catch (error) { return error.message; }
        })""",
        spelled + wrong,
    )
    assert answers[: len(spelled)] == [read_code(text).hex() for text in spelled] == [code.hex() for code in codes] * 3
    assert all("26 letters and digits" in answer for answer in answers[len(spelled) :])


@pytest.mark.parametrize("name", MADE)
def test_what_leaves_the_device_is_said_in_true_numbers(page: Page, name: str) -> None:
    collection = file(name)
    said = page.evaluate(
        "async (content) => client.exposureOf(await client.readCollection(bytesOf(content)))",
        collection.content.decode("latin-1"),
    )
    randomizer, ways = collection.reporter.randomizer, Envelopes(collection)
    factor = math.exp(randomizer.epsilon0)
    truthful = randomizer.epsilon0 == math.inf
    assert (said["messages"], said["truthful"]) == (randomizer.messages, truthful)
    assert said["bytes"] == randomizer.messages * ways.length
    assert (said["epsilon0"], said["epsilon"], said["delta"]) == (randomizer.epsilon0, 1.0, 1e-6)
    assert (said["honest"], said["rounds"], said["much"]) == (500, 3, randomizer.epsilon0 > MUCH)
    assert said["factor"] == pytest.approx(factor)
    assert said["after"] == pytest.approx(1.0 if truthful else factor / (factor + randomizer.k - 1))
    if isinstance(randomizer, MessageLaw):
        light = getattr(randomizer, "light", None)
        own = (1.0, 0.0, 0.0) if light is None else (light.hit, light.miss, float(light.noise))
        assert (said["own"], said["other"], said["random"]) == pytest.approx(own)
        return
    if not randomizer.blocks:
        assert (said["own"], said["other"]) == pytest.approx((randomizer.hit, randomizer.miss))
    # A report that is random says nothing; one that is not speaks for the answer.
    inner, taking = randomizer, 1.0
    while isinstance(inner, VotingCheckIn):
        inner, taking = inner.inner, taking * inner.integers[0] / WORD
    quiet = float(inner.noise) if isinstance(inner, MixingRandomizer) else 0.5 / (1.0 - inner.miss)
    assert (said["blank"], said["random"]) == pytest.approx((1.0 - taking, 1.0 - taking * (1.0 - quiet)), abs=1e-12)
