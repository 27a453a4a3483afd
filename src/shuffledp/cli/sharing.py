"""Options that several commands share: written once, and handed to a command as one object."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

import typer

from shuffledp.cli.numbers import read_count, read_number

__all__ = ["Shared", "argument", "option", "sharing"]

Shared = Mapping[str, inspect.Parameter]
METAVARS: Mapping[Any, str] = {read_count: "COUNT", read_number: "NUMBER"}


def option(
    name: str,
    panel: str,
    meaning: str,
    *,
    default: object = None,
    annotation: type | None = None,
    flag: str | None = None,
    parser: Callable[[str], Any] | None = None,
    **more: Any,
) -> tuple[str, inspect.Parameter]:
    """One option, under the name that the command sees: a text if nothing else is said, and with
    the default False a switch.
    """
    more = {"metavar": METAVARS.get(parser), "parser": parser} | more
    written = typer.Option(
        default, f"--{flag or name.replace('_', '-')}", help=meaning, rich_help_panel=panel, show_default=False, **more
    )
    kind = annotation or (bool if default is False else str)
    return name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=written, annotation=kind)


def argument(
    name: str, meaning: str, *, annotation: object = str, default: object = ..., **more: Any
) -> tuple[str, inspect.Parameter]:
    """One argument, likewise."""
    written = typer.Argument(default, help=meaning, show_default=False, **more)
    return name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=written, annotation=annotation)


def sharing(shared: Shared, build: Callable[..., object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the shared options beside its own; it receives what ``build`` makes of them
    first. The last shared one is listed last.
    """

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**options: Any) -> None:
            built = build(**{name: options.pop(name) for name in shared})
            command(built, **options)

        built, *own = inspect.signature(command).parameters.values()
        command.__annotations__.pop(built.name)  # its type may be known to the type checker alone
        hints = get_type_hints(command, include_extras=True)
        run.__annotations__ = hints
        *most, last = shared.values()
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                *most,
                *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[each.name]) for each in own),
                last,
            ]
        )
        return run

    return wrap
