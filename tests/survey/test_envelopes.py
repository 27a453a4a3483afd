"""Envelopes open for the analyst's key and their own collection, and for nobody else."""

from __future__ import annotations

import hmac
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shuffledp.errors import InvalidInput
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import OVERHEAD, AnalystKey, Envelopes
from tests.survey.studies import KEY, designs, study


@pytest.mark.parametrize("name", ["krr", "mean", "hadamard", "hash", "subset", "oue"])
def test_what_is_sealed_opens_to_the_same_reports(name: str) -> None:
    collection = study(name)
    values = [0.0, 60.5, 120.0] if name == "mean" else [0, 1, 2]
    reports = collection.reporter.encode(values, rng=np.random.default_rng(1))
    ways = Envelopes(collection)
    sealed = ways.seal(reports)
    assert {len(each) for each in sealed} == {ways.length} == {reports[0].nbytes + OVERHEAD}
    opened = ways.opened(sealed, KEY)
    assert opened.dtype == reports.dtype
    np.testing.assert_array_equal(opened, reports)


def test_a_report_of_one_byte_takes_49() -> None:
    assert Envelopes(study("krr")).length == 49


def test_nothing_else_opens() -> None:
    collection = study()
    ways, report = Envelopes(collection), collection.reporter.encode([1, 2], rng=np.random.default_rng(1))
    (envelope, other) = ways.seal(report)
    assert len(ways.opened([envelope], KEY)) == 1, "the positive control"
    assert len(ways.opened([envelope], AnalystKey.new())) == 0
    assert len(Envelopes(study(codes=True)).opened([envelope], KEY)) == 0, "another collection"
    for place in range(len(envelope)):
        changed = bytearray(envelope)
        changed[place] ^= 0x80  # among them the one bit of a public key that X25519 itself ignores
        assert len(ways.opened([bytes(changed)], KEY)) == 0, place
    mixed = [envelope[:-1], envelope + b"\0", b"", bytes(49), envelope[:32] + other[32:]]
    assert len(ways.opened(mixed, KEY)) == 0


def test_a_report_of_another_length_is_none() -> None:
    collection, ways = study(), Envelopes(study())
    public = X25519PrivateKey.from_private_bytes(KEY.secret).public_key()
    suite = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
    long = suite.encrypt(b"\1\1", public, ways.info)
    assert len(ways.opened([long], KEY)) == 0
    assert collection.digest.encode() not in long


def test_envelopes_are_those_of_the_standard() -> None:
    """Opened by the formulas of RFC 9180 as they stand there, after those gave its own vectors."""
    ways = Envelopes(study())
    (envelope,) = ways.seal(np.array([2], dtype=np.uint8))
    assert by_the_standard(KEY.secret, envelope, ways.info, aad=b"") == b"\2"
    secret = bytes.fromhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8")
    sealed = bytes.fromhex(
        "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
        "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
    )
    plain = by_the_standard(secret, sealed, b"Ode on a Grecian Urn", aad=b"Count-0")
    assert plain == b"Beauty is truth, truth beauty", "appendix A.1.1"


def by_the_standard(secret: bytes, sealed: bytes, info: bytes, *, aad: bytes) -> bytes:
    """Base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM."""
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x01"

    def extract(salt: bytes, name: bytes, label: bytes, ikm: bytes) -> bytes:
        return hmac.digest(salt or bytes(32), b"HPKE-v1" + name + label + ikm, "sha256")

    def expand(key: bytes, name: bytes, label: bytes, context: bytes, length: int) -> bytes:
        text = length.to_bytes(2, "big") + b"HPKE-v1" + name + label + context
        return hmac.digest(key, text + b"\1", "sha256")[:length]

    private, encapsulated = X25519PrivateKey.from_private_bytes(secret), sealed[:32]
    shared = private.exchange(X25519PublicKey.from_public_bytes(encapsulated))
    both = encapsulated + private.public_key().public_bytes_raw()
    shared = expand(extract(b"", kem, b"eae_prk", shared), kem, b"shared_secret", both, 32)
    context = b"\0" + extract(b"", suite, b"psk_id_hash", b"") + extract(b"", suite, b"info_hash", info)
    schedule = extract(shared, suite, b"secret", b"")
    key, nonce = (
        expand(schedule, suite, label, context, length) for label, length in ((b"key", 16), (b"base_nonce", 12))
    )
    return AESGCM(key).decrypt(nonce, sealed[32:], aad)


@pytest.mark.parametrize("public", ["00" * 32, "01" + "00" * 31])
def test_a_key_that_anybody_could_open_is_refused(public: str) -> None:
    weak = Collection(design=designs()["krr"], key=public, shuffler="http://127.0.0.1")
    with pytest.raises(InvalidInput, match="Do not report to it"):
        Envelopes(weak).seal(np.array([1], dtype=np.uint8))


def test_a_key_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "analyst.key"
    KEY.write(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert AnalystKey.read(path) == KEY
    assert KEY.secret.hex() not in repr(KEY)
    with pytest.raises(InvalidInput, match="must not exist yet"):
        KEY.write(path)
    path.chmod(0o640)
    with pytest.raises(InvalidInput, match="readable by its owner alone, got permissions 640"):
        AnalystKey.read(path)
    path.chmod(0o600)
    for damaged in ("", "zz", KEY.secret.hex()[:-2], KEY.secret.hex() + "00"):
        path.write_text(damaged)
        with pytest.raises(InvalidInput, match="64 hexadecimal digits"):
            AnalystKey.read(path)
    with pytest.raises(InvalidInput, match="analyst's key"):
        AnalystKey.read(tmp_path / "none")
