"""What a shuffler released, opened by the analyst: every envelope by itself, on all cores.

What does not open, or is no message of the design, is counted and left out; the rest becomes a
release like any other. Where a person sends several messages, an invalid one counts as a blank, and
people are counted by envelopes: which of them came together is no longer known. Of shares, all are
needed.

``opened.json`` says which sealed file of a collection was opened. Two releases of one collection
that differ by one report show that report, so another file is not opened after the first. It stands
in the analyst's own folder, and binds whoever leaves it there: an analyst who deletes it has both
files, and the key, anyway. It guards against a shuffler that releases two sets, and against slips.
A ledger remembers the same in another place.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self

from shuffledp.design import Design
from shuffledp.engines.batch import counted_of
from shuffledp.errors import Argument, InvalidInput, check_words
from shuffledp.mechanisms.results import Tally
from shuffledp.poll import certify
from shuffledp.randomizers.randomizer import Reporting
from shuffledp.record import Collected, Context, InSeries
from shuffledp.release.budget import Budget
from shuffledp.release.files import check_folder
from shuffledp.release.pipeline import check_sayable
from shuffledp.release.released import Release
from shuffledp.release.stages import release_counts
from shuffledp.schema import NEEDED, Count, Digest, File, Whole, part
from shuffledp.storage.canonical import Line
from shuffledp.storage.files import replace_file, unwritable
from shuffledp.survey.all_cores import on_all_cores
from shuffledp.survey.collection import Collection, read_collection
from shuffledp.survey.envelopes import AnalystKey, Envelopes, SealedFile, SealedHeader, envelopes_of, open_sealed
from shuffledp.survey.organizer import COLLECTION, KEY
from shuffledp.tables.reports import legal_rows
from shuffledp.tables.spool import batch_rows

OPENED = "opened.json"


@part
class OpenedFile(Line):
    """The SHA-256 of a sealed file, of which collection it is, and how many of the envelopes in it
    were valid and invalid.
    """

    format: Annotated[Literal["shuffledp-opened"], NEEDED] = "shuffledp-opened"
    version: Annotated[Whole, NEEDED] = 1
    collection: Digest
    sealed: Digest
    reports: Count
    invalid: Count

    @classmethod
    def find(cls, path: Path) -> Self | None:
        """What was opened before, if anything was."""
        title = repr(str(path))
        try:
            return cls.from_bytes(
                path.read_bytes(), File(title, "It says what was opened before: restore it from a copy.")
            )
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidInput(
                f"{title} must be readable, since it says what was opened before, got: {error.strerror}. Check its "
                f"permissions."
            ) from None


def check_opened(folder: Path, collection: str, sealed: str, title: str) -> None:
    """Refuse another sealed file than the one that was opened before."""
    found = OpenedFile.find(folder / OPENED)
    if found is None:
        return
    if found.collection != collection:
        raise InvalidInput(
            f"{str(folder / OPENED)!r} must be of the collection beside it, got that of {found.collection[:16]}. Keep "
            f"every collection in a folder of its own."
        )
    if found.sealed != sealed:
        raise InvalidInput(
            f"{title} must be the file that was opened before, got another: its SHA-256 begins with {sealed[:16]}, and "
            f"{str(folder / OPENED)!r} says {found.sealed[:16]}. Two releases of one collection that differ by one "
            f"report show that report: open the first file, and ask the shuffler why there are two."
        )


def remember(folder: Path, opened: OpenedFile, title: str) -> None:
    """Write down what is about to be published; whoever comes second with another file is
    refused.
    """
    with _alone(folder):
        check_opened(folder, opened.collection, opened.sealed, title)
        replace_file(folder / OPENED, lambda place: place.write_bytes(opened.content), private=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let others wait who are about to write there."""
    with unwritable(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network disks have no lock for a folder
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


BATCH_DIGITS = 32  # of a digest, in a ledger
PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Study:
    """The analyst's folder: the collection, and the key that opens its reports."""

    folder: Path
    collection: Collection
    key: AnalystKey

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What `shuffledp survey new` wrote; another key than the collection's is refused."""
        collection, key = read_collection(folder / COLLECTION), AnalystKey.read(folder / KEY)
        if key.public != collection.key:
            raise InvalidInput(
                f"{str(folder / KEY)!r} must be the key of the collection beside it, got that of another. Put the key "
                f"back that `shuffledp survey new` wrote there."
            )
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InvalidInput(
                f"{str(folder)!r} must be writable, since it remembers what was opened, got one that is not. Change "
                f"its permissions."
            )
        return cls(folder, collection, key)

    def sealed(self, path: Path) -> SealedFile:
        """The file of sealed reports at a path, if it is one of this collection."""
        found, title = open_sealed(path), repr(str(path))
        if found.header.collection != self.collection.digest:
            raise InvalidInput(
                f"{title} must be of the collection {self.collection.digest[:16]} in {str(self.folder)!r}, got one of "
                f"{found.header.collection[:16]}. Fetch the reports of this one, or name the other's folder."
            )
        if found.header.length != (length := Envelopes(self.collection).length):
            raise InvalidInput(
                f"{title} must hold sealed reports of {length} bytes, got {found.header.length}. Fetch it again: "
                f"shuffledp survey fetch."
            )
        self._check_messages(found.header, title)
        return found

    def _check_messages(self, header: SealedHeader, title: str) -> None:
        """Refuse envelopes that cannot be of whole people."""
        again, told = "Fetch it again: shuffledp survey fetch.", header.people is not None
        if told != self.law.mixes:
            raise InvalidInput(
                f"{title} must say how many people reported if the shuffler adds dummies, and only then, got "
                f"{'a' if told else 'no'} number. {again}"
            )
        if not told and header.count % self.law.messages:
            raise InvalidInput(
                f"{title} must hold {self.law.messages} sealed messages of each person, got {header.count:,} in all. "
                f"{again}"
            )

    @property
    def law(self) -> Reporting:
        """How a person's answer becomes messages."""
        return self.collection.reporter.randomizer

    def people(self, header: SealedHeader) -> int:
        """Whose messages arrived."""
        return header.count // self.law.messages if header.people is None else header.people

    def check_valid(self, valid: int, arrived: int) -> None:
        """Refuse fewer people with valid messages than were promised, and more than there are."""
        design = self.collection.design
        if valid < design.honest:
            others = "" if valid == arrived else f": the other {arrived - valid:,} do not open, or are no reports"
            raise InvalidInput(
                f"valid reports must number at least the {design.honest:,} that the design promises, got {valid:,} of "
                f"{arrived:,} that arrived{others}. Nothing can be published of them: among fewer nobody is hidden as "
                f"promised."
            )
        if valid > design.n:
            raise InvalidInput(
                f"valid reports must number at most the {design.n:,} people that the design knows, got {valid:,}. Ask "
                f"whoever runs the shuffler why it took more."
            )

    def check_shares(self, invalid: int) -> None:
        """Refuse shares of which some are lost: what is left of a person's adds up to anything."""
        if invalid and self.law.inseparable:
            raise InvalidInput(
                f"shares must all open for their sum to say anything, got {invalid:,} that do not, or are none. "
                f"Somebody sent other messages than the law's, and one such person can move the sum anywhere: collect "
                f"again."
            )


@dataclass(frozen=True, slots=True)
class CountedStudy:
    """What the valid reports of so many people who ``arrived`` add up to, and which file it was."""

    study: Study
    design: Design
    title: str
    tally: Tally
    opened: OpenedFile
    arrived: int
    messages: int | None

    def remember(self) -> None:
        """Write down what was opened, before anything of it can be seen."""
        remember(self.study.folder, self.opened, self.title)


def count_study(study: Study, sealed: SealedFile, opening: Opening | None = None) -> CountedStudy:
    """Open, check and count; nothing is spent or shown."""
    collection, path = study.collection, sealed.path
    design, arrived = certify(collection.design), study.people(sealed.header)
    if arrived < design.honest:
        study.check_valid(arrived, arrived)
    digest, slices = slices_of(sealed)
    check_opened(study.folder, collection.digest, digest, repr(str(path)))
    opener = Opener(collection.content, study.key, path.absolute(), sealed.header)
    sums = (opening or OnAllCores())(opener, slices)
    invalid = sealed.header.count - sums.sent
    opened = OpenedFile(collection=collection.digest, sealed=digest, reports=sums.sent, invalid=invalid)
    # Nobody who keeps to the rules sends an invalid message: so many people, at least, did not.
    valid = max(arrived - -(-invalid // study.law.messages), 0)  # dummies may not open, either
    study.check_valid(valid, arrived)
    study.check_shares(invalid)
    if study.law.mixes and study.law.messages == 1:
        arrived = valid  # each of them sent one message, so that these are known to be left out
    tally = Tally.handed_on(study.law, study.law.of_people(sums.numbers, arrived))
    design.poll.check_noise(tally.numbers)  # before anything is spent
    messages = sealed.header.count if study.law.by_message else None
    return CountedStudy(study, design, repr(str(path)), tally, opened, arrived, messages)


def publish_study(
    study: Study,
    sealed: SealedFile,
    folder: Path | None,
    *,
    title: str | None = None,
    budget: Budget | None = None,
    force: bool = False,
    opening: Opening | None = None,
    notes: tuple[str, ...] = (),
    series: InSeries | None = None,
    by: str | None = None,
) -> Release:
    """Open, check, count, spend and publish. Whatever can be refused is refused before the budget
    is spent, and what was opened is written down before anything can be seen. With a ``series``, it
    is the week of the collection's round; ``by`` is the column whose groups it follows.
    """
    check_sayable(study.collection.design)
    collection, counted = study.collection, count_study(study, sealed, opening)
    # By its collection a ledger knows another file of it, by its own digest this one again.
    batches = (collection.digest[:BATCH_DIGITS], counted.opened.sealed[:BATCH_DIGITS])
    return release_counts(
        counted_of(counted.tally, counted.design, batches=batches),
        counted.design,
        _asked(collection, title, series, by),
        folder,
        budget=budget,
        force=force,
        collected=Collected(
            digest=collection.digest,
            round=collection.round,
            arrived=counted.arrived,
            invalid=counted.opened.invalid,
            messages=counted.messages,
        ),
        notes=notes,
        last=counted.remember,
    )


def _asked(collection: Collection, title: str | None, series: InSeries | None, by: str | None) -> Context:
    """The question, as the collection put it to people."""
    design = collection.design
    which = "" if design.rounds == 1 else f", round {collection.round}"
    return Context(
        question=design.question.type,
        what=f"{design.question.type} of collection {collection.digest[:16]}{which}",
        title=title or collection.question,
        source=collection.shuffler,
        series=series,
        by=by,
    )


def open_collection(
    study: PathLike,
    sealed: PathLike,
    *,
    out: PathLike | None = None,
    title: str | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    force: bool = False,
    tick: Callable[[int], object] | None = None,
) -> Release:
    """Open the reports that a shuffler released, and publish what they say, in the folder ``out``
    or in memory.

    ``study`` is the folder that `shuffledp survey new` wrote, with the analyst's key;
    ``sealed`` is what `shuffledp survey fetch` wrote. Reports that do not open, or that the
    design never sends, are counted and left out; fewer valid ones than it promises are refused.

    The same file may be opened again, with the same result; another one of the same collection is
    refused, since the difference of two releases shows what a few people sent.
    """
    budget = Budget.of(None if ledger is None else Path(ledger), population, limit_epsilon, limit_delta)
    check_words(Argument("title"), title)
    folder = None if out is None else check_folder(Path(out), replace=force)
    found = Study.read(Path(study))
    file = found.sealed(Path(sealed))
    return publish_study(found, file, folder, title=title, budget=budget, force=force, opening=OnAllCores(tick))


SLICE = 10_000  # envelopes of a slice, at most: half a second's work


@dataclass(frozen=True, slots=True)
class Slice:
    """Some envelopes of a sealed file, and the SHA-256 of their bytes when it was looked over."""

    begin: int
    end: int
    digest: bytes


def slices_of(sealed: SealedFile) -> tuple[str, tuple[Slice, ...]]:
    """The SHA-256 of a file that is read once, and its slices; envelopes out of order, or there
    twice, are refused.
    """
    whole, feed, slices = hashlib.sha256(sealed.header.content), sealed.in_order(), []
    step = min(SLICE, batch_rows(sealed.header.length))  # long envelopes would not fit into memory
    for begin in range(0, sealed.header.count, step):
        envelopes = list(islice(feed, step))
        content = b"".join(envelopes)
        whole.update(content)
        slices.append(Slice(begin, begin + len(envelopes), hashlib.sha256(content).digest()))
    return whole.hexdigest(), tuple(slices)


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens slices of one sealed file; ``collection`` is the file of the collection. It holds the
    analyst's ``key``: whoever runs it could read every report of the collection.
    """

    collection: bytes
    key: AnalystKey
    path: Path
    header: SealedHeader

    def __call__(self, part: Slice) -> Tally:
        """What the valid messages of a slice add up to; all others count for nothing."""
        try:
            envelopes = list(SealedFile(self.path, self.header).envelopes(part.begin, part.end))
        except OSError as error:
            raise InvalidInput(
                f"{str(self.path)!r} must lie where every process can read it, got: {error.strerror}. Put it on "
                f"storage that all of them share."
            ) from None
        if hashlib.sha256(b"".join(envelopes)).digest() != part.digest:
            raise InvalidInput(
                f"{str(self.path)!r} must not change while it is opened, and be the same for every process, got other "
                f"bytes. Open it again when nobody is writing there."
            )
        sealing = envelopes_of(self.collection)
        law = sealing.collection.reporter.randomizer
        messages = sealing.opened(envelopes, self.key)
        legal = legal_rows(messages, law.check_reports) if len(messages) else None
        return Tally.of(law, messages if legal is None else messages[legal])


Opening = Callable[[Opener, Sequence[Slice]], Tally]  # where slices are opened, and how many at a time


class OnAllCores:
    """Opens slices by so many ``processes``, or as many as there are cores; ``tick`` is told how
    many envelopes are done.
    """

    def __init__(self, tick: Callable[[int], object] | None = None, *, processes: int | None = None) -> None:
        self._tick, self._processes = tick, processes

    def __call__(self, opener: Opener, slices: Sequence[Slice]) -> Tally:
        """What all slices add up to."""
        found = Tally.of(Collection.of_bytes(opener.collection).reporter.randomizer)
        for each, opened in zip(slices, on_all_cores(opener, slices, processes=self._processes), strict=True):
            found += opened
            if self._tick is not None:
                self._tick(each.end - each.begin)
        return found
