"""Losses of a consumer: what it costs to believe j when the truth is i.

A loss is *legal* when ℓ(i, j) depends only on i and |j − i| and does not decrease in |j − i| (GRS12 §2.2), *strictly
legal* when it increases strictly (GRS12 §5.3). The geometric mechanism is best for every consumer with a legal loss
(GRS12 Thm 3.2); for other losses that is not promised.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from utmost import exact
from utmost.consumer import piecewise_losses
from utmost.consumer.files import json_list, read_text
from utmost.consumer.loss_legality import Legality, check_legality
from utmost.consumer.piecewise_losses import PiecewiseLoss, matrix_by_error
from utmost.errors import InputError
from utmost.exact import Number, number, rational, sign
from utmost.spaces import Space
from utmost.spaces.space import Label

Floats: TypeAlias = npt.NDArray[np.float64]
Exacts: TypeAlias = npt.NDArray[np.object_]

MAX_POWER = 32
MAX_TABLE_SIDE = 4096
LOSS_FORMS = "absolute, squared, binary, nib, power:1.5, asymmetric:2,1, drawn:-20:8,0:0,20:4 or matrix:FILE"


@runtime_checkable
class Loss(Protocol):
    """ℓ(i, j) ≥ 0: the loss when the truth is i and the reading is j."""

    @property
    def name(self) -> str:
        """How the command line writes it."""

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""


@dataclass(frozen=True, slots=True)
class Linear:
    """`under` for each unit that the reading is below the truth, `over` for each unit above.

    >>> Linear(Fraction(2), Fraction(1)).exact(5, 3), Linear(Fraction(2), Fraction(1)).exact(3, 5)
    (Fraction(4, 1), Fraction(2, 1))
    """

    under: Number
    over: Number

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "absolute" if self.under == self.over == 1 else f"asymmetric:{self.under},{self.over}"

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        return self.under * (i - j) if j < i else self.over * (j - i)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        gap = np.subtract(reading, truth, dtype=np.float64)
        return np.asarray(np.where(gap < 0, -float(self.under) * gap, float(self.over) * gap))

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        return matrix_by_error([self.exact(0, gap) for gap in range(size)], [self.exact(gap, 0) for gap in range(size)])


@dataclass(frozen=True, slots=True)
class Squared:
    """(i − j)²; its best reading is the posterior mean, rounded."""

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "squared"

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        return Fraction((i - j) ** 2)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.asarray(np.square(np.subtract(truth, reading, dtype=np.float64)))

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        return matrix_by_error([self.exact(0, gap) for gap in range(size)])


@dataclass(frozen=True, slots=True)
class Binary:
    """0 if the reading is right, else 1; its best reading is the posterior mode."""

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "binary"

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        return Fraction(i != j)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.not_equal(truth, reading).astype(np.float64)

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        return matrix_by_error([self.exact(0, gap) for gap in range(size)])


@dataclass(frozen=True, slots=True)
class Nib:
    """1 if the reading is the secret, else 0: the aim is to name something that it is not (FMPD23 eq. 11)."""

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "nib"

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        return Fraction(i == j)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.equal(truth, reading).astype(np.float64)

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        return matrix_by_error([self.exact(0, gap) for gap in range(size)])


@dataclass(frozen=True, slots=True)
class Power:
    """|i − j|^p for a rational p > 0; exact as a `Real` where it is irrational.

    >>> str(Power(Fraction(3, 2)).exact(5, 3))
    '2*2^(1/2)'
    """

    p: Fraction
    monotone: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"power:{self.p}"

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        return _power(abs(i - j), self.p)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.asarray(np.abs(np.subtract(truth, reading, dtype=np.float64)) ** float(self.p))

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        return matrix_by_error([_power(gap, self.p) for gap in range(size)])


@dataclass(frozen=True, slots=True)
class Table:
    """A loss given entry by entry: row i is the truth, column j the reading. If one entry is a float, all are.

    There may be more or fewer columns than rows: then the readings are not the secrets themselves but actions.
    `labels` are the secrets' names, where it is known whose losses these are: the rows of channels are matched by them.

    >>> Table(((Fraction(0), Fraction(1)), (Fraction(3), Fraction(0)))).exact(1, 0)
    Fraction(3, 1)
    """

    rows: tuple[tuple[Number | float, ...], ...]
    name: str = "matrix"
    labels: tuple[Label, ...] | None = None
    _floats: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            floats = np.array([[float(value) for value in row] for row in self.rows], dtype=np.float64)
        except OverflowError:
            raise InputError("loss must be at most 1e308 in every entry, got a larger one: scale the loss") from None
        object.__setattr__(self, "_floats", floats)

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        value = self.rows[i][j]
        if isinstance(value, float):
            raise InputError('loss must have exact entries here, got floats: write them as text, for instance "1/3"')
        return value

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.asarray(self._floats[np.asarray(truth), np.asarray(reading)])

    def matrix(self, size: int) -> Exacts:
        """As given: exact entries come out exact, floats come out as floats."""
        width = len(self.rows[0])
        if len(self.rows) != size:
            raise InputError(
                f"loss must be a matrix of {size} rows, one for each secret, got {len(self.rows)} x {width}"
            )
        result = np.empty((size, width), dtype=object)
        for i, row in enumerate(self.rows):
            result[i, :] = row
        return result

    def check(self, size: int) -> None:
        """Refuses a table that is not size × size: one whose readings are not the secrets."""
        if len(self.rows) != size or len(self.rows[0]) != size:
            raise InputError(
                f"loss must be a matrix of {size} rows and columns, one for each count, "
                f"got {len(self.rows)} x {len(self.rows[0])}"
            )


@lru_cache(maxsize=1 << 16)
def _power(gap: int, p: Fraction) -> Number:
    return exact.power(gap, p)


ByError: TypeAlias = Power | PiecewiseLoss  # of j − i alone, without a closed form of its best reading
Drawn = PiecewiseLoss  # its public name in ut.losses

absolute = Linear(Fraction(1), Fraction(1))
squared = Squared()
binary = Binary()
nib = Nib()


def over(loss: Loss, space: Space) -> Loss:
    """The loss on a space's points: |i − j| becomes d(i, j), so absolute is d, squared d², power d^p (FMPD23 eq. 12).

    On a line nothing changes; binary, nib and matrices are what they are.

    >>> from utmost.spaces import space
    >>> triangle = space([[0, 1, "sqrt(2)"], [1, 0, 1], ["sqrt(2)", 1, 0]])
    >>> str(over(absolute, triangle).exact(0, 2)), over(squared, triangle).exact(0, 2)
    ('2^(1/2)', Fraction(2, 1))
    """
    if isinstance(loss, Binary | Nib | Table) or space.name.startswith("line:"):
        return loss
    if isinstance(loss, PiecewiseLoss) or (isinstance(loss, Linear) and loss.under != loss.over):
        kind = loss.name.partition(":")[0]
        raise InputError(f"loss {kind} must be on a line, where below and above mean something: use absolute")
    distances: list[list[Number]] = space.distances.tolist()
    distance_of_id = {id(d): d for row in distances for d in row}
    loss_of_id = {key: _loss_at_distance(loss, d) for key, d in distance_of_id.items()}
    return Table(tuple(tuple(loss_of_id[id(d)] for d in row) for row in distances), loss.name, space.labels)


def _loss_at_distance(loss: Loss, distance: Number) -> Number:
    if isinstance(loss, Linear):
        return loss.over * distance
    if isinstance(loss, Squared):
        return distance * distance
    if not isinstance(loss, Power):
        raise InputError(f"loss must be {LOSS_FORMS}, got {loss.name}")
    square = distance * distance
    if isinstance(square, Fraction):
        return exact.power(square, loss.p / 2)
    if loss.p.denominator == 1:
        return distance ** int(loss.p)
    raise InputError(
        f"loss {loss.name} cannot be written exactly at a distance that is a sum of roots: take a whole power"
    )


def labels_of(loss: Loss) -> tuple[Label, ...] | None:
    """The names of the secrets in the order of the loss's rows; None where it is a loss of counts, or names none."""
    return loss.labels if isinstance(loss, Table) else None


def check_points(loss: Loss, space: Space) -> None:
    """Refuse a loss that was made for other points, or for these in another order."""
    labels = labels_of(loss)
    if labels is not None and [str(label) for label in labels] != [str(label) for label in space.labels]:
        raise InputError(
            f"the loss must be on the points of {space.name}, in their order, got one on other points: make it with "
            "losses.over(loss, space)"
        )


def square(loss: Loss, size: int) -> Exacts:
    """ℓ as a size × size matrix: a table whose readings are not the secrets is refused."""
    if isinstance(loss, Table):
        loss.check(size)
    return loss.matrix(size)


def power(p: object) -> Power:
    """|i − j|^p.

    >>> power("1.5").name
    'power:3/2'
    """
    exponent = rational(p, "power")
    if not 0 < exponent <= MAX_POWER:
        raise InputError(f"power must be > 0 and at most {MAX_POWER}, got {exponent}: for 0 use the loss binary")
    return Power(exponent)


def asymmetric(under: object, over: object) -> Linear:
    """`under` a unit for readings below the truth, `over` a unit above; not both zero.

    >>> asymmetric(2, 1).name
    'asymmetric:2,1'
    """
    low, high = number(under, "under"), number(over, "over")
    if sign(low) < 0 or sign(high) < 0 or not (low or high):
        raise InputError(f"under and over must be >= 0 and not both 0, got {low} and {high}: they are losses per unit")
    return Linear(low, high)


def drawn(points: Sequence[tuple[object, object]]) -> PiecewiseLoss:
    """What an error j − i costs, through points (error, cost), straight between them and level beyond.

    >>> drawn([(-2, 4), (0, 0), (1, 1)]).exact(5, 4)
    Fraction(2, 1)
    """
    return piecewise_losses.piecewise_loss(points)


def matrix(rows: Sequence[Sequence[object]]) -> Table:
    """The loss with these entries, each ≥ 0; exact ("1/3", 2, Fraction) or float. A row a secret, a column a reading.

    >>> matrix([["0", "1/2"], [1, 0]]).rows
    ((Fraction(0, 1), Fraction(1, 2)), (Fraction(1, 1), Fraction(0, 1)))
    """
    size = len(rows)
    width = len(rows[0]) if size else 0
    if not 1 <= size <= MAX_TABLE_SIDE or not 1 <= width <= MAX_TABLE_SIDE:
        raise InputError(f"loss must be a matrix of 1 to {MAX_TABLE_SIDE} rows and columns, got {size} x {width}")
    for i, row in enumerate(rows):
        if len(row) != width:
            raise InputError(f"loss must have {width} entries in row {i} as in the first one, got {len(row)}")
    floats = any(isinstance(value, float) for row in rows for value in row)
    parse_entry = _float_entry if floats else _exact_entry
    return Table(tuple(tuple(parse_entry(value) for value in row) for row in rows))


def _exact_entry(value: object) -> Number:
    result = number(int(value) if isinstance(value, np.integer) else value, "loss")
    if sign(result) < 0:
        raise InputError(f"loss must be >= 0 in every entry, got {result}: add a constant to the row")
    return result


def _float_entry(value: object) -> float:
    result = float(value) if isinstance(value, float | np.integer) else float(number(value, "loss"))
    if not 0 <= result < float("inf"):
        raise InputError(f"loss must be a finite number >= 0 in every entry, got {result}")
    return result


def parse(text: str) -> Loss:
    """The loss that the command line names: one of `LOSS_FORMS`.

    >>> parse("asymmetric:2,1") == asymmetric(2, 1), parse("power:1.5").name
    (True, 'power:3/2')
    """
    kind, _, arguments = text.strip().partition(":")
    named_losses: dict[str, Loss] = {"absolute": absolute, "squared": squared, "binary": binary, "nib": nib}
    if kind in named_losses and not arguments:
        return named_losses[kind]
    if kind == "power":
        return power(arguments)
    if kind == "asymmetric" and arguments.count(",") == 1:
        return asymmetric(*arguments.split(","))
    if kind == "drawn" and arguments:
        return piecewise_losses.parse_points(arguments)
    if kind == "matrix" and arguments:
        return matrix(_read_rows(Path(arguments)))
    raise InputError(f"loss must be {LOSS_FORMS}, got {text[:60]!r}")


def _read_rows(path: Path) -> list[list[str]]:
    """The rows of a CSV file without a header, or of a JSON list of lists (its decimals are read exactly)."""
    text = read_text(path, "loss")
    rows = json_list(text, "loss")
    if rows is not None:
        return [list(row) if isinstance(row, list) else [row] for row in rows]
    try:
        return [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    except csv.Error:
        raise InputError(f"loss must be in a CSV or JSON file, got one that is neither: {path.name}") from None


def legality(loss: Loss, size: int) -> Legality:
    """Whether ℓ on the counts 0..size−1 is legal (GRS12 §2.2) and strictly legal (§5.3), decided exactly.

    In closed form for the families, entry by entry for the others.

    >>> legality(binary, 5)
    Legality(witness=None, strict_witness=(0, 1, 2))
    >>> legality(asymmetric(2, 1), 5).witness
    (1, 0, 2)
    """
    if isinstance(loss, Squared | Power):
        return Legality(None, None)
    if isinstance(loss, Binary):
        return Legality(None, (0, 1, 2) if size > 2 else None)
    if isinstance(loss, Linear) and loss.under == loss.over:
        return Legality(None, None)
    if isinstance(loss, PiecewiseLoss):
        return Legality(*loss.witnesses(size))
    return check_legality(square(loss, size))
