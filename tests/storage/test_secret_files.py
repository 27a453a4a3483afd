"""A secret is read from a file of its owner's alone, whole, and without waiting."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.storage.files import read_secret

WORDS = {"what": "a secret", "whence": "Ask.", "instead": "make another.", "damaged": "Restore it."}


def test_a_secret_is_read_or_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("0a1b\n")
    path.chmod(0o600)
    assert read_secret(path, 4, **WORDS) == "0a1b"
    for damaged in ("", "0a1", "0A1B", "0a1b\n\n", "0a1b0", "zzzz", "\ufeff0a1b"):
        path.write_text(damaged)
        with pytest.raises(InvalidInput, match=r"must hold 4 hexadecimal digits, got something else\. Restore it\."):
            read_secret(path, 4, **WORDS)
    path.chmod(0o604)
    with pytest.raises(InvalidInput, match=r"got permissions 604\. .* otherwise make another\."):
        read_secret(path, 4, **WORDS)
    with pytest.raises(InvalidInput, match=r"must be a secret, got none that can be read: .* Ask\."):
        read_secret(tmp_path / "none", 4, **WORDS)


def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(InvalidInput, match="must hold 4 hexadecimal digits"):
        read_secret(tmp_path / "pipe", 4, **WORDS)
