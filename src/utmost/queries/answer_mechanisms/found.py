"""Answers over found cells: the selection of the cells, and the mechanisms of what is asked of each: JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError
from utmost.queries.answer_mechanisms.choice import PermuteAndFlip, QuantileTree
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism, Drawn, schema_object
from utmost.queries.answer_mechanisms.selection import SelectionMechanism

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields

PART_MECHANISMS: dict[str, type[AnswerMechanism]] = {
    GeometricLattice.name: GeometricLattice,
    PermuteAndFlip.name: PermuteAndFlip,
    QuantileTree.name: QuantileTree,
}
PART_NAMES = ("answer", "total", "squares")


@dataclass(frozen=True, slots=True)
class FoundMechanism(AnswerMechanism):
    """The selection tells cells with noisy counts; then each of the `parts` is drawn for each cell that is told."""

    name: ClassVar[str] = "found"
    has_posterior: ClassVar[bool] = False

    selection: SelectionMechanism
    parts: Mapping[str, AnswerMechanism]

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        parts = {name: part.content() for name, part in self.parts.items()}
        return {"name": self.name, "selection": self.selection.content(), "parts": parts}

    @classmethod
    def parse(cls, fields: Fields) -> FoundMechanism:
        """The mechanism in the fields of a release file."""
        fields.text("name")
        selection, part_fields = SelectionMechanism.parse(fields.table("selection")), fields.table("parts")
        parts = {name: _parse_part(part_fields.table(name)) for name in part_fields.columns()}
        fields.finish()
        return cls(selection, parts)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        part = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in PART_MECHANISMS]}
        parts = {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(PART_NAMES, part)}
        return schema_object(
            name={"const": cls.name}, selection={"$ref": f"#/$defs/{SelectionMechanism.name}"}, parts=parts
        )

    @property
    def value_unit(self) -> Fraction:
        """That of the last part: the answer, the total, or the squares of a variance."""
        return list(self.parts.values())[-1].value_unit

    def holds_readable_numbers(self, drawn: Drawn) -> bool:
        """Do rates and counts fit into doubles, and the values of a lattice."""
        counts, answer = tuple(drawn.details["counts"]), self.parts.get("answer")
        if answer is None:
            lattices = [part for part in self.parts.values() if isinstance(part, GeometricLattice)]
            fits = all(lattice.fits_doubles() for lattice in lattices)
        else:
            fits = answer.holds_readable_numbers(drawn)
        return fits and self.selection.holds_readable_numbers(Drawn(counts, {}))


def _parse_part(fields: Fields) -> AnswerMechanism:
    mechanism = PART_MECHANISMS.get(fields.text("name"))
    if mechanism is None:
        raise InputError(f"a part of a mechanism must be {' or '.join(PART_MECHANISMS)}", "parts", context="release")
    return mechanism.parse(fields)
