"""A mechanism made for one reader alone, beside the geometric one read in her way: the same, by GRS12 Thm 3.2."""

from __future__ import annotations

from fractions import Fraction

from pydantic import BaseModel, Field

from utmost.channel import Channel
from utmost.charts import heat_map
from utmost.consumer import Consumer, counts
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.design.count_mechanism import remapped_channel
from utmost.design.optimal import EXACT_REALS, optimal
from utmost.exact import Level, Number
from utmost.exact import epsilon as level_of
from utmost.mechanisms import geometric
from utmost.publish.release_model import Answer, LatticeMechanism
from utmost.spaces import line
from utmost.studio import charts
from utmost.studio.charts import Chart
from utmost.studio.consumer.forms import ReadingForm
from utmost.studio.consumer.response_models import MAX_TAILORED_VALUES, can_tailor, format_exact, make_reader
from utmost.studio.form_errors import FieldError
from utmost.studio.number_format import FormattedNumber, format_rounded

LARGEST_MAP = 24  # values whose mechanism is drawn


class TailoredMechanism(BaseModel):
    """The least expected loss of all mechanisms of this ε for this reader, and that of the one that was released."""

    query: str
    epsilon: str
    values: int
    geometric: FormattedNumber = Field(description="Expected loss of the released mechanism, read in her best way")
    face_value: FormattedNumber = Field(description="and read at face value")
    tailored: FormattedNumber = Field(description="Expected loss of the mechanism made for her")
    gap: FormattedNumber = Field(description="No private mechanism is better than `tailored` by more than this")
    equal: bool | None = Field(description="Decided exactly; None where both are known within the gap only")
    words: str
    remap: list[int]
    picture: Chart | None = Field(description="The mechanism made for her")


def tailor_mechanism(answer: Answer, said: ReadingForm, brought: Prior | None) -> TailoredMechanism:
    """Make one for her, certified, and compare: exactly up to 20 values, within a proved gap up to 60."""
    from utmost.publish import estimate

    reader = make_reader(answer, said, brought)
    found = estimate.read_answer(answer, reader, said.share(), said.cell or None, effort=0)
    if reader is None or not can_tailor(found):
        raise FieldError(
            "at_most", f"a mechanism is made for 2 to {MAX_TAILORED_VALUES} values of a count: narrow the range"
        )
    assert isinstance(answer.mechanism, LatticeMechanism)
    return compared(answer, answer.mechanism.epsilon, reader.prior, reader.loss)


def compared(answer: Answer, epsilon: Fraction, prior: Prior, loss: Loss) -> TailoredMechanism:
    """The two mechanisms for a reader of a count on as many values as her prior has."""
    level, reader, size = level_of(epsilon), Consumer(prior, loss), prior.size
    design = optimal(line(size), level, reader)
    ours, face, remap = _released(reader, level, size)
    decided = ours == design.loss if size <= EXACT_REALS else None
    return TailoredMechanism(
        query=answer.name,
        epsilon=str(epsilon),
        values=size,
        geometric=format_exact(ours),
        face_value=format_exact(face),
        tailored=format_exact(design.loss),
        gap=format_exact(design.certificate.gap),
        equal=decided,
        words=_words(decided, design.loss, design.certificate.gap),
        remap=remap,
        picture=_picture(remapped_channel(level, remap) if decided else design.channel, size),
    )


def _released(reader: Consumer, level: Level, size: int) -> tuple[Number | float, Number | float, list[int]]:
    """Losses and remap of the geometric mechanism: exact where the best one is, else in doubles."""
    if size <= EXACT_REALS:
        made = geometric(size - 1, level)
        return reader.expected_loss(made), reader.face_value_loss(made), reader.remap(made)
    found = counts.readings(reader.prior, level, reader.loss)
    return found.expected_loss, found.face_value_loss, found.remap.tolist()


def _words(decided: bool | None, loss: Number, gap: Number) -> str:
    if decided:
        return "The same, decided exactly: no mechanism with this ε serves her better than the one that was released."
    if decided is None:
        return (
            f"The same within {format_rounded(gap)}: at so many values a loss with irrational α is "
            "certified between two "
            f"fractions that far apart, {format_rounded(loss, 12)} at most."
        )
    return "Not the same: this would contradict the theorem, and is a bug in utmost. Please report it."


def _picture(channel: Channel, size: int) -> Chart | None:
    if size > LARGEST_MAP:
        return None
    words = (
        "The mechanism made for her: for each true count (a row) how likely each answer is, the darker the likelier."
    )
    return charts.chart_from_altair(heat_map.channel_chart(channel, ""), words, wide=False)
