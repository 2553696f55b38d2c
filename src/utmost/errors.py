"""Every error that utmost raises on purpose.

::

    UtmostError
    ├── InputError        an argument is not what it must be (also a ValueError)
    │   ├── MetricError   distances that are not a metric
    │   ├── ChannelError  entries that are not a channel
    │   └── BudgetError   a budget that is short
    ├── LedgerError       a ledger that cannot be reached, read or written
    ├── OutputError       a release that was charged and could not be kept
    ├── DataError         a table that its engine cannot open or read
    ├── UndecidedError    a question about real numbers that the precision at hand cannot decide
    ├── SolverError       a linear program whose answer could not be certified
    └── InfeasibleError   a linear program without a solution

A message is one line: the argument, what it must be, what it was, what to do. It never contains data. An `InputError`
also carries the argument's name and the advice on their own, so that no caller needs to parse its message.
"""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from typing import Self


class UtmostError(Exception):
    """The root of the tree."""


class InputError(UtmostError, ValueError):
    """An argument is not what it must be; the command line answers it with exit code 2.

    `message` says what is wrong and `hint` what to do. `field` is the argument that is wrong: the name of a parameter,
    or the dotted key of a plan (`budget`, `source.location`); None where the error is not about a single one. `context`
    says where the argument stands, such as a file or a query of a plan; keys of a query are relative to it (`low`).
    `str` joins context, message and hint to one line.

    >>> error = InputError("low must be below high, got 3 and 2", "low", "swap the bounds")
    >>> print(error.within('query "age"'), error.field, sep=" | ")
    query "age": low must be below high, got 3 and 2: swap the bounds | low
    """

    def __init__(
        self, message: str, field: str | None = None, hint: str | None = None, *, context: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.field, self.hint, self.context = message, field, hint, context

    @property
    def text(self) -> str:
        """Message and hint, without the context."""
        return self.message if self.hint is None else f"{self.message}: {self.hint}"

    def __str__(self) -> str:
        """Context, message and hint, as one line."""
        return self.text if self.context is None else f"{self.context}: {self.text}"

    def within(self, context: str) -> Self:
        """The same error with its context named; field and hint stay. A context already named is not repeated."""
        if self.context == context:
            return self
        located = copy(self)
        located.context = context if self.context is None else f"{context}: {self.context}"
        return located

    def about(self, field: str) -> Self:
        """The same error as an error of this field."""
        renamed = copy(self)
        renamed.field = field
        return renamed


class MetricError(InputError):
    """Distances that break an axiom of metrics; the message names the points."""


class ChannelError(InputError):
    """Entries that are not a channel; the message names the row or the entry."""


class BudgetError(InputError):
    """A budget that is short; the message says what is left, what was asked and what to do.

    `missing` is how much more it would need, where that is known.
    """

    missing: Fraction | None = None


class LedgerError(UtmostError):
    """A ledger that cannot be reached, read or written; the message never holds a password."""


class OutputError(UtmostError):
    """A release that was charged and could not be kept; `document` is its JSON, to be kept by whoever catches it."""

    def __init__(self, message: str, document: str) -> None:
        super().__init__(message)
        self.document = document

    def __reduce__(self) -> tuple[type[OutputError], tuple[str, str]]:
        """Both arguments, so that it can pass from one process to another."""
        return type(self), (str(self), self.document)


class DataError(UtmostError):
    """A table that its engine cannot open or read. The engine's own words are withheld: they may quote a row."""


class UndecidedError(UtmostError):
    """A comparison of real numbers that no precision tried could decide."""


class SolverError(UtmostError):
    """A linear program whose answer could not be certified."""


class InfeasibleError(UtmostError):
    """A linear program without a solution."""
