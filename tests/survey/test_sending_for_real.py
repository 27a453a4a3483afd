"""Clients, and a shuffler that is a process of its own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from shuffledp.survey import Client, Receipt
from shuffledp.survey.courier import Courier, Unsent
from shuffledp.survey.stores.sqlite import SQLiteStore
from tests.survey.shufflers import Process, process
from tests.survey.studies import study

pytestmark = pytest.mark.long

CLIENTS, AT_ONCE = 200, 16


class Road(httpx.HTTPTransport):
    """To wherever the shuffler listens now."""

    port: int | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(port=self.port)
        return super().handle_request(request)

    def leads_to(self, shuffler: Process) -> None:
        self.port = httpx.URL(shuffler.url).port


def test_200_clients_report_once_though_the_shuffler_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gave up while it was dead comes again; nobody counts twice, nobody is lost."""
    collection, many, dead = study(), threading.Semaphore(0), threading.Event()
    monkeypatch.setattr(Courier, "pause", lambda *_: None)
    monkeypatch.setattr(Courier, "__exit__", lambda *_: None)  # all share one road
    road = Road()

    def report(number: int) -> Receipt | None:
        box = tmp_path / "boxes" / str(number)
        if number >= CLIENTS // 2:
            assert dead.wait(timeout=60)
        try:
            receipt = Client(collection, outbox=box, transport=road).send(("yes", "no")[number % 2])
        except Unsent:
            return None
        many.release()
        return receipt

    with ExitStack() as stack, ThreadPoolExecutor(AT_ONCE) as pool:
        stack.callback(road.close)
        first = stack.enter_context(process(tmp_path, collection))
        road.leads_to(first)
        running = [pool.submit(report, number) for number in range(CLIENTS)]
        for _ in range(CLIENTS // 4):
            assert many.acquire(timeout=60)
        first.kill()
        dead.set()
        receipts = [each.result() for each in running]
        left = [number for number, receipt in enumerate(receipts) if receipt is None]
        assert left, "some met a dead shuffler"
        second = stack.enter_context(process(tmp_path, collection))
        road.leads_to(second)
        again = [report(number) for number in range(CLIENTS)]
        assert second.stop() == 0
    assert all(receipt is not None and receipt.acknowledged == 1 for receipt in again)
    assert {number for number, receipt in enumerate(again) if receipt is not None and not receipt.before} == set(left)
    store = SQLiteStore(tmp_path / "reports.sqlite", collection)
    assert store.stock().reports == CLIENTS
    store.stop()
