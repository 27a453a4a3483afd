"""Every test that asks for a ``place`` runs on both stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shuffledp.randomizers.messages import MessageLaw
from tests.survey.several import with_law
from tests.survey.stores.places import Place
from tests.survey.studies import study

Places = Callable[..., Place]


@pytest.fixture
def own(request: pytest.FixtureRequest) -> str:
    """A question that no other test asks, so that the collection is another one."""
    return request.node.nodeid.encode("ascii", "replace").decode()[-300:]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.fleet)])
def place(request: pytest.FixtureRequest, tmp_path: Path, own: str) -> Iterator[Places]:
    made: list[Place] = []

    def at(*, codes: bool = False, law: MessageLaw | None = None) -> Place:
        kind = request.param
        where = tmp_path / "reports.sqlite" if kind == "sqlite" else request.getfixturevalue("database").address()
        changed: dict[str, Any] = {"question": own, "codes": codes}
        made.append(Place(study(**changed) if law is None else with_law(law, **changed), where))
        return made[-1]

    yield at
    for each in made:
        each.stop()
