"""A browser gets what the package ships for it, as what it is, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffledp.survey.shuffler.app import MEDIA_TYPES, WebFile, web_files
from tests.survey.shufflers import trial

SHIPPED = {
    "participant.html": WebFile(b"<!doctype html>", "text/html; charset=utf-8"),
    "participant.js": WebFile(b"1;", "text/javascript; charset=utf-8"),
}


def test_the_pages_and_their_parts_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.survey.shuffler.app.web_files", lambda: SHIPPED)
    with trial(tmp_path) as tried:
        page, part = tried.request("GET", "/"), tried.request("GET", "/static/participant.js")
        assert (page.content, page.headers["content-type"]) == (b"<!doctype html>", "text/html; charset=utf-8")
        assert (part.content, part.headers["content-type"]) == (b"1;", "text/javascript; charset=utf-8")
        again = tried.request("GET", "/static/participant.js", headers={"if-none-match": part.headers["etag"]})
        assert (again.status_code, again.headers["cache-control"]) == (304, "no-cache")
        for path in ("/operator", "/static/participant.html", "/static/x.js", "/static/..%2f__init__.py", "/static/"):
            assert tried.request("GET", path).status_code == 404
        broken = tried.request("GET", "/", headers={"host": "[::"})
        assert broken.status_code == 200, "an address of one's own does not matter"


def test_what_is_shipped_has_a_type_and_a_tag() -> None:
    for name, file in web_files().items():
        assert file.media_type == MEDIA_TYPES[f".{name.rpartition('.')[2]}"]
        assert file.content
        assert file.tag == WebFile(file.content, file.media_type).tag
