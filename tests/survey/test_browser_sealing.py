"""What a browser seals, the analyst opens, and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import AnalystKey, Envelopes
from tests.survey.studies import KEY
from tests.survey.tapes import file

if TYPE_CHECKING:
    from playwright.sync_api import Page

# RFC 9180, appendix A.1.1: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM in base mode.
STANDARD = {
    "ephemeral": "7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234",
    "key": "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
    "info": b"Ode on a Grecian Urn".hex(),
    "plain": b"Beauty is truth, truth beauty".hex(),
    "aad": b"Count-0".hex(),
}
STANDARD_SEALED = (
    "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
    "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
)
CURVES = ["browser", "script"]


@pytest.mark.parametrize("curve", CURVES)
def test_envelopes_are_those_of_the_standard(page: Page, curve: str) -> None:
    sealed = page.evaluate(
        """async ([curve, message]) => {
            const bytes = (digits) => Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
            const read = Object.fromEntries(Object.entries(message).map(([name, digits]) => [name, bytes(digits)]));
            return client.hex(await client.hpkeSeal(await client.kemOf(curve), read));
        }""",
        [curve, STANDARD],
    )
    assert sealed == STANDARD_SEALED


def sealed_in(page: Page, collection: Collection, report: bytes, curve: str) -> bytes:
    """The report in an envelope that the browser made."""
    made: str = page.evaluate(
        """async ([text, report, curve]) => {
            const collection = await client.readCollection(bytesOf(text));
            return client.hex(await client.seal(collection, bytesOf(report), curve));
        }""",
        [collection.content.decode("latin-1"), report.decode("latin-1"), curve],
    )
    return bytes.fromhex(made)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("name", ["krr 3", "hash to 8", "oue 10"])
def test_what_the_browser_seals_opens_for_the_analyst_alone(page: Page, name: str, curve: str) -> None:
    collection = file(name)
    ways = Envelopes(collection)
    report = bytes(range(1, 1 + ways.message_bytes))
    envelope = sealed_in(page, collection, report, curve)
    assert len(envelope) == ways.length
    assert ways.opened([envelope], KEY).tobytes() == report, "the positive control"
    assert len(ways.opened([envelope], AnalystKey.new())) == 0
    assert len(Envelopes(file(name, codes=True)).opened([envelope], KEY)) == 0, "another digest"
    for place in range(len(envelope)):
        changed = bytearray(envelope)
        changed[place] ^= 0x80
        assert len(ways.opened([bytes(changed)], KEY)) == 0, place


@pytest.mark.parametrize("curve", CURVES)
def test_a_key_that_anybody_can_read_is_not_sealed_to(page: Page, curve: str) -> None:
    small = Collection(design=file("krr 3").design, key="00" * 32, shuffler="https://shuffle.example.org")
    with pytest.raises(Exception, match="key of a collection must be a public key that can be sealed to"):
        sealed_in(page, small, b"\1", curve)


def test_no_two_envelopes_are_alike(page: Page) -> None:
    first, second = (sealed_in(page, file("krr 3"), b"\1", "browser") for _ in range(2))
    assert first[:32] != second[:32]
