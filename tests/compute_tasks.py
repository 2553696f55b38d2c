"""Functions for the tests of computing in worker processes, which import them by name."""

from __future__ import annotations

import os
import time

from utmost.errors import InputError


def busy(seconds: float) -> str:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "done"


def raise_field_error() -> None:
    raise InputError("space must be smaller, got a large one", "space")


def raise_unexpected_error() -> None:
    raise RuntimeError("Ann is 42")


def exit_process() -> None:
    os._exit(3)
