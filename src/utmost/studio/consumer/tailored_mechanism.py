"""A mechanism made for one reader alone, beside the geometric one in its best reading: the same, by GRS12 Thm 3.2."""

from __future__ import annotations

from fractions import Fraction

from pydantic import BaseModel, Field

from utmost.channel import Channel
from utmost.charts import heat_map
from utmost.consumer import Consumer, counts
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.design.count_mechanism import remapped_channel
from utmost.design.optimal import MAX_EXACT_REAL_POINTS, optimal
from utmost.errors import InputError
from utmost.exact import Level, Number
from utmost.exact import epsilon as level_of
from utmost.mechanisms import geometric
from utmost.publish.release_model import Answer
from utmost.reports.numbers import at_most, quantity
from utmost.spaces import line

from utmost.studio.charts import Chart, chart_from_altair
from utmost.studio.consumer.forms import ReadingForm
from utmost.studio.consumer.response_models import MAX_TAILORED_VALUES, can_tailor, make_reader
from utmost.studio.number_format import FormattedNumber, format_exact

MAX_DRAWN_VALUES = 24  # values whose mechanism is drawn


class TailoredMechanism(BaseModel):
    """The least expected loss of all mechanisms of this ε for this reader, and that of the one that was released."""

    query: str
    epsilon: str
    values: int
    geometric: FormattedNumber = Field(
        description="Expected loss of the released mechanism with the reader's best remap"
    )
    face_value: FormattedNumber = Field(description="and read at face value")
    tailored: FormattedNumber = Field(description="Expected loss of the mechanism made for this reader")
    gap: FormattedNumber = Field(description="No private mechanism is better than `tailored` by more than this")
    equal: bool | None = Field(description="Decided exactly; None where both are known within the gap only")
    words: str
    remap: list[int]
    picture: Chart | None = Field(description="The mechanism made for this reader")


def tailor_mechanism(answer: Answer, form: ReadingForm, explicit_prior: Prior | None) -> TailoredMechanism:
    """Make one for this reader, certified, and compare: exactly up to 20 values, within a proved gap up to 60."""
    from utmost.publish import estimate

    reader = make_reader(answer, form, explicit_prior)
    answer_estimate = estimate.read_answer(answer, reader, form.parse_coverage(), form.cell or None, effort=0)
    if reader is None or not can_tailor(answer_estimate):
        raise InputError(
            f"a mechanism is made for 2 to {MAX_TAILORED_VALUES} values of a count: narrow the range", "at_most"
        )
    return compare_with_geometric(answer, answer.epsilon, reader.prior, reader.loss)


def compare_with_geometric(answer: Answer, epsilon: Fraction, prior: Prior, loss: Loss) -> TailoredMechanism:
    """The two mechanisms for a reader of a count on as many values as the prior has."""
    level, consumer, size = level_of(epsilon), Consumer(prior, loss), prior.size
    design = optimal(line(size), level, consumer)
    geometric_loss, face_value_loss, remap = _geometric_losses(consumer, level, size)
    is_equal = geometric_loss == design.loss if size <= MAX_EXACT_REAL_POINTS else None
    return TailoredMechanism(
        query=answer.name,
        epsilon=str(epsilon),
        values=size,
        geometric=format_exact(quantity(geometric_loss)),
        face_value=format_exact(quantity(face_value_loss)),
        tailored=format_exact(quantity(design.loss)),
        gap=format_exact(at_most(design.certificate.gap)),
        equal=is_equal,
        words=_verdict(is_equal, design.loss, design.certificate.gap),
        remap=remap,
        picture=_channel_chart(remapped_channel(level, remap) if is_equal else design.channel, size),
    )


def _geometric_losses(consumer: Consumer, level: Level, size: int) -> tuple[Number | float, Number | float, list[int]]:
    """Losses and remap of the geometric mechanism: exact where the best one is, else in doubles."""
    if size <= MAX_EXACT_REAL_POINTS:
        mechanism = geometric(size - 1, level)
        return consumer.expected_loss(mechanism), consumer.face_value_loss(mechanism), consumer.remap(mechanism)
    readings = counts.readings(consumer.prior, level, consumer.loss)
    return readings.expected_loss, readings.face_value_loss, readings.remap.tolist()


def _verdict(is_equal: bool | None, loss: Number, gap: Number) -> str:
    if is_equal:
        return "The same, decided exactly: no mechanism with this ε serves this reader better than the released one."
    if is_equal is None:
        return (
            f"The same within {at_most(gap).typeset}: at so many values a loss with irrational α is "
            "certified between two "
            f"fractions that far apart, {at_most(loss, 12).typeset} at most."
        )
    return "Not the same: this would contradict the theorem, and is a bug in utmost. Please report it."


def _channel_chart(channel: Channel, size: int) -> Chart | None:
    if size > MAX_DRAWN_VALUES:
        return None
    caption = (
        "The mechanism made for this reader: for each true count (a row) how likely each answer is, "
        "the darker the likelier."
    )
    return chart_from_altair(heat_map.channel_chart(channel, ""), caption, wide=False)
