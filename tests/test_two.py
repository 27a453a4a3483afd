"""``benchmarks.two``: whose turn it is, and what counts as slower."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import two
from benchmarks.two import Checkout, Row, compared, ratio


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Commands that take as long as the name of their folder says, and are only noted."""
    noted: list[str] = []

    def seconds(checkout: Checkout, line: str) -> float:
        noted.append(f"{checkout.python} {line}")
        return float(checkout.folder.name)

    monkeypatch.setattr(Checkout, "seconds", seconds)
    monkeypatch.setattr(Checkout, "run", lambda checkout, line: line not in ("gone", f"not by {checkout.python}"))
    monkeypatch.setattr(Checkout, "prepare", lambda _: None)
    return noted


def test_checkouts_take_turns_and_each_takes_the_first_line_that_it_understands(turns: list[str]) -> None:
    old, new = (Checkout(name, None, Path(took)) for name, took in (("old", "2"), ("new", "3")))
    row = compared("x", ("not by new", "both"), old, new, runs=3)
    first, second = "old not by new", "new both"
    assert turns == [first, second, second, first, first, second]
    assert (row.before, row.after) == ((2.0,) * 3, (3.0,) * 3)
    assert row.told(1.5) == ("x                              2.000 -> 3.000 s    1.50x", True)
    assert row.told(1.49)[0].endswith("1.50x  SLOWER")
    assert not row.told(1.49)[1]


def test_one_bad_turn_moves_no_median() -> None:
    assert ratio([1.0, 4.0, 1.0], [1.1, 4.4, 50.0]) == pytest.approx(1.1)
    assert ratio([1.0, 100.0, 1.0], [1.2, 120.0, 1.2]) == pytest.approx(1.2), "a busy moment slows both"


def test_an_answer_that_is_gone_is_bad_and_a_new_one_is_not() -> None:
    assert Row("x", (1.0,), None).told(1.1) == ("x                            not answered by AFTER", False)
    assert Row("x", None, (1.0,)).told(1.1) == ("x                            not answered by BEFORE", True)
    assert not Row("x", None, None).told(1.1)[1]


@pytest.mark.usefixtures("turns")
@pytest.mark.parametrize(("after", "code"), [("1", 0), ("2", 1)])
def test_the_exit_code_says_whether_one_was_slower(
    after: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def of(given: str, _: Path) -> Checkout:
        return Checkout("python", None, Path(given))

    monkeypatch.setattr(Checkout, "of", of)
    assert two.main(["1", after, "--only", "help"]) == code
    assert ("SLOWER" in capsys.readouterr().out) == bool(code)


def test_what_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="must be a checkout of shuffledp or a Python"):
        Checkout.of(str(tmp_path), tmp_path)
    (tmp_path / "src" / "shuffledp").mkdir(parents=True)
    assert Checkout.of(str(tmp_path), tmp_path / "x").source == tmp_path / "src"
