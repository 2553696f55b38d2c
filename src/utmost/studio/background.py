"""Threads that a studio begins and ends: none of them outlives it.

A thread is daemonic if the one that begins it is, as under a server in a thread. The interpreter does not wait for such
a thread: it is cut off inside whatever library it is in, and a library of C++ then ends the process by abort. So each
thread here is not daemonic, and whoever begins one registers in `AppState.cleanup` how it is waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


def start_timer(seconds: float, function: Callable[..., Any], *arguments: Any) -> threading.Timer:
    """Call the function in a thread of its own, so many seconds from now."""
    timer = threading.Timer(seconds, function, arguments)
    timer.daemon = False
    timer.start()
    return timer


def end_timer(timer: threading.Timer) -> None:
    """Keep the function from being called, or wait for its end."""
    timer.cancel()
    timer.join()


class ThreadGroup:
    """Threads of one purpose that are waited for together."""

    def __init__(self, name: str) -> None:
        self._name, self._lock = name, threading.Lock()
        self._threads: list[threading.Thread] = []

    def start(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call the function in a thread of its own."""
        thread = threading.Thread(target=function, args=arguments, name=self._name, daemon=False)
        with self._lock:
            self._threads = [*(other for other in self._threads if other.is_alive()), thread]
            thread.start()

    def wait(self) -> None:
        """Wait for all that were started before."""
        with self._lock:
            threads, self._threads = self._threads, []
        for thread in threads:
            thread.join()
