"""Categories in the local model: each row's value gets randomised response over a public list of values.

With k values a row answers the truth with probability e^ε/(e^ε + k − 1), and each other value alike; the dual answers
each *other* value e^ε times as often as the truth (FMPD23 §VI-B). Any answer is at most e^ε times as likely under one
value as under another, and that much under some: ε is exact and for any two values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Level
from utmost.mechanisms.randomised_response import MAX_DRAW_VALUES, RandomisedResponse, response, response_dual
from utmost.noise.entropy import EntropySource

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class CategoryMechanism:
    """A column of categories, private at `level` for any two of the public `values`.

    `others` is the value that a row counts as where its own is missing or not listed; None refuses the whole file.
    """

    column: str
    level: Level
    values: tuple[str, ...]
    others: str | None = None
    dual: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn, before anything is read."""
        if not 2 <= len(self.values) <= MAX_DRAW_VALUES:
            raise InputError(f"--values must be from 2 to {MAX_DRAW_VALUES} values with commas between them", "values")
        if any(value != value.strip() or not value or "\0" in value for value in self.values):
            raise InputError("--values must not be empty, nor begin or end with white space", "values")
        if len(set(self.values)) < len(self.values):
            raise InputError("--values must be distinct, got one twice", "values", "list each once")
        if self.others is not None and self.others not in self.values:
            raise InputError("--others must be one of --values, got another", "others", "add it to the list")
        if not self.level.is_inner:
            raise InputError("epsilon must be > 0 and finite to obfuscate (0 < alpha < 1)", "epsilon")

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read and written."""
        return (self.column,)

    @property
    def noise(self) -> RandomisedResponse:
        """The mechanism that runs, on the values' indices in the list."""
        return (response_dual if self.dual else response)(len(self.values), self.level)

    @property
    def spent(self) -> str:
        """What a row costs whom it is of."""
        return str(self.level)

    def kinds(self, file_types: dict[str, pa.DataType], as_text: bool) -> dict[str, pa.DataType]:
        """The type of the column that is written: the one it had, or text where values are to be spelled as listed."""
        import pyarrow as pa

        kind = file_types[self.column]
        self.value_cells(kind)
        return {self.column: pa.string() if as_text else kind}

    def answer(
        self, cells: list[pa.Array], kinds: list[pa.DataType], source: EntropySource | None
    ) -> tuple[list[pa.Array], npt.NDArray[np.bool_] | None]:
        """The noisy column of some rows; no row is ever dropped. The shifts are drawn before the values are added."""
        import pyarrow as pa

        noisy_indices = self.noise.draw(self.numbers(cells[0]), source)
        return [self.value_cells(kinds[0]).take(pa.array(noisy_indices))], None

    def numbers(self, cells: pa.Array) -> npt.NDArray[np.int64]:
        """The place in the list of each row's value, or of its stand-in."""
        indices = self.value_indices(cells)
        missing = indices < 0
        if missing.any():
            if self.others is None:
                raise InputError(
                    f"{self.column} must be one of --values in every row, got a row where it is not",
                    hint="list all values, or say --others VALUE for one that stands in",
                )
            indices[missing] = self.values.index(self.others)
        return indices

    def value_indices(self, cells: pa.Array) -> npt.NDArray[np.int64]:
        """The index in `values` of each cell's value, −1 where it is missing or not listed."""
        import pyarrow.compute as pc

        if _is_text(cells.type):
            cells = pc.utf8_trim_whitespace(cells)
        positions = pc.index_in(cells, value_set=self.value_cells(cells.type))
        indices: npt.NDArray[np.int64] = positions.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return indices

    def value_cells(self, kind: pa.DataType) -> pa.Array:
        """The values as cells of a type: "1" is the number 1 in a column of numbers."""
        import pyarrow as pa

        type_checks = (_is_text, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_date)
        if not any(is_type(kind) for is_type in type_checks):
            raise InputError(f"{self.column} must be a column of texts, numbers, truths or dates", hint="convert it")
        try:
            values = pa.array(self.values, type=pa.string()).cast(kind)
        except pa.ArrowException:
            raise InputError(
                f"--values must be of the type of column {self.column}, which is {kind}", "values"
            ) from None
        if len(values.unique()) < len(self.values):
            raise InputError(f"--values must be distinct as values of column {self.column}, which is {kind}", "values")
        return values

    def guarantee(self) -> dict[str, Any]:
        """The guarantee for each row, in words and exact numbers."""
        if self.others is None:
            missing_text = "The file exists because every row had one of the listed values: that is not hidden."
        else:
            missing_text = f'A row with no listed value counts as "{self.others}", and has the same promise.'
        promise = (
            f"Any two of the {len(self.values)} values of {self.column} give any answer with probabilities within a "
            f"factor e^ε of each other, {self.level}, for each row by itself, whatever is known of the other rows and "
            "of whose row it is."
        )
        return {"per": "any two values", "words": f"{promise} {missing_text}"}


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
