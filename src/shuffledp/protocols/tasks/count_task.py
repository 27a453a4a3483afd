"""How many people hold one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shuffledp.protocols.tasks.counting_tasks import CountingTask
from shuffledp.protocols.tasks.task import register
from shuffledp.schema import Label

__all__ = ["CountTask"]


@register
@dataclass(frozen=True)
class CountTask(CountingTask):
    """How many people hold ``value``; whatever else they hold counts as ``other``.

    >>> CountTask(value="yes").labels
    ('anything else', 'yes')
    """

    name: ClassVar[str] = "count"
    listed: ClassVar[str] = "value"

    value: Label
    other: Label | None = "anything else"

    @property
    def values(self) -> tuple[Label, ...]:
        """A person holds the value, or something else."""
        return ("anything else" if self.other is None else self.other, self.value)

    def fits(self, family: str, k: int) -> bool:
        return family == "signed" and k == 2
