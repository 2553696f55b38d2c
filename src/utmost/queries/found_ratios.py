"""Means and variances over found cells: the number of rows of each cell is the selection's noisy count.

In cells a unit takes a_c rows from cell c and brings b_c, Σ a_c ≤ k and Σ b_c ≤ k, one of them 0 under add-remove. With
s = 1, or 2 under replace, at most s·k rows come or go in all. A row moves the total T = Σ (2p − N) of its cell by at
most N, so T at the rate ε₂/(s·k·N) costs at most ε₂. For a variance T and Q = Σ (2(2p − N)² − N²) have the rates
ε₂/(2s·k·N) and ε₂/(2s·k·N²): a row that comes or goes costs at most ε₂/(s·k) by the first bound of `queries.variance`
with x = y = 1/2 and z = 0, and one that moves within its cell costs less than one that goes and one that comes. ∎

**Intervals** hold given that the cell is told: that of its rows by the theorem of `noise.selection`, those of the sums
since their noise does not depend on the selection; so do all of them together, by the union bound.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.queries.answer_mechanisms.found import FoundMechanism
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, PreparedNoise, half_width, prepare_noise
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism, Drawn, ErrorLaw
from utmost.queries.answer_mechanisms.ratio import RatioMechanism, RowNoise, drawn_parts, ratio_range
from utmost.queries.answer_mechanisms.selection import ALL_CELLS_NOTE
from utmost.queries.answer_mechanisms.variance import VarianceMechanism, drawn_numbers
from utmost.queries.found_query import CellDraw, FoundQuery
from utmost.queries.mean import Mean
from utmost.queries.query import ALTERED, ExactAnswer, ValueRange
from utmost.queries.variance import Variance

if TYPE_CHECKING:
    from utmost.queries.privacy_setting import PrivacySetting

CountedMechanism = RatioMechanism | VarianceMechanism


class FoundRatio(FoundQuery):
    """What means and variances over found cells share: noisy sums of each cell, over its noisy count."""

    __slots__ = ()

    inner: Mean | Variance
    sums: ClassVar[tuple[str, ...]]  # the names of the noisy sums, each over a power of the number of rows

    @property
    @abstractmethod
    def moves(self) -> tuple[int, ...]:
        """By how much a row that comes or goes moves each sum at most."""

    @abstractmethod
    def counted(self, mechanism: FoundMechanism) -> CountedMechanism:
        """The mechanism of the same sums over rows with geometric noise of the rate of the selection."""

    @abstractmethod
    def lattices(self, rates: tuple[Fraction, ...]) -> tuple[GeometricLattice, ...]:
        """The mechanisms of the sums at these rates."""

    @abstractmethod
    def ratio(self, mechanism: FoundMechanism, sums: tuple[int, ...], rows: int) -> Fraction:
        """What noisy sums and a noisy number of rows stand for."""

    def select_parts(self, epsilon: Fraction, setting: PrivacySetting) -> tuple[dict[str, AnswerMechanism], int]:
        """Geometric noise on each sum, an equal share of ε for each."""
        rows = setting.unit.bound * (2 if setting.replacing else 1) * len(self.sums)
        rates = tuple(epsilon / (rows * move) for move in self.moves)
        return dict(zip(self.sums, self.lattices(rates), strict=True)), rows * self.moves[-1]

    def parts_epsilon(self, mechanism: FoundMechanism, setting: PrivacySetting) -> Fraction:
        """What the rows of a unit cost at most, in all sums together."""
        rows = setting.unit.bound * (2 if setting.replacing else 1)
        parts = zip(_lattices(mechanism), self.moves, strict=True)
        return rows * sum((part.step_epsilon() * move for part, move in parts), Fraction(0))

    def prepare_cell(self, mechanism: FoundMechanism) -> CellDraw:
        """The sums with noise, and what they stand for over the noisy count."""
        noises = tuple(prepare_noise(lattice) for lattice in _lattices(mechanism))
        return partial(_draw_ratio, self, mechanism, noises)

    def cell_room(self, mechanism: FoundMechanism) -> int:
        """Room for the value and its parts."""
        return self.counted(mechanism).room()

    def parts_error(self, mechanism: FoundMechanism) -> ErrorLaw:
        """That of the same sums over rows with the noise of the selection, of all cells, told or not."""
        self.inner.check_step()
        row_noise = RowNoise(*mechanism.selection.law.error_masses())
        law = self.counted(mechanism).error_law(self.inner.grid.size, row_noise)
        return replace(law, note=f"{law.note} {ALL_CELLS_NOTE}")

    def check_cell(self, mechanism: FoundMechanism, drawn: Drawn) -> None:
        """Refuse parts whose number of rows is not the count of the cell, and a value that is not theirs."""
        parts = drawn.details["parts"]
        if parts["rows"] != drawn.details["counts"]:
            raise InputError("the rows of a cell must be its noisy count, got others", "parts", ALTERED)
        if drawn.value != self.ratio(mechanism, tuple(parts[name] for name in self.sums), parts["rows"]):
            raise InputError(f"value must be the {self.kind} of its parts, got another", "value", ALTERED)


class FoundMean(FoundRatio):
    """The mean of a column's values in each cell that is told."""

    __slots__ = ()

    sums: ClassVar[tuple[str, ...]] = ("total",)
    inner: Mean

    @property
    def moves(self) -> tuple[int, ...]:
        """N."""
        return (self.inner.grid.size,)

    def lattices(self, rates: tuple[Fraction, ...]) -> tuple[GeometricLattice, ...]:
        """The total from the middle of the grid, in half steps."""
        grid = self.inner.grid
        return (GeometricLattice(rates[0], None, None, (grid.low + grid.high) / 2, grid.step / 2),)

    def counted(self, mechanism: FoundMechanism) -> RatioMechanism:
        """A ratio."""
        (total,) = _lattices(mechanism)
        return RatioMechanism(total, _row_noise(mechanism))

    def ratio(self, mechanism: FoundMechanism, sums: tuple[int, ...], rows: int) -> Fraction:
        """The mean."""
        (total,) = sums
        return self.counted(mechanism).mean(total, rows, self.inner.grid)

    def value_range(
        self, mechanism: FoundMechanism, value: Fraction, details: Mapping[str, Any], miss: Fraction
    ) -> ValueRange | None:
        """All means that the total within its noise and the rows of a told cell make, each missed half as often."""
        (lattice,), (total, rows) = _lattices(mechanism), drawn_parts(details)
        totals, kept_rows = _noise_range(lattice, total, miss / 2), mechanism.selection.told_range(rows, miss / 2)
        low, high = ratio_range(lattice, totals, kept_rows, self.inner.grid)
        return min(low, value), max(high, value)


class FoundVariance(FoundRatio):
    """The variance of a column's values in each cell that is told."""

    __slots__ = ()

    selection_share: ClassVar[Fraction] = Fraction(1, 3)
    sums: ClassVar[tuple[str, ...]] = ("total", "squares")
    inner: Variance

    @property
    def moves(self) -> tuple[int, ...]:
        """N and N²."""
        return self.inner.grid.size, self.inner.grid.size**2

    def lattices(self, rates: tuple[Fraction, ...]) -> tuple[GeometricLattice, ...]:
        """The total and the total of squares, as for a variance of listed cells."""
        middle, half_step = (self.inner.grid.low + self.inner.grid.high) / 2, self.inner.grid.step / 2
        total = GeometricLattice(rates[0], None, None, middle, half_step)
        return total, GeometricLattice(rates[1], None, None, Fraction(0), half_step**2)

    def counted(self, mechanism: FoundMechanism) -> VarianceMechanism:
        """A variance of three noisy numbers."""
        total, squares = _lattices(mechanism)
        return VarianceMechanism(total, squares, _row_noise(mechanism))

    def ratio(self, mechanism: FoundMechanism, sums: tuple[int, ...], rows: int) -> Fraction:
        """The variance."""
        total, squares = sums
        return self.counted(mechanism).variance(total, squares, rows, self.inner.grid)

    def value_range(
        self, mechanism: FoundMechanism, value: Fraction, details: Mapping[str, Any], miss: Fraction
    ) -> ValueRange | None:
        """All variances that the sums within their noise and the rows make, each of three missed a third as often."""
        *numbers, rows = drawn_numbers(details)
        pairs = zip(_lattices(mechanism), numbers, strict=True)
        totals, squares = (_noise_range(lattice, number, miss / 3) for lattice, number in pairs)
        kept_rows = mechanism.selection.told_range(rows, miss / 3)
        low, high = self.counted(mechanism).variance_range(totals, squares, kept_rows, self.inner.grid)
        return min(low, value), max(high, value)


def _lattices(mechanism: FoundMechanism) -> tuple[GeometricLattice, ...]:
    return tuple(part for part in mechanism.parts.values() if isinstance(part, GeometricLattice))


def _noise_range(lattice: GeometricLattice, number: int, miss: Fraction) -> tuple[int, int]:
    """The numbers that a noisy number of the lattice is within its noise of."""
    width = half_width(level_of(lattice.epsilon), miss)
    return number - width, number + width


def _row_noise(mechanism: FoundMechanism) -> GeometricLattice:
    return GeometricLattice(mechanism.selection.epsilon, 0, None)


def _draw_ratio(
    query: FoundRatio, mechanism: FoundMechanism, noises: tuple[PreparedNoise, ...], answer: ExactAnswer, count: int
) -> Drawn:
    """Runs after the charge: it cannot fail. The exact answer has the sums first, and the number of rows last."""
    sums = tuple(noise.add_noise([number])[0] for noise, number in zip(noises, answer[:-1], strict=True))
    parts = dict(zip(query.sums, sums, strict=True)) | {"rows": count}
    return Drawn(query.ratio(mechanism, sums, count), {"parts": parts})
