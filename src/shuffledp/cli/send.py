"""The command survey send: a report, or those of a table, to a collection over the network."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shuffledp.cli import options, questions, show
from shuffledp.cli.app import Given, command
from shuffledp.cli.options import ANSWER, QUESTION, TABLE, argument, declared, is_typed, option
from shuffledp.cli.questions import opened, read_as
from shuffledp.cli.show import bars, patiently
from shuffledp.errors import Argument, InvalidInput
from shuffledp.release.options import WeekOptions

if TYPE_CHECKING:
    from shuffledp.survey.sender import Client, Receipt

DEVICE = "This device"
LONGEST_LINE = 10_000  # letters of an answer on standard input
ONE = [
    option("value", QUESTION, "Answer, once for each column of a crosstab; - asks for it.", list[str], metavar="TEXT"),
    option("code", QUESTION, "The invitation, if the collection asks for one.", metavar="CODE"),
]
MANY = [
    option("source", TABLE, "Instead of one answer: a CSV, Parquet or Arrow file.", called="table", metavar="FILE"),
    options.COLUMNS,
    option("codes", TABLE, "A file with an invitation for each row.", Path),
    *declared(WeekOptions, leave=("clip",)),
]


@command(
    "survey send",
    "study/collection.json --value yes",
    "study/collection.json --value - --code AAAQ-EAYE-AUDA-OCAJ-BIFQ-YDIO-B4",
    "study/collection.json --value north --value yes",
    "study/collection.json --table people.csv --column answer",
    options=[
        argument("file", "FILE", "What `shuffledp survey new` wrote."),
        *ONE,
        *MANY,
        *declared(WeekOptions, only=("clip",)),
        option("digest", QUESTION, "Refuse any other survey than the one with this digest.", metavar="DIGEST"),
        options.MOST_EPSILON0,
        options.CERTIFY,
        option(
            "outbox",
            DEVICE,
            "Where reports wait; if left out, ~/.local/state/shuffledp/outbox.",
            Path,
            metavar="FOLDER",
        ),
        option("ca", DEVICE, "Trust the certificates in this file alone.", Path),
        option("dry_run", ANSWER, "Check everything, and draw and send nothing.", bool),
        options.JSON,
    ],
)
def send(
    *,
    file: Path,
    digest: str | None,
    most_epsilon0: float | None,
    certify: bool,
    outbox: Path | None,
    ca: Path | None,
    dry_run: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """On a person's device: randomize an answer, seal it for the analyst, and send it to the
    shuffler.

    The sealed report is stored before it is sent. If anything goes wrong, run the same command
    again: the same bytes go, and count once. Afterwards a mark stays, and the same outbox sends to
    this collection no more; the answer itself is never stored. What is typed after --value stays in
    the history of your shell: --value - asks for it instead.

    Exit code 0: acknowledged; 1: stored, and not acknowledged yet; 2: refused.
    """
    from shuffledp.client import exposure
    from shuffledp.survey.sender import Client

    if (not given["value"]) == (given["source"] is None):
        raise InvalidInput(
            "either --value or --table must be given, got both or none. Add --value yes, or --table people.csv."
        )
    client = Client(file, digest=digest, outbox=outbox, most_epsilon0=most_epsilon0, ca=ca)
    design = client.collection.design
    if certify:
        questions.certify(design)
    exposed = exposure(design, certified=certify)
    if not as_json:
        show.sentences(exposed)  # before anything is asked or sent: nothing can be taken back
        sys.stdout.flush()
    many = given["source"] is not None
    receipt = _many(client, given, dry_run) if many else _one(client, given, dry_run)
    if as_json:
        _show_json(client, receipt, certify, exposed[2:])
    elif receipt is None:
        show.sentences(["Nothing was drawn and nothing sent: all that can be checked before is in order."])
    else:
        show.sentences([_said(receipt)])
    if receipt is not None and receipt.waiting:
        raise typer.Exit(1)


def _one(client: "Client", given: dict[str, Any], dry_run: bool) -> "Receipt | None":
    """An answer; a dry run stops where it would be drawn."""
    _check_absent(given, MANY, "--value")
    value = _answers(client.collection.design.domain.column_names, given["value"])
    if dry_run:
        client.check(value, code=given["code"], clip=given["clip"])
        return None
    with patiently("sending"):
        return client.send(value, code=given["code"], clip=given["clip"])


def _answers(columns: tuple[str, ...] | None, typed: Sequence[str]) -> object:
    """The answer, or those about all columns of a crosstab; one - asks for all of them."""
    if columns is None:
        if len(typed) > 1:
            raise InvalidInput(f"--value must be given once, got it {len(typed)} times. One person has one answer.")
        return _asked() if typed[0] == "-" else typed[0]
    texts = ["-"] * len(columns) if list(typed) == ["-"] else typed
    if len(texts) != len(columns):
        raise InvalidInput(
            f"--value must be given once for each of {', '.join(columns)}, in this order, got {len(texts)}. Repeat it."
        )
    return tuple(_asked(name) if text == "-" else text for name, text in zip(columns, texts, strict=True))


def _asked(about: str | None = None) -> str:
    """An answer from standard input; on a terminal, nobody sees it."""
    if sys.stdin.isatty():
        with suppress(EOFError):
            return getpass("Your answer: " if about is None else f"Your answer about {about}: ")
    return sys.stdin.readline(LONGEST_LINE).rstrip("\r\n")


def _many(client: "Client", given: dict[str, Any], dry_run: bool) -> "Receipt | None":
    """The answers of a table."""
    from shuffledp.client import Drawing
    from shuffledp.survey.sender import read_codes

    _check_absent(given, ONE, "--table")
    reading = read_as(given["source"], given)
    with bars() as drawn:
        encoding, sending = (
            drawn.add_task(name, total=None, said="", visible=False) for name in ("encoding and sealing", "sending")
        )

        def tick(done: int, of: int) -> None:
            drawn.update(encoding, visible=False)
            drawn.update(sending, completed=done, total=of, said=f"{done:,} of {of:,}", visible=True)

        if not dry_run and (receipt := client.resume(tick=tick)) is not None:
            if _idle(receipt):
                raise InvalidInput(
                    f"the outbox must have room for a table, got one whose {receipt.acknowledged:,} reports to this "
                    f"collection were all acknowledged before: nothing was sent. Send other people from a table of "
                    f"their own, with another --outbox; nobody may be in both."
                )
            return receipt  # what was sealed is sent: whoever has deleted the table since did well
        codes = None if given["codes"] is None else read_codes(given["codes"])
        column = opened(reading, given["column"], client.collection.design)
        rows = 0

        def read(more: int) -> None:
            nonlocal rows
            rows += more
            drawn.update(encoding, said=f"{rows:,} rows read", visible=True)

        drawing = Drawing(
            client.collection.reporter,
            column,
            missing=given["missing"],
            clip=given["clip"],
            cleaning=reading["cleaning"],
            keep=reading["keep"],
            tick=read,
        )
        if dry_run:
            drawing.look()
            client.check_codes(codes, drawing.rows)
            return None

        return client.send_table(drawing, codes=codes, processes=None, tick=tick)


def _check_absent(given: dict[str, Any], options: Sequence[Given], beside: str) -> None:
    """Refuse options of the other way to send."""
    for name, _ in options:
        if is_typed(given[name]):
            flag = "--table" if name == "source" else Argument.of(name).typed
            raise InvalidInput(f"{flag} must be left out beside {beside}, got it. One is for an answer, one for many.")


def _idle(receipt: "Receipt") -> bool:
    """Whether all was acknowledged before."""
    return not receipt.drawn and receipt.acknowledged == receipt.before and not receipt.waiting


def _said(receipt: "Receipt") -> str:
    """What happened, in a line or two."""
    if _idle(receipt):
        return (
            "This device has reported to this collection already, and nothing was sent. Another person on it uses "
            "another --outbox."
        )
    again = "" if receipt.drawn else " What went was stored by an earlier run, and nothing was drawn again."
    why = "; ".join(f"{count:,} times: {sentence}" for sentence, count in receipt.refused.items())
    waiting = f" {receipt.waiting:,} more wait, since their codes were refused ({why})" * bool(receipt.waiting)
    without = f" {receipt.missing:,} people had no value." * bool(receipt.missing)
    repeated = (
        f" {receipt.repeated:,} rows were left out because their person has another one." if receipt.repeated else ""
    )
    number = "1 report is" if receipt.acknowledged == 1 else f"{receipt.acknowledged:,} reports are"
    return f"{number} acknowledged: on the shuffler's disk, sealed.{again}{waiting}{without}{repeated}"


def _show_json(client: "Client", receipt: "Receipt | None", certified: bool, warnings: Sequence[str]) -> None:
    design = client.collection.design
    names = ("acknowledged", "before", "drawn", "waiting", "refused", "missing", "repeated")
    facts = {} if receipt is None else {name: getattr(receipt, name) for name in names}
    promise = {"epsilon": design.epsilon, "delta": design.delta, "epsilon0": design.mechanism.alone}
    show.as_json({"digest": client.collection.digest, **facts, **promise, "certified": certified}, warnings)
