"""The words of a certificate: the sentences that its design implies, letter by letter."""

from __future__ import annotations

from collections.abc import Sequence

from shuffledp.judge.laws import CountedLaw
from shuffledp.record import Record
from shuffledp.verify.outcomes import Check, holds, unchecked
from shuffledp.wording import SENTENCES


def check_sentences(record: Record, law: CountedLaw) -> list[Check]:
    """Method, assumptions, adversary and adjacency; the words of the user are not checked."""
    certificate, asked, design = record.certificate, record.asked, record.design
    numerical, several = certificate.numerical_error, design.rounds > 1
    bound = "none, for several rounds" if several else "from 0 to 1"
    how = "that there is one; the oracle has its own"
    return [
        _check_method(record, law),
        _check_assumptions(record, law),
        _check_ids(record, law),
        _check_wording("adversary", certificate.adversary),
        _check_wording("adjacency", certificate.adjacency),
        holds("the numerical error", numerical, bound, how, (numerical is None) == several),
        unchecked(
            "where the categories came from",
            asked.categories or "none",
            "a page cannot show it; `verify --ledger FILE` compares them with the recorded design",
        ),
        unchecked("the question", asked.title or asked.what or "", "these are the words of the person who asked"),
        unchecked("the notes", "; ".join(record.notes) or "none", "a page cannot prove that none was left out"),
        unchecked("when and with what it was made", record.made.when, "a page cannot prove it"),
    ]


def _check_method(record: Record, law: CountedLaw) -> Check:
    """The theorems, and how rounds were composed, one after the other."""
    known = [_method(names, record) for names in _theorems(record, law)]
    said = record.certificate.method
    return _said("the method", said, known[-1], said in known)


def _method(names: Sequence[str], record: Record) -> str:
    """What these theorems are called."""
    composed = [each for each in names if each == "composed"]
    theorems = " or ".join(SENTENCES[each] for each in names if each != "composed")
    return theorems + "".join(SENTENCES[each].replace("{rounds}", str(record.design.rounds)) for each in composed)


def _theorems(record: Record, law: CountedLaw) -> Sequence[list[str]]:
    """What may be behind the upper end."""
    composed = [] if record.design.rounds == 1 else ["composed"]
    return [[*theorems, *composed] for theorems in law.theorems]


def _check_ids(record: Record, law: CountedLaw) -> Check:
    """What theorem and premises are called."""
    certificate = record.certificate
    said = [list(certificate.theorem_ids), list(certificate.assumption_ids)]
    choices = _theorems(record, law)
    choices = [names for names in choices if certificate.method == _method(names, record)] or choices
    known = [[names, list(_premises(record, law))] for names in choices]
    claimed, wanted = ("; ".join(", ".join(ids) or "none" for ids in each) for each in (said, known[-1]))
    return _said("the ids of theorem and assumptions", claimed, wanted, said in known)


def _check_assumptions(record: Record, law: CountedLaw) -> Check:
    """Every premise that is implied, in this order, and no other; the one that differs first is
    shown.
    """
    said, names = record.certificate.assumptions, _premises(record, law)
    pairs = enumerate(zip(said, names, strict=False))
    wrong = next((at for at, (words, name) in pairs if words != SENTENCES[name]), min(len(said), len(names)))
    same = wrong == len(said) == len(names)
    claimed, wanted = f"{len(said)} of them", f"{len(names)} of them"
    if not same and wrong < len(said):
        claimed = said[wrong]
    if not same and wrong < len(names):
        wanted = SENTENCES[names[wrong]]
    return _said("the assumptions", claimed, wanted, same)


def _premises(record: Record, law: CountedLaw) -> Sequence[str]:
    names = ["replace one", *law.premises]
    if record.design.rounds > 1:
        names.append("fresh rounds")
    searched = [] if record.counted.search is None else ["levels"]
    return [*names, "rows" if record.counted.collected is None else "senders", "counts", *searched]


def _check_wording(name: str, said: str) -> Check:
    return _said(f"the {name}", said, SENTENCES[name], said == SENTENCES[name])


def _said(what: str, claimed: str, found: str, same: bool) -> Check:
    return holds(what, claimed, found, "what this design implies, in the words of shuffledp", same)
