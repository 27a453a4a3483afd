"""A crosstab over the network: several questions in one report, from browsers and by command."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shuffledp.cli import main
from shuffledp.errors import InvalidInput
from shuffledp.questions.crosstab.question import CrosstabQuestion
from shuffledp.survey import read_collection
from tests.survey.shufflers import process
from tests.survey.test_end_to_end import TAKE_PART, free_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REGIONS, SMOKER = tuple(f"region {at}" for at in range(13)), ("yes", "no")
BY_HAND, BY_SCRIPT, BY_COMMAND = 2, 300, 5697


def by_hand(chromium: Browser, url: str, region: str, smoker: str) -> None:
    """Somebody answers both questions, one of few and one of many, and sends one report."""
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(url)
    page.get_by_label(smoker, exact=True).check()
    page.get_by_role("button", name="send").click()
    page.get_by_text("Choose an answer from the list.").wait_for()  # the other question is open
    page.get_by_label("region", exact=True).fill(region)
    page.get_by_role("button", name="send").click()
    page.get_by_text("receipt").first.wait_for()
    context.close()


def test_browsers_and_commands_report_one_cell_each(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    url = f"http://127.0.0.1:{(port := free_port())}"
    lists = ["--categories", ",".join(REGIONS), "--categories", ",".join(SMOKER)]
    promise = ["--n", "6000", "--honest", "90%", "--epsilon", "1", "--delta", "1e-6"]
    asked = ["--column", "region", "--column", "smoker", *lists, *promise, "--out", "design.json"]
    assert main(["design", "crosstab", *asked]) == 0
    assert main(["collection", "new", "--design", "design.json", "--shuffler", url, "--out", "study"]) == 0
    collection = read_collection(Path("study/collection.json"))
    chance = random.Random(15)
    held = chance.choices(range(26), weights=range(1, 27), k=BY_HAND + BY_SCRIPT + BY_COMMAND + 1)
    names = [(REGIONS[cell // 2], SMOKER[cell % 2]) for cell in held]
    (tmp_path / "shuffler").mkdir()
    with process(tmp_path / "shuffler", collection, port=port) as shuffler:
        for region, smoker in names[:BY_HAND]:
            by_hand(chromium, shuffler.url, region, smoker)
        context = chromium.new_context()
        page = context.new_page()
        page.goto(shuffler.url)
        said = page.evaluate(TAKE_PART, held[BY_HAND : BY_HAND + BY_SCRIPT])
        context.close()
        assert Counter(said) == {201: BY_SCRIPT}
        rows = [f"{region},{smoker}" for region, smoker in names[BY_HAND + BY_SCRIPT : -1]]
        Path("people.csv").write_text("\n".join(["region,smoker", *rows]), encoding="utf-8")
        assert main(["send", "study/collection.json", "--table", "people.csv", "--outbox", "many"]) == 0
        region, smoker = names[-1]
        one = ["--value", region, "--value", smoker, "--outbox", "one"]
        assert main(["send", "study/collection.json", *one]) == 0
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
    assert facts["counted"]["reports"] == len(held)
    found, truth = facts["estimates"], Counter(" × ".join(each) for each in names)
    truth += Counter(f"{region} × (all)" for region, _ in names) + Counter(f"(all) × {smoker}" for _, smoker in names)
    for label, value, stderr in zip(found["label"], found["value"], found["stderr"], strict=True):
        assert abs(value - truth[label]) < 6 * stderr


def test_typed_answers_are_a_cell_and_half_an_answer_is_refused() -> None:
    asked = {"columns": ("region", "smoker"), "categories": (REGIONS, SMOKER), "other": ("region 0", None)}
    cells = CrosstabQuestion(**asked).cells  # type: ignore[arg-type]
    assert cells.answer(("region 3", "no")) == 7
    assert cells.answer(["elsewhere", "no"]) == 1
    for wrong in ("region 3", ("region 3",), None):
        with pytest.raises(InvalidInput, match="about each of region, smoker, in this order"):
            cells.answer(wrong)
    with pytest.raises(InvalidInput, match="must be one of the 2 that the collection lists, got 'maybe'"):
        cells.answer(("region 3", "maybe"))
