"""``open --engine spark``: workers open what processes open, and add up to the same."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from shuffledp.cli import main
from shuffledp.survey import opener
from shuffledp.survey.opener import open_collection
from shuffledp.survey.spark import ON_SPARK
from tests.survey.released import TRUTH, announced, answers, write_sealed
from tests.survey.studies import KEY


def test_spark_opens_what_all_cores_open_and_says_who_had_the_key(
    session: Any,  # which the command finds
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(opener, "SLICE", 80)
    collection = announced(tmp_path / "study")
    sealed = write_sealed(tmp_path / "sealed.bin", collection, [*answers(collection), bytes(49)])
    here = open_collection(tmp_path / "study", sealed)
    apart, context = [], type(session.sparkContext)
    usual = context.broadcast

    def watched(self: Any, value: Any) -> Any:
        apart.append(pickle.dumps(value))
        return usual(self, value)

    monkeypatch.setattr(context, "broadcast", watched)
    words = ["survey", "open", str(tmp_path / "study"), str(sealed), "--out", str(tmp_path / "result"), "--json"]
    assert main([*words, "--engine", "spark"]) == 0
    # Spark writes what is larger than a megabyte to disks: what may be so large goes without the key.
    assert any(collection.content in each for each in apart)
    assert not any(KEY.secret in each for each in apart)
    told = json.loads(capsys.readouterr().out)
    assert told["tally"] == here.facts["tally"]
    assert told["counted"]["collected"] == here.facts["counted"]["collected"]
    assert told["counted"]["reports"] == len(TRUTH)
    assert ON_SPARK in told["notes"]
    assert "drawn and counted by" not in str(told["notes"])


def test_an_engine_that_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["survey", "open", str(tmp_path), str(tmp_path / "sealed.bin"), "--out", str(tmp_path / "result")]
    assert main([*words, "--engine", "beam"]) == 2
    assert "--engine must be spark or the address of a Spark cluster, got 'beam'" in capsys.readouterr().err
