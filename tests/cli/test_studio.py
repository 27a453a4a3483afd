"""``shuffledp plan --web``: it prints an address, answers there, and ends when it is asked to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from shuffledp.cli import main


def test_it_says_where_it_is_and_ends_gracefully() -> None:
    command = [sys.executable, "-m", "shuffledp", "plan", "--web", "--plan", "n=1000&names=a, 'b'"]
    alone = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    with subprocess.Popen(command, env=alone, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = running.stdout.readline().split()[-1]
        assert address.startswith("http://127.0.0.1:")
        assert address.endswith("/#n=1000&names=a%2C%20%27b%27")
        with urlopen(address, timeout=60) as page:
            assert b"shuffledp plan --web" in page.read()
        running.send_signal(signal.SIGINT)
        said, wrong = running.communicate(timeout=60)
    assert (running.returncode, wrong) == (0, "")
    assert said.endswith("The planner has ended.\n")


@pytest.mark.parametrize("display, opens", [("", False), (":0", True)])
def test_a_browser_opens_beside_the_terminal_and_never_inside_it(
    display: str, opens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", asked.append)
    monkeypatch.setattr("shuffledp.studio.server.Studio.serve_forever", lambda _: None)
    assert main(["plan", "--web"]) == 0
    assert [each.startswith("http://127.0.0.1:") for each in asked] == [True] * opens


def test_a_port_that_is_taken_or_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["plan", "--web", "--port", str(taken.getsockname()[1])]) == 2
    assert "--port must be free to listen on" in capsys.readouterr().err
    assert main(["plan", "--web", "--port", "70000"]) == 2
    assert "--port must lie in [1, 65535]" in capsys.readouterr().err
