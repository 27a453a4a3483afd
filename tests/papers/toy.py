"""Experiments that take no time, and some that go wrong: a catalogue."""

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from shuffledp.errors import InvalidInput
from shuffledp.papers.experiment import Axis, Experiment, Line

X = np.linspace(0.1, 2.0, 20)


def curves() -> Iterator[Line]:
    for panel, shift in (("n = 100", 1.0), ("n = 1000", 2.0)):
        yield Line("certified", "upper", X, np.exp(-shift * X), panel)
        yield Line("certified", "lower", X, np.exp(-shift * X) / 1.3, panel)
        yield Line("Thm 1", "published", X[5:], 4.0 * np.exp(-shift * X[5:]), panel)
        yield Line("Thm 1", "outside", X[:6], 4.0 * np.exp(-shift * X[:6]), panel)
        yield Line("eq. (2), as printed", "invalid", X, np.where(X < 1.5, np.exp(-2.0 * shift * X), np.nan), panel)
    yield Line("the paper's table", "printed", X[::5], np.exp(-3.0 * X[::5]), "n = 1000")


def light() -> Iterator[Line]:
    yield Line("certified", "upper", X, np.exp(-X))
    yield Line("certified", "lower", X, np.exp(-X) / 1.3)


def slow() -> Iterator[Line]:
    for line in curves():
        time.sleep(0.4)
        yield line


def failing() -> Iterator[Line]:
    yield next(light())
    raise ValueError("the toy broke")


def refusing() -> Iterator[Line]:
    yield next(light())
    raise InvalidInput("epsilon0 must be positive, got -1.")


def verdict(lines: Sequence[Line]) -> str:
    return f"{len(lines)} curves agree."


def toy(name: str, compute: Callable[[], Iterator[Line]] = light, count: int = 2) -> Experiment:
    return Experiment(
        name=name,
        paper="Toy et al. 2020",
        title="Figure 1: delta against epsilon",
        parameters="epsilon0 = 1, k = 3, ours",
        x=Axis("epsilon"),
        y=Axis("delta", log=True),
        count=count,
        compute=compute,
        verdict=verdict,
    )


EXPERIMENTS = (
    toy("toy-one"),
    toy("toy-two"),
    toy("toy-slow", slow, 11),
    toy("toy-failing", failing),
    toy("toy-refusing", refusing),
)
