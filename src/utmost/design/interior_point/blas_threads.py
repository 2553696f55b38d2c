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

NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
Switch: TypeAlias = tuple[Callable[[], int], Callable[[int], None]]  # how many threads there are; make it so many


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS on one thread in this block, where it is the OpenBLAS that numpy and scipy bring; elsewhere no change."""
    with ExitStack() as stack:
        for count, make in _switches():
            stack.callback(make, count())
            make(1)
        yield


@cache
def _switches() -> tuple[Switch, ...]:
    import numpy
    import scipy

    homes = [(Path(package.__path__[0]), package.__name__) for package in (numpy, scipy)]
    folders = [folder for home, name in homes for folder in (home.parent / f"{name}.libs", home / ".dylibs")]
    found = (_switch(library) for folder in folders for library in folder.glob("*openblas*"))
    return tuple(switch for switch in found if switch is not None)


def _switch(library: Path) -> Switch | None:
    try:
        loaded = ctypes.CDLL(str(library))
    except OSError:
        return None
    for name in NAMES:
        if hasattr(loaded, name.format("set")):
            return getattr(loaded, name.format("get")), getattr(loaded, name.format("set"))
    return None
