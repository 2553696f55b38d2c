"""What a mechanism is chosen by: its options as text, checks of its inputs, and what can be done with it.

Check inputs and options before any random word is taken.

An input of a draw is data: errors never repeat it. Options come as text, under their names on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Level, Real, integer, rational, sign

if TYPE_CHECKING:
    from utmost.channel import Channel, PrivacyLoss
    from utmost.spaces import Space


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter of a mechanism: `name` with two dashes before it is its option on the command line.

    `placeholder` stands for its value in the help; None for a flag, whose text is "yes".
    """

    name: str
    placeholder: str | None
    help: str


SIZE = Option("size", "N", "A count's upper end: 0 to N; of response, how many.")
SENSITIVITY = Option("sensitivity", "D", "How far one change moves the value; or 1.")


@dataclass(frozen=True, slots=True)
class BuiltMechanism:
    """A mechanism with all its parameters.

    `title` names it and `rows` its inputs. `channel` makes its matrix or says why there is none, `privacy_loss`
    recomputes its ε from that. `parse_input` reads an input, `draw` gives that many samples for it as a document has
    them; `facts` join the document. `space` names the neighbours that were assumed where the mechanism itself does not
    say, `neighbours_remark` says it in words.
    """

    title: str
    rows: str
    channel: Callable[[], Channel]
    privacy_loss: Callable[[Channel], PrivacyLoss]
    parse_input: Callable[[str], Any]
    draw: Callable[[Any, int], list[Any]]
    level: Level | None
    facts: dict[str, Any] = field(default_factory=dict)
    space: str | None = None
    neighbours_remark: str = ""


@dataclass(frozen=True, slots=True)
class MechanismKind:
    """A mechanism that can be chosen by name. `build` gets the texts of its options by their names, and the level.

    `on_space` makes its channel from the points of a space to these points, private at the level there, or refuses the
    space in one line.
    """

    name: str
    required: tuple[Option, ...]
    optional: tuple[Option, ...]
    build: Callable[[Mapping[str, str], Level], BuiltMechanism]
    on_space: Callable[[Space, Level], Channel] | None = None

    @property
    def options(self) -> tuple[Option, ...]:
        """All options, those that must be given first."""
        return self.required + self.optional


MAX_MATRIX_COUNT = 500  # upper end of a count whose matrix is written out by name
MAX_IRRATIONAL_COUNT = 100  # the same, where its entries are irrational
MAX_SLOW_COUNT = 50  # the same, where they are roots or every pair within a sensitivity is compared
MAX_SAMPLED_COUNT = 10**12  # upper end of a count that is drawn from


def check_exact_number(value: object, name: str = "input") -> Fraction:
    """An exact rational number out of the data; an error names its kind and never its value.

    >>> check_exact_number("41.5"), check_exact_number(np.int8(3))
    (Fraction(83, 2), Fraction(3, 1))
    """
    exact = _rational_or_none(value)
    if exact is None:
        raise InputError(f'{name} must be an exact number such as 3, "1/2" or "41.5", got {_kind_text(value)}', name)
    return exact


def _rational_or_none(value: object) -> Fraction | None:
    """The number, or None: the error that repeats the value is dropped, and is not even the context of the next."""
    try:
        return rational(value)
    except ValueError:
        return None


def _kind_text(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "a float: write it as text"
    return "text that is not one" if isinstance(value, str) else type(value).__name__


def check_integers(inputs: npt.ArrayLike, low: int, high: int, requirement: str) -> npt.NDArray[np.int64]:
    """A sequence of whole numbers from low to high, of any integer type, as 64-bit ones.

    `requirement` ends the error message "input must be …".

    >>> check_integers(np.array([3, -1], dtype=np.int8), -5, 5, "small").dtype
    dtype('int64')
    """
    values = np.asarray(inputs)
    if not values.size:
        return np.zeros(0, dtype=np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu" or int(values.min()) < low or int(values.max()) > high:
        raise InputError(f"input must be {requirement}", "input")
    return values.astype(np.int64)


def require_inner_level(level: Level) -> None:
    """Refuse the two ends of privacy, where there is nothing to draw."""
    if level.alpha == 1:
        raise InputError("epsilon must be > 0 for this, got 0 (alpha 1): noise without end tells nothing", "epsilon")
    if sign(level.alpha) == 0:
        raise InputError("alpha must be > 0 for this, got 0: that would tell the input itself", "alpha")


def parse_upper_end(text: str) -> int:
    """The --size of counts that are drawn from."""
    size = integer(text, "--size")
    if not 0 <= size <= MAX_SAMPLED_COUNT:
        size_text = size if abs(size) < 10**15 else "more"
        raise InputError(f"--size must be the count's upper end, from 0 to 10^12, got {size_text}", "--size")
    return size


def check_matrix_size(
    size: int, level: Level | None, requirement: str = "--size must be", max_count: int = MAX_MATRIX_COUNT
) -> int:
    """A size whose matrix can be written out; a level that is irrational, or None, has the smaller limit."""
    irrational = level is None or isinstance(level.alpha, Real)
    limit = min(max_count, MAX_IRRATIONAL_COUNT if irrational else MAX_MATRIX_COUNT)
    if size > limit:
        advice = (
            "a rational --alpha goes further" if irrational and max_count == MAX_MATRIX_COUNT else "show a smaller one"
        )
        raise InputError(
            f"{requirement} from 0 to {limit} to write the matrix out at this level, got {size}",
            requirement.split(maxsplit=1)[0],
            f"{advice}, and --sample needs no matrix",
        )
    return size


def parse_numbers(text: str, name: str, count: int) -> list[Fraction]:
    """So many exact numbers with commas between them."""
    numbers = [rational(number, name) for number in text.split(",")]
    if len(numbers) != count:
        raise InputError(f"{name} must be {count} numbers with commas between them, got {len(numbers)}", name)
    return numbers


def parse_position(text: str, last: int | None) -> int:
    """An --input that is a whole number from 0 to `last`, or any where there is none."""
    requirement = "a whole number" if last is None else f"a whole number from 0 to {last}"
    try:
        x = integer(text, "--input")
    except InputError:
        raise InputError(f"--input must be {requirement}, got something else", "--input") from None
    if abs(x) > MAX_SAMPLED_COUNT or (last is not None and not 0 <= x <= last):
        raise InputError(f"--input must be {requirement}, got one outside", "--input")
    return x


def parse_exact_input(text: str, count: int) -> list[Fraction]:
    """The numbers of an --input."""
    try:
        return parse_numbers(text, "--input", count)
    except InputError:
        requirement = "an exact number such as 41.5" if count == 1 else f"{count} exact numbers such as 0.3,1.7"
        raise InputError(f"--input must be {requirement}, got something else", "--input") from None
