"""The command survey serve: a collection that is open to the network."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shuffledp.cli.app import command
from shuffledp.cli.options import ANSWER, QUESTION, argument, option, read_count, read_number
from shuffledp.cli.show import patiently
from shuffledp.errors import InvalidInput

if TYPE_CHECKING:
    from shuffledp.survey.collection import Collection

LISTENING, LIMITS = "Where it listens", "What it allows"


def _between(least: float, most: float, kind: Callable[[str], float]) -> Callable[[str], float]:
    """What reads a number of a range."""

    def read(text: str) -> float:
        if not least <= (value := kind(text)) <= most:
            raise typer.BadParameter(f"{text!r} must lie in [{least:g}, {most:g}].")
        return value

    return read


@command(
    "survey serve",
    "study/collection.json --store reports.sqlite",
    "study/collection.json --store reports.sqlite --codes hashes.txt --port 8443 --tls-cert cert.pem --tls-key key.pem",
    options=[
        argument("collection", "COLLECTION", "The collection.json that shuffledp survey new wrote."),
        option("store", QUESTION, "File for envelopes, or postgresql://user@host/name.", default=..., metavar="FILE"),
        option("codes", QUESTION, "The hashes of the invitations, if the survey has some.", Path),
        option("token", QUESTION, "Token for close and fetch; if left out, beside the store.", Path),
        option("host", LISTENING, "The address to listen at.", metavar="ADDRESS", default="127.0.0.1"),
        option("port", LISTENING, "Port; 0 takes a free one.", _between(0, 65_535, read_count), default=8000),
        option("tls_cert", LISTENING, "A certificate, in PEM.", Path),
        option("tls_key", LISTENING, "Its key, in PEM.", Path),
        option(
            "rate",
            LIMITS,
            "Requests per second of an address; 0: no limit.",
            _between(0, 1e9, read_number),
            default=50.0,
        ),
        option("connections", LIMITS, "Connections at a time.", _between(1, 1_000_000, read_count), default=1000),
        option("behind_proxy", LIMITS, "Limit the last address in X-Forwarded-For, behind a proxy that sets it.", bool),
        option("as_json", ANSWER, "Print one JSON object when it listens.", bool, called="json"),
    ],
)
def serve(
    collection: Path,
    store: str,
    codes: Path | None,
    token: Path | None,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    rate: float,
    connections: int,
    behind_proxy: bool,
    as_json: bool,
) -> None:
    """Run a shuffler server.

    It takes sealed reports over HTTP, cannot read them, and releases them without their order.
    SIGTERM or Ctrl-C stops it, and what it acknowledged is on the disk.
    """
    from shuffledp.survey.collection import read_collection
    from shuffledp.survey.stores.store import open_store
    from shuffledp.survey.wire import read_hashes

    try:
        from shuffledp.survey.shuffler.app import Limits, Shuffler, Token, made_token
        from shuffledp.survey.shuffler.server import Listening, Patience, logged
        from shuffledp.survey.shuffler.server import serve as run
        from shuffledp.survey.shuffler.writer import Writer
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"starlette and uvicorn must be installed for a shuffler, got no module named {missing.name}. pip install "
            f"'shuffledp[network]'"
        ) from None

    asked = read_collection(collection)
    of_one = None if behind_proxy else -(-connections // 2)
    listening = Listening(host, port, tls_cert, tls_key, Patience(connections=connections, of_one=of_one))
    listening.check_certificate()
    if codes is not None and not asked.codes:
        raise InvalidInput(
            f"--codes must be left out, got {str(codes)!r}: this collection asks for no invitations. Leave it out."
        )
    hashes = [] if codes is None else read_hashes(codes)
    beside = collection.with_name("shuffler.token") if "://" in store else Path(f"{store}.token")
    opened = open_store(store, asked)
    try:
        if not opened.stock().reports:
            _check_promise(asked)
        if asked.codes and codes is None and not opened.stock().closed:
            raise InvalidInput(
                "--codes must be given, got none: this collection asks for invitations. Give the file that `shuffledp "
                "survey invite --hashes` wrote."
            )
        secret = made_token(beside if token is None else token)
        opened.invite(hashes)
        shuffler = Shuffler(
            asked, Writer(opened), Token(secret), Limits(rate=rate, burst=4 * rate, proxied=behind_proxy)
        )
    except BaseException:
        opened.stop()
        raise

    def ready(address: str) -> None:
        facts = {"address": address, "collection": asked.digest, "token": str(beside if token is None else token)}
        if as_json:
            print(json.dumps(facts))  # on one line: a program reads a line, and goes on
        else:
            print(f"The shuffler of collection {asked.digest}\nlistens at {address}")
            print(f"Whoever closes it and fetches the reports needs the token in {facts['token']}")
            print("Ctrl-C stops it; what it has acknowledged stays.")
        sys.stdout.flush()  # a program may be waiting for it

    with logged():
        run(shuffler, listening, ready)


def _check_promise(asked: "Collection") -> None:
    """Refuse to begin a collection whose noise does not keep its promise: people who report load no
    accountant, and rely on a shuffler that has. One that has begun was looked at then.
    """
    from shuffledp.client import check_client
    from shuffledp.poll import certify

    check_client(asked.design)
    with patiently("certifying"):
        certify(asked.design)
