"""The members of a privacy type, its vertices and kernel mechanisms: counted, listed, or written to a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.errors import InputError
from utmost.exact.files import replace_file
from utmost.polytopes.kernels import Kernel, PosteriorRegion, count_kernels, kernels, posterior_region
from utmost.polytopes.vertices import count_vertices

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.spaces import Space

MAX_LISTED_KERNELS = 100_000  # kernel mechanisms that one document may hold
Entry: TypeAlias = dict[str, Any]
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class MemberKinds:
    """Which members are asked for."""

    vertices: bool
    kernels: bool


@dataclass(frozen=True, slots=True)
class Members:
    """How many vertices and kernel mechanisms a type has, or all of them; None where they were not asked for.

    A vertex is the posterior under a uniform prior; a kernel mechanism is the numbers of its vertices and the
    probability of each under a uniform prior.
    """

    vertices: int | list[Entry] | None
    kernels: int | list[Entry] | None


def count_members(points: Space, level: Level, kinds: MemberKinds, progress: Progress) -> Members:
    """How many there are."""
    trivial_count = 1 if level.alpha else len(points)  # the answer tells nothing, or everything
    vertex_count = None
    if kinds.vertices:
        vertex_count = count_vertices(points, progress) if level.is_inner else trivial_count
    return Members(vertex_count, count_kernels(points, level, progress) if kinds.kernels else None)


def list_members(points: Space, level: Level, kinds: MemberKinds, progress: Progress) -> Members:
    """All of them; more kernel mechanisms than a document can hold are refused."""
    region = posterior_region(points, level, progress) if kinds.vertices else None
    vertex_entries = None if region is None else [_vertex_entry(region, k) for k in range(len(region.columns))]
    if not kinds.kernels:
        return Members(vertex_entries, None)
    kernel_entries = list(islice(map(_kernel_entry, kernels(points, level, progress)), MAX_LISTED_KERNELS + 1))
    if len(kernel_entries) > MAX_LISTED_KERNELS:
        raise InputError(
            f"{points.name} has more than {MAX_LISTED_KERNELS} kernel mechanisms",
            hint="say --count, or --save FILE.jsonl",
        )
    return Members(vertex_entries, kernel_entries)


def save_members(points: Space, level: Level, kinds: MemberKinds, progress: Progress, path: str) -> Members:
    """All of them, one a line of a file, which is replaced when the last is found; returns how many there are.

    The vertices are written in any case, since kernel mechanisms are named by them.
    """
    kernel_count = 0
    with replace_file(path) as stream:
        region = posterior_region(points, level, progress)
        for k in range(len(region.columns)):
            stream.write(_encode_line({"vertex": k} | _vertex_entry(region, k)))
        for kernel in kernels(points, level, progress) if kinds.kernels else ():
            stream.write(_encode_line({"kernel": kernel_count} | _kernel_entry(kernel)))
            kernel_count += 1
    return Members(len(region.columns) if kinds.vertices else None, kernel_count if kinds.kernels else None)


def kernel_by_number(points: Space, level: Level, number: int, progress: Progress) -> Channel:
    """One kernel mechanism, by its number in the list."""
    kernel = next(islice(kernels(points, level, progress), max(number, 0), None), None)
    if kernel is None or number < 0:
        raise InputError(
            f"--kernel must be the number of a kernel mechanism of {points.name}, from 0, got {number}", "kernel"
        )
    return kernel.channel()


def _vertex_entry(region: PosteriorRegion, number: int) -> Entry:
    return {"posterior": [str(p) for p in region.posterior(number)]}


def _kernel_entry(kernel: Kernel) -> Entry:
    return {"vertices": list(kernel.columns), "weights": [str(w) for w in kernel.weights]}


def _encode_line(entry: Entry) -> bytes:
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8")
