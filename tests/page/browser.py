"""A headless Chromium, driven over a pipe with nothing but the standard library (the DevTools
protocol: JSON, ended by NUL).
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["NAMES", "Browser", "Page", "found", "started"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
)
NARROW = 500
PATIENCE = 60.0  # seconds until an answer must be there
FAREWELL = 5.0  # seconds to leave in good order


def found() -> str | None:
    """The browser's program, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Browser:
    """A running browser and what it has told unasked."""

    reading: int
    writing: int
    events: list[dict[str, Any]] = field(default_factory=list)
    _buffer: bytes = b""
    _last: int = 0

    def call(self, method: str, session: str | None = None, **parameters: object) -> dict[str, Any]:
        """Ask for something, and wait for the answer."""
        self._last += 1
        request = {"id": self._last, "method": method, "params": parameters} | (
            {"sessionId": session} if session else {}
        )
        os.write(self.writing, json.dumps(request).encode() + b"\0")
        while (message := self._message()).get("id") != self._last:
            self.events.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        result: dict[str, Any] = message["result"]
        return result

    def _message(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self.reading], [], [], max(end - time.monotonic(), 0.0))
            chunk = os.read(self.reading, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser does not answer")
            self._buffer += chunk
        first, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False, media: str = "") -> Page:
        """Show a file in a window of a given size."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, target, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        page.call("Page.navigate", url=path.as_uri())
        page.run(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))"
        )
        return page


@dataclass
class Page:
    """One window."""

    browser: Browser
    target: str
    session: str

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Ask this window for something."""
        return self.browser.call(method, self.session, **parameters)

    def run(self, program: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=program, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def resize(self, width: int, height: int = 900) -> None:
        """Make the window so large; a narrow one is a phone's."""
        phone = width < NARROW
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def screenshot(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def pdf(self) -> bytes:
        """The page as it would be printed on A4."""
        return base64.b64decode(
            self.call(
                "Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True, printBackground=False
            )["data"]
        )

    def heard(self, *methods: str) -> list[dict[str, Any]]:
        """What this window told about the given events."""
        return [
            each["params"]
            for each in self.browser.events
            if each.get("sessionId") == self.session and each["method"] in methods
        ]

    def close(self) -> None:
        """Close the window."""
        self.browser.call("Target.closeTarget", targetId=self.target)


@contextmanager
def started(program: str, folder: Path) -> Iterator[Browser]:
    """Run a browser whose profile lives in ``folder``."""
    (asked, asking), (telling, told) = os.pipe(), os.pipe()
    ends = [
        fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (asked, told)
    ]  # out of the way of 3 and 4, where the browser expects them
    os.close(asked)
    os.close(told)
    silence = os.open(folder / "browser.log", os.O_WRONLY | os.O_CREAT, 0o600)
    actions = [(os.POSIX_SPAWN_DUP2, silence, 1), (os.POSIX_SPAWN_DUP2, silence, 2)]
    actions += [(os.POSIX_SPAWN_DUP2, end, place) for end, place in zip(ends, (3, 4), strict=True)]
    command = [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    environment = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    process = os.posix_spawn(program, command, environment, file_actions=actions, setpgroup=0)
    for end in (*ends, silence):
        os.close(end)
    running = Browser(telling, asking)
    try:
        yield running
    finally:
        with suppress(OSError, RuntimeError):
            running.call("Browser.close")
        end = time.monotonic() + FAREWELL
        while (ended := os.waitpid(process, os.WNOHANG)[0]) == 0 and time.monotonic() < end:
            time.sleep(0.02)
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        if not ended:
            os.waitpid(process, 0)
        os.close(asking)
        os.close(telling)
