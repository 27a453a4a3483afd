"""Uploads are whole records, codes are typed forgivingly, and a released file says what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.survey.envelopes import SealedHeader, open_sealed
from shuffledp.survey.wire import (
    Delivery,
    Refused,
    Uploads,
    code_text,
    hash_of_code,
    joined,
    new_codes,
    read_code,
    read_hashes,
)
from tests.survey.studies import study


def test_uploads_are_read_as_they_were_written() -> None:
    envelopes = [bytes([number]) * 49 for number in range(3)]
    plain = Uploads(study())
    assert list(plain.read(plain.body(envelopes))) == [Delivery(each, None) for each in envelopes]
    assert joined([plain.read(plain.body(envelopes)), [Delivery(b"x", None)]]) == b"".join(envelopes) + b"x"
    collection = study(codes=True)
    coded, codes = Uploads(collection), list(new_codes(3))
    assert list(coded.read(coded.body(envelopes, codes))) == [
        Delivery(each, hash_of_code(collection.digest, code)) for each, code in zip(envelopes, codes, strict=True)
    ]

    again = coded.read(coded.body(envelopes, codes))
    assert joined([again]) == b"".join(envelopes)


@pytest.mark.parametrize(("size", "status"), [(0, 400), (48, 400), (50, 400), (49 * 10_000 + 1, 413), (1 << 24, 413)])
def test_other_lengths_are_refused(size: int, status: int) -> None:
    with pytest.raises(Refused) as refused:
        Uploads(study()).read(bytes(size))
    assert refused.value.status == status
    assert refused.value.as_json() == {"error": refused.value.sentence}


def test_codes_are_read_as_people_type_them() -> None:
    for code in new_codes(100):
        text = code_text(code)
        assert read_code(text.lower().replace("-", " ").replace("o", "0").replace("i", "1")) == code
    text = code_text(bytes(16))
    for wrong in ("", text[:-1], text + "A", text.replace("A", "?", 1), text[:-1] + "B", "ß" * 26):
        with pytest.raises(InvalidInput, match="26 letters"):
            read_code(wrong)


def test_hashes_are_read_strictly(tmp_path: Path) -> None:
    path = tmp_path / "hashes.txt"
    path.write_text("\n".join(hash_of_code("00" * 32, code).hex() for code in new_codes(3)) + "\n")
    assert len(read_hashes(path)) == 3
    good = path.read_text()
    for wrong in ("", good + good, good[:-3], "x" + good, "é"):
        path.write_text(wrong)
        with pytest.raises(InvalidInput, match="survey invite"):
            read_hashes(path)


def test_a_released_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path, envelopes = tmp_path / "sealed.bin", [bytes([number]) * 49 for number in range(1, 6)]
    header = SealedHeader.of("ab" * 32, 5, 49)
    path.write_bytes(header.content + b"".join(envelopes))
    file = open_sealed(path)
    file.check_order()
    assert file.header == header
    assert list(file.envelopes()) == envelopes
    assert list(file.envelopes(1, 3)) == envelopes[1:3]
    good = path.read_bytes()
    for wrong in (b"", good[:-1], good + b"\0", b"x" + good, good.replace(b":5", b":6"), good.replace(b":5", b": 5")):
        path.write_bytes(wrong)
        with pytest.raises(InvalidInput):
            open_sealed(path)
    for mixed in (envelopes[::-1], [envelopes[0], *envelopes[:4]]):
        path.write_bytes(header.content + b"".join(mixed))
        with pytest.raises(InvalidInput, match="each report once"):
            open_sealed(path).check_order()


def test_a_released_file_says_of_how_many_people_where_their_messages_do_not(tmp_path: Path) -> None:
    path, header = tmp_path / "sealed.bin", SealedHeader.of("ab" * 32, 2, 49, 5)
    path.write_bytes(header.content + bytes(49) + bytes([1]) * 49)
    assert open_sealed(path).header == header
    assert (header.version, SealedHeader.of("ab" * 32, 2, 49).version) == (2, 1), "an older reader refuses it"
    good = path.read_bytes()
    for wrong in (
        good.replace(b'"version":2', b'"version":1'),
        good.replace(b'"version":2', b'"version":3'),
        good.replace(b'"people":5', b'"people":-5'),
        good.replace(b'"people":5', b'"people":null'),
        good.replace(b'"people":5,', b""),
        good.replace(b'"people":5', b'"people":5.0'),
    ):
        assert wrong != good
        path.write_bytes(wrong)
        with pytest.raises(InvalidInput):
            open_sealed(path)
