"""docs/choosing-a-bound.md: what the literature says in a dozen situations, next to the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass

import shuffledp as sdp
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.cli.published import side_in_words
from shuffledp.literature.bounds import LITERATURE
from shuffledp.literature.comparison import CERTIFIED, Compared, Comparison
from shuffledp.wording import rounded

__all__ = ["page"]

HERE = {bound.name for bound in LITERATURE if bound.paper == "this package"}


@dataclass(frozen=True, slots=True)
class Situation:
    """A question, and what to say next to the numbers."""

    question: str
    code: str
    advice: str
    delta: float = 1e-6

    @property
    def mechanism(self) -> Guarantee:
        """What the code, which is shown to the reader, makes."""
        made = eval(self.code, {"sdp": sdp})
        assert isinstance(made, Guarantee)
        return made


SITUATIONS = (
    Situation(
        "One question with a few dozen answers",
        "sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000)",
        "Name the randomizer. This one is more private than the worst randomizer with its epsilon0, and a bound that "
        "does not know it pays for that.",
    ),
    Situation(
        "A yes or no question",
        "sdp.shuffle(sdp.RR(epsilon0=1.0), n=10_000)",
        "The scan over all datasets is nearly exact. Bounds that fix one dataset are not upper bounds.",
    ),
    Situation(
        "A large domain, encoded in bits",
        "sdp.shuffle(sdp.OUE(k=1000, epsilon0=3.0), n=100_000)",
        "The [first-clone swap](theory.md#the-first-clone-swap) knows the encoding itself, and meets the lower end. The "
        "closed forms in the papers know only its epsilon0.",
    ),
    Situation(
        "Numbers between 0 and 1, with Laplace noise",
        "sdp.shuffle(sdp.Laplace(epsilon0=1.0), n=10_000)",
        "The values in between, which other users may hold, are covered cell by cell; that is why the two ends are a "
        "little farther apart here.",
    ),
    Situation(
        "Numbers between 0 and 1, with Gaussian noise",
        "sdp.shuffle(sdp.Gaussian(sigma=2.0), n=10_000)",
        "One report has no pure epsilon0, so most papers say nothing. The answer assumes that 0 and 1 are the hardest "
        "pair (see `explain`).",
    ),
    Situation(
        "A randomizer that has not been analyzed",
        "sdp.shuffle(sdp.AnyLDP(epsilon0=1.0, adaptive=False), n=100_000)",
        "Only epsilon0 is known, and that the randomizer is fixed in advance. That is enough for the [first-clone "
        "swap](theory.md#any-randomizer-that-is-fixed-in-advance).",
    ),
    Situation(
        "A randomizer that is chosen adaptively, in a secret random order",
        "sdp.shuffle(sdp.AnyLDP(epsilon0=4.0), n=100_000)",
        "A secret, uniformly random order of people is drawn first, and the randomizer of each position may depend "
        "on earlier reports: the [any-randomizer theorem](theory.md#any-randomizer-chosen-adaptively-or-not). It does "
        "not hold for users who report in a known order and are shuffled afterwards. If you can write down the table "
        "of probabilities, `sdp.FromMatrix(rows)` does better.",
    ),
    Situation(
        "Reports that are private only up to a delta0",
        "sdp.shuffle(sdp.AnyLDP(epsilon0=2.0, delta0=1e-12), n=100_000)",
        "For any (epsilon0, delta0)-LDP randomizer only the clones argument is known, and delta0 must be far below "
        "delta/n. For reports close to one reference see the [deletion theorem](theory.md#deletion-reports-close-to-a-reference).",
    ),
    Situation(
        "The same users every day for a month",
        "sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000).compose(30)",
        "Compose the rounds as privacy loss distributions. Advanced composition, which knows only (epsilon, delta) of "
        "one round, loses more with every one.",
    ),
    Situation(
        "An analyst who learns which reports are noise (Koskela's weak adversary)",
        'sdp.shuffle(sdp.KRR(k=4, epsilon0=2.0), n=1000, adversary="weak")',
        "The blanket is exact for this adversary.",
    ),
)

INTRODUCTION = """\
# Choosing a bound

In short: describe the mechanism, and ask it.

```python
>>> import shuffledp as sdp
>>> survey = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000)
>>> bound = survey.epsilon(delta=1e-6)
>>> print(f"{bound.lower:.6f} {bound.upper:.6f}")
0.361585 0.361590

```

The best proven theorem for that randomizer and adversary is used, and the lower end says how much any other bound could still gain.
`survey.explain(delta=1e-6)` names the theorem. `sdp.compare(survey, delta=1e-6)` or `shuffledp compare` puts every published bound next to it; with `epsilon=0.5`, or `--epsilon 0.5`, the same for delta.

Use another bound if

- you need a formula for a proof or for the back of an envelope: Feldman et al. 2020, Thm 3.1, holds for every randomizer once n is large enough;
- you feed a Renyi accountant: `survey.rdp(order=...)`, or Feldman's clones pair through Renyi divergences (`feldman-2020-clones-renyi`);
- you feed another accountant of privacy losses: `shuffledp.accounting.interop.to_dp_accounting`;
- you are comparing with a paper: then use the paper's own bound, by its name in `shuffledp papers bounds`.

A bound whose status is *unproven* or *invalid* is never a guarantee, however small it is. The [errata](errata.md) show what is wrong with the
invalid ones; the end of this page says what the unproven ones lack.

![How many times too large each bound is, against the number of users](figures/bounds-by-users.png)

## Which bound for which situation

Computed at delta = 1e-6. "Times" is the ratio to the certified lower end; no true bound can be below 1. Numbers are rounded to the safe side: upper bounds
up, lower bounds down. The three best published bounds and the loosest are shown, of those that are proven and take a moment.
"""


def page() -> str:
    """The page as it should be."""
    return "\n".join([INTRODUCTION, *(_section(each) for each in SITUATIONS), _closing()])


def _section(situation: Situation) -> str:
    table = sdp.compare(situation.mechanism, delta=situation.delta)
    rows = [_row(row) for row in _telling(table)]
    wrong = [row.name for row in table.rows if row.refuted]
    lines = [
        f"### {situation.question}",
        "",
        f"`{situation.code}`",
        "",
        situation.advice,
        "",
        "| bound | epsilon | times | status |",
        "|---|---|---|---|",
        *rows,
        "",
    ]
    if wrong:
        lines += [f"Too small to be true here: {', '.join(f'`{name}`' for name in wrong)}.", ""]
    if table.skipped:
        slow = ", ".join(f"`{left.name}`" for left in table.skipped)
        lines += [f"Left out, as they take long (`shuffledp compare ... --patience inf` has them): {slow}.", ""]
    return "\n".join(lines)


def _telling(table: Comparison) -> list[Compared]:
    """The certified ends, the three best published bounds that are proven, and the loosest."""
    certified = [row for row in table.rows if row.name == CERTIFIED]
    published = [
        row
        for row in table.rows
        if row.side == "upper" and row.name not in HERE and row.name != CERTIFIED and row.status == "proven"
    ]
    chosen = [*certified, *published[:3], *published[3:][-1:]]
    return [row for row in table.rows if row in chosen]


def _row(row: Compared) -> str:
    up = row.side == "upper"
    times = "-" if math.isnan(row.ratio) else rounded(row.ratio, up=up)
    name = (
        row.citation.replace("certified here", f"**certified, {side_in_words(row.side)}**")
        if row.name == CERTIFIED
        else f"`{row.name}`: {row.citation}"
    )
    return f"| {name} | {rounded(row.value, up=up)} | {times} | {', '.join(filter(None, (row.standing, row.rests)))} |"


def _closing() -> str:
    lines = [
        "## Every bound this package knows",
        "",
        "| name | side | status | of | if | source |",
        "|---|---|---|---|---|---|",
    ]
    for bound in LITERATURE:
        lines.append(
            f"| `{bound.name}` | {side_in_words(bound.side)} | {', '.join(filter(None, (bound.status, bound.rests)))} | {bound.covers} | {bound.conditions} | "
            f"{bound.citation} |"
        )
    lines += [
        "",
        "What the unproven ones lack:",
        "",
        *(f"- `{bound.name}`: {bound.remark}." for bound in LITERATURE if bound.status == "unproven"),
    ]
    return "\n".join(lines) + "\n"
