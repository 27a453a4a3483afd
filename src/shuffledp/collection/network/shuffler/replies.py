"""How an answer is written: facts, files and refusals, with headers that allow a browser nothing
but what these pages need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from shuffledp.collection.network.shuffler.web_files import WebFile
from shuffledp.collection.network.wire import Refused

__all__ = ["HEADERS", "NOT_KEPT", "RAW_HEADERS", "answer", "kept", "last_words", "refusal"]

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=(), interest-cohort=()",
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
NOT_KEPT = {"cache-control": "no-store"}


def answer(facts: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Facts as JSON, for nobody to keep."""
    content = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    return Response(content, status, NOT_KEPT | dict(headers or {}), "application/json")


def kept(request: Request, file: WebFile) -> Response:
    """A file that a browser may keep, if it asks every time whether it is still the same."""
    headers = {"etag": file.tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.media_type)


def refusal(refused: Refused) -> Response:
    """Why a request is refused."""
    return answer(refused.as_json(), status=refused.status, headers=_waiting(refused))


def last_words(refused: Refused) -> bytes:
    """The same as it goes over the wire where there is no request to answer; nothing follows."""
    body = json.dumps(refused.as_json()).encode()
    headers = HEADERS | NOT_KEPT | _waiting(refused)
    headers |= {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    first = f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}"
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode() + body


def _waiting(refused: Refused) -> dict[str, str]:
    if refused.status == HTTPStatus.UNAUTHORIZED:
        return {"www-authenticate": "Bearer"}
    return {} if refused.wait is None else {"retry-after": str(refused.wait)}
