"""A question that was written down before there was a table: that of a design."""

from __future__ import annotations

from typing import Any

from shuffledp.design import Design
from shuffledp.domain import Cells, Labels
from shuffledp.errors import Argument
from shuffledp.release.arguments import Bins, Categories
from shuffledp.release.crossed import CrossRequest
from shuffledp.release.request import Request
from shuffledp.tables.readers import Missing, one_name, per_column

__all__ = ["question_about"]


def question_about(
    design: Design,
    *,
    origin: str,
    missing: Missing,
    clip: bool,
    columns: tuple[str, ...] | None = None,
    by: str | None = None,
    **reading: Any,
) -> Request:
    """The question of a design. ``origin`` says where its categories came from, ``missing`` what
    rows without a value count as, ``clip`` whether numbers outside are moved to the nearest bound,
    and ``reading`` how the table is read. A crosstab is asked of ``columns``, if the table calls
    them otherwise, and with ``by`` has shares within groups.
    """
    domain, question = design.domain, design.resolved
    if isinstance(domain, Cells):
        columns = columns or domain.column_names
        gaps = per_column(Argument("missing"), missing, columns)
        parts = tuple(
            Categories(each.names, origin, each.rest, gap) for each, gap in zip(domain.columns, gaps, strict=True)
        )
        return CrossRequest(columns=columns, parts=parts, by=by, **reading)
    own: dict[str, Any]
    if isinstance(domain, Labels):
        own = {"categories": Categories(domain.names, origin, domain.rest, one_name(Argument("missing"), missing))}
    else:
        own = {"lower": domain.bounds[0], "upper": domain.bounds[1], "clip": clip}
    if hasattr(question, "at"):
        own |= {"bins": Bins(cuts=question.cuts, at=question.at, ranges=question.ranges)}
    return Request(question=question.type, **own, **reading)
