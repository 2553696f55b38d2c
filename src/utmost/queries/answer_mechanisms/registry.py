"""The mechanisms that a release may name: one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice
from utmost.queries.answer_mechanisms.choice import ChoiceMechanism, PermuteAndFlip, QuantileTree, RepeatedChoice
from utmost.queries.answer_mechanisms.found import FoundMechanism
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism
from utmost.queries.answer_mechanisms.ratio import RatioMechanism
from utmost.queries.answer_mechanisms.selection import SelectionMechanism
from utmost.queries.answer_mechanisms.variance import VarianceMechanism

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields

ANSWER_MECHANISMS: dict[str, type[AnswerMechanism]] = {
    GeometricLattice.name: GeometricLattice,
    GaussianLattice.name: GaussianLattice,
    CanonicalLattice.name: CanonicalLattice,
    RatioMechanism.name: RatioMechanism,
    ChoiceMechanism.name: ChoiceMechanism,
    PermuteAndFlip.name: PermuteAndFlip,
    RepeatedChoice.name: RepeatedChoice,
    QuantileTree.name: QuantileTree,
    SelectionMechanism.name: SelectionMechanism,
    VarianceMechanism.name: VarianceMechanism,
    FoundMechanism.name: FoundMechanism,
}


def parse_mechanism(fields: Fields) -> AnswerMechanism:
    """The mechanism in the fields of a release file."""
    mechanism = ANSWER_MECHANISMS.get(fields.text("name"))
    if mechanism is None:
        *names, last = ANSWER_MECHANISMS
        raise InputError(f"mechanism must be {', '.join(names)} or {last}", "mechanism", context="release")
    return mechanism.parse(fields)


def mechanism_schemas() -> dict[str, Any]:
    """The JSON schemas of all mechanisms, by name."""
    return {name: mechanism.schema() for name, mechanism in ANSWER_MECHANISMS.items()}
