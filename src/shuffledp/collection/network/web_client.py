"""How a client or an analyst speaks to a shuffler: certificates are checked, no redirect is
followed, no cookie kept, and nothing says who or which version asks.

A proxy that the environment names is used, since that is the user's choice and TLS goes through it;
but never for an address of this machine.
"""

from __future__ import annotations

import ssl
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.collection.network.addresses import is_loopback
from shuffledp.errors import InvalidInput

if TYPE_CHECKING:
    import httpx

__all__ = ["check_trust", "compressed", "new_web_client", "printable"]

CONNECTING = 10.0  # seconds
SHOWN = 300  # letters of a stranger's sentence


def new_web_client(
    address: str, *, seconds: float, ca: Path | None = None, transport: httpx.BaseTransport | None = None
) -> httpx.Client:
    """A client for the shuffler at an address, which waits so many seconds for each piece of an
    answer. With ``ca``, the authorities in that file are trusted, and no others.
    """
    try:
        import httpx
    except ImportError:
        raise InvalidInput(
            "httpx must be installed to ask a shuffler, got none. pip install 'shuffledp[network]'"
        ) from None
    try:
        httpx.URL(address).host  # noqa: B018  a name that is none is noticed now
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InvalidInput(
            f"shuffler must be an address that can be asked, got {address!r}: {error}. Check it letter by letter."
        ) from None
    trusted = _trusted(address, ca)
    try:
        return httpx.Client(
            verify=trusted,
            trust_env=not is_loopback(address),
            transport=transport,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=httpx.Timeout(seconds, connect=CONNECTING),
            headers={"user-agent": "shuffledp", "accept-encoding": "identity"},
        )
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        raise InvalidInput(
            f"a proxy in the environment must be one that httpx can use, got: {error}. Look at HTTPS_PROXY and "
            f"ALL_PROXY."
        ) from None


def _trusted(address: str, ca: Path | None) -> ssl.SSLContext:
    """Whose certificates are believed: those in the file ``ca`` alone, or those httpx knows."""
    import httpx

    if ca is None and not address.startswith("https://"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # nobody's: to know all takes longer than to send a report
    if ca is None:
        return httpx.create_ssl_context()
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise InvalidInput(
            f"--ca must name a file of certificates in PEM, got {str(ca)!r}: {error.strerror or error}. Check the name."
        ) from None


def check_trust(address: str, error: BaseException | None) -> None:
    """Say so if what failed is that a certificate was not believed: another try would not help."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            raise InvalidInput(
                f"the certificate of {address} must be one that this machine trusts, got: "
                f"{printable(error.verify_message)}. Nothing was sent; for an authority of yours, add --ca FILE."
            ) from None
        error = error.__cause__ or error.__context__


def compressed(answer: httpx.Response) -> bool:
    """Whether an answer is not what was asked for, its bytes as they are: of a few kilobytes that
    were compressed twice, a hostile server makes as many gigabytes as it likes.
    """
    return bool(answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"))


def printable(text: str) -> str:
    """What a stranger says, in one line and without signs that steer a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:SHOWN].strip()
