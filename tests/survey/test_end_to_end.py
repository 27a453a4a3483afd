"""A survey from its announcement to a page that verifies: people with browsers, people with the
command, a shuffler of its own, an analyst.
"""

from __future__ import annotations

import json
import random
import socket
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shuffledp.cli import main
from tests.survey.shufflers import process

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WAYS = ("on foot", "bicycle", "bus", "car", "other")
BY_HAND, BY_SCRIPT, BY_COMMAND = 5, 995, 9000
# What a page of the shuffler's own does, once for each answer: draw, seal, send.
TAKE_PART = """async (answers) => {
    const client = await import('/static/client.js');
    const bytes = new Uint8Array(await (await fetch('/collection.json')).arrayBuffer());
    const collection = await client.readCollection(bytes);
    const url = `/collections/${collection.digest}/reports`;
    const headers = {'Content-Type': 'application/octet-stream'};
    const said = [];
    for (const answer of answers) {
        const body = await client.seal(collection, client.encode(collection.design, answer));
        said.push((await fetch(url, {method: 'POST', body, headers})).status);
    }
    return said;
}"""


def free_port() -> int:
    """One that the system gives to nobody by itself, so that it is still free when it is needed."""
    for port in random.sample(range(20_000, 32_000), 100):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise AssertionError("no port is free")


def by_hand(chromium: Browser, url: str, way: str) -> None:
    """Somebody opens the page, chooses, and sends."""
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(url)
    page.get_by_label(way, exact=True).check()
    page.get_by_role("button", name="send").click()
    page.get_by_text("receipt").first.wait_for()
    context.close()


def test_a_thousand_browsers_and_nine_thousand_commands(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    url = f"http://127.0.0.1:{(port := free_port())}"
    promise = ["--n", "1e4", "--honest", "90%", "--epsilon", "1", "--delta", "1e-6"]
    assert main(["design", "histogram", "--categories", ",".join(WAYS), *promise, "--out", "design.json"]) == 0
    asked = ["--design", "design.json", "--shuffler", url, "--question", "How do you get to work?", "--out", "study"]
    assert main(["collection", "new", *asked]) == 0
    from shuffledp.survey import read_collection

    collection = read_collection(Path("study/collection.json"))
    chance = random.Random(14)
    held = chance.choices(range(5), weights=(10, 25, 30, 30, 5), k=BY_HAND + BY_SCRIPT + BY_COMMAND)
    (tmp_path / "shuffler").mkdir()
    with process(tmp_path / "shuffler", collection, port=port) as shuffler:
        for place in held[:BY_HAND]:
            by_hand(chromium, shuffler.url, WAYS[place])
        context = chromium.new_context()
        page = context.new_page()
        page.goto(shuffler.url)
        said = page.evaluate(TAKE_PART, held[BY_HAND : BY_HAND + BY_SCRIPT])
        context.close()
        assert Counter(said) == {201: BY_SCRIPT}
        Path("people.csv").write_text("\n".join(["way", *(WAYS[place] for place in held[BY_HAND + BY_SCRIPT :])]))
        send = ["--table", "people.csv", "--column", "way", "--outbox", "outbox"]
        assert main(["send", "study/collection.json", *send]) == 0
        Path("token").write_text(shuffler.token)
        Path("token").chmod(0o600)
        assert main(["collection", "close", url, "--token", "token"]) == 0
        assert main(["collection", "fetch", url, "--token", "token", "--out", "sealed.bin"]) == 0
        assert shuffler.stop() == 0
    capsys.readouterr()
    assert main(["open", "study", "sealed.bin", "--out", "result"]) == 0
    assert main(["verify", "result/page.html"]) == 0
    assert "pass:" in capsys.readouterr().out
    facts = json.loads(Path("result/estimates.json").read_text(encoding="utf-8"))
    assert facts["counted"]["reports"] == facts["counted"]["collected"]["arrived"] == len(held)
    assert facts["counted"]["collected"]["invalid"] == 0
    estimates, truth = facts["estimates"], Counter(WAYS[place] for place in held)
    for label, value, stderr in zip(estimates["label"], estimates["value"], estimates["stderr"], strict=True):
        assert abs(value - truth[label]) < 6 * stderr
