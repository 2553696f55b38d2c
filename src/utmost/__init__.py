"""Differentially private releases, provably as useful as privacy allows and provably private on a real computer.

>>> import utmost as ut
>>> level = ut.alpha("1/2")
>>> reader = ut.Consumer(ut.priors.uniform(6), ut.losses.absolute)
>>> mechanism = ut.geometric(5, level)
>>> reader.expected_loss(mechanism) == ut.optimal(ut.line(6), level, reader).loss
True

Names are loaded when they are first used, so importing the package costs nothing.
"""

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.axioms.definition import definition_of
    from utmost.axioms.generality import generalize, maximally_general
    from utmost.axioms.profile import profile
    from utmost.axioms.satisfaction import satisfaction
    from utmost.axioms.soundness import soundness
    from utmost.channel import Channel, choice, is_private, least_epsilon, merge, mix
    from utmost.consumer import Consumer, Minimax, losses, priors
    from utmost.consumer.counts import posterior, read, readings
    from utmost.continuous import laplace_loss
    from utmost.design.capacities import capacity
    from utmost.design.geometric_derivation import derivation
    from utmost.design.minimax import minimax_optimal
    from utmost.design.optimal import by_program, optimal
    from utmost.design.signature import lemmas, remap_of, signature
    from utmost.design.universal import universal_mechanism, universally_optimal
    from utmost.errors import InputError, UtmostError
    from utmost.exact import Level, alpha, epsilon, number
    from utmost.mechanisms.exponential import exponential
    from utmost.mechanisms.geometric import geometric
    from utmost.mechanisms.laplace import laplace
    from utmost.mechanisms.planar import planar
    from utmost.mechanisms.randomised_response import response, response_dual
    from utmost.mechanisms.staircase import staircase
    from utmost.polytopes.kernels import kernels
    from utmost.polytopes.membership import is_kernel_mechanism, is_vertex_mechanism
    from utmost.polytopes.vertices import vertices
    from utmost.publish.execute import preview, release
    from utmost.qif.hyper import hyper
    from utmost.qif.refinement import refinement
    from utmost.spaces import Space, cycle, databases, discrete, graph, grid, hamming, line, space

__version__ = "0.1.0"

_HOMES = {
    "utmost.axioms": ("definition_of", "generalize", "maximally_general", "profile", "satisfaction", "soundness"),
    "utmost.channel": ("Channel", "choice", "is_private", "least_epsilon", "merge", "mix"),
    "utmost.consumer": ("Consumer", "Minimax", "losses", "priors"),
    "utmost.consumer.counts": ("posterior", "read", "readings"),
    "utmost.continuous": ("laplace_loss",),
    "utmost.design": ("by_program", "capacity", "derivation", "lemmas", "optimal", "remap_of", "signature"),
    "utmost.design.minimax": ("minimax_optimal",),
    "utmost.design.universal": ("universal_mechanism", "universally_optimal"),
    "utmost.errors": ("InputError", "UtmostError"),
    "utmost.exact": ("Level", "alpha", "epsilon", "number"),
    "utmost.qif": ("hyper", "refinement"),
    "utmost.polytopes": ("is_kernel_mechanism", "is_vertex_mechanism", "kernels", "vertices"),
    "utmost.mechanisms": (
        "exponential",
        "geometric",
        "laplace",
        "planar",
        "response",
        "response_dual",
        "staircase",
    ),
    "utmost.publish.execute": ("preview", "release"),
    "utmost.spaces": ("Space", "cycle", "databases", "discrete", "graph", "grid", "hamming", "line", "space"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_CHECKED: dict[str, Any] = {}  # the functions that were used

__all__ = [
    "Channel",
    "Consumer",
    "InputError",
    "Level",
    "Minimax",
    "Space",
    "UtmostError",
    "alpha",
    "by_program",
    "capacity",
    "choice",
    "cycle",
    "databases",
    "definition_of",
    "derivation",
    "discrete",
    "epsilon",
    "exponential",
    "generalize",
    "geometric",
    "graph",
    "grid",
    "hamming",
    "hyper",
    "is_kernel_mechanism",
    "is_private",
    "is_vertex_mechanism",
    "kernels",
    "laplace",
    "laplace_loss",
    "least_epsilon",
    "lemmas",
    "line",
    "losses",
    "maximally_general",
    "merge",
    "minimax_optimal",
    "mix",
    "number",
    "optimal",
    "planar",
    "posterior",
    "preview",
    "priors",
    "profile",
    "read",
    "readings",
    "refinement",
    "release",
    "remap_of",
    "response",
    "response_dual",
    "satisfaction",
    "signature",
    "soundness",
    "space",
    "staircase",
    "universal_mechanism",
    "universally_optimal",
    "vertices",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its home; a function checks the kinds of its arguments."""
    if name not in _HOME:
        raise AttributeError(f"module 'utmost' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    if not isinstance(value, FunctionType):
        return value
    if name not in _CHECKED:
        from utmost.argument_kinds import check_kinds

        _CHECKED[name] = check_kinds(value, name)
    return _CHECKED[name]


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*__all__, "__version__"])
