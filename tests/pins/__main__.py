"""``python -m tests.pins [--write] [FILE ...]``: say which pins differ; with --write, compute the
outputs again and keep them.
"""

from __future__ import annotations

import json
import sys
import time

from tests.pins.pinned import COMPUTED, differences, exactly, pins, write


def main(arguments: list[str]) -> int:
    """All files, or those that are named."""
    names = [each for each in arguments if not each.startswith("--")] or list(COMPUTED)
    different = 0
    for name in names:
        rows = pins(name)
        for row in rows:
            start = time.process_time()
            now = json.loads(json.dumps(COMPUTED[name](row)))
            spent = time.process_time() - start
            told = list(differences(row.get("found"), now, exactly))
            different += bool(told)
            if told or spent > 1.0:
                print(f"{name} {row['id']} ({spent:.1f} s of CPU): {'; '.join(told)[:400]}")
            row["found"] = now
        if "--write" in arguments:
            write(name, rows)
    print(f"{different} pins differ")
    return 0 if "--write" in arguments or not different else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
