"""The planner at the pointer: one step of a slider each, asked over loopback, with nothing
remembered; in CPU seconds of server and client together.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from benchmarks.result import Result
from shuffledp.mechanisms.one_message import strongest
from shuffledp.studio import answer
from shuffledp.studio.server import Studio

MOST = 0.3
QUESTIONS: dict[str, dict[str, Any]] = {
    "16 categories": {"task": "histogram", "size": 16},
    "1,000 values, Hadamard response": {"task": "histogram", "size": 1000, "mechanism": "hadamard"},
    "1,000 values, local hashing": {"task": "histogram", "size": 1000, "mechanism": "hash"},
    "1,000 values, subset selection": {"task": "histogram", "size": 1000, "mechanism": "subset"},
    "a mean": {"task": "mean"},
}
USERS = (1000, 3000, 10_000, 30_000, 100_000, 1_000_000, 10_000_000, 1_000_000_000)
EPSILONS = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 4.0)


def steps() -> list[Result]:
    """Users move at epsilon = 1, then epsilon moves at 50,000 users; one round and twelve."""
    results = []
    with Studio() as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
        ask(connection, server, QUESTIONS["16 categories"] | {"n": 100, "delta": 1e-6})  # what is loaded once
        for what, question in QUESTIONS.items():
            for rounds in (1, 12):
                times = [ask(connection, server, plan) for plan in _moves(question | {"rounds": rounds})]
                measured = f"median {median(times):.3f}, largest {max(times):.3f} s of CPU in {len(times)} steps"
                many = "one round" if rounds == 1 else f"{rounds} rounds"
                results.append(Result(f"{what}, {many}", measured, f"median below {MOST:g} s", median(times) < MOST))
        connection.close()
        server.shutdown()
        serving.join()
    return results


def ask(connection: http.client.HTTPConnection, server: Studio, plan: dict[str, Any]) -> float:
    """The seconds of one answer."""
    for remembered in (strongest, answer.calibrated, answer._kept):
        remembered.cache_clear()
    start = time.process_time()
    body = json.dumps(plan | {"part": "numbers"})
    connection.request("POST", f"/{server.token}/answer", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    found = json.load(response)
    assert response.status == 200, found
    return time.process_time() - start


def _moves(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for n in USERS:
        yield question | {"n": n, "epsilon": 1.0, "delta": 1e-6}
    for epsilon in EPSILONS:
        yield question | {"n": 50_000, "epsilon": epsilon, "delta": 1e-6}
