"""How griffe reads our docstrings and signatures for the site; mkdocs.yml names this file among its
extensions.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import Parameter as Argument
from inspect import cleandoc, formatannotation, signature
from typing import Any

from griffe import Attribute, Extension, Function, Object, Parameter, ParameterKind, Parameters

__all__ = ["Readable", "fenced"]

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
MAP = re.compile(r"^(?:\w+ {2,}\S.*(?:\n|\Z)){2,}", re.MULTILINE)  # what the modules of a package hold


class Readable(Extension):
    """Doctests are fenced, and a required field of a dataclass is shown without the ``field()``
    that only slots need. The options of a question stand where it is declared that it takes them.
    """

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_attribute_instance(
        self, *, attr: Attribute, **kwargs: Any
    ) -> None:  # before griffe makes the signature of the dataclass
        if str(attr.value) == "field()":
            attr.value = None

    def on_function_instance(self, *, func: Function, **kwargs: Any) -> None:
        """A question shows the options that are declared for it, as ``help`` does."""
        if not any("keywords" in str(each.value) for each in func.decorators):
            return
        real: Any = import_module(func.module.path)
        for name in func.path.removeprefix(f"{func.module.path}.").split("."):
            real = getattr(real, name)
        func.parameters = Parameters(*map(_shown, signature(real).parameters.values()))
        assert func.docstring is not None
        own, options, listed = cleandoc(real.__doc__).rpartition("\n\nOptions:\n")
        func.docstring.value = (
            fenced(own) + options + re.sub(r"^    (\w+): ", r"\n- `\1`: ", listed, flags=re.MULTILINE)
        )


def _shown(each: Argument) -> Parameter:
    kind = next(one for one in ParameterKind if one.value == each.kind.description)
    default = None if each.default is Argument.empty else repr(each.default)
    return Parameter(each.name, annotation=formatannotation(each.annotation).strip("'"), kind=kind, default=default)


def fenced(text: str) -> str:
    """``text`` with a fence around each example, from its first prompt to the next empty line, as
    Markdown would take ``>>>`` for a quotation; and around the map of a package, as it would join
    the lines.
    """
    text = MAP.sub(lambda found: f"```text\n{found[0].rstrip()}\n```\n", text)
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
