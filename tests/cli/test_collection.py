"""The commands survey new and invite."""

import json
import os
from pathlib import Path

import pytest

from shuffledp.cli import main
from shuffledp.survey.collection import read_collection
from shuffledp.survey.envelopes import AnalystKey
from shuffledp.survey.wire import hash_of_code, read_code, read_hashes
from tests.survey.studies import designs

ADDRESS = "https://shuffle.example.org"


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "design.json"
    path.write_text(json.dumps(designs()["krr"].as_json()))
    return path


def new(design: Path, *more: str, shuffler: str = ADDRESS, name: str = "study") -> tuple[int, Path]:
    out = design.with_name(name)
    words = ["survey", "new", "--design", str(design), "--shuffler", shuffler, "--out", str(out), *more]
    return main(words), out


def test_new_writes_what_everybody_pins_and_a_key_that_only_its_owner_may_read(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = new(design, "--text", "Tea?", "--opens", "2030-01-01T00:00Z", "--closes", "2030-01-01T02:00+01:00")
    said = capsys.readouterr().out
    made = read_collection(out / "collection.json")
    assert code == 0
    assert made.digest in said
    assert (made.question, made.shuffler, made.round, made.codes) == ("Tea?", ADDRESS, 1, False)
    assert (made.opens, made.closes) == (1893456000, 1893456000 + 3600)
    assert AnalystKey.read(out / "analyst.key").public == made.key
    assert (out / "analyst.key").stat().st_mode & 0o777 == 0o600
    assert {each.name for each in out.iterdir()} == {"collection.json", "analyst.key"}


def test_new_as_json_and_every_collection_has_a_key_of_its_own(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new(design, "--json")[0] == new(design, "--json", name="again")[0] == 0
    said = capsys.readouterr().out
    first, _, second = said.partition("\n}\n")
    one, two = json.loads(first + "}"), json.loads(second)
    assert one["digest"] != two["digest"]
    assert one["digest"] == read_collection(Path(one["collection"])).digest
    assert Path(one["key"]).read_bytes() != Path(two["key"]).read_bytes()


@pytest.mark.parametrize(
    "words, shuffler, named",
    [
        ((), "http://shuffle.example.org", "https://"),
        ((), "ftp://shuffle.example.org", "shuffler"),
        ((), "https://somebody@example.org", "shuffler"),
        (("--round", "2"), ADDRESS, "round"),
        (("--round", "0"), ADDRESS, "round"),
        (("--text", "two\nlines"), ADDRESS, "question"),
        (("--opens", "2030-01-01T00:00"), ADDRESS, "zone"),
        (("--opens", "tomorrow"), ADDRESS, "zone"),
        (("--closes", "2020-01-01T00:00Z"), ADDRESS, "future"),
        (("--opens", "2030-01-02T00:00Z", "--closes", "2030-01-01T00:00Z"), ADDRESS, "open before"),
    ],
)
def test_new_refuses(
    design: Path, words: tuple[str, ...], shuffler: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = new(design, *words, shuffler=shuffler)
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (2, 1)
    assert named in said
    assert not out.exists()


def test_new_announces_no_promise_that_does_not_hold(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = json.loads(design.read_text())
    for epsilon, named in ((written["target"]["epsilon"] / 2, "keep its promise"), (None, "promise an epsilon")):
        design.write_text(json.dumps(written | {"target": written["target"] | {"epsilon": epsilon}}))
        code, out = new(design)
        assert (code, out.exists()) == (2, False)
        assert named in capsys.readouterr().err


def test_new_replaces_nothing(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = new(design)
    before = {each.name: each.read_bytes() for each in out.iterdir()}
    assert new(design)[0] == 2
    said = capsys.readouterr().err
    assert "must not exist yet" in said
    assert "--force" not in said, "there is no such option"
    assert {each.name: each.read_bytes() for each in out.iterdir()} == before


def invited(file: Path, count: int, *more: str) -> tuple[int, Path, Path]:
    codes, hashes = file.parent / "codes.txt", file.parent / "hashes.txt"
    words = ["survey", "invite", str(file), "--count", str(count), "--out", str(codes), "--hashes", str(hashes)]
    return main([*words, *more]), codes, hashes


def test_invite_writes_codes_and_their_hashes_in_an_order_that_says_nothing(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = new(design, "--codes")[1] / "collection.json"
    code, codes, hashes = invited(file, 50)
    assert code == 0
    digest, read = read_collection(file).digest, [read_code(line) for line in codes.read_text().splitlines()]
    assert len(set(read)) == 50
    assert read_hashes(hashes) == sorted(hash_of_code(digest, each) for each in read)
    assert codes.stat().st_mode & 0o777 == 0o600
    before = codes.read_bytes()
    assert invited(file, 50)[0] == 2, "codes that were handed out are never replaced"
    assert codes.read_bytes() == before
    assert "must not exist yet" in capsys.readouterr().err


def test_invite_refuses_where_nobody_asks_for_codes_and_warns_of_too_many(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, codes, hashes = invited(new(design)[1] / "collection.json", 5)
    assert (code, codes.exists(), hashes.exists()) == (2, False, False)
    assert "--codes" in capsys.readouterr().err
    file = new(design, "--codes", name="other")[1] / "collection.json"
    capsys.readouterr()
    assert invited(file, 0)[0] == 2
    capsys.readouterr()
    assert invited(file, 1001, "--json")[0] == 0
    said = json.loads(capsys.readouterr().out)
    assert said["count"] == 1001
    assert "more than the 1,000 people" in said["note"]


def test_invite_leaves_no_hashes_where_the_codes_could_not_be_written(design: Path) -> None:
    file = new(design, "--codes")[1] / "collection.json"
    (shut := file.parent / "shut").mkdir()
    words = ["survey", "invite", str(file), "--count", "5", "--out", str(shut / "missing" / "codes.txt")]
    assert main([*words, "--hashes", str(shut / "hashes.txt")]) == 2
    assert os.listdir(shut) == []
