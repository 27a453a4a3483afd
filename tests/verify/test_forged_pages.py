"""A forger changes what a page shows, or what is around it; or writes another page, which only the
ledger can tell from the one that was published.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.judge.effort import Effort
from shuffledp.ledger import Ledger
from shuffledp.page import html
from shuffledp.record import Record, data_block, read_record
from shuffledp.release.certificate import certificate
from shuffledp.verify import verify
from shuffledp.verify.check_page import check_page
from shuffledp.verify.handed import Judge
from shuffledp.verify.rechecks import DEEDS, Rechecker
from shuffledp.wording import SENTENCES
from tests.verify.releases import LEDGER, as_page, collected, facts, made_by, rehashed, told

Recorded = tuple[Callable[[], dict[str, Any]], Ledger]
LONG = [f"city {number}" for number in range(21)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The facts of a release that a ledger holds, and the ledger."""
    place = tmp_path_factory.mktemp("recorded") / "budget.sqlite"
    told_of = {"ledger": place, "population": "app-users", "limit_epsilon": 3.0, "limit_delta": 1e-5}
    made = sdp.histogram(["x", "y", "z"] * 200, categories=["x", "y", "z"], epsilon=1.0, delta=1e-6, **told_of)
    return lambda: json.loads(json.dumps(made.record.as_json())), Ledger(place)


@pytest.fixture(autouse=True)
def _no_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the oracle finds is tested elsewhere; here nothing may depend on it but what it alone
    can know.
    """
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    monkeypatch.setattr("shuffledp.verify.verification.check_comparison", lambda *_: [])


def test_every_text_on_a_page_is_bound_to_its_facts() -> None:
    page = as_page(told("tiny"))
    assert not verify(page).failed
    before_facts = page.partition('<script type="application/json"')[0]
    texts = list(re.finditer(r">([^<]*\w[^<]*)<", before_facts))
    assert len(texts) > 150
    for place in texts:
        start, stop = place.span(1)
        found = verify(page[:start] + place[1].replace(place[1].strip(), "0.01", 1) + page[stop:])
        assert [check.what for check in found.failed] == ["the page"], place[1][:80]


@pytest.mark.parametrize("name", ["tiny", "mean"])
def test_every_number_on_a_page_and_in_its_drawings_is_bound_to_its_facts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Record.from_json(told(name))
    page = html(record)
    monkeypatch.setitem(DEEDS, "page", lambda _: page)  # written once, not each time
    asked = Rechecker(Judge.of(record, Effort()))
    assert [check.outcome for check in check_page(page, asked)] == ["pass"], "the control"
    shown, facts_inside, _ = page.partition('<script type="application/json"')
    assert facts_inside
    numbers = list(re.finditer(r"\d+", shown))
    assert len(numbers) > 500
    for place in numbers[:: max(1, len(numbers) // 300)]:  # every third or so, as each takes a while
        other = str(int(place[0]) + 1)
        (check,) = check_page(page[: place.start()] + other + page[place.end() :], asked)
        assert check.outcome == "FAIL", page[place.start() - 40 : place.end()]


@pytest.mark.parametrize(
    "old, new",
    [
        ("<main>", "<main><p>Audited and approved.</p>"),
        ("<main>", "<main><!-- a comment -->"),
        ("<main>", "<main><!-->Audited: epsilon is 0.1.<!-->"),
        ("<main>", "<main><![CDATA[Audited.]]>"),
        ("<details id", "<details open id"),
        ("</summary>", "</summary><style>.certificate{display:none}</style>"),
        ("<bdi>", "<bdi dir=rtl>"),
        ("</style>", ".banner{display:none}</style>"),
        ("</style>", ".big::after{content:'9'}</style>"),
        ('class="banner"', 'class="banner" hidden'),
        ('class="banner"', 'class="banner" style="display:none"'),
        ("</body>", '<script type="application/json" id="other">{}</script></body>'),
        ("</body>", "<script>document.title='x'</script></body>"),
        ('id="certificate"', 'id="estimates"'),
        ("\u00a0≤\u00a0", " ≤ "),
        (" answered", "\u2003answered"),
        ("Other kinds of trust", "Otherkinds of trust"),
        ("<h1>", "<h1>\u202e"),
        ("<h1>", "<h1>\u200b"),
        ("default-src 'none'; ", ""),
        ('aria-hidden="true"', ""),
        ("</html>", "</html><p>More</p></html>"),
        ("<title>", "<title>Official: "),
        (' d="M', ' d="M1 1L'),
        ("y1=", "x9="),
    ],
)
def test_marks_that_hide_add_or_run_something_are_noticed(old: str, new: str) -> None:
    made = told("poll")
    made["secure"] = False
    page = as_page(rehashed(made))
    if old == "y1=":
        old = re.search(r' y1="[\d.]+"', page)[0]  # type: ignore[index]
        new = ' y1="1"'
    escaped = old.replace("'", "&#39;")
    old = old if old in page else escaped
    assert old in page
    assert [check.what for check in verify(page.replace(old, new, 1)).failed] == ["the page"]


def test_runs_of_white_space_are_one_space_and_no_other_change_is_forgiven() -> None:
    page = as_page(told("tiny"))
    spread = page.replace("\n<", "\n\n   <").replace("answers were protected", "answers\n   were\tprotected")
    assert spread != page
    assert not verify(spread).failed
    for old, new in (("\n<details", "<details"), ("> <dd", "><dd"), ("were protected", "were\u00a0protected")):
        assert old in page
        assert [check.what for check in verify(page.replace(old, new, 1)).failed] == ["the page"]


def of_another_version(name: str = "tiny", version: str = "9.0.0") -> str:
    """A page whose record names another version, and whose words are those of that version."""
    made = told(name)
    made["made"]["shuffledp"] = version
    return as_page(rehashed(made)).replace("How answers were protected", "How we hid them", 1)


def test_a_page_of_another_version_is_not_checked_and_never_passes() -> None:
    page = of_another_version()
    found = verify(page)
    assert (found.verdict, found.of_record, found.failed) == ("incomplete", "pass", ())
    assert found.unread is not None
    assert "shuffledp 9.0.0 wrote it" in found.unread.how
    # The version is the forger's to choose: naming another one makes no changed page pass.
    forged = page.replace("saw every answer", "saw no answer")
    assert verify(forged).verdict == "incomplete"
    assert [check.what for check in verify(of_another_version(version="0.1.0")).failed] == ["the page"]


def test_the_ledger_knows_a_page_that_was_written_again(recorded: Recorded) -> None:
    fresh, ledger = recorded
    again = html(read_record(as_page(fresh())))
    assert "digest in the ledger" in {check.what for check in verify(again, ledger=ledger).checks}
    assert not verify(again, ledger=ledger).failed


def test_a_page_of_another_version_that_is_the_same_passes() -> None:
    made = told("tiny")
    made["made"]["shuffledp"] = "9.0.0"
    found = verify(as_page(rehashed(made)))
    assert (found.verdict, found.unread) == ("pass", None)


@pytest.mark.parametrize(
    "old, new, what",
    [
        ("<main>", "<main><script>1</script>", "what the page runs or loads"),
        ("<main>", "<main><!-->Audited<!-->", "what the page runs or loads"),
        ("<main>", "<main><img src=x>", "what the page runs or loads"),
        ("<main>", "<main><p title='>' onclick='x'>", "what the page runs or loads"),
        ("<main>", '<main a"b onclick=x>', "what the page runs or loads"),
        ("<main>", "<main/onclick=x>", "what the page runs or loads"),
        ("<main>", '<main style="opacity:0">', "what the page runs or loads"),
        ("<main>", "<main><a href=https://example.org>x</a>", "what the page runs or loads"),
        ("</style>", "p{background:url(//example.org)}</style>", "what the page runs or loads"),
        ("<style>", "<style>@import 'x';", "what the page runs or loads"),
        ("<head>", '<head><meta http-equiv="refresh" content="0;url=x">', "what the page runs or loads"),
        ("<h1>", "<h1>\u202e", "signs that turn text around"),
        ("<h1>", "<h1>&#x202e;", "signs that turn text around"),
        ("<main>", "<main><p>ε ≤ 0.01</p>", "epsilon and delta on the page"),
        ("<main>", "<main><p>ε <b>≤</b> 0.01</p>", "epsilon and delta on the page"),
        ("<main>", "<main><p>&epsilon; &le; 0.01</p>", "epsilon and delta on the page"),
        ("<main>", "<main><p>δ = 10⁻⁹</p>", "epsilon and delta on the page"),
    ],
)
def test_what_no_page_of_any_version_has_still_fails(old: str, new: str, what: str) -> None:
    page = of_another_version()
    assert old in page
    found = verify(page.replace(old, new, 1))
    assert found.verdict == "FAIL"
    assert [check.what for check in found.failed] == [what]


def test_honest_names_of_another_version_do_not_fail() -> None:
    made = told("tiny")
    made["made"]["shuffledp"] = "9.0.0"
    made["asked"]["title"] = 'x onload="1" <script> src=2 ε'
    page = as_page(rehashed(made)).replace("How answers were protected", "How we hid them", 1)
    assert verify(page).failed == ()


def test_a_second_block_of_facts_is_refused() -> None:
    made = told("tiny")
    page = as_page(made)
    for other in (data_block(made), data_block(made).replace("<script type", "<script  type")):
        assert _refused(page.replace("<main>", f"<main>{other}"))


def _refused(page: str) -> bool:
    try:
        return verify(page).verdict == "FAIL"
    except InvalidInput:
        return True


def test_mail_and_editors_may_change_the_ends_of_lines() -> None:
    page = as_page(told("tiny"))
    assert not verify("\ufeff" + page.replace("\n", "\r\n") + "\r\n").failed


def test_another_source_of_the_categories_is_listed_and_the_ledger_notices_it(recorded: Recorded) -> None:
    fresh, ledger = recorded
    made = fresh()
    made["asked"]["categories"] = "the census"
    made["design"]["question"]["other"] = made["design"]["question"]["categories"][0]
    made["design"]["domain"]["other"] = 0
    page = as_page(rehashed(made))
    found = verify(page)
    assert not found.failed
    assert "where the categories came from" in {check.what for check in found.checks if check.outcome == "not checked"}
    wrong = {check.what for check in verify(page, ledger=ledger).failed}
    assert {"design in the ledger", "digest in the ledger"} <= wrong


def test_an_assumption_is_no_theorem() -> None:
    made = told("tiny")
    certificate = made["certificate"]
    certificate["assumption_ids"] = [*certificate["theorem_ids"], *certificate["assumption_ids"]]
    certificate["theorem_ids"] = []
    found = [check.what for check in verify(json.dumps(rehashed(made))).failed]
    assert found == ["the ids of theorem and assumptions"]


@pytest.mark.parametrize("named", [True, False])
def test_what_the_ledger_answered_is_not_called_unchecked(named: bool, recorded: Recorded) -> None:
    fresh, ledger = recorded
    made = fresh()
    if not named:
        made["ledger"] = None
    page, about = as_page(rehashed(made)), "the ledger's total" if named else "the ledger"
    assert [check.outcome for check in verify(page).checks if check.what == about] == ["not checked"]
    found = verify(page, ledger=ledger).checks
    # Whether a ledger's block was removed no ledger can say: that stays unchecked, without advice.
    left = [check.how for check in found if check.what == about]
    assert left == ([] if named else ["a page cannot prove that it names no ledger"])
    answer = "total in the ledger" if named else "design in the ledger"
    assert [check.outcome for check in found if check.what == answer] == ["pass"]


@pytest.mark.parametrize("part, value", [("notes", ["audited"]), ("secure", True), ("asked", "title")])
def test_the_ledger_binds_what_a_page_cannot_prove(part: str, value: Any, recorded: Recorded) -> None:
    fresh, ledger = recorded
    made = fresh()
    assert not verify(as_page(made), ledger=ledger).failed
    if part == "asked":
        made["asked"]["title"] = "Other people"
    else:
        made[part] = not value if part == "secure" else value
    assert not verify(as_page(rehashed(made))).failed
    assert [check.what for check in verify(as_page(made), ledger=ledger).failed] == ["digest in the ledger"]


@pytest.mark.parametrize(
    "change",
    [
        {"total": {"lower": 0.0, "upper": 1e-4}},
        {"total": {"lower": 2.5, "upper": 2.4}},
        {"limit": {"epsilon": 1.0, "delta": 1e-3}},
        {"releases": 0},
        {"releases": 5},
    ],
)
def test_a_ledger_block_that_claims_less_than_this_release_alone_is_false(change: dict[str, Any]) -> None:
    made = facts("tiny") | {"ledger": LEDGER}
    assert not verify(as_page(rehashed(made))).failed
    assert verify(as_page(rehashed(made | {"ledger": LEDGER | change}))).verdict == "FAIL"


@pytest.mark.parametrize(
    "protocol",
    [
        lambda: Poll("histogram", categories=["a", "b"], n=40, epsilon0=1.0, delta=1e-3),
        lambda: Poll("histogram", categories=["a", "b", "c"], n=40, epsilon0=1.0, delta=1e-3, rounds=3, honest=30),
        lambda: Poll("histogram", categories=9, n=40, epsilon0=1.0, delta=1e-3, mechanism="hash"),
        lambda: Poll("mean", n=40, k=4, epsilon0=1.0, delta=1e-3, lower=0.0, upper=1.0),
    ],
    ids=["binary", "rounds", "hash", "mean"],
)
def test_all_that_the_accounting_says_is_known_to_the_verification(protocol: Callable[[], Any]) -> None:
    made, known = certificate(Design.of(protocol())), set(SENTENCES.values())
    assert set(made.assumptions) <= known
    assert set(made.method.partition("; ")[0].split(" or ")) <= known


@pytest.mark.parametrize(
    ("task", "change"),
    [
        ("long", lambda made: made["tally"].update(digest="0" * 64)),
        ("mean", lambda made: made["tables"].pop()),
        ("mean", lambda made: made["tables"].pop() and made["asked"].update(outside="clipped to the bounds")),
        ("mean", lambda made: made["tables"].append(made["tables"][0])),
        ("mean", lambda made: made["asked"].update(outside="refused")),
    ],
)
def test_what_protects_a_reader_cannot_be_left_out(task: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Such as how many people's numbers lie at the ends of a clipped range."""
    made = (
        facts("mean")
        if task == "mean"
        else made_by(Poll("histogram", categories=LONG, n=500, epsilon0=3.0, delta=1e-6))
    )
    assert not verify(as_page(made)).failed
    change(made)
    assert [check.what for check in verify(as_page(rehashed(made))).failed] == ["what a page cannot leave out"]


def test_reports_that_came_over_the_network_are_told() -> None:
    page = as_page(rehashed(collected(facts("tiny"))))
    assert not verify(page).failed
    assert "Who saw what" in page


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"arrived": 1}, "valid reports of the collection"),
        ({"invalid": 0}, "valid reports of the collection"),
        ({"round": 2}, "round of the collection"),
        ({"digest": "5E" * 32}, "digest of the collection"),
    ],
)
def test_what_is_said_of_a_collection_must_fit_the_rest(changed: dict[str, Any], what: str) -> None:
    made = collected(facts("tiny"))
    made["counted"]["collected"] |= changed
    assert [check.what for check in verify(as_page(rehashed(made))).failed] == [what]


def test_a_release_over_the_network_cannot_pass_for_one_of_a_table() -> None:
    made = collected(facts("tiny"))
    del made["counted"]["collected"]
    assert [check.what for check in verify(as_page(rehashed(made))).failed] == [
        "the assumptions",
        "the ids of theorem and assumptions",
    ]


def test_a_page_of_local_hashing_says_beside_the_number_what_it_rests_on() -> None:
    page = as_page(facts("hash")).replace("\u00a0", " ")
    only = "if the hash functions are ideal"
    assert page.count(only) == 3
    assert f"at δ = 10⁻⁶, {only}" in page
    assert "the upper end is proven" not in page
    assert "the upper end is proven" in as_page(facts("tiny"))


def test_a_page_says_beside_epsilon0_how_often_a_report_is_true() -> None:
    said = {
        "poll": " report is the true answer with probability 88.6 %",
        "hadamard": "right with probability at most 51.4 %, where all 20 answers seemed equally likely",
        "mean": " report is the true number, rounded, with probability 93.0 %",
    }
    for name, words in said.items():
        assert as_page(rehashed(collected(facts(name)))).replace("\u00a0", " ").count(words) == 2


@pytest.mark.parametrize(
    "old, new",
    [
        ("Algorithm 1 of Balle", "Algorithm 2 of Balle"),
        ("gamma\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.", "gamma\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.9"),
        ("(k-ary", "(unary"),
    ],
)
def test_a_forged_algorithm_fails(old: str, new: str) -> None:
    page = as_page(told("tiny"))
    found = verify(page.replace(old, new, 1))
    assert [check.what for check in found.failed] == ["the page"]
    assert found.verdict == "FAIL"
