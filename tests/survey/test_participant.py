"""The participant's page: one report from one device, whatever comes between; and what it says."""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.questions.histogram.question import HistogramQuestion
from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.wrappers import CheckIn
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import Envelopes
from shuffledp.survey.wire import code_text
from tests.survey.seeing import NO_FLAWS, faint, flaws
from tests.survey.shipped import web
from tests.survey.sites import HOSTILE, ORIGIN, STORED, Answer, Site, lost, opened, said, visiting
from tests.survey.studies import KEY, designs, study, with_target
from tests.survey.tapes import written

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CODE = "AAAQ-EAYE-AUDA-OCAJ-BIFQ-YDIO-B4"  # the bytes from 0 to 15


# All that the page keeps on a device.
STORED_HERE = """() => new Promise((done) => {
  indexedDB.open('shuffledp').onsuccess = ({ target: { result } }) => {
    result.transaction('outbox').objectStore('outbox').getAll().onsuccess = ({ target }) => {
      result.close();
      const [{ state, envelope, code, ...rest }, ...others] = target.result;
      const more = Object.keys(rest).length + others.length + localStorage.length + sessionStorage.length;
      done([[state, envelope.length, code], more]);
    };
  };
})"""


def told(page: Page) -> str:
    """All that is on the page, when it has come to something."""
    page.locator("#form, #notice, #receipt").locator("visible=true").first.wait_for()
    return page.locator("body").inner_text()


def answer(page: Page, label: str = "yes") -> None:
    """Give an answer, and send it."""
    page.get_by_label(label, exact=True).check()
    page.get_by_role("button", name="Randomize").click()


def noise(design: Design) -> str:
    """The chance of noise in a design, in percent, to two digits and never too large."""
    chance = Fraction(100 * int(design.mechanism.inside.integers[0]), 2**64)
    unit = Fraction(10) ** min(math.floor(math.log10(chance)) - 1, 0)
    return f"{float(chance // unit * unit):g}\u00a0%"


def signs(coded: Any, value: int) -> NDArray[np.bool_]:
    """Which columns of the block matrix fit a value."""
    size = coded.block_size
    block, row = divmod(value, size - 1)
    columns = np.arange(coded.block_count * size)
    parity = np.array([((row + 1) & (column % size)).bit_count() % 2 for column in columns.tolist()])
    return (columns // size == block) & (parity == 0)


def check_in() -> Collection:
    """A collection of which most reports are blank."""
    law = CheckIn(KRR(k=3, epsilon0=1.0), probability=0.25)
    poll = Poll("histogram", categories=["yes", "no", "maybe"], n=1000, randomizer=law, delta=1e-2)
    return replace(study(), design=with_target(Design.of(poll), epsilon=2.0))


@pytest.mark.sample
def test_one_report_from_one_device(chromium: Browser) -> None:
    site = Site(study(question="Do you sleep well?", codes=True))
    with visiting(chromium, site) as device:
        page = opened(device, f"/#code={CODE}&digest={site.collection.digest}")
        page.get_by_label("yes").wait_for()
        assert page.url == f"{ORIGIN}/#digest={site.collection.digest}"  # a code is nobody's to read
        assert "the one in the link" in told(page)
        answer(page)
        page.get_by_role("heading", name="Thank you").wait_for()
        (record,) = site.uploads
        assert record[:16] == bytes(range(16))
        (report,) = Envelopes(site.collection).opened([record[16:]], KEY)
        assert report in range(3)
        receipt = page.locator("#receipt").inner_text()
        assert hashlib.sha256(record[16:]).hexdigest() in receipt
        assert site.collection.digest in receipt
        assert page.evaluate("document.activeElement.id") == "receipt-title"
        assert "yes" not in page.locator("main").inner_html()  # what was chosen is gone
        page.reload()
        page.get_by_role("heading", name="This device has answered already").wait_for()
        assert not page.get_by_role("button", name="Randomize").is_visible()
    assert len(site.uploads) == 1
    assert all("code=" not in url for url in site.asked)


def test_what_is_chosen_is_what_is_reported(chromium: Browser) -> None:
    """With so little noise that it shows: one report in 10^16 is another."""
    common: dict[str, Any] = {"n": 1000, "delta": 1e-2}
    few = Poll("histogram", categories=["yes", "no", "maybe"], randomizer=KRR(k=3, epsilon0=40.0), **common)
    many = Poll("histogram", categories=list("abcdefghijklmnopq"), randomizer=KRR(k=17, epsilon0=40.0), **common)
    mean = Poll("mean", lower=-10.0, upper=10.0, randomizer=KRR(k=5, epsilon0=40.0), **common)
    site = Site(study())
    with visiting(chromium, site) as device:
        page = device.new_page()

        def reported(poll: Poll, choose: Callable[[], None]) -> int:
            asked = study(question=f"{len(site.uploads)}?")
            site.collection = replace(asked, design=with_target(Design.of(poll), epsilon=2.0))
            page.goto(ORIGIN)
            choose()
            page.get_by_role("button", name="Randomize").click()
            page.get_by_role("heading", name="Thank you").wait_for()
            return int(Envelopes(site.collection).opened(site.uploads[-1:], KEY)[0])

        assert reported(few, lambda: page.get_by_label("maybe").check()) == 2
        assert reported(many, lambda: page.get_by_role("combobox").press_sequentially("n")) == 13
        assert reported(mean, lambda: page.get_by_label("Your number").fill("-10")) == 0
        assert reported(mean, lambda: page.get_by_label("Your number").fill("5")) == 3


@pytest.mark.parametrize("kept", [True, False])
def test_a_reload_in_the_middle_sends_the_same_bytes(chromium: Browser, kept: bool) -> None:
    """A second draw about the same answer would be a second report. The control: a browser that has
    forgotten what it kept asks again, and sends other bytes.
    """
    site = Site(study(), answers=[lost, STORED])
    with visiting(chromium, site) as device:
        page = opened(device)
        answer(page)
        page.get_by_text("cannot be reached").wait_for()
        assert page.evaluate("document.activeElement.id") == "status"
        assert page.evaluate(STORED_HERE) == [["waiting", Envelopes(site.collection).length, None], 0]  # and no answer
        if not kept:
            page.evaluate("() => new Promise((done) => { indexedDB.deleteDatabase('shuffledp').onsuccess = done; })")
        page.reload()
        if not kept:
            answer(page)
        page.get_by_role("heading", name="Thank you").wait_for()
    assert (len(set(site.uploads)) == 1) is kept
    assert len(site.uploads) == 2


def test_two_tabs_send_one_report(chromium: Browser) -> None:
    site = Site(study(), answers=[said(503, wait=60, error="not now"), STORED])
    with visiting(chromium, site) as device:
        first, second, third, fourth = (opened(device) for _ in range(4))
        fourth.get_by_label("rather not say").check()
        answer(first, "yes")
        first.get_by_text("cannot store").wait_for()
        answer(second, "no")
        second.get_by_role("heading", name="Thank you").wait_for()
        assert len(set(site.uploads)) == 1
        answer(third, "no")
        third.get_by_role("heading", name="This device has answered already").wait_for()
        assert "“rather not say”" in fourth.locator("#picture").inner_text()
        fourth.evaluate("() => { dispatchEvent(new Event('visibilitychange')); }")
        fourth.get_by_role("heading", name="This device has answered already").wait_for()
        assert "rather not say" not in fourth.locator("main").inner_html()  # nor is it there for whoever comes next
    assert len(set(site.uploads)) == 1


def test_it_waits_while_the_shuffler_cannot(chromium: Browser) -> None:
    busy = [said(429, wait=30, error="too many"), said(503, wait=30, error="full"), said(425, error="early")]
    site = Site(study(), answers=[lost, *busy, STORED])
    sentences = ["too many requests just now", "cannot store reports just now", "has not opened yet"]
    with visiting(chromium, site) as device:
        page = opened(device)
        page.get_by_label("yes").wait_for()
        device.set_offline(True)
        answer(page)
        page.get_by_text("This device is offline.").wait_for()
        device.set_offline(False)  # which it notices by itself
        for sentence in sentences:
            page.get_by_text(sentence).wait_for()
            assert "safe on this device" in page.get_by_role("status").first.inner_text()
            page.get_by_role("button", name="Try again now").click()
        page.get_by_role("heading", name="Thank you").wait_for()
    assert len(site.uploads) == 5
    assert len(set(site.uploads)) == 1


REFUSALS: dict[str, tuple[Answer, str]] = {
    "The shuffler does not know this code": (said(403, error="no", at=0), "letter by letter"),
    "This code was used before": (said(409, error="no", at=0), "Each code counts once"),
    "This collection is full": (said(409, error="no"), "1,000 reports"),
    "This collection is closed": (said(410, error="no"), "that reached it in time counts"),
    "Your report was not taken": (said(404, error="no"), "serves another collection"),
}


def test_refusals_are_said(chromium: Browser) -> None:
    site = Site(study())
    with visiting(chromium, site) as device:
        page = device.new_page()
        for heading, (refusal, sentence) in REFUSALS.items():
            site.collection, site.answers, site.uploads = study(codes=True, question=heading), [refusal, STORED], []
            page.goto(ORIGIN)
            page.get_by_label("Your invitation code").fill("nonsense")
            answer(page)
            assert "26 letters and digits" in page.locator("#code-error").inner_text()
            page.get_by_label("Your invitation code").fill(CODE.lower())
            page.get_by_role("button", name="Randomize").click()
            page.locator("#notice-title", has_text=heading).wait_for()
            assert sentence in page.locator("#notice-text").inner_text()
            another = page.get_by_label("The code, once more")
            assert another.is_visible() is ("code" in heading)
            if another.is_visible():
                another.fill(code_text(bytes(16)))
                page.get_by_role("button", name="Send the same sealed report").click()
                page.get_by_role("heading", name="Thank you").wait_for()
                first, second = site.uploads
                assert (first[16:], second[:16]) == (second[16:], bytes(16))


def test_times_are_the_readers_own(chromium: Browser) -> None:
    now = int(time.time())
    early = Site(study(opens=now + 90_000))
    with visiting(chromium, early, locale="de-DE", timezone_id="Asia/Tokyo") as device:
        page = opened(device)
        words = told(page)
        assert "Not open yet" in words
        assert "morgen" in words
        assert re.search(r"(tag|Mittwoch), .*GMT\+9", words)
        assert not page.locator("#form").is_visible()
    with visiting(chromium, Site(study(closes=now - 86_400))) as device:
        assert "This collection is over" in told(opened(device))
    with visiting(chromium, Site(study(), state="closed")) as device:
        assert "closed for good" in told(opened(device))


def test_what_keeps_it_from_starting_is_said(chromium: Browser) -> None:
    site = Site(study())
    with visiting(chromium, site) as device:
        page = opened(device, f"/#digest={'0' * 64}")
        assert "do not answer" in told(page)
        assert not page.locator("#form").is_visible()
    with visiting(chromium, site, java_script_enabled=False) as device:
        assert "JavaScript is switched off" in opened(device).locator("noscript").inner_text()
    with visiting(chromium, site) as device:
        device.add_init_script("IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); }")
        assert "allow this site to store data" in told(opened(device))
    with visiting(chromium, site) as device:
        device.add_init_script("IDBFactory.prototype.open = () => ({})")  # which never answers
        page = opened(device)
        page.get_by_text("Asking this browser’s storage").wait_for()
        assert not page.locator("#form").is_visible()
    with visiting(chromium, site) as device:
        device.add_init_script("Object.defineProperty(globalThis, 'isSecureContext', { value: false })")
        assert "begins with https://" in told(opened(device))
    unpromised = Site(replace(study(), design=with_target(designs()["krr"], epsilon=None)))
    with visiting(chromium, unpromised) as device:
        assert "promises nothing" in told(opened(device))


def test_a_failure_that_nobody_thought_of_is_said(chromium: Browser) -> None:
    """The page is not left empty when its own program fails; and nothing was drawn or sent."""
    site = Site(study())
    with visiting(chromium, site) as device:
        device.add_init_script("crypto.getRandomValues = () => { throw new Error('none left'); }")
        device.add_init_script("addEventListener('unhandledrejection', (event) => event.preventDefault());")
        page = opened(device)
        answer(page)
        page.get_by_text("This page’s program failed").wait_for()
    assert site.uploads == []


def test_another_invitation_in_the_same_tab_is_read_like_the_first(chromium: Browser) -> None:
    site = Site(study(codes=True))
    with visiting(chromium, site) as device:
        page = opened(device)
        page.get_by_label("yes").wait_for()
        page.goto(f"{ORIGIN}/#code={CODE}&digest={site.collection.digest}")
        page.get_by_text("the one in the link").wait_for()
        assert page.url == f"{ORIGIN}/#digest={site.collection.digest}"
        assert page.get_by_label("Your invitation code").input_value() == CODE
        page.goto(f"{ORIGIN}/#digest={'0' * 64}")
        page.get_by_text("do not answer").wait_for()
        assert not page.locator("#form").is_visible()


def test_the_back_button_shows_nobody_what_was_chosen(chromium: Browser) -> None:
    """A browser may bring a page again as it was left."""
    again = "() => { dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })); }"
    with visiting(chromium, Site(study())) as device:
        page = opened(device)
        page.get_by_label("yes").check()
        with page.expect_event("load"):
            page.evaluate(again)
        page.get_by_label("yes").wait_for()
        assert page.locator("input:checked").count() == 0
        answer(page)
        page.get_by_role("heading", name="Thank you").wait_for()
        page.evaluate(again)  # a receipt holds no answer, and stays
        assert page.get_by_role("heading", name="Thank you").is_visible()


def test_other_words_are_text_and_nothing_else(chromium: Browser) -> None:
    poll = Poll("histogram", categories=[HOSTILE, "نعم", "no"], n=1000, epsilon=2.0, delta=1e-2, other=HOSTILE)
    asked = replace(study(question=HOSTILE), design=Design.of(poll))
    site = Site(asked)
    with visiting(chromium, site) as device:
        page = opened(device)
        page.on("dialog", lambda _: pytest.fail("a script ran"))
        page.get_by_text(HOSTILE).first.wait_for()
        assert page.title() == HOSTILE
        assert page.locator("main img, main script").count() == 0
        page.get_by_role("radio").first.check()
        page.get_by_role("button", name="Randomize").click()
        page.get_by_role("heading", name="Thank you").wait_for()


def test_nothing_is_inline_and_nothing_elsewhere() -> None:
    for page in ("participant.html", "operator.html"):
        written = (web() / page).read_text(encoding="utf-8")
        assert re.findall(r"style=|<style|\son\w+=|<script(?![^>]* src=)|https?://(?!\.)", written) == []
    for program in ("participant.js", "operator.js"):
        written = (web() / program).read_text(encoding="utf-8")
        assert (
            re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|cookie|localStorage", written) == []
        )


def test_every_law_is_explained_by_its_own_numbers(chromium: Browser) -> None:
    words = {
        "krr": "your answer is replaced by one drawn from all 3",
        "mean": "rounded at random to one of its two neighbors among",
        "hadamard": "a code that fits some of the 300 answers",
        "hash": "deals the 300 answers at random into",
        "subset": "your answer is replaced by one drawn from all 300",  # sets of one
        "oue": "yes to yours with probability 50\u00a0%",
    }
    site = Site(study())
    with visiting(chromium, site) as device:
        page = device.new_page()
        for name, sentence in words.items():
            site.collection = study(name)
            page.goto(ORIGIN)
            page.locator("#picture svg").first.wait_for()
            law = page.locator("#law").inner_text()
            assert sentence in law
            assert (noise(designs()[name]) in law) or name == "oue"
            epsilon0 = designs()[name].mechanism.alone
            shown = float(page.locator("#alone").inner_text().replace("×", "").replace(",", ""))
            assert math.exp(epsilon0) <= shown * (1 + 1e-9) <= 1.02 * math.exp(epsilon0)
            assert "500 of the 1,000 people" in page.locator("#promise").inner_text()
        few = Poll("histogram", categories=range(20), n=20, epsilon=1.0, delta=1e-2, mechanism="subset")
        site.collection = replace(study(), design=Design.of(few))
        page.goto(ORIGIN)
        page.get_by_text(f"names {site.collection.encoder.randomizer.form.width} of the 20 answers").wait_for()
        site.collection = check_in()
        page.goto(ORIGIN)
        page.locator("#picture svg").first.wait_for()
        assert "With probability 75\u00a0% your device sends a blank" in page.locator("#law").inner_text()
        assert noise(site.collection.design) in page.locator("#law").inner_text()


def test_many_rounds_say_what_they_give_together(chromium: Browser) -> None:
    """Who can link one report to a person can link all of them."""
    design = with_target(written(HistogramQuestion(categories=5), KRR(k=5, epsilon0=0.5)), rounds=4, delta=1e-13)
    right = [math.ceil(100 / (1 + 4 * math.exp(-0.5 * reports))) for reports in (1, 4)]
    with visiting(chromium, Site(replace(study(), design=design))) as device:
        words = told(opened(device))
    assert f"right at most {right[0]} times in 100; after all 4 rounds" in words
    assert f"if your answer stays the same, at most {right[1]} times in 100." in words
    assert words.count("at most a factor of 1.65 in each of the 4 rounds") == 2
    assert "is 2.72 for all rounds together, plus a probability of 1 in 10,000,000,000,000." in words


@pytest.mark.parametrize(
    "delta, shown", [(9.9354e-17, "1 in 1E16 "), (1e-300, "1 in 1E300 "), (5e-324, "1 in 1.79E308 ")]
)
def test_a_tiny_probability_is_never_shown_smaller(chromium: Browser, delta: float, shown: str) -> None:
    design = with_target(written(HistogramQuestion(categories=5), KRR(k=5, epsilon0=0.5)), delta=delta)
    with visiting(chromium, Site(replace(study(), design=design))) as device:
        assert shown in told(opened(device)).replace(".\n", " ")


def test_a_grid_has_as_many_points_as_it_likes(chromium: Browser) -> None:
    """Of 2^33 points, 12 parts are drawn; and of 7 each, by the chances of the law."""
    site = Site(study())
    with visiting(chromium, site) as device:
        page = device.new_page()
        for k in (7, (1 << 33) + 9):
            law = KRR(k=k, epsilon0=2.5)
            site.collection = replace(study(), design=written(MeanQuestion(lower=5e-324, upper=12.0), law))
            page.goto(ORIGIN)
            page.get_by_label("Your number").fill("5")
            bars = [*map(int, page.locator("#picture text:not(.tick)").all_text_contents())]
            assert sum(bars) == 100
            assert "From 5E-324 to 12." in told(page)
            if k == 7:  # at 2.5 of 0, ..., 6
                chances = [100 * law.miss + 50 * law.contrast * (place in (2, 3)) for place in range(7)]
                assert all(abs(bar - chance) < 1 for bar, chance in zip(bars, chances, strict=True))


def test_the_picture_counts_as_the_law_does(chromium: Browser) -> None:
    krr = designs()["krr"].mechanism
    gamma = int(krr.integers[0]) / 2**64
    with visiting(chromium, Site(study())) as device:
        page = opened(device)
        page.get_by_label("no", exact=True).check()
        own, other = (page.locator(".crowd").nth(place) for place in range(2))
        people = own.locator("circle").count()
        assert own.locator(".speaks").count() == round(people * (1 - gamma + gamma / 3))
        assert other.locator(".speaks").count() == round(people * gamma / 3)
        assert "“no”" in page.locator("#picture").inner_text()
    coded = Poll(
        "histogram", categories=range(30), mechanism="hadamard", n=50, epsilon=1.0, delta=1e-2
    )  # Hadamard response, three answers to a block
    fits = [signs(coded.randomizer, value) for value in range(30)]
    chances = [1 - coded.randomizer.hit, coded.randomizer.hit]
    strays = [float(np.dot([fits[0].mean(), fits[0] @ other / other.sum()], chances)) for other in fits[1:]]
    with visiting(chromium, Site(replace(study(), design=Design.of(coded)))) as device:
        words = told(opened(device))
        assert f"at least {math.floor(100 * min(strays))}" in words
        assert f"at most {math.ceil(100 * max(strays))}, depending on which" in words


def test_one_answer_of_many_is_found_by_keyboard(chromium: Browser) -> None:
    poll = Poll(
        "histogram", categories=["Århus", "Oslofjord", "Oslo", *map(str, range(2000))], n=10**6, epsilon=2.0, delta=1e-6
    )
    site = Site(replace(study(question="Where?"), design=Design.of(poll)))
    with visiting(chromium, site) as device:
        page = opened(device)
        field = page.get_by_role("combobox", name="Your answer")
        field.focus()
        assert poll.randomizer.epsilon0 > 8
        assert "nearly the truth" in page.locator("#much").inner_text()
        page.keyboard.type("arh")
        assert page.get_by_role("option").all_inner_texts() == ["Århus"]
        assert field.get_attribute("aria-expanded") == "true"
        page.keyboard.press("Control+A")
        page.keyboard.type("oslo")
        assert page.get_by_role("option").all_inner_texts() == ["Oslo", "Oslofjord"]
        page.keyboard.press("Control+A")
        page.keyboard.type("19")
        assert page.get_by_role("option").count() == 50
        assert "more: type to narrow" in page.locator("#found").inner_text()
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
            page.keyboard.press(key)
        assert field.input_value() == "190"
        assert field.get_attribute("aria-expanded") == "false"
        page.keyboard.type("x")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Randomize").click()
        assert "from the list" in page.locator("#find-error").inner_text()
        assert site.uploads == []


def test_a_number_has_bounds_and_keys_are_enough(chromium: Browser) -> None:
    site = Site(study("mean"))
    with visiting(chromium, site) as device:
        page = opened(device)
        field = page.get_by_label("Your number")
        field.focus()
        for typed in ("", "121", "-1"):
            field.fill(typed)
            page.keyboard.press("Enter")
            assert "from 0 to 120" in page.locator("#number-error").inner_text()
        assert site.uploads == []
        field.fill("34.5")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "send"
        page.keyboard.press("Space")
        page.get_by_role("heading", name="Thank you").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_for_every_eye_and_finger(chromium: Browser, scheme: str) -> None:
    site = Site(study(question="Do you sleep well, on most nights of an ordinary week?", codes=True), answers=[lost])
    with visiting(chromium, site, color_scheme=scheme) as device:
        page = opened(device)
        page.get_by_label("yes").check()
        page.locator("summary").click()
        for width, zoom in ((1280, 100), (390, 100), (320, 100), (640, 200)):
            page.set_viewport_size({"width": width, "height": 800})
            page.evaluate(f"() => {{ document.documentElement.style.fontSize = '{zoom}%'; }}")
            assert flaws(page) == NO_FLAWS, (width, zoom)
        page.evaluate("() => { document.querySelector('.hint').style.color = 'var(--rule)'; }")
        assert len(faint(page)) == 1  # the control: what is hard to read is found
        tree = page.locator("body").aria_snapshot()
        for part in ('heading "Do you sleep well', 'group "Your answer"', 'radio "yes" [checked]', 'button "Randomize'):
            assert part in tree
        page.get_by_label("Your invitation code").fill(CODE)
        page.get_by_role("button", name="Randomize").click()
        page.get_by_text("cannot be reached").wait_for()
        assert flaws(page) == NO_FLAWS
