"""A stand-in for the figure of a release, which takes longer to draw than all the rest takes to
compute: a grey dot, written in the same way.

Figures are drawn where they are what is tested: tests/collection/release/test_picture.py draws those
of releases, and the demo runs commands as they are.
"""

import struct
import zlib
from pathlib import Path

from shuffledp.collection.record import Record
from shuffledp.storage.files import replace_file

__all__ = ["DRAWN_BY", "sketch"]

DRAWN_BY = "shuffledp.collection.release.write.release_figure"


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


DOT = b"\x89PNG\r\n\x1a\n" + b"".join(
    [
        _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),  # one pixel, 8 bits of grey
        _chunk(b"IDAT", zlib.compress(b"\x00\x80")),
        _chunk(b"IEND", b""),
    ]
)


def sketch(_: Record, path: Path) -> Path:
    """What `release_figure` does, without a look at the record."""
    replace_file(path, lambda temporary: temporary.write_bytes(DOT))
    return path
