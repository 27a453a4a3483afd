"""The command line: a set-up in, a certified answer out, as a table or as JSON.

tree         the help that lists all commands, and what the help of each shows
app          how a command is registered and parsed, and one run with its exit code
options      the options of commands, those of questions from their declarations
setup        those of commands about shuffled reports, as one ``Setup``; randomizers by name
show         answers as tables, as plain words, and as strict JSON; what is seen meanwhile
commands     epsilon, delta, calibrate, explain, curve
compare      every published bound on one mechanism, also those in a stranger's file
published    --bound: what a published bound says
papers       papers list, show, bounds, reproduce
plan         which mechanism for a question; --web, the planner as a page
training     which sampler for a training, and how much noise
look         what a table holds, and a command to copy
questions    histogram, mean, crosstab and the others: from a table to a defended answer
top          the most frequent words of a column, from no list at all
spark        the same on tables that Spark reads
stages       stage design, encode, shuffle, analyze: the same in parts; and example
series       series new, add, status, plot: one design, asked every week
survey       survey new, invite, next; status, close, fetch, which ask the shuffler; open
send         survey send: a report, or those of a table
serve        survey serve: the shuffler of a survey
audit        audit privacy, audit poisoning
ledger       ledger show, check, export
verify       a page, recomputed
demo         the whole story in a minute

Exit codes: 0, an answer was printed; 2, the request was wrong, and one line on standard error says
why and what to do; 1, an answer failed its own check or could not be written, or an audit found a
violation; 3, a page could be verified only in part; 130, interrupted. With --json the line on
standard error is a JSON object, ``{"error": ..., "exit": ...}``.

This module imports next to nothing, so that Ctrl-C is heeded, and quietly, from the moment on when
Python has begun to run it.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; without ``arguments``, those of the process,
    which is expected to end then.
    """
    usual = _on_interrupt(_leave)  # a KeyboardInterrupt in the middle of an import would be printed, or even lost
    from shuffledp.cli.app import Run

    run = Run(sys.argv[1:] if arguments is None else arguments)
    if usual is not None:
        _on_interrupt(usual)
    code = run.code()
    if arguments is None and usual is not None:
        _on_interrupt(_leave)
    return code


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


def _on_interrupt(handler: object) -> object | None:
    """Set what Ctrl-C does, and return what it did; None, and nothing is changed, where it is not
    for us to say.
    """
    before = signal.getsignal(signal.SIGINT)
    if (
        before is not _leave and before is not signal.default_int_handler
    ):  # such as in the background of a script, which ignores it
        return None
    try:
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
    except ValueError:  # not in the main thread
        return None
    return before
