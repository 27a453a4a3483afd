"""The command studio: the planner, as a page on this machine."""

import os
import sys
import webbrowser
from typing import Annotated
from urllib.parse import quote

import typer

from shuffledp.cli.listing import PLAN, app, examples
from shuffledp.cli.options import ANSWER, QUESTION, flag, whole
from shuffledp.errors import InvalidInput

__all__: list[str] = []

HIGHEST = 65_535


@app.command(
    "studio",
    rich_help_panel=PLAN,
    epilog=examples("studio", "studio --port 8765 --no-open", "studio --plan 'n=1000000&rounds=12'"),
)
def studio(
    port: Annotated[
        int | None, whole("port", ANSWER, "The port to listen on, on this machine alone; if left out, a free one.")
    ] = None,
    plan: Annotated[
        str | None, flag("plan", QUESTION, "A plan that the page was asked to share.", metavar="TEXT")
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.", rich_help_panel=ANSWER)
    ] = True,
) -> None:
    """Plan on a page: move users, categories, rounds and promise, and see noise, error and every
    published bound while you move.
    """
    from shuffledp.studio.server import Studio

    if port is not None and not 1 <= port <= HIGHEST:
        raise InvalidInput(f"--port must lie in [1, {HIGHEST}], got {port}. Leave it out for a free one.")
    try:
        server = Studio(port or 0)
    except OSError as error:
        raise InvalidInput(
            f"--port must be free to listen on, got {port}: {error.strerror}. Leave it out for a free one."
        ) from None
    fragment = "" if plan is None else f"#{quote(plan, safe='=&%+')}"
    with server:
        print(f"The planner is at {server.address}{fragment}", flush=True)
        print("It answers this machine alone, for as long as this runs. Ctrl-C ends it.", flush=True)
        if open_page and _has_screen():
            webbrowser.open(server.invitation + fragment)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nThe planner has ended.")


def _has_screen() -> bool:
    """Whether a browser would open beside this terminal, and not inside it."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
