"""The vertices and kernel mechanisms of a type: counted, listed, or streamed to a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.polytopes import Kernel, PosteriorRegion
    from utmost.spaces import Space

MAX_LISTED_KERNELS = 100_000  # kernel mechanisms that one document may hold
Entry: TypeAlias = dict[str, Any]
Progress: TypeAlias = Callable[[str, int, int], None]


def count_members(points: Space, level: Level, *, vertices: bool, kernels: bool) -> Entry:
    """How many there are."""
    from utmost import polytopes

    found: Entry = {}
    with _watched(points) as progress:
        if vertices:
            ends = 1 if level.alpha else len(points)  # told nothing, or everything
            found["vertices"] = polytopes.count_vertices(points, progress) if level.is_inner else ends
        if kernels:
            found["kernels"] = polytopes.count_kernels(points, level, progress)
    return found


def list_members(points: Space, level: Level, *, vertices: bool, kernels: bool) -> Entry:
    """All of them; more kernel mechanisms than a document can hold are refused with advice."""
    from utmost import polytopes

    found: Entry = {}
    with _watched(points) as progress:
        if vertices:
            made = polytopes.posterior_region(points, level, progress)
            found["vertices"] = [vertex(made, k) for k in range(len(made.columns))]
        if kernels:
            found["kernels"] = list(
                islice(map(kernel, polytopes.kernels(points, level, progress)), MAX_LISTED_KERNELS + 1)
            )
    if kernels and len(found["kernels"]) > MAX_LISTED_KERNELS:
        raise InputError(
            f"{points.name} has more than {MAX_LISTED_KERNELS} kernel mechanisms: say --count, or --save FILE.jsonl"
        )
    return found


def save_members(points: Space, level: Level, path: str, *, vertices: bool, kernels: bool) -> Entry:
    """All of them, one a line of a file as they are found; what comes back are their numbers."""
    from utmost import polytopes

    found: Entry = {}
    with open(path, "w", encoding="utf-8") as stream, _watched(points) as progress:
        made = polytopes.posterior_region(points, level, progress)
        found["vertices"] = len(made.columns)
        for k in range(len(made.columns)):
            stream.write(json.dumps({"vertex": k} | vertex(made, k), ensure_ascii=False) + "\n")
        if kernels:
            found["kernels"] = 0
            for one in polytopes.kernels(points, level, progress):
                stream.write(json.dumps({"kernel": found["kernels"]} | kernel(one), ensure_ascii=False) + "\n")
                found["kernels"] += 1
    return found if vertices else {"kernels": found["kernels"]}


def kernel_by_number(points: Space, level: Level, number: int) -> Channel:
    """One kernel mechanism, by its number in the list."""
    from utmost import polytopes

    with _watched(points) as progress:
        found = next(islice(polytopes.kernels(points, level, progress), max(number, 0), None), None)
    if found is None or number < 0:
        raise InputError(f"--kernel must be the number of a kernel mechanism of {points.name}, from 0, got {number}")
    return found.channel()


def vertex(made: PosteriorRegion, number: int) -> Entry:
    """A vertex: the posterior under a uniform prior."""
    return {"posterior": [str(p) for p in made.posterior(number)]}


def kernel(one: Kernel) -> Entry:
    """A kernel mechanism: numbers of vertices, and the probability of each under a uniform prior."""
    return {"vertices": list(one.columns), "weights": [str(w) for w in one.weights]}


@contextmanager
def _watched(points: Space) -> Iterator[Progress]:
    from utmost.cli.progress import progress_line

    with progress_line(points.name) as report:
        yield lambda words, done, total: report(f"{done:,}{f' of {total:,}' if total else ''} {words}")
