"""How griffe reads our docstrings and signatures for the site; mkdocs.yml names this file among its
extensions.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Attribute, Extension, Object

__all__ = ["Readable", "fenced"]

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
MAP = re.compile(r"^(?:\w+ {2,}\S.*(?:\n|\Z)){2,}", re.MULTILINE)  # what the modules of a package hold


class Readable(Extension):
    """Doctests are fenced, and a required field of a dataclass is shown without the ``field()``
    that only slots need.
    """

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_attribute_instance(
        self, *, attr: Attribute, **kwargs: Any
    ) -> None:  # before griffe makes the signature of the dataclass
        if str(attr.value) == "field()":
            attr.value = None


def fenced(text: str) -> str:
    """``text`` with a fence around each example, from its first prompt to the next empty line, as
    Markdown would take ``>>>`` for a quotation; and around the map of a package, as it would join
    the lines.
    """
    text = MAP.sub(lambda found: f"```text\n{found[0].rstrip()}\n```\n", text)
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
