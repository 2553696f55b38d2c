"""What a kind of query needs to be told to find the ε for an accuracy, before there is a table.

`utmost calibrate KIND` takes its options from here. An accuracy depends on the query, not on its columns:
`Query.calibration_example` makes a query with the bounds that were given and with names that stand for any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.queries.query import Query


@dataclass(frozen=True, slots=True)
class CalibrationOption:
    """An option of the command: `type` is what its text is read as; without a default it is required."""

    name: str
    help: str
    metavar: str | None = None
    type: type = str
    default: Any = None


@dataclass(frozen=True, slots=True)
class CalibrationExample:
    """A query to calibrate: what it is called in the result, and what was asked, for the JSON document.

    `units` is how many there are where that is public, `rows` about how many rows a ratio has, and `together` asks the
    accuracy of all cells at once.
    """

    query: Query
    subject: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    units: int | None = None
    rows: int | None = None
    together: bool = False


@dataclass(frozen=True, slots=True)
class CalibrationForm:
    """The command of a kind: its help, its options, and what its error is."""

    help: str
    options: tuple[CalibrationOption, ...]
    error_help: str = "Largest error, in the unit of the value."
    error_metavar: str = "E"


GRID_OPTIONS = (
    CalibrationOption("low", "Lowest value of the grid.", "L"),
    CalibrationOption("high", "Highest value of the grid.", "H"),
    CalibrationOption("step", "Step of the grid.", "S"),
)
SELECTED_OPTION = CalibrationOption(
    "selected", "Only selected rows count; their number is secret.", type=bool, default=False
)
