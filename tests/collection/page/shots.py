"""The screenshots in the docs: ``python -m tests.collection.page.shots [FOLDER]`` draws what
tests/collection/page/test_browser.py tests.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from shuffledp.collection.page import html
from tests.collection.page.browser import NAMES, found, started
from tests.collection.page.releases import record

WINDOWS: dict[str, dict[str, object]] = {
    "desktop": {"width": 1080, "height": 1400},
    "phone": {"width": 390, "height": 1040},
    "dark": {"width": 1080, "height": 1400, "dark": True},
}
AT = {"phone": "#estimates", "dark": "#certificate"}  # which part of the page is shown; else the top
COLOURS = 96


def main(folder: Path) -> None:
    program = found()
    if program is None:
        raise SystemExit(f"none of {', '.join(NAMES)} is on the PATH: install one of them.")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, started(program, Path(place)) as browser:
        path = Path(place) / "report.html"
        path.write_text(html(record("survey")), encoding="utf-8")
        for name, window in WINDOWS.items():
            page = browser.open(path, **window)  # type: ignore[arg-type]
            if name in AT:
                page.run(f"scrollTo(0, document.querySelector('{AT[name]}').getBoundingClientRect().top - 32)")
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            image.quantize(COLOURS, dither=Image.Dither.NONE).save(folder / f"report-{name}.png", optimize=True)
            page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/figures"))
