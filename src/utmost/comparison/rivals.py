"""The mechanisms that are compared: by name, on any space that they are made for, or channels of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.channel import Channel, Mechanism, align_inputs, channel_of
from utmost.channel.channel import trusted_channel
from utmost.consumer import Consumer
from utmost.design import Design, optimal
from utmost.errors import InputError, MetricError
from utmost.exact import Level
from utmost.mechanisms import channel_on
from utmost.mechanisms.registry import space_names
from utmost.spaces import Space

if TYPE_CHECKING:
    import numpy as np

RivalLike: TypeAlias = str | Channel | Mechanism | tuple[str, Channel | Mechanism]
Progress: TypeAlias = Callable[[str], None]  # the name of the mechanism that is made next

OPTIMUM, SILENCE = "optimal", "silence"
MAX_COMPARED_POINTS = 600  # of a space
MAX_COMPARED = 50  # mechanisms
MAX_NAME_CHARS = 40
FREE_CHOICE = "or a channel from the points of the space"


@dataclass(frozen=True, slots=True, eq=False)
class RefusedMechanism:
    """A mechanism that the space or the level does not suit, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Rival:
    """A mechanism by its name, and what it is: a name of ours, or a channel."""

    name: str
    source: str | Channel


@dataclass(frozen=True, slots=True, eq=False)
class MadeRival:
    """Its channel from the points of the space; the optimum comes with its design."""

    name: str
    channel: Channel
    design: Design | None = None


def rival_names() -> list[str]:
    """All names: the certified optimum, the mechanisms that have a channel on a space, and silence."""
    return [OPTIMUM, *space_names(), SILENCE]


def parse_rivals(mechanisms: Sequence[RivalLike] | None, space: Space) -> list[Rival]:
    """Names and channels as rivals, each name once; all that are built in where none are given."""
    items: Any = rival_names() if mechanisms is None else mechanisms
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise InputError(f"mechanisms must be a list of names and channels, got {type(items).__name__}", "mechanisms")
    if not 1 <= len(items) <= MAX_COMPARED:
        raise InputError(f"mechanisms must be 1 to {MAX_COMPARED} names or channels, got {len(items)}", "mechanisms")
    rivals = [_parse_rival(item, k, space) for k, item in enumerate(items, start=1)]
    names = [rival.name for rival in rivals]
    repeated = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if repeated is not None:
        raise InputError(
            f'mechanisms must have different names, got "{repeated}" twice',
            "mechanisms",
            'name a channel of your own with a pair, ("mine", channel)',
        )
    return rivals


def _parse_rival(item: Any, number: int, space: Space) -> Rival:
    if isinstance(item, str):
        return Rival(check_name(item), item)
    named = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
    name, source = item if named else (f"channel {number}", item)
    if named and not 1 <= len(name) <= MAX_NAME_CHARS:
        raise InputError(f"a mechanism's name must have 1 to {MAX_NAME_CHARS} characters", "mechanisms")
    if not isinstance(source, Channel) and not hasattr(source, "channel"):
        raise InputError(
            f"mechanisms must be names or channels, got {type(source).__name__}", "mechanisms", "see utmost.channel"
        )
    return Rival(name, align_inputs(channel_of(source), space))


def check_name(name: str) -> str:
    """A name of ours, or the refusal of one that is not."""
    if name not in rival_names():
        matches = get_close_matches(name.lower().replace("_", "-"), rival_names(), 1, 0.5)
        raise InputError(
            f'mechanism must be {", ".join(rival_names())}, {FREE_CHOICE}, got "{name[:MAX_NAME_CHARS]}"',
            "mechanism",
            f"did you mean {matches[0]}?" if matches else None,
        )
    return name


def make_rival(
    rival: Rival, space: Space, level: Level, consumer: Consumer, progress: Progress | None = None
) -> MadeRival | RefusedMechanism:
    """The rival's channel at the level, or why it has none there."""
    if progress is not None:
        progress(rival.name)
    if isinstance(rival.source, Channel):
        return MadeRival(rival.name, rival.source)
    if rival.source == OPTIMUM:
        design = optimal(space, level, consumer)
        return MadeRival(rival.name, design.channel, design)
    if rival.source == SILENCE:
        return MadeRival(rival.name, trusted_channel(space.labels, ["silence"], _ones(len(space))))
    try:
        return MadeRival(rival.name, channel_on(rival.source, space, level))
    except (InputError, MetricError) as refusal:
        return RefusedMechanism(rival.name, str(refusal))


def _ones(size: int) -> np.ndarray[Any, Any]:
    from fractions import Fraction

    import numpy as np

    return np.full((size, 1), Fraction(1), dtype=object)


def check_compared_size(space: Space) -> None:
    """Refuse a space on which mechanisms are too large to be compared."""
    if len(space) > MAX_COMPARED_POINTS:
        raise InputError(
            f"{space.name[:MAX_NAME_CHARS]} has {len(space) if len(space) < 10**15 else 'too many'} points, and "
            f"mechanisms are compared on at most {MAX_COMPARED_POINTS}",
            "space",
            "take fewer points; utmost type says what any mechanism on it can tell at most",
        )
