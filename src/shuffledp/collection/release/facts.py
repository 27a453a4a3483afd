"""Everything that is known about a release, as one JSON object: written beside the estimates,
embedded in the report, and checked by ``shuffledp verify``.

Nothing in here is computed from the private values except through the shuffled reports, and the two
counts that are public. In particular there is no hash and no size of the input: whoever knows all
rows but one could test guesses of the last one against it.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp import __version__
from shuffledp.collection.client import cautions
from shuffledp.collection.page import EDITION, FORMAT, HASHED, VERSION
from shuffledp.collection.page.clipping import CLIPPED, CLIPPED_TO_BOUNDS, perhaps_clipped
from shuffledp.collection.release.certificate import certificate, comparison
from shuffledp.errors import InvalidInput
from shuffledp.protocols.design import Design
from shuffledp.protocols.estimate import Estimate
from shuffledp.protocols.sums import Mean
from shuffledp.storage.canonical import digest_of, digest_of_votes

__all__ = ["LEVEL", "LISTED", "check_reports", "estimate_of", "facts_of"]

LISTED = 10_000  # rows in the JSON and the report; the CSV has all
SHORT = 20  # rows of a list that is shown whole and in its own order, wherever it is shown
LEVEL = 0.95


def estimate_of(design: Design, tally: NDArray[np.int64], *, secure: bool = True, clipped: bool = False) -> Estimate:
    """What the analyst concludes from the tally of all reports; ``clipped`` says that values
    outside the range were moved to its ends.
    """
    reports, n = check_reports(design, _reports(design, tally)), design.n
    notes = (
        ()
        if reports == n
        else (f"{reports} of {n} reports arrived; the certificate holds for any {design.least} or more honest ones",)
    )
    estimate = design.protocol.analyse_counts(tally, secure=secure, notes=(*notes, *cautions(design)))
    return replace(estimate, labels=(CLIPPED,)) if clipped else estimate


def check_reports(design: Design, reports: int) -> int:
    """Refuse to certify fewer reports than the certificate is about."""
    if reports < design.least:
        raise InvalidInput(
            f"reports must be at least the {design.least} that the design promises, got {reports}. Wait for "
            f"more, or design for fewer."
        )
    return reports


def facts_of(
    design: Design,
    tally: NDArray[np.int64],
    estimate: Estimate,
    *,
    asked: Mapping[str, object],
    missing: int | None,
    repeated: int | None = None,
    ledger: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """The facts of one release. ``asked`` says what was asked in the user's words; ``missing``
    counts the rows that were left out, if that is public.

    ``repeated`` counts the rows that were left out since their person has another one; it is None,
    and stands nowhere, if every row was taken for a person.
    """
    certified = certificate(design)
    kept = _largest(estimate)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "edition": EDITION,
        "made": {
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "shuffledp": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "cryptography", "pyarrow")},
        },
        "asked": {"task": design.task.name, **asked},
        "design": design.as_json(),
        "counted": {"reports": estimate.n, "missing": missing} | ({} if repeated is None else {"repeated": repeated}),
        "certificate": certified,
        "comparison": comparison(design, certified),
        "tally": _tally(design, tally, kept),
        "estimates": _estimates(design, estimate, kept) | _ends(design, tally, asked),
        "secure": estimate.secure,
        "notes": list(estimate.notes),
        "ledger": None if ledger is None else dict(ledger),
    }
    facts["notes"] += perhaps_clipped(facts)
    return facts | {"hashes": {name: digest_of(facts[name]) for name in HASHED}}


def _reports(design: Design, tally: NDArray[np.int64]) -> int:
    return design.task.open(tally).reports


def _largest(estimate: Estimate) -> NDArray[np.intp]:
    """The places of the estimates that are listed: all in their order, or the largest."""
    if len(estimate.values) <= LISTED:
        return np.arange(len(estimate.values))
    return np.sort(np.argpartition(-estimate.values, LISTED - 1)[:LISTED])


def _tally(design: Design, tally: NDArray[np.int64], kept: NDArray[np.intp]) -> dict[str, Any]:
    """What the shuffler released, as far as the listed estimates depend on it."""
    reports, blocks, votes = design.task.open(tally)
    if blocks is None:
        return {"reports": reports, "votes": votes.tolist()}
    listed = {"reports": reports, "blocks": blocks.tolist(), "votes": votes[kept].tolist()}
    return listed | ({"digest": digest_of_votes(votes)} if len(kept) < len(votes) else {})


def _estimates(design: Design, estimate: Estimate, kept: NDArray[np.intp]) -> dict[str, Any]:
    (low, high), (lowest, highest) = estimate.interval(LEVEL), estimate.simultaneous(LEVEL)
    columns = {
        "value": estimate.values,
        "stderr": estimate.stderr,
        "lower": low,
        "upper": high,
        "all_lower": lowest,
        "all_upper": highest,
    }
    return {
        "unit": design.task.unit,
        "level": LEVEL,
        "of": len(estimate.values),
        "label": [str(estimate.labels[place]) for place in kept.tolist()],
        **{name: column[kept].tolist() for name, column in columns.items()},
        # A long list is shown with the largest first, and cut. Those are large by luck as well, so
        # that intervals for each by itself would miss them.
        **({"together": True} if len(estimate.values) > SHORT else {}),
    }


def _ends(design: Design, tally: NDArray[np.int64], asked: Mapping[str, object]) -> dict[str, Any]:
    """How many people's numbers were rounded to either end of the range, where some may have been
    clipped: another reading of the same reports.

    The exact number of clipped values is as private as the values are, and nothing keeps it.
    """
    protocol = design.protocol
    if not isinstance(protocol, Mean) or asked.get("outside") not in (None, CLIPPED_TO_BOUNDS):
        return {}
    assert protocol.k is not None
    estimate = protocol.at_ends(tally)
    low, high = estimate.simultaneous(LEVEL)
    columns = {"value": estimate.values, "lower": low, "upper": high}
    return {
        "ends": {
            "step": (protocol.upper - protocol.lower) / protocol.k,
            **{name: column.tolist() for name, column in columns.items()},
        }
    }
