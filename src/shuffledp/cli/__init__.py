"""The command line: a set-up in, a certified answer out, as a table or as JSON.

randomizers  the names and parameters of randomizers, as they are typed
parsing      every option once, all that is missing at once
setup        the options that all commands share, as one ``Setup``
show         answers as tables, as plain words, and as strict JSON
commands     epsilon, delta, calibrate, explain, curve
compare      compare, bounds
reproduce    the figures of the papers
plan         which protocol for a task
audit        attacks on the code that runs
look         what a table holds, and a command to copy
asking       the options of a question about a table
release      histogram, frequency, mean: from a table to a defended answer
stages       design, encode, shuffle, analyse: the same in parts; and example
ledger       show, check, export
verify       a report, recomputed

Exit codes: 0, an answer was printed; 2, the request was wrong, and one line on standard error says why and what to do; 1, an answer
failed its own check or could not be written, or an audit found a violation; 130, interrupted.
"""

import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from shuffledp.cli import audit as _audit  # noqa: F401
from shuffledp.cli import compare as _compare  # noqa: F401
from shuffledp.cli import ledger as _ledger  # noqa: F401
from shuffledp.cli import look as _look  # noqa: F401
from shuffledp.cli import plan as _plan  # noqa: F401
from shuffledp.cli import release as _release  # noqa: F401
from shuffledp.cli import reproduce as _reproduce  # noqa: F401
from shuffledp.cli import stages as _stages  # noqa: F401
from shuffledp.cli import verify as _verify  # noqa: F401
from shuffledp.cli.commands import PANELS, app
from shuffledp.errors import InvalidInput, ShuffledpError

__all__ = ["main"]

# The help lists commands in the order of the work, whichever module was imported first.
app.registered_commands.sort(key=lambda each: PANELS.index(str(each.rich_help_panel)))

# BadParameter is a UsageError is a ClickException: every error of the parser. It has no public name in all versions of typer.
ParserError: type[Exception] = typer.BadParameter.__mro__[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # a label that the terminal cannot show must not lose an answer
        code = app(args=arguments, prog_name="shuffledp", standalone_mode=False)
        sys.stdout.flush()
    except ShuffledpError as error:  # anything but an invalid input is an answer withheld
        return _refuse(str(error), code=2 if isinstance(error, InvalidInput) else 1)
    except ParserError as error:
        return _refuse(_explained(error))
    except typer.Abort:
        return 130
    except OSError as error:  # standard output is full, or its reader, such as head, has seen enough
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter would try again at exit
        if not isinstance(error, BrokenPipeError):
            print(f"error: the answer could not be written: {error.strerror}.", file=sys.stderr)
        return 1
    except Exception as error:  # a slip of ours: withheld, and said in one line
        return _refuse(f"an internal check failed ({type(error).__name__}: {error}). This is a bug in shuffledp; please report the command.", code=1)
    return int(code or 0)


def _explained(error: Any) -> str:
    """The parser's own words, and a remedy where they have none."""
    words: str = error.format_message().strip()
    words += "" if words.endswith((".", "?")) else "."
    if isinstance(error, typer.BadParameter) and error.message:  # from one of our readers, which says what to write instead
        return words
    meaning = getattr(getattr(error, "param", None), "help", None) or ""
    path = error.ctx.command_path if getattr(error, "ctx", None) else "shuffledp"
    return f"{words} {meaning} Try '{path} --help'."


def _refuse(message: str, *, code: int = 2) -> int:
    print("error:", " ".join(message.split()), file=sys.stderr)
    return code
