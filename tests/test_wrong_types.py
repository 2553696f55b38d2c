"""A public function that is given the wrong kind of thing says so in one line; no error of its inside gets out."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest

import utmost as ut
from utmost.axioms.definition import parse_relation
from utmost.channel import channel
from utmost.errors import UtmostError

HALF = ut.alpha("1/2")
TWO = channel([["2/3", "1/3"], ["1/3", "2/3"]])
READER = ut.Consumer(ut.priors.uniform(2), ut.losses.binary)
VALID: dict[str, tuple[Any, ...]] = {
    "release_schema": (),
    "Channel": ((0, 1), (0, 1), [["2/3", "1/3"], ["1/3", "2/3"]]),
    "Consumer": (ut.priors.uniform(2), ut.losses.binary),
    "Minimax": (ut.losses.binary,),
    "alpha": ("1/2",),
    "by_program": (ut.line(2), HALF, READER),
    "capacity": (ut.line(2), HALF),
    "choice": (TWO, TWO, "1/2"),
    "compare": (ut.line(2), HALF, READER),
    "curve": (ut.line(2), READER, [1]),
    "cycle": (4,),
    "databases": ("ab", 2),
    "definition_of": ("alpha:1/2", parse_relation("line:2")),
    "derivation": (TWO, HALF),
    "discrete": (3,),
    "epsilon": ("1",),
    "exponential": ([0, 1], HALF),
    "generalize": (TWO, ut.line(2), HALF),
    "geometric": (1, HALF),
    "graph": ([("a", "b")],),
    "grid": (2, 2),
    "hamming": (2,),
    "hyper": (["1/2", "1/2"], TWO),
    "iterative_bayesian_update": (TWO, [1, 2]),
    "interval": (0, 1),
    "is_kernel_mechanism": (TWO, ut.line(2), HALF),
    "is_private": (TWO, ut.line(2), HALF),
    "is_vertex_mechanism": (TWO, ut.line(2), HALF),
    "kantorovich": ([1, 0], ["1/2", "1/2"], ut.line(2)),
    "kernels": (ut.line(2), HALF),
    "laplace": (0, 1, "1/8", 1, HALF),
    "laplace_loss": (READER.costs(), HALF),
    "least_epsilon": (TWO, ut.line(2)),
    "lemmas": (ut.signature(TWO, HALF),),
    "line": (2,),
    "maximally_general": (TWO, ut.line(2), HALF),
    "merge": (TWO,),
    "minimax_optimal": (ut.line(2), HALF, ut.Minimax(ut.losses.binary)),
    "mix": (TWO, TWO, "1/2"),
    "number": ("1/2",),
    "optimal": (ut.line(2), HALF, READER),
    "planar": (1, HALF),
    "planar_geometric": (ut.grid(2, 2), HALF),
    "points": ([[0, 0], [1, 1]],),
    "posterior": (ut.priors.uniform(2), HALF, 0),
    "profile": (TWO, (0, 1)),
    "read": (ut.priors.uniform(2), HALF, ut.losses.binary, 0),
    "readings": (ut.priors.uniform(2), HALF, ut.losses.binary),
    "refinement": (TWO, TWO),
    "remap_of": (ut.signature(TWO, HALF),),
    "response": (2, HALF),
    "response_dual": (2, HALF),
    "satisfaction": (TWO, ut.definition_of("alpha:1/2", parse_relation("line:2"))),
    "shared_optimum": (ut.line(2), HALF, [READER]),
    "signature": (TWO, HALF),
    "soundness": (ut.definition_of("alpha:1/2").default,),
    "space": ([[0, 1], [1, 0]],),
    "staircase": (1, HALF),
    "table": ("bundled:anes96",),
    "universal_mechanism": (ut.line(2), HALF, ut.losses.binary, [TWO]),
    "universally_optimal": (ut.line(2), HALF, ut.losses.binary, TWO),
    "vertices": (ut.line(2),),
}
NEEDS_FILES = {"budget", "preview", "read_plan", "release", "Level", "Space", "InputError", "UtmostError"}
NEEDS_FILES |= {"read_channel", "read_release", "strategies", "write_channel", "write_release"}
WRONG: dict[str, Any] = {
    "nothing": None,
    "a float": 0.5,
    "a text": "b <= 2*a",
    "a function": lambda a: a,
    "an empty list": [],
    "a list": [object()],
    "an object": object(),
    "a whole number": -3,
    "a fraction": Fraction(7, 3),
    "a channel": TWO,
    "a space": ut.line(3),
    "a level": ut.alpha("1/3"),
}
CALLS = [(name, k, wrong) for name, arguments in VALID.items() for k in range(len(arguments)) for wrong in WRONG]


def call(name: str, *arguments: Any) -> Any:
    """The result; of an iterator its first."""
    result = getattr(ut, name)(*arguments)
    return next(iter(result), None) if name in ("kernels", "vertices") else result


@pytest.mark.parametrize("name", VALID)
def test_the_arguments_that_are_varied_are_valid(name: str) -> None:
    call(name, *VALID[name])


def test_every_public_function_is_tried() -> None:
    modules = {name for name in ut.__all__ if isinstance(getattr(ut, name), ModuleType)}
    assert set(VALID) | NEEDS_FILES == set(ut.__all__) - modules


@pytest.mark.parametrize(("name", "position", "wrong"), CALLS)
def test_a_wrong_kind_of_argument_is_an_input_error_or_means_something(name: str, position: int, wrong: str) -> None:
    arguments = list(VALID[name])
    arguments[position] = WRONG[wrong]
    message = ""
    try:
        call(name, *arguments)
    except UtmostError as error:
        message = str(error)
    assert "\n" not in message


@pytest.mark.parametrize(
    "wrong_call",
    [
        lambda: ut.mix(ut.geometric(3, HALF), ut.response(3, HALF), "1/2"),
        lambda: ut.soundness("b <= 2*a"),  # type: ignore[arg-type]
        lambda: ut.definition_of(lambda a: a),  # type: ignore[arg-type, misc]
    ],
)
def test_these_are_refused(wrong_call: Callable[[], Any]) -> None:
    with pytest.raises(ut.InputError):
        wrong_call()
