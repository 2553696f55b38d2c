"""Priors and losses from arrays, series, frames, dicts and functions: doubles are read exactly, labels are matched."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.consumer.losses import Loss, matrix, over, parse
from utmost.consumer.losses.table import MAX_TABLE_SIDE, Table
from utmost.consumer.priors import Prior
from utmost.consumer.priors import parse as parse_prior
from utmost.consumer.priors.explicit import Explicit
from utmost.consumer.priors.prior import MAX_PRIOR_POINTS, normalise
from utmost.errors import InputError
from utmost.exact import Number, sign
from utmost.exact.doubles import exact_value, has_doubles, kind_text
from utmost.spaces import Label, Space
from utmost.spaces.array_inputs import (
    column_list,
    column_names,
    index_labels,
    is_frame,
    is_series,
    is_sparse,
    label_of,
    labels_of,
    plain_list,
    plain_rows,
)
from utmost.spaces.shape import MAX_TABLE_POINTS, label_text

DISTANCE = "distance"  # the text of the loss that is the distance itself
MAX_NAMED_LABELS = 3  # labels that a message names
CALL_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # what a function of a user raises
SUMMED_TEXT = "weights over their sum"
DOUBLES_TEXT = "doubles over their exact sum"


@dataclass(frozen=True, slots=True)
class Secrets:
    """Whose prior and loss are read: the points of a space, or labels alone, or nothing yet."""

    labels: tuple[Label, ...] | None = None
    space: Space | None = None

    @property
    def owner(self) -> str:
        """Whose labels they are, in a message."""
        return "the secrets" if self.space is None else f"the points of {self.space.name[:40]}"


def read_secrets(secrets: Iterable[Label] | None, space: Space | None) -> Secrets:
    """The labels given, or those of a space: not both."""
    if space is None:
        return Secrets(None if secrets is None else _listed_labels(secrets))
    if not isinstance(space, Space):
        raise InputError(f"space must be a Space, got {type(space).__name__}", "space")
    if secrets is not None:
        raise InputError(
            "secrets must not be given beside space, whose points they are, got both", "secrets", "leave them out"
        )
    return Secrets(space.labels if len(space) <= MAX_TABLE_POINTS else None, space)


def _listed_labels(secrets: Any) -> tuple[Label, ...]:
    if not isinstance(secrets, Iterable):
        raise InputError(f"secrets must be labels, one for each weight, got {type(secrets).__name__}", "secrets")
    return tuple(label.item() if isinstance(label, np.generic) else label for label in secrets)


def read_prior(source: Any, secrets: Secrets, size: int | None) -> tuple[Prior, tuple[Label, ...] | None]:
    """The prior that a source means, and the labels of its weights, in order: those of the secrets, or its own.

    A `Prior` is one. Text is a prior by name. An array or a list has a weight for each secret, in order; a series or a
    dict by label; a function is called with each label. Weights are divided by their exact sum.

    >>> read_prior({"b": 0.25, "a": 0.25}, Secrets(("a", "b")), None)[0].exact()
    (Fraction(1, 2), Fraction(1, 2))
    """
    if isinstance(source, Prior):
        return source, secrets.labels
    if isinstance(source, str):
        return _named_prior(source, secrets, size), secrets.labels
    labels, values = _labelled_weights(source, secrets)
    if not 1 <= len(values) <= MAX_PRIOR_POINTS:
        raise InputError(f"prior must have 1 to {MAX_PRIOR_POINTS} weights, got {len(values)}", "prior")
    weights = tuple(exact_value(value, "prior") for value in values)
    _check_weights(weights, labels)
    total = sum(weights, Fraction(0))
    if total == 1:
        return Explicit(weights), labels
    return Explicit(normalise(weights), DOUBLES_TEXT if has_doubles(values) else SUMMED_TEXT), labels


def _named_prior(text: str, secrets: Secrets, size: int | None) -> Prior:
    if secrets.labels is not None:
        size = len(secrets.labels)
    elif secrets.space is not None:
        size = len(secrets.space)
    if size is None:
        raise InputError(
            f"a prior by name must say for how many secrets, got {text[:40]!r} alone", "prior", "say space=…"
        )
    return parse_prior(text, size)


def _labelled_weights(source: Any, secrets: Secrets) -> tuple[tuple[Label, ...] | None, Sequence[Any]]:
    """The weights in the order of the secrets, and the labels."""
    if callable(source) and not hasattr(source, "__array__"):
        if secrets.labels is None:
            raise InputError(
                "a prior that is a function must have secrets to ask it of, got none", "prior", "say space=…"
            )
        return secrets.labels, [_called(source, (label,), "prior", label_text(label)) for label in secrets.labels]
    if is_frame(source):
        source = _only_column(source)
    if isinstance(source, Mapping):
        own: tuple[Label, ...] | None = labels_of(source)
        values = list(source.values())
    else:
        own = index_labels(source) if is_series(source) else None
        values = plain_list(source, "prior")
    if any(isinstance(value, list | tuple | np.ndarray) for value in values):
        raise InputError(
            "prior must be flat, one weight for each secret, got rows of them", "prior", "take its .ravel()"
        )
    if own is None or secrets.labels is None:
        return own or secrets.labels, values
    order = match_labels(own, secrets.labels, "prior", secrets.owner)
    return secrets.labels, [values[k] for k in order]


def _only_column(frame: Any) -> Any:
    columns = column_names(frame)
    if len(columns) != 1:
        raise InputError(
            f"prior must be one column, got a frame of {len(columns)}", "prior", 'choose it: frame["name"]'
        )
    return frame[columns[0]]


def _check_weights(weights: Sequence[Number], labels: Sequence[Label] | None) -> None:
    for k, weight in enumerate(weights):
        if sign(weight) < 0:
            whose = f" for {label_text(labels[k])}" if labels and len(labels) == len(weights) else ""
            raise InputError(
                f"prior must have weights >= 0, got a negative one{whose}", "prior", "a weight is a probability"
            )
    if not any(weights):
        raise InputError(
            "prior must have a weight above 0, got zeros alone", "prior", "a weight is a probability, up to a factor"
        )


def match_labels(own: Sequence[Label], wanted: Sequence[Label], name: str, owner: str) -> list[int]:
    """Where each wanted label stands among one's own; labels that are in one of the two only are named.

    >>> match_labels(["b", "a"], ["a", "b"], "prior", "the secrets")
    [1, 0]
    """
    positions = {str(label): k for k, label in enumerate(own)}
    if len(positions) != len(own):
        raise InputError(f"{name} must have distinct labels, got {len(own)} with {len(positions)} names", name)
    texts = [str(label) for label in wanted]
    missing = [text for text in texts if text not in positions]
    known = set(texts)
    unknown = [text for text in positions if text not in known]
    if missing or unknown:
        parts = [f"none for {_some(missing)}"] if missing else []
        parts += [f"{_some(unknown)} beyond them"] if unknown else []
        raise InputError(f"{name} must have the labels of {owner}, got {' and '.join(parts)}", name)
    return [positions[text] for text in texts]


def _some(labels: Sequence[str]) -> str:
    shown = ", ".join(map(label_text, labels[:MAX_NAMED_LABELS]))
    return f"{shown} and {len(labels) - MAX_NAMED_LABELS} more" if len(labels) > MAX_NAMED_LABELS else shown


def read_loss(source: Any, secrets: Secrets) -> Loss:
    """The loss that a source means; on a space, a loss of the distance of truth and reading.

    A `Loss` is one, text is one by name, and "distance" the distance itself. An array, rows or a frame are its entries:
    a row for each secret, a column for each reading. A function takes the distance, or (guess, truth), two labels.

    >>> from utmost.spaces import line
    >>> str(read_loss(lambda distance: distance**2 / 2, Secrets((0, 1, 2), line(3))).exact(0, 2))
    '2'
    """
    if isinstance(source, Loss):
        return source if secrets.space is None else over(source, secrets.space)
    if isinstance(source, str):
        return _named_loss(source, secrets.space)
    if callable(source) and not hasattr(source, "__array__"):
        return _loss_of_function(source, secrets)
    return _loss_of_entries(source, secrets)


def permuted_loss(loss: Loss, positions: Sequence[int], labels: tuple[Label, ...]) -> Loss:
    """The loss with its secrets in another order, its readings too where they are the secrets."""
    if loss.ignores_order:
        return loss
    entries = loss.matrix(len(positions))[positions]
    if entries.shape[1] == len(positions):
        entries = entries[:, positions]
    return Table(tuple(map(tuple, entries.tolist())), loss.name, labels)


def _named_loss(text: str, space: Space | None) -> Loss:
    if text.strip() == DISTANCE:
        if space is None:
            raise InputError("the loss distance must have a space to measure it in, got none", "loss", "say space=…")
        text = "absolute"
    loss = parse(text)
    return loss if space is None else over(loss, space)


def _loss_of_entries(source: Any, secrets: Secrets) -> Table:
    """A loss given entry by entry, doubles as the fractions that they are."""
    labels, rows = secrets.labels, source
    if is_sparse(source):
        rows = source.toarray()
    if is_frame(source):
        labels, rows = _frame_entries(source, secrets)
    lines = plain_rows(rows, "loss")
    if len(lines) > MAX_TABLE_SIDE or (lines and len(lines[0]) > MAX_TABLE_SIDE):
        raise InputError(f"loss must have at most {MAX_TABLE_SIDE} rows and columns, got more", "loss")
    if labels is not None and len(lines) != len(labels):
        raise InputError(f"loss must have {len(labels)} rows, one for each secret, got {len(lines)}", "loss")
    numbers: dict[object, Number] = {}
    exacts = [[_entry(value, numbers) for value in line] for line in lines]
    return Table(matrix(exacts).rows, "matrix", labels)


def _entry(value: Any, numbers: dict[object, Number]) -> Number:
    """The exact entry; one object for equal doubles, which are then converted once."""
    key = (type(value), value) if isinstance(value, float | int | str) else id(value)
    if key not in numbers:
        numbers[key] = exact_value(value, "loss")
    return numbers[key]


def _frame_entries(frame: Any, secrets: Secrets) -> tuple[tuple[Label, ...] | None, list[list[Any]]]:
    """The entries of a frame: rows in the order of the secrets; columns too, where they have the same labels."""
    columns = column_names(frame)
    heads, own = tuple(label_of(column) for column in columns), index_labels(frame)
    lists = [column_list(frame, column) for column in columns]
    rows = [list(row) for row in zip(*lists, strict=True)]
    labels = secrets.labels or own
    if labels is None:
        return None, rows
    if own is not None:
        rows = [rows[k] for k in match_labels(own, labels, "loss", secrets.owner)]
    if {str(head) for head in heads} == {str(label) for label in labels}:
        order = match_labels(heads, labels, "loss", secrets.owner)
        rows = [[row[k] for k in order] for row in rows]
    return labels, rows


def _loss_of_function(function: Callable[..., Any], secrets: Secrets) -> Table:
    names = _argument_names(function)
    if len(names) == 1:
        return _loss_of_distance(function, secrets)
    if len(names) != 2:
        raise InputError(
            f"loss must be a function of the distance, or of (guess, truth), got one of {len(names)} arguments", "loss"
        )
    labels = secrets.labels
    if labels is None:
        raise InputError("a loss of (guess, truth) must have secrets to ask it of, got none", "loss", "say space=…")
    _check_side(len(labels))
    is_swapped = tuple(name.lower() for name in names) == ("truth", "guess")
    rows = []
    for truth in labels:
        pairs = ((truth, guess) if is_swapped else (guess, truth) for guess in labels)
        rows.append(tuple(_loss_value(function, pair, ", ".join(map(label_text, pair))) for pair in pairs))
    return Table(tuple(rows), "function of guess and truth", labels)


def _loss_of_distance(function: Callable[..., Any], secrets: Secrets) -> Table:
    space = secrets.space
    if space is None:
        raise InputError("a loss of the distance must have a space to measure it in, got none", "loss", "say space=…")
    _check_side(len(space))
    values = [_loss_value(function, (distance,), label_text(distance)) for distance in space.values]
    rows = tuple(tuple(values[code] for code in codes) for codes in space.codes.tolist())
    return Table(rows, "function of the distance", space.labels)


def _check_side(size: int) -> None:
    if size > MAX_TABLE_SIDE:
        raise InputError(f"a loss by a function must be on at most {MAX_TABLE_SIDE} secrets, got {size}", "loss")


def _argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The arguments that must be given, in order; one where they cannot be told."""
    count = getattr(function, "nin", None)  # of a ufunc of numpy
    if isinstance(count, int):
        return ("distance",) * count
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ("distance",)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p.name for p in positional if p.default is p.empty]
    return tuple(required) or ("distance",)


def _loss_value(function: Callable[..., Any], arguments: tuple[Any, ...], place: str) -> Number:
    value = _called(function, arguments, "loss", place)
    if sign(value) < 0:
        raise InputError(f"loss must be >= 0, got {label_text(value)} at {place}", "loss", "add a constant")
    return value


def _called(function: Callable[..., Any], arguments: tuple[Any, ...], name: str, place: str) -> Number:
    """What a function of a user returns, exact: a number, or True or False for 1 and 0.

    Distances are given as exact numbers; to a function that cannot compute with those, as doubles.
    """
    try:
        value = function(*arguments)
    except CALL_ERRORS as problem:
        try:
            value = function(*map(float, arguments))
        except CALL_ERRORS:
            kind = type(problem).__name__
            raise InputError(
                f"{name} must be a function that returns a number, raised {kind} at {place}", name
            ) from problem
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_):
        return Fraction(int(value))
    if isinstance(value, str) or value is None or isinstance(value, complex):
        raise InputError(f"{name} must be a function that returns a number, got {kind_text(value)} at {place}", name)
    try:
        return exact_value(value, name)
    except InputError as problem:
        raise InputError(f"{problem.message} at {place}", name, problem.hint) from None
