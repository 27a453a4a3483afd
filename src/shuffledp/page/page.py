"""The page of a release: templates over its record. The same record gives the same page, so that a
changed page betrays itself.

A page loads nothing and runs nothing. ``page.html`` is its frame, ``questions/<name>/section.html``
says what is particular to a question, ``mechanisms/<family>.html`` how reports hide answers.
"""

from __future__ import annotations

import html as entities
import re
import sys
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp import numerals, wording
from shuffledp.errors import InvalidInput
from shuffledp.numerals import count, exact, scientific, tied
from shuffledp.page import facts, sentences
from shuffledp.page.drawings import Drawings, bars_of
from shuffledp.page.svg import Chart, Markup, SvgFigure, printable, sheet
from shuffledp.questions import OURS, folder_of, origin_of
from shuffledp.record import Record, Table, data_block, read_record
from shuffledp.schema import unusual

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.bccache import Bucket
    from jinja2.environment import TemplateModule

HERE = Path(__file__).parent
BLANK = re.compile(r"[ \t]*\n(?:[ \t]*\n)+|\n[ \t]+(?=<)")  # what templates leave between lines
MARKED = re.compile(r"<[^>]*>")
SEEDED = ", not for release"


class Parts:
    """What a template says in its macros; what it leaves out, the templates that it is like say."""

    def __init__(self, *modules: TemplateModule) -> None:
        self._modules = modules

    def __getattr__(self, name: str) -> Any:
        for module in self._modules:
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(name)


class ResultPage:
    """A release on its page: what its question's section says, and what it draws."""

    def __init__(self, record: Record) -> None:
        self.record, self.draw = record, Drawings(record)
        self.context: dict[str, Any] = {
            "record": record,
            "asked": record.asked,
            "design": record.design,
            "question": record.question,
            "law": record.design.mechanism,
            "place": record.design.domain.place,
            "counted": record.counted,
            "certified": record.certificate,
            "found": record.estimates,
            "ledger": record.ledger,
            "draw": self.draw,
            "origin": origin_of(record.question.type),
        }
        self.section = self._parts(f"questions/{record.question.type}/section.html", "values.html")

    def said(self, part: str) -> str:
        """What the section says in one of its macros, as plain text."""
        return _text(getattr(self.section, part)())

    @property
    def chart(self) -> Chart | None:
        """The chart of the answer, if there is one."""
        self.section.chart()
        return self.draw.answer

    @property
    def name(self) -> str:
        """The title of the page: what the user called it, or what it is."""
        asked = self.record.asked
        if asked.title:
            return asked.title
        if asked.column:
            return f"{asked.column}: {self.said('kind')}"
        return numerals.sentence(asked.what or f"{asked.question} of one column").removesuffix(".")

    def html(self) -> str:
        """The whole page."""
        family = self.record.design.mechanism.type.replace(" ", "_")
        hiding = self._parts(f"mechanisms/{family}.html", "mechanisms/other.html")
        whole = self.record.as_json()
        own = {"section": self.section, "hiding": hiding, "name": self.name, "whole": whole}
        return rendered("page.html", **self.context, **own, data=Markup(data_block(whole)))

    def _parts(self, own: str, usual: str) -> Parts:
        """A template of its own, if there is one, on top of the usual one."""
        first = environment().select_template([own, usual]).make_module(self.context)
        names = [first.like, usual] if hasattr(first, "like") else [usual]
        return Parts(first, *(environment().get_template(name).make_module(self.context) for name in names))


def html(record: Record) -> str:
    """One HTML file that shows a release and holds its record: no network, no script that runs,
    nothing beside it.
    """
    from jinja2 import TemplateError

    try:
        return ResultPage(record).html()
    except TemplateError as error:  # as only a record that shuffledp did not write lets it happen
        raise unusual("page", error.message) from None
    except Exception as error:
        if isinstance(error, InvalidInput) or (name := record.design.question.type) in OURS:
            raise
        raise InvalidInput(
            f"the page of the question {name!r:.60} must be written by the package that it comes from, got "
            f"{type(error).__name__} from it. Update that package."
        ) from error


def release_svg(record: Record) -> SvgFigure:
    """The chart of a release by itself."""
    shown, bound = ResultPage(record), record.certificate.epsilon
    words = [
        f"{count(record.counted.people)} people",
        f"ε ≤ {scientific(bound.upper, up=True)} at δ = {exact(bound.delta)}{'' if record.secure else SEEDED}",
        *([f"accuracy {shown.said('accuracy')} ({shown.said('accuracy_of')})"] if record.estimates.value else ()),
    ]
    charts = [(shown.said("in_words"), chart)] if (chart := shown.chart) is not None else []
    return SvgFigure(shown.name, tied("; ".join(words)), charts, shown.said("caption"))


def estimates_svg(found: Table, reports: int, *, secure: bool) -> SvgFigure:
    """Estimates of which no more is known."""
    promise = f"{count(reports)} reports{'' if secure else SEEDED}"
    usual = Parts(environment().get_template("values.html").make_module({"found": found}))
    return SvgFigure("Estimates", promise, [("", bars_of(found))], _text(usual.caption()))


def _text(written: str) -> str:
    return plain(entities.unescape(MARKED.sub("", written)))


def unchanged(text: str) -> bool:
    """Whether a page shows exactly what the record inside it says."""
    return plain(html(read_record(text))) == plain(text)


def plain(text: str) -> str:
    """The source of a page, each run of white space as one space: mail, editors and other versions
    of Jinja write other ends of lines.
    """
    return re.sub(r"[ \t\r\n\f]+", " ", text.removeprefix("\ufeff")).strip(" ")


def rendered(template: str, **context: Any) -> str:
    """A template, filled in."""
    style = Markup(sheet("charts") + sheet("style"))
    return BLANK.sub("\n", environment().get_template(template).render(style=style, **context)).strip() + "\n"


@cache
def environment() -> Environment:
    """All templates: what they show is escaped, and a name that does not exist is an error."""
    from jinja2 import (
        ChoiceLoader,
        Environment,
        FileSystemBytecodeCache,
        FileSystemLoader,
        FunctionLoader,
        PrefixLoader,
        StrictUndefined,
    )

    class Compiled(FileSystemBytecodeCache):
        """Templates are compiled once, as modules are, and kept with them where that works."""

        def dump_bytecode(self, bucket: Bucket) -> None:
            if not sys.dont_write_bytecode:
                with suppress(OSError):
                    super().dump_bytecode(bucket)

    others = PrefixLoader({name: FileSystemLoader(HERE.parent / name) for name in ("questions", "series")})
    found = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        lstrip_blocks=True,
        bytecode_cache=Compiled(str(HERE / "__pycache__"), "escaped-%s.jinja"),
        loader=ChoiceLoader([others, FileSystemLoader(HERE), FunctionLoader(_section)]),
    )
    for module in (facts, numerals, sentences):
        found.globals |= {name: getattr(module, name) for name in module.__all__}
    found.globals |= {name: getattr(wording, name) for name in ("in_percent", "reserved", "right")}
    return found


def _section(template: str) -> str | None:
    """The section of a question that another distribution adds, from its folder, if it has one."""
    name = re.fullmatch("questions/(.+)/section.html", template)
    if name is None or name[1] in OURS:
        return None
    section = files(folder_of(name[1])).joinpath("section.html")
    return section.read_text(encoding="utf-8") if section.is_file() else None


def _shown(value: object) -> object:
    """What stands for a value: nothing for None, and no letter that cannot be shown."""
    if value is None:
        return ""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
