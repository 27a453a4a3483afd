"""The documentation builds as a site without a warning, is complete, and loads nothing from another
host.
"""

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

import shuffledp
from pages.docstrings import fenced
from shuffledp.cli.tree import SUMMARIES
from tests.page.browser import NAMES, Browser, found, started

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
}

in_a_browser = pytest.mark.skipif(
    found() is None, reason=f"none of {', '.join(NAMES)} is on the PATH; .ci/run installs one"
)


class Loads(HTMLParser):
    """What a browser fetches on its own when it shows a page; a link that waits to be clicked is
    not among it.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = "href" if tag == "link" and given.get("rel") != "canonical" else LOADED.get(tag)
        if name is not None and (address := given.get(name)):
            self.found.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A new one for every test: the theme remembers which colours a browser was shown."""
    program = found()
    assert program is not None
    with started(program, tmp_path) as running:
        yield running


def named_in_nav(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for each in inner for page in named_in_nav(each)]  # type: ignore[attr-defined]


def elsewhere(address: str) -> bool:
    return re.match(r"(?:[a-z][a-z0-9+.-]*:)?//", address, flags=re.IGNORECASE) is not None


def test_the_navigation_names_every_page_once() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(named_in_nav(nav)) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_every_page_is_built(site: Path) -> None:
    for page in DOCS.rglob("*.md"):
        built = site / page.relative_to(DOCS).with_suffix(".html")
        assert "<h1" in built.read_text(encoding="utf-8"), built


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    seen = [
        (page.name, address)
        for page in site.rglob("*.html")
        for address in Loads(page.read_text(encoding="utf-8")).found
    ]
    assert len(seen) > 100
    assert [each for each in seen if elsewhere(each[1])] == []


def test_no_style_sheet_of_the_site_loads_anything_from_another_host(site: Path) -> None:
    sheets = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    addresses = [
        address for sheet in sheets for address in re.findall(r"(?:url\(|@import )\s*[\"']?([^\"')\s]+)", sheet)
    ]
    assert sheets
    assert [address for address in addresses if elsewhere(address)] == []


@in_a_browser
def test_every_formula_is_typeset_and_no_request_leaves_the_site(site: Path, browser: Browser) -> None:
    formulas = 0
    with_formulas = [path for path in site.rglob("*.html") if 'class="arithmatex"' in path.read_text(encoding="utf-8")]
    for path in (*with_formulas, site / "papers" / "balle-2019.html", site / "api" / "accounting.html"):
        page = browser.open(path)
        page.run("document.fonts.ready.then(() => null)")
        marked, typeset, wrong = (
            page.run(f"document.querySelectorAll('{each}').length")
            for each in (".arithmatex", ".arithmatex > *", ".katex-error")
        )
        assert (typeset, wrong) == (marked, 0), path.name
        assert page.run("[...document.fonts].filter(font => font.status === 'error').length") == 0
        asked = [each["request"]["url"] for each in page.heard("Network.requestWillBeSent")]
        assert path.as_uri() in asked
        assert [url for url in asked if not url.startswith((site.as_uri(), "data:", "blob:"))] == []
        raised = [each["exceptionDetails"]["text"] for each in page.heard("Runtime.exceptionThrown")]
        assert [text for text in raised if "search_index" not in text] == []  # the search needs a server, and says so
        formulas += marked
        page.close()
    assert formulas > 250


@in_a_browser
def test_a_figure_opens_large_and_closes_again(site: Path, browser: Browser) -> None:
    page = browser.open(site / "papers" / "balle-2019.html", height=1000)
    small = page.run("document.querySelector('img.figure').width")
    page.run("document.querySelector('img.figure').click()")
    page.run("document.querySelector('dialog[open] img').decode()")
    assert page.run("document.querySelector('dialog[open] img').width") > 1.2 * small
    page.run("document.querySelector('dialog').click()")
    assert not page.run("document.querySelector('dialog').open")
    page.close()


@in_a_browser
def test_nothing_on_a_dark_page_is_a_white_slab(site: Path, browser: Browser) -> None:
    for name in ("index", "papers/balle-2019", "guides/analyst"):
        page = browser.open(site / f"{name}.html", height=6000, dark=True)
        page.run("Promise.all([...document.images].filter(each => each.offsetParent).map(each => each.decode()))")
        shown = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("L"))
        assert np.mean(shown > 200) < 0.03, name
        page.close()


def test_every_export_is_documented_once_on_the_api_pages(site: Path) -> None:
    headings = [
        each
        for page in (site / "api").glob("*.html")
        for each in re.findall(r'<h[23] id="shuffledp\.([\w.]+)"', page.read_text(encoding="utf-8"))
    ]
    own = [heading for heading in headings if not heading.startswith("engines.")]  # which have a count, too
    times = {name: sum(heading.split(".")[-1] == name for heading in own) for name in shuffledp.__all__}
    assert {name: count for name, count in times.items() if count != 1} == {}


def test_every_command_has_a_section() -> None:
    sections = set(
        re.findall(r"^### ([\w-]+)$", (DOCS / "command-line.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    assert set(SUMMARIES) <= sections


def test_an_example_in_a_docstring_is_shown_as_code() -> None:
    assert fenced("Adds.\n\n>>> 1 + 1\n2\n\nMore.") == "Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore."
    assert fenced("Two.\n\na   One\nbc  Two") == "Two.\n\n```text\na   One\nbc  Two\n```\n"


def test_what_a_page_loads_is_found() -> None:
    page = (
        '<script src="https://a/x.js"></script><link rel=stylesheet href="//b/y.css"><a '
        'href="https://c">link</a><img src="figures/z.png">'
    )
    assert Loads(page).found == ["https://a/x.js", "//b/y.css", "figures/z.png"]
    assert [elsewhere(address) for address in Loads(page).found] == [True, True, False]
