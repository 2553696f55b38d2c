"""Serving: a socket, uvicorn in this process, a time limit for each request's head, and an orderly end."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from utmost.errors import InputError
from utmost.studio.settings import Settings

SHUTDOWN_SECONDS = 20  # for requests that go on when the studio is told to end
MAX_CONNECTIONS = 2000


def serve(settings: Settings, on_ready: Callable[[str], None], *, any_port: bool = False) -> None:
    """Serve until told to end (SIGINT or SIGTERM): requests are finished, jobs and helpers ended.

    `on_ready` is called with the address once it answers. With `any_port` a taken port is replaced by a free one.
    """
    import uvicorn

    from utmost.studio.app import make_app

    listener = _bind_socket(settings, any_port)
    port = listener.getsockname()[1]
    app = make_app(replace(settings, port=port))
    config = uvicorn.Config(
        app,
        http=timeout_protocol(settings.limits.head_seconds),
        log_level="warning",
        access_log=False,  # addresses hold what visitors ask
        server_header=False,
        date_header=True,
        proxy_headers=settings.tokens is not None,  # from this machine's own proxy only
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    server = uvicorn.Server(config)
    threading.Thread(target=_announce, args=(server, on_ready, _address(settings.host, port)), daemon=True).start()
    with suppress(KeyboardInterrupt):  # how it ends: uvicorn raises the signal again once all is closed
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        server.run(sockets=[listener])


def _announce(server: Any, on_ready: Callable[[str], None], address: str) -> None:
    pause = threading.Event()
    while not server.started and not server.should_exit:
        pause.wait(0.02)
    if server.started:
        on_ready(address)


def _bind_socket(settings: Settings, any_port: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in (settings.port, 0) if any_port else (settings.port,):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, port))
        except OSError as error:
            listener.close()
            reason = error.strerror or "it cannot be used"
            continue
        return listener
    raise InputError(f"--port must be free on {settings.host}, got {settings.port}: {reason}; choose another", "port")


def _address(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else name}:{port}/"


def timeout_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol with so many seconds for the head of a request: its first line and its headers.

    Uvicorn itself waits for the head without end. Time runs from the start of the connection, or from the first byte
    after an answer; the guard limits the time of a body, and uvicorn that of silence between requests.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class TimeoutProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # one of two classes, as installed
        """A connection with a deadline."""

        deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            """Begin to wait for a request."""
            super().connection_made(transport)
            self._start_deadline()

        def data_received(self, data: bytes) -> None:
            """Take what came; once the head of a request is complete, the deadline is cancelled."""
            if not self._is_answering():
                self._start_deadline()
            super().data_received(data)
            if self._is_answering():
                self._cancel_deadline()

        def connection_lost(self, exc: Exception | None) -> None:
            """The connection is over."""
            self._cancel_deadline()
            super().connection_lost(exc)

        def _is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _start_deadline(self) -> None:
            if self.deadline is None:
                self.deadline = asyncio.get_running_loop().call_later(seconds, self.transport.close)

        def _cancel_deadline(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return TimeoutProtocol
