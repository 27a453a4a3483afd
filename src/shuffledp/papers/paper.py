"""A paper and what it states: where each statement is in this package, how to run it, the number
that the paper prints next to ours, and a verdict. The texts are in ``statements/*.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from typing import Any, Literal, get_args

from shuffledp.errors import InvalidInput, check_text

# works: the statement is reproduced    paper errs: the package has it, and shows that it is wrong
# parameters lost: our text of the paper lacks what a comparison needs
# data not public: the paper's data are not part of this package    definition: nothing to compute
# missing: the package does not have it
Verdict = Literal["works", "paper errs", "parameters lost", "data not public", "definition", "missing"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
FIRST, REVISION = "first version", "revision"
EQUATION = r"(?<!\w)\(((?:\w\.)?\d+)\)"  # a number in parentheses: (2.3), (C.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A definition, theorem, algorithm, figure or table of a paper.

    ``label`` is its number as printed, in the ``version`` of the paper if there are several, and
    ``first`` its number in the first version if that differs. ``where`` is the dotted name of what
    implements it, and ``bounds`` are the names to pass to ``--bound``. ``run`` is a command, or a
    Python session, that can be copied; its output contains every number in ``ours``, and the tests
    run it. ``printed`` is what the paper says.
    """

    label: str
    says: str
    verdict: Verdict = "works"
    version: str = ""
    first: str = ""
    where: str = ""
    bounds: tuple[str, ...] = ()
    run: str = ""
    printed: str = ""
    ours: str = ""
    why: str = ""
    erratum: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """What it can be asked by: "theorem-8", "first-definition-8"; of "Lemmas 1 to 5", each."""
        own, first = ("", self.label) if self.version == FIRST else (self.label, self.first)
        return (*_slugs(own), *(f"first-{name}" for name in _slugs(first)))

    @property
    def title(self) -> str:
        """Its number, with the version or versions that have it."""
        if not self.version:
            return self.label
        return f"{self.label} of the {self.version}" + (f", {self.first} of the {FIRST}" if self.first else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper: ``cited`` is its short form in bounds, figures and errata; ``brought`` says what was
    new; ``start`` runs its main algorithm on parameters of your own.

    A statement is an attribute, with its number written out: ``paper.theorem_8``.
    """

    name: str
    cited: str
    authors: str
    year: int
    title: str
    published: str
    link: str
    brought: str
    start: str = ""
    numbering: str = ""
    statements: tuple[Statement, ...] = ()

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    @property
    def _known(self) -> dict[str, Statement]:
        """By name; a number that only the first version has is known without "first-", too."""
        named = {name: each for each in self for name in each.names}
        return {name.removeprefix("first-"): each for name, each in named.items()} | named

    def __getattr__(self, name: str) -> Statement:
        for known, statement in self._known.items():
            if _attribute(known) == name:
                return statement
        raise AttributeError(f"{self.name} has no statement {name!r}; dir() lists them")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *map(_attribute, self._known)})

    def find(self, name: str) -> Statement:
        """The statement of that name or title, such as "theorem-8"; spaces and capitals do not
        matter. For a number that has no statement of its own, the first one that mentions it.
        """
        asked = re.sub("(.+)-of-the-first-version", r"first-\1", self._word(name).partition("-of-the-revision")[0])
        found = self._known.get(asked) or next((each for each in self if _mentions(each, asked)), None)
        if found is None:
            close = get_close_matches(asked, self._known, n=1)
            remedy = f"Did you mean {close[0]}?" if close else f"List them: shuffledp papers show {self.name}"
            raise InvalidInput(f"{self.name} has no statement {name!r}. {remedy}")
        return found

    def _word(self, name: object) -> str:
        remedy = f"List them: shuffledp papers show {self.name}"
        return _slug(check_text("the name of a statement", name, remedy=remedy))

    def parts(self, name: str) -> tuple[Statement, ...]:
        """The statement of that name; of "figure-3", which has panels, every one."""
        stem = self._word(name)
        parts = tuple(each for each in self if stem[-1:].isdigit() and each.names[0].startswith(f"{stem}-"))
        return parts if parts and stem not in self._known else (self.find(name),)

    def namesake(self, statement: Statement) -> Statement | None:
        """Another statement, which has the same number in the first version."""
        other = self._known.get(f"first-{statement.names[0]}")
        return None if other is statement else other


def read(name: str) -> Paper:
    """The paper of that name, with its statements, each under its title in the file."""
    said = _table(name)
    titled = [title for title in said if isinstance(said[title], dict)]
    return Paper(name=name, statements=tuple(_stated(title, said.pop(title)) for title in titled), **said)


def read_others() -> tuple[Paper, ...]:
    """Papers of which no statements are here."""
    return tuple(Paper(name=name, **said) for name, said in _table("others").items())


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((files("shuffledp.papers") / f"statements/{name}.toml").read_text(encoding="utf-8"))


def _stated(title: str, said: dict[str, Any]) -> Statement:
    """A statement with an erratum errs, unless it says otherwise."""
    label, version, first = (*re.split(" of the |, ", title), "", "")[:3] if " of the " in title else (title, "", "")
    verdict: Verdict = said.pop("verdict", "paper errs" if "erratum" in said else "works")
    bounds = tuple(said.pop("bounds", ()))
    return Statement(label=label, version=version, first=first, verdict=verdict, bounds=bounds, **said)


def _slug(label: str) -> str:
    """A label as a word.

    >>> _slug("Theorem 3.1"), _slug("Figure 3 (ii)"), _slug("equation (5.1)")
    ('theorem-3.1', 'figure-3-ii', 'equation-5.1')
    """
    return "-".join(re.findall(r"[a-z0-9]+(?:\.[a-z0-9]+)*", label.lower()))


def _slugs(label: str) -> tuple[str, ...]:
    """A text as a word, if it is not empty, and every label that a range or a pair in it names.

    >>> _slugs("Lemmas F.1 to F.3")
    ('lemmas-f.1-to-f.3', 'lemma-f.1', 'lemma-f.2', 'lemma-f.3')
    """
    word, named = _slug(label), list[str]()
    for kind, stem, low, to, high in re.findall(r"([a-z]+)s-(\w+\.)?(\d+)-(to|and)-(?:\w+\.)?(\d+)", word):
        numbers = range(int(low), int(high) + 1) if to == "to" else (low, high)
        named += [f"{kind}-{stem}{number}" for number in numbers]
    return (word, *named) if word else ()


def _mentions(statement: Statement, asked: str) -> bool:
    text = re.sub(rf"{EQUATION} (to|and) {EQUATION}", r"equations \1 \2 \3", f"{statement.says} {statement.why}")
    words, *named = _slugs(re.sub(EQUATION, r"equation \1", text))
    return asked in named or ("-" in asked and asked[-1].isdigit() and f"-{asked}-" in f"-{words}-")


def _attribute(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "_", name)
