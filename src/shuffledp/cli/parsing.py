"""How every command is parsed: an option that takes one value is given once, all that is missing is
said at once, and examples are never wrapped.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from shuffledp.errors import InvalidInput
from shuffledp.questions import OURS, options_module
from shuffledp.release.options import Option, options_of

__all__ = ["App"]

Function = TypeVar("Function", bound=Callable[..., Any])

EXAMPLES = {"n": "10000"}


class _Examples:
    """Print what stands at the end of a command's help as it is: its lines are to be copied."""

    epilog: str | None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        epilog, self.epilog = self.epilog, None
        try:
            super().format_help(ctx, formatter)  # type: ignore[misc]
        finally:
            self.epilog = epilog
        if epilog:
            print("".join(f" {line}\n" if line else "\n" for line in epilog.replace(r"\[", "[").split("\n")))


class _Command(_Examples, TyperCommand):
    """A command whose options are looked at together before any of them is believed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            values, _, order = self.make_parser(ctx).parse_args(args=list(args))
            if not any(parameter.name == "help" for parameter in order):
                _check_once(order)
                self._check_all_there(ctx, values)
        return super().parse_args(ctx, args)

    def _check_all_there(self, ctx: Any, values: Mapping[str, Any]) -> None:
        parameters = {parameter.name: parameter for parameter in self.get_params(ctx)}
        asked = str(values.get("task") if "task" in parameters else ctx.info_name)
        known = options_of(options_module(asked).Options) if asked in OURS else {}
        needed = _needed(parameters, values, known)
        missing = [
            name
            for name, each in parameters.items()
            if (each.required and values.get(name) in (None, ())) or name in needed
        ]
        if not missing:
            return
        columns = _columns(parameters, values)
        if len(columns) > 1 and values.get("column") in (None, []):
            missing.insert(0, "column")
        if len(missing) < 2:
            return  # whoever needs it says so, with its own remedy
        titles = [_title(parameters[name]) for name in missing]
        there = (
            f" The columns are {', '.join(map(repr, columns[:20]))}{' and more' * (len(columns) > 20)}."
            if "column" in missing
            else ""
        )
        examples = (
            EXAMPLES
            | {name: each.example for name, each in known.items() if each.example is not None}
            | {"column": columns[0] if columns else ""}
            | ({"out": "result"} if "dry_run" in parameters else {})
        )
        shown = [f"--{name} {examples[name]}" for name in missing if name in examples]
        example = f" Add, for example, {' '.join(shown)}." if shown else ""
        example += " `shuffledp look FILE` prints categories to copy." if "categories" in missing else ""
        raise InvalidInput(
            f"Missing options {', '.join(titles[:-1])} and {titles[-1]}.{there}{example} Try '{ctx.command_path} "
            f"--help'."
        )


class _Group(_Examples, TyperGroup):
    """A command that has commands."""


class App(typer.Typer):
    """A set of commands of that kind."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=_Group, rich_markup_mode="rich", **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        """Register a command."""
        return super().command(name, cls=_Command, **options)


def _title(parameter: Any) -> str:
    """How a person calls it."""
    if parameter.param_type_name == "option":
        return f"'{max(parameter.opts, key=len)}'"
    return f"'{parameter.metavar or parameter.name.upper()}'"


def _check_once(order: list[Any]) -> None:
    """Refuse an option that is given twice: the last one would win without a word."""
    single = (
        each for each in order if each.param_type_name == "option" and not (each.is_flag or each.multiple or each.count)
    )
    for parameter, times in Counter(single).items():
        if times > 1:
            option = max(parameter.opts, key=len)
            raise InvalidInput(
                f"{option} must be given once, got it {times} times. Leave out all but one: only the last would count."
            )


def _needed(parameters: Mapping[str, Any], values: Mapping[str, Any], known: Mapping[str, Option]) -> list[str]:
    """What a command needs under the circumstances, and does not have."""
    needed = [
        name
        for name, each in known.items()
        if name in parameters and (each.required or each.instead is not None)
        if not any(values.get(one) for one in (name, *(each.instead or ())))
    ]
    if "out" in parameters and "force" in parameters and values.get("out") is None and not values.get("dry_run"):
        needed.append("out")
    return needed


def _columns(parameters: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """The columns of the table, if that can be had; a name that none of them has is refused here,
    before anything else.
    """
    source = values.get("source")
    if isinstance(source, (tuple, list)):
        source = source[0] if len(source) == 1 and values.get("engine") is None else None
    if not {"source", "column"} <= set(parameters) or source in (None, "-"):
        return []
    from shuffledp.tables.columns import find_column
    from shuffledp.tables.formats import open_table

    table = None
    with suppress(InvalidInput):
        table = open_table(source, values.get("format"), values.get("encoding"))
    if table is None:
        return []
    named = values.get("column") or []
    for name in [named] if isinstance(named, str) else named:
        find_column(table, name, "column")
    return table.names
