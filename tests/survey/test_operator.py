"""The operator's page: how far a collection is, in steps, and its end."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from shuffledp.survey.envelopes import Envelopes
from shuffledp.survey.wire import Address, Uploads
from tests.survey.seeing import NO_FLAWS, flaws
from tests.survey.shufflers import OCTETS, envelopes, process
from tests.survey.sites import HOSTILE, ORIGIN, Site, lost, opened, said, visiting
from tests.survey.studies import ADDRESS, KEY, study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WHY = "a collection must have the 500 reports of its promise before it is closed, got fewer. Wait for more."
FACTS: dict[str, Any] = {
    "state": "open",
    "reports": 475,
    "step": 25,
    "promise": 500,
    "most": 1000,
    "epsilon": 2.0401,
    "promised": 2.0,
    "delta": 1e-2,
    "stderr": 9.871,
    "may_close": False,
    "why": WHY,
}


def logged_in(page: Page, token: str = "secret") -> None:
    """Give the token."""
    page.get_by_label("token").fill(token)
    page.keyboard.press("Enter")


def until_asked(page: Page, site: Site, times: int) -> None:
    """Let time pass until the shuffler was asked so often."""
    for _ in range(100):
        if len(site.tokens) >= times:
            return
        page.clock.run_for(5_000)
        page.wait_for_timeout(20)
    pytest.fail("nobody asks any more")


def test_from_a_browsers_report_to_the_close(chromium: Browser, tmp_path: Path) -> None:
    """Both pages against a real shuffler: what a participant sent is what the analyst opens."""
    collection = study(question="Do you sleep well?")
    address, uploads = Address(collection.digest), Uploads(collection)
    context = chromium.new_context()
    with process(tmp_path, collection) as shuffler, httpx.Client(base_url=shuffler.url) as others:
        wrong: list[str] = []
        context.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        context.on("weberror", lambda error: wrong.append(str(error.error)))

        def send(count: int, seed: int) -> None:
            others.post(address.reports, content=uploads.body(envelopes(collection, count, seed=seed)), headers=OCTETS)

        send(400, seed=1)
        page = context.new_page()
        page.clock.install()
        page.goto(f"{shuffler.url}/operator")
        logged_in(page, "wrong")
        page.get_by_text("The token must be the one that this shuffler made").wait_for()
        assert page.get_by_label("token").input_value() == ""
        assert len(wrong) == 1  # the refusal
        logged_in(page, shuffler.token)
        page.get_by_text("Still refused").wait_for()
        assert "of the 500" in page.locator("#progress-text").inner_text()
        shown = int(page.locator("#progress-text").inner_text().split()[2])
        assert 350 <= shown <= 400
        page.get_by_role("button", name="Close the collection").press("Enter")
        assert "500 reports of its promise" in page.locator("#status").inner_text()
        assert not page.get_by_role("dialog").is_visible()

        person = context.new_page()
        person.goto(shuffler.url)
        person.get_by_label("yes").check()
        with person.expect_request(f"**{address.reports}") as caught:
            person.get_by_role("button", name="Randomize").click()
        person.get_by_role("heading", name="Thank you").wait_for()
        sent = caught.value.post_data_buffer
        assert sent is not None
        send(300, seed=2)

        page.bring_to_front()
        page.clock.run_for(16_000)  # it asks again by itself
        page.get_by_text("There are enough reports").wait_for()
        page.get_by_role("button", name="Close the collection").click()
        page.get_by_role("button", name="Keep it open").click()
        assert others.get(address.status).json()["state"] == "open"
        page.get_by_role("button", name="Close the collection").click()
        page.get_by_role("button", name="Close for good").click()
        page.get_by_text("701 reports wait for the analyst").wait_for()
        assert "shuffledp survey open study sealed.bin" in page.locator("#commands").inner_text()
        person.reload()
        person.get_by_role("heading", name="This device has answered already").wait_for()
        stranger = chromium.new_context()
        late = stranger.new_page()
        late.goto(shuffler.url)
        late.get_by_role("heading", name="This collection is closed").wait_for()

        fetched = others.get(address.sealed, headers={"authorization": f"Bearer {shuffler.token}"}).content
        assert fetched.count(sent) == 1
        assert Envelopes(collection).opened([sent], KEY)[0] in range(3)
        assert wrong[1:] == []
        assert context.cookies() == []
        stranger.close()
        context.close()


def test_the_token_is_in_memory_alone(chromium: Browser) -> None:
    site = Site(study(question=HOSTILE), outlook=said(200, **FACTS | {"why": HOSTILE}))
    with visiting(chromium, site) as device:
        page = opened(device, "/operator")
        assert page.get_by_label("token").get_attribute("type") == "password"
        logged_in(page)
        page.get_by_role("heading", name="If it were closed now").wait_for()
        assert site.tokens == ["Bearer secret"]
        kept = page.evaluate(
            "async () => [localStorage.length, sessionStorage.length, (await indexedDB.databases()).length]"
        )
        assert kept == [0, 0, 0]
        assert "secret" not in page.content()
        assert page.get_by_text(HOSTILE).count() == 2  # as text, and nothing else
        assert page.locator("main img, main script").count() == 0
        for again in ("location.reload()", "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"):
            with page.expect_event("load"):
                page.evaluate(f"() => {{ {again}; }}")  # the second is what the back button does
            page.get_by_label("token").wait_for()
            assert not page.locator("#board").is_visible()
            logged_in(page)
            page.get_by_role("heading", name="If it were closed now").wait_for()
    assert all("secret" not in url for url in site.asked)


def test_a_tab_that_nobody_sees_asks_nothing(chromium: Browser) -> None:
    site = Site(study(), outlook=said(200, **FACTS))
    hide = "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); \
        document.dispatchEvent(new Event('visibilitychange')); }"
    with visiting(chromium, site) as device:
        page = device.new_page()
        page.clock.install()
        page.goto(f"{ORIGIN}/operator")
        logged_in(page)
        page.get_by_text("Still refused").wait_for()
        page.evaluate(hide, True)
        page.clock.run_for(120_000)
        assert len(site.tokens) == 1
        page.evaluate(hide, False)
        until_asked(page, site, 3)  # the control: at once, and again in a while
        site.outlook = lost
        until_asked(page, site, len(site.tokens) + 1)
        page.get_by_text("The shuffler cannot be reached. This page asks again").wait_for()
        assert page.locator("#board").is_visible()  # what was known stays


STATES: dict[str, dict[str, Any]] = {
    "too few reports to say": {"state": "not open yet", "reports": 0, "epsilon": None, "stderr": None},
    "Refused for good: the time is over": {"state": "expired"},
    "What the analyst does next": {"state": "closed", "reports": 525, "why": None},
    "Closing is final": {"reports": 525, "may_close": True, "why": None},
}


def test_the_commands_are_what_they_seem_to_a_shell(chromium: Browser) -> None:
    """An address is the organizer's text; and a bar has no more steps than can be seen."""
    hostile = f"{ADDRESS}/$(id);'`id`"
    closed = said(200, **FACTS | {"state": "closed", "step": 10, "most": 10**12})
    for shuffler in (ADDRESS, hostile):
        with visiting(chromium, Site(replace(study(), shuffler=shuffler), outlook=closed)) as device:
            page = opened(device, "/operator")
            logged_in(page)
            page.get_by_role("heading", name="What the analyst does next").wait_for()
            first, second = page.locator("#commands").inner_text().splitlines()
            assert shlex.split(first)[:4] == ["shuffledp", "survey", "fetch", shuffler]
            assert shlex.split(second)[:4] == ["shuffledp", "survey", "open", "study"]
            assert (f" {ADDRESS} " in first) is (shuffler == ADDRESS)  # quoted only where it must be
            assert page.locator(".cut").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_is_said_and_seen(chromium: Browser, scheme: str) -> None:
    now = int(time.time())
    site = Site(study(question="Do you sleep well?", opens=now, closes=now + 90_000))
    with visiting(chromium, site, color_scheme=scheme) as device:
        page = device.new_page()
        for sentence, changed in STATES.items():
            site.outlook = said(200, **FACTS | changed)
            page.goto(f"{ORIGIN}/operator")
            logged_in(page)
            page.get_by_text(sentence).first.wait_for()
            assert "tomorrow" in page.locator("#facts").inner_text()
            assert "on purpose" in page.locator("#coarse").inner_text()
            for width, zoom in ((1280, 100), (320, 100), (640, 200)):
                page.set_viewport_size({"width": width, "height": 800})
                page.evaluate(f"() => {{ document.documentElement.style.fontSize = '{zoom}%'; }}")
                assert flaws(page) == NO_FLAWS, (sentence, width, zoom)
            button = page.get_by_role("button", name="Close the collection")
            may = button.count() == 1 and button.get_attribute("aria-disabled") == "false"
            assert may is changed.get("may_close", False)
        button.press("Enter")
        assert page.evaluate("document.activeElement.id") == "sure-no"
        assert flaws(page)["small"] == []
        page.keyboard.press("Escape")
        assert not page.get_by_role("dialog").is_visible()
