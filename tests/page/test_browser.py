"""The report in a real browser: on a desk, on a phone, in the dark and on paper."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib.image
import pytest

from shuffledp.page import html
from tests.page.browser import NAMES, Browser, Page, found, started
from tests.page.releases import record

pytestmark = pytest.mark.skipif(
    found() is None, reason=f"none of {', '.join(NAMES)} is on the PATH; .ci/run installs one"
)

WIDTHS = (320, 390, 768, 1280)
# Every text whose colour has too little contrast with what is behind it (WCAG 2.1: 4.5, or 3 for
# large type).
FAINT = """(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = node => { for (; node; node = node.parentElement) {
    const colour = parse(getComputedStyle(node).backgroundColor); if (colour.length < 4 || colour[3] > 0.99) return colour; } return [255, 255, 255]; };
  const faint = [];
  for (const node of document.querySelectorAll('body *')) {
    if (![...node.childNodes].some(each => each.nodeType === 3 && each.data.trim()) || node.closest('title, script')) continue;
    const style = getComputedStyle(node), front = parse(node.closest('svg') ? style.fill : style.color);
    const [low, high] = [light(front), light(behind(node))].sort((a, b) => a - b), ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) faint.push(`${node.tagName} ${node.className.baseVal ?? node.className}: ${ratio.toFixed(2)}`);
  }
  return faint; })()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = found()
    assert program is not None
    with started(program, tmp_path_factory.mktemp("browser")) as running:
        yield running


def shown(browser: Browser, folder: Path, name: str, **window: object) -> Page:
    path = folder / "page.html"
    path.write_text(html(record(name)), encoding="utf-8")
    return browser.open(path, **window)  # type: ignore[arg-type]


def corner(png: bytes) -> tuple[float, ...]:
    """The colour of the page's margin, from 0 to 1."""
    image = matplotlib.image.imread(io.BytesIO(png))
    return tuple(float(each) for each in image[5, 5, :3])


@pytest.mark.parametrize("name", ["survey", "mean", "hostile"])
def test_it_never_scrolls_sideways(browser: Browser, tmp_path: Path, name: str) -> None:
    page = shown(browser, tmp_path, name)
    for folded in (True, False):
        page.run(f"document.querySelectorAll('details').forEach(each => each.open = {'false' if folded else 'true'})")
        for width in WIDTHS:
            page.resize(width)
            assert page.run("innerWidth") == width
            assert page.run("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.sample
def test_no_error_no_request_and_no_script(browser: Browser, tmp_path: Path) -> None:
    page = shown(browser, tmp_path, "hostile")
    assert page.run("document.title").startswith("</title><script>alert(1)</script>")
    assert (
        page.heard(
            "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening"
        )
        == []
    )
    asked = [event["request"]["url"] for event in page.heard("Network.requestWillBeSent")]
    assert asked == [(tmp_path / "page.html").as_uri()]
    assert page.run("document.querySelectorAll('b, img').length") == 0
    page.close()


def test_the_page_refuses_scripts_and_pictures_that_somebody_adds(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    added = "<script>document.title = 'changed'</script><img src=https://example.org/pixel.gif>"
    path.write_text(html(record("tiny")).replace("</main>", added + "</main>"), encoding="utf-8")
    page = browser.open(path)
    assert page.run("document.title") == "letter: number of people per answer · shuffledp"
    refused = [event["entry"]["text"] for event in page.heard("Log.entryAdded")]
    assert len(refused) == 2
    assert all("Content Security Policy" in each for each in refused)
    page.close()


@pytest.mark.parametrize("dark", [False, True])
def test_light_is_light_dark_is_dark_and_all_text_stands_out(browser: Browser, tmp_path: Path, dark: bool) -> None:
    page = shown(browser, tmp_path, "hostile", dark=dark)
    colour = corner(page.screenshot())
    assert max(colour) < 0.2 if dark else min(colour) > 0.95
    assert page.run(FAINT) == []
    page.close()


def test_the_figures_are_drawn_where_the_numbers_say(browser: Browser, tmp_path: Path) -> None:
    found = record("survey").estimates
    page = shown(browser, tmp_path, "survey", width=390)
    widths = page.run("[...document.querySelectorAll('.answer .bar')].map(each => each.getBoundingClientRect().width)")
    values, most = found.value, max(found.upper)
    full = page.run("document.querySelector('svg.bars').getBoundingClientRect().width")
    assert widths == pytest.approx([full * value / most for value in values], abs=0.5)
    sizes = page.run(
        "[...document.querySelectorAll('svg text')].map(each => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(sizes) >= 13.0  # a drawing for a desk, shrunk to a phone, could not be read
    page.close()


def test_on_paper_it_is_black_on_white_unfolded_to_be_signed_and_a_few_pages(browser: Browser, tmp_path: Path) -> None:
    page = shown(browser, tmp_path, "survey", width=700, dark=True, media="print")
    assert page.run("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.run("document.querySelector('.signatures').getBoundingClientRect().height") > 20.0
    assert page.run(
        "[...document.querySelectorAll('details pre, details table')].every(each => "
        "each.checkVisibility({contentVisibilityAuto: true}))"
    )
    assert page.run(FAINT) == []
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf()))
    assert 2 <= pages <= 6
    page.close()


def test_the_reader_finds_the_words(browser: Browser, tmp_path: Path) -> None:
    page = shown(browser, tmp_path, "survey", width=390)
    text = page.run("document.body.innerText").replace("\u00a0", " ")
    for words in (
        "ε ≤ 0.9999",
        "at δ = 10⁻⁸",
        "Changing one person’s answer changes",
        "Lisbon",
        "within 32",
        "shuffledp verify page.html",
    ):
        assert words in text
    assert "shuffledp computed that" not in text  # one click away
    page.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
    text = page.run("document.body.innerText")
    assert "shuffledp computed that" in text
    assert "Signature" not in text  # only on paper
    page.close()
