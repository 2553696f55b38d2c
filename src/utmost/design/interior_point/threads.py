"""Two threads over blocks of readings, and BLAS on one thread meanwhile.

Factoring a hundred matrices of a hundred rows takes ten times longer with two threads in BLAS than with one when
something else runs on the machine; blocks of readings keep two threads busy without waiting for each other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

THREADS = 2
SYMBOL_PATTERNS = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
ThreadSwitch: TypeAlias = tuple[Callable[[], int], Callable[[int], None]]  # how many threads there are; make it so many
Result = TypeVar("Result")


class Workers:
    """Applies a function to blocks: on two threads, or on this one where the work is small."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def map(self, function: Callable[..., Result], *arguments: Any) -> list[Result]:
        """The results, in order; numpy's warnings are off, since what is not finite is looked for."""

        def quiet(*values: Any) -> Result:
            with np.errstate(all="ignore"):
                return function(*values)

        return list(map(quiet, *arguments) if self._pool is None else self._pool.map(quiet, *arguments))


@contextmanager
def workers(is_small: bool) -> Iterator[Workers]:
    """Workers for this block, in which BLAS runs on one thread."""
    with one_thread(), ExitStack() as stack:
        yield Workers(None if is_small else stack.enter_context(ThreadPoolExecutor(THREADS)))


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
