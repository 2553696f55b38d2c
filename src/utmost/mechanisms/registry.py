"""All mechanisms that can be chosen by name. A new one is a module here and a line in `MECHANISMS`."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from utmost.channel import Channel
from utmost.errors import InputError
from utmost.exact import Level
from utmost.mechanisms.exponential import EXPONENTIAL
from utmost.mechanisms.geometric import GEOMETRIC
from utmost.mechanisms.laplace import LAPLACE
from utmost.mechanisms.mechanism_kind import SIZE, BuiltMechanism, MechanismKind, Option
from utmost.mechanisms.planar import PLANAR
from utmost.mechanisms.planar_geometric import PLANAR_GEOMETRIC
from utmost.mechanisms.randomised_response import RESPONSE, RESPONSE_DUAL
from utmost.mechanisms.staircase import STAIRCASE
from utmost.noise import check_level
from utmost.spaces import Space

MECHANISMS: tuple[MechanismKind, ...] = (
    GEOMETRIC,
    LAPLACE,
    PLANAR,
    PLANAR_GEOMETRIC,
    RESPONSE,
    RESPONSE_DUAL,
    EXPONENTIAL,
    STAIRCASE,
)


def names() -> list[str]:
    """The names of all mechanisms."""
    return [kind.name for kind in MECHANISMS]


def sized_names() -> list[str]:
    """The names of those that a size and a level determine."""
    return [kind.name for kind in MECHANISMS if kind.required == (SIZE,)]


def space_names() -> list[str]:
    """The names of those that have a channel on a space."""
    return [kind.name for kind in MECHANISMS if kind.on_space is not None]


def channel_on(name: str, space: Space, level: Level) -> Channel:
    """The channel of a mechanism from the points of a space to these points: ε·d-private for the space's distances.

    `geometric` and `laplace` need a line, `staircase` counts at distance ⌈|x − x′|/Δ⌉, `planar` places that fill a
    grid; the others go on any space. `response` answers any other point alike, so its level is that of the nearest two
    points. `exponential` answers y with probability ∝ e^(−ε·d(x,y)/2). Where its entries and those of `planar` are
    irrational they are fractions as near as `space_channels` says.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import grid, line
    >>> str(channel_on("geometric", line(3), alpha("1/2")).rows[0, 0])
    '2/3'
    >>> channel_on("exponential", grid(2, 2), alpha("1/2")).inputs
    ('0,0', '0,1', '1,0', '1,1')
    >>> channel_on("geometric", grid(2, 2), alpha("1/2"))
    Traceback (most recent call last):
        ...
    utmost.errors.InputError: geometric needs a line with equal steps, got grid:2x2: choose another mechanism
    """
    kind = find_on_space(name)
    space.check_table_size()
    assert kind.on_space is not None
    return kind.on_space(space, check_level(level))


def find_on_space(name: str) -> MechanismKind:
    """The mechanism of this name, if it has a channel on a space."""
    choices = space_names()
    if name not in choices:
        matches = get_close_matches(str(name).lower().replace("_", "-"), choices, 1, 0.5)
        raise InputError(
            f'mechanism must be {", ".join(choices)}, got "{str(name)[:40]}"',
            "mechanism",
            f"did you mean {matches[0]}?" if matches else None,
        )
    return find(name)


def options() -> list[Option]:
    """The options of all mechanisms, each once."""
    return list({option.name: option for kind in MECHANISMS for option in kind.options}.values())


def find(name: str) -> MechanismKind:
    """The mechanism of this name."""
    for kind in MECHANISMS:
        if kind.name == name:
            return kind
    matches = get_close_matches(name.lower(), names(), 1, 0.5)
    raise InputError(
        f'NAME must be {", ".join(names())}, or a file that ends in .csv or .json, got "{name[:40]}"',
        "NAME",
        f"did you mean {matches[0]}?" if matches else "no other mechanism is built in",
    )


def build(name: str, given: Mapping[str, str], level: Level) -> BuiltMechanism:
    """The mechanism of this name; every option is checked before anything is drawn.

    >>> from utmost.exact import alpha
    >>> build("geometric", {"size": "5"}, alpha("1/2")).rows
    'counts 0 to 5'
    """
    kind = find(name)
    check_options(kind, given)
    return kind.build(given, level)


def check_options(kind: MechanismKind, given: Mapping[str, str]) -> None:
    """Refuse options that the mechanism does not take, and the lack of one that it needs."""
    allowed = [option.name for option in kind.options]
    for name in given:
        if name not in allowed:
            taken = ", ".join(f"--{option}" for option in allowed)
            raise InputError(f"--{name} must not be given for {kind.name}: it takes {taken}", f"--{name}")
    for option in kind.required:
        if option.name not in given:
            raise InputError(
                f"--{option.name} must be given for {kind.name}, got none",
                f"--{option.name}",
                "see utmost mechanism --help",
            )
