"""What a report says, and that nothing a user wrote can change how it says it."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp import page as pages
from shuffledp.page.charts import curve
from shuffledp.page.svg import element
from shuffledp.record import Record
from tests.page.releases import HOSTILE, facts

VOID = {"meta", "br", "hr"}


class Reading(HTMLParser):
    """What a browser would make of the page: every element with its attributes, and the text
    outside of style and data.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script", "title"}:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).replace("\u00a0", " ").split())


def html(made: dict[str, Any]) -> str:
    return pages.html(Record.from_json(made))


def text_of(made: dict[str, Any]) -> str:
    return Reading(html(made)).text


@pytest.mark.parametrize("name", ["survey", "mean", "rounds", "many", "tiny", "hostile"])
def test_nothing_runs_nothing_is_fetched_and_every_element_is_closed(name: str) -> None:
    page = Reading(html(facts(name)))
    assert page.open == []
    assert [attributes.get("type") for tag, attributes in page.elements if tag == "script"] == ["application/json"]
    assert {tag for tag, _ in page.elements} & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "a",
        "image",
        "use",
    } == set()
    attributes = {name for _, each in page.elements for name in each}
    assert not {name for name in attributes if name.startswith("on") or name in {"src", "href", "style", "action"}}
    policy = next(each["content"] for tag, each in page.elements if each.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert "url(" not in html(facts(name)).partition("</style>")[0]
    assert "@import" not in html(facts(name)).partition("</style>")[0]


def test_hostile_names_are_shown_as_they_are_and_change_nothing_else() -> None:
    made = facts("hostile")
    page = Reading(html(made))
    for label in HOSTILE[:5]:
        assert label in page.text
    tame = facts("hostile")
    tame["tables"][0]["label"] = tame["design"]["question"]["categories"] = ["short"] * 6
    tame["design"]["domain"]["labels"] = ["short"] * 6
    tame["asked"] |= {"column": "c", "source": "s", "categories": "k", "missing": "m", "outside": "o"}
    tame["ledger"] |= {"population": "p", "record": "r"}
    tame["notes"] = ["n"]
    plain = Reading(html(tame))
    # Long labels have a short twin for phones; apart from that, the same elements in the same
    # order.
    assert [tag for tag, _ in page.elements if tag != "text"] == [tag for tag, _ in plain.elements if tag != "text"]


def test_signs_that_reverse_or_hide_text_are_made_visible() -> None:
    assert element("p", "a\u202eb\u2066c\x00d\ud800e") == "<p>a\ufffdb\ufffdc\ufffdd\ufffde</p>"
    assert html(facts("hostile")).encode("utf-8")


def test_it_is_accessible_by_construction() -> None:
    page = Reading(html(facts("survey")))
    tags = [tag for tag, _ in page.elements]
    assert next(each for tag, each in page.elements if tag == "html")["lang"] == "en"
    assert all(tags.count(landmark) == 1 for landmark in ("header", "main", "footer", "h1"))
    parts = [each["id"] for tag, each in page.elements if tag == "details" and "id" in each]
    assert parts == [
        "estimates",
        "protection",
        "influence",
        "certificate",
        "curve",
        "trust",
        "budget",
        "question",
        "verify",
    ]
    assert tags.count("h2") == len(parts)
    assert all("scope" in each for tag, each in page.elements if tag == "th")
    drawings = [place for place, (tag, each) in enumerate(page.elements) if tag == "svg" and each.get("role") == "img"]
    assert len(drawings) == 4
    assert [each["aria-label"] for tag, each in page.elements if tag == "section"] == ["The answer"]
    assert all(page.elements[place + 1][0] == "title" for place in drawings)


def test_the_certificate_says_everything_that_is_signed() -> None:
    made = facts("rounds")
    certified, text = made["certificate"], text_of(made)
    for words in (
        "at least 18,000",
        "20,000 people",
        "reports of all 12 rounds together reveal",
        "ε₀ = 3.8",
        "δ = 10⁻⁶",
        *made["design"]["mechanism"]["integers"],
        certified["method"],
    ):
        assert words in text
    for words in [*certified["assumptions"], certified["adversary"], certified["adjacency"]]:
        assert words[1:].replace("'", "’") in text


@pytest.mark.parametrize("name", ["survey", "mean", "rounds", "many", "tiny"])
def test_every_epsilon_in_words_is_an_upper_bound(name: str) -> None:
    made = facts(name)
    upper = made["certificate"]["epsilon"]["upper"]
    shown = [float(each) for each in re.findall(r"ε ≤ ([0-9.]+)(?! of)", text_of(made).partition("The privacy bud")[0])]
    assert len(shown) == 3  # at a glance, beside the certificate's heading, and at the curve
    assert all(upper <= each <= 1.001 * upper for each in shown)
    low, high = (
        float(each) for each in re.search(r"Bound on ε\s*between ([0-9.]+) and ([0-9.]+),", text_of(made)).groups()
    )  # type: ignore[union-attr]
    assert low <= made["certificate"]["epsilon"]["lower"]
    assert high >= upper


def test_intervals_are_rounded_outwards() -> None:
    made = facts("rounds")
    found = made["tables"][0]
    rows = re.findall(r"<td>([−\d,.]+) to ([−\d,.]+)</td>", html(made))
    ends = [tuple(float(end.replace(",", "").replace("−", "-")) for end in row) for row in rows]
    columns = zip(*(found[name] for name in ("lower", "upper", "all_lower", "all_upper")), strict=True)
    wanted = [pair for each in columns for pair in (each[:2], each[2:])]
    assert len(ends) == len(wanted)
    assert all(low <= lower and upper <= high for (low, high), (lower, upper) in zip(ends, wanted, strict=True))


def test_of_many_values_the_largest_are_shown_and_none_is_missing() -> None:
    made = facts("many")
    page, found = html(made), made["tables"][0]
    first, _, rest = page.partition("<summary>The other 270 answers")
    labels = [re.findall(r'<th scope="row"><bdi>(\d+)<', part) for part in (first, rest.partition("<summary>")[0])]
    assert sorted(map(int, labels[0] + labels[1])) == list(range(300))
    values = dict(zip(found["label"], found["value"], strict=True))
    assert min(values[each] for each in labels[0]) >= max(values[each] for each in labels[1])
    assert "A count below 0 is noise" in Reading(page).text


def test_estimates_that_only_the_csv_has_are_mentioned() -> None:
    made = facts("many")
    made["tables"][0]["of"] = 12_345
    assert "12,045 more, all smaller, are in the CSV file" in text_of(made)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"secure": False}, "Not for release."),
        ({"certificate": {"users": 2000}}, "δ = 0.001 is not below 1 in 2,000."),
    ],
)
def test_what_must_not_be_overlooked_stands_at_the_top(change: dict[str, Any], words: str) -> None:
    made = facts("tiny")
    assert "banner" not in html(made).partition("</style>")[2]
    for key, value in change.items():
        made[key] = made[key] | value if isinstance(value, dict) else value
    assert words in text_of(made).partition("All numbers")[0]


@pytest.mark.parametrize(
    "reported, rounds, words",
    [
        (
            5000,
            1,
            "People 5,000 people Honest people at least 4,000: up to 1,000 may help the analyst, or their reports",
        ),
        (
            4100,
            1,
            "People at most 5,000 people; 4,100 reported Honest people at least 4,000: of the 4,100 who reported, up",
        ),
        (4100, 4, "at least 4,000, and as many in each other round: of the 4,100 who reported, up to 100 may help the"),
        (4000, 4, "of the 4,000 who reported, none may help the analyst"),
    ],
)
def test_those_who_did_not_report_are_not_counted_among_those_who_may_help(
    reported: int, rounds: int, words: str
) -> None:
    """A week of a series may have fewer people than its design allows."""
    made = facts("tiny")
    made["certificate"] |= {"users": 5000, "honest": 4000, "rounds": rounds}
    made["counted"]["reports"] = reported
    assert words in text_of(made)


def test_a_certificate_that_does_not_hold_says_so_on_its_own_sheet() -> None:
    made = facts("tiny")
    sheet = text_of(made).partition("shuffledp computed")[0]
    assert "Do not sign" not in sheet
    assert "not for release" not in sheet
    before = text_of(facts("hostile")).partition("shuffledp computed")[0]
    assert "Do not sign" in before.partition("The certificate to sign")[2]
    assert "not for release, at δ" in before


def test_without_a_promise_or_a_ledger_nothing_is_said_of_them() -> None:
    text = text_of(facts("tiny"))
    assert "Target" not in text
    assert "The privacy budget" not in text
    assert "of 3 together, at δ = 10⁻⁶: 70.8 % of the limit" in text_of(facts("survey"))


def test_a_title_or_a_lost_column_name_makes_the_heading() -> None:
    made = facts("tiny")
    made["asked"]["title"] = "Letters, 2026"
    assert "<title>Letters, 2026 · shuffledp</title>" in html(made)
    made["asked"] = {
        "question": "histogram",
        "what": "histogram of shuffled reports",
        "title": None,
        "source": "shuffled.parquet",
        "column": None,
    }
    made["counted"]["missing"] = None
    text = text_of(made)
    assert "Histogram of shuffled reports" in text
    assert "None" not in text


@pytest.mark.parametrize(
    "upper, lower",
    [
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
        ([1.0, 1e-300, 0.0], [0.3, 0.0, 0.0]),
        ([1e-3, 9e-4, 8e-4], [1e-3, 9e-4, 8e-4]),
    ],
)
@pytest.mark.parametrize("last", [0.0, 1e-9, 5.0, 700.0])
def test_any_curve_can_be_drawn_inside_its_frame(upper: list[float], lower: list[float], last: float) -> None:
    drawn = curve("title", [0.0, last / 2.0, last], lower, upper, promise=(last, 1e-6), alone=last)
    assert "nan" not in drawn
    for path in re.findall(r' d="M([^"]*?)Z?"', drawn):
        points = [tuple(map(float, point.split())) for point in path.split("L")]
        assert all(0.0 <= x <= 1000.0 and 0.0 <= y <= 300.0 for x, y in points)


def test_a_mean_stands_on_its_scale_and_is_enlarged_if_narrow() -> None:
    made = facts("mean")
    text = text_of(made)
    assert "the part around the estimate, enlarged" in text
    made["tables"][0] |= {"value": [100.4], "lower": [60.0], "upper": [140.0]}
    text = text_of(made)
    assert "the part around the estimate, enlarged" not in text
    assert "60 to 140" in text


def test_a_page_names_the_algorithm_of_a_paper_only_where_it_ran() -> None:
    people, promise = ["x", "y"] * 500, {"epsilon": 1.0, "delta": 1e-6}
    one = sdp.histogram(people, categories=["x", "y"], **promise)
    mean = sdp.mean([0.0, 1.0] * 500, lower=0, upper=1, **promise)
    others = [
        sdp.histogram(people, categories=["x", "y"], mechanism="dummies", **promise),
        sdp.mean([0.0, 1.0] * 500, lower=0, upper=1, messages=30, **promise),
        sdp.histogram(people, categories=["x", "y"], mechanism="hadamard", **promise),
    ]
    gamma = int(one.record.design.mechanism.integers[0]) / 2**64
    assert f"Algorithm 1 of Balle et al. 2019 (k-ary randomized response, k = 2, gamma = {gamma:.6g})" in text_of(
        one.record.as_json()
    )
    ours = Poll("mean", n=1000, **promise).randomizer
    said = f"scaled to [0, 1], k = {ours.k - 1}, gamma = {ours.gamma:.6g}), divided by the number of reports"
    assert f"Algorithms 2 and 3 of Balle et al. 2019 (numbers {said}" in text_of(mean.record.as_json())
    assert not any("of Balle et al. 2019 (k" in text_of(each.record.as_json()) for each in others)
    assert not any("Algorithm" in text_of(each.record.as_json()) for each in others)
