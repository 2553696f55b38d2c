"""A process that computes for requests, one call at a time: `python -m utmost.studio.compute_worker`.

Calls come on its input and results go to its output, pickled: both ends are this studio. It ends when the studio does.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, TypeAlias

from utmost.errors import UtmostError
from utmost.studio.job_worker import NICENESS

Call: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]
PRELOADED_MODULES = ("altair", "utmost.design", "utmost.studio.designer", "utmost.studio.consumer")


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call gave: its value, the error that its user made, or the type of another error; and its CPU seconds."""

    value: Any
    error: UtmostError | None
    bug: str
    cpu_seconds: float


def answer_call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> CallResult:
    """Call the function; the text of an unexpected error is dropped."""
    started = time.process_time()
    value, error, bug = None, None, ""
    try:
        value = function(*arguments)
    except UtmostError as problem:
        error = problem
    except Exception as problem:
        bug = type(problem).__name__
    return CallResult(value, error, bug, time.process_time() - started)


def _read_calls(stream: IO[bytes], calls: queue.Queue[bytes]) -> None:
    """Our input is a pipe from the studio: it closes when the studio ends, however it ends."""
    while size := stream.read(8):
        calls.put(stream.read(int.from_bytes(size, "big")))
    os._exit(1)


def _serve_calls(output: IO[bytes]) -> None:
    calls: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read_calls, args=(sys.stdin.buffer, calls), daemon=True).start()
    for module in PRELOADED_MODULES:
        import_module(module)
    while True:
        call: Call = pickle.loads(calls.get())
        pickle.dump(answer_call(*call), output)
        output.flush()


def _take_output() -> IO[bytes]:
    """Our output for results alone: a library that prints may print what it was given."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return output


def main() -> None:
    """Serve calls until the studio ends."""
    sys.set_int_max_str_digits(0)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    _serve_calls(_take_output())


if __name__ == "__main__":
    import_module("utmost.studio.compute_worker").main()  # not this copy, whose classes the studio does not know
