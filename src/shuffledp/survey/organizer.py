"""For whoever calls people to report: a collection with its key, and invitations.

This module loads the accountant: a promise that does not hold is never announced. Every collection
has a key of its own, also another round of the same study, so that a key can be destroyed as soon
as its collection has been opened.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from shuffledp.client import check_client
from shuffledp.design import Design
from shuffledp.errors import Argument, InvalidInput, Refusal, check_count
from shuffledp.poll import certify
from shuffledp.storage.files import check_apart, check_new_file, check_new_folder, new_folder, replace_file
from shuffledp.survey.collection import Collection, check_address, is_web_address
from shuffledp.survey.envelopes import AnalystKey
from shuffledp.survey.wire import code_text, hash_of_code, new_codes

COLLECTION, KEY = "collection.json", "analyst.key"
MOST_CODES = 10_000_000


def new_collection(
    design: Design,
    shuffler: str,
    out: Path,
    *,
    round: int = 1,
    question: str | None = None,
    opens: int | None = None,
    closes: int | None = None,
    codes: bool = False,
    now: float | None = None,
) -> Collection:
    """Write a folder with the collection, which is public, and the key that opens its reports,
    which is the analyst's alone: both, or neither.
    """
    check_client(design)
    check_new_folder(out, lasting=True)
    if not is_web_address(shuffler := shuffler.rstrip("/")):
        rule = (Argument("shuffler"), " must be an address such as https://shuffle.example.org")
        raise InvalidInput(Refusal(rule, repr(shuffler[:80]), "It is where reports will be collected."))
    key = AnalystKey.new()
    collection = Collection(
        design=design,
        key=key.public,
        shuffler=shuffler,
        round=round,
        question=question,
        opens=opens,
        closes=closes,
        codes=codes,
    )
    check_address(collection)
    if closes is not None and closes <= (time.time() if now is None else now):
        raise InvalidInput("a collection must close in the future, got a time that has passed. Check year and zone.")
    certify(design)

    def fill(folder: Path) -> None:
        (folder / COLLECTION).write_bytes(collection.content)
        key.write(folder / KEY)

    new_folder(out, fill)
    return collection


def invite(collection: Collection, count: int, out: Path, hashes: Path) -> None:
    """Write ``count`` fresh codes, for the organizer to hand out, and their hashes, for the
    shuffler. The hashes are sorted: the order of the codes is not in them.
    """
    count = check_count("--count", count, least=1, remedy="Everybody who may report needs a code.")
    if count > MOST_CODES:
        raise InvalidInput(f"--count must be at most {MOST_CODES:,}, got {count:,}. Invite in several rounds.")
    if not collection.codes:
        raise InvalidInput(
            "the collection must ask for codes, got one that takes reports without. Make it with `shuffledp survey "
            "new --codes`."
        )
    for path in (out, hashes):
        check_new_file(path, lasting=True)
    check_apart(out, hashes)
    codes, hashed = fresh_codes(collection, count)
    write_lines(out, codes, private=True)  # first: without their hashes they let nobody in
    write_lines(hashes, hashed, private=False)


def fresh_codes(collection: Collection, count: int) -> tuple[list[str], list[str]]:
    """So many codes as people type them, and their hashes, sorted."""
    codes = list(new_codes(count))
    return list(map(code_text, codes)), sorted(hash_of_code(collection.digest, code).hex() for code in codes)


def write_lines(path: Path, lines: Iterable[object], *, private: bool) -> None:
    """A file of these lines, whole or not at all."""
    text = "".join(f"{line}\n" for line in lines)
    replace_file(path, lambda place: place.write_text(text, encoding="ascii"), private=private)
