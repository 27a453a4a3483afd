"""Import every test as pytest does when it collects, and print what is computed meanwhile, a line
each: every call into a package that computes, every file written, every program started.

Describing is free: a randomizer, `shuffle(...)`, a protocol whose noise is given, a line of a table
that was computed once and for all.
"""

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path
from types import FrameType

import shuffledp
import tests

PACKAGES = tuple(
    f"/shuffledp/{package}/"
    for package in (
        "accounting",
        "judge",
        "audits",
        "figures",
        "engines",
        "ledger",
        "page",
        "release",
        "search",
        "series",
        "survey",
        "tables",
        "training",
        "verify",
    )
)
ORACLES = tuple(
    f"/tests/{oracle}.py"
    for oracle in (
        "oracle/adaptive",
        "oracle/arb",
        "oracle/counts",
        "literature/cases",
        "literature/truth",
        "contracts/enclosure",
    )
)
COMPUTING = (*PACKAGES, *ORACLES, "/shuffledp/client.py")
DESCRIBING = {"shuffle", "__getattr__", "names_at", "golden", "__post_init__", "check_text"}  # golden reads a table


def watch(frame: FrameType | None, event: str, _: object) -> None:
    """A profile function: it is told of every call."""
    if event != "call" or frame is None:
        return
    code = frame.f_code
    is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")
    if not is_function or code.co_name in DESCRIBING or not any(part in code.co_filename for part in COMPUTING):
        return
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    if frame is not None and "/tests/" in frame.f_code.co_filename:
        place = Path(frame.f_code.co_filename).relative_to(Path(__file__).parent)
        print(f"{place}:{frame.f_lineno} calls {code.co_qualname}")


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: it is told of every file that is opened."""
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        print(f"{arguments[0]} is opened for writing")
    if event == "subprocess.Popen":
        print(f"{arguments[1]} is started")


def load(package: str, path: list[str]) -> None:
    for module in pkgutil.walk_packages(path, f"{package}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    load("shuffledp", list(shuffledp.__path__))  # before we watch: loading a module is not computing
    sys.addaudithook(refuse)
    sys.setprofile(watch)
    load("tests", list(tests.__path__))
