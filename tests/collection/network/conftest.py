"""A browser for the tests of what people's browsers run."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    """Debian's chromium, started once. Tests open a context of their own, and close it."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium on this machine (Debian: apt install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
