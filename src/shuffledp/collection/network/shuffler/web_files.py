"""The pages and their parts, as the package ships them: all in memory, and nothing else can be
asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["WebFile", "web_files"]

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class WebFile:
    """What is sent, as what, and the tag by which a browser knows that it has it."""

    content: bytes
    media_type: str

    @property
    def tag(self) -> str:
        """A strong ETag."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


@cache
def web_files() -> Mapping[str, WebFile]:
    """Every file that a browser may load, by its name."""
    folder = files("shuffledp.collection.network") / "web"
    if not folder.is_dir():
        return {}
    found = {}
    for each in folder.iterdir():
        suffix = "." + each.name.rpartition(".")[2]
        if suffix in MEDIA_TYPES:
            found[each.name] = WebFile(each.read_bytes(), MEDIA_TYPES[suffix])
    return found
