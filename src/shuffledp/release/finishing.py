"""From a tally to a release that stands: estimated, recorded, written, and noted in the ledger."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from shuffledp.design import Design
from shuffledp.errors import CertificateError, InvalidInput, ShuffledpError
from shuffledp.record import Asked, Collected
from shuffledp.release.budget import Spent, Unnoted
from shuffledp.release.facts import estimate_of, record_of
from shuffledp.release.released import Release
from shuffledp.release.write import holds_release, write_release
from shuffledp.storage.canonical import digest_of
from shuffledp.tables import Tally

__all__ = ["charged", "finished", "publish", "standing"]

REPLACED = (
    "an earlier release stood in this folder and was replaced, which does not undo it: the noise was drawn afresh, so "
    "if both are about the same people they "
    "are two releases, and what they cost adds up"
)
REPLACED_UNDRAWN = (
    "an earlier release stood in this folder and was replaced, which does not undo it: if it was of other reports of "
    "the same people, they are two releases, and what they cost adds up"
)
LEDGER = "; the ledger was charged for each"


def standing(folder: Path, *, charging: bool, drawn: bool = True) -> tuple[str, ...]:
    """What is to be said where an earlier release stands in the folder of a new one, whose reports
    were ``drawn`` for it, or came from elsewhere.
    """
    if not holds_release(folder):
        return ()
    return (REPLACED + LEDGER * charging if drawn else REPLACED_UNDRAWN,)


@contextmanager
def charged(spent: Spent | None) -> Iterator[None]:
    """Whatever goes wrong after the budget was spent says that it was, Ctrl-C too; it stays the
    error that it is.
    """
    try:
        yield
    except (InvalidInput, CertificateError, KeyboardInterrupt) as error:
        if spent is not None:
            said = f"The ledger was charged before that: release {spent.receipt.id}."
            known = isinstance(error, ShuffledpError)
            error.args = (*error.args, f" {said}") if known else (f"{error} {said}".strip(),)
        raise


def finished(
    design: Design,
    counted: Tally,
    folder: Path | None,
    *,
    asked: Asked,
    missing: int | None,
    repeated: int | None,
    spent: Spent | None,
    force: bool,
    notes: tuple[str, ...] = (),
    held_back: bool = False,
    collected: Collected | None = None,
    last: Callable[[], object] | None = None,
) -> Release:
    """Estimate, record and write a tally, and note in the ledger that it stands; what was
    ``held_back`` is begun just before it can be seen, and ``last`` is called before that.
    """
    invalid = collected is not None and collected.people < collected.arrived
    estimate = estimate_of(design, counted.votes, secure=counted.secure, clipped=asked.clips, invalid=invalid)
    estimate = replace(estimate, notes=(*estimate.notes, *notes))
    record = record_of(
        design,
        counted.votes,
        estimate,
        asked=asked,
        missing=missing,
        repeated=repeated,
        collected=collected,
        ledger=None if spent is None else spent.entry(),
    )
    final = last or (lambda: None)
    begin = spent.begin if spent is not None and held_back else (lambda: None)
    return placed(Release(record, estimate, folder), spent, force=force, last=lambda: (final(), begin()))


def placed(made: Release, spent: Spent | None, *, force: bool, last: Callable[[], object]) -> Release:
    """Write a release into its folder, if it has one, and note in the ledger that it stands;
    ``last`` is called just before it can be seen.
    """
    if made.folder is None:
        last()
    else:
        write_release(made.folder, made.record, made.estimate, replace=force, last=last)
    if spent is not None:
        publish(spent, digest_of(made.record.as_json()), made.folder)
    return made


def publish(spent: Spent, digest: str, folder: Path | None) -> None:
    """Note in the ledger that a release stands. One in memory was paid for, and an error would lose
    it.
    """
    try:
        spent.publish(digest, folder)
    except Unnoted as error:
        if folder is not None:
            raise
        warnings.warn(str(error), stacklevel=2)
