"""Counts, sums and means by several messages: from values to a page that verifies."""

from __future__ import annotations

import html
import json
from pathlib import Path

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.verify import verify

PROMISE = {"epsilon": 1.0, "delta": 1e-6}
ANSWERS = ["yes"] * 1_500 + ["no"] * 1_000
AGES = np.random.default_rng(3).uniform(20.0, 90.0, 2_500)


def test_a_count_verifies(tmp_path: Path) -> None:
    release = sdp.count(ANSWERS, value="yes", **PROMISE)
    (row,) = release.estimates
    assert abs(row.estimate - 1_500) < 12 * row.stderr
    assert row.stderr < 1.6
    assert release.record.design.mechanism.epsilon0 is None
    assert release.record.certificate.alone is None
    release.save(tmp_path / "count")
    page = (tmp_path / "count" / "page.html").read_text(encoding="utf-8")
    assert "+1 and −1 messages" in page
    assert "with a fixed probability" not in page
    assert "only the noise of all people together hides an answer" in page
    assert (
        "the theorem’s δ was computed to within a relative error of" in page
    )  # both of its ends may lie further apart
    checked = verify(page)
    assert checked.verdict == "pass", [check for check in checked.checks if check.outcome == "FAIL"]


@pytest.mark.parametrize(("ask", "truth"), [(sdp.mean, AGES.mean()), (sdp.sum, AGES.sum())])
def test_a_mean_and_a_sum_by_shares_verify(ask: object, truth: float, tmp_path: Path) -> None:
    assert callable(ask)
    release = ask(AGES, lower=0, upper=120, messages=12, honest=0.9, **PROMISE)
    (row,) = release.estimates
    assert abs(row.estimate - truth) < 12 * row.stderr
    assert release.record.design.mechanism.type == "split"
    assert release.record.estimates.influence == ()
    release.save(tmp_path / "shares")
    page = (tmp_path / "shares" / "page.html").read_text(encoding="utf-8")
    assert "nothing limits how far" in page
    said = "added up, a person’s messages are the true number, rounded, plus their share of the noise"
    assert said in html.unescape(page)
    assert "fakes" not in page
    checked = verify(page)
    assert checked.verdict == "pass", [check for check in checked.checks if check.outcome == "FAIL"]


def test_a_changed_count_is_found_out(tmp_path: Path) -> None:
    sdp.count(ANSWERS, value="yes", **PROMISE).save(tmp_path / "count")
    record = json.loads((tmp_path / "count" / "estimates.json").read_text(encoding="utf-8"))
    record["tables"][0]["upper"][0] += 1.0
    failed = {check.what for check in verify(json.dumps(record)).failed}
    assert "limits, each: upper" in failed


def test_a_clipped_sum_is_called_one_and_verifies(tmp_path: Path) -> None:
    one = sdp.sum(AGES, lower=0, upper=60, clip=True, **PROMISE)
    shares = sdp.sum(AGES, lower=0, upper=60, clip=True, messages=12, **PROMISE)
    for release in (one, shares):
        assert release.record.estimates.label == ("sum of the clipped values",)
    shares.save(tmp_path / "shares")
    checked = verify((tmp_path / "shares" / "page.html").read_text(encoding="utf-8"))
    assert checked.verdict == "pass", [check for check in checked.checks if check.outcome == "FAIL"]


def test_the_asked_error_chooses() -> None:
    one = sdp.mean(AGES, lower=0, upper=120, error=3.0, **PROMISE)
    several = sdp.mean(AGES, lower=0, upper=120, error=0.1, **PROMISE)
    assert one.record.design.mechanism.type == "krr"
    assert several.record.design.mechanism.type == "split"
    with pytest.raises(InvalidInput, match=r"error must be at least 0\.07\d+, which 8 messages"):
        sdp.mean(AGES, lower=0, upper=120, error=0.01, **PROMISE)
    with pytest.raises(InvalidInput, match="messages must be at least 1"):
        sdp.mean(AGES, lower=0, upper=120, messages=0, **PROMISE)
    with pytest.raises(InvalidInput, match="honest people must number at least 19"):
        sdp.mean(AGES[:12], lower=0, upper=120, messages=12, error=0.01, **PROMISE)


def test_a_ledger_is_charged(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    limits = {"ledger": path, "population": "all", "limit_epsilon": 2.5, "limit_delta": 1e-5}
    sdp.count(ANSWERS, value="yes", **limits, **PROMISE)
    sdp.mean(AGES, lower=0, upper=120, messages=12, ledger=path, population="all", **PROMISE)
    with pytest.raises(InvalidInput, match="together must keep epsilon = 2"):
        sdp.count(ANSWERS, value="no", ledger=path, population="all", **PROMISE)
