"""The planner in a real browser: it follows the pointer, hands over what it shows, and can be read."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from shuffledp.client import read_design
from shuffledp.studio import answer
from shuffledp.studio.request import PlanRequest
from shuffledp.studio.server import Studio
from tests.page.browser import NAMES, found
from tests.page.test_browser import FAINT

pytestmark = pytest.mark.skipif(
    found() is None, reason=f"none of {', '.join(NAMES)} is on the PATH; .ci/run installs one"
)

WIDTHS = (320, 390, 768, 1280)
PATIENCE = 60_000.0  # milliseconds, for a busy machine
TOPS = "[...document.querySelectorAll('main h2')].slice(0, 3).map(each => each.getBoundingClientRect().top)"
PLAN: dict[str, Any] = {"task": "histogram", "n": 100_000, "size": 16, "epsilon": 1, "delta": 1e-8}


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with pytest.MonkeyPatch.context() as patched, Studio() as server:
        patched.setattr(answer, "PATIENCE", 0.0)  # what takes long is the comparison's own to test
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        serving.start()
        yield server
        server.shutdown()
        serving.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = next(path for name in NAMES if (path := shutil.which(name)))
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


@contextmanager
def opened(browser: Browser, studio: Studio, fragment: str = "", **window: Any) -> Iterator[Page]:
    """The page, once it shows an answer; it must not complain, nor ask another host."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True, **window)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, wrong = context.new_page(), []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: request.url.startswith(studio.address) or wrong.append(request.url))
    page.set_default_timeout(PATIENCE)
    page.goto(f"{studio.address}{fragment}")
    page.wait_for_selector("#bounds li")
    yield page
    assert [each for each in wrong if not each.startswith(("data:", "blob:"))] == []
    context.close()


def shown(page: Page, name: str) -> str:
    return page.locator(f"main [data-text={name}]").first.inner_text()


def test_moving_a_slider_changes_answer_and_address_and_nothing_jumps(browser: Browser, studio: Studio) -> None:
    with opened(browser, studio) as page:
        before, noise, places = shown(page, "error"), shown(page, "epsilon0"), page.evaluate(TOPS)
        slider = page.locator("input[type=range][data-dial=n]")
        slider.focus()
        for words, count in (("80,000", 80_000), ("60,000", 60_000)):
            slider.press("ArrowLeft")
            assert page.locator("#n").input_value() == slider.get_attribute("aria-valuetext") == words
            expect(page.locator("#command-design")).to_contain_text(f"--n {count} ", timeout=PATIENCE)
            assert page.evaluate(TOPS) == places
        assert (shown(page, "error"), shown(page, "epsilon0")) != (before, noise)
        expect(page.locator("#said")).to_contain_text("epsilon0", timeout=PATIENCE)
        assert page.url.endswith("#n=60000")


def test_what_is_copied_and_saved_is_the_commands(browser: Browser, studio: Studio, tmp_path: Path) -> None:
    asked = PlanRequest.from_json(PLAN)
    with opened(browser, studio) as page:
        page.get_by_role("button", name="Copy the design command").click()
        expect(page.locator("#done")).to_contain_text("copied", timeout=PATIENCE)
        assert page.evaluate("navigator.clipboard.readText()") == asked.commands()["design"]
        assert page.locator("#command-plan").inner_text() == asked.commands()["plan"]
        with page.expect_download() as saving:
            page.get_by_role("button", name="Save the design").click()
        path = tmp_path / saving.value.suggested_filename
        saving.value.save_as(path)
    assert path.name == "design.json"
    assert path.read_bytes() == asked.design().file_text().encode()
    assert read_design(path) == asked.design()


def test_a_bad_value_is_said_in_place_and_mended_in_place(browser: Browser, studio: Studio) -> None:
    with opened(browser, studio) as page:
        field = page.get_by_label("Honest share").first
        field.fill("much")
        expect(page.locator("#problem")).to_have_text(
            "Honest share must be a number. Write it as 10000, 0.5 or 1e-6.", timeout=PATIENCE
        )
        assert page.evaluate("document.querySelector('main').inert"), "nothing of the plan before can be copied"
        field.fill("66,6")  # a comma is no thousands separator here: it would promise 666
        expect(page.locator("#problem")).to_contain_text("must be a number", timeout=PATIENCE)
        field.fill("90")
        expect(page.locator("#problem")).to_have_text("", timeout=PATIENCE)
        expect(page.locator("#command-design")).to_contain_text("--honest 90%", timeout=PATIENCE)
        assert not page.evaluate("document.querySelector('main').inert"), "the new plan can"


def test_several_rounds_are_a_forecast_first_and_then_certified(browser: Browser, studio: Studio) -> None:
    with opened(browser, studio, "#n=20000&rounds=5") as page:
        forecast = page.locator("body.forecast")
        expect(forecast).to_have_count(0)  # the bounds came after the certificate
        with page.expect_response(lambda response: response.url.endswith("/answer")) as quick:
            page.locator("#rounds").fill("6")
        told = quick.value.json()
        assert told["certified"] is False, "the first answer at the pointer"
        assert told["gain"].startswith("About "), told["gain"]
        expect(forecast).to_have_count(0, timeout=PATIENCE)
        expect(page.locator("#command-design")).to_contain_text("--rounds 6", timeout=PATIENCE)


def test_every_forecast_on_the_page_is_marked(browser: Browser, studio: Studio) -> None:
    with opened(browser, studio) as page:
        assert page.locator(".about:visible").count() == 0, "the control: all of this is certified"
        page.evaluate("document.body.classList.add('forecast')")
        for number in page.locator(
            "[data-text=epsilon0], [data-text=error], [data-text=local], .shuffled .value"
        ).all():
            assert "≈" in number.evaluate("each => each.closest('p, span:not([data-text]):not(.value)').innerText")


def test_names_stay_in_reach_where_they_count(browser: Browser, studio: Studio) -> None:
    """They once disabled the number of values of another question, and could not be seen there."""
    with opened(browser, studio, "#mechanism=hadamard&names=tea,coffee,water") as page:
        assert page.locator("#size").is_disabled()
        page.locator("#names").fill("")
        expect(page.locator("#size")).to_be_enabled(timeout=PATIENCE)


def test_given_noise_becomes_a_promise(browser: Browser, studio: Studio) -> None:
    with opened(browser, studio, "#given=epsilon0&epsilon0=4") as page:
        assert page.locator("#save").is_hidden()
        assert page.locator("#command-epsilon").inner_text().startswith("shuffledp epsilon --randomizer krr --k 16")
        certified = shown(page, "epsilon")
        page.get_by_role("button", name="Promise this").click()
        expect(page.locator("#command-design")).to_contain_text(f"--epsilon {certified} ", timeout=PATIENCE)


def test_it_is_readable_and_never_scrolls_sideways(browser: Browser, studio: Studio) -> None:
    with opened(browser, studio) as page:
        page.locator("#silent summary").click()
        for scheme, paper in (("light", "rgb(253, 253, 251)"), ("dark", "rgb(16, 22, 28)")):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
            assert page.evaluate(FAINT) == []
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        unnamed = page.evaluate(
            "[...document.querySelectorAll('input, select, button')].filter(each => !(each.labels?.length || "
            "each.ariaLabel || each.textContent.trim())).length"
        )
        assert unnamed == 0
