"""The participant's page where a person sends several messages, or the plain answer: what it says, and
what it sends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shuffledp.survey.envelopes import Envelopes
from tests.survey.sites import STORED, Site, lost, opened, visiting
from tests.survey.studies import KEY
from tests.survey.tapes import file

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SEALED = {
    "fakes 3": "Beside it go 2 messages that say nothing about you.",
    "dummies": "The shuffler mixes it with the answers of others, and with dummies of its own.",
    "signed 24": "among 23 messages of noise and blanks.",
    "split in 5": "Of the 5 parts, none says anything by itself.",
}


@pytest.mark.parametrize("name", SEALED)
def test_an_answer_without_noise_of_its_own_is_sealed_and_said_to_be(chromium: Browser, name: str) -> None:
    """The first request is lost: what goes again is the same bytes, all messages of them."""
    site = Site(file(name, question="Really?"), [lost, STORED])
    law = site.collection.reporter.randomizer
    with visiting(chromium, site) as device:
        page = opened(device)
        page.locator("#form").wait_for()
        text = page.locator("body").inner_text().replace("\xa0", " ")
        assert SEALED[name] in text
        assert "nothing but the seal and the shuffler protects it" in text
        assert "no limit" in text
        assert "they know your answer" in text
        assert "noisy" not in text
        assert "Infinity" not in text
        assert "∞" not in text
        assert ("adds its dummies" in text) == (name == "dummies")
        if site.collection.design.domain.bounds is None:
            page.locator("input[type=radio]").nth(1).check()
        else:
            page.locator("#number").fill("60")
        page.get_by_role("button", name="Seal and send").click()
        page.locator("#receipt").wait_for()
        receipt = page.locator("#receipt").inner_text()
    first, again = site.uploads
    ways = Envelopes(site.collection)
    assert first == again
    assert len(first) == law.messages * ways.length
    envelopes = [first[start : start + ways.length] for start in range(0, len(first), ways.length)]
    messages = ways.opened(envelopes, KEY)
    assert len(law.check_reports(messages)) == law.messages
    if name == "dummies":
        assert messages.tolist() == [1]
    if name == "fakes 3":
        assert messages[0] == 1
    assert ("nobody can find them by it" in receipt) == (law.messages > 1)


def test_an_answer_with_a_little_noise_says_how_much_is_left(chromium: Browser) -> None:
    site = Site(file("fakes, light"))
    with visiting(chromium, site) as device:
        page = opened(device)
        page.locator("#form").wait_for()
        text = page.locator("body").inner_text().replace("\xa0", " ")
    assert "Your answer is replaced by a random one with probability" in text
    assert "at most a factor of 20" in text, "e^3"
    assert "Beside it go 2 messages" in text
    assert "Randomize, seal and send" in text
