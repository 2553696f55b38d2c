"""The designer's pictures: the mechanism, the trade-off over ε, the simplex of three secrets."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from utmost import pictures
from utmost.studio.charts import Picture, Spec, drawn, picture, shell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.spaces import Space
    from utmost.studio.designer.compared import Point


def mechanism(channel: Channel, points: Space) -> Picture:
    """A heat map; on a grid maps, one for each of a few true places."""
    shape = pictures.rows_and_columns(points)
    if shape is not None and set(channel.outputs) <= set(channel.inputs):
        words = f"Where the answer falls for some true places of {points.name}, ringed."
        return drawn(pictures.grid_map(channel, shape, "", ""), words, wide=False)
    rows, columns = len(channel.inputs), len(channel.outputs)
    return drawn(pictures.picture(channel, "", ""), f"The probability of each of {columns} answers for {rows} secrets.")


@cache
def _trade_off_shell() -> Spec:
    import altair as alt

    across = alt.X("epsilon:Q", title="ε", scale=alt.Scale(zero=True))
    up = alt.Y("loss:Q", title="least expected loss", scale=alt.Scale(zero=True))
    line = alt.Chart(alt.NamedData("curve")).mark_line(point=True, color="var(--series-1)").encode(x=across, y=up)
    here = alt.Chart(alt.NamedData("here")).mark_point(color="var(--series-2)", size=160, filled=True, opacity=1)
    return shell(alt.layer(line, here.encode(x="epsilon:Q", y="loss:Q")).properties(height=280))


def trade_off(points: Sequence[Point], epsilon: float, loss: float) -> Picture:
    """The least loss over ε, with the question's own level marked."""
    rows = [point.model_dump() for point in points]
    words = f"The least expected loss at each ε, certified; yours is {loss:.4g} at ε = {epsilon:.3g}."
    return picture(_trade_off_shell(), words, curve=rows, here=[{"epsilon": epsilon, "loss": loss}])


def simplex(channel: Channel, points: Space, level: Level) -> Picture:
    """Three secrets: the region of posteriors that privacy leaves under a uniform prior, and the mechanism's own."""
    words = "Shaded: every posterior that any private mechanism can leave, under a uniform prior. Dots: this one's."
    return drawn(pictures.region(points, level, channel, ""), words, wide=False)
