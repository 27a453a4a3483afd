"""The record of one release, as it stands inside a page or in the JSON beside it: every number
exactly as it was, for a machine to check.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Self

from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.questions import OURS, kind_of
from shuffledp.questions.question import read
from shuffledp.questions.table import Table
from shuffledp.record.parts import Alternative, Certificate, Context, Counted, LedgerEntry, Made, Tally
from shuffledp.schema import NEEDED, RELEASE, Limits, Part, Text, Texts, Whole, check_format, part, rules_of, unusual
from shuffledp.storage.canonical import digest_of, strict_json

FORMAT, VERSION = "shuffledp-release", 1
MOST_TABLES = 100
REMEDY = "Pass the page.html or the estimates.json that shuffledp wrote, whole and unchanged."


@part
class Hashes(Part):
    """SHA-256 of every part, as sorted JSON without spaces."""

    made: Text
    asked: Text
    design: Text
    counted: Text
    certificate: Text
    comparison: Text
    tally: Text
    tables: Text
    secure: Text
    notes: Text
    ledger: Text


HASHED = tuple(rules_of(Hashes))
UNHASHED: Any = dict.fromkeys(HASHED, "")


@part
class Record(Part):
    """Everything that is known about a release; the hashes of a new one are still empty."""

    format: Annotated[Text, NEEDED] = FORMAT
    version: Annotated[Whole, NEEDED] = VERSION
    made: Made
    asked: Context
    design: Design
    counted: Counted
    certificate: Certificate
    comparison: tuple[Alternative, ...]
    tally: Tally
    tables: Annotated[tuple[Table, ...], Limits(1, MOST_TABLES)]
    secure: bool
    notes: Texts
    ledger: LedgerEntry | None
    hashes: Annotated[Hashes, NEEDED] = Hashes(**UNHASHED)

    def sealed(self) -> Self:
        """The same with the hashes of its parts."""
        return replace(self, hashes=Hashes(**self.digests()))

    @classmethod
    def from_json(cls, facts: object) -> Self:
        """Read ``as_json``; any other form than the one that shuffledp writes is refused. The code
        of another distribution's question is not asked.
        """
        facts = check_format(RELEASE.title, facts, FORMAT, VERSION, REMEDY)
        if missing := [each for each in (*HASHED, "hashes") if each not in facts]:
            raise InvalidInput(f"{RELEASE.title} must be complete, got none about {', '.join(missing)}. {REMEDY}")
        asked = facts["design"].get("question") if isinstance(facts["design"], dict) else None
        named = asked.get("type") if isinstance(asked, dict) else None
        if not isinstance(named, str):
            raise unusual("design.question.type", named)
        ours = named in OURS
        made = cls.read(facts, RELEASE._replace(special=kind_of(named).recorded if ours else None))
        if ours:
            _ = made.question  # it has the form of a question that this version knows
        return made

    @cached_property
    def question(self) -> Any:
        """What the design asks, as it was written, also if no device would ask it: a ``Question``,
        with fields of its own.
        """
        return read(self.design.question)

    def table(self, name: str) -> Table | None:
        """The table of that name, if the release has one."""
        return next((each for each in self.tables if each.name == name), None)

    @property
    def beside(self) -> list[str]:
        """The names of the other tables, of which each has a file: a stranger may write any."""
        return [each.name for each in self.tables[1:] if each.name.isidentifier()]

    @property
    def estimates(self) -> Table:
        """What was estimated of the votes as they are."""
        return self.tables[0]

    @property
    def clipped(self) -> bool:
        """Whether this is known to be the mean of values that were clipped."""
        return self.estimates.label == (self.question.clipped,)

    def digests(self) -> dict[str, Any]:
        """The hash of every part, computed anew."""
        facts = self.as_json()
        return {name: digest_of(facts[name]) for name in HASHED}


ID = "shuffledp-facts"
OPEN, CLOSE = f'<script type="application/json" id="{ID}">', "</script>"


def data_block(facts: object) -> str:
    """The element of a page that holds its record, as data that no browser runs. Letters beyond
    ASCII are escaped: no mail gateway and no editor can spoil them.
    """
    written = json.dumps(facts, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"{OPEN}{written}{CLOSE}"


def read_record(text: str) -> Record:
    """The record in a page, or in the JSON beside it, with every float as it was; anything else is
    refused.
    """
    return Record.from_json(embedded_json(text))


def embedded_json(text: str) -> object:
    """The JSON in a page, or the one that ``text`` is; what it says is not looked at yet.

    >>> embedded_json("<html>")
    Traceback (most recent call last):
    shuffledp.errors.InvalidInput: a page must hold the record of one release, got none. Pass the
    page.html or the estimates.json that shuffledp ...
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        found = text.count(f'id="{ID}"')
        # Found in one pass, however often a stranger wrote half of it.
        _, opened, rest = text.partition(OPEN)
        if found != 1 or not opened:
            raise InvalidInput(f"a page must hold the record of one release, got {found or 'none'}. {REMEDY}")
        if not text.rstrip().endswith("</html>"):
            raise InvalidInput(f"a page must be whole, got one whose end is missing. {REMEDY}")
        text = rest.partition(CLOSE)[0]
    try:
        return strict_json(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"the record of a release must be whole, strict JSON, got {_fault(error)}. {REMEDY}"
        ) from None


def _fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"a fault at character {error.pos}"
    return str(error) if isinstance(error, ValueError) else "JSON that is nested too deeply"
