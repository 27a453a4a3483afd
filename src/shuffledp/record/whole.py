"""The record of one release."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Self

from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks import TASKS
from shuffledp.record.asked_about import Asked, Made
from shuffledp.record.charged import LedgerEntry
from shuffledp.record.counted_people import Counted, Tally
from shuffledp.record.designed import Designed
from shuffledp.record.estimated import Estimates
from shuffledp.record.forms import Part, Reading, needed, or_none, part, text, truth, unusual, whole
from shuffledp.record.guaranteed import Alternative, Certificate
from shuffledp.storage.canonical import digest_of

__all__ = ["FORMAT", "HASHED", "REMEDY", "VERSION", "Hashes", "Record"]

FORMAT, VERSION = "shuffledp-release", 1
REMEDY = "Pass the page.html or the estimates.json that shuffledp wrote, whole and unchanged."


@part
class Hashes(Part):
    """SHA-256 of every part, as sorted JSON without spaces."""

    made: str = needed(text)
    asked: str = needed(text)
    design: str = needed(text)
    counted: str = needed(text)
    certificate: str = needed(text)
    comparison: str = needed(text)
    tally: str = needed(text)
    estimates: str = needed(text)
    secure: str = needed(text)
    notes: str = needed(text)
    ledger: str = needed(text)


HASHED = tuple(each.name for each in fields(Hashes) if "form" in each.metadata)
UNHASHED: Any = dict.fromkeys(HASHED, "")


@part
class Record(Part):
    """Everything that is known about a release; the hashes of a new one are still empty."""

    format: str = needed(text, default=FORMAT)
    version: int = needed(whole, default=VERSION)
    made: Made = needed(Made)
    asked: Asked = needed(Asked)
    design: Designed = needed(Designed)
    counted: Counted = needed(Counted)
    certificate: Certificate = needed(Certificate)
    comparison: tuple[Alternative, ...] = needed([Alternative])
    tally: Tally = needed(Tally)
    estimates: Estimates = needed(Estimates)
    secure: bool = needed(truth)
    notes: tuple[str, ...] = needed([text])
    ledger: LedgerEntry | None = needed(or_none(LedgerEntry))
    hashes: Hashes = needed(Hashes, default=Hashes(**UNHASHED))

    def sealed(self) -> Self:
        """The same with the hashes of its parts."""
        return replace(self, hashes=Hashes(**self.digests()))

    @classmethod
    def from_json(cls, facts: object) -> Self:
        """Read ``as_json``; any other form than the one that shuffledp writes is refused."""
        _check_outline(facts)
        assert isinstance(facts, dict)
        task = facts["design"].get("task") if isinstance(facts["design"], dict) else None
        if not isinstance(task, str) or task not in TASKS:
            raise unusual("design.task", task)
        return cls.read(facts, Reading(task))

    def digests(self) -> dict[str, Any]:
        """The hash of every part, computed anew."""
        facts = self.as_json()
        return {name: digest_of(facts[name]) for name in HASHED}


def _check_outline(facts: object) -> None:
    """Refuse what is no record of this version, or lacks a part."""
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        named = facts.get("format") if isinstance(facts, dict) else None
        raise InvalidInput(f"the format must be {FORMAT!r}, got {str(named)[:40]!r}. {REMEDY}")
    if type(facts.get("version")) is not int or facts["version"] != VERSION:
        raise InvalidInput(
            f"the version of a record must be {VERSION}, got {str(facts.get('version'))[:40]!r}. Use the version of "
            f"shuffledp that wrote it."
        )
    if missing := [part for part in (*HASHED, "hashes") if part not in facts]:
        raise InvalidInput(f"the record of a release must be complete, got none about {', '.join(missing)}. {REMEDY}")
