"""A channel: a row-stochastic matrix from inputs (secrets) to outputs (observations); rows are matched by label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from utmost.channel.entries import Label as Label  # noqa: PLC0414
from utmost.channel.entries import Matrix as Matrix  # noqa: PLC0414
from utmost.channel.entries import (
    check_labels,
    check_rows,
    entry_matrix,
    frame_labels,
    normal_rows,
    row_width,
    rows_of,
)
from utmost.errors import ChannelError, InputError
from utmost.exact import Number, Real, decimal, rational
from utmost.notebook import Figure, draw_figure, report_html
from utmost.spaces import Space
from utmost.tables import import_frames

if TYPE_CHECKING:
    import pandas as pd

EXACT_HINT = "write them as fractions or decimals in text, or take channel.normalise of it"
MAX_CELL_CHARS = 12  # characters of an entry that is shown as it is
MAX_PRINTED_ROWS, MAX_PRINTED_COLUMNS = 18, 16  # of a channel that is printed


Relabelling: TypeAlias = Iterable[Label] | Mapping[Label, Label] | Callable[[Label], Label] | Space


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Channel:
    """Entry [x, y] is the probability of output y given input x.

    `Channel(rows)` takes lists, an array of numpy, a data frame of pandas (its index and columns are the labels) or a
    sparse matrix of scipy; `Channel(rows, inputs=…, outputs=…)` names its rows and columns, else they are 0, 1, …
    `Channel(inputs, outputs, rows)` is the same.

    The entries are all exact (`Fraction` or `Real`, rows that sum to exactly 1) or all floats (rows that sum to 1
    within 1e-9). What is computed from exact entries is exact, from floats a float: `normalise` makes them exact.

    >>> Channel(np.array([[0.25, 0.75], [0.5, 0.5]]))
    <Channel: 2 inputs, 2 outputs, float entries>
    >>> Channel([["1/4", "3/4"]], inputs=["low"], outputs=["no", "yes"]).column("yes")
    array([Fraction(3, 4)], dtype=object)
    """

    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]
    rows: Matrix

    @overload
    def __init__(
        self, rows: object, *, inputs: Iterable[Label] | None = None, outputs: Iterable[Label] | None = None
    ) -> None: ...

    @overload
    def __init__(self, inputs: Iterable[Label], outputs: Iterable[Label], rows: object) -> None: ...

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Check the shape, the labels and the rows; read entries that are text."""
        inputs, outputs, matrix = _read_parts(*_parts(arguments, options))
        check_rows(matrix, inputs, outputs)
        _set_parts(self, inputs, outputs, matrix)

    def __reduce__(self) -> tuple[Any, ...]:
        """Labels and entries alone: they were checked when it was made."""
        return trusted_channel, (self.inputs, self.outputs, self.rows)

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "float"
        return f"<Channel: {len(self.inputs)} inputs, {len(self.outputs)} outputs, {kind} entries>"

    def _repr_html_(self) -> str:
        return report_html(self, "channel")

    def plot(self) -> Figure:
        """A heat map of its entries, or some of its laws where it is large."""
        return draw_figure(self, "channel")

    def __str__(self) -> str:
        """The entries, the first rows and columns of many."""
        return preview_text(self, MAX_PRINTED_ROWS, MAX_PRINTED_COLUMNS)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The entries for numpy: the nearest doubles; exact where they are exact and dtype=object is asked for.

        >>> np.asarray(channel([["1/4", "3/4"]]))
        array([[0.25, 0.75]])
        """
        wanted = np.dtype(float if dtype is None else dtype)
        if wanted == self.rows.dtype:
            return self.rows.copy() if copy else self.rows
        if copy is False:
            raise ValueError(f"entries of {self.rows.dtype} cannot be {wanted} without a copy")
        return self.rows.astype(wanted)

    @property
    def exact(self) -> bool:
        """Are its entries exact."""
        return self.rows.dtype == object

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        same = self.inputs == other.inputs and self.outputs == other.outputs
        return same and bool(np.all(self.rows == other.rows))

    def __hash__(self) -> int:
        return hash((self.inputs, self.outputs))

    def column(self, output: Label) -> Matrix:
        """The likelihoods of one output."""
        return self.rows[:, _label_position(self.outputs, output, "output")]

    def row(self, x: Label) -> Matrix:
        """The law of the output given one input."""
        law: Matrix = self.rows[_label_position(self.inputs, x, "input")]
        return law

    def then(self, post: Channel | Mechanism) -> Channel:
        """Post-processing: what comes out of this goes into `post` (matrix product), matched by label."""
        following = channel_of(post)
        positions = label_positions(following.inputs, self.outputs)
        if positions is None:
            raise ChannelError(
                "channels that are composed must meet: the second one's inputs must be the first one's outputs, in any "
                f"order{_unmatched_text(following.inputs, self.outputs)}"
            )
        return trusted_channel(self.inputs, following.outputs, matrix_product(self.rows, following.rows[positions]))

    def restrict(self, inputs: Iterable[Label]) -> Channel:
        """The same channel on some of its inputs, in the order given."""
        labels = tuple(inputs)
        positions = [_label_position(self.inputs, x, "input") for x in labels]
        if not positions:
            raise InputError("inputs must name at least one input to keep", "inputs")
        return trusted_channel(labels, self.outputs, self.rows[positions])

    def relabel(self, inputs: Relabelling | None = None, outputs: Relabelling | None = None) -> Channel:
        """The same entries under other labels: a list in order, a space's points, or a dict or function of the old.

        A dict may leave out labels that stay.

        >>> channel([[1, 0], [0, 1]]).relabel(["home", "work"], {1: "out"}).outputs
        (0, 'out')
        """
        ins, outs = _new_labels(self.inputs, inputs, "inputs"), _new_labels(self.outputs, outputs, "outputs")
        return trusted_channel(ins, outs, self.rows)

    def in_order(self) -> Channel:
        """The same channel with its inputs in increasing order, where they are numbers or text of such: 2 or "1/4"."""
        values = numeric_labels(self.inputs)
        if values is None:
            return self
        order = sorted(range(len(values)), key=values.__getitem__)
        labels = tuple(self.inputs[k] for k in order)
        return self if labels == self.inputs else trusted_channel(labels, self.outputs, self.rows[order])

    def floats(self) -> npt.NDArray[np.float64]:
        """The entries as doubles."""
        return self.rows.astype(float)

    def to_pandas(self) -> pd.DataFrame:
        """The entries as a data frame of doubles: a row for each input, a column for each output."""
        pandas = import_frames("pandas")
        index, columns = pandas.Index(self.inputs, name="input"), pandas.Index(self.outputs, name="output")
        frame: pd.DataFrame = pandas.DataFrame(self.floats(), index=index, columns=columns)
        return frame

    def to_csv(self) -> str:
        """The text of a CSV file, entries as they are: `read_channel` and `parse_channel` read it back equal."""
        from utmost.channel.files import to_csv

        return to_csv(self)

    def to_json(self) -> str:
        """The text of a JSON file, entries and labels as they are."""
        from utmost.channel.files import json_text

        return json_text(self)


def _new_labels(labels: tuple[Label, ...], change: Relabelling | None, kind: str) -> tuple[Label, ...]:
    """The labels after a change: as many as before, all different."""
    if change is None:
        return labels
    if isinstance(change, Space):
        change = change.labels
    if isinstance(change, Mapping):
        unknown = [label for label in change if label not in labels]
        if unknown:
            raise InputError(
                f"{kind} must be those of the channel to be renamed, got {_names(unknown)} beyond them", kind
            )
        return check_labels([change.get(label, label) for label in labels], len(labels), kind)
    if callable(change):
        return check_labels([change(label) for label in labels], len(labels), kind)
    if isinstance(change, str):
        raise InputError(f"{kind} must be a list of labels, a dict or a function, got text", kind)
    return check_labels(change, len(labels), kind)


def preview_text(source: Channel, max_rows: int, max_columns: int) -> str:
    """Its entries as a table; of more rows or columns the first, and a line that says how many there are."""
    height, width = len(source.inputs), len(source.outputs)
    lines = slice(height if height <= max_rows else max_rows - 1)
    columns = slice(width if width <= max_columns else max_columns - 1)
    cells = [["", *map(str, source.outputs[columns])]]
    rows = zip(source.inputs[lines], source.rows[lines], strict=True)
    cells += [[str(x), *map(_entry_text, row[columns])] for x, row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    text = "\n".join("  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in cells)
    is_cut = height > max_rows or width > max_columns
    return f"{text}\n… of {height} rows and {width} columns" if is_cut else text


def channel(rows: object, inputs: Iterable[Label] | None = None, outputs: Iterable[Label] | None = None) -> Channel:
    """A checked channel. Entries: exact (ints, fractions, text such as "1/3") or floats, one kind only.

    >>> channel([["2/3", "1/3"], ["1/3", "2/3"]]).rows[0, 1]
    Fraction(1, 3)
    >>> channel([["2/3", "1/2"], ["1/3", "2/3"]])
    Traceback (most recent call last):
        ...
    utmost.errors.ChannelError: row 0 must sum to 1, got 7/6
    """
    return Channel(rows, inputs=inputs, outputs=outputs)


def normalise(rows: object, inputs: Iterable[Label] | None = None, outputs: Iterable[Label] | None = None) -> Channel:
    """The exact channel of non-negative weights: each row divided by its exact sum, a double as the fraction it is.

    A double is a whole multiple of a power of 2, so no entry is rounded. Of a float channel it is the exact channel
    that its doubles are nearest to: entries change by at most a factor 1 ± 1e-9.

    >>> normalise(np.array([[0.1, 0.3], [2, 2]])).exact, str(normalise([[1, 3]]).rows[0, 1])
    (True, '3/4')
    """
    if isinstance(rows, Channel):
        inputs, outputs = inputs or rows.inputs, outputs or rows.outputs
        rows = rows.rows
    ins, outs, matrix = _read_parts(inputs, outputs, rows)
    return trusted_channel(ins, outs, normal_rows(matrix, ins, outs))


def _parts(arguments: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """(inputs, outputs, rows) of the two ways to make a channel."""
    unknown = sorted(set(options) - {"inputs", "outputs", "rows"})
    if unknown:
        raise TypeError(f"Channel() got an unexpected argument {unknown[0]!r}")
    names = {1: ("rows",), 3: ("inputs", "outputs", "rows")}.get(len(arguments))
    if arguments and (names is None or set(names) & set(options)):
        raise TypeError("Channel() takes rows, inputs=… and outputs=…; or inputs, outputs and rows")
    given = {**dict(zip(names or (), arguments, strict=True)), **options}
    if "rows" not in given:
        raise TypeError("Channel() needs rows")
    return given.get("inputs"), given.get("outputs"), given["rows"]


def _read_parts(inputs: Any, outputs: Any, rows: Any) -> tuple[tuple[Label, ...], tuple[Label, ...], Matrix]:
    """Labels and entries, their shapes checked; the labels of a data frame where no others are given."""
    if isinstance(rows, Channel):
        raise ChannelError("rows must be a list of rows or an array, got Channel", "rows")
    index, columns = frame_labels(rows)
    matrix = rows_of(rows)
    width = row_width(matrix)
    ins = check_labels(index if inputs is None else inputs, len(matrix), "inputs")
    outs = check_labels(columns if outputs is None else outputs, width, "outputs")
    return ins, outs, entry_matrix(matrix, ins)


def _set_parts(target: Channel, inputs: Iterable[Label], outputs: Iterable[Label], rows: Matrix) -> None:
    for name, value in (("inputs", tuple(inputs)), ("outputs", tuple(outputs)), ("rows", read_only(rows))):
        object.__setattr__(target, name, value)


class Mechanism(Protocol):
    """Anything that has a channel, in closed form or not."""

    def channel(self) -> Channel:
        """Its matrix."""


def channel_of(source: Channel | Mechanism) -> Channel:
    """The channel itself, or that of a mechanism."""
    if isinstance(source, Channel):
        return source
    matrix = source.channel() if callable(getattr(type(source), "channel", None)) else None
    if not isinstance(matrix, Channel):
        raise InputError(f"a channel or a mechanism is needed, got {type(source).__name__}")
    return matrix


def trusted_channel(inputs: Iterable[Label], outputs: Iterable[Label], rows: Matrix) -> Channel:
    """A channel that is one by construction: its rows are not checked again."""
    result = object.__new__(Channel)
    _set_parts(result, inputs, outputs, rows)
    return result


def _entry_text(entry: Number | float) -> str:
    text = str(entry)
    return decimal(entry) if isinstance(entry, float) or len(text) > MAX_CELL_CHARS else text


def deterministic(mapping: Sequence[Label], inputs: Iterable[Label], outputs: Iterable[Label]) -> Channel:
    """The channel that sends the k-th input to mapping[k] for sure: a deterministic remap."""
    ins, outs = tuple(inputs), tuple(outputs)
    matrix = np.full((len(ins), len(outs)), Fraction(0), dtype=object)
    if len(mapping) != len(ins):
        raise InputError(f"a deterministic channel needs one output for each of {len(ins)} inputs, got {len(mapping)}")
    for k, target in enumerate(mapping):
        matrix[k, _label_position(outs, target, "output")] = Fraction(1)
    return trusted_channel(ins, outs, matrix)


def identity(labels: Iterable[Label]) -> Channel:
    """The channel that tells everything."""
    names = tuple(labels)
    return deterministic(names, names, names)


def mix(first: Channel | Mechanism, second: Channel | Mechanism, weight: object) -> Channel:
    """With probability `weight` the first channel, else the second; which one ran is not told (KL10's choice).

    Inputs and outputs are matched by label.
    """
    first, second = _with_same_inputs(first, second, "mixed")
    share = rational(weight, "weight")
    if not 0 <= share <= 1:
        raise InputError(f"weight must be in [0, 1], got {share}", "weight")
    outputs = tuple(dict.fromkeys(first.outputs + second.outputs))
    exact = first.exact and second.exact
    matrix = np.full((len(first.inputs), len(outputs)), Fraction(0) if exact else 0.0, dtype=object if exact else float)
    for source, factor in ((first, share), (second, 1 - share)):
        columns = [outputs.index(y) for y in source.outputs]
        matrix[:, columns] += source.rows * factor if exact else source.floats() * float(factor)
    return trusted_channel(first.inputs, outputs, matrix)


def choice(first: Channel | Mechanism, second: Channel | Mechanism, weight: object) -> Channel:
    """M ⊕_p M′: with probability p = `weight` the first channel, else the second, and the output says which.

    The columns of M times p beside those of M′ times 1 − p, labelled 1:y and 2:y. Each keeps its ratios, so the choice
    between two channels of a privacy type is of that type; and U_ℓ(π, M ⊕_p M′) = p·U_ℓ(π, M) + (1−p)·U_ℓ(π, M′).
    `mix` is the choice that is not told.

    >>> from utmost.channel import channel
    >>> print(choice(channel([["2/3", "1/3"], ["1/3", "2/3"]]), channel([[1], [1]]), "1/2"))
       1:0  1:1  2:0
    0  1/3  1/6  1/2
    1  1/6  1/3  1/2
    """
    first, second = _with_same_inputs(first, second, "chosen between")
    share = rational(weight, "weight")
    if not 0 <= share <= 1:
        raise InputError(f"weight must be in [0, 1], got {share}: it is the probability of the first channel", "weight")
    outputs = [f"{k}:{y}" for k, source in enumerate((first, second), 1) for y in source.outputs]
    if first.exact and second.exact:
        return trusted_channel(first.inputs, outputs, np.hstack([first.rows * share, second.rows * (1 - share)]))
    floats = first.floats() * float(share), second.floats() * float(1 - share)
    return trusted_channel(first.inputs, outputs, np.hstack(floats))


def _with_same_inputs(first: Channel | Mechanism, second: Channel | Mechanism, purpose: str) -> tuple[Channel, Channel]:
    """Two channels, the second with its inputs in the order of the first one's."""
    left, right = channel_of(first), channel_of(second)
    positions = label_positions(right.inputs, left.inputs)
    if positions is None:
        raise ChannelError(
            f"channels that are {purpose} must have the same inputs, in any order"
            f"{_unmatched_text(right.inputs, left.inputs)}"
        )
    return left, trusted_channel(left.inputs, right.outputs, right.rows[positions])


def merge(source: Channel | Mechanism) -> Channel:
    """Outputs with proportional columns told as one: nothing is lost, since they say the same of every secret.

    Outputs that never occur are dropped. A merged output is labelled by the labels it stands for.
    """
    source = channel_of(source)
    groups: dict[tuple[object, ...], list[int]] = {}
    for y in range(len(source.outputs)):
        column = source.rows[:, y]
        total = column.sum()
        if total:
            shape = column / total
            groups.setdefault(tuple(shape if source.exact else np.round(shape, 12)), []).append(y)
    outputs = tuple(
        source.outputs[g[0]] if len(g) == 1 else "+".join(str(source.outputs[y]) for y in g) for g in groups.values()
    )
    if len(set(outputs)) != len(outputs):
        raise ChannelError("merged outputs would share a label with another output: rename the outputs first")
    columns = [source.rows[:, group].sum(axis=1) for group in groups.values()]
    return trusted_channel(source.inputs, outputs, np.stack(columns, axis=1))


def matrix_product(left: Matrix, right: Matrix) -> Matrix:
    """The matrix product, exact if both are exact."""
    if left.dtype != object or right.dtype != object:
        return read_only(left.astype(float) @ right.astype(float))
    if any(isinstance(value, Real) for matrix in (left, right) for value in matrix.flat):
        return read_only(left @ right)
    return read_only(_rational_product(left, right))


def _rational_product(left: Matrix, right: Matrix) -> npt.NDArray[np.object_]:
    from flint import fmpq, fmpq_mat

    def matrix(source: Matrix) -> fmpq_mat:
        return fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in source])

    result = np.empty((left.shape[0], right.shape[1]), dtype=object)
    result[:] = [[Fraction(int(v.p), int(v.q)) for v in row] for row in (matrix(left) * matrix(right)).table()]
    return result


def read_only(matrix: Matrix) -> Matrix:
    """The same array, closed for writing."""
    matrix.flags.writeable = False
    return matrix


def channel_entry(source: Channel, x: int, y: int) -> Number:
    """One entry of an exact channel, by position."""
    if not source.exact:
        raise InputError("this question needs a channel with exact entries", hint=EXACT_HINT)
    value: Number = source.rows[x, y]
    return value


def label_positions(labels: Sequence[Label], order: Sequence[Label]) -> list[int] | None:
    """Where each label of `order` stands among `labels`; None unless they are the same labels, each once.

    A label matches the same label, or else the same text: files have text alone.

    >>> label_positions(["b", "a"], ["a", "b"]), label_positions(["1", "0"], [0, 1]), label_positions([0, 1], [0, 2])
    ([1, 0], [1, 0], None)
    """
    for key in (_same, str):
        positions = {key(label): k for k, label in enumerate(labels)}
        if len(positions) == len(labels) == len(order) and all(key(label) in positions for label in order):
            return [positions[key(label)] for label in order]
    return None


def numeric_labels(labels: Iterable[Label]) -> list[Fraction] | None:
    """The numbers that all labels are, or are the text of; None where one is not.

    >>> numeric_labels([2, "1/4"]), numeric_labels([0, "a"])
    ([Fraction(2, 1), Fraction(1, 4)], None)
    """
    try:
        return [Fraction(label) for label in labels]
    except (ValueError, TypeError, ZeroDivisionError):
        return None


def _same(label: Label) -> Label:
    return label


def _unmatched_text(labels: Sequence[Label], order: Sequence[Label]) -> str:
    """What to say of labels that are in one of two sets only."""
    unmatched = [*(x for x in order if x not in labels), *(x for x in labels if x not in order)]
    return f", got {str(unmatched[0])[:40]!r} in one of them only: rename it" if unmatched else ""


def _label_position(labels: tuple[Label, ...], label: Label, kind: str) -> int:
    try:
        return labels.index(label)
    except ValueError:
        raise InputError(f"{label!r} is not an {kind} of this channel") from None


MAX_LABEL_CHARS = 40  # of a label in a message
MAX_NAMED_LABELS = 3  # labels that a message names
SPACE_ADVICE = ": name the space whose points they are, such as graph:FILE"


def align_inputs(
    mechanism: Channel | Mechanism, secrets: Space | Iterable[Label], owner: str = "the secrets"
) -> Channel:
    """The channel with its inputs in the order of the secrets, which they must be, in any order.

    A label matches the same label, or else the same text: files have text alone. `owner` says whose secrets they are.

    >>> from utmost.channel import channel
    >>> align_inputs(channel([["2/3", "1/3"], ["1/3", "2/3"]], inputs=["b", "a"]), ["a", "b"]).rows[0, 0]
    Fraction(1, 3)
    >>> align_inputs(channel([[1], [1]]), ["a", "b"])
    Traceback (most recent call last):
        ...
    utmost.errors.InputError: the channel's inputs must be the secrets: a, b, in any order, got none called a, b
    """
    source = channel_of(mechanism)
    if isinstance(secrets, Space):
        _check_size(source, secrets)
        labels, owner, advice = secrets.labels, f"the points of {secrets.name}", SPACE_ADVICE
    else:
        labels, advice = tuple(secrets), ""
    positions = label_positions(source.inputs, labels)
    if positions is None:
        raise InputError(_mismatch_text(source.inputs, labels, owner) + advice)
    if source.inputs == labels:
        return source
    return trusted_channel(labels, source.outputs, source.rows[positions])


def align_exact_inputs(mechanism: Channel | Mechanism, space: Space) -> Channel:
    """`align_inputs`, where only exact entries will do."""
    source = align_inputs(mechanism, space)
    if not source.exact:
        raise InputError("this question needs a channel with exact entries", hint=EXACT_HINT)
    return source


def _check_size(source: Channel, space: Space) -> None:
    """Refuse a channel of another size before the points of a space are written out."""
    if len(source.inputs) != len(space):
        raise InputError(
            f"the channel's inputs must be the points of {space.name}, {len(space)} in any order, got "
            f"{len(source.inputs)} inputs{SPACE_ADVICE}"
        )


def _mismatch_text(inputs: Sequence[Label], labels: Sequence[Label], owner: str) -> str:
    requirement = f"the channel's inputs must be {owner}: {_names(labels)}, in any order"
    texts = {str(label) for label in inputs}
    missing = [label for label in labels if str(label) not in texts]
    if missing:
        return f"{requirement}, got none called {_names(missing)}"
    return f"{requirement}, got {len(inputs)} inputs for {len(labels)} secrets"


def _names(labels: Sequence[Label]) -> str:
    texts = [str(label)[:MAX_LABEL_CHARS] for label in labels]
    if len(texts) <= MAX_NAMED_LABELS + 1:
        return ", ".join(texts)
    return ", ".join([*texts[: MAX_NAMED_LABELS - 1], "…", texts[-1]])
