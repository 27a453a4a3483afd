"""What tells one curve from another: its label gives colour and marker, its kind the stroke."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.figures.style import DARK
from shuffledp.papers.experiment import Kind, Line

__all__ = ["Look", "looks_of", "style", "symbols"]

# In the manner of Okabe and Ito, dark and lighter in turn, so that neighbors differ in grey too;
# the certified ends have blues of their own.
COLOURS = ("#9c3a0a", "#17926d", "#7a2a78", "#b58600", "#444444", "#d9536f", "#1f6273", "#8a74c9", "#6b4423")
CERTIFIED = (DARK, "#4a8fd6", "#2b6f80", "#7a8fc4", "#27496d", "#6aa0d8")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")
DASHES: dict[
    Kind, tuple[tuple[float, ...], ...]
] = {  # the first is the usual one; families that share their markers take the others
    "outside": ((4, 2.2), (3.2, 2.4), (5, 3.5), (3, 1.4)),  # short: two markers must not be joined by one of them
    "unproven": ((7, 1.8, 1.2, 1.8), (4, 1.5, 1.2, 1.5), (9, 1.8, 1.2, 1.8, 1.2, 1.8)),
    "invalid": ((1, 1.6), (1, 1.2, 1, 2.8), (1, 3.2), (1, 1.2, 1, 1.2, 1, 2.8)),
    "lower": ((4, 2.5),),
}
SCALES = (1.0, 1.45, 0.65, 1.2)  # of widths and markers, likewise
OUR_SCALES = (1.0, 0.7, 1.25, 0.55)  # thick as they are
WIDTHS: dict[Kind, float] = {
    "published": 1.1,
    "outside": 1.1,
    "unproven": 1.1,
    "invalid": 1.5,
    "upper": 2.2,
    "lower": 0.9,
    "law": 1.5,
}
SYMBOLS = {
    "epsilon0": "ε₀",
    "eps0": "ε₀",
    "epsilon": "ε",
    "eps": "ε",
    "delta0": "δ₀",
    "delta": "δ",
    "gamma": "γ",
    "sigma": "σ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "omega": "ω",
}


@dataclass(frozen=True, slots=True)
class Look:
    """Of one label. Labels of one ``family`` share their colour, those with the same ``part`` their
    marker.

    ``variant`` tells families with the same markers apart; ``enclosed`` says that the label has
    both certified ends.
    """

    colour: str
    marker: str
    family: str
    part: str
    variant: int
    enclosed: bool


def looks_of(lines: Sequence[Line]) -> dict[str, Look]:
    """The look of every label."""
    labels = list(dict.fromkeys(line.label for line in lines))
    kinds = {label: {line.kind for line in lines if line.label == label} for label in labels}
    certified = [label for label in labels if kinds[label] & {"upper", "lower"}]
    parts = _parts(labels)
    marks = [part for _, part in parts.values() if part]
    ends = [
        [label for label in certified if kind in kinds[label] and not parts[label][1]] for kind in ("upper", "lower")
    ]
    plain = (
        {label for end in ends for label in end} if all(len(end) <= 1 for end in ends) else set()
    )  # one band needs no markers
    marks += [label for label in labels if not parts[label][1] and label not in plain]
    markers = {name: MARKERS[i % len(MARKERS)] for i, name in enumerate(dict.fromkeys(marks))}
    ours = list(dict.fromkeys(parts[label][0] for label in certified))
    others = [family for family in dict.fromkeys(family for family, _ in parts.values()) if family not in ours]
    colours = {family: CERTIFIED[i % len(CERTIFIED)] for i, family in enumerate(ours)}
    colours |= {family: COLOURS[i % len(COLOURS)] for i, family in enumerate(others)}
    marked = {family for family, part in parts.values() if part}
    variants = {
        family: i for group in (ours, others) for i, family in enumerate(each for each in group if each in marked)
    }
    return {
        label: Look(
            colours[family],
            markers.get(part or label, ""),
            family,
            part,
            variants.get(family, 0),
            {"upper", "lower"} <= kinds[label],
        )
        for label, (family, part) in parts.items()
    }


def _parts(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Family and marked part of every label: a parameter at its end that varies, or, where labels
    form a grid, what stands before the comma.

    >>> _parts(["strong, nc = 1", "strong, nc = 4", "Balle et al., Thm 3.1"])
    {'strong, nc = 1': ('strong', 'nc = 1'), 'strong, nc = 4': ('strong', 'nc = 4'), 'Balle et al.,
    Thm 3.1': ('Balle et al., Thm 3.1', '')}
    >>> _parts(["RR-2, ours", "RR-9, ours", "RR-2", "RR-9"])
    {'RR-2, ours': ('ours', 'RR-2'), 'RR-9, ours': ('ours', 'RR-9'), 'RR-2': ('', 'RR-2'), 'RR-9':
    ('', 'RR-9')}
    """
    split = {label: label.partition(", ")[::2] for label in labels}
    heads, tails = [head for head, _ in split.values()], [tail for _, tail in split.values() if tail]
    grid = {head for head, tail in split.values() if heads.count(head) > 1 and tails.count(tail) > 1}
    ends = {label: re.fullmatch(r"(.+), ((\S+) = \S+)", label) for label in labels}
    names = [end[3] for end in ends.values() if end]
    found = {}
    for label, (head, tail) in split.items():
        end = ends[label]
        varies = end is not None and names.count(end[3]) > 1
        found[label] = (end[1], end[2]) if end and varies else (tail, head) if head in grid else (label, "")
    return found


def style(kind: Kind, look: Look) -> dict[str, Any]:
    """How a line of this kind is drawn."""
    colour, marker = look.colour, look.marker
    scale = (OUR_SCALES if kind in ("upper", "lower") else SCALES)[look.variant % len(SCALES)]
    dashes = DASHES.get(kind)
    found: dict[str, Any] = {
        "color": colour,
        "linewidth": scale * WIDTHS.get(kind, 0.0),
        "linestyle": (0, dashes[look.variant % len(dashes)]) if dashes else "-",
        "marker": marker or None,
        "markersize": 4.2 * math.sqrt(scale),
        "markerfacecolor": "white" if kind in ("outside", "unproven", "invalid", "printed") else colour,
        "markeredgewidth": 0.9,
        "zorder": {"upper": 3.0, "lower": 2.5, "printed": 4.0}.get(kind, 2.8),
    }
    if kind == "printed":
        found |= {"linestyle": "none", "markersize": 6.0, "markeredgewidth": 1.2}
    if kind == "lower":
        found |= {
            "marker": None if look.enclosed else marker or None,
            "alpha": 0.75,
            "markersize": 3.2,
            "markerfacecolor": "white",
        }
    return found


def symbols(text: str) -> str:
    """Greek letters for their names.

    >>> symbols("epsilon0 = 4, delta(epsilon), epsilons")
    'ε₀ = 4, δ(ε), epsilons'
    """
    return re.sub(r"\b(" + "|".join(SYMBOLS) + r")(?=\b|_)", lambda found: SYMBOLS[found[0]], text)
