"""What was asked, who answered, and the answer at a glance: the head of a page."""

from __future__ import annotations

from shuffledp.page import phrases
from shuffledp.page.clipping import clipping, not_the_values
from shuffledp.page.markup import Markup, element, join, label
from shuffledp.page.numerals import count, exact, fixed, many, meaning, moment, scientific, sentence, tied
from shuffledp.page.parts import facts_list, gloss
from shuffledp.page.shown_by_task import shown_by
from shuffledp.record import Record
from shuffledp.wording import reserved

__all__ = ["head", "name_of"]

AMONG_FAKES = ("fakes", "dummies", "tree")
SHARED = ("signed", "split")
SMALLEST = 1e-13  # deltas below are not said as 1 in so many


def name_of(record: Record) -> str:
    """The title of a page: what the user called it, or what it is."""
    asked = record.asked
    if asked.title:
        return asked.title
    if asked.column:
        return f"{asked.column}: {shown_by(record).kind(record)}"
    return sentence(asked.what or f"{asked.task} of one column").removesuffix(".")


def _banners(record: Record) -> list[Markup]:
    """What nobody must overlook."""
    certified, found = record.certificate, []
    if not record.secure:
        found.append(
            (
                "Not for release.",
                phrases.SEEDED,
            )
        )
    if record.estimates.clipped:
        found.append((not_the_values(record), clipping(record)))
    if certified.users > 1 and certified.epsilon.delta * certified.users >= 1.0:
        found.append(
            (
                f"δ = {exact(certified.epsilon.delta)} is not below 1 in {count(certified.users)}.",
                phrases.LARGE_DELTA,
            )
        )
    return [element("p", element("strong", title), " ", words, class_="banner", role="note") for title, words in found]


def head(record: Record) -> Markup:
    """What was asked, who answered, and the answer at a glance."""
    epsilon, delta = record.certificate.epsilon.upper, record.certificate.epsilon.delta
    shown, only = shown_by(record), reserved(record.certificate.assumptions)
    return element(
        "header",
        element("p", "Differentially private release", class_="kicker"),
        element("h1", label(name_of(record))),
        element("p", moment(record.made.when), class_="when"),
        _banners(record),
        element(
            "div",
            _tile(
                "Privacy",
                join([element("i", "ε"), f" ≤ {scientific(epsilon, up=True)}"]),
                f"{'certified' if record.secure else 'not for release'}, at δ = {exact(delta)}{only and f', {only}'}",
            ),
            _tile("Accuracy", f"± {shown.accuracy(record)}", shown.confidence(record)),
            _tile("Crowd", count(record.counted.people), shown.crowd(record)),
            class_="tiles",
        ),
        element("p", tied(meaning(epsilon, delta)), class_="meaning"),
        _gloss(record),
        facts_list(_question(record)),
    )


def _tile(term: str, value: object, words: str) -> Markup:
    return element(
        "div",
        element("p", term, class_="term"),
        element("p", value, class_="big"),
        element("p", tied(words), class_="under"),
        class_="tile",
    )


def _gloss(record: Record) -> Markup:
    delta = record.certificate.epsilon.delta
    odds = f" (1\u00a0in\u00a0{fixed(1.0 / delta, 0)})" if delta > SMALLEST else ""
    return gloss(
        phrases.GLOSS_EPSILON,
        phrases.GLOSS_DELTA.format(delta=exact(delta), odds=odds),
        _hidden(record),
    )


def _hidden(record: Record) -> str:
    """What hides a value, and whom that trusts."""
    law = record.design.law
    if law.randomizer in SHARED:
        return phrases.GLOSS_SHARES
    if law.randomizer not in AMONG_FAKES:
        return phrases.GLOSS_REPORTS
    plain = law.epsilon0 is None
    words = {
        "lightly": "" if plain else phrases.LIGHTLY,
        "sealed": phrases.UNREAD if plain else "",
    }
    if law.randomizer == "fakes":
        return phrases.GLOSS_FAKES.format(**words)
    dummies = max(each for each in map(law.parameters.get, ("center", "rate")) if isinstance(each, (int, float)))
    if law.randomizer == "tree":
        levels = count(int(str(law.parameters["levels"])))
        return phrases.GLOSS_TREE.format(levels=levels, dummies=count(round(dummies)), sealed=words["sealed"])
    return phrases.GLOSS_DUMMIES.format(dummies=count(round(dummies)), **words)


def _question(record: Record) -> list[tuple[str, object]]:
    asked, counted, shown = record.asked, record.counted, shown_by(record)
    rows: list[tuple[str, object]] = []
    if asked.series is not None:
        rows.append(("Series", label(asked.series)))
    if asked.column:
        rows.append((shown.column, label(asked.column)))
    if asked.source:
        rows.append(("Source", label(asked.source)))
    rows += shown.declared(record)
    rows.append(("Answered", many(counted.people, "person", "people") + _rounds(record)))
    if counted.repeated is not None:
        rows.append(("One row each", phrases.REPEATED.format(rows=many(counted.repeated, "other row"))))
    rows += _missing(record)
    if asked.cleaned:
        rows.append(("Cleaned", label(asked.cleaned)))
    if asked.outside:
        rows.append(("Values outside", label(asked.outside)))
    return rows


def _missing(record: Record) -> list[tuple[str, object]]:
    """How many rows without a value were left out; where they are a category of their own, how many
    is as private as any count.
    """
    missing, how = record.counted.missing, record.asked.missing
    if how and how.startswith("counted as "):
        return [("Missing values", join([label(how), phrases.MISSING_COUNTED]))]
    if missing is None:
        return []
    return [("Missing", join([many(missing, "value"), ", ", label(how)] if how else [count(missing)]))]


def _rounds(record: Record) -> str:
    rounds = record.certificate.rounds
    return "" if rounds == 1 else f", in one of {count(rounds)} rounds that the certificate covers together"
