"""Around the release: what other trust would cost, what is left of the budget, and how to check
everything again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from shuffledp.page import phrases
from shuffledp.page.charts import Bar, bars
from shuffledp.page.markup import Markup, element, join, label
from shuffledp.page.numerals import count, exact, fixed, many, predicted, scientific, tied, times
from shuffledp.page.parts import details, facts_list, figure, section
from shuffledp.record import Record
from shuffledp.wording import one_answer

__all__ = ["budget", "checking", "trust"]

TRUST = {
    "nobody": "Nobody: no shuffler",
    "shuffler": "A shuffler: this release",
    "curator": "A curator with all the data",
}
ALIKE = 1.05
LISTED = 40  # categories in the design that is shown


def trust(record: Record) -> Markup | None:
    """The same promise under three kinds of trust; a search has nothing to be compared with."""
    if not record.comparison:
        return None
    errors = {row.trust: row.stderr for row in record.comparison}
    known = {row.trust: row.mechanism for row in record.comparison}
    unit = " people" if record.design.people else ""
    rows = [
        Bar(
            words,
            f"{predicted(errors[kind])}{unit}",
            errors[kind],
            class_="bar" if kind == "shuffler" else "bar other",
        )
        for kind, words in TRUST.items()
        if kind in errors
    ]
    title = "Predicted standard errors: " + "; ".join(f"{row.label}, {row.words}" for row in rows) + "."
    return section(
        "trust",
        phrases.TRUST_TITLE,
        element("p", _sentence(errors, known)),
        figure(
            bars(title, rows),
            f"Predicted standard error of {one_answer(record.design.task)}, under the same promise of privacy. Shorter "
            f"is better. Compared with the best mechanism that shuffledp knows for each: without a shuffler, "
            f"{known['nobody']}; by a curator, {known['curator']}.",
        ),
        keep=True,
    )


def _sentence(errors: Mapping[str, float], known: Mapping[str, str]) -> str:
    """How this release compares, with no claim where it does not win."""
    nobody, ours, curator = (errors[kind] for kind in TRUST)
    gain, alone = phrases.NO_GAIN, known["nobody"]
    if ours > ALIKE * nobody:
        gain = f"With the shuffler the error is {times(ours / nobody)} times as large as that of {alone} without one."
    if nobody > ALIKE * ours:
        smaller = times(nobody / ours)
        gain = f"With the shuffler the error is {smaller} times smaller than if nobody were trusted ({alone})."
    larger = "about" if ours > curator else "no larger than"
    if ours > ALIKE * curator:
        larger = phrases.VERSUS_CURATOR.format(ratio=times(ours / curator))
    return f"{gain} It is {larger} that of a curator ({known['curator']}), who would see every value."


def budget(record: Record) -> Markup | None:
    """What all releases about these people have spent together."""
    ledger = record.ledger
    if ledger is None:
        return None
    limit, total = ledger.limit, ledger.total
    spent = tied(f"ε ≤ {scientific(total.upper, up=True)} of {exact(limit.epsilon)}")
    share = fixed(100.0 * total.upper / limit.epsilon, 1, up=True)
    words = [
        "This is release ",
        element("code", str(ledger.id)),
        " in the ledger",
        f". After it, {many(ledger.releases, 'release')} about the population ",
        label(ledger.population),
        tied(phrases.BUDGET.format(spent=spent, delta=exact(limit.delta), share=share)),
        [phrases.SEAL, element("code", ledger.record), "."] if ledger.record else None,
    ]
    drawn = bars(f"Spent: {spent}.", [Bar("Spent by all releases together", spent, total.upper)], most=limit.epsilon)
    return section("budget", "The budget", element("p", words), figure(drawn), keep=True)


def checking(record: Record) -> Markup:
    """How anybody can check this page."""
    notes = [element("li", label(note)) for note in record.notes]
    versions = [
        element("span", f"{name} {words}", class_="whole")
        for name, words in record.made.as_json().items()
        if name != "when"
    ]
    return section(
        "verify",
        "Check it yourself",
        element("p", phrases.RECOMPUTE),
        element("pre", element("code", phrases.VERIFY_LINE), class_="command"),
        element("p", phrases.VERIFY_SAYS),
        [element("h3", "Notes"), element("ul", notes)] if notes else None,
        element("h3", "Made with"),
        element("p", join(versions, ", "), class_="versions"),
        details(
            "Hashes (SHA-256)",
            facts_list(
                ((name, element("code", digest)) for name, digest in record.hashes.as_json().items()),
                class_="facts hashes",
            ),
        ),
        details("The design, as every device has it", element("pre", element("code", _design(record)))),
    )


def _design(record: Record) -> str:
    shown = record.design.as_json()
    for key in ("categories", "domain", "cuts"):
        if isinstance(shown.get(key), list) and len(shown[key]) > LISTED:
            shown[key] = [
                *shown[key][:LISTED],
                phrases.CUT_DESIGN.format(number=count(len(shown[key]) - LISTED)),
            ]
    return json.dumps(shown, indent=1, ensure_ascii=False)
