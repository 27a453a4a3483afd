"""A client reports once, whatever happens, and believes nobody who is not its shuffler."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from shuffledp.client import Drawn
from shuffledp.errors import InvalidInput
from shuffledp.survey import Client, Receipt
from shuffledp.survey.courier import TRIES, Courier, Unsent
from shuffledp.survey.envelopes import Envelopes
from shuffledp.survey.outbox import Outbox, Stored, default_outbox
from shuffledp.survey.wire import Uploads, code_text, hash_of_code
from tests.survey.pretended import HTML, Pretended, later
from tests.survey.shufflers import free_port, process
from tests.survey.studies import KEY, study

Send = Callable[[Client], Receipt]
STEPS = ("mkdir", "link", "replace", "fsync", "unlink", "chmod")  # the calls that change something on a disk
CODES = [bytes([number]) * 16 for number in range(9)]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nobody waits, and how long somebody would have is noted."""
    noted: list[float] = []
    monkeypatch.setattr(Courier, "pause", lambda _, seconds: noted.append(seconds))
    return noted


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return tmp_path / "outbox"


def client(shuffler: Pretended, box: Path, **named: Any) -> Client:
    return Client(shuffler.collection, outbox=box, transport=shuffler.transport, **named)


def stored(box: Path) -> list[Path]:
    return [each for each in box.iterdir() if each.suffix != ".lock"]


def opened(shuffler: Pretended) -> list[Any]:
    return Envelopes(shuffler.collection).opened(sorted(shuffler.envelopes), KEY).tolist()


@pytest.mark.parametrize("name, value", [("krr", "no"), ("mean", 37.5), ("mean", "37.5"), ("hash", 17), ("oue", "299")])
def test_a_report_arrives_and_a_mark_stays(name: str, value: object, box: Path) -> None:
    shuffler = Pretended(study(name))
    receipt = client(shuffler, box).send(value)
    assert (receipt.acknowledged, receipt.before, receipt.drawn) == (1, 0, True)
    assert len(opened(shuffler)) == 1
    shuffler.collection.reporter.randomizer.check_reports(
        Envelopes(shuffler.collection).opened(shuffler.envelopes, KEY)
    )
    (mark,) = stored(box)
    assert next(iter(shuffler.envelopes)) not in mark.read_bytes()
    assert (mark.stat().st_mode & 0o777, box.stat().st_mode & 0o777) == (0o600, 0o700)
    asked = shuffler.posted
    again = client(shuffler, box).send(value)
    assert (again.acknowledged, again.before, again.drawn, shuffler.posted) == (1, 1, False, asked)


def test_reports_of_many_clients_follow_the_law(box: Path) -> None:
    """Chi-square with a seed: what is sealed is what the law draws."""
    shuffler = Pretended(study())
    randomizer = shuffler.collection.reporter.randomizer
    sender = client(shuffler, box)
    for number in range(200):
        sender.folder = box / str(number)
        sender.send("no")
    counts = np.bincount(opened(shuffler), minlength=3)
    truth = 200 * np.array([randomizer.miss, randomizer.miss + randomizer.contrast, randomizer.miss])
    assert counts.sum() == 200
    assert np.all(abs(counts - truth) <= 6.0 * np.sqrt(truth) + 1.0)


@pytest.mark.parametrize(
    "trouble",
    [
        [httpx.ConnectError("refused")],
        [httpx.ReadTimeout("nobody answers")],
        [later(503), later(429, 2), later(500), httpx.ReadError("broken")],
    ],
)
def test_trouble_on_the_way_sends_the_same_bytes_again(trouble: list[Any], box: Path, waits: list[float]) -> None:
    shuffler = Pretended(study(), *trouble)
    client(shuffler, box).send("yes")
    assert shuffler.seen == shuffler.envelopes
    assert len(shuffler.seen) == 1
    assert len(waits) == len(trouble)
    assert all(wait >= 2.0 for wait, each in zip(waits, trouble, strict=True) if getattr(each, "status_code", 0) == 429)


def test_a_lost_answer_counts_once(box: Path) -> None:
    shuffler = Pretended(study())
    shuffler.first = [shuffler.lose_answer]
    client(shuffler, box).send("yes")
    assert (len(shuffler.envelopes), shuffler.posted) == (1, 2)


def test_who_gives_up_has_stored_it_and_goes_on_with_the_same_bytes(box: Path, waits: list[float]) -> None:
    shuffler = Pretended(study(), *[httpx.ConnectError("refused")] * TRIES)
    with pytest.raises(Unsent, match="run the same command again"):
        client(shuffler, box).send("yes")
    assert len(waits) == TRIES - 1
    assert waits == sorted(waits) or max(waits) <= 60.0
    receipt = client(shuffler, box).send("yes")
    assert (receipt.acknowledged, receipt.drawn, len(shuffler.seen)) == (1, False, 1)
    assert shuffler.seen == shuffler.envelopes


def test_who_is_asked_to_come_back_tomorrow_does_not_wait(box: Path, waits: list[float]) -> None:
    shuffler = Pretended(study(), later(503, 86_400))
    with pytest.raises(Unsent, match="86400 s"):
        client(shuffler, box).send("yes")
    assert waits == []


@pytest.mark.parametrize(
    "answer",
    [
        HTML,
        httpx.Response(201),
        httpx.Response(200, json=[1]),
        httpx.Response(201, json={"reports": 2, "new": 1}),
        httpx.Response(201, json={"reports": 1, "new": 2}),
        httpx.Response(201, json={"reports": True, "new": True}),
        httpx.Response(201, text='{"reports": 1, "new": 1}'),
        httpx.Response(
            201, content=b'{"reports": 1, "new": 1, "new": 1}', headers={"content-type": "application/json"}
        ),
        httpx.Response(302, headers={"location": "https://elsewhere.example.org"}),
        httpx.Response(204),
        httpx.Response(403, html="Forbidden"),
        httpx.Response(403, json={"error": "this code is unknown.", "at": 1}),
        httpx.Response(201, content=b"\xff" * (1 << 21), headers={"content-type": "application/json"}),
    ],
)
def test_what_is_no_acknowledgement_does_not_count(answer: httpx.Response, box: Path) -> None:
    """Such as a page to log in, which a network puts in front of everything, with status 200."""
    shuffler = Pretended(study(), answer)
    with pytest.raises(Unsent, match="no shuffler of this collection"):
        client(shuffler, box).send("yes")
    assert shuffler.posted == 1, "no redirect is followed"
    assert client(shuffler, box).send("yes").acknowledged == 1
    assert shuffler.seen == shuffler.envelopes
    assert len(shuffler.seen) == 1


@pytest.mark.parametrize(
    "status, sentence",
    [(404, "no such path."), (409, "the collection is full."), (410, "closed."), (413, "too large.")],
)
def test_a_refusal_is_said_and_the_report_kept(status: int, sentence: str, box: Path) -> None:
    shuffler = Pretended(study(), httpx.Response(status, json={"error": f"{sentence}\x1b[2J"}))
    with pytest.raises(InvalidInput, match="the shuffler refused it") as caught:
        client(shuffler, box).send("yes")
    assert sentence in str(caught.value)
    assert "\x1b" not in str(caught.value), "a stranger's words do not steer a terminal"
    assert client(shuffler, box).send("yes").drawn is False


def test_a_shuffler_of_another_collection_gets_nothing(box: Path) -> None:
    shuffler = Pretended(study())
    shuffler.greeting = Pretended(study(question="Another?")).greeting
    with pytest.raises(InvalidInput, match="another collection"):
        client(shuffler, box).send("yes")
    shuffler.greeting = HTML
    with pytest.raises(Unsent, match="no shuffler"):
        client(shuffler, box).send("yes")
    assert shuffler.posted == 0


def test_codes_are_asked_for_and_a_wrong_one_can_be_corrected(box: Path) -> None:
    asked = study(codes=True)
    shuffler = Pretended(asked, codes=[hash_of_code(asked.digest, CODES[1])])
    sender = client(shuffler, box)
    with pytest.raises(InvalidInput, match=r"^code must be given"):
        sender.send("yes")
    with pytest.raises(InvalidInput, match="26 letters"):
        sender.send("yes", code="AAAA")
    assert not box.exists()
    with pytest.raises(InvalidInput, match="refused the code: this code is unknown"):
        sender.send("yes", code=code_text(CODES[0]))
    assert sender.send("yes", code=code_text(CODES[1])).acknowledged == 1
    assert shuffler.seen == shuffler.envelopes
    assert len(shuffler.seen) == 1, "the code was corrected, the envelope is the same"
    with pytest.raises(InvalidInput, match="this code is used"):
        client(shuffler, box.with_name("other")).send("yes", code=code_text(CODES[1]))
    with pytest.raises(InvalidInput, match="must be left out"):
        client(Pretended(study()), box).send("yes", code=code_text(CODES[1]))


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("krr", "yess", "Did you mean 'yes'"),
        ("krr", "", "one of the 3"),
        ("krr", None, "a text or a whole number"),
        ("hash", 300, "one of the 300"),
        ("mean", "many", "a number in"),
        ("mean", 121, "a number in"),
        ("mean", float("nan"), "a number in"),
    ],
)
def test_what_is_no_answer_is_refused_before_anything_is_drawn(name: str, value: object, said: str, box: Path) -> None:
    shuffler = Pretended(study(name))
    with pytest.raises(InvalidInput, match=said):
        client(shuffler, box).send(value)
    assert not box.exists()
    assert shuffler.requests == []


def test_a_number_outside_is_clipped_where_that_is_asked_for(box: Path) -> None:
    assert client(Pretended(study("mean")), box).send(1e9, clip=True).acknowledged == 1
    with pytest.raises(InvalidInput, match=r"^clip must be left out"):
        client(Pretended(study()), box).send("yes", clip=True)


def test_time_digest_promise_and_address_are_looked_at_first(box: Path) -> None:
    now = int(time.time())
    for times, said in (({"opens": now + 3600}, "opens at"), ({"closes": now - 3600}, "closed at")):
        shuffler = Pretended(study(**times))
        with pytest.raises(InvalidInput, match=said):
            client(shuffler, box).send("yes")
        assert shuffler.requests == []
    assert client(Pretended(study(opens=now + 200, closes=now + 900)), box).send("yes").acknowledged, "clocks differ"
    with pytest.raises(InvalidInput, match="must have the digest"):
        client(Pretended(study()), box, digest="0" * 64)
    with pytest.raises(InvalidInput, match="--most-epsilon0"):
        client(Pretended(study()), box, most_epsilon0=0.1)
    with pytest.raises(InvalidInput, match="https://"):
        Client(replace(study(), shuffler="http://shuffle.example.org"), outbox=box)


def test_a_file_is_as_good_as_what_is_in_it(box: Path, tmp_path: Path) -> None:
    shuffler = Pretended(study())
    path = tmp_path / "collection.json"
    path.write_bytes(shuffler.collection.content)
    named: dict[str, Any] = {"outbox": box, "transport": shuffler.transport}
    assert Client(str(path), digest=shuffler.collection.digest, **named).send("yes").acknowledged == 1
    path.write_bytes(shuffler.collection.content.replace(b'"round":1', b'"round": 1'))
    for content in (path.read_bytes(), b"{", b"[]", b"\xff"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput):
            Client(path, **named)


def test_no_cookie_is_kept_and_nothing_says_who_sends(box: Path) -> None:
    shuffler = Pretended(study())
    shuffler.greeting.headers["set-cookie"] = "who=me; Path=/"
    client(shuffler, box).send("yes")
    for request in shuffler.requests:
        assert "cookie" not in request.headers
        assert request.headers["user-agent"] == "shuffledp"
    with httpx.Client(transport=shuffler.transport) as usual:  # the control
        for _ in range(2):
            usual.get(f"{shuffler.collection.shuffler}/collection.json")
    assert shuffler.requests[-1].headers["cookie"] == "who=me"


def test_an_answer_is_stored_nowhere(box: Path) -> None:
    """Nor is the report as it was before it was sealed."""
    shuffler = Pretended(study("oue"), HTML)
    with pytest.raises(Unsent):
        client(shuffler, box).send("299")
    (report,) = Envelopes(shuffler.collection).opened(shuffler.seen, KEY)
    (file,) = stored(box)
    content = file.read_bytes()
    assert next(iter(shuffler.seen)) in content
    assert report.tobytes() not in content
    assert b"299" not in content.replace(next(iter(shuffler.seen)), b"").replace(
        shuffler.collection.digest.encode(), b""
    )


def test_an_outbox_that_others_can_look_into_is_refused(box: Path) -> None:
    shuffler = Pretended(study(), HTML)
    box.mkdir(mode=0o755)
    with pytest.raises(InvalidInput, match="chmod 700"):
        client(shuffler, box).send("yes")
    box.chmod(0o700)
    with pytest.raises(Unsent):
        client(shuffler, box).send("yes")
    (file,) = stored(box)
    file.chmod(0o644)
    with pytest.raises(InvalidInput, match="chmod 600"):
        client(shuffler, box).send("yes")


def test_a_damaged_outbox_is_refused_and_draws_nothing(box: Path) -> None:
    shuffler = Pretended(study(), HTML)
    with pytest.raises(Unsent):
        client(shuffler, box).send("yes")
    (file,) = stored(box)
    whole = file.read_bytes()
    header = whole.index(b"\n") + 1
    for content in (b"", whole[:-1], whole[header:], whole[:header], whole.replace(b'"sent":0', b'"sent":-1')):
        file.write_bytes(content)
        with pytest.raises(InvalidInput, match="got other bytes"):
            client(shuffler, box).send("yes")
    file.write_bytes(whole)
    assert client(shuffler, box).send("yes").acknowledged == 1
    assert len(shuffler.seen) == 1


def test_a_full_disk_sends_nothing(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shuffler = Pretended(study())

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InvalidInput, match="No space left"):
            client(shuffler, box).send("yes")
    assert shuffler.requests == []
    assert stored(box) == []
    assert client(shuffler, box).send("yes").acknowledged == 1


def test_a_second_process_waits_for_the_first(box: Path) -> None:
    shuffler = Pretended(study())

    def meanwhile(request: httpx.Request) -> httpx.Response:
        with pytest.raises(Unsent, match="another process"):
            client(shuffler, box).send("yes")
        return shuffler.honest(request)

    shuffler.first = [meanwhile]
    client(shuffler, box).send("yes")
    assert len(shuffler.seen) == 1


def test_where_no_lock_can_be_had_the_first_drawing_stays(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network disks have no locks: both processes draw then, and one drawing is ever sent."""
    monkeypatch.setattr("shuffledp.storage.files._lock", lambda _: True)
    shuffler, usual = Pretended(study()), Outbox.store

    def store(outbox: Outbox, records: Any) -> Stored:
        monkeypatch.setattr(Outbox, "store", usual)
        assert client(shuffler, box).send("yes").drawn, "another process, from beginning to end"
        return usual(outbox, records)

    monkeypatch.setattr(Outbox, "store", store)
    assert client(shuffler, box).send("yes").acknowledged == 1
    assert len(shuffler.seen) == 1


def test_a_client_loads_no_accountant_no_arrow_and_before_it_sends_no_httpx() -> None:
    program = (
        "import sys; from shuffledp.survey import Client; "
        "print([name for name in ('scipy', 'pyarrow', 'httpx', 'starlette', 'shuffledp.accounting') "
        "if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout == "[]\n"


def test_a_client_that_sends_loads_no_accountant_and_no_arrow(tmp_path: Path) -> None:
    """While it runs: an answer of one person, acknowledged by a shuffler."""
    port = free_port()
    collection = replace(study(), shuffler=f"http://127.0.0.1:{port}")
    with process(tmp_path, collection, port=port):
        words = [
            "survey",
            "send",
            str(tmp_path / "collection.json"),
            "--value",
            "yes",
            "--outbox",
            str(tmp_path / "box"),
            "--json",
        ]
        program = f"import sys; from shuffledp.cli import main; code = main({words!r}); print(code, *sys.modules)"
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    code, *modules = run.stdout.splitlines()[-1].split()
    assert (code, '"acknowledged": 1' in run.stdout) == ("0", True), run
    assert {"numpy", "httpx", "cryptography"} <= set(modules), "the control"
    assert not {"scipy", "pyarrow", "matplotlib", "shuffledp.accounting", "shuffledp.poll"} & set(modules)


def test_without_the_extra_one_sentence_names_it(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shuffler = Pretended(study())
    transport = shuffler.transport
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "httpx", None)
        with pytest.raises(InvalidInput, match=r"pip install 'shuffledp\[network\]'"):
            Client(shuffler.collection, outbox=box, transport=transport).send("yes")
    assert client(shuffler, box).send("yes").drawn is False


class Rows:
    """Five rows of a table, drawn when they are asked for."""

    rows, missing, repeated = 5, 0, None

    def __iter__(self) -> Iterator[Drawn]:
        yield Drawn(study().reporter.encode([0, 1, 1, 2, 0]), None, np.arange(5))


def one(sender: Client) -> Receipt:
    return sender.send("yes")


def five(sender: Client) -> Receipt:
    return sender.send_table(Rows())  # type: ignore[arg-type]


def killed(number: int, box: Path, log: Path, send: Send) -> int | None:
    """Send in a process that is killed at its ``number``-th step; how it ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = number

    def step() -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), 9)
        left -= 1

    def before(usual: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            step()
            return usual(*given, **named)

        return call

    try:
        for name in STEPS:
            setattr(os, name, before(getattr(os, name)))
        shuffler = Pretended(study())
        shuffler.answer = before(shuffler.answer)  # type: ignore[method-assign]
        shuffler.honest = before(noting(shuffler.honest, log))  # type: ignore[method-assign]
        send(client(shuffler, box))
        os._exit(0)
    except BaseException:
        os._exit(1)


def noting(usual: Any, log: Path) -> Any:
    """The network: what is in ``log`` has left the device."""

    def call(request: httpx.Request) -> httpx.Response:
        with log.open("a") as file:
            file.writelines(f"{each.envelopes.hex()}\n" for each in Uploads(study()).read(request.content))
        answer: httpx.Response = usual(request)
        return answer

    return call


def ever_sent(folder: Path, send: Send, *, forget: bool) -> tuple[int, set[int]]:
    """Kill a client at every step and let it go on; how many steps there are, and how many
    envelopes left the device each time. Who has to ``forget`` finds no outbox afterwards.
    """
    found: set[int] = set()
    for number in range(100):
        box, log = folder / f"{number}" / "box", folder / f"{number}" / "log"
        box.parent.mkdir(parents=True)
        log.touch()
        ended = killed(number, box, log, send)
        assert ended in (0, -9)
        if forget and box.exists():
            box.rename(box.with_name("forgotten"))
        assert killed(1000, box, log, send) == 0
        assert not list(box.glob(".*.part")), "remains are swept away"
        found.add(len(set(log.read_text().split())))
        if ended == 0:
            return number, found
    raise AssertionError("a client never ends")


@pytest.mark.long
@pytest.mark.parametrize("send, people", [(one, 1), (five, 5)])
def test_a_client_that_is_killed_at_any_step_has_one_envelope_for_each_person(
    send: Send, people: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    study().reporter  # noqa: B018  before the fork, for all
    monkeypatch.setattr("shuffledp.survey.sender.BATCH", 2)
    number, found = ever_sent(tmp_path / "ours", send, forget=False)
    assert number >= 10
    assert found == {people}
    _, drawn_again = ever_sent(tmp_path / "forgetful", send, forget=True)
    assert max(drawn_again) == 2 * people, "a client that draws again on restart sends two"
    record_property(
        f"fault: send, people: {people}", f"{number} kills, one at every step; one envelope ever left for each person"
    )


def test_the_outbox_is_where_programs_keep_their_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    for given, expected in (("/state", "/state"), ("", "/home/me/.local/state"), ("here", "/home/me/.local/state")):
        monkeypatch.setenv("XDG_STATE_HOME", given)
        assert default_outbox() == Path(expected) / "shuffledp" / "outbox"
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda _: {}[0])  # a user of a container, whom nobody knows
    with pytest.raises(InvalidInput, match=r"^outbox must be given where a user has no home"):
        default_outbox()


def test_new_folders_are_on_the_disk_before_anything_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut that takes the folder away would let the device draw again."""
    flushed: list[Path] = []
    monkeypatch.setattr("shuffledp.survey.outbox.flush", flushed.append)
    folder = tmp_path / "a" / "b"
    Outbox.of(folder, Uploads(study()))
    assert flushed == [tmp_path / "a", tmp_path]
    Outbox.of(folder, Uploads(study()))
    assert len(flushed) == 2
