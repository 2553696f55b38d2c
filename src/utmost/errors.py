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

A message is one line: the argument, what it must be, what it was, what to do. It never contains data.
"""


class UtmostError(Exception):
    """The root of the tree."""


class InputError(UtmostError, ValueError):
    """An argument is not what it must be; the command line answers it with exit code 2."""


class MetricError(InputError):
    """Distances that break an axiom of metrics; the message names the points."""


class ChannelError(InputError):
    """Entries that are not a channel; the message names the row or the entry."""


class BudgetError(InputError):
    """A budget that is short; the message says what is left, what was asked and what to do."""


class LedgerError(UtmostError):
    """A ledger that cannot be reached, read or written; the message never holds a password."""


class OutputError(UtmostError):
    """A release that was charged and could not be kept; `document` is its JSON, to be kept by whoever catches it."""

    def __init__(self, message: str, document: str) -> None:
        super().__init__(message)
        self.document = document


class DataError(UtmostError):
    """A table that its engine cannot open or read. The engine's own words are withheld: they may quote a row."""


class UndecidedError(UtmostError):
    """A comparison of real numbers that no precision tried could decide."""


class SolverError(UtmostError):
    """A linear program whose answer could not be certified."""


class InfeasibleError(UtmostError):
    """A linear program without a solution."""
