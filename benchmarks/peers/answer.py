"""One answer in a process of its own: ``python -m benchmarks.peers.answer PEER QUESTION`` prints
the ends, the CPU seconds after the imports, and the peak memory, as JSON.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time

from benchmarks.peers.installed import INSTALLED, MODULES, Ends
from benchmarks.peers.questions import QUESTIONS


def main(peer: str, name: str) -> None:
    """Ask once, and print."""
    asked = QUESTIONS[name]
    ends: Ends
    if peer in INSTALLED:
        importlib.import_module(MODULES[peer])
        start = time.process_time()
        ends = INSTALLED[peer](asked.given, asked.delta)
    elif peer == "shuffledp":
        import shuffledp as sdp

        guarantee = eval(asked.ours, {"sdp": sdp})  # our own words, from questions.py; it loads what it needs
        start = time.process_time()
        bound = guarantee.epsilon(delta=asked.delta)
        ends = (bound.lower, bound.upper)
    else:
        from benchmarks.peers.rewritten import REWRITTEN

        start = time.process_time()
        ends = REWRITTEN[peer](asked.given, asked.delta)
    seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(json.dumps({"lower": ends[0], "upper": ends[1], "seconds": seconds, "megabytes": megabytes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
