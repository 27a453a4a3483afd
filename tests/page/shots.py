"""The screenshots in the docs: ``make demo && python -m tests.page.shots [FOLDER]``.

Those of a made-up survey show what tests/page/test_browser.py tests; those on the home page are of the page
that `make demo` wrote.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from shuffledp.page import html
from tests.page.browser import NAMES, Page, found, started
from tests.page.releases import record

DESK, PHONE, HOME = {"width": 1080, "height": 1400}, {"width": 390, "height": 1040}, {"width": 1080, "height": 1060}
DEMO = Path("build/demo/affairs/page.html")
COLOURS = 96


def main(folder: Path) -> None:
    program = found()
    if program is None:
        raise SystemExit(f"none of {', '.join(NAMES)} is on the PATH: install one of them.")
    if not DEMO.is_file():
        raise SystemExit(f"{DEMO} is not there: run make demo.")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, started(program, Path(place)) as browser:
        path = Path(place) / "page.html"
        path.write_text(html(record("survey")), encoding="utf-8")
        for dark, suffix in ((False, ""), (True, "-dark")):
            keep(browser.open(path, **DESK, dark=dark), folder / f"report-desktop{suffix}.png")
            keep(browser.open(path, **PHONE, dark=dark), folder / f"report-phone{suffix}.png", at=".glance")
            keep(browser.open(DEMO.resolve(), **HOME, dark=dark), folder / f"demo{suffix or '-light'}.png")
        keep(browser.open(path, **DESK, dark=True), folder / "report-dark.png", at="#certificate")


def keep(page: Page, path: Path, *, at: str = "") -> None:
    """Write what a window shows from some part of the page on, in few colours, and close it."""
    if at:
        page.run(f"document.querySelector('{at}').open = true")
        page.run(f"scrollTo(0, document.querySelector('{at}').getBoundingClientRect().top - 32)")
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/figures"))
