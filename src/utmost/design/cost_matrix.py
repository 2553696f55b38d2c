"""A consumer's costs c[x,w] = π_x·ℓ(x,w): exact, or between rational bounds where they are irrational."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.consumer import Consumer
from utmost.consumer.priors import Floating
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, enclosure
from utmost.spaces import Space


def check_problem(space: Space, level: Level, consumer: Consumer) -> None:
    """Refuse what an optimal mechanism cannot be made for."""
    if not isinstance(level, Level):
        raise InputError(f'level must be made by alpha("1/2") or epsilon("0.1"), got {type(level).__name__}')
    if consumer.prior.size != len(space):
        raise InputError(
            f"the prior must have {len(space)} weights, one for each point of {space.name}, got {consumer.prior.size}"
        )
    space.check_table_size()
    if consumer.secrets is not None and list(map(str, consumer.secrets)) != list(map(str, space.labels)):
        raise InputError(
            f"the consumer's secrets must be the points of {space.name}, in their order, got others: make the consumer "
            "with these"
        )
    floats = isinstance(consumer.prior, Floating) or isinstance(consumer.loss.matrix(len(space)).flat[0], float)
    if floats or any(isinstance(weight, float) for weight in consumer.prior.exact()):
        raise InputError('an optimal mechanism needs an exact prior and loss: write numbers as text, "1/3" or "0.1"')


def has_irrational_costs(space: Space, level: Level, consumer: Consumer) -> bool:
    """Is a weight, a loss, or the ratio allowed at the distance of a generating pair, not rational."""
    lengths = [space.values[code] for code in np.unique(space.codes[space.edge_array[:, 0], space.edge_array[:, 1]])]
    numbers = (*consumer.prior.exact(), *consumer.loss.matrix(len(space)).flat)
    return any(_is_irrational(level, d) for d in lengths) or any(isinstance(value, Real) for value in numbers)


def _is_irrational(level: Level, distance: Number) -> bool:
    """Is α^distance irrational: (1/4)^(3/2) = 1/8 is not."""
    try:
        return isinstance(level.power(distance), Real)
    except InputError:  # a power that cannot be written
        return True


def cost_bounds(consumer: Consumer, bits: int) -> tuple[Matrix, Matrix]:
    """Rational matrices below and above the costs, equal where these are rational, else 2^−bits apart, relatively."""
    losses = consumer.loss.matrix(consumer.prior.size)
    loss_bounds = [round_costs(losses, bits, side) for side in (0, 1)]
    weight_bounds = [round_costs(np.array(consumer.prior.exact(), dtype=object), bits, side) for side in (0, 1)]
    lower_costs, upper_costs = (weight[:, None] * loss for weight, loss in zip(weight_bounds, loss_bounds, strict=True))
    return lower_costs, upper_costs


def round_costs(values: Matrix, bits: int, side: int) -> npt.NDArray[np.object_]:
    """Numbers ≥ 0 rounded to rationals, all down (`side` 0) or all up (1); each distinct object once."""
    value_of_id: dict[int, Number] = {id(value): value for value in values.flat}
    bounds = {key: enclosure(value, bits)[side] for key, value in value_of_id.items()}
    result = np.empty(values.shape, dtype=object)
    result.ravel()[:] = [bounds[id(value)] for value in values.flat]
    return result
