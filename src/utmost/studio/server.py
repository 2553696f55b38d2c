"""Serving: a socket, uvicorn in this process, the browser, and a calm end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from utmost.errors import InputError
from utmost.studio import patience
from utmost.studio.settings import Settings

SECONDS = 20  # for requests that go on when the studio is told to end
CONNECTIONS = 2000


def serve(settings: Settings, ready: Callable[[str], None], *, any_port: bool = False) -> None:
    """Serve until told to end (SIGINT or SIGTERM): requests are finished, jobs and helpers ended.

    `ready` is called with the address once it answers. With `any_port` a port that is taken is replaced by a free one.
    """
    import uvicorn

    from utmost.studio.app import make_app

    place = _socket(settings, any_port)
    port = place.getsockname()[1]
    app = make_app(replace(settings, port=port))
    config = uvicorn.Config(
        app,
        http=patience.timeout_protocol(settings.limits.head_seconds),
        log_level="warning",
        access_log=False,  # addresses hold what visitors ask
        server_header=False,
        date_header=True,
        proxy_headers=settings.tokens is not None,  # from this machine's own proxy only
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=SECONDS,
    )
    server = uvicorn.Server(config)
    threading.Thread(target=_announce, args=(server, ready, _address(settings.host, port)), daemon=True).start()
    with suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
        server.run(sockets=[place])


def _announce(server: Any, ready: Callable[[str], None], address: str) -> None:
    pause = threading.Event()
    while not server.started and not server.should_exit:
        pause.wait(0.02)
    if server.started:
        ready(address)


def _socket(settings: Settings, any_port: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in (settings.port, 0) if any_port else (settings.port,):
        place = socket.socket(family, socket.SOCK_STREAM)
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            place.bind((settings.host, port))
        except OSError as problem:
            place.close()
            reason = problem.strerror or "it cannot be used"
            continue
        return place
    raise InputError(f"--port must be free on {settings.host}, got {settings.port}: {reason}; choose another")


def _address(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else name}:{port}/"
