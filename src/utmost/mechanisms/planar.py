"""The planar Laplace mechanism on a lattice: geo-indistinguishability in exact arithmetic.

A lattice point x = (i, j) stands for the location (i·s, j·s), s the step. The answer is x + noise with
Pr[noise = (u, v)] ∝ e^(−ε·s·√(u²+v²)). By the triangle inequality Pr[y | x] ≤ e^(ε·d(x,x′))·Pr[y | x′], d the Euclidean
distance of the locations: ε·d-privacy between lattice points, exactly, with nothing lost to pixels or to the precision
of a machine. A location that is rounded to the lattice moves by at most s/√2, so two at distance d get ε·(d + s√2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Level, integer, rational, sign
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.mechanism_kind import (
    BuiltMechanism,
    MechanismKind,
    Option,
    check_exact_number,
    check_integers,
    parse_exact_input,
    parse_numbers,
    require_inner_level,
)
from utmost.mechanisms.planar_grid import place_grid, planar_on
from utmost.mechanisms.space_channels import refuse_space
from utmost.noise import check_level
from utmost.noise.entropy import EntropySource
from utmost.noise.planar import planar_noise, planar_rate

if TYPE_CHECKING:
    from flint import arb

    from utmost.channel import Channel, PrivacyLoss
    from utmost.spaces import Space

MAX_COORDINATE_STEPS = 1 << 53  # of an input's coordinates, in steps
MAX_LAW_TERMS = 10**6  # of the sum that normalises the law


@dataclass(frozen=True, slots=True)
class Box:
    """Lattice points with left ≤ i ≤ right and bottom ≤ j ≤ top."""

    left: int
    bottom: int
    right: int
    top: int

    def nearest(self, points: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The point of the box nearest to each point: both coordinates clamped."""
        result: npt.NDArray[Any] = np.clip(points, [self.left, self.bottom], [self.right, self.top])
        return result


@dataclass(frozen=True, slots=True)
class PlanarLaplace:
    """x + planar Laplace noise on the lattice of step `step`; with a box, its point nearest to that.

    The box is chosen without the data, so clamping to it is post-processing and the guarantee stays.
    """

    step: Fraction
    level: Level
    box: Box | None = None

    def draw(self, inputs: npt.ArrayLike, source: EntropySource | None = None) -> npt.NDArray[Any]:
        """One exact draw for each lattice point (i, j), a row each. The noise is drawn before the inputs are added."""
        requirement = "pairs of whole numbers between -2^53 and 2^53, in steps of the lattice"
        input_array = np.asarray(inputs)
        if input_array.size and input_array.shape[1:] != (2,):
            raise InputError(f"input must be {requirement}", "input")
        points = check_integers(
            input_array.reshape(-1), -MAX_COORDINATE_STEPS, MAX_COORDINATE_STEPS, requirement
        ).reshape(-1, 2)
        answers = planar_noise(self.level, self.step, len(points), source) + points
        return answers if self.box is None else self.box.nearest(answers)

    def position(self, location: Iterable[object]) -> tuple[int, int]:
        """The lattice point nearest to a location (two exact numbers); a tie goes up."""
        lattice_point = [floor(check_exact_number(c) / self.step + Fraction(1, 2)) for c in location]
        if len(lattice_point) != 2:
            raise InputError("input must be a place in the plane: two exact numbers", "input")
        i, j = lattice_point
        if max(abs(i), abs(j)) > MAX_COORDINATE_STEPS:
            raise InputError("input must be within 2^53 steps of the origin", "input")
        return i, j

    def coordinates(self, point: Iterable[int]) -> tuple[Fraction, Fraction]:
        """The coordinates of a lattice point in the plane."""
        i, j = (int(c) * self.step for c in point)
        return i, j

    def on(self, space: Space) -> Channel:
        """The channel between places that fill a grid of its step: noise on the lattice, then the nearest place.

        >>> from utmost.exact import epsilon
        >>> from utmost.spaces import grid
        >>> planar(1, epsilon(1)).on(grid(2, 3)).inputs[:4]
        ('0,0', '0,1', '0,2', '1,0')
        """
        places = place_grid(space)
        if places is None or places[1] != self.step:
            raise refuse_space("planar", f"places that fill a grid of step {self.step}, at Euclidean distances", space)
        shape = (places[0].rows, places[0].columns)
        if self.box and shape != (self.box.right - self.box.left + 1, self.box.top - self.box.bottom + 1):
            raise refuse_space("planar with a box", "places that fill the box", space)
        return planar_on(space, self.level)

    def law(self, x: tuple[int, int], outputs: Iterable[tuple[int, int]], bits: int = 64) -> list[arb]:
        """Pr[x + noise = y] for each lattice point y, before any box, as balls of about `bits` bits.

        They are no closed numbers: e^(−εs√2) is none, and neither is the sum that normalises it.
        """
        total = normaliser(self.level, self.step, bits)
        with working_precision(bits + 32):
            return [self.ratio((y[0] - x[0], y[1] - x[1]), bits + 32) / total for y in outputs]

    def ratio(self, noise: tuple[int, int], bits: int) -> arb:
        """Pr[noise]/Pr[(0, 0)] = e^(−ε·s·√(u²+v²)), a ball."""
        from flint import arb

        with working_precision(bits):
            return (-(planar_rate(self.level, self.step).theta(bits) * arb(noise[0] ** 2 + noise[1] ** 2).sqrt())).exp()


def planar(step: object, level: Level, box: Sequence[int] | None = None) -> PlanarLaplace:
    """The planar Laplace mechanism on the lattice of this step.

    `box` is left, bottom, right, top in whole steps, as `draw` takes and gives its points: `position` turns the corners
    of a box in coordinates into them.

    >>> from utmost.exact import epsilon
    >>> mechanism = planar("1/10", epsilon(2), box=(0, 0, 9, 9))
    >>> answers = mechanism.draw([mechanism.position(("0.32", "0.77"))] * 5)
    >>> answers.shape, bool((answers >= 0).all() and (answers <= 9).all())
    ((5, 2), True)
    """
    exact_step = rational(step, "step")
    if sign(exact_step) <= 0:
        raise InputError("step must be > 0: it is the distance of neighbouring lattice points", "step")
    planar_rate(check_level(level), exact_step)  # refuses what cannot be drawn
    if box is None:
        return PlanarLaplace(exact_step, level)
    corners = [integer(c, "box in steps") for c in box]
    if len(corners) != 4:
        raise InputError(f"box must be left,bottom,right,top in steps, got {len(corners)} numbers", "box")
    region = Box(*corners)
    if region.left > region.right or region.bottom > region.top:
        raise InputError(
            "box must be left,bottom,right,top with left <= right and bottom <= top, got an empty one", "box"
        )
    return PlanarLaplace(exact_step, level, region)


@lru_cache(maxsize=32)
def normaliser(level: Level, step: Fraction, bits: int) -> arb:
    """Z = Σ e^(−θ√(i²+j²)) over the lattice, θ = ε·step, a ball of about `bits` bits.

    The square |i|, |j| ≤ R is summed by its eighth. Beyond it max(|i|, |j|) = m on 8m points at distance ≥ m, so the
    rest is at most Σ_{m>R} 8m·q^m = 8q^(R+1)·((R+1)/(1−q) + q/(1−q)²), q = e^(−θ).
    """
    from flint import arb

    theta = planar_rate(level, step).theta(bits + 64)
    reach = int(float(bits + 24) * 0.7 / float(theta)) + 2
    if reach * reach > 2 * MAX_LAW_TERMS:
        raise InputError("epsilon times step must be larger to write the law out: draws need no law")
    with working_precision(bits + 64):
        total = arb(1)
        for i in range(1, reach + 1):
            total += sum(
                ((8 if 0 < j < i else 4) * (-theta * arb(i * i + j * j).sqrt()).exp() for j in range(i + 1)), arb(0)
            )
        q = (-theta).exp()
        tail_bound = 8 * q ** (reach + 1) * ((reach + 1) / (1 - q) + q / (1 - q) ** 2)
        return total + tail_bound / 2 + arb(0, 1) * tail_bound / 2


def _build(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    require_inner_level(level)
    mechanism = planar(options["step"], level)
    if "box" in options:
        corners = [integer(c / mechanism.step, "--box in steps") for c in parse_numbers(options["box"], "--box", 4)]
        mechanism = planar(mechanism.step, level, corners)
    coordinate_text = cache(lambda k: str(k * mechanism.step))

    def draw(x: Any, count: int) -> list[Any]:
        return [[coordinate_text(i), coordinate_text(j)] for i, j in mechanism.draw([x] * count).tolist()]

    return BuiltMechanism(
        "The planar Laplace mechanism",
        "places on a lattice",
        _refuse_matrix,
        _refuse_privacy_loss,
        lambda text: mechanism.position(parse_exact_input(text, 2)),
        draw,
        level,
        {"step": str(mechanism.step)},
    )


def _refuse_matrix() -> Channel:
    reason = "its probabilities are no numbers that can be written down exactly"
    raise InputError(f"planar has no matrix to write out, since {reason}", hint="say --sample K --input X,Y")


def _refuse_privacy_loss(channel: Channel) -> PrivacyLoss:
    raise InputError("this mechanism has no matrix to recompute its epsilon from")


PLANAR = MechanismKind(
    "planar",
    (Option("step", "S", "Step of the lattice in the plane."),),
    (Option("box", "L,B,R,T", "Keep answers in left,bottom,right,top: coordinates, as --input."),),
    _build,
    planar_on,
)
