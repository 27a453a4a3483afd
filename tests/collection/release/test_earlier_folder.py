"""A folder that an earlier version wrote, whose page had another name."""

from __future__ import annotations

from pathlib import Path

from tests.cli.people import PROMISE, done, run

V1 = Path(__file__).parents[2] / "data" / "v1" / "binary"


def test_a_release_of_an_earlier_version_is_replaced_whole_and_only_by_force(tmp_path: Path) -> None:
    folder = tmp_path / "result"
    folder.mkdir()
    (folder / "report.html").write_bytes((V1 / "report.html").read_bytes())
    asked = ("histogram", "-", "--column", "a", "--categories", "x,y", *PROMISE, "--out", folder)
    values = b"a\n" + b"x\ny\n" * 50
    assert run(*asked, stdin=values).code == 2
    assert [each.name for each in folder.iterdir()] == ["report.html"]
    done(*asked, "--force", stdin=values)
    assert (folder / "page.html").exists()
    assert not (folder / "report.html").exists()
    assert "was replaced" in (folder / "estimates.json").read_text(encoding="utf-8")
