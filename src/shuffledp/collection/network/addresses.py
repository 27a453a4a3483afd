"""Which addresses of a shuffler are safe to send to."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from shuffledp.collection.network.collection_file import Collection
from shuffledp.errors import InvalidInput

__all__ = ["check_address", "is_loopback"]


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own, which no network carries.

    >>> (
    ...     is_loopback("http://127.0.0.1:8000"),
    ...     is_loopback("http://[::1]"),
    ...     is_loopback("http://a.org"),
    ... )
    (True, True, False)
    """
    host = (urlsplit(address).hostname or "").rstrip(".")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"  # names below it are asked of the network by many systems


def check_address(collection: Collection) -> None:
    """Refuse a shuffler without TLS, unless it is on this machine.

    Reports are sealed, and yet: on the way somebody could read who reports and with which code,
    acknowledge what never arrived, and put another page in front of people. Browsers seal nothing
    without TLS.
    """
    address = collection.shuffler
    if not address.startswith("https://") and not is_loopback(address):
        raise InvalidInput(
            f"shuffler must be an address that begins with https://, or one of this machine, got {address!r}. Put a "
            f"proxy with TLS in front of it, or give `shuffledp serve` a certificate."
        )
