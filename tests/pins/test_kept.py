"""Files that were written once: a design, an entry of a ledger, a randomizer from elsewhere, and a
collection whose sealed reports are opened again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import shuffledp as sdp
from shuffledp.client import read_design
from shuffledp.ledger import Entry
from shuffledp.poll import certify
from shuffledp.randomizers import AllOf, CheckIn, OneOf
from shuffledp.survey.collection import read_collection
from shuffledp.survey.opener import open_collection
from shuffledp.testing import check_randomizer
from tests.pins.kept.extension import Hesitant

KEPT = Path(__file__).parent / "kept"


def near(value: float) -> object:
    return pytest.approx(value, rel=1e-12)


def test_a_design_of_a_check_in_is_read_certified_and_written_again() -> None:
    design = read_design(KEPT / "design.json")
    assert design.file_text() == (KEPT / "design.json").read_text(encoding="utf-8")
    assert design.digest == "bb85408379a3c1683fcccaf1fe3bc1f3aced8db10925960f9d76f4da9a4bd5f3"
    bound = certify(design).poll.guarantee.epsilon(delta=1e-6)
    assert (bound.lower, bound.upper) == (near(0.13342383539221964), near(0.13352846663050078))


def test_an_entry_with_every_wrapper_is_read_added_up_and_written_again() -> None:
    facts = json.loads((KEPT / "entry.json").read_text(encoding="utf-8"))
    entry = Entry.from_json(facts)
    assert entry.as_json() == facts
    assert [part["law"]["type"] for part in facts["parts"]] == ["check-in", "one of", "all of"]
    bound = entry.guarantee.epsilon(delta=1e-6)
    assert (bound.lower, bound.upper) == (near(0.13342383539221964), near(0.2050022077601748))


@pytest.mark.parametrize(
    ("law", "lower", "upper"),
    [
        (Hesitant(), 0.0787470715388577, 0.07879497403711326),
        (CheckIn(Hesitant(), probability=0.4), 0.047311793610035534, 0.04734048582862903),
        (OneOf([Hesitant(), sdp.RR(epsilon0=1.0)]), 0.08252018241396743, 0.08256951017546722),
        (AllOf([Hesitant(), sdp.RR(epsilon0=0.5)]), 0.09846819788596806, 0.09854181264766658),
    ],
    ids=["alone", "check-in", "one of", "all of"],
)
def test_a_randomizer_from_elsewhere_keeps_its_ends(law: sdp.Randomizer, lower: float, upper: float) -> None:
    bound = sdp.shuffle(law, n=2000).epsilon(delta=1e-6)
    assert (bound.lower, bound.upper) == (near(lower), near(upper))


def test_the_checks_for_randomizers_of_ones_own_accept_it() -> None:
    check_randomizer(Hesitant(), draws=2000)


def test_sealed_reports_are_opened_to_the_same_tally(tmp_path: Path) -> None:
    shutil.copytree(KEPT / "study", tmp_path / "study")
    (tmp_path / "study" / "analyst.key").chmod(0o600)  # which git does not keep
    path = tmp_path / "study" / "collection.json"
    assert read_collection(path).content == path.read_bytes()
    facts = open_collection(tmp_path / "study", KEPT / "sealed.bin").facts
    assert (facts["tally"]["reports"], facts["tally"]["votes"]) == (150, [89, 61])
    collected = facts["counted"]["collected"]
    assert (collected["arrived"], collected["invalid"]) == (152, 2)
    opened = (KEPT / "study" / "opened.json").read_bytes()
    assert (tmp_path / "study" / "opened.json").read_bytes() == opened
