"""A token is its owner's alone, and compared without telling how near a guess came."""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.survey.shuffler.app import Token, made_token, read_token


def test_a_token_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "token"
    text = made_token(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert made_token(path) == read_token(path) == text
    assert made_token(tmp_path / "other") != text
    token = Token(text)
    assert token.admits(f"Bearer {text}")
    assert token.admits(f"bearer  {text} ")
    for wrong in (None, "", "Bearer", f"Bearer {text[:-1]}", f"Bearer {text}0", text, f"Basic {text}", "Bearer \udcff"):
        assert not token.admits(wrong)
    assert text not in repr(token)
    assert text not in str(vars(token))


def test_of_shufflers_that_start_at_once_all_have_the_token_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    text = made_token(path)
    monkeypatch.setattr("os.path.lexists", lambda _: False)  # as if both had looked before either wrote
    assert made_token(path) == read_token(path) == text


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    made_token(path)
    path.chmod(0o644)
    with pytest.raises(InvalidInput, match="readable by its owner alone, got permissions 644"):
        made_token(path)
    path.chmod(0o600)
    for wrong in ("", "abc", "0" * 63, "0" * 65, "Z" * 64):
        path.write_text(wrong)
        with pytest.raises(InvalidInput, match="64 hexadecimal digits"):
            made_token(path)
    with pytest.raises(InvalidInput, match="got none that can be read"):
        read_token(tmp_path / "none")
    with pytest.raises(InvalidInput, match="must exist"):
        made_token(tmp_path / "nowhere" / "token")
