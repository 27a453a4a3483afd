"""One run of the command line: the command is loaded and called, and whatever happens becomes an
exit code and at most one line of error.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import typer
import typer.main

from shuffledp.cli.listing import app, load
from shuffledp.errors import InvalidInput, ShuffledpError, printable

__all__ = ["Run"]

COMPLETION = "_SHUFFLEDP_COMPLETE"  # set by a shell that completes a line
LINES = re.compile(r"\s*[\r\n]\s*")  # spaces within a line may be those of a name
# BadParameter is a UsageError is a ClickException: every error of the parser. It has no public name
# in all versions of typer.
ParserError: type[Exception] = typer.BadParameter.__mro__[2]


class Run:
    """The words after ``shuffledp``, and what they lead to."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)
        self.as_json = "--json" in self.arguments
        called = next((word for word in self.arguments if not word.startswith("-")), None)
        if called is not None or COMPLETION in os.environ:
            load(None if COMPLETION in os.environ else called)
        self.command = _command(len(app.registered_commands), len(app.registered_groups))

    def code(self) -> int:
        """Call the command and return the exit code."""
        try:
            if sys.stdout is None:
                raise OSError(errno.EBADF, "standard output is closed")
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(
                    errors="backslashreplace"
                )  # a label that the terminal cannot show must not lose an answer
            code = self.command(args=self.arguments, prog_name="shuffledp", standalone_mode=False)
            sys.stdout.flush()
        except ShuffledpError as error:  # anything but an invalid input is an answer withheld
            return self._refuse(error.typed, code=2 if isinstance(error, InvalidInput) else 1)
        except ParserError as error:
            return self._refuse(_explained(error))
        except (typer.Abort, KeyboardInterrupt):
            return 130
        except OSError as error:  # standard output is full, or its reader, such as head, has seen enough
            if sys.stdout is not None:
                os.dup2(
                    os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
                )  # or the interpreter would try again at exit
            return (
                1
                if isinstance(error, BrokenPipeError)
                else self._refuse(f"the answer could not be written: {error.strerror}.", code=1)
            )
        except Exception as error:  # a slip of ours: withheld, and said in one line
            words = (
                f"an internal check failed ({type(error).__name__}: {error}). This is a bug in shuffledp; please "
                f"report the command."
            )
            return self._refuse(words, code=1)
        return int(code or 0)

    def _refuse(self, message: str, *, code: int = 2) -> int:
        words = printable(LINES.sub(" ", message.strip()))
        print(json.dumps({"error": words, "exit": code}) if self.as_json else f"error: {words}", file=sys.stderr)
        return code


@cache
def _command(*_loaded: int) -> Callable[..., Any]:
    """What the parser makes of all that is loaded; made again when there is more of it, and not for
    every run in one process.
    """
    command: Callable[..., Any] = _plainly(typer.main.get_command(app))
    return command


def _plainly(command: Any) -> Any:
    """The command, and all below it, without ``<bool>`` beside options that take no value."""
    with typer.Context(command) as context:
        for parameter in command.get_params(context):
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
    for each in getattr(command, "commands", {}).values():
        _plainly(each)
    return command


def _explained(error: Any) -> str:
    """The parser's own words, and a remedy where they have none."""
    words: str = error.format_message().strip()
    words += "." if words and not words.endswith((".", "?")) else ""
    if (
        isinstance(error, typer.BadParameter) and error.message
    ):  # from one of our readers, which says what to write instead
        return words
    meaning = getattr(getattr(error, "param", None), "help", None) or ""
    path = error.ctx.command_path if getattr(error, "ctx", None) else "shuffledp"
    return " ".join(filter(None, (words, meaning, f"Try '{path} --help'.")))
