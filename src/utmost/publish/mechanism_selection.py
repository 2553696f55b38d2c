"""Select the mechanism for a query, with the sensitivity of the query and the sense in which the mechanism is optimal.

Everything here follows from the plan and from what is public; no row is looked at. Sensitivities are whole numbers of
lattice steps. Write k for the rows that are kept of a unit (1 for rows), N for the steps of a grid, l = low/step and
h = high/step.

=========  =============================  ==============================================================
query      moves by at most               because
=========  =============================  ==============================================================
count      k                              a unit has from 0 to k rows in it, before and after
histogram  k in all (2k under replace)    a unit leaves k cells and, replaced, enters k others
sum        k·max(−l, h)                under add-remove: k summands come or go
sum        k·(max(h, 0) − min(l, 0))      under replace: each summand moves within its range and 0
sum, mean  N                              under replace where every row is in it: a summand moves within its range
=========  =============================  ==============================================================

**A mean whose number of rows is secret** is published as a noisy total and a noisy number of rows. The total T adds up
2·position − N over the kept rows, each between −N and N; R is their number. If a unit takes a ≤ k rows away and brings
b ≤ k (b = 0 or a = 0 under add-remove), T moves by at most (a + b)·N and R by |a − b|. With ε/(2kN) a step of T and
ε/(2k) a step of R that costs at most ε·((a + b) + |a − b|)/(2k) = ε·max(a, b)/k ≤ ε: both relations cost the same. ∎

**A quantile** at p = s/t is drawn by the exponential mechanism from the grid's positions j with the loss
max(0, t·#{x < j} − s·n, s·n − t·#{x ≤ j}), t times how many values lie on the wrong side of j. One row that comes or
goes moves t·# − s·n by t − s or s; one that moves, by t. So the loss moves by at most k·max(s, t − s) under add-remove
and by k·t under replace. The intervals [#{x < j}, #{x ≤ j}] cover 0 … n, so some j has loss 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from utmost.continuous.grid_selection import GridQuestion, coarsest_mean_rounding, rows_promise
from utmost.continuous.interval import Interval
from utmost.continuous.losses import absolute
from utmost.data.partitions import Partition
from utmost.data.queries import (
    Count,
    Histogram,
    Mean,
    NeighbourRelation,
    NumberQuery,
    PrivacyUnit,
    Quantile,
    Query,
    Sum,
)
from utmost.errors import InputError
from utmost.exact import decimal_above
from utmost.publish.release_model import ChoiceMechanism, LatticeMechanism, Mechanism, RatioMechanism

UNIVERSAL_CLAIM = (
    "universal: with her own remap every reader of this count, whatever her prior and her legal loss, loses as little "
    "as with any mechanism of this epsilon made for her (GRS12 Thm 3.2)"
)
UNBOUNDED_COUNT_CLAIM = (
    "universal: every reader who knows an upper end for this count, whatever her prior on it and her legal loss, loses "
    "as little as with any mechanism of this epsilon made for her (GRS12 Thm 3.2 for the answer cut at her end)"
)
PER_CELL_CLAIM = (
    "per cell: each cell alone is answered as well as privacy allows, for every reader of that cell (GRS12 Thm 3.2); "
    "for all cells at once nothing is claimed, since no mechanism is the best for every reader of a histogram"
)
METRIC_CLAIM = (
    "metric: the best mechanism for every prior and every legal loss among those that protect each step of the total "
    "with epsilon/sensitivity (GRS12 Thm 3.2 on the line of totals); nothing is claimed among all epsilon-private ones"
)
ROUNDING_CLAIM = (
    "where values lie between the steps, rounding them leaves a reader with absolute loss at most {} above the best "
    "mechanism that protects every distance at that rate (FMM21 Thm 5)"
)
NO_CLAIM = "none claimed: no mechanism is known to be the best for every reader of this query"


@dataclass(frozen=True, slots=True)
class PrivacySetting:
    """What a release's sensitivities rest on: the relation, the unit, the part, and the number of units if public."""

    neighbours: NeighbourRelation
    unit: PrivacyUnit
    part: Partition | None
    units: int | None

    @property
    def replacing(self) -> bool:
        """Is one unit replaced, their number being public."""
        return self.neighbours is NeighbourRelation.REPLACE

    def holds_everyone(self, query: Query) -> bool:
        """Is every unit in the query with exactly one row, whatever the data: then their number is public."""
        covers_table = self.replacing and self.part is None and query.where is None
        return covers_table and self.unit.column is None and getattr(query, "nulls", Fraction(0)) is not None


@dataclass(frozen=True, slots=True)
class SelectedMechanism:
    """How one query is answered: the mechanism, the sensitivity its ε is divided by, and the sense of optimality.

    `ledger_law` is what a ledger that composes privacy-loss distributions may assume: "geometric" where one lattice
    number moves by at most `sensitivity` steps, "any" otherwise.
    """

    mechanism: Mechanism
    sensitivity: int
    optimal: str
    ledger_law: str


def select_mechanism(query: Query, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
    """The mechanism for a query at this ε.

    >>> setting = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 944)
    >>> select_mechanism(Count("vote = 1"), Fraction(1, 10), setting).mechanism.high
    944
    """
    return _SELECTORS[type(query)](query, epsilon, setting)


def _select_for_count(query: Count, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
    by_person = setting.unit.groups is not None
    everyone = setting.replacing and query.where is None and setting.part is None
    if everyone and (by_person or setting.unit.column is None):
        raise InputError(
            f"where must be given: under replace the number of {'persons' if by_person else 'rows'} is public, so a "
            "count of all of them needs no noise; it is in the release anyway"
        )
    sensitivity = 1 if by_person else setting.unit.bound
    high = None if setting.units is None else setting.units * sensitivity
    optimal = METRIC_CLAIM if sensitivity > 1 else UNIVERSAL_CLAIM if setting.replacing else UNBOUNDED_COUNT_CLAIM
    return SelectedMechanism(LatticeMechanism(epsilon / sensitivity, 0, high), sensitivity, optimal, "geometric")


def _select_for_histogram(query: Histogram, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
    unit_bound = setting.unit.bound
    sensitivity = 2 * unit_bound if setting.replacing else unit_bound
    high = None if setting.units is None else setting.units * (setting.unit.rows or 1)
    single = sensitivity == 1
    return SelectedMechanism(
        LatticeMechanism(epsilon / sensitivity, 0, high),
        sensitivity,
        PER_CELL_CLAIM if single else NO_CLAIM,
        "geometric" if single else "any",
    )


def _select_for_sum(query: Sum, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
    low, high, sensitivity = _summand_range(query, setting)
    bottom, top = (end * setting.unit.bound for end in (low, high))
    step, units = query.grid.step, setting.units
    if units is None:
        bounds = (0 if low == 0 else None, 0 if high == 0 else None)
        return SelectedMechanism(
            LatticeMechanism(epsilon / sensitivity, *bounds, unit=step), sensitivity, METRIC_CLAIM, "geometric"
        )
    mechanism = LatticeMechanism(epsilon / sensitivity, units * bottom, units * top, unit=step)
    return SelectedMechanism(mechanism, sensitivity, _metric_claim(query, epsilon, setting), "geometric")


def _summand_range(query: Sum, setting: PrivacySetting) -> tuple[int, int, int]:
    """The least and largest summand in steps, 0 included where a row can be missing, and how far the sum moves."""
    low, high = int(query.grid.low / query.grid.step), int(query.grid.high / query.grid.step)
    if setting.holds_everyone(query):
        return low, high, high - low
    low, high = min(low, 0), max(high, 0)
    row_sensitivity = high - low if setting.replacing else max(-low, high)
    return low, high, row_sensitivity * setting.unit.bound


def _select_for_mean(query: Mean, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
    grid, unit_rows = query.grid, setting.unit.bound
    if setting.units and setting.holds_everyone(query):
        total = LatticeMechanism(epsilon / grid.size, 0, setting.units * grid.size, grid.low, grid.step / setting.units)
        return SelectedMechanism(total, grid.size, _metric_claim(query, epsilon, setting), "geometric")
    total = LatticeMechanism(
        epsilon / (2 * unit_rows * grid.size), None, None, (grid.low + grid.high) / 2, grid.step / 2
    )
    rows = LatticeMechanism(epsilon / (2 * unit_rows), 0, None if setting.units is None else setting.units * unit_rows)
    return SelectedMechanism(RatioMechanism(total, rows), 2 * unit_rows * grid.size, NO_CLAIM, "any")


def _metric_claim(query: Sum | Mean, epsilon: Fraction, setting: PrivacySetting) -> str:
    """METRIC_CLAIM on the grid, and what may be said between its steps."""
    question, rounded_rows = _grid_question(query, epsilon, setting)
    extra = rows_promise(question, rounded_rows * query.grid.step).extra
    return METRIC_CLAIM if extra is None else f"{METRIC_CLAIM}; {ROUNDING_CLAIM.format(decimal_above(extra, 4))}"


def _grid_question(query: Sum | Mean, epsilon: Fraction, setting: PrivacySetting) -> tuple[GridQuestion, int]:
    """A sum or mean of a public number of rows, as `continuous.grid_selection` asks about it, and how far rounding
    moves it.

    That is half a step for a mean; for a sum half a step for every row that can be in it.
    """
    grid, rows = query.grid, (setting.units or 0) * setting.unit.bound
    if isinstance(query, Mean):
        length = grid.high - grid.low
        return GridQuestion(Interval(Fraction(0), length), length / rows, epsilon, absolute), 1
    low, high, sensitivity = _summand_range(query, setting)
    return GridQuestion(
        Interval(Fraction(0), rows * (high - low) * grid.step), sensitivity * grid.step, epsilon, absolute
    ), rows


def refine_grid(query: Sum | Mean, epsilon: Fraction, extra: Fraction, setting: PrivacySetting) -> Sum | Mean:
    """A sum or mean on the coarsest grid, of the steps step/m, on which its optimality claims at most `extra`.

    What rounding the rows adds to the expected absolute loss, for every prior, above that of the best mechanism that
    protects each distance with ε/sensitivity: `continuous.grid_selection`. Nothing can be promised where the number of
    rows is secret.

    >>> from utmost.data.queries import Grid
    >>> ages, setting = (
    ...     Grid(Fraction(18), Fraction(91), Fraction(1)),
    ...     PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 944),
    ... )
    >>> refine_grid(Mean("age", ages, Fraction(18)), Fraction(1, 10), Fraction(1, 10), setting).grid.step
    Fraction(1, 16)
    """
    if not setting.units or (isinstance(query, Mean) and not setting.holds_everyone(query)):
        raise InputError(
            "extra_loss must be left out where the number of rows is secret, and rounding can be arbitrarily far off: "
            f"give step{_public_rows_hint(query)}"
        )
    question, rounded_rows = _grid_question(query, epsilon, setting)
    promise = coarsest_mean_rounding(question, rounded_rows * query.grid.step, extra).promise
    return replace(query, grid=replace(query.grid, step=promise.step / rounded_rows))


def _public_rows_hint(query: Sum | Mean) -> str:
    """How the number of rows in it becomes public."""
    if isinstance(query, Mean):
        return ', or take neighbours = "replace" and rows as units, without where, part and dropped nulls'
    return ', or take neighbours = "replace"'


def _select_for_quantile(query: Quantile, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
    probability = query.probability
    denominator, numerator = probability.denominator, probability.numerator
    row_sensitivity = denominator if setting.replacing else max(numerator, denominator - numerator)
    sensitivity = row_sensitivity * setting.unit.bound
    return SelectedMechanism(
        ChoiceMechanism(epsilon / (2 * sensitivity), query.grid.size + 1), sensitivity, NO_CLAIM, "any"
    )


_SELECTORS: dict[type, Callable[[Any, Fraction, PrivacySetting], SelectedMechanism]] = {
    Count: _select_for_count,
    Histogram: _select_for_histogram,
    Sum: _select_for_sum,
    Mean: _select_for_mean,
    Quantile: _select_for_quantile,
}


def quantile_losses(query: Quantile, counts: list[int]) -> list[int]:
    """The loss of each position of a quantile's grid, from how many values are at each: whole numbers.

    >>> from utmost.data.queries import Grid
    >>> grid = Grid(Fraction(0), Fraction(3), Fraction(1))
    >>> quantile_losses(Quantile("x", grid, Fraction(1, 2), None), [1, 0, 3, 0])
    [2, 2, 0, 4]
    """
    denominator, numerator, total = query.probability.denominator, query.probability.numerator, sum(counts)
    losses, smaller = [], 0
    for count in counts:
        losses.append(
            max(0, denominator * smaller - numerator * total, numerator * total - denominator * (smaller + count))
        )
        smaller += count
    return losses


def actual_epsilon(
    mechanism: Mechanism, query: Query, setting: PrivacySetting, step_epsilon: Callable[[LatticeMechanism], Fraction]
) -> Fraction:
    """The actual ε of a mechanism for a query: `step_epsilon` gives that of one lattice step, the rest is sensitivity.

    For a lattice number it is the step's ε times the sensitivity; for a choice twice the rate times the sensitivity
    (McSherry and Talwar 2007); for a ratio the worst of what a unit can do to both numbers.
    """
    sensitivity = select_mechanism(query, Fraction(1), setting).sensitivity
    if isinstance(mechanism, LatticeMechanism):
        return step_epsilon(mechanism) * sensitivity
    if isinstance(mechanism, ChoiceMechanism):
        return 2 * mechanism.rate * sensitivity
    unit_rows, size = setting.unit.bound, query.grid.size if isinstance(query, NumberQuery) else 1
    total, rows = step_epsilon(mechanism.total) * size, step_epsilon(mechanism.rows)
    return unit_rows * max(2 * total if setting.replacing else total, total + rows)


def guarantee_sentence(epsilon: Fraction, setting: PrivacySetting) -> str:
    """The guarantee in words."""
    unit = "row" if setting.unit.column is None else f"person ({setting.unit})"
    unit += "" if setting.part is None else f", of which the rows with {setting.part} are looked at,"
    change = f"replacing one {unit} by any other" if setting.replacing else f"adding or removing one {unit}"
    return (
        f"{change} changes the probability of every possible release by a factor of at most "
        f"e^({epsilon}); pure differential privacy, epsilon recomputed from the mechanisms that ran"
    )
