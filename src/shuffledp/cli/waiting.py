"""What a person sees while something takes long: on standard error, and only on a terminal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:  # bars are drawn only where somebody looks
    from rich.progress import Progress

__all__ = ["Tick", "Watch", "bars", "counted", "patiently", "progress"]

PATIENCE = 1.0  # seconds before a terminal is told that something is being computed

Tick = Callable[[int, int], None]  # how many are done, of how many
Watch = Callable[[int | None, Callable[[], float | None]], Callable[[int], None]]


@contextmanager
def patiently(what: str) -> Iterator[None]:
    """Say what is being computed, if it takes longer than a moment."""
    console = Console(stderr=True)
    status = console.status(f"{what} ...")
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()


@contextmanager
def bars() -> Iterator[Progress]:
    """The one look of all bars: what, how far, ``said`` in words, and the time that is left."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[said]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        yield drawn


@contextmanager
def counted(what: str) -> Iterator[Tick | None]:
    """A bar for things that are counted; None where nobody looks, so that nobody counts."""
    if not Console(stderr=True).is_terminal:
        yield None
        return
    with bars() as drawn:
        task = drawn.add_task(what, total=None, said="")

        def tick(done: int, total: int) -> None:
            drawn.update(task, completed=done, total=total, said=f"{done:,} of {total:,}")

        yield tick


@contextmanager
def progress(what: str, then: str | None = None) -> Iterator[Watch]:
    """A bar for rows, with their rate; ``then`` says what follows when all rows are done.

    It yields a function: given the number of rows, or, where that is unknown, a function that says
    what part is done, it returns one to tell how many more rows are done.
    """
    with bars() as drawn:

        def watch(rows: int | None, part: Callable[[], float | None]) -> Callable[[int], None]:
            task, began, done = drawn.add_task(what, total=None, said=""), monotonic(), 0

            def tick(more: int) -> None:
                nonlocal done
                done += more
                share = done / rows if rows else part()
                rate = done / max(monotonic() - began, 1e-3)
                drawn.update(
                    task,
                    total=None if share is None else 1.0,
                    completed=share or 0.0,
                    said=f"{done:,} rows, {rate / 1e6:.1f} million a second",
                )
                if then is not None and rows and done >= rows:
                    drawn.update(task, description=then, total=None)

            return tick

        yield watch
