"""Mechanisms that are chosen by name: what each takes, as text, and what can be done with one that is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.channel import Channel, PrivacyLoss
    from utmost.exact import Level


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
    """A mechanism that can be chosen by name. `build` gets the texts of its options by their names, and the level."""

    name: str
    required: tuple[Option, ...]
    optional: tuple[Option, ...]
    build: Callable[[Mapping[str, str], Level], BuiltMechanism]

    @property
    def options(self) -> tuple[Option, ...]:
        """All options, those that must be given first."""
        return self.required + self.optional
