"""A ledger that nobody has spent from."""

from pathlib import Path

import pytest

from shuffledp.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "budget.sqlite")
