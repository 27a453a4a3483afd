"""The commands survey status, close and fetch, and open: from a shuffler with TLS, as a process
of its own, to a page.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from shuffledp.cli import main
from shuffledp.survey.wire import Address, Uploads
from tests.survey.released import TRUTH, announced, answers, write_sealed
from tests.survey.shufflers import OCTETS, process


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine by nobody's authority, and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "cert.pem", folder / "key.pem"
    public.write_bytes(made.public_bytes(Encoding.PEM))
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return public, private


def test_a_collection_is_followed_closed_fetched_and_opened_over_tls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collection = announced(tmp_path / "study")
    public, private = certificate(tmp_path)
    (tmp_path / "shuffler").mkdir()
    options = ["--tls-cert", str(public), "--tls-key", str(private)]
    with process(tmp_path / "shuffler", collection, *options) as shuffler:
        trusted = ssl.create_default_context(cafile=public)
        body = Uploads(collection).body(answers(collection))
        address = shuffler.url + Address(collection.digest).reports
        assert httpx.post(address, content=body, headers=OCTETS, verify=trusted).status_code == 201

        assert main(["survey", "status", shuffler.url]) == 2
        assert "must be one that this machine trusts, got: self-signed certificate" in capsys.readouterr().err

        pinned = ["--ca", str(public), "--collection", str(tmp_path / "study" / "collection.json")]
        assert main(["survey", "status", shuffler.url, *pinned]) == 0
        assert "100  reports, before it can be closed" in capsys.readouterr().out
        secret = ["--token", str(next((tmp_path / "shuffler").glob("*.token")))]
        assert main(["survey", "close", shuffler.url, *pinned, *secret]) == 0
        assert "is closed, with 150 sealed reports" in capsys.readouterr().out
        sealed = str(tmp_path / "sealed.bin")
        assert main(["survey", "fetch", shuffler.url, *pinned, *secret, "--out", sealed]) == 0
        wrapped = capsys.readouterr().out  # wherever a long path is broken
        assert f"150sealedreportswrittento{sealed}" in "".join(wrapped.split())
        assert main(["survey", "fetch", shuffler.url, *pinned, *secret, "--out", sealed, "--force", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["reports"] == len(TRUTH)
        for kept in (tmp_path / "study" / "analyst.key", tmp_path / "study" / "collection.json", Path(secret[1])):
            before = kept.read_bytes()
            assert main(["survey", "fetch", shuffler.url, *pinned, *secret, "--out", str(kept), "--force"]) == 2
            assert "which would be lost" in capsys.readouterr().err
            assert kept.read_bytes() == before
    assert main(["survey", "status", shuffler.url, *pinned, "--json"]) == 1
    assert "must answer, got" in json.loads(capsys.readouterr().err)["error"]
    assert main(["survey", "open", str(tmp_path / "study"), sealed, "--out", str(tmp_path / "result"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counted"]["collected"]["arrived"] == len(TRUTH)


def test_open_spends_a_budget_and_says_what_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collection = announced(tmp_path / "study", question="Tea?")
    sealed = write_sealed(tmp_path / "sealed.bin", collection, [*answers(collection), bytes(49)])
    words = ["survey", "open", str(tmp_path / "study"), str(sealed), "--out", str(tmp_path / "result")]
    budget = ["--ledger", str(tmp_path / "budget.sqlite"), "--population", "people"]
    assert main([*words, *budget, "--limit-epsilon", "3", "--limit-delta", "0.05"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"histogram of collection {collection.digest[:16]}: 150 reports, 1 of 151 that arrived were invalid" in said
    assert "this is release 1; " in said


def test_what_open_refuses_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collection = announced(tmp_path / "study")
    sealed = write_sealed(tmp_path / "sealed.bin", collection, answers(collection, TRUTH[:50]))
    out = tmp_path / "result"
    for words, said in {
        (): "--out is missing",
        ("--out", str(out)): "got 50 of 50 that arrived",
        ("--out", str(out), "--population", "people"): "--population must come with --ledger",
        ("--out", str(out), "--title", "\n"): "--title must be one line",
    }.items():
        assert main(["survey", "open", str(tmp_path / "study"), str(sealed), *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
    assert not out.exists()
