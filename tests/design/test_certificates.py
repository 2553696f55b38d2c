"""Every certificate of a design is checked from its proof alone, and one that claims more is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from utmost.channel import deterministic
from utmost.consumer import Consumer, losses, priors
from utmost.design import Design, optimal
from utmost.design.certified_design import (
    CountBound,
    FixedPointBound,
    FreeBound,
    PriceBound,
    ProgramBound,
    RoundedBound,
    SilentBound,
)
from utmost.errors import SolverError
from utmost.exact import alpha, epsilon
from utmost.spaces import cycle, grid, line, scale_space

ILLEGAL = losses.matrix([[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 1]])


def uniform(size: int, loss: losses.Loss = losses.absolute) -> Consumer:
    return Consumer(priors.uniform(size), loss)


DESIGNS: dict[type, Callable[[], Design]] = {
    CountBound: lambda: optimal(line(6), alpha("1/2"), uniform(6)),
    FixedPointBound: lambda: optimal(line(24), epsilon("0.1"), uniform(24)),
    ProgramBound: lambda: optimal(cycle(4), alpha("1/2"), uniform(4, ILLEGAL)),
    RoundedBound: lambda: optimal(line(4), epsilon("0.5"), uniform(4, ILLEGAL)),
    PriceBound: lambda: optimal(grid(5, 5), epsilon("0.5"), uniform(25, losses.over(losses.absolute, grid(5, 5)))),
    FreeBound: lambda: optimal(line(4), alpha(0), uniform(4)),
    SilentBound: lambda: optimal(line(4), alpha(1), uniform(4)),
}


@pytest.mark.parametrize("kind", DESIGNS, ids=lambda kind: kind.__name__)
def test_a_certificate_is_proved_by_its_own_proof_and_no_more_is(kind: type) -> None:
    design = DESIGNS[kind]()
    certificate = design.certificate
    assert isinstance(certificate.proof.bound, kind)
    certificate.check()
    tiny = Fraction(1, 10**60)
    for claim in (
        replace(certificate, lower=certificate.lower + tiny),
        replace(certificate, upper=certificate.upper - tiny),
    ):
        with pytest.raises(SolverError, match="certificate is not valid"):
            claim.check()


def test_a_proof_about_a_mechanism_that_is_not_private_is_refused() -> None:
    design = DESIGNS[CountBound]()
    counts = design.channel.inputs
    proof = replace(design.certificate.proof, channel=deterministic(counts, counts, counts))
    with pytest.raises(SolverError, match="not private at the level"):
        replace(design.certificate, proof=proof).check()


def test_multipliers_that_a_reading_objects_to_are_refused() -> None:
    certificate = DESIGNS[CountBound]().certificate
    assert certificate.proof.multipliers is not None
    more = tuple(multiplier + 1 for multiplier in certificate.proof.multipliers)
    bound = replace(certificate.proof.bound, multipliers=more)
    with pytest.raises(SolverError, match="multipliers of a count are not feasible"):
        replace(certificate, proof=replace(certificate.proof, bound=bound)).check()


def test_a_design_for_points_further_apart_keeps_the_proof_of_its_counts() -> None:
    points = scale_space(line(4), 2)
    design = optimal(points, alpha("1/2"), uniform(4))
    assert len(design.channel.inputs) == len(points)
    design.certificate.check()
