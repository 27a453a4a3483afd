"""The client library in a browser: the very file that the package ships."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp import survey

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

ORIGIN = "https://shuffler.test"  # nobody is asked: every request is answered here

# Bytes come as text of as many characters: lists of numbers take Playwright far longer.
LOAD = """async () => {
    globalThis.client = await import('/client.js');
    globalThis.bytesOf = (text) => Uint8Array.from(text, (sign) => sign.charCodeAt(0));
}"""


def web() -> Path:
    """Where the bundles are."""
    return Path(survey.__path__[0]) / "web"


def serve(route: Route) -> None:
    """Bundles by their names, and an empty page for everything else."""
    file = web() / route.request.url.rpartition("/")[2]
    if file.suffix == ".js" and file.is_file():
        route.fulfill(body=file.read_bytes(), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>empty</title>", content_type="text/html")


def visit(context: BrowserContext, origin: str = ORIGIN) -> Page:
    """A page with the library in ``client``, and ``bytesOf`` text in Latin-1."""
    page = context.new_page()
    page.route("**/*", serve)
    page.goto(origin)
    page.evaluate(LOAD)
    return page


@contextmanager
def library(browser: Browser, origin: str = ORIGIN) -> Iterator[Page]:
    """A page of its own, with storage of its own."""
    context = browser.new_context()
    yield visit(context, origin)
    context.close()
