"""The geometry of a privacy type: the vertices of its region of posteriors, and its kernel mechanisms."""

from utmost.polytopes.kernels import (
    Kernel,
    PosteriorRegion,
    count_kernels,
    kernel_arrays,
    kernel_sets,
    kernels,
    kernels_by_description,
    kernels_by_subsets,
    posterior_region,
)
from utmost.polytopes.type_members import (
    Decomposition,
    MembershipVerdict,
    decomposition,
    is_kernel_mechanism,
    is_vertex_mechanism,
)
from utmost.polytopes.vertices import count_vertices, vertices, vertices_by_growth

__all__ = [
    "Decomposition",
    "Kernel",
    "MembershipVerdict",
    "PosteriorRegion",
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
    "posterior_region",
    "vertices",
    "vertices_by_growth",
]
