"""Describe mechanisms beside each other for one consumer: losses, ε, leakage, capacity, and which tells more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.exact import json_number
from utmost.exact.input_text import escape_control
from utmost.reports.blocks import Block, Cell, Paragraph, Report, Table
from utmost.reports.mechanism import json_epsilon, level_document
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, Quantity, at_least, at_most, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.comparison import MeasuredMechanism, MechanismComparison
    from utmost.lp import Bounds

TABLE_DIGITS = 5
MAX_NAME_CHARS = 40
COLUMNS_TEXT = (
    "Loss: expected, each answer read in the best way. Guess: the chance of guessing the secret. Capacity: how many "
    "times likelier a guess becomes at most, whatever prior and gain. All from the entries, rounded up."
)


@dataclass(frozen=True, slots=True)
class QuestionTexts:
    """The space, the prior and the loss as the user wrote them."""

    space: str
    prior: str
    loss: str


def describe(comparison: MechanismComparison, texts: QuestionTexts | None = None) -> Report:
    """A row for each mechanism, the least loss first; what the level allows at most; who tells more to everyone."""
    blocks: dict[str, Block | None] = {
        "title": Paragraph(_title(comparison, texts)),
        "mechanisms": _table(comparison),
        "columns": Paragraph(COLUMNS_TEXT),
        "optimum": _optimum_paragraph(comparison),
        "capacity": _capacity_paragraph(comparison),
        "private": _privacy_paragraph(comparison),
        "refinements": _refinement_paragraph(comparison),
        "refused": _refusal_paragraph(comparison),
    }
    return Report(blocks, lambda: _document(comparison, texts))


def _title(comparison: MechanismComparison, texts: QuestionTexts | None) -> str:
    question = comparison.question
    names = (question.space.name, question.consumer.prior.name, question.consumer.loss.name)
    space, prior, loss = (
        escape_control(name[:MAX_NAME_CHARS])
        for name in (names if texts is None else (texts.space, texts.prior, texts.loss))
    )
    return f"Mechanisms on {space} at {question.level} for prior {prior}, loss {loss}."


def _table(comparison: MechanismComparison) -> Table:
    header = ("mechanism", "loss", "face value", "ε", "guess", "leakage", "capacity")
    return Table(header, tuple(_table_row(row) for row in comparison.mechanisms))


def _table_row(row: MeasuredMechanism) -> tuple[Cell, ...]:
    face_value = row.face_value_loss
    return (
        escape_control(row.name),
        _upper(row.loss),
        "–" if face_value is None else _upper(face_value),
        at_most(row.epsilon, TABLE_DIGITS),
        _upper(row.guess),
        _upper(row.leakage),
        _upper(row.capacity),
    )


def _upper(bounds: Bounds, digits: int = TABLE_DIGITS) -> Quantity:
    """The upper end, rounded up."""
    return at_most(bounds.upper, digits)


def _optimum_paragraph(comparison: MechanismComparison) -> Paragraph | None:
    design = next((row.design for row in comparison.mechanisms if row.design is not None), None)
    silent = (" Without any answer it would be ", quantity(comparison.silent_loss.upper, SENTENCE_DIGITS), ".")
    if design is None:
        return Paragraph(silent[0].strip() + " ", *silent[1:])
    lower = at_least(design.certificate.lower, SENTENCE_DIGITS)
    start = "No mechanism that is private at this level costs this consumer less than "
    return Paragraph(start, lower, ", which is proved.", *silent)


def _capacity_paragraph(comparison: MechanismComparison) -> Paragraph | None:
    most = comparison.level_capacity
    if most is None:
        return None
    return Paragraph("The level allows a capacity of ", _upper(most, SENTENCE_DIGITS), " at most.")


def _privacy_paragraph(comparison: MechanismComparison) -> Paragraph | None:
    exceeding = [escape_control(row.name) for row in comparison.mechanisms if not row.private]
    if not exceeding:
        return None
    verb = "is" if len(exceeding) == 1 else "are"
    return Paragraph(f"Not private at this level {verb} {_listed(exceeding)}: the proof says nothing of such.")


def _refinement_paragraph(comparison: MechanismComparison) -> Paragraph | None:
    """Which mechanisms are never worse than others, for any consumer; silence, which never is better, left out."""
    relations = comparison.refinements
    names = [row.name for row in comparison.mechanisms if len(row.channel.outputs) > 1]
    if len(names) < 2 or not relations:
        return None
    classes = _equivalence_classes(names, relations)
    sentences = [f"{_listed(group)} tell the same" for group in classes if len(group) > 1]
    for group in classes:
        below = [other[0] for other in classes if other is not group and relations[group[0], other[0]]]
        if below:
            sentences.append(f"{group[0]} tells every consumer at least as much as {_listed(below)}")
    undecided = sum(relations[a, b] is None for a in names for b in names if a != b)
    if undecided:
        sentences.append(f"{undecided} of {len(names) * (len(names) - 1)} pairs could not be decided")
    if not sentences:
        return Paragraph("No two of them are comparable: each serves some consumer better than the other.")
    return Paragraph(escape_control("; ".join(sentences)) + ".")


def _equivalence_classes(names: list[str], relations: Any) -> list[list[str]]:
    """Names of mechanisms that can be made from each other, together."""
    classes: list[list[str]] = []
    for name in names:
        for group in classes:
            if relations[group[0], name] and relations[name, group[0]]:
                group.append(name)
                break
        else:
            classes.append([name])
    return classes


def _refusal_paragraph(comparison: MechanismComparison) -> Paragraph | None:
    return refusals_paragraph([refused.reason for refused in comparison.refused])


def refusals_paragraph(reasons: Iterable[str]) -> Paragraph | None:
    """Why mechanisms were left out; each reason begins with the name."""
    texts = [reason.split(": ")[0] for reason in reasons]
    return Paragraph(f"Left out: {'; '.join(texts)}.") if texts else None


def _listed(names: list[str]) -> str:
    """a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _document(comparison: MechanismComparison, texts: QuestionTexts | None) -> dict[str, Any]:
    """The document that `utmost compare --json` prints."""
    question, most, relations = comparison.question, comparison.level_capacity, comparison.refinements
    head: dict[str, Any] = {} if texts is None else {"space": texts.space}
    head |= level_document(question.level)
    head |= {} if texts is None else {"prior": texts.prior, "loss_function": texts.loss}
    pairs = {
        key: [{"from": a, "to": b} for (a, b), known in relations.items() if known is value]
        for key, value in (("refinements", True), ("undecided", None))
    }
    return head | {
        "silent_loss": json_number(float(comparison.silent_loss.upper)),
        "capacity": None if most is None else _upper(most, JSON_DIGITS),
        "mechanisms": [
            mechanism_document(row) | {"capacity_used": _capacity_used(row, most)} for row in comparison.mechanisms
        ],
        **(pairs if relations else dict.fromkeys(pairs)),
        "refused": [{"mechanism": r.name, "reason": r.reason} for r in comparison.refused],
    }


def _capacity_used(row: MeasuredMechanism, most: Bounds | None) -> Quantity | None:
    """The capacity as a part of what the level allows."""
    return None if most is None else at_most(row.capacity.upper / most.lower, JSON_DIGITS)


def mechanism_document(row: MeasuredMechanism) -> dict[str, Any]:
    """One mechanism; bounds are rounded outward."""
    design, face_value = row.design, row.face_value_loss
    return {
        "mechanism": row.name,
        "loss_lower": at_least(row.loss.lower, JSON_DIGITS),
        "loss_upper": _upper(row.loss, JSON_DIGITS),
        "face_value_loss": None if face_value is None else _upper(face_value, JSON_DIGITS),
        "epsilon": json_epsilon(row.privacy_loss, row.question.level),
        "private": row.private,
        "exact": row.channel.exact,
        "guess": _upper(row.guess, JSON_DIGITS),
        "leakage": _upper(row.leakage, JSON_DIGITS),
        "capacity": _upper(row.capacity, JSON_DIGITS),
    } | ({} if design is None else {"least_loss": at_least(design.certificate.lower, JSON_DIGITS)})


def figure(comparison: MechanismComparison) -> alt.TopLevelMixin:
    """The losses as bars, each with its ε."""
    from utmost.charts.curves import CostBar, cost_chart

    bars = []
    for row in comparison.mechanisms:
        upper = _upper(row.loss)
        label = f"{upper}  (ε {at_most(row.epsilon, TABLE_DIGITS)})"
        ends = (float(at_least(row.loss.lower, TABLE_DIGITS).rounded), float(upper.rounded))
        bars.append(CostBar(escape_control(row.name), *ends, label))
    claim = f"{_title(comparison, None)} Every answer is read in the best way; ε is recomputed from the entries."
    return cost_chart(bars, "What each mechanism costs this consumer", claim)


def place_figure(comparison: MechanismComparison, place: object) -> alt.TopLevelMixin:
    """What each mechanism answers at one true place, on a map; the points of the space must be places."""
    from utmost.charts.places import PlaceMap, place_maps
    from utmost.reports.place_layout import answer_chances, place_layout, reports_places

    space = comparison.question.space
    layout = place_layout(space)
    if layout is None:
        raise InputError(
            f"a map needs points that are places, got {space.name[:MAX_NAME_CHARS]}",
            "place",
            "take a grid, points with coordinates or a road network, or leave the place out",
        )
    truth = _position(space.labels, place)
    maps = [
        PlaceMap(escape_control(row.name), answer_chances(row.channel, space, truth), truth)
        for row in comparison.mechanisms
        if reports_places(row.channel, space)
    ]
    name = escape_control(str(space.labels[truth])[:MAX_NAME_CHARS], frozenset())
    subtitle = f"{_title(comparison, None)} {layout.note}".strip()
    return place_maps(maps, layout.positions, f"What is reported from {name}", subtitle)


def _position(labels: tuple[Any, ...], place: object) -> int:
    """Where a label stands, matched by its text."""
    texts = [str(label) for label in labels]
    if str(place) not in texts:
        raise InputError(
            f'place must be a point of the space, got "{str(place)[:MAX_NAME_CHARS]}"',
            "place",
            f"take one of {', '.join(texts[:4])}{', …' if len(texts) > 4 else ''}",
        )
    return texts.index(str(place))
