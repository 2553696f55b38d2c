"""A release as data: what was asked, which mechanism answered, what it guarantees, and the values.

Nothing in it depends on the secret but the values. `release_file` writes it as JSON and reads it back equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.consumer.losses import Loss
    from utmost.consumer.priors import Prior
    from utmost.data.partitions import Partition
    from utmost.data.queries import NeighbourRelation, PrivacyUnit
    from utmost.publish.estimate import Estimate

SCHEMA = "utmost-release/1"


@dataclass(frozen=True, slots=True)
class LatticeMechanism:
    """Two-sided geometric noise on whole numbers y, which stand for origin + unit·y.

    Pr[y | x] ∝ e^(−epsilon·|x − y|); an end that is given absorbs what lies beyond it (GRS12 Ex. 2.1, 2.2).
    """

    epsilon: Fraction
    low: int | None
    high: int | None
    origin: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)

    def value(self, number: int) -> Fraction:
        """What a number of the lattice stands for."""
        return self.origin + self.unit * number

    def number(self, value: Fraction) -> int:
        """The number of the lattice that stands for a value."""
        number = (value - self.origin) / self.unit
        if number.denominator != 1:
            raise InputError("a value of this release must be on its mechanism's lattice")
        return int(number)


@dataclass(frozen=True, slots=True)
class RatioMechanism:
    """A mean from a noisy total and a noisy number of rows: total.origin + total.unit·(total/rows).

    The total counts each row's distance from the middle of the grid in half steps, so that a row moves it by at most N.
    """

    total: LatticeMechanism
    rows: LatticeMechanism


@dataclass(frozen=True, slots=True)
class ChoiceMechanism:
    """The exponential mechanism over `candidates` grid positions: Pr[j] ∝ e^(−rate·loss_j)."""

    rate: Fraction
    candidates: int


Mechanism = LatticeMechanism | RatioMechanism | ChoiceMechanism


@dataclass(frozen=True, slots=True)
class ErrorLaw:
    """How far off an answer will be, known before anything is drawn.

    `expected` absolute error and the `half_width` of a 95 % interval, in the value's unit (for a quantile: in rows of
    rank). For a ratio both are to be divided by the number of rows (`over_rows`), which is not public. `target` is
    what it is the distance from, in words: with contributions bounded or values clamped not the number in the table.
    """

    expected: float
    half_width: Fraction | float
    words: str
    over_rows: bool = False
    target: str = "the true number"


@dataclass(frozen=True, slots=True)
class Answer:
    """One query of a release with its answer. `query_content` holds what belongs to its kind: column, bounds, keys."""

    name: str
    kind: str
    where: str | None
    epsilon: Fraction
    sensitivity: int
    mechanism: Mechanism
    optimal: str
    error: ErrorLaw
    value: int | Fraction | tuple[int, ...]
    query_content: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[int, int] | None = None
    position: int | None = None

    def estimate(self, prior: Prior | str, loss: Loss | str, **options: Any) -> Estimate:
        """The best reading of this answer for a consumer with this prior and loss."""
        from utmost.publish.estimate import estimate

        return estimate(self, prior, loss, **options)


@dataclass(frozen=True, slots=True)
class DataOrigin:
    """Where the data came from: the engine, and the name of the table or file, without its path or password."""

    engine: str
    name: str
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The charge in the ledger: its budget, its number there, and what the budget had spent and left after it."""

    budget: str
    number: int
    spent: Fraction
    left: Fraction


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """All answers of one plan. `epsilon` is recomputed from the mechanisms that ran; `units` is public, or None."""

    title: str | None
    library: str
    source: DataOrigin
    unit: PrivacyUnit
    neighbours: NeighbourRelation
    units: int | None
    part: Partition | None
    epsilon: Fraction
    guarantee: str
    entry: LedgerEntry
    answers: tuple[Answer, ...]

    def __getitem__(self, name: str) -> Answer:
        """The answer of this name."""
        for answer in self.answers:
            if answer.name == name:
                return answer
        raise InputError(f"query must be one of {', '.join(a.name for a in self.answers)}, got {name[:60]}")

    def __iter__(self) -> Iterator[Answer]:
        """The answers in the order of the plan."""
        return iter(self.answers)

    def __len__(self) -> int:
        """How many answers there are."""
        return len(self.answers)

    def __repr__(self) -> str:
        """A line: the whole of it is in the file."""
        names = ", ".join(answer.name for answer in self.answers[:4])
        more = ", …" if len(self) > 4 else ""
        return f"<Release of ε {self.epsilon}, {self.neighbours}: {names}{more}>"

    def _repr_html_(self) -> str:
        from utmost.publish.notebook_html import release_html

        return release_html(self)
