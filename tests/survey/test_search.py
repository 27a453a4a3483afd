"""Top words over the network: level after level, each a collection of its own, with people who have
browsers and people who have the command.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.release.budget import Budget
from shuffledp.search.planning import planned_search
from shuffledp.survey.collection import Collection, read_collection
from shuffledp.survey.search import new_search
from tests.survey.shufflers import free_port, process
from tests.survey.studies import ADDRESS, KEY

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BY_HAND = 2
LETTERS = "abcdefgh"
WORDS = ("bad", "headache", "cab")
PLACES = """async ([text, words]) => {
    const { design } = await client.readCollection(new TextEncoder().encode(text));
    return words.map((word) => design.level.place(word));
}"""


def typed(chromium: Browser, url: str, code: str, word: str) -> None:
    """Somebody opens the page of their invitation, types a word, and sends."""
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{url}/#code={code}")
    page.get_by_label("Your word").fill(word)
    page.get_by_role("button", name="send").click()
    page.get_by_text("receipt").first.wait_for()
    context.close()


def collected(chromium: Browser, level: Path, folder: Path, words: list[str], port: int) -> Path:
    """Everybody who is invited to a level reports; what the shuffler releases."""
    collection = read_collection(level / "collection.json")
    rows = [line.split(",") for line in (level / "invitations.csv").read_text().split()[1:]]
    folder.mkdir()
    (folder / "hashes.txt").write_text((level / "hashes.txt").read_text())
    with process(folder, collection, "--codes", "hashes.txt", port=port) as shuffler:
        for person, code in rows[:BY_HAND]:
            typed(chromium, shuffler.url, code, words[int(person) - 1])
        rest = rows[BY_HAND:]
        (folder / "people.csv").write_text("\n".join(["word", *(words[int(person) - 1] for person, _ in rest)]))
        (folder / "codes.txt").write_text("".join(f"{code}\n" for _, code in rest))
        send = ["--table", str(folder / "people.csv"), "--column", "word", "--codes", str(folder / "codes.txt")]
        assert main(["survey", "send", str(level / "collection.json"), *send, "--outbox", str(folder / "outbox")]) == 0
        token = folder / "mine"
        token.write_text(shuffler.token)
        token.chmod(0o600)
        assert main(["survey", "close", shuffler.url, "--token", str(token)]) == 0
        sealed = folder / "sealed.bin"
        assert main(["survey", "fetch", shuffler.url, "--token", str(token), "--out", str(sealed)]) == 0
        assert shuffler.stop() == 0
    return sealed


def test_level_after_level(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    port, people = free_port(), 3000
    Path("letters.txt").write_text("\n".join(LETTERS))
    words = random.Random(15).choices(WORDS, weights=(5, 3, 2), k=people)
    asked = ["--n", str(people), "--words", "3", "--longest", "6", "--tokens", "letters.txt", "--least-holders", "20"]
    budget = ["--ledger", "budget.sqlite", "--population", "p", "--limit-epsilon", "4", "--limit-delta", "1e-3"]
    assert main(["stage", "design", "top", *asked, "--epsilon", "3", "--delta", "1e-4", "--out", "words.json"]) == 0
    where = ["--shuffler", f"http://127.0.0.1:{port}", "--text", "Which?"]
    assert main(["survey", "new", "--design", "words.json", *where, *budget, "--out", "search"]) == 0
    invited = Counter[str]()
    for number in range(1, 5):
        level = Path(f"search/level-{number}")
        invited.update(line.split(",")[0] for line in (level / "invitations.csv").read_text().split()[1:])
        sealed = collected(chromium, level, tmp_path / f"shuffler-{number}", words, port)
        if number == 1:  # a level is no answer by itself
            assert main(["survey", "open", str(level), str(sealed), "--out", "alone"]) == 2
        assert main(["survey", "next", "search", str(sealed), "--out", "result"]) == 0
        if Path("result").exists():
            break
    assert number >= 3
    assert set(invited.values()) == {1}, "nobody is invited twice"
    assert len(invited) == people
    capsys.readouterr()
    assert main(["verify", "result/page.html", "--ledger", "budget.sqlite"]) == 0
    assert "pass:" in capsys.readouterr().out
    facts = json.loads(Path("result/estimates.json").read_text(encoding="utf-8"))
    true = Counter(word if len(word) <= 6 else word[:6] + "…" for word in words)
    estimates = facts["tables"][0]
    assert set(estimates["label"]) == set(true)
    for label, value, stderr in zip(estimates["label"], estimates["value"], estimates["stderr"], strict=True):
        assert abs(value - true[label]) < 6 * stderr
    assert facts["ledger"]["releases"] == 1


@pytest.mark.parametrize("tokens", [None, ("a", "ab", "b", "é", "日本", "日")])
def test_a_word_counts_alike_in_python_and_in_the_browser(page: Page, tokens: tuple[str, ...] | None) -> None:
    chance, letters = random.Random(7), "aab\tbé日本%c\ud83d\ude00 "
    words = ["".join(chance.choices(letters, k=chance.randrange(7))) for _ in range(400)]
    words = [word.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for word in words]
    levels = [((), ("",), 1), (("a",), ("a", "b"), 1), (("ab", "é"), (), 0), (("ab",), ("ab",), 0)]
    levels += [((), ("%C3", "a", "%25"), 1)] if tokens is None else [((), ("日本", "ab"), 2)]
    for known, prefixes, span in levels:
        level = Poll(
            "top",
            tokens=tokens,
            longest=3,
            words=known,
            prefixes=prefixes,
            span=span,
            room=60_000,
            n=9,
            epsilon0=9.0,
            delta=0.1,
        )
        design = Design.of(level)
        text = Collection(design=design, key=KEY.public, shuffler=ADDRESS).content.decode()
        expected = [design.domain.answer(word) for word in words]
        assert page.evaluate(PLACES, [text, words]) == expected
        assert len(set(expected)) > 1


def test_an_address_that_is_none_costs_nothing(tmp_path: Path) -> None:
    search = planned_search(people=20_000, epsilon=1.0, delta=1e-6, k=2, longest=1, tokens=("a", "b"))
    budget = Budget(tmp_path / "budget.sqlite", "p", 2.0, 1e-5)
    with pytest.raises(InvalidInput, match="shuffler must be an address"):
        new_search(search, "ftp:/nowhere", tmp_path / "search", budget=budget)
    assert not budget.path.exists()
    assert not (tmp_path / "search").exists()
    new_search(search, "https://shuffle.example.org", tmp_path / "search", budget=budget)
    assert len(Ledger(budget.path).releases("p")) == 1
