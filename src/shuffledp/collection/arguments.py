"""One sentence for two readers: messages name the options of the command line, and whoever calls
from Python reads the arguments of the same meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from shuffledp.errors import ShuffledpError

__all__ = ["in_python", "spoken"]

# What an option, or the first word of a message, is called here.
ARGUMENTS = {"id": "ids", "honest": "least"}
SWITCHES = {"clip", "strip", "ignore-case", "one-row-per-person"}
# An option, and the value that an example gives it: a word that could not be the next of the
# sentence, or one that messages use.
VALUE = r"FILE|NAME|elsewhere|\w+(?:,\w+)+|\w+\.\w+|\w+(?:-\w+)+|[.,](?= |$)"
OPTION = re.compile(rf"--([a-z][a-z0-9-]*)(?: ({VALUE}))?")
COMMAND = re.compile(r"`?\bshuffledp (histogram|frequency|mean|quantile)\b`?")


def spoken(message: str, **names: str) -> str:
    """A message to somebody at the command line, said to somebody in Python; ``names`` are further
    arguments that are called otherwise.

    >>> spoken("Count such values together: --other elsewhere.")
    'Count such values together: other="elsewhere".'
    >>> spoken("Widen the bounds, or move what is outside to the nearest one: --clip.")
    'Widen the bounds, or move what is outside to the nearest one: clip=True.'
    >>> spoken(
    ...     "Add --categories FILE (one per line) or --categories yes,no.", categories="domain"
    ... )
    'Add domain="FILE" (one per line) or domain=["yes", "no"].'
    """

    def argument(found: re.Match[str]) -> str:
        option, value = found.groups()
        plain = option.replace("-", "_")
        name = (ARGUMENTS | names).get(plain, plain)
        if option in SWITCHES:
            return f"{name}=True" + ("" if value is None else f" {value}")
        if value is None:
            return name
        several = "," in value and value != ","
        return f"{name}={json.dumps(value.split(',') if several else value)}"

    said = OPTION.sub(argument, message)
    said = COMMAND.sub(r"sdp.\1", said)
    first, _, rest = said.partition(" ")
    return f"{ARGUMENTS.get(first, first)} {rest}".rstrip()


@contextmanager
def in_python(**names: str) -> Iterator[None]:
    """Let what is refused inside be said with the names of arguments."""
    try:
        yield
    except ShuffledpError as error:
        error.args = (spoken(str(error), **names),)
        raise
