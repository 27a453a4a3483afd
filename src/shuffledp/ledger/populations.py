"""Names of populations: one budget per name, so a name that only looks different, or only looks the
same, must not get a budget of its own.

The name that a ledger holds is what its first release gave it, composed (NFC). A new one is refused
if it differs from one that is there only in what nobody sees or means: case, blanks, width,
characters that show nothing, and letters of another script that look the same. Names that differ in
a dash, a dot, an accent or a digit for a letter may well be different people: these are named in a
warning.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from shuffledp.errors import InvalidInput, Refusal
from shuffledp.ledger.entry import check_text

# Letters that count as printable and show nothing, or blank space: fillers, joiners, selectors of
# variants.
INVISIBLE = {
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0),
    *range(0xFE00, 0xFE10),
}
# Small letters of other alphabets, each with the Latin one that it is taken for, small or capital.
# Within one alphabet no two have the same, so that nobody is refused a name in a language of their
# own.
ALIKE = (
    "аa вb еe іi јj кk ӏl мm нh оo рp ԛq сc ѕs тt уy ԝw хx ѵv ԁd ԍg",  # Cyrillic
    "αa βb εe ηn ιi κk νv οo ρp τt υu χx ωw γy",  # Greek
    "օo սu ոn ցg հh յj զq եt",  # Armenian
    "ɑa ɡg ɩi ʋv ᴠv ᴡw ᴢz ꜱs ᴏo ᴄc",  # phonetic
)
SAME = str.maketrans({pair[0]: pair[1] for pairs in ALIKE for pair in pairs.split()})
CLOSE = str.maketrans("01358|6iıһзбқүұ", "olesblbllhebkyy")  # taken for one another only at a glance


def check_name(value: object) -> str:
    """Return ``value`` as the name of a population, composed (NFC): what looks the same is the
    same, however it was typed.

    >>> check_name("cafe\u0301") == "caf\u00e9"
    True
    """
    return unicodedata.normalize("NFC", check_text("population", value))


def check_new_name(name: str, known: Iterable[str]) -> str:
    """Return ``name`` if it can be that of a new population beside the ``known`` ones."""
    if hidden := next((letter for letter in name if ord(letter) in INVISIBLE), None):
        got = f"the invisible U+{ord(hidden):04X} in {name!a}"
        raise InvalidInput(Refusal("a new population must have a name that is seen", got, "Type the name again."))
    if twin := next((each for each in known if _letters(each) == _letters(name)), None):
        rule = f"a new population must differ from {twin!r} in more than case, spaces or letters that look the same"
        raise InvalidInput(Refusal(rule, repr(name), f"Did you mean {twin!r}? The same users share one budget."))
    return name


def lookalikes(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Those of the ``known`` names that a reader may take for ``name``.

    >>> lookalikes("app-users", ["app_users", "App Users 2", "visitors", "app-users"])
    ('app_users',)
    """
    return tuple(each for each in known if each != name and _outline(each) == _outline(name))


def _letters(name: str) -> str:
    """What is left of a name without what nobody sees or means."""
    plain = unicodedata.normalize("NFKC", name).casefold().translate(SAME)
    return "".join(
        letter
        for letter in unicodedata.normalize("NFC", plain)
        if not letter.isspace() and ord(letter) not in INVISIBLE
    )


def _outline(name: str) -> str:
    """What is left of a name at a passing glance: no accents, no punctuation, and digits for the
    letters that they resemble.
    """
    bare = unicodedata.normalize("NFKD", _letters(name)).translate(SAME).translate(CLOSE).replace("rn", "m")
    return "".join(letter for letter in bare if letter.isalnum()) or name
