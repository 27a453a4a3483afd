"""What the first version wrote is read and confirmed for ever. Never change a file here; what fails
is the code.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from shuffledp.collection.ledger import Ledger
from shuffledp.collection.release import stages
from shuffledp.collection.tables import open_reports
from shuffledp.collection.verify import Verification, verify
from shuffledp.protocols.design import Design

V1 = Path(__file__).parent / "v1"
PAGES = sorted(each.parent.name for each in V1.glob("*/design.json*"))
IN_FULL = {
    "binary",
    "analysed",
}  # the certificates of the others are left to the tests of the oracle, which takes seconds for each


def text(folder: str, name: str) -> str:
    packed = V1 / folder / f"{name}.gz"
    return (gzip.decompress(packed.read_bytes()) if packed.exists() else (V1 / folder / name).read_bytes()).decode()


def verified(folder: str, name: str = "report.html") -> Verification:
    recorded = json.loads(text(folder, "estimates.json"))["ledger"] is not None
    return verify(
        text(folder, name),
        table=text(folder, "estimates.csv"),
        ledger=Ledger(V1 / "budget.sqlite") if recorded else None,
    )


@pytest.mark.parametrize("folder", PAGES)
def test_every_page_of_the_first_version_is_confirmed(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if folder not in IN_FULL:
        monkeypatch.setattr("shuffledp.collection.verify.verification.check_certificate", lambda *_: [])
        monkeypatch.setattr("shuffledp.collection.verify.verification.check_comparison", lambda *_: [])
    found = verified(folder)
    assert not found.failed
    assert found.verdict == "pass"
    assert not [
        check.what for check in found.checks if check.what in {"the page", "estimates.csv"} and check.outcome != "pass"
    ]


@pytest.mark.parametrize(
    "path",
    [*sorted(V1.glob("design-*.json")), *sorted(V1.glob("*/design.json"))],
    ids=lambda path: f"{path.parent.name} {path.name}",
)
def test_every_design_is_read(path: Path) -> None:
    assert Design.from_json(json.loads(path.read_text(encoding="utf-8"))).digest == stages.read_design(path).digest


@pytest.mark.parametrize("name", ["shuffled.parquet", "shuffled-frequency.parquet"])
def test_shuffled_reports_are_analysed(name: str, tmp_path: Path) -> None:
    shutil.copy(V1 / name, tmp_path)
    made = stages.analyse(tmp_path / name, tmp_path / "result")
    if name == "shuffled.parquet":
        then = json.loads(text("analysed", "estimates.json"))
        assert made.facts["estimates"]["value"] == then["estimates"]["value"]


@pytest.mark.parametrize("name", ["encoded.parquet", "encoded-frequency.parquet"])
def test_encoded_reports_are_shuffled(name: str, tmp_path: Path) -> None:
    shutil.copy(V1 / name, tmp_path)
    assert open_reports(tmp_path / name, stage="encoded").count in (1160, 1200)
    done = stages.shuffle([tmp_path / name], tmp_path / "shuffled.parquet").file
    assert done.count == open_reports(tmp_path / name, stage="encoded").count


def test_the_ledger_is_confirmed_and_exports_what_it_did(tmp_path: Path) -> None:
    shutil.copy(V1 / "budget.sqlite", tmp_path)
    ledger = Ledger(tmp_path / "budget.sqlite")
    assert not ledger.check().faults
    then = json.loads((V1 / "budget.json").read_text(encoding="utf-8"))
    now = ledger.export()
    assert now["last"] == then["last"]
    assert [[one["record"] for one in each["releases"]] for each in now["populations"]] == [
        [one["record"] for one in each["releases"]] for each in then["populations"]
    ]
