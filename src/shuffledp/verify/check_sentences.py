"""The words of a certificate: the sentences that its design implies, letter by letter."""

from __future__ import annotations

from collections.abc import Sequence

from shuffledp.judge.laws import CountedLaw
from shuffledp.record import Record
from shuffledp.verify.outcomes import Check, holds, parting, unchecked
from shuffledp.wording import SENTENCES


def check_sentences(record: Record, law: CountedLaw) -> list[Check]:
    """Method, assumptions, adversary and adjacency; the words of the user are not checked."""
    certificate, asked, several = record.certificate, record.asked, record.design.rounds > 1
    premises, theorems = _premises(record, law), [[*each, *["composed"] * several] for each in law.theorems]
    methods = [_method(names, record.design.rounds) for names in theorems]
    said = certificate.method
    named = [names for names, method in zip(theorems, methods, strict=True) if method == said] or theorems
    ids, known = (certificate.theorem_ids, certificate.assumption_ids), [(each, premises) for each in named]
    told, due = ("; ".join(", ".join(names) or "none" for names in each) for each in (ids, known[-1]))
    numerical, bound = certificate.numerical_error, "none, for several rounds" if several else "from 0 to 1"
    left = {
        "where the categories came from": (
            asked.categories or "none",
            "a page cannot show it; `verify --ledger FILE` compares them with the recorded design",
        ),
        "the question": (asked.title or asked.what or "", "these are the words of the person who asked"),
        "the notes": ("; ".join(record.notes) or "none", "a page cannot prove that none was left out"),
        "when and with what it was made": (record.made.when, "a page cannot prove it"),
    }
    return [
        _said("the method", said, methods[-1], said in methods),
        _check_assumptions(certificate.assumptions, premises),
        _said("the ids of theorem and assumptions", told, due, tuple(map(list, ids)) in known),
        *(
            _said(f"the {name}", words, SENTENCES[name], words == SENTENCES[name])
            for name, words in (("adversary", certificate.adversary), ("adjacency", certificate.adjacency))
        ),
        holds(
            "the numerical error",
            numerical,
            bound,
            "that there is one; the oracle has its own",
            (numerical is None) == several,
        ),
        *(unchecked(what, claimed, why) for what, (claimed, why) in left.items()),
    ]


def _method(names: Sequence[str], rounds: int) -> str:
    """What these theorems are called, and how rounds were composed."""
    composed = "".join(SENTENCES[each].replace("{rounds}", str(rounds)) for each in names if each == "composed")
    return " or ".join(SENTENCES[each] for each in names if each != "composed") + composed


def _check_assumptions(said: Sequence[str], names: Sequence[str]) -> Check:
    """Every premise that is implied, in this order, and no other; the one that differs first is
    shown.
    """
    due = [SENTENCES[name] for name in names]
    wrong = parting(said, due)
    claimed, wanted = (
        each[wrong] if [*said] != due and wrong < len(each) else f"{len(each)} of them" for each in (said, due)
    )
    return _said("the assumptions", claimed, wanted, [*said] == due)


def _premises(record: Record, law: CountedLaw) -> list[str]:
    collected = "rows" if record.counted.collected is None else "senders"
    names = ["replace one", *law.premises, *["fresh rounds"] * (record.design.rounds > 1), collected, "counts"]
    return names if record.counted.search is None else [*names, "levels"]


def _said(what: str, claimed: str, found: str, same: bool) -> Check:
    return holds(what, claimed, found, "what this design implies, in the words of shuffledp", same)
