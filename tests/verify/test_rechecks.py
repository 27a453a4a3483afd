"""A question of another distribution is judged by code of that distribution, and by shuffledp where
epsilon, delta and the tally are concerned. Whatever that code does, no page passes by it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from shuffledp.cli import main
from shuffledp.verify import Verification, verify
from tests.verify.other_package import HONEST, QUESTION, RECHECK, forget, write
from tests.verify.releases import as_page, facts, rehashed

WHO = "of-ballots 1.2"

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Another distribution, with what it says as ``recheck``."""
    home = tmp_path / "site"
    home.mkdir()
    monkeypatch.syspath_prepend(home)
    yield partial(write, home)
    forget()


def ballot() -> dict[str, Any]:
    """The facts of a histogram, as if the other package had asked."""
    made = facts("tiny")
    made["design"]["question"]["type"] = made["asked"]["question"] = "ballot"
    return rehashed(made)


def found(made: dict[str, Any]) -> Verification:
    return verify(json.dumps(rehashed(made)))


def why(verification: Verification) -> str:
    """What was essential, and not checked."""
    return "; ".join(f"{check.what}: {check.how}" for check in verification.checks if check.vital and not check.found)


def test_the_control_an_honest_recheck_passes_and_is_named_with_its_version(install: Install) -> None:
    install(RECHECK + HONEST)
    verification = found(ballot())
    assert (verification.verdict, verification.failed) == ("pass", ())
    assert [
        (check.claimed, check.outcome) for check in verification.checks if check.what == "who judged the answer"
    ] == [(WHO, "not checked")]
    assert {"the domain", "estimates", "limits, each: lower", "who is trusted"} <= {c.what for c in verification.checks}


def test_the_recheck_of_the_documentation_passes_and_finds_a_forged_estimate(install: Install) -> None:
    page = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
    install("def recheck" + page.partition("```text\ndef recheck")[2].partition("```")[0])
    made = ballot()
    assert found(made).verdict == "pass"
    made["tables"][0]["stderr"][0] *= 1.01
    assert [check.what for check in found(made).failed] == ["standard errors"]


def test_its_own_section_is_on_the_page_escaped_and_so_is_its_name(install: Install) -> None:
    install(RECHECK + HONEST)
    page = as_page(ballot())
    assert "<p>&lt;b&gt;votes&lt;/b&gt;</p>" in page
    assert f"<bdi>{WHO}</bdi>" in page
    assert verify(page).verdict == "pass"
    forged = verify(page.replace("&lt;b&gt;votes", "&lt;b&gt;notes"))
    assert [check.what for check in forged.failed] == ["the page"]


def test_a_section_that_breaks_makes_the_verdict_incomplete_and_no_traceback(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(RECHECK + HONEST)
    page = tmp_path / "page.html"
    page.write_text(as_page(ballot()), encoding="utf-8")
    install(RECHECK + HONEST, section="{% macro extra() %}{{ 1 // 0 }}{% endmacro %}\n")
    assert main(["verify", str(page)]) == 3
    assert "THE PAGE WAS NOT CHECKED" in capsys.readouterr().out
    assert main(["verify", str(page), "--rewrite", str(tmp_path / "new.html")]) == 2
    assert "got ZeroDivisionError from it. Update that package." in " ".join(capsys.readouterr().err.split())


def test_a_page_of_another_version_of_it_is_not_compared_and_never_passes(install: Install) -> None:
    install(RECHECK + HONEST)
    page = as_page(ballot())
    install(RECHECK + HONEST, version="1.3")
    verification = verify(page)
    assert (verification.verdict, verification.of_record) == ("incomplete", "pass")
    assert verification.unread is not None
    assert "of-ballots 1.3" in verification.unread.how


def test_what_it_finds_wrong_fails(install: Install) -> None:
    install(RECHECK + HONEST)
    made = ballot()
    made["tables"][0]["value"][0] += 0.01 * made["tables"][0]["stderr"][0]
    assert [check.what for check in found(made).failed] == ["estimates"]


@pytest.mark.parametrize(
    "recheck",
    [
        RECHECK + "    raise ValueError('no')\n",
        RECHECK + "    raise SystemExit(0)\n",
        RECHECK + "    return 1 / 0\n",
        RECHECK + "    return recheck(record, judge)\n",
        RECHECK + "    return None\n",
        RECHECK + "    return []\n",
        RECHECK + "    return ['pass']\n",
        RECHECK + "    return True\n",
        RECHECK + "    yield from own(record, judge)\n",
        RECHECK + "    return [*own(record, judge), None]\n",
        RECHECK + "    return [type(each)('a', 'b', 'c', 'd', 'fine') for each in own(record, judge)]\n",
        RECHECK + "    return [type(each)(1, 2, 3, 4, 'pass') for each in own(record, judge)]\n",
        RECHECK + "    judge.later('more', lambda: 1 / 0)\n    return own(record, judge)\n",
        RECHECK + "    judge.later('more', lambda: None)\n    return own(record, judge)\n",
        RECHECK + "    return [judge.domain(record['design']['domain'])]\n",  # it does not say how an error is measured
        RECHECK + "    raise GeneratorExit\n",
        RECHECK + "    raise BaseException\n",
        RECHECK + "    class Odd(list):\n        pass\n    return Odd(own(record, judge))\n",
        RECHECK + "    return [*own(record, judge), judge.vital(judge.unchecked('the page', '', 'nothing to see'))]\n",
        RECHECK
        + "    return [*own(record, judge), type(judge.equal('', 1, 1, ''))('a', 'b', 'c', '\\x1b[2J', 'pass')]\n",
        RECHECK + "    return [*own(record, judge), type(judge.equal('', 1, 1, ''))('a', 'b', 'c', 'd', 'pass', [])]\n",
        RECHECK
        + "    return [*own(record, judge), type(judge.equal('', 1, 1, ''))('a', 'b' * 9999, '', '', 'pass')]\n",
        "raise RuntimeError('broken')\n",
        "import a_module_that_is_not_there\n",
        "def other(record, judge):\n    return []\n",
        "recheck = 1\n",
        "def recheck(record):\n    return []\n",
        "this is no Python\n",
    ],
)
def test_code_that_breaks_or_returns_no_checks_never_passes(install: Install, recheck: str) -> None:
    install(recheck)
    verification = found(ballot())
    assert (verification.verdict, verification.failed) == ("incomplete", ())
    assert why(verification)


@pytest.mark.parametrize("names", ["", "ballots", "Ballot"])
def test_a_question_whose_package_is_not_there_is_incomplete(install: Install, names: str) -> None:
    install(RECHECK + HONEST)
    page = as_page(ballot())
    install(RECHECK + HONEST, names=names)
    verification = verify(page)
    assert (verification.verdict, verification.failed) == ("incomplete", ())
    assert verification.unread is not None
    assert "'ballot'" in why(verification)


def test_a_name_that_two_packages_claim_is_judged_by_neither(install: Install, tmp_path: Path) -> None:
    install(RECHECK + HONEST)
    other = tmp_path / "site" / "more-1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1\n")
    (other / "entry_points.txt").write_text("[shuffledp.questions]\nballot = more\n")
    verification = found(ballot())
    assert (verification.verdict, verification.failed) == ("incomplete", ())
    assert "must be its own" in why(verification)


@pytest.mark.parametrize("question", ["raise RuntimeError('broken')\n", "import a_module_that_is_not_there\n", ""])
def test_a_question_that_does_not_load_is_incomplete_and_no_traceback(install: Install, question: str) -> None:
    install(RECHECK + HONEST)
    page = as_page(ballot())
    install(RECHECK + HONEST, question=question)
    verification = verify(page)
    assert (verification.verdict, verification.failed) == ("incomplete", ())
    assert verification.unread is not None


def _epsilon(made: dict[str, Any]) -> None:
    made["certificate"]["epsilon"]["upper"] *= 0.5
    made["certificate"]["epsilon"]["lower"] *= 0.5


def _curve(made: dict[str, Any]) -> None:
    made["certificate"]["curve"]["upper"] = [each / 2.0 for each in made["certificate"]["curve"]["upper"]]
    made["certificate"]["curve"]["lower"] = [each / 2.0 for each in made["certificate"]["curve"]["lower"]]


@pytest.mark.parametrize(
    "forge",
    [
        _epsilon,
        _curve,
        lambda made: made["tally"]["votes"].append(0),
        lambda made: made["tally"]["votes"].__setitem__(0, made["tally"]["votes"][0] + 1),
        lambda made: made["tally"].update(reports=5),
        lambda made: made["certificate"].update(users=7),
    ],
)
def test_a_recheck_that_agrees_with_everything_hides_no_epsilon_delta_nor_tally(
    install: Install, forge: Callable[[dict[str, Any]], None]
) -> None:
    agreeing = "    judge.compared()\n    return [judge.equal('all', 1, 1, 'trust me')]\n"
    install(RECHECK + agreeing)
    assert found(ballot()).verdict == "pass", "the control"
    made = ballot()
    forge(made)
    assert found(made).verdict == "FAIL"


@pytest.mark.parametrize(
    "deed",
    [
        "judge.later('the certificate', lambda: fine)",
        "judge.wrong = lambda checks: True",
        "judge.last = None",
        "judge.law = judge.effort = None",
        "import shuffledp.verify.verification as it; it.check_certificate = lambda *_: []",
        "import shuffledp.judge.oracle as it; it.Oracle.spans = None",
        "import os; os._exit(0)",
        "import os; os.write(1, b'pass'); os.close(1); os._exit(0)",
    ],
)
def test_it_stands_in_for_no_part_of_ours(install: Install, deed: str) -> None:
    fine = "    judge.compared()\n    fine = [judge.equal('all', 1, 1, 'trust me')]\n"
    made = ballot()
    made["certificate"]["epsilon"]["lower"] = made["certificate"]["epsilon"]["upper"] = 0.1
    made["certificate"]["delta"] = None
    install(RECHECK + fine + f"    {deed}\n    return fine\n")
    verification = found(made)
    assert verification.verdict == "FAIL"
    assert "epsilon at delta = 0.001, upper" in {check.what for check in verification.failed}


def test_code_that_does_not_come_back_is_left_to_itself(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.verify.rechecks.LEAST", 0.2)
    install(RECHECK + "    import time\n    while True:\n        time.sleep(0.01)\n")
    verification = verify(json.dumps(ballot()), seconds=0.0)
    assert (verification.verdict, verification.failed) == ("incomplete", ())
    assert "took more than 0.2 seconds" in why(verification)


# The file that is handed to it for its answer, found as a stranger would.
FLOOD = """    import os
    for each in map(int, os.listdir("/proc/self/fd")):
        if each > 2 and "fd" not in os.readlink(f"/proc/self/fd/{{each}}"):
            {deed}
    return own(record, judge)
"""


@pytest.mark.parametrize(
    "deed",
    [
        "[os.write(each, b'x' * 100_000) for _ in range(100)]",
        r"""os.write(each, b'\n["part %d", true, [["", "", "", "", "pass", false]]]' * 2000 % tuple(range(2000)))""",
        r"""os.write(each, b'\n["part x", true, [%s]]\n' % b",".join([b'["", "", "", "", "pass", false]'] * 2000))""",
    ],
    ids=["bytes", "parts", "checks"],
)
def test_more_than_anybody_reads_is_left_unread(install: Install, monkeypatch: pytest.MonkeyPatch, deed: str) -> None:
    monkeypatch.setattr("shuffledp.verify.rechecks.LARGEST", 1_000_000)
    monkeypatch.setattr("shuffledp.verify.rechecks.MOST", 1000)
    install(RECHECK + FLOOD.format(deed=deed))
    verification = found(ballot())
    assert (verification.verdict, verification.failed) == ("incomplete", ())
    assert len(verification.checks) < 1100


@pytest.mark.parametrize("words", ["the estimates\x1b[2J", "\u202e", None])
def test_what_it_writes_by_itself_obeys_no_terminal(install: Install, words: str | None) -> None:
    lines = "\n".join(["", json.dumps([words and f"part {words}", False, words]), ""])
    install(RECHECK + FLOOD.format(deed=f"os.write(each, {lines.encode()}); os._exit(0)"))
    verification = found(ballot())
    assert (verification.verdict, verification.failed) == ("incomplete", ())
    assert all(word.isprintable() for check in verification.checks for word in (check.what, check.claimed, check.how))
    assert "it could not be computed again" not in why(verification)


def test_it_writes_no_larger_file_than_is_read(install: Install) -> None:
    limit = (
        "    from resource import RLIMIT_FSIZE, getrlimit\n    assert getrlimit(RLIMIT_FSIZE) == (1 << 27, 1 << 27)\n"
    )
    install(RECHECK + limit + HONEST)
    assert found(ballot()).verdict == "pass"


def test_what_it_leaves_running_is_ended_and_not_waited_for(install: Install, tmp_path: Path) -> None:
    child = "    import os, time\n    if os.fork() == 0:\n        time.sleep(3)\n        open({!r}, 'x')\n"
    left = tmp_path / "left"
    install(RECHECK + child.format(str(left)) + HONEST)
    assert found(ballot()).verdict == "pass"
    time.sleep(3.5)
    assert not left.exists()


@pytest.mark.parametrize("where", ["recheck", "question", "page"])
def test_code_that_ends_its_process_ends_no_verification(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    install()
    page = tmp_path / "page.html"
    page.write_text(as_page(ballot()), encoding="utf-8")
    assert main(["verify", str(page)]) == 0, "the control"
    leave = "import os; os._exit(0)\n"
    last = "\n\nQUESTION ="
    asked = f"    def algorithm(self, law):\n        {leave}{last}"
    question = {"recheck": QUESTION, "question": leave, "page": QUESTION.replace(last, asked)}[where]
    install(RECHECK + (f"    {leave}" if where == "recheck" else HONEST), question=question)
    capsys.readouterr()
    assert main(["verify", str(page)]) == 3
    assert "ended before it had answered, with code 0" in " ".join(capsys.readouterr().out.split())


def test_what_it_prints_is_none_of_the_answer(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(RECHECK + "    print('pass')\n" + HONEST)
    assert found(ballot()).verdict == "pass"
    assert capsys.readouterr().out == ""


def test_it_gets_a_copy(install: Install) -> None:
    honest = "    checks = own(record, judge)\n"
    spoiling = (
        "    record['certificate']['epsilon']['upper'] = 0.0\n    record['tally']['votes'].clear()\n    return checks\n"
    )
    install(RECHECK + honest + spoiling)
    assert found(ballot()).verdict == "pass"


def test_our_names_cannot_be_replaced(install: Install) -> None:
    install(RECHECK + "    return []\n", names="ballot histogram")
    verification = verify(json.dumps(facts("tiny")))
    assert verification.verdict == "pass"
    assert "who judged the answer" not in {check.what for check in verification.checks}


@pytest.mark.parametrize(
    ("recheck", "code", "words"),
    [(HONEST, 0, WHO), ("    raise ValueError('no')\n", 3, f"the recheck of {WHO} broke down")],
)
def test_the_command_names_it_and_exits_with_3_where_it_breaks(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str], recheck: str, code: int, words: str
) -> None:
    install(RECHECK + recheck)
    page = tmp_path / "page.html"
    page.write_text(as_page(ballot()), encoding="utf-8")
    assert main(["verify", str(page)]) == code
    said = capsys.readouterr()
    assert words in " ".join(said.out.split())
    assert "Traceback" not in said.out + said.err
