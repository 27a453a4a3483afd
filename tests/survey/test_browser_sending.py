"""A browser draws one report, has it on disk before the first request, and sends the same bytes
until they are acknowledged: across reloads, in two tabs, with another code.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from shuffledp.survey.collection import LAST_SECOND, Collection
from shuffledp.survey.envelopes import Envelopes
from shuffledp.survey.wire import Address, code_text, new_codes
from tests.survey.shipped import library, visit
from tests.survey.studies import KEY, with_target
from tests.survey.tapes import file

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# A shuffler that gives these answers in their order, a status or null for none at all, and the last one for ever; what
# it is sent, how the device stood to the collection meanwhile, and how long the client waits are written down.
SHUFFLER = """(answers) => {
    globalThis.requests = [];
    globalThis.pauses = [];
    globalThis.ways = {
        async fetch(url, { body, signal, ...request }) {
            const standing = await client.standing(collection);
            requests.push({ url, body: client.hex(body), standing, ...request });
            const [status, said, after] = answers.length > 1 ? answers.shift() : answers[0];
            if (status === null) throw new TypeError("Failed to fetch");
            return new Response(said, { status, headers: after === undefined ? {} : { "Retry-After": after } });
        },
        wait: async (seconds) => { pauses.push(seconds); },
        paused() {},
    };
}"""
ASK = """async ([call, ...given]) => {
    try {
        return { fresh: await client[call](collection, ...given.slice(0, -1), { ...given.at(-1), ways }) };
    } catch (error) {
        const { name, message, status, code } = error;
        return { name, message, status, code };
    }
}"""
STORED, AGAIN = '{"reports": 1, "new": 1}', '{"reports": 1, "new": 0}'
ATTEMPTS = 6


class Fresh(Protocol):
    """Collections that no other test has."""

    def __call__(self, **changed: Any) -> Collection: ...


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> Fresh:
    return lambda **changed: file("krr 3", question=request.node.name, **changed)


def meet(page: Page, collection: Collection, *answers: tuple[Any, ...]) -> None:
    """Open a collection whose shuffler answers so."""
    page.evaluate(
        "async (text) => { globalThis.collection = await client.readCollection(bytesOf(text)); }",
        collection.content.decode("latin-1"),
    )
    page.evaluate(SHUFFLER, list(answers or [(201, STORED)]))


def take_part(page: Page, answer: float = 1, **terms: str) -> dict[str, Any]:
    """Answer the question; what comes of it."""
    return dict(page.evaluate(ASK, ["takePart", answer, terms]))


def deliver(page: Page, **terms: str) -> dict[str, Any]:
    """Send what waits."""
    return dict(page.evaluate(ASK, ["deliver", terms]))


def standing(page: Page) -> str:
    """How this device stands to the collection."""
    return str(page.evaluate("client.standing(collection)"))


def requests(page: Page) -> list[dict[str, Any]]:
    """What the shuffler was sent."""
    return list(page.evaluate("requests"))


def bodies(page: Page) -> list[bytes]:
    """The uploads."""
    return [bytes.fromhex(each["body"]) for each in requests(page)]


def test_one_report_is_kept_then_sent_then_marked(page: Page, fresh: Fresh) -> None:
    collection = fresh()
    meet(page, collection)
    assert standing(page) == "new"
    assert take_part(page) == {"fresh": True}
    (request,) = requests(page)
    assert request["standing"] == "waiting", "on disk before the first request"
    assert request["url"] == collection.shuffler + Address(collection.digest).reports
    assert request["headers"] == {"Content-Type": "application/octet-stream"}
    assert (request["method"], request["credentials"], request["redirect"]) == ("POST", "omit", "error")
    assert (request["cache"], request["referrerPolicy"]) == ("no-store", "no-referrer")
    assert len(Envelopes(collection).opened(bodies(page), KEY)) == 1
    assert standing(page) == "sent"
    again = take_part(page, 2)
    assert again["message"] == "This device has sent its report already. Everybody counts once."
    assert len(requests(page)) == 1
    assert bodies(page)[0].hex() not in page.evaluate(EVERYTHING), "a mark stays, and no envelope"


EVERYTHING = """async () => {
    const database = await new Promise((resolve) => {
        const request = indexedDB.open("shuffledp");
        request.onsuccess = () => resolve(request.result);
    });
    const held = await new Promise((resolve) => {
        const request = database.transaction("outbox").objectStore("outbox").getAll();
        request.onsuccess = () => resolve(request.result);
    });
    database.close();
    const shown = (_, value) => value instanceof Uint8Array ? client.hex(value) : value;
    return JSON.stringify(held, shown);
}"""


def test_after_a_reload_the_same_bytes_are_sent_whatever_the_answer(page: Page, fresh: Fresh) -> None:
    collection = fresh()
    meet(page, collection, (None,))
    lost = take_part(page, 0)
    assert (lost["name"], lost["status"]) == ("Unsent", None)
    assert "kept on this device" in lost["message"]
    first = bodies(page)
    assert len(first) == ATTEMPTS
    assert first[0].hex() in page.evaluate(EVERYTHING), "the control of what is looked for above"
    other = visit(page.context)  # a page of its own, as after a reload or a crash
    meet(other, collection, (None,), (200, AGAIN))
    assert standing(other) == "waiting"
    assert take_part(other, 2) == {"fresh": False}
    assert {*first, *bodies(other)} == {first[0]}
    assert standing(page) == "sent"


TAKE = "(answer) => client.takePart(collection, answer, { ways })"


def test_two_tabs_at_once_give_one_report(page: Page, fresh: Fresh) -> None:
    tabs = [page, visit(page.context)]
    for tab in tabs:
        meet(tab, fresh())
    for tab in tabs:
        tab.evaluate(f"void (globalThis.taken = Promise.allSettled([0, 1, 2].map({TAKE})))")
    for tab in tabs:
        tab.evaluate("taken.then(() => null)")
    sent = [body for tab in tabs for body in bodies(tab)]
    assert len(sent) >= 1
    assert len({*sent}) == 1


def test_two_devices_give_two(page: Page, fresh: Fresh, chromium: Browser) -> None:
    """The positive control of the tabs."""
    meet(page, fresh())
    take_part(page)
    with library(chromium) as other:
        meet(other, fresh())
        take_part(other)
        assert bodies(page) != bodies(other)


def test_nothing_is_sent_that_cannot_be_stored(page: Page, fresh: Fresh) -> None:
    tab = visit(page.context)
    meet(tab, fresh())
    for broken in (
        "IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError'); }",
        "IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError'); }",
        "Object.defineProperty(globalThis, 'indexedDB', { value: undefined })",
    ):
        tab.evaluate(f"() => {{ {broken}; }}")
        refused = take_part(tab)
        assert refused["name"] == "Refused"
        assert "Nothing is sent: allow this site to store data" in refused["message"]
        assert requests(tab) == []
    tab.close()


def test_it_tries_again_as_it_is_asked_to(page: Page, fresh: Fresh) -> None:
    answers = [(503, "{}", "40"), (429, "{}"), (None,), (502, "<html>"), (200, "<html>Sign in to this network</html>")]
    meet(page, fresh(), *answers, (201, STORED))
    assert take_part(page) == {"fresh": True}
    sent, pauses = bodies(page), page.evaluate("pauses")
    assert (len(sent), len({*sent})) == (6, 1)
    assert 40 <= pauses[0] <= 60
    assert [step <= pause <= 2 * step for step, pause in zip([2, 4, 8, 16], pauses[1:], strict=True)] == [True] * 4


@pytest.mark.parametrize("said", ["", "null", "[]", "{}", '{"reports": 2, "new": 1}', '{"reports": 1}', "<html>"])
def test_nothing_but_the_words_of_the_shuffler_is_an_acknowledgement(page: Page, fresh: Fresh, said: str) -> None:
    meet(page, fresh(), (200, said))
    assert take_part(page)["status"] is None
    assert standing(page) == "waiting"


def test_every_refusal_is_a_sentence(page: Page, fresh: Fresh) -> None:
    meet(page, fresh())
    take = {}
    for status in (400, 403, 404, 405, 409, 410, 413, 415, 425, 429, 500, 503, 418):
        page.evaluate(SHUFFLER, [(status, '{"error": "no"}')])
        take[status] = take_part(page)
        tries = len(requests(page))
        assert tries == (ATTEMPTS if status in (429, 500, 503) else 1), status
        assert standing(page) == "waiting"
    for status, refused in take.items():
        assert (refused["name"], refused["status"]) == ("Unsent", status)
        assert refused["message"].endswith("."), status
        assert refused["code"] is (status in (403, 409)), "another code may help"
    assert "closed" in take[410]["message"]
    assert "has not opened yet" in take[425]["message"]
    assert "(418)" in take[418]["message"]


def test_another_code_goes_with_the_same_envelope(page: Page, fresh: Fresh) -> None:
    collection = fresh(codes=True)
    meet(page, collection, (403, "{}"))
    assert "26 letters and digits" in take_part(page)["message"]
    assert "26 letters and digits" in take_part(page, code="not a code")["message"]
    assert (standing(page), requests(page)) == ("new", [])
    codes = [*new_codes(2)]
    assert take_part(page, code=code_text(codes[0]).lower())["status"] == 403
    assert deliver(page)["status"] == 403
    assert deliver(page, code=code_text(codes[1]))["status"] == 403
    first, again, other = bodies(page)
    assert first == again
    assert (first[:16], other[:16]) == (codes[0], codes[1])
    assert first[16:] == other[16:]
    assert len(Envelopes(collection).opened([other[16:]], KEY)) == 1


OLDER = """() => {
    const made = crypto.subtle.generateKey;
    crypto.subtle.generateKey = function (algorithm, ...others) {
        if (algorithm.name === "X25519") throw new DOMException("unknown", "NotSupportedError");
        return made.call(this, algorithm, ...others);
    };
    delete AbortSignal.timeout;
    delete URL.canParse;
}"""


def test_an_older_browser_loads_the_curve_and_takes_part(page: Page, fresh: Fresh) -> None:
    tab, collection = visit(page.context), fresh()
    loaded: list[str] = []
    tab.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    tab.evaluate(OLDER)
    meet(tab, collection)
    assert (tab.evaluate("client.curveHere()"), loaded) == ("script", [])
    assert take_part(tab) == {"fresh": True}
    assert loaded == ["x25519.js"]
    assert len(Envelopes(collection).opened(bodies(tab), KEY)) == 1
    tab.close()


def test_where_the_curve_cannot_be_loaded_nothing_is_kept(page: Page, fresh: Fresh) -> None:
    tab = visit(page.context)
    tab.route("**/x25519.js", lambda route: route.abort())
    tab.evaluate(OLDER)
    meet(tab, fresh())
    assert take_part(tab)["message"].endswith("could not load it. Reload the page.")
    assert (standing(tab), requests(tab)) == ("new", [])
    tab.close()


def test_what_is_stored_but_not_marked_is_sent_again(page: Page, fresh: Fresh) -> None:
    """The disk fills up between the envelope and its mark: the shuffler has it, and that is said."""
    tab = visit(page.context)
    meet(tab, fresh())
    tab.evaluate(
        """() => {
            const put = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = function (entry, key) {
                if (entry.state === "sent") throw new DOMException("full", "QuotaExceededError");
                return put.call(this, entry, key);
            };
        }"""
    )
    assert take_part(tab) == {"fresh": True}
    assert standing(tab) == "waiting"
    assert deliver(tab) == {"fresh": True}
    assert len({*bodies(tab)}) == 1
    tab.close()


def test_nothing_is_drawn_outside_the_hours_or_without_a_promise(page: Page, fresh: Fresh) -> None:
    silent = with_target(fresh().design, epsilon=None)
    refusals = {
        "has not opened yet": fresh(opens=LAST_SECOND - 1),
        "is over": fresh(closes=1),
        "must promise an epsilon": dataclasses.replace(fresh(), design=silent),
    }
    for words, collection in refusals.items():
        meet(page, collection)
        assert words in take_part(page)["message"]
        assert (standing(page), requests(page)) == ("new", [])
        assert "Answer the question first." in deliver(page)["message"]


@pytest.mark.parametrize(
    "name, answer", [("krr 3", 3), ("krr 3", -1), ("krr 3", 0.5), ("mean 7", 0.09), ("mean 7", math.nan), ("mean 7", 1)]
)
def test_an_answer_that_is_none_is_refused(page: Page, name: str, answer: float) -> None:
    meet(page, file(name, question="an answer that is none"))
    assert take_part(page, answer)["message"].startswith("The answer must be ")
    assert (standing(page), requests(page)) == ("new", [])
