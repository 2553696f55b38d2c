"""One thread for BLAS while many small matrices are factored: its threads wait for each other longer than they work.

Factoring a hundred matrices of a hundred rows takes ten times longer with two threads than with one when something
else runs on the machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TypeAlias

SYMBOL_PATTERNS = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
ThreadSwitch: TypeAlias = tuple[Callable[[], int], Callable[[int], None]]  # how many threads there are; make it so many


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS on one thread in this block, where it is the OpenBLAS that numpy and scipy bring; elsewhere no change."""
    with ExitStack() as stack:
        for get_threads, set_threads in _thread_switches():
            stack.callback(set_threads, get_threads())
            set_threads(1)
        yield


@cache
def _thread_switches() -> tuple[ThreadSwitch, ...]:
    import numpy
    import scipy

    package_folders = [(Path(package.__path__[0]), package.__name__) for package in (numpy, scipy)]
    folders = [folder for root, name in package_folders for folder in (root.parent / f"{name}.libs", root / ".dylibs")]
    switches = (_thread_switch(library) for folder in folders for library in folder.glob("*openblas*"))
    return tuple(switch for switch in switches if switch is not None)


def _thread_switch(library: Path) -> ThreadSwitch | None:
    try:
        blas = ctypes.CDLL(str(library))
    except OSError:
        return None
    for pattern in SYMBOL_PATTERNS:
        if hasattr(blas, pattern.format("set")):
            return getattr(blas, pattern.format("get")), getattr(blas, pattern.format("set"))
    return None
