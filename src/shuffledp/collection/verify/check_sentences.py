"""The words of a certificate: the sentences that its design implies, in any wording that a version
of shuffledp has used.
"""

from __future__ import annotations

from typing import Any

from shuffledp.collection.page.editions import known
from shuffledp.collection.page.statements import WORDINGS
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.outcomes import Check, holds, unchecked, vital

__all__ = ["check_words"]


def check_words(facts: dict[str, Any], law: CountedLaw) -> list[Check]:
    """Method, assumptions, adversary and adjacency; the words of the user are not checked."""
    certificate, asked, design = facts["certificate"], facts["asked"], facts["design"]
    theorem = [
        "scan" if law.family == "krr" and law.k == 2 else "blanket",
        *(["composed"] if design["rounds"] > 1 else []),
    ]
    premises = ["replace one", "shuffler", "fresh randomness", *(["ideal hash"] if law.family == "hash" else [])]
    premises += [*(["fresh rounds"] if design["rounds"] > 1 else []), "rows", "counts"]
    numerical, bound = (
        certificate["numerical_error"],
        "none, for several rounds" if design["rounds"] > 1 else "from 0 to 0.1",
    )
    return [
        _said(
            "the method",
            certificate["method"],
            "".join(_wordings(theorem, design["rounds"])),
            _is_theorem(certificate["method"], theorem, facts),
            facts,
        ),
        *_assumptions(certificate["assumptions"], premises, facts),
        *(
            _said(f"the {name}", certificate[name], WORDINGS[name][-1], certificate[name] in WORDINGS[name], facts)
            for name in ("adversary", "adjacency")
        ),
        holds(
            "the numerical error",
            numerical,
            bound,
            "that there is one; the oracle has its own",
            (numerical is None) == (design["rounds"] > 1),
        ),
        holds(
            "what is said of the categories",
            _learned(asked),
            _learned(design),
            "the design",
            asked["learned"] == design["learned"],
        ),
        unchecked(
            "whether the categories were learned",
            _learned(design),
            "a report cannot prove it; `verify --ledger` knows the design that was recorded",
        ),
        unchecked(
            "the question", asked.get("title") or asked.get("what") or "", "these are the words of whoever asked"
        ),
        unchecked("the notes", "; ".join(facts["notes"]) or "none", "advice, not a claim"),
        unchecked("when and with what it was made", facts["made"]["when"], "a report cannot prove it"),
    ]


def _learned(facts: dict[str, Any]) -> str:
    return "learned from the data" if facts["learned"] else "declared beforehand"


def _wordings(names: list[str], rounds: int) -> list[str]:
    return [WORDINGS[name][-1].replace("{rounds}", str(rounds)) for name in names]


def _is_theorem(said: str, names: list[str], facts: dict[str, Any]) -> bool:
    """Whether the words are a wording of each part, one after the other."""
    starts = {""}
    for name in names:
        starts = {
            start + words.replace("{rounds}", str(facts["design"]["rounds"]))
            for start in starts
            for words in WORDINGS[name]
        }
    return said in starts


def _assumptions(said: list[str], names: list[str], facts: dict[str, Any]) -> list[Check]:
    """Every premise that is implied, in this order, and no other; the one that differs first is
    shown.
    """
    same = len(said) == len(names) and all(words in WORDINGS[name] for words, name in zip(said, names, strict=True))
    wrong = next(
        (at for at, (words, name) in enumerate(zip(said, names, strict=False)) if words not in WORDINGS[name]),
        min(len(said), len(names)),
    )
    claimed = f"{len(said)} of them" if same else said[wrong] if wrong < len(said) else f"{len(said)} of them"
    wanted = f"{len(names)} of them" if same or wrong >= len(names) else WORDINGS[names[wrong]][-1]
    return [_said("the assumptions", claimed, wanted, same, facts)]


def _said(what: str, claimed: str, found: str, same: bool, facts: dict[str, Any]) -> Check:
    """Unknown words are wrong on a page of an edition that this version knows, and not checked on
    one of a later edition.
    """
    if same or known(facts):
        return holds(what, claimed, found, "what this design implies, in any wording of shuffledp", same)
    return vital(
        unchecked(
            what, claimed, "other words than any that this version of shuffledp knows: use the version that made it"
        )
    )
