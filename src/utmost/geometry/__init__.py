"""The geometry of a privacy type: the vertices of its region of posteriors, and its kernel mechanisms."""

from utmost.geometry.decomposition import Decomposition, decomposition
from utmost.geometry.description import kernels_by_description
from utmost.geometry.kernels import (
    Kernel,
    Region,
    count_kernels,
    kernel_arrays,
    kernel_sets,
    kernels,
    kernels_by_subsets,
    region,
)
from utmost.geometry.membership import Verdict, is_kernel_mechanism, is_vertex_mechanism
from utmost.geometry.vertices import count_vertices, vertices, vertices_by_growth

__all__ = [
    "Decomposition",
    "Kernel",
    "Region",
    "Verdict",
    "count_kernels",
    "count_vertices",
    "decomposition",
    "is_kernel_mechanism",
    "is_vertex_mechanism",
    "kernel_arrays",
    "kernel_sets",
    "kernels",
    "kernels_by_description",
    "kernels_by_subsets",
    "region",
    "vertices",
    "vertices_by_growth",
]
