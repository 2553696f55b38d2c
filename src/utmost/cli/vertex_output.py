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

    members: Entry = {}
    with _progress(points) as progress:
        if vertices:
            trivial_count = 1 if level.alpha else len(points)  # the answer tells nothing, or everything
            members["vertices"] = polytopes.count_vertices(points, progress) if level.is_inner else trivial_count
        if kernels:
            members["kernels"] = polytopes.count_kernels(points, level, progress)
    return members


def list_members(points: Space, level: Level, *, vertices: bool, kernels: bool) -> Entry:
    """All of them; more kernel mechanisms than a document can hold are refused with advice."""
    from utmost import polytopes

    members: Entry = {}
    with _progress(points) as progress:
        if vertices:
            region = polytopes.posterior_region(points, level, progress)
            members["vertices"] = [vertex_entry(region, k) for k in range(len(region.columns))]
        if kernels:
            members["kernels"] = list(
                islice(map(kernel_entry, polytopes.kernels(points, level, progress)), MAX_LISTED_KERNELS + 1)
            )
    if kernels and len(members["kernels"]) > MAX_LISTED_KERNELS:
        raise InputError(
            f"{points.name} has more than {MAX_LISTED_KERNELS} kernel mechanisms: say --count, or --save FILE.jsonl"
        )
    return members


def save_members(points: Space, level: Level, path: str, *, vertices: bool, kernels: bool) -> Entry:
    """All of them, one a line of a file, which is replaced when the last is found; returns how many there are."""
    from utmost import polytopes
    from utmost.exact.atomic_file import replace_file

    members: Entry = {}
    with replace_file(path) as stream, _progress(points) as progress:
        region = polytopes.posterior_region(points, level, progress)
        members["vertices"] = len(region.columns)
        for k in range(len(region.columns)):
            stream.write(_encode_line({"vertex": k} | vertex_entry(region, k)))
        if kernels:
            members["kernels"] = 0
            for kernel in polytopes.kernels(points, level, progress):
                stream.write(_encode_line({"kernel": members["kernels"]} | kernel_entry(kernel)))
                members["kernels"] += 1
    return members if vertices else {"kernels": members["kernels"]}


def kernel_by_number(points: Space, level: Level, number: int) -> Channel:
    """One kernel mechanism, by its number in the list."""
    from utmost import polytopes

    with _progress(points) as progress:
        kernel = next(islice(polytopes.kernels(points, level, progress), max(number, 0), None), None)
    if kernel is None or number < 0:
        raise InputError(f"--kernel must be the number of a kernel mechanism of {points.name}, from 0, got {number}")
    return kernel.channel()


def vertex_entry(region: PosteriorRegion, number: int) -> Entry:
    """A vertex: the posterior under a uniform prior."""
    return {"posterior": [str(p) for p in region.posterior(number)]}


def kernel_entry(kernel: Kernel) -> Entry:
    """A kernel mechanism: numbers of vertices, and the probability of each under a uniform prior."""
    return {"vertices": list(kernel.columns), "weights": [str(w) for w in kernel.weights]}


def _encode_line(entry: Entry) -> bytes:
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8")


@contextmanager
def _progress(points: Space) -> Iterator[Progress]:
    from utmost.cli.progress import progress_line

    with progress_line(points.name) as report:
        yield lambda stage, count, total: report(f"{count:,}{f' of {total:,}' if total else ''} {stage}")
