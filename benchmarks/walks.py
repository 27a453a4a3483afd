"""Two walks through the package, watched call by call: what they cross, and what they do twice.

``python -m benchmarks.walks`` with the Python of any checkout. A first walk with other numbers loads
what is loaded once; only the second one is counted. What is looked for goes by the names in
``WATCHED``: whoever renames one of those functions adds its new name.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import shuffledp as sdp

HOME = Path(sdp.__file__).parent
DELTA = 1e-6

# What is counted, by the name of the file and the qualified name of the function: first what the staircase of 32 rooms
# called them, then what the wings do.
STAIRCASE: dict[str, tuple[tuple[str, str], ...]] = {
    "solve": (("profile", "crossing"), ("compose", "Composition.epsilon")),
    "categories validated": (
        ("terms", "_distinct"),
        ("terms", "check_labels"),
        ("values", "Places.__post_init__"),
        ("categories", "Categories.of"),
        ("design", "_plain"),
    ),
    "law to JSON": (("law", "law_of"),),
    "law from JSON": (("law", "from_law"),),
}
WINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "solve": (("curves", "crossing"),),
    "categories validated": (("tasks", "CountingTask.checked"),),
    "law to JSON": (("design", "Law.as_json"),),
    "law from JSON": (("design", "Law.from_json"),),
}
WATCHED = {what: frozenset(STAIRCASE[what] + WINGS.get(what, ())) for what in STAIRCASE}
PROTOCOL, GUARANTEE = "Protocol", "Guarantee"  # the classes from which all others of their kind are made


@dataclass(slots=True)
class Walk:
    """What was seen on the way."""

    functions: Counter[tuple[str, str]] = field(default_factory=Counter)
    watched: dict[str, Counter[str]] = field(default_factory=lambda: {what: Counter() for what in WATCHED})
    solves: Counter[tuple[str, float, str]] = field(default_factory=Counter)
    deltas: Counter[tuple[str, float]] = field(default_factory=Counter)
    protocols: dict[int, object] = field(default_factory=dict)
    places: dict[CodeType, str | None] = field(default_factory=dict)

    def see(self, frame: FrameType, event: str, _: object) -> None:
        """For ``sys.setprofile``."""
        if event != "call":
            return
        code = frame.f_code
        if code.co_name == "__init__":
            self._built(frame)
        if code not in self.places:
            self.places[code] = _place(code)
        place = self.places[code]
        if place is None:
            return
        name = code.co_qualname
        self.functions[place, name] += 1
        stem = Path(place).stem
        for what, names in WATCHED.items():
            if (stem, name) not in names:
                continue
            if frame.f_locals.get("value", name) is None:  # nothing given, nothing checked
                continue
            self.watched[what][f"{stem}.{name}"] += 1
            if what == "solve":
                self.solves[_mechanism(frame), frame.f_locals["delta"], frame.f_locals["end"]] += 1
        if name in {f"{GUARANTEE}.delta", f"{GUARANTEE}.delta_at_most"}:
            self.deltas[_identity(frame.f_locals["self"]), frame.f_locals["epsilon"]] += 1

    def _built(self, frame: FrameType) -> None:
        """A protocol counts once, however many constructors of its bases run."""
        made = frame.f_locals.get("self")
        if _is_a(PROTOCOL, made):
            self.protocols[id(made)] = made  # kept alive, so that no other gets its number

    def told(self) -> Iterator[tuple[str, str]]:
        """Everything, as lines."""
        files = {place for place, _ in self.functions}
        wings = sorted({Path(place).parts[0].removesuffix(".py") for place in files})
        yield "functions of ours called", f"{len(self.functions)} different ones, {self.functions.total():,} calls"
        yield "files", str(len(files))
        yield "wings crossed", f"{len(wings)}: {', '.join(wings)}"
        yield "epsilon solved", f"{self.solves.total()} times, for {len(self.solves)} questions"
        for (mechanism, delta, end), count in self.solves.most_common():
            yield "", f"{count} x {end} end at delta = {delta:g} of {mechanism}"
        yield "delta asked", f"{self.deltas.total()} times, for {len(self.deltas)} questions"
        kinds = Counter(type(each).__name__ for each in self.protocols.values())
        yield "protocols constructed", f"{len(self.protocols)}{_listed(kinds)}"
        for what, seen in self.watched.items():
            if not _exists(what):
                yield f"UNKNOWN: {what}", "nothing here has the names in WATCHED; add the new ones"
            elif what != "solve":
                yield what, f"{seen.total()}{_listed(seen)}"


def _listed(seen: Counter[str]) -> str:
    return f" ({', '.join(f'{count} {name}' for name, count in seen.most_common())})" if seen else ""


def _exists(what: str) -> bool:
    """Whether this checkout has at least one of the functions; a renamed one would seem never to be called."""
    for stem, name in WATCHED[what]:
        written = f"def {name.rpartition('.')[2]}("
        if any(written in path.read_text(encoding="utf-8") for path in HOME.rglob(f"{stem}.py")):
            return True
    return False


def _is_a(name: str, thing: object) -> bool:
    return any(base.__name__ == name and base.__module__.startswith("shuffledp.") for base in type(thing).__mro__)


def _place(code: CodeType) -> str | None:
    """The file, within the package, of a function of ours; lambdas and comprehensions count for none."""
    path = Path(code.co_filename)
    if code.co_name.startswith("<") or not path.is_relative_to(HOME):
        return None
    return str(path.relative_to(HOME))


def _mechanism(frame: FrameType) -> str:
    """Whose epsilon is solved for: the nearest guarantee among those who called."""
    caller: FrameType | None = frame
    while caller is not None:
        asked = caller.f_locals.get("self")
        if _is_a(GUARANTEE, asked):
            return _identity(asked)
        caller = caller.f_back
    return f"no guarantee, called by {frame.f_back.f_code.co_qualname if frame.f_back else 'nobody'}"


def _identity(guarantee: Any) -> str:
    """The same words for the same mechanism, whatever object holds it."""
    if hasattr(guarantee, "randomizer"):  # one round, which may call itself its only part
        return f"{guarantee.randomizer!r} among {guarantee.honest:,}"
    if hasattr(guarantee, "parts"):
        return " and ".join(f"{rounds} times {_identity(part)}" for part, rounds in guarantee.parts)
    return f"{type(guarantee).__name__} {id(guarantee):x}"


def watched(walk: Callable[[], object]) -> Walk:
    """What one walk does, in all its threads."""
    seen = Walk()
    threading.setprofile(seen.see)
    sys.setprofile(seen.see)
    try:
        walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def answer(n: int) -> None:
    """The library's question."""
    sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=n).epsilon(delta=DELTA)


def release(people: int) -> None:
    """The command's: a histogram of a small table, recorded in a new ledger whose limit is stated at the same delta."""
    from shuffledp.cli import main

    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()) as said:
        folder = Path(name)
        rows = "".join(f"{'yes' if i % 3 else 'no'}\n" for i in range(people))
        (folder / "people.csv").write_text(f"answer\n{rows}", encoding="utf-8")
        table = ["histogram", f"{folder}/people.csv", "--column", "answer", "--categories", "yes,no"]
        promise = ["--epsilon", "1", "--delta", str(DELTA), "--out", f"{folder}/result"]
        budget = ["--ledger", f"{folder}/budget.sqlite", "--population", "people"]
        limit = ["--limit-epsilon", "4", "--limit-delta", str(DELTA)]
        code = main([*table, *promise, *budget, *limit])
    if code:
        raise RuntimeError(f"the release failed with {code}: {said.getvalue()}")


def main() -> int:
    """Both walks."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    walks: dict[str, tuple[Callable[[int], None], int]] = {
        "shuffle(KRR(k=16, epsilon0=4), n=10_000).epsilon(delta=1e-6)": (answer, 10_000),
        "shuffledp histogram --ledger, 40 rows": (release, 40),
    }
    for title, (walk, size) in walks.items():
        walk(size + 2)
        print(title)
        for what, count in watched(lambda walk=walk, size=size: walk(size)).told():  # type: ignore[misc]
            print(f"  {what:26}{count}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
