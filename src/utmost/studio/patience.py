"""Connections that do not come to the point are closed: uvicorn waits for a request's first lines without end."""

from __future__ import annotations

import asyncio
from typing import Any


def timeout_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Uvicorn's protocol of HTTP, with so many seconds for the head of a request: its first line and its headers.

    Time runs from the connection's first moment, or from the first byte after an answer; a body has the guard's time,
    and silence between requests has uvicorn's own.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Prompt(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # one of two classes, as packages are installed
        """A connection with a deadline."""

        late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            """Begin to wait for a request."""
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            """Take what came; once it makes the head of a request, there is no hurry."""
            if not self._answering():
                self._wait()
            super().data_received(data)
            if self._answering():
                self._calm()

        def connection_lost(self, exc: Exception | None) -> None:
            """It is over."""
            self._calm()
            super().connection_lost(exc)

        def _answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _wait(self) -> None:
            if self.late is None:
                self.late = asyncio.get_running_loop().call_later(seconds, self.transport.close)

        def _calm(self) -> None:
            if self.late is not None:
                self.late.cancel()
                self.late = None

    return Prompt
