"""Names of populations that are one, look like one, or are two."""

import shutil
from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.ledger.populations import ALIKE, check_new_name, lookalikes
from tests.ledger.made import LIMITS, entry

INVISIBLE = ["app-users\ufe0f", "app\u3164users", "app-users\u2800", "app\u115f-users", "app-us\u034fers"]
UNPRINTABLE = [
    "app-users\u200b",
    "app\u200d-users",
    "\u202eapp-users",
    "app-users\u2066",
    "app\xadusers",
    "app\xa0users",
    "\ufeffapp-users",
]
TWINS = [
    "\u0430pp-users",
    "app-us\u0435rs",
    "\u0430\u0440\u0440-u\u0455er\u0455",
    "app-users".upper(),
    "\uff41pp-users",
    "\u03b1pp-users",
    "app -users",
    "a\u0440p-\u057dsers",
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "budget.sqlite"
    Ledger(path).spend("app-users", entry(), **LIMITS)
    return path


@pytest.mark.parametrize("name", [*INVISIBLE, *UNPRINTABLE, *TWINS], ids=ascii)
def test_a_name_that_cannot_be_told_from_another_gets_no_budget(name: str, kept: Path) -> None:
    with pytest.raises(InvalidInput, match=r"invisible|Did you mean 'app-users'|printable|blanks around") as said:
        Ledger(kept).spend(name, entry(), **LIMITS)
    assert "\n" not in str(said.value)
    assert len(Ledger(kept).populations()) == 1


@pytest.mark.parametrize("name", ["app_users", "app.users", "app-user5", "\u00e0pp-users", "appusers"])
def test_a_name_that_looks_like_another_at_a_glance_is_named_in_a_warning(
    name: str, kept: Path, tmp_path: Path
) -> None:
    ledger = Ledger(shutil.copy(kept, tmp_path))
    assert ledger.spend(name, entry(), **LIMITS).lookalikes == ("app-users",)
    assert any("looks like" in remark and "should have one budget" in remark for remark in ledger.check().remarks)


@pytest.mark.parametrize(
    "names",
    [
        ("north", "south"),
        ("users-2024", "users-2025"),
        ("\u043c\u0435\u0434", "\u043c\u0435\u043b"),
        ("\u043a\u0456\u0442", "\u043a\u0438\u0442"),
        ("\u6771\u4eac", "\u4eac\u90fd"),
        ("group A", "group B"),
    ],
)
def test_different_names_are_different(names: tuple[str, str]) -> None:
    assert check_new_name(names[1], [names[0]]) == names[1]
    assert lookalikes(names[1], [names[0]]) == ()


def test_within_one_alphabet_no_two_letters_are_the_same() -> None:
    for pairs in ALIKE:
        latin = [pair[1] for pair in pairs.split()]
        assert all(len(pair) == 2 for pair in pairs.split())
        if pairs is not ALIKE[-1]:
            assert len(set(latin)) == len(latin), pairs
