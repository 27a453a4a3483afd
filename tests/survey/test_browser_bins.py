"""A number in bins, in a browser: the same words give the same report as in Python, whether all bins
are asked about at once or one level of them; and somebody answers such a question on the page.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shuffledp.cli import main
from shuffledp.client import Reporter
from shuffledp.questions.quantile.question import QuantileQuestion
from shuffledp.randomizers import KRR
from shuffledp.randomizers.messages import ShufflerDummies, TreeDummies, UserFakes
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.survey import read_collection
from tests.survey.shufflers import TAKE_PART, free_port, process
from tests.survey.tapes import tapes_of, written
from tests.survey.test_browser_law import SOURCES, file_of, unlike, values_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CUTS = (-3.5, 0.0, 0.1, 0.30000000000000004, 7.0, 20.0, 21.0, 22.0, 1e9)
LAWS = {
    "all bins": lambda: KRR(k=8, epsilon0=2.0),
    "levels": lambda: OneLevel.of_sizes(sizes=(3, 5, 8), epsilon0=2.0).realised,
    "fakes": lambda: UserFakes(k=8, slots=1, chance=0.4, epsilon0=3.0),
    "dummies": lambda: ShufflerDummies(k=8, center=9, epsilon0=3.0),
    "tree": lambda: TreeDummies(k=8, levels=3, branches=2, center=9),
}


@pytest.fixture(scope="module", autouse=True)
def sources(page: Page) -> None:
    page.evaluate(SOURCES)


@pytest.mark.parametrize("name", LAWS)
def test_words_give_the_same_report_in_python_and_in_the_browser(page: Page, name: str) -> None:
    design = written(QuantileQuestion(cuts=CUTS, at=(0.5,), ranges=((0.0, 7.0),)), LAWS[name]())
    reporter, rng = Reporter.of(design), random.Random(name)
    values = [*values_of(design, rng), *CUTS]
    tapes = tapes_of(reporter, values, rng)
    assert len(tapes) > 100
    kinds = {"all bins": 8, "levels": 16, "fakes": 8 * 9, "dummies": 8, "tree": 8}
    assert len({report for _, _, report in tapes}) == kinds[name]
    assert not unlike(page, file_of(design), tapes)
    # the positive control: another cut point
    assert unlike(page, file_of(design).replace("0.1,", "0.2,"), tapes)


def test_browsers_and_commands_report_a_bin_each(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Many bins for so few people, and so levels of them: from a design to a verified median."""
    monkeypatch.chdir(tmp_path)
    url = f"http://127.0.0.1:{(port := free_port())}"
    bins = ["--lower", "0", "--upper", "512", "--bins", "256", "--at", "0.25,0.5"]
    promise = ["--n", "2000", "--honest", "90%", "--epsilon", "1", "--delta", "1e-6"]
    assert main(["stage", "design", "quantile", *bins, *promise, "--out", "design.json"]) == 0
    assert main(["survey", "new", "--design", "design.json", "--shuffler", url, "--out", "study"]) == 0
    collection = read_collection(Path("study/collection.json"))
    assert collection.design.mechanism.type == "one of"
    chance = random.Random(15)
    held = [round(min(max(chance.gauss(200.0, 60.0), 0.0), 512.0), 2) for _ in range(1900)]
    (tmp_path / "shuffler").mkdir()
    with process(tmp_path / "shuffler", collection, port=port) as shuffler:
        context = chromium.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.goto(shuffler.url)
        page.get_by_label("Your number").fill(str(held[0]))
        page.get_by_role("button", name="send").click()
        page.get_by_role("heading", name="Thank you").wait_for()
        context.close()
        context = chromium.new_context()
        page = context.new_page()
        page.goto(shuffler.url)
        said = page.evaluate(TAKE_PART, held[1:201])
        context.close()
        assert Counter(said) == {201: 200}
        Path("people.csv").write_text("\n".join(["x", *map(str, held[201:-1])]), encoding="utf-8")
        table = ["--table", "people.csv", "--column", "x", "--outbox", "many"]
        assert main(["survey", "send", "study/collection.json", *table]) == 0
        assert main(["survey", "send", "study/collection.json", "--value", str(held[-1]), "--outbox", "one"]) == 0
        Path("token").write_text(shuffler.token)
        Path("token").chmod(0o600)
        assert main(["survey", "close", url, "--token", "token"]) == 0
        assert main(["survey", "fetch", url, "--token", "token", "--out", "sealed.bin"]) == 0
        assert shuffler.stop() == 0
    capsys.readouterr()
    assert main(["survey", "open", "study", "sealed.bin", "--out", "result"]) == 0
    assert main(["verify", "result/page.html"]) == 0
    assert "pass:" in capsys.readouterr().out
    facts = json.loads(Path("result/estimates.json").read_text(encoding="utf-8"))
    assert facts["counted"]["reports"] == len(held)
    found, cuts = facts["tables"][0], facts["design"]["question"]["cuts"]
    for cut, value, stderr in zip(cuts[1:-1], found["value"], found["stderr"], strict=True):
        assert abs(value - sum(each < cut for each in held)) < 7 * stderr
