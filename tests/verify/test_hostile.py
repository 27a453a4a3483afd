"""Files that are meant to stall, to fill the memory or to crash: an answer in one sentence, soon,
and never "pass".
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.record import data_block
from shuffledp.verify import verify
from tests.verify.releases import facts, rehashed

MEMORY, CPU = 3 << 30, 30  # bytes, and seconds
CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
resource.setrlimit(resource.RLIMIT_CPU, ({cpu}, {cpu}))
from shuffledp.cli import main
sys.exit(max(main(["verify", path, "--seconds", "2"]) for path in sys.argv[1:]))
"""


def sized(name: str, *, n: int = 0, rounds: int = 0) -> dict[str, Any]:
    made = facts(name)
    design, certificate = made["design"], made["certificate"]
    if n:
        design["target"] |= {"n": n, "honest": n}
        certificate["users"] = certificate["honest"] = n
        made["counted"]["reports"] = made["tally"]["reports"] = n
        made["tally"]["votes"][0] += n - sum(made["tally"]["votes"])
    if rounds:
        design["target"]["rounds"] = certificate["rounds"] = rounds
    return rehashed(made)


def wide(domain: int, method: str) -> dict[str, Any]:
    made = facts("hadamard" if method == "hadamard" else "oue")
    made["design"]["question"]["categories"] = made["design"]["domain"]["labels"] = domain
    made["design"]["mechanism"]["k"] = made["tables"][0]["of"] = domain
    return rehashed(made)


def grid(points: int) -> dict[str, Any]:
    made = facts("mean")
    made["design"]["mechanism"]["k"], made["design"]["domain"]["steps"] = points, points - 1
    return rehashed(made)


def nearly_true(n: int, noise: int) -> dict[str, Any]:
    """Hardly any noise, or next to nothing else: votes are rare, or would be if there were fewer
    people.
    """
    made = sized("poll", n=n)
    made["design"]["mechanism"]["integers"] = [str(noise)]
    return rehashed(made)


@pytest.mark.parametrize("categories", [[2] * 30, [2] * 10**4, [10**9, 10**9], [10**7, 2]], ids=lambda each: len(each))
def test_a_table_that_no_page_could_list_is_refused_before_it_is_spelled_out(categories: list[int]) -> None:
    """As a page, and as a design, which a client reads."""
    made = facts("crosstab")
    columns = [f"column {place}" for place in range(len(categories))]
    made["design"]["question"] |= {"categories": categories, "columns": columns, "other": [None] * len(categories)}
    each = {"type": "labels", "other": None, "missing": None}
    listed = zip(columns, categories, strict=True)
    made["design"]["domain"]["columns"] = [{**each, "name": name, "labels": labels} for name, labels in listed]
    with pytest.raises(InvalidInput, match=r"at most 10000 cells and sums|from 2 to 8 entries in design\.domain"):
        verify(json.dumps(rehashed(made)))
    with pytest.raises(InvalidInput, match=r"at most|from 2 to"):
        Design.from_json(made["design"])


def test_fakes_that_nobody_could_send_are_refused() -> None:
    made = facts("fakes")
    made["design"]["mechanism"]["slots"] = 10**9
    with pytest.raises(InvalidInput, match="must be one that shuffledp runs"):
        verify(json.dumps(rehashed(made)))


@pytest.mark.parametrize(
    "forged",
    [
        {"spans": [10**6]},
        {"delta": 0.0},
        {"share": 1 << 40},
        {"least_holders": 10**6},
        {"found_from": 10**15},
        {"faked_from": 10**15},
    ],
    ids=lambda each: next(iter(each)),
)
def test_numbers_that_no_search_has_are_wrong_at_once(forged: dict[str, object]) -> None:
    made = facts("search")
    made["counted"]["search"] |= forged
    assert "numbers of the search" in {check.what for check in verify(json.dumps(rehashed(made))).failed}


def test_a_search_among_more_people_than_can_be_summed_over_is_answered_all_the_same() -> None:
    made = facts("search")
    made["counted"]["search"] |= {"people": 10**15, "honest": 10**15}
    found = verify(json.dumps(rehashed(made)), seconds=0.0)
    assert "users of the certificate" in {check.what for check in found.failed}


def test_files_that_are_meant_to_stall_are_answered_within_limits(tmp_path: Path) -> None:
    hostile = {
        "users": sized("poll", n=10**15),
        "binary users": sized("binary", n=10**15),
        "rounds": sized("rounds", rounds=10**15),
        "binary rounds": sized("binary rounds", rounds=10**15),
        "both": sized("rounds", n=10**15, rounds=10**15),
        "domain": wide(1 << 26, "hadamard"),
        "unary domain": wide(1 << 26, "oue"),
        "grid": grid(1 << 26),
        "no noise": nearly_true(10**15, 1),
        "some noise": nearly_true(10**15, 1 << 24),
    }
    paths = []
    for name, made in hostile.items():
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(made), encoding="utf-8")
    code = CHILD.format(memory=MEMORY, cpu=CPU)
    done = subprocess.run([sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2, 3), done.stderr[-500:]
    said = done.stdout + done.stderr
    assert "pass:" not in said
    assert said.count("FAIL:") + said.count("incomplete:") + said.count("must") >= len(hostile)


def answered(text: str) -> str:
    said = ""
    try:
        return verify(text, seconds=0.0).verdict
    except InvalidInput as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 700
    return "refused"


NUMBERS = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e400",
    "-1e400",
    "1" + "0" * 400,
    "1" * 5000,
    "-1",
    "0",
    "null",
    "true",
    '"x"',
    "[]",
    "{}",
    "1e-400",
    "0.5",
]
PLACES = [
    *(("design", each) for each in ("format", "version", "question", "domain", "mechanism", "target")),
    *(("design", "question", each) for each in ("type", "categories", "other")),
    *(("design", "domain", each) for each in ("type", "labels", "other", "missing")),
    *(("design", "mechanism", each) for each in ("type", "k", "epsilon0", "integers")),
    *(("design", "target", each) for each in ("n", "honest", "rounds", "epsilon", "delta")),
    *(
        ("certificate", each)
        for each in ("users", "honest", "rounds", "alone", "numerical_error", "delta", "curve", "assumptions")
    ),
    *(("certificate", "epsilon", each) for each in ("delta", "lower", "upper")),
    *(("counted", each) for each in ("reports", "missing")),
    *(("tables", 0, each) for each in ("of", "level", "value", "label")),
    *(("tally", each) for each in ("votes", "reports", "blocks")),
    ("comparison",),
    ("version",),
    ("ledger",),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_a_number_of_any_kind_in_any_place_gets_an_answer(place: tuple[Any, ...]) -> None:
    for number in NUMBERS:
        made = facts("tiny")
        inner = made
        for name in place[:-1]:
            inner = inner[name]
        before = json.dumps(inner.get(place[-1]))
        inner[place[-1]] = "HERE"
        if before != number:
            assert answered(json.dumps(rehashed(made)).replace('"HERE"', number)) != "pass"


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        '{"a":' * 50_000,
        "[" * 1_000_000,
        '{"format": "shuffledp-release", "version": 1, "format": "shuffledp-release"}',
        '{"format": "' + "x" * 100_000 + '"}',
        "<html>" * 100_000,
        "<script" * 100_000,
        '<script id="shuffledp-facts">' * 20_000,
        "<" * 200_000,
        '<script id="shuffledp-facts">{}</script>' * 2 + "</html>",
    ],
    ids=range(10),
)
def test_what_is_large_deep_or_broken_is_refused_at_once(text: str) -> None:
    refused_at_once(text)


def test_large_facts_of_another_kind_are_refused_at_once() -> None:
    refused_at_once(data_block({"a": ["x" * 100] * 1000}) + "</html>")


def refused_at_once(text: str) -> None:
    began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    assert answered(text) == "refused"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - began < 5.0  # of computing, not of waiting


def test_without_time_a_report_is_incomplete_and_says_so() -> None:
    found = verify(json.dumps(facts("poll")), seconds=0.0)
    assert found.verdict == "incomplete"
    assert not found.failed
    with pytest.raises(InvalidInput, match="seconds"):
        verify(json.dumps(facts("tiny")), seconds=-1.0)
