"""The pages of a collection in a browser, with a shuffler that answers as a test wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from shuffledp.survey.collection import Collection
from shuffledp.survey.shuffler.app import HEADERS
from tests.survey.shipped import web

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

ORIGIN = "https://shuffler.test"  # nobody is asked: every request is answered here
POLICY = HEADERS["content-security-policy"]  # what the shuffler says, and not a copy that stays when it changes
KINDS = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css"}
HOSTILE = "<img src=x onerror=alert(1)>\"'&lt;</legend><script>alert(2)</script>"
PAGES = {"/": "participant.html", "/operator": "operator.html"}

Answer = Callable[["Route"], None]


def said(status: int, *, wait: int | None = None, **facts: Any) -> Answer:
    """An answer of the shuffler."""
    headers = {} if wait is None else {"Retry-After": str(wait)}
    return lambda route: route.fulfill(status=status, json=facts, headers=headers)


def lost(route: Route) -> None:
    """No answer at all."""
    route.abort()


STORED = said(201, reports=1, new=1)


@dataclass
class Site:
    """What is served, and what was sent: uploads are answered by ``answers`` in their order, the
    last one for ever.
    """

    collection: Collection
    answers: list[Answer] = field(default_factory=lambda: [STORED])
    outlook: Answer = field(default=said(401, error="the token must be another."))
    closing: Answer = field(default=said(409, error="a collection must have more reports."))
    state: str = "open"
    uploads: list[bytes] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)

    def serve(self, route: Route) -> None:
        """Answer one request."""
        path, request = urlsplit(route.request.url).path, route.request
        self.asked.append(request.url)
        what = path.rpartition("/")[2] if path.startswith("/collections/") else None
        if path == "/collection.json":
            route.fulfill(body=self.collection.content, content_type="application/json")
        elif what == "reports":
            self.uploads.append(request.post_data_buffer or b"")
            self.answers[min(len(self.uploads), len(self.answers)) - 1](route)
        elif what == "status":
            route.fulfill(json={"state": self.state, "reports": 0})
        elif what in ("outlook", "close"):
            self.tokens.append(request.headers.get("authorization"))
            (self.outlook if what == "outlook" else self.closing)(route)
        else:
            file = web() / PAGES.get(path, path.removeprefix("/static/"))
            headers = {"Content-Security-Policy": POLICY, "Content-Type": KINDS[file.suffix]}
            route.fulfill(body=file.read_bytes(), headers=headers)


@contextmanager
def visiting(browser: Browser, site: Site, **options: Any) -> Iterator[BrowserContext]:
    """A device that visits the site. In the end it has asked nobody else, has no cookie, and its
    console shows no error but those of refused requests.
    """
    options = {
        "viewport": {"width": 1280, "height": 900},
        "locale": "en-GB",
        "timezone_id": "Europe/Berlin",
        "reduced_motion": "reduce",
    } | options
    context = browser.new_context(**options)
    wrong: list[str] = []
    context.route("**/*", site.serve)
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    yield context
    cookies = context.cookies()
    context.close()
    assert [each for each in wrong if not each.startswith("Failed to load resource")] == []
    assert cookies == []
    assert {urlsplit(url)[:2] for url in site.asked if not url.startswith("data:")} <= {tuple(ORIGIN.split("://"))}


def opened(context: BrowserContext, path: str = "/") -> Page:
    """A tab of that device."""
    page = context.new_page()
    page.goto(ORIGIN + path)
    return page
