"""What queries share that are answered with geometric noise on one whole number, or on one for each cell."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from utmost.queries.answer_mechanisms.lattice import LatticeMechanism, PreparedNoise, prepare_noise
from utmost.queries.answer_mechanisms.mechanism import AccuracyTarget, ConfidenceLaw, Drawn, ErrorLaw
from utmost.queries.query import AnswerDraw, ExactAnswer, Query

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting


class LatticeQuery(Query):
    """A query whose mechanism is always a lattice; its value is a whole number unless the kind says otherwise."""

    __slots__ = ()

    def actual_epsilon(self, mechanism: LatticeMechanism, setting: PrivacySetting) -> Fraction:
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
