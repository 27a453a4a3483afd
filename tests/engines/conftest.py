"""One cluster and one driver for all tests that need Spark."""

from collections.abc import Iterator
from typing import Any

import pytest

from shuffledp import Poll
from shuffledp.design import Design
from tests.engines.cluster import Cluster, environment, missing, running
from tests.engines.driver import Drawings, driving
from tests.engines.naive import PEOPLE


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that need the cluster come first. pytest-xdist gives each worker a stretch of the list,
    and who has nothing left to do steals from the end of another's: so they stay together, and no
    second cluster is started.
    """
    items.sort(key=lambda item: "cluster" not in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with running(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="package")
def session(cluster: Cluster) -> Iterator[Any]:
    """A driver in this process, with an executor on each worker."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(cluster.folder).items():
            patch.setenv(name, value)
        started = cluster.session("attacks")
        yield started
        started.stop()


@pytest.fixture(scope="package")
def poll() -> Poll:
    """Noise by which two draws for one person differ three times out of four."""
    return Poll("histogram", categories=list("abcde"), n=PEOPLE, epsilon=0.08, delta=1e-6)


@pytest.fixture(scope="package")
def design(poll: Poll) -> dict[str, Any]:
    return Design.of(poll).as_json()


@pytest.fixture(scope="package")
def killed(
    cluster: Cluster, session: Any, design: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Drawings:
    """What a driver left that was killed with -9 in the middle of its work."""
    drawings = Drawings(session, design, tmp_path_factory.mktemp("driven"))
    with driving(cluster, drawings):
        return drawings
