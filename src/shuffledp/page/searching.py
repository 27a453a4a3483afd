"""The words that a search found, drawn with error bars and in numbers, and the levels at which they
were looked for.
"""

from __future__ import annotations

from shuffledp.page import phrases
from shuffledp.page.charts import Bar, bars
from shuffledp.page.margins import margins_together
from shuffledp.page.markup import Markup, element, join, label
from shuffledp.page.numerals import count, exact, fixed, level, percent, tied
from shuffledp.page.parts import details, figure, gloss, section
from shuffledp.page.shown_answer import Drawn, ShownPeople
from shuffledp.record import Record, Searched, SearchLevel
from shuffledp.schema import unusual

__all__ = ["ShownWords"]

SHOWN = 30


class ShownWords(ShownPeople):
    """The most frequent words."""

    def kind(self, record: Record) -> str:
        return "the most frequent words"

    def section(self, record: Record) -> Markup:
        search = _search(record)
        levels = phrases.ONE_LEVEL if search.counting_law is None else phrases.OWN_LAW
        said = gloss(levels)
        return section("estimates", "The words", _words(record, search, self.drawn(record)), said, _levels(search))

    def drawn(self, record: Record) -> Drawn:
        found = record.estimates
        margins = margins_together(found)
        rows = [
            Bar(
                found.label[at],
                tied(f"{fixed(found.value[at], 0)} ± {fixed(margins[at], 0, up=True)}"),
                found.value[at],
                found.all_lower[at],
                found.all_upper[at],
            )
            for at in range(min(SHOWN, len(found.label)))
        ]
        said = f"The {len(rows)} most frequent words, the most frequent first." if rows else phrases.FOUND_NONE
        return Drawn(bars("The words as bars.", rows), said)

    def accuracy(self, record: Record) -> str:
        """Of all at once, since words are chosen for being frequent."""
        return fixed(max(margins_together(record.estimates), default=0.0), 0, up=True)

    def confidence(self, record: Record) -> str:
        return phrases.LEVEL_TOGETHER.format(level=level(record.estimates.level))

    def crowd(self, record: Record) -> str:
        return f"people, one report each, at {len(_search(record).levels)} levels"

    def faked(self, record: Record) -> list[str]:
        faked = _search(record).faked_from
        return [] if faked is None else [phrases.FAKED_WORD.format(faked_from=count(faked))]


def _search(record: Record) -> Searched:
    if record.counted.search is None:  # as only a stranger writes it
        raise unusual("counted.search", None)
    return record.counted.search


def _words(record: Record, search: Searched, drawn: Drawn) -> list[Markup | None]:
    found, counting = record.estimates, search.counting
    missed = phrases.MISSED_ANY
    if search.found_from is not None:
        missed = phrases.MISSED_WORDS.format(found_from=count(search.found_from), miss=exact(search.miss))
    if counting is None or not found.label:
        return [element("p", phrases.FOUND_NONE), gloss(missed)]
    counted = len(counting.words) + len(counting.prefixes)
    said = phrases.COUNTED_WORDS.format(
        people=count(search.people), reports=count(counting.reports), level=level(found.level), counted=count(counted)
    )
    listed = phrases.LISTED_WORDS.format(
        sure=exact(1.0 - search.error),
        least=count(search.least_holders),
        people=count(search.people),
        error=exact(search.error),
    )
    longest = record.design.longest or 0
    return [
        figure(drawn.chart, drawn.caption),
        _table(record, search),
        gloss(listed, said, phrases.GOES_ON_WORDS.format(longest=count(longest)), missed),
    ]


def _table(record: Record, search: Searched) -> Markup:
    found = record.estimates
    names = ["Word", "Estimate", "±", f"{level(found.level)} interval for all at once", "Share"]
    body, margins = [], margins_together(found)
    for at, word in enumerate(found.label):
        ends = f"{fixed(found.all_lower[at], 0, up=False)} to {fixed(found.all_upper[at], 0, up=True)}"
        cells = [
            fixed(found.value[at], 0),
            fixed(margins[at], 0, up=True),
            ends,
            percent(found.value[at] / search.people),
        ]
        body.append(element("tr", element("th", label(word), scope="row"), [element("td", cell) for cell in cells]))
    return _wide(names, body, "Words")


def _levels(search: Searched) -> Markup:
    names = ["Level", "People", "Followed", "Votes needed", "Went on", "Fell out"]
    body = [
        element(
            "tr",
            element("th", _named(search, place), scope="row"),
            [
                element("td", cell)
                for cell in (
                    count(each.reports),
                    _followed(each),
                    count(each.threshold),
                    count(len(each.passed)),
                    count(each.fell_out),
                )
            ],
        )
        for place, each in enumerate(search.levels)
    ]
    return details("Level by level", _wide(names, body, "The levels of the search"))


def _named(search: Searched, place: int) -> str:
    each = search.levels[place]
    depth = sum(search.spans[: place + 1])
    return "counting" if each.words else f"{place + 1}: {depth} {'symbol' if depth == 1 else 'symbols'}"


def _followed(each: SearchLevel) -> str:
    return count(len(each.words) + len(each.prefixes))


def _wide(names: list[str], body: list[Markup], title: str) -> Markup:
    head = element("thead", element("tr", [element("th", name, scope="col") for name in names]))
    table = element("table", head, element("tbody", join(body, "\n")))
    return element("div", table, class_="wide", role="region", aria_label=title, tabindex="0")
