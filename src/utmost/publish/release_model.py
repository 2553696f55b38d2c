"""A release as data: what was asked, which mechanism answered, what it guarantees, and the values.

Nothing in it depends on the secret but the values. `release_file` writes it as JSON and reads it back equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.notebook import report_html
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism, AnswerValue, Drawn, ErrorLaw

if TYPE_CHECKING:
    from utmost.consumer.losses import Loss
    from utmost.consumer.priors import Prior
    from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
    from utmost.publish.estimate import Estimate
    from utmost.queries.query import Query

SCHEMA = "utmost-release/1"


@dataclass(frozen=True, slots=True)
class Answer:
    """One query of a release with its answer. `details` is what else was drawn, as the release file has it."""

    name: str
    query: Query
    epsilon: Fraction
    sensitivity: int
    mechanism: AnswerMechanism
    optimal: str
    error: ErrorLaw
    value: AnswerValue
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of the query."""
        return self.query.kind

    @property
    def where(self) -> str | None:
        """The predicate that its rows satisfy."""
        return self.query.where

    @property
    def query_content(self) -> Mapping[str, Any]:
        """What belongs to its kind: column, bounds, keys."""
        return self.query.content()

    @property
    def parts(self) -> tuple[int, int] | None:
        """The noisy total and number of rows that a mean is the ratio of; None for other answers."""
        parts = self.details.get("parts")
        return None if parts is None else (parts["total"], parts["rows"])

    @property
    def position(self) -> int | None:
        """The position of a quantile on its grid; None for other answers."""
        return self.details.get("position")

    @property
    def drawn(self) -> Drawn:
        """What was drawn."""
        return Drawn(self.value, self.details)

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
        raise InputError(f"query must be one of {', '.join(a.name for a in self.answers)}, got {name[:60]}", "query")

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
        return report_html(self, "release")
