"""What of a messy table is forgiven, when somebody asks for it: blanks around a text, its case,
words that mean "no value", decimal commas.

Nothing of this is guessed. Two texts are the same only by a rule that was given, and a number that
does not fit the rule exactly is refused: with a point between thousands, "1.23" is no number.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import Argument, InvalidInput, Refusal

NO_NUMBER = ["", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan"]
DECIMAL, THOUSANDS = (".", ","), (".", ",", "'", "’", " ", "\u00a0", "\u202f", "_")
SHOWN = 60


@dataclass(frozen=True)
class Cleaning:
    """The rules that hold for one column. ``na`` lists texts that mean a missing value; they are
    compared by the same rules as all others.

    >>> rules = Cleaning(strip=True, ignore_case=True, na=("n/a",))
    >>> rules.key(" SA\u0303O PAULO") == rules.key("são paulo"), rules.absent("N/A ")
    (True, True)
    """

    strip: bool = False
    ignore_case: bool = False
    na: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in DECIMAL:
            rule = (Argument("decimal"), " must be a point or a comma")
            raise InvalidInput(Refusal(rule, repr(self.decimal), "Leave it out for numbers like -1.5."))
        if self.thousands is not None and (self.thousands not in THOUSANDS or self.thousands == self.decimal):
            marks = f" must be one of {' '.join(map(repr, THOUSANDS))}, and not the decimal mark {self.decimal!r}"
            remedy = ("For numbers like 1.234,5 write ", Argument("thousands", "."), " ", Argument("decimal", ","))
            raise InvalidInput(Refusal((Argument("thousands"), marks), repr(self.thousands), remedy))
        if not all(word.strip() for word in self.na):
            rule = (Argument("na"), " must list words with commas between them")
            raise InvalidInput(Refusal(rule, repr(",".join(self.na)), "An empty cell of a CSV file is missing anyway."))

    @property
    def changes_text(self) -> bool:
        """Whether texts are compared by anything but their letters."""
        return self.strip or self.ignore_case or bool(self.na)

    @property
    def reads_numbers(self) -> bool:
        """Whether numbers are to be read from text by these rules, not by those of the file's
        format.
        """
        return self.decimal != "." or self.thousands is not None or bool(self.na)

    def key(self, text: str) -> str:
        """What is left of a text that the rules do not overlook: texts with the same key are the
        same value.
        """
        if self.strip:
            text = text.strip()
        if self.ignore_case:  # caseless matching as Unicode defines it, whichever way accents are composed
            text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
        return text

    def absent(self, text: str) -> bool:
        """Whether a text means that there is no value."""
        return self.key(text) in self._absent

    def keys(self, texts: pa.Array) -> pa.Array:
        """The keys of texts; null where there is no value. With ``strip``, nothing but blanks is
        none.
        """
        found = map(self.key, texts.to_pylist())
        return arrow_texts(None if key in self._absent or (self.strip and not key) else key for key in found)

    def numbers(self, texts: pa.Array, title: str) -> NDArray[np.float64]:
        """The numbers that texts stand for; NaN where there is no value."""
        trimmed = pc.utf8_trim_whitespace(texts)
        none = pc.is_in(trimmed, value_set=arrow_texts([*NO_NUMBER, *(word.strip() for word in self.na)]))
        trimmed = pc.if_else(none, pa.NULL, trimmed)
        odd = pc.and_not_kleene(trimmed.is_valid(), pc.match_substring_regex(trimmed, self._number))
        if value := next((text for text in trimmed.filter(odd).to_pylist() if not self.absent(text)), None):
            marks = f"decimal mark {self.decimal!r}" + (
                "" if self.thousands is None else f" and {self.thousands!r} between thousands"
            )
            change = ("Correct it, change ", Argument("decimal"), " or ", Argument("thousands"))
            remedy = (*change, ", or say that it stands for no value: ", Argument("na"), ".")
            raise InvalidInput(Refusal(f"{title} must hold numbers with the {marks}", repr(value[:SHOWN]), remedy))
        plain = pc.if_else(odd, pa.NULL, trimmed)
        if self.thousands is not None:
            plain = pc.replace_substring(plain, self.thousands, "")
        plain = pc.replace_substring(plain, self.decimal, ".")
        return numpy_values(plain.cast(pa.float64()), float("nan"))

    def words(self) -> str:
        """The rules in words; empty if there are none.

        >>> Cleaning(strip=True, na=("NA", "?")).words()
        "blanks around texts removed; 'NA' and '?' taken for missing"
        """
        said = ["blanks around texts removed"] * self.strip + [
            "upper and lower case taken for the same"
        ] * self.ignore_case
        if self.na:
            said.append(f"{' and '.join(map(repr, self.na))} taken for missing")
        if self.decimal != ".":
            said.append("decimal commas read")
        if self.thousands is not None:
            said.append(f"{self.thousands!r} between thousands removed")
        return "; ".join(said)

    @cached_property
    def _absent(self) -> frozenset[str]:
        return frozenset(map(self.key, self.na))

    @cached_property
    def _number(self) -> str:
        """What a number looks like, as a regular expression."""
        whole = r"\d+"
        if self.thousands is not None:
            whole = rf"(?:\d+|\d{{1,3}}(?:{re.escape(self.thousands)}\d{{3}})+)"
        mark = re.escape(self.decimal)
        return rf"^[+-]?(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?$"


AS_WRITTEN = Cleaning()


def check_encoding(name: str) -> str:
    """Return the usual name of an encoding of text.

    >>> check_encoding("Latin-1")
    'iso8859-1'
    """
    try:
        found = codecs.lookup(name)
        "".encode(name)  # others than encodings of text, such as base64, refuse
    except (LookupError, ValueError, TypeError):
        known = " must be an encoding of text that Python knows, such as utf-8, latin-1, cp1252 or utf-16, got "
        raise InvalidInput(Argument("encoding"), known, f"{name!r}. Leave it out for utf-8.") from None
    return found.name


def arrow_mask(mask: ArrayLike) -> pa.Array:
    """Truth values as Arrow has them, without pandas, which its own functions import."""
    bits = np.packbits(np.asarray(mask, dtype=bool), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), np.size(mask), [None, pa.py_buffer(bits)])


def arrow_texts(texts: Iterable[str | None]) -> pa.Array:
    """Texts as Arrow has them, likewise; None for a missing one."""
    held = [None if text is None else text.encode() for text in texts]
    present, written = arrow_mask([each is not None for each in held]), [each or b"" for each in held]
    ends = pa.py_buffer(np.cumsum([0, *map(len, written)], dtype=np.int32))
    return pa.StringArray.from_buffers(len(held), ends, pa.py_buffer(b"".join(written)), present.buffers()[1])


def as_texts(values: pa.Array) -> pa.Array:
    """Values as text, unless they are none in UTF-8: ``pa.ArrowException`` says so."""
    texts = values.cast(pa.string())
    texts.validate(full=True)  # Parquet says that text is UTF-8, and does not look
    return texts


def numpy_values(values: pa.Array, missing: float = 0) -> NDArray[Any]:
    """Arrow's numbers or truth values, likewise, with ``missing`` where there is none."""
    if pa.types.is_boolean(values.type):
        return numpy_values(values.cast(pa.uint8()), missing).view(bool)
    full = pa.Array.from_buffers(values.type, len(values), [None, values.buffers()[1]], offset=values.offset)
    numbers = np.from_dlpack(full)
    return np.where(numpy_values(values.is_null()), missing, numbers) if values.null_count else numbers
