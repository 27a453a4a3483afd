"""A client: draws, seals, stores, and sends until it is acknowledged. The law and its sampler are
all that is loaded for that.

The outbox is sent in uploads of many records, over several connections; a record whose code is
refused holds no other up.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.client import Drawing, check_client
from shuffledp.errors import Argument, InvalidInput
from shuffledp.survey.all_cores import sealed
from shuffledp.survey.collection import SKEW, Collection, check_address, check_digest, read_collection
from shuffledp.survey.courier import Courier, Unsent
from shuffledp.survey.envelopes import Envelopes
from shuffledp.survey.outbox import Outbox, Stored, default_outbox
from shuffledp.survey.wire import Refused, Uploads, read_code

if TYPE_CHECKING:
    import httpx

BATCH = 1000  # records of an upload
CONNECTIONS = 4
MOST_REFUSED = 1000  # codes: beyond, it is the wrong list


@dataclass(slots=True)
class Round:
    """One walk through what waits: which records are ``acknowledged`` (a byte each), how many of
    them were ``new`` to the shuffler, and how many codes were ``refused``, by why.
    """

    stored: Stored
    most: int
    tick: Callable[[int, int], object] | None = None
    acknowledged: bytearray = field(init=False)
    new: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.acknowledged = bytearray(self.stored.waiting)

    def through(self, courier: Courier) -> None:
        """Deliver everything. What ends the walk is raised; what was acknowledged until then is
        known.
        """
        step, waiting = min(BATCH, self.most), self.stored.waiting
        parts = [(begin, min(begin + step, waiting)) for begin in range(0, waiting, step)]
        if len(parts) == 1:
            return self._part(courier, *parts[0])
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            running = [pool.submit(self._part, courier, *part) for part in parts]
            try:
                done, _ = wait(running, return_when=FIRST_EXCEPTION)
            finally:
                courier.ended.set()  # requests that are under way are finished, and none is tried again
                for each in running:
                    each.cancel()
        for each in done:
            each.result()
        return None

    def _part(self, courier: Courier, begin: int, end: int) -> None:
        """Deliver records from ``begin`` to ``end``: where one is refused for its code, those
        before it go first, then that one is left out, and uploads grow again.
        """
        step = end - begin
        while begin < end and not courier.ended.is_set():
            upto = min(begin + step, end)
            try:
                new = courier.deliver(self.stored.records(begin, upto), upto - begin)
            except Refused as refused:
                if refused.at is None:
                    raise
                step = max(1, refused.at)
                if refused.at == 0:
                    self._leave_out(refused)
                    begin += 1
                continue
            self._note(begin, upto, new)
            begin, step = upto, 2 * step

    def _note(self, begin: int, upto: int, new: int) -> None:
        with self._lock:
            self.acknowledged[begin:upto] = b"\1" * (upto - begin)
            self.new += new
            if self.tick is not None:
                self.tick(self.acknowledged.count(1), self.stored.waiting)

    def _leave_out(self, refused: Refused) -> None:
        with self._lock:
            self.refused[refused.sentence] += 1
            if self.refused.total() > MOST_REFUSED:
                raise InvalidInput(
                    f"codes must be those of this collection, got more than {MOST_REFUSED:,} that the shuffler "
                    f"refused. Ask whether it has their hashes; every report that was not acknowledged is stored."
                )


Tick = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a call has achieved: ``acknowledged`` reports, which the shuffler has on its disk,
    ``before`` of them by earlier calls; ``refused`` codes, by why, whose reports still wait.

    ``drawn`` says whether this call drew reports; if not, those of an earlier one were sent, or
    there was nothing left to send. ``missing`` and ``repeated`` rows of a table had none.
    """

    digest: str
    acknowledged: int
    before: int = 0
    drawn: bool = True
    refused: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    repeated: int | None = None

    @property
    def waiting(self) -> int:
        """How many reports wait for a code that is accepted."""
        return sum(self.refused.values())


class Client:
    """Reports to one collection, from one device.

    ``collection`` is a file that `shuffledp survey new` wrote, or what was read from it;
    another than the one with this ``digest`` is refused. ``most_epsilon0`` is what one report may
    say by itself. Reports wait in the folder ``outbox`` until they are acknowledged; afterwards a
    mark stays there, and the same outbox reports to the same collection no more. ``ca`` is a file
    of certificates to trust instead of the usual ones.
    """

    def __init__(
        self,
        collection: Collection | Path | str,
        *,
        digest: str | None = None,
        outbox: Path | str | None = None,
        most_epsilon0: float | None = None,
        ca: Path | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not isinstance(collection, Collection):
            collection = read_collection(Path(collection), digest=digest)
        elif digest is not None:
            check_digest(collection, digest)
        check_client(collection.design, most_epsilon0)
        check_address(collection)
        self.collection, self.uploads = collection, Uploads(collection)
        self.folder = default_outbox() if outbox is None else Path(outbox)
        self._ca, self._transport = ca, transport

    def send(self, value: object, *, code: str | None = None, clip: bool = False) -> Receipt:
        """Report a value: one of those that the design lists, or a number within its bounds. Where
        the collection asks for one, ``code`` is an invitation.

        What was stored by an earlier call is sent again as it is, and nothing is drawn: then
        ``value`` is checked, and not looked at any more.
        """
        answer, invitation = self.check(value, code=code, clip=clip)

        def draw() -> Iterator[bytes]:
            envelopes = Envelopes(self.collection).seal(self.collection.reporter.encode([answer]))
            yield self.uploads.body(envelopes, None if invitation is None else [invitation])

        return self._sent(draw, invitation, one=True)

    def check(self, value: object, *, code: str | None = None, clip: bool = False) -> tuple[int | float, bytes | None]:
        """Refuse what ``send`` would refuse before it draws; the answer and the invitation as they
        are sent.
        """
        self._check_time()
        answer = self.collection.design.domain.answer(value, clip=clip)
        if self.collection.codes != (code is not None):
            raise self._wrong_codes("code")
        return answer, None if code is None else read_code(code)

    def send_table(
        self,
        drawing: Drawing,
        *,
        codes: Sequence[bytes] | None = None,
        processes: int | None = 1,
        tick: Tick | None = None,
    ) -> Receipt:
        """Report for everybody in a table; ``codes`` has an invitation for each of its rows.
        Reports are sealed by so many ``processes``, None for one on each core; ``tick`` is told how
        many are acknowledged, of how many.

        A code that the shuffler does not know, or that was used, holds no other report up: the
        receipt counts them, and their reports wait for the next call.
        """
        self.check_codes(codes)
        receipt = self._sent(lambda: self._records(drawing, codes, processes), None, tick)
        return replace(receipt, missing=drawing.missing, repeated=drawing.repeated) if receipt.drawn else receipt

    def resume(self, *, tick: Tick | None = None) -> Receipt | None:
        """Send what an earlier call stored; None where nothing was. Neither the table nor its codes
        are needed for that, and may be gone.
        """
        self._check_time()
        if Outbox.of(self.folder, self.uploads).find() is None:
            return None
        return self._sent(list, None, tick)

    def check_codes(self, codes: Sequence[bytes] | None, rows: int | None = None) -> None:
        """Refuse codes that are not asked for, or not one for each of so many ``rows``."""
        self._check_time()
        if self.collection.codes != (codes is not None):
            raise self._wrong_codes("codes")
        if codes is not None and rows is not None and rows != len(codes):
            raise InvalidInput(
                Argument("codes"),
                f" must have a line for every row of the table, got {len(codes):,} for {rows:,} rows. A row "
                f"without a value leaves its code unused.",
            )

    def _records(self, drawing: Drawing, codes: Sequence[bytes] | None, processes: int | None) -> Iterator[bytes]:
        """The records of everybody in a table, in its order."""
        mine: deque[bytes] = deque()  # codes of reports that are being sealed

        def reports() -> Iterator[Any]:
            for drawn in drawing:
                if codes is not None and drawing.rows > len(codes):
                    self.check_codes(codes, drawing.rows)
                mine.extend([] if codes is None else [codes[row] for row in drawn.rows])
                yield drawn.reports

        none = True
        for envelopes in sealed(self.collection, reports(), processes=processes):
            none = False
            people = len(envelopes) // self.uploads.messages
            yield self.uploads.body(envelopes, None if codes is None else [mine.popleft() for _ in range(people)])
        self.check_codes(codes, drawing.rows)
        if none:
            raise InvalidInput("the table must hold at least one value, got none. Check that these are the right data.")

    def _sent(
        self, draw: Callable[[], Iterable[bytes]], code: bytes | None, tick: Tick | None = None, *, one: bool = False
    ) -> Receipt:
        """Store what ``draw`` makes, unless something is stored, and deliver what is. Where ``one``
        report is expected, those of a table are left alone.
        """
        outbox = Outbox.of(self.folder, self.uploads)
        with outbox.alone() as alone:
            if not alone:
                raise Unsent("another process is sending to this collection from this outbox. Wait until it is done.")
            stored, drawn = outbox.find(), False
            if one and stored is not None and stored.sent + stored.waiting > 1:
                raise InvalidInput(
                    f"the outbox {str(self.folder)!r} must be this person's, got one that holds the reports of a table "
                    f"to this collection. Nothing was sent: who is not in that table uses another ",
                    Argument("outbox"),
                    ".",
                )
            if stored is None:
                stored, drawn = outbox.store(draw()), True
            elif code is not None and stored.waiting == 1:
                stored = outbox.recode(stored, code)  # one that was mistyped is corrected
            if not stored.waiting:
                return Receipt(self.collection.digest, stored.sent, before=stored.sent, drawn=False)
            receipt = self._delivered(outbox, stored, drawn, tick)
        if receipt.refused and code is not None:
            (sentence,) = receipt.refused
            raise InvalidInput(
                f"the shuffler refused the code: {sentence} The report is stored in {str(self.folder)!r}: with ",
                "another ",
                Argument("code"),
                " the same bytes go.",
            )
        return receipt

    def _delivered(self, outbox: Outbox, stored: Stored, drawn: bool, tick: Tick | None) -> Receipt:
        walk = Round(stored, self.uploads.most, tick)
        with Courier.to(self.collection, ca=self._ca, transport=self._transport) as courier:
            try:
                courier.greet()
                walk.through(courier)
            except Unsent as error:
                raise Unsent(
                    f"{error} {self._kept(walk)}: run the same command again, and the same bytes go."
                ) from None
            except Refused as error:
                raise InvalidInput(f"the shuffler refused it: {error} {self._kept(walk)}.") from None
            finally:
                if any(walk.acknowledged):
                    outbox.forget(stored, walk.acknowledged)
        acknowledged = stored.sent + walk.acknowledged.count(1)
        return Receipt(self.collection.digest, acknowledged, stored.sent, drawn, dict(walk.refused))

    def _kept(self, walk: Round) -> str:
        """Nothing is lost, in words."""
        done, waiting, place = walk.acknowledged.count(1), len(walk.acknowledged), repr(str(self.folder))
        if waiting == 1:
            return f"The report is stored in {place}"
        return (
            f"{done:,} of {waiting:,} reports were acknowledged, and the other {waiting - done:,} are stored in {place}"
        )

    def _wrong_codes(self, option: str) -> InvalidInput:
        if self.collection.codes:
            return InvalidInput(
                Argument(option),
                " must be given, since this collection takes reports with an invitation only, got none. "
                "Ask whoever invites to it.",
            )
        rule = " must be left out, since this collection asks for no invitation, got it."
        return InvalidInput(Argument(option), rule)

    def _check_time(self) -> None:
        opens, closes, now = self.collection.opens, self.collection.closes, time.time()
        for wrong, rule, at in (
            (opens is not None and now < opens - SKEW, "opens", opens),
            (closes is not None and now > closes + SKEW, "closed", closes),
        ):
            if wrong and at is not None:
                when = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
                raise InvalidInput(
                    f"a report must be sent while the collection is open, got one that {rule} at {when}. Nothing was "
                    f"sent; if that is wrong, look at this device's clock."
                )


def read_codes(path: Path) -> list[bytes]:
    """The codes in a file, one to a line, each once."""
    title = repr(str(path))
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InvalidInput(f"{title} must be a file with a code on every line, got none: {why}.") from None
    codes = []
    for number, line in enumerate(lines, 1):
        try:
            codes.append(read_code(line))
        except InvalidInput as error:
            raise InvalidInput(f"line {number:,} of {title} must be a code: {error}") from None
    if len(set(codes)) < len(codes):
        raise InvalidInput(f"{title} must hold every code once, got one twice. Each lets one person in.")
    return codes
