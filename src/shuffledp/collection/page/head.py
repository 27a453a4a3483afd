"""What was asked, who answered, and the answer at a glance: the head of a page."""

from __future__ import annotations

from shuffledp.collection.page import phrases
from shuffledp.collection.page.answers import accuracy, margins_together, together
from shuffledp.collection.page.clipping import clipping, not_the_values
from shuffledp.collection.page.markup import Markup, element, join, label
from shuffledp.collection.page.numerals import (
    count,
    exact,
    fixed,
    level,
    many,
    meaning,
    moment,
    scientific,
    sentence,
    tied,
)
from shuffledp.collection.page.parts import facts_list, gloss
from shuffledp.collection.record import Record

__all__ = ["head", "name_of"]

AMONG_FAKES = ("fakes", "dummies", "tree")
SMALLEST = 1e-13  # deltas below are not said as 1 in so many


def name_of(record: Record) -> str:
    """The title of a page: what the user called it, or what it is."""
    asked = record.asked
    if asked.title:
        return asked.title
    if asked.column:
        return f"{asked.column}: {_kind(record)}"
    return sentence(asked.what or f"{asked.task} of one column").removesuffix(".")


def _kind(record: Record) -> str:
    if record.counted.search is not None:
        return "the most frequent words"
    if record.design.columns is not None:
        return "how many people hold each combination"
    if record.design.value is not None:
        return f"how many people hold {record.design.value}"
    if record.design.counts:
        return "how many people hold each value"
    if record.design.distributes:
        return "how many people are below each cut point"
    return f"the {record.estimates.label[0]}" if record.estimates.clipped else f"the {record.design.task}"


def _banners(record: Record) -> list[Markup]:
    """What nobody must overlook."""
    certified, found = record.certificate, []
    if not record.secure:
        found.append(
            (
                "Not for release.",
                phrases.SEEDED(record),
            )
        )
    if record.estimates.clipped:
        found.append((not_the_values(record), clipping(record)))
    if record.asked.learned:
        found.append(
            (
                "The categories were learned from the private data.",
                phrases.LEARNED(record),
            )
        )
    if certified.users > 1 and certified.epsilon.delta * certified.users >= 1.0:
        found.append(
            (
                f"δ = {exact(certified.epsilon.delta)} is not below 1 in {count(certified.users)}.",
                phrases.LARGE_DELTA(record),
            )
        )
    return [element("p", element("strong", title), " ", words, class_="banner", role="note") for title, words in found]


def head(record: Record) -> Markup:
    """What was asked, who answered, and the answer at a glance."""
    epsilon, delta = record.certificate.epsilon.upper, record.certificate.epsilon.delta
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
                f"{'certified' if record.secure else 'not for release'}, at δ = {exact(delta)}",
            ),
            _tile("Accuracy", f"± {_accuracy(record)}", _confidence(record)),
            _tile("Crowd", count(record.counted.people), _crowd(record)),
            class_="tiles",
        ),
        element("p", tied(meaning(epsilon, delta)), class_="meaning"),
        _gloss(record),
        facts_list(_question(record)),
    )


def _crowd(record: Record) -> str:
    """What the people sent."""
    search = record.counted.search
    return "reports, shuffled" if search is None else f"people, one report each, at {len(search.levels)} levels"


def _accuracy(record: Record) -> str:
    """How far the worst estimate is from its true value at most; words are chosen for being
    frequent, so of those all at once.
    """
    if record.counted.search is None:
        return accuracy(record.estimates)
    return fixed(max(margins_together(record.estimates), default=0.0), 0, up=True)


def _confidence(record: Record) -> str:
    """How sure the accuracy is, and of what."""
    found, sure = record.estimates, level(record.estimates.level)
    if not record.design.people:
        return phrases.LEVEL_MEAN(record, level=sure)
    if together(found) or record.counted.search is not None:
        return phrases.LEVEL_TOGETHER(record, level=sure)
    return phrases.LEVEL_EACH(record, level=sure, each="each " if len(found.label) > 1 else "")


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
        phrases.GLOSS_EPSILON(record),
        phrases.GLOSS_DELTA(record, delta=exact(delta), odds=odds),
        _hidden(record),
    )


def _hidden(record: Record) -> str:
    """What hides a value, and whom that trusts."""
    law = record.design.law
    if law.randomizer not in AMONG_FAKES:
        return phrases.GLOSS_REPORTS(record)
    plain = law.epsilon0 is None
    words = {
        "lightly": "" if plain else phrases.LIGHTLY(record),
        "sealed": phrases.UNREAD(record) if plain else "",
    }
    if law.randomizer == "fakes":
        return phrases.GLOSS_FAKES(record, **words)
    dummies = max(each for each in map(law.parameters.get, ("center", "rate")) if isinstance(each, (int, float)))
    if law.randomizer == "tree":
        levels = count(int(str(law.parameters["levels"])))
        return phrases.GLOSS_TREE(record, levels=levels, dummies=count(round(dummies)), sealed=words["sealed"])
    return phrases.GLOSS_DUMMIES(record, dummies=count(round(dummies)), **words)


def _question(record: Record) -> list[tuple[str, object]]:
    asked, counted = record.asked, record.counted
    rows: list[tuple[str, object]] = []
    if asked.series is not None:
        rows.append(("Series", label(asked.series)))
    if asked.column:
        rows.append(("Column" if record.design.columns is None else "Columns", label(asked.column)))
    if asked.source:
        rows.append(("Source", label(asked.source)))
    if not record.design.counts:
        lower, upper = record.design.bounds
        bins = f", in {count(record.estimates.of + 1)} bins" if record.design.distributes else ""
        rows.append(("Range", f"{exact(lower)} to {exact(upper)}{bins}, declared beforehand"))
    elif asked.categories:
        how = ["learned from the data"] if asked.learned else ["declared beforehand: ", label(asked.categories)]
        rows.append(("Values", join([_values(record), ", ", how])))
    rows.append(("Answered", many(counted.people, "person", "people") + _rounds(record)))
    if counted.repeated is not None:
        rows.append(("One row each", phrases.REPEATED(record, rows=many(counted.repeated, "other row"))))
    rows += _missing(record)
    if asked.cleaned:
        rows.append(("Cleaned", label(asked.cleaned)))
    if asked.outside:
        rows.append(("Values outside", label(asked.outside)))
    return rows


def _values(record: Record) -> str:
    """How many values there are to tell apart."""
    if record.design.columns is None:
        return many(record.estimates.of, "value")
    sizes = " × ".join(count(len(each)) for each in record.design.crossed)
    return f"{sizes} categories, {many(record.design.values, 'cell')}"


def _missing(record: Record) -> list[tuple[str, object]]:
    """How many rows without a value were left out; where they are a category of their own, how many
    is as private as any count.
    """
    missing, how = record.counted.missing, record.asked.missing
    if record.since(2) and how and how.startswith("counted as "):
        return [("Missing values", join([label(how), phrases.MISSING_COUNTED(record)]))]
    if missing is None:
        return []
    return [("Missing", join([many(missing, "value"), ", ", label(how)] if how else [count(missing)]))]


def _rounds(record: Record) -> str:
    rounds = record.certificate.rounds
    return "" if rounds == 1 else f", in one of {count(rounds)} rounds that the certificate covers together"
