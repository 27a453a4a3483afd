"""The least that a server of the same framework can do with an upload: read it, and say so. It
prints its port.
"""

from __future__ import annotations

import socket

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def taken(request: Request) -> Response:
    """The upload is forgotten."""
    return JSONResponse({"reports": len(await request.body()), "new": 0}, 201)


def main() -> None:
    """Serve until somebody ends it."""
    app = Starlette(routes=[Route("/collections/{digest}/reports", taken, methods=["POST"])])
    bound = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(bound.getsockname()[1], flush=True)
    config = uvicorn.Config(
        app, loop="uvloop", http="httptools", ws="none", lifespan="off", log_config=None, access_log=False
    )
    uvicorn.Server(config).run(sockets=[bound])


if __name__ == "__main__":
    main()
