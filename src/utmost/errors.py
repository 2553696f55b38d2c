"""Every error that utmost raises on purpose.

::

    UtmostError
    ├── InputError        an argument is not what it must be (also a ValueError)
    │   ├── MetricError   distances that are not a metric
    │   └── ChannelError  entries that are not a channel
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


class UndecidedError(UtmostError):
    """A comparison of real numbers that no precision tried could decide."""


class SolverError(UtmostError):
    """A linear program whose answer could not be certified."""


class InfeasibleError(UtmostError):
    """A linear program without a solution."""
