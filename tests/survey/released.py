"""What an analyst has: a study's folder, and a file of sealed reports, made without any server."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import Envelopes, SealedHeader
from shuffledp.survey.organizer import COLLECTION
from shuffledp.survey.organizer import KEY as KEY_FILE
from tests.survey.studies import ADDRESS, KEY

LEAST, MOST = 100, 200
YES, NO = 90, 60
TRUTH = np.array([0] * YES + [1] * NO)


@cache
def poll(rounds: int = 1) -> Design:
    """Two answers of few people: certified and verified in no time."""
    return Design.of(
        Poll("histogram", categories=["yes", "no"], n=MOST, honest=LEAST, epsilon=2.0, delta=1e-2, rounds=rounds)
    )


def announced(folder: Path, *, design: Design | None = None, **changed: Any) -> Collection:
    """A collection of ``poll``, and its folder with the analyst's key."""
    collection = Collection(design=design or poll(), key=KEY.public, shuffler=ADDRESS, **changed)
    folder.mkdir()
    (folder / COLLECTION).write_bytes(collection.content)
    KEY.write(folder / KEY_FILE)
    return collection


def answers(collection: Collection, values: Any = TRUTH, *, seed: int = 1) -> list[bytes]:
    """The sealed answers of people who hold these values."""
    return Envelopes(collection).seal(collection.reporter.encode(values, rng=np.random.default_rng(seed)))


def write_sealed(path: Path, collection: Collection, envelopes: Iterable[bytes]) -> Path:
    """What a shuffler releases of these envelopes."""
    ordered = sorted(envelopes)
    header = SealedHeader.of(collection.digest, len(ordered), Envelopes(collection).length)
    path.write_bytes(header.content + b"".join(ordered))
    return path
