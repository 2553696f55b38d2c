"""Split one output into two: private columns c₁ + c₂ = c, neither a multiple of c, with more tight constraints than c.

KL10 Appendix B for `split_output`. The paper takes its ratios ρ₁, ρ₂ over all pairs of secrets on two sides; only
related pairs may count. On a line of four at α = 1/2 the column (8, 4, 3, 3/2)/16 has the parts {0, 1} and {2, 3}; over
all pairs (e^ε/ρ₁)·(e^ε/ρ₂) = (3/8)·(8/3) = 1, and the printed weights a and b divide by 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from utmost.axioms.constraint_graphs import Column, PrivacyConstraints, RowGraph, row_graph
from utmost.exact import Number, Real
from utmost.qif.rational_functions import common_field


def split_output(column: Column, graph: RowGraph, privacy: PrivacyConstraints) -> tuple[Column, Column]:
    """c₁ and c₂ of KL10 Appendix B for a column whose graph has two parts or more.

    With C₁ the first part and C₂ the others, and E₁ > 1 the largest factor by which C₁ may be raised against C₂ (E₂
    the other way round): c₁ is a·c with C₁ raised by E₁, c₂ is b·c with C₂ raised by E₂, where a·E₁ + b = a + b·E₂ = 1,
    so a = (E₂−1)/(E₁E₂−1) and b = (E₁−1)/(E₁E₂−1). Within C₁ and within C₂ ratios stay, so tight constraints do;
    in both columns a constraint between C₁ and C₂ is tight now. Where no related pair leads across, c₁ is c on C₁ and 0
    elsewhere, c₂ the rest: they are the limits E₁, E₂ → ∞.
    """
    first_part = set(graph.parts[0])
    first_factor, second_factor = (
        raisable(column, first_part, privacy),
        raisable(column, _secrets_outside(graph, first_part), privacy),
    )
    if first_factor is None or second_factor is None:
        return _scale(column, first_part, 1, 0), _scale(column, first_part, 0, 1)
    total = first_factor * second_factor - 1
    first_weight, second_weight = simplify([(second_factor - 1) / total, (first_factor - 1) / total])
    return _scale(column, first_part, first_weight * first_factor, first_weight), _scale(
        column, first_part, second_weight, second_weight * second_factor
    )


def peel_extreme_ray(column: Column, graph: RowGraph, privacy: PrivacyConstraints) -> tuple[Column, Column]:
    """A multiple of an extreme ray, as large as leaves the rest private, and that rest.

    The ray is reached by raising the first part until a constraint joins it to another, and so on until all that
    constraints can join is joined. Its tight constraints include the column's; the rest keeps these too, and since
    no more could be taken off, it has another: at most k columns come of one with k parts (Carathéodory).
    """
    ray, ray_graph = column, graph
    while not ray_graph.connected:
        first_part = set(ray_graph.parts[0])
        factor = raisable(ray, first_part, privacy)
        ray = _scale(ray, first_part, 1, 0) if factor is None else _scale(ray, first_part, factor, 1)
        ray_graph = row_graph(ray, privacy, graph.output)
    share = min(_removable_shares(column, ray, privacy))
    extreme_part = simplify([share * value for value in ray])
    return extreme_part, simplify([a - b for a, b in zip(column, extreme_part, strict=True)])


def raisable(column: Sequence[Number], raised: Collection[int], privacy: PrivacyConstraints) -> Number | None:
    """The largest factor by which the secrets inside may be raised against the others; None if nothing limits it."""
    leaving = [b for b in privacy.constraints if b.high in raised and b.low not in raised and column[b.low]]
    return min(simplify([column[b.low] / (b.factor * column[b.high]) for b in leaving]), default=None)


def simplify(values: Sequence[Number]) -> Column:
    """The same numbers; quotients of irrational ones without the common factors that pile up step by step."""
    field = common_field(values) if any(isinstance(value, Real) for value in values) else None
    return tuple(values if field is None else [field.number(field.ratio(value)) for value in values])


def _secrets_outside(graph: RowGraph, first_part: Collection[int]) -> set[int]:
    return {x for part in graph.parts for x in part if x not in first_part}


def _scale(
    column: Column, secrets: Collection[int], inside_factor: Number | int, outside_factor: Number | int
) -> Column:
    """The column with the secrets inside times one factor and the rest times another."""
    return simplify(
        [value * inside_factor if x in secrets else value * outside_factor for x, value in enumerate(column)]
    )


def _removable_shares(column: Column, ray: Column, privacy: PrivacyConstraints) -> Column:
    """By each constraint of the column, how much of the ray can be taken off."""
    ratios = [value / entry for value, entry in zip(column, ray, strict=True) if entry]
    slacks = [bound.slack(column) / slack for bound in privacy.constraints if (slack := bound.slack(ray))]
    return simplify(ratios + slacks)
