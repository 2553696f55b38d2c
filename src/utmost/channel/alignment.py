"""Match channels by label: the rows of a channel in the order that a prior, a loss, a space or another channel has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from utmost.channel.channel import Channel, Label, Mechanism, channel_of, label_positions, trusted_channel
from utmost.errors import InputError
from utmost.spaces import Space

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
        raise InputError(
            "this question needs a channel with exact entries", hint="write them as fractions or decimals in text"
        )
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
