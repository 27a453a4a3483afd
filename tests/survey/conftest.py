"""A browser for the tests of what people's browsers run, and a database."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.survey.shipped import library
from tests.survey.stores.running_postgres import RunningPostgres, program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    """Debian's chromium. Tests open a context of their own, and close it. While Playwright runs, no
    other event loop can in this process, so it must end before the tests of another module begin.
    """
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium on this machine (Debian: apt install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(chromium: "Browser") -> Iterator["Page"]:
    """The client library in a page; tests that store something have collections of their own."""
    with library(chromium) as page:
        yield page


@pytest.fixture(scope="session")
def database() -> Iterator[RunningPostgres]:
    """PostgreSQL, started once. Tests have collections of their own, and leave it running."""
    if program("initdb") is None:
        pytest.skip("there is no PostgreSQL server on this machine (Debian: apt install postgresql)")
    database = RunningPostgres()
    yield database
    database.remove()
