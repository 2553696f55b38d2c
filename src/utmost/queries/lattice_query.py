"""What queries share that are answered with noise on one whole number, or on one for each cell."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from utmost.queries.answer_mechanisms.canonical import CanonicalLattice, canonical_lattice
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, LatticeMechanism, PreparedNoise, prepare_noise
from utmost.queries.answer_mechanisms.mechanism import AccuracyTarget, ConfidenceLaw, Drawn, ErrorLaw
from utmost.queries.moves import Moves
from utmost.queries.query import (
    GAUSSIAN_CLAIM,
    NO_CANONICAL_CLAIM,
    PER_CELL_CANONICAL_CLAIM,
    UNIVERSAL_CANONICAL_CLAIM,
    AnswerDraw,
    ExactAnswer,
    Query,
    SelectedMechanism,
)

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting


MAX_LEDGER_STEPS = 1024  # that canonical noise may move by where a ledger composes its own law; beyond, (ε, δ) alone
CANONICAL_CLAIMS = {"universal": UNIVERSAL_CANONICAL_CLAIM, "per cell": PER_CELL_CANONICAL_CLAIM}  # by the geometric


class LatticeQuery(Query):
    """A query whose mechanism is always a lattice; its value is a whole number unless the kind says otherwise."""

    __slots__ = ()

    def moves(self, setting: PrivacySetting) -> Moves:
        """How far a unit moves the number, or those of all cells; of one number by at most the sensitivity."""
        return Moves.each(1, self.select_mechanism(Fraction(1), setting).sensitivity)

    def select_gaussian(self, rho: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Gaussian noise on the same lattice."""
        return gaussian_selection(self.select_mechanism(Fraction(1), setting), self.moves(setting), rho)

    def select_canonical(self, epsilon: Fraction, delta: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Canonical noise on the same lattice: the numbers move by at most the sensitivity in all."""
        return canonical_selection(self.select_mechanism(epsilon, setting), epsilon, delta)

    def actual_rho(self, mechanism: GaussianLattice, setting: PrivacySetting) -> Fraction:
        """Half the squared length of the moves over the variance."""
        return self.moves(setting).squared / (2 * mechanism.variance)

    def actual_epsilon(self, mechanism: GeometricLattice | CanonicalLattice, setting: PrivacySetting) -> Fraction:
        """The ε of a step times the sensitivity."""
        return mechanism.step_epsilon() * self.select_mechanism(Fraction(1), setting).sensitivity

    def prepare_draw(self, mechanism: LatticeMechanism) -> AnswerDraw:
        """The number with noise."""
        return partial(_draw_number, prepare_noise(mechanism))

    def prepare_cells_draw(self, mechanism: LatticeMechanism, number: int) -> AnswerDraw:
        """Each cell with its own noise, all drawn at once."""
        return partial(_draw_cells, prepare_noise(mechanism))

    def value_room(self, mechanism: LatticeMechanism) -> int:
        """Room for one number, or for one in each cell."""
        return mechanism.room(len(self.cells) or 1)

    def error_law(self, mechanism: LatticeMechanism) -> ErrorLaw:
        """That of each number."""
        return mechanism.error_law()

    def confidence_law(self, mechanism: LatticeMechanism, target: AccuracyTarget) -> ConfidenceLaw:
        """That of each number, or of all at once."""
        return mechanism.confidence_law(target, len(self.cells) if target.together and self.cells else 1)

    def read_drawn(self, fields: Fields) -> Drawn:
        """The noisy number."""
        return Drawn(int(fields.integer("value")), {})

    def check_drawn(self, mechanism: LatticeMechanism, drawn: Drawn) -> None:
        """Refuse a number beyond the ends."""
        assert isinstance(drawn.value, int)
        mechanism.check_number(drawn.value)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The value is a whole number."""
        return {"value": {"type": "integer"}}


def gaussian_selection(geometric: SelectedMechanism, moves: Moves, rho: Fraction) -> SelectedMechanism:
    """Gaussian noise of ρ in place of the geometric noise on a lattice."""
    lattice = geometric.mechanism
    mechanism = GaussianLattice(moves.squared / (2 * rho), lattice.low, lattice.high, lattice.origin, lattice.unit)
    return SelectedMechanism(mechanism, geometric.sensitivity, GAUSSIAN_CLAIM, moves.ledger_law, moves)


def canonical_selection(geometric: SelectedMechanism, epsilon: Fraction, delta: Fraction) -> SelectedMechanism:
    """Canonical noise of (ε, δ) in place of the geometric noise on a lattice.

    It is the best for every reader where geometric noise is the best of its ε, for a count that moves by one.
    """
    sensitivity, is_one_number = geometric.sensitivity, geometric.ledger_law == "geometric"
    mechanism = canonical_lattice(epsilon, delta, sensitivity, geometric.mechanism)
    claim = CANONICAL_CLAIMS.get(geometric.optimal.partition(":")[0], NO_CANONICAL_CLAIM)
    law: Literal["canonical", "any"] = "canonical" if is_one_number and sensitivity <= MAX_LEDGER_STEPS else "any"
    return SelectedMechanism(mechanism, sensitivity, claim, law)


def _draw_number(noise: PreparedNoise, truth: ExactAnswer) -> Drawn:
    return Drawn(noise.add_noise(truth)[0], {})


def _draw_cells(noise: PreparedNoise, truth: ExactAnswer) -> Drawn:
    return Drawn(tuple(noise.add_noise(truth)), {})


def draw_lattice_cells(noise: PreparedNoise, truth: ExactAnswer) -> Drawn:
    """One noisy number for each cell, as what it stands for."""
    return Drawn(tuple(noise.mechanism.value(number) for number in noise.add_noise(truth)), {})


def draw_lattice_value(noise: PreparedNoise, truth: ExactAnswer) -> Drawn:
    """One noisy number, as what it stands for."""
    return Drawn(noise.mechanism.value(noise.add_noise(truth)[0]), {})


def check_lattice_value(mechanism: LatticeMechanism, drawn: Drawn) -> None:
    """Refuse a value that is none of the mechanism's."""
    assert isinstance(drawn.value, Fraction)
    mechanism.check_number(mechanism.number(drawn.value))
