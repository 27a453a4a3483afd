"""What was asked, who answered, and the answer at a glance: the head of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shuffledp.collection.page.answers import accuracy, together
from shuffledp.collection.page.clipping import CLIPPED, NOT_THE_MEAN, clipped, clipping
from shuffledp.collection.page.editions import since
from shuffledp.collection.page.markup import Markup, element, join, label
from shuffledp.collection.page.parts import facts_list, gloss
from shuffledp.collection.page.words import (
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

__all__ = ["head", "name_of"]

KINDS = {
    "histogram": "{}: how many people hold each value",
    "frequency": "{}: how many people hold each value",
    "mean": "{}: the mean",
}
SMALLEST = 1e-13  # deltas below are not said as 1 in so many


def name_of(facts: Mapping[str, Any]) -> str:
    """The title of a report: what the user called it, or what it is."""
    asked = facts["asked"]
    if asked.get("title"):
        return str(asked["title"])
    if asked.get("column"):
        return f"{asked['column']}: the {CLIPPED}" if clipped(facts) else KINDS[asked["task"]].format(asked["column"])
    return sentence(asked.get("what") or f"{asked['task']} of one column").removesuffix(".")


def _banners(facts: Mapping[str, Any]) -> list[Markup]:
    """What nobody must overlook."""
    certified, found = facts["certificate"], []
    if not facts["secure"]:
        found.append(
            (
                "Not for release.",
                "The noise was drawn from a seeded generator: whoever knows the seed knows the noise, and the "
                "certificate below does not hold. "
                "Run it again without a seed.",
            )
        )
    if clipped(facts):
        found.append((NOT_THE_MEAN, clipping(facts)))
    if facts["asked"].get("learned"):
        found.append(
            (
                "The categories were learned from the private data.",
                "That a value appears in this list at all may reveal the one person who holds it. The certificate does "
                "not cover this. "
                "Declare the categories beforehand instead.",
            )
        )
    if certified["users"] > 1 and certified["epsilon"]["delta"] * certified["users"] >= 1.0:
        found.append(
            (
                f"δ = {exact(certified['epsilon']['delta'])} is not below 1 in {count(certified['users'])}.",
                "Such a δ would permit to publish the value of one person outright. Choose a smaller one.",
            )
        )
    return [element("p", element("strong", title), " ", words, class_="banner", role="note") for title, words in found]


def head(facts: Mapping[str, Any]) -> Markup:
    """What was asked, who answered, and the answer at a glance."""
    certified, reports = facts["certificate"]["epsilon"], facts["counted"]["reports"]
    epsilon, delta = certified["upper"], certified["delta"]
    found = facts["estimates"]
    unit = "" if found["unit"] == "mean" else "people, "
    each = "each " if len(found["label"]) > 1 else ""
    each = "all at once, " if together(found) else each
    return element(
        "header",
        element("p", "Differentially private release", class_="kicker"),
        element("h1", label(name_of(facts))),
        element("p", moment(facts["made"]["when"]), class_="when"),
        _banners(facts),
        element(
            "div",
            _tile(
                "Privacy",
                join([element("i", "ε"), f" ≤ {scientific(epsilon, up=True)}"]),
                f"{'certified' if facts['secure'] else 'not for release'}, at δ = {exact(delta)}",
            ),
            _tile("Accuracy", f"± {accuracy(found)}", f"{unit}{each}{level(found)} sure"),
            _tile("Crowd", count(reports), "reports, shuffled"),
            class_="tiles",
        ),
        element("p", tied(meaning(epsilon, delta)), class_="meaning"),
        _gloss(facts),
        facts_list(_question(facts)),
    )


def _tile(term: str, value: object, words: str) -> Markup:
    return element(
        "div",
        element("p", term, class_="term"),
        element("p", value, class_="big"),
        element("p", tied(words), class_="under"),
        class_="tile",
    )


def _gloss(facts: Mapping[str, Any]) -> Markup:
    delta = facts["certificate"]["epsilon"]["delta"]
    odds = f" (1\u00a0in\u00a0{fixed(1.0 / delta, 0)})" if delta > SMALLEST else ""
    return gloss(
        "ε (epsilon) measures how much anybody can learn about one person: 0 is nothing at all, and smaller is more "
        "private. ",
        f"δ (delta) is, roughly, the probability with which that limit may fail: {exact(delta)}{odds}. ",
        "Every value was randomised by itself, and the randomised reports were shuffled: who sees them cannot tell "
        "whose is whose.",
    )


def _question(facts: Mapping[str, Any]) -> list[tuple[str, object]]:
    asked, counted, design = facts["asked"], facts["counted"], facts["design"]
    rows: list[tuple[str, object]] = []
    for term, key in (("Column", "column"), ("Source", "source")):
        if asked.get(key):
            rows.append((term, label(asked[key])))
    if asked["task"] == "mean":
        rows.append(("Range", f"{exact(design['lower'])} to {exact(design['upper'])}, declared beforehand"))
    elif asked.get("categories"):
        how = (
            ["learned from the data"] if asked.get("learned") else ["declared beforehand: ", label(asked["categories"])]
        )
        rows.append(("Values", join([many(facts["estimates"]["of"], "value"), ", ", how])))
    rows.append(("Answered", f"{many(counted['reports'], 'person', 'people')}" + _rounds(facts)))
    if "repeated" in counted:
        rows.append(("One row each", f"{many(counted['repeated'], 'other row')} of the same people left out"))
    rows += _missing(facts)
    if asked.get("cleaned"):
        rows.append(("Cleaned", label(asked["cleaned"])))
    if asked.get("outside"):
        rows.append(("Values outside", label(asked["outside"])))
    return rows


def _missing(facts: Mapping[str, Any]) -> list[tuple[str, object]]:
    """How many rows without a value were left out; where they are a category of their own, how many
    is as private as any count.
    """
    missing, how = facts["counted"].get("missing"), facts["asked"].get("missing")
    if since(facts, 2) and how and how.startswith("counted as "):
        return [("Missing values", join([label(how), ": how many they are is among the estimates"]))]
    if missing is None:
        return []
    return [("Missing", join([many(missing, "value"), ", ", label(how)] if how else [count(missing)]))]


def _rounds(facts: Mapping[str, Any]) -> str:
    rounds = facts["certificate"]["rounds"]
    return "" if rounds == 1 else f", in one of {count(rounds)} rounds that the certificate covers together"
