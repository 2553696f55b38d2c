"""A mechanism that is read from a file: its whole matrix."""

from __future__ import annotations

from functools import cache

from utmost.channel import Channel, PrivacyLoss, files, least_epsilon
from utmost.errors import InputError
from utmost.exact import Number, number
from utmost.mechanisms.mechanism_kind import BuiltMechanism
from utmost.mechanisms.randomised_response import pairwise_privacy_loss
from utmost.noise import channel_sampler, draw_channel
from utmost.spaces import line, parse_space


def read_mechanism(path: str, space: str | None) -> BuiltMechanism:
    """The channel in a .csv or .json file; `space` says how far its inputs are apart.

    Without one, inputs that are the counts from 0 on are neighbours if they differ by 1, others any two.
    """
    source = files.read_channel(path)
    points = None if space is None else parse_space(space)
    sampler, size = cache(lambda: channel_sampler(source)), len(source.inputs)
    are_counts = set(map(str, source.inputs)) == set(map(str, range(size)))

    def privacy_loss(channel: Channel) -> PrivacyLoss:
        if points is None and not are_counts:
            return pairwise_privacy_loss(channel)
        return least_epsilon(channel, line(size) if points is None else points)

    return BuiltMechanism(
        "The channel in the file",
        "inputs",
        lambda: source,
        privacy_loss,
        lambda text: _find_input(text, source),
        lambda x, count: [source.outputs[y] for y in draw_channel(sampler(), [x] * count).tolist()],
        None,
        space=space or (f"line:{size}" if are_counts else f"discrete:{size}"),
        neighbours_remark="" if points is not None else _neighbours_remark(size, are_counts),
    )


def _neighbours_remark(size: int, are_counts: bool) -> str:
    if are_counts:
        return f"Inputs that differ by 1 were taken for neighbours, since they are the counts 0 to {size - 1}."
    return (
        "Any two inputs were taken for neighbours, since they are no counts from 0 on; --space says how far they are."
    )


def _find_input(text: str, source: Channel) -> int:
    """The index of an input by its label: as it is spelled, else the one that is the same number, as 0.5 is 1/2."""
    label = files.read_label(text)
    if label in source.inputs:
        return source.inputs.index(label)
    value = _number_or_none(text)
    matches = [
        x for x, candidate in enumerate(source.inputs) if value is not None and _number_or_none(candidate) == value
    ]
    if len(matches) != 1:
        raise InputError("--input must be an input of the channel in the file, spelled as there", "--input")
    return matches[0]


def _number_or_none(label: object) -> Number | None:
    try:
        return number(label)
    except InputError:
        return None
