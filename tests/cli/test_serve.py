"""``shuffledp survey serve``: what it refuses to begin with, what it says, and how it stops."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shuffledp.cli import main
from shuffledp.storage.canonical import canonical
from shuffledp.survey.stores.sqlite import SQLiteStore
from shuffledp.survey.wire import Delivery, hash_of_code, new_codes
from tests.survey.memory_folder import memory_folder
from tests.survey.shufflers import OCTETS, envelopes, process
from tests.survey.studies import study


def certificate(folder: Path, password: bytes | None = None) -> None:
    """cert.pem and key.pem of localhost, signed by itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=localhost")
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    locked = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a collection, one with codes, and files that are something else."""
    monkeypatch.chdir(tmp_path)
    coded = study(codes=True)
    Path("collection.json").write_bytes(study().content)
    Path("coded.json").write_bytes(coded.content)
    Path("hashes.txt").write_text("\n".join(sorted(hash_of_code(coded.digest, code).hex() for code in new_codes(5))))
    Path("diary.txt").write_text("dear diary\n")
    Path("open.token").write_text("0" * 64)
    Path("open.token").chmod(0o644)
    SQLiteStore(tmp_path / "other.sqlite", study(question="Another?")).stop()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nowhere.json --store a.sqlite", "got none that can be read"),
        ("diary.txt --store a.sqlite", "must be a collection in JSON"),
        ("collection.json --store diary.txt", "must be a store of reports, got another file"),
        ("collection.json --store other.sqlite", "must be the store of collection"),
        ("collection.json --store nowhere/a.sqlite", "must exist"),
        ("collection.json --store mysql://host/a", "--store must be"),
        ("collection.json --store a.sqlite --codes hashes.txt", "asks for no invitations"),
        ("coded.json --store a.sqlite", "asks for invitations"),
        ("coded.json --store a.sqlite --codes diary.txt", "survey invite"),
        ("collection.json --store a.sqlite --token open.token", "readable by its owner alone"),
        ("collection.json --store a.sqlite --token diary.txt", "owner alone"),
        ("collection.json --store a.sqlite --port 70000", "65535"),
        ("collection.json --store a.sqlite --host 192.0.2.1", "must be an address of this machine that is free"),
        ("collection.json --store a.sqlite --tls-key key.pem", "--tls-cert must be given"),
        ("collection.json --store a.sqlite --tls-cert nowhere.pem", "must be a certificate and its key"),
        ("collection.json --store a.sqlite --tls-cert diary.txt --tls-key diary.txt", "must be a certificate"),
        ("collection.json --store a.sqlite --tls-cert cert.pem --tls-key key.pem", "without a password"),
        ("collection.json", "--store"),
    ],
)
def test_what_cannot_be_served_is_refused(
    folder: Path, words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate(folder, password=b"secret")
    assert main(["survey", "serve", *words.split()]) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert said in caught.err
    assert len(caught.err.splitlines()) == 1
    SQLiteStore(folder / "free.sqlite", study()).stop()
    if (folder / "a.sqlite").exists():  # it was let go of again
        SQLiteStore(folder / "a.sqlite", study(codes="coded" in words)).stop()


def test_a_promise_that_does_not_hold_is_not_collected_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """People who report have no accountant with them."""
    for name, value, said in (("epsilon", 0.01, "must keep its promise"), ("epsilon", None, "must promise an epsilon")):
        facts = study().as_json()
        facts["design"]["target"][name] = value
        Path("lie.json").write_text(canonical(facts) + "\n")
        Path("lie.sqlite").unlink(missing_ok=True)
        assert main(["survey", "serve", "lie.json", "--store", "lie.sqlite"]) == 2
        assert said in capsys.readouterr().err
        assert not list(folder.glob("lie.sqlite.token"))


def test_a_second_shuffler_on_a_store_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = SQLiteStore(folder / "a.sqlite", study())
    assert main(["survey", "serve", "collection.json", "--store", "a.sqlite"]) == 2
    assert "one shuffler at a time" in capsys.readouterr().err
    store.stop()


def test_a_shuffler_serves_over_tls_and_stops_when_it_is_told_to() -> None:
    collection = study()
    some = envelopes(collection, 3)
    with memory_folder() as folder:
        certificate(folder)
        options = ("--host", "localhost", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
        with process(folder, collection, *options) as running:
            assert running.url.startswith("https://localhost:")
            trusted = ssl.create_default_context(cafile=folder / "cert.pem")
            with httpx.Client(base_url=running.url, verify=trusted) as client:
                path = f"/collections/{collection.digest}/reports"
                assert client.post(path, content=b"".join(some), headers=OCTETS).status_code == 201
                answer = client.get("/collection.json")
                assert answer.content == collection.content
                assert not {"server", "date"} & set(answer.headers)
                assert (folder / "reports.sqlite.token").stat().st_mode & 0o777 == 0o600
                assert running.stop() == 0
            log = running.log.read_text()
            assert log == "stopped; refused so far, rounded down: none\n"
        store = SQLiteStore(folder / "reports.sqlite", collection)
        assert store.stock().reports == 3
        store.stop()


def test_without_tls_others_are_warned_of() -> None:
    with memory_folder() as folder, process(folder, study(), "--host", "0.0.0.0") as running:
        assert running.stop() == 0
        assert "warning: without TLS, 0.0.0.0 must be reached through a reverse proxy" in running.log.read_text()


def test_a_closed_collection_is_served_without_its_codes() -> None:
    coded = study(codes=True)
    hashes_of_codes = [hash_of_code(coded.digest, code) for code in new_codes(500)]
    with memory_folder() as folder:
        store = SQLiteStore(folder / "reports.sqlite", coded)
        store.invite(hashes_of_codes)
        pairs = zip(envelopes(coded, 500), hashes_of_codes, strict=True)
        store.add([[Delivery(*pair) for pair in pairs]])
        store.close(500)
        store.stop()
        with process(folder, coded) as running:
            fetched = httpx.get(
                f"{running.url}/collections/{coded.digest}/sealed", headers={"authorization": f"Bearer {running.token}"}
            )
            assert fetched.content.endswith(b"".join(sorted(envelopes(coded, 500))))
            assert running.stop() == 0


def test_without_the_extra_one_sentence_names_it(folder: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from shuffledp.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["survey", "serve", "collection.json", "--store", "a.sqlite", "--json"]
    run = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, cwd=folder)
    assert run.returncode == 2
    assert "pip install 'shuffledp[network]'" in json.loads(run.stderr)["error"]
