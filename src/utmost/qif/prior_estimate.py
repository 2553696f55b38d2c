"""The prior that many answers point to: the iterative Bayesian update on a channel (Agrawal, Aggarwal 2001).

Each of many secrets is drawn from an unknown prior π, and its answer by a known channel C. The likeliest π for the
counts of the answers is approached by averaging posteriors: π_x ← π_x·r_x with r_x = Σ_y f_y·C[x,y]/(πC)_y, f the
shares of the answers. That is expectation maximisation; the log-likelihood Σ_y f_y·log (πC)_y never falls. It is
concave in π, and by Jensen's inequality no prior's is larger by more than log max_x r_x. So every round says how far it
is at most from the best. In doubles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Mechanism, channel_of
from utmost.channel.channel import Label
from utmost.consumer import priors
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import number
from utmost.result_values import equal_fields, hash_of_kind, short_repr

Floats: TypeAlias = npt.NDArray[np.float64]
CountsLike: TypeAlias = Mapping[object, object] | Sequence[object] | npt.NDArray[np.generic]
StartLike: TypeAlias = Prior | Sequence[object] | npt.NDArray[np.generic]

DEFAULT_GAP = 1e-6  # of the log-likelihood of an answer
DEFAULT_ROUNDS, MAX_ROUNDS = 10_000, 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class PriorEstimate:
    """`weights` of the secrets `inputs`, in doubles, that make the answers nearly as likely as any prior makes them.

    `log_likelihood` is that of an answer on average, and `gap` bounds what any other prior has more. `rounds` is how
    many updates led there.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    __repr__ = short_repr

    inputs: tuple[Label, ...]
    weights: Floats
    log_likelihood: float
    gap: float
    rounds: int

    def prior(self) -> Prior:
        """The weights as an exact prior: the doubles, divided by their exact sum."""
        return priors.normalised([Fraction(float(weight)) for weight in self.weights])


def iterative_bayesian_update(
    channel: Channel | Mechanism,
    counts: CountsLike,
    start: StartLike | None = None,
    *,
    gap: float = DEFAULT_GAP,
    rounds: int = DEFAULT_ROUNDS,
) -> PriorEstimate:
    """The likeliest prior for how often each answer of a channel was given, by expectation maximisation.

    `counts` are numbers ≥ 0 in the order of the channel's outputs, or a mapping from outputs to them. It begins at
    `start` (a secret of weight 0 keeps it), or at equal weights, and ends when no prior can have a log-likelihood of
    an answer that is larger by more than `gap`, or after so many `rounds`; the result says which gap is left.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import response
    >>> estimate = iterative_bayesian_update(response(3, alpha("1/2")), [50, 30, 20])
    >>> [round(float(weight), 3) for weight in estimate.weights], estimate.gap < 1e-6
    ([0.875, 0.125, 0.0], True)
    """
    source = channel_of(channel)
    shares = _shares(source, counts)
    _check_limits(gap, rounds)
    answers = np.flatnonzero(shares)
    entries, shares = np.ascontiguousarray(source.floats()[:, answers]), shares[answers]
    weights = _start_weights(source, start)
    likelihoods = weights @ entries
    if not likelihoods.all():
        impossible = str(source.outputs[answers[int(np.flatnonzero(likelihoods == 0)[0])]])[:40]
        raise InputError(f'counts must be of answers that can occur, got some of "{impossible}"', "counts")
    return _update(source.inputs, entries, shares, weights, gap, rounds)


def _update(
    inputs: tuple[Label, ...], entries: Floats, shares: Floats, weights: Floats, gap: float, rounds: int
) -> PriorEstimate:
    for done in range(rounds + 1):
        likelihoods = weights @ entries
        ratios = entries @ (shares / likelihoods)
        most = max(math.log(float(ratios[weights > 0].max())), 0.0)
        if most <= gap or done == rounds:
            break
        weights = weights * ratios
        weights /= weights.sum()
    return PriorEstimate(inputs, weights, float(shares @ np.log(likelihoods)), most, done)


def _shares(source: Channel, counts: CountsLike) -> Floats:
    """The counts over their sum, in the order of the outputs; a mapping is matched by the text of its keys."""
    size = len(source.outputs)
    if isinstance(counts, Mapping):
        positions = {str(label): k for k, label in enumerate(source.outputs)}
        unknown = next((key for key in counts if str(key) not in positions), None)
        if unknown is not None:
            raise InputError(f'counts must be of outputs of the channel, got "{str(unknown)[:40]}"', "counts")
        values = _doubles([0] * size, "counts")
        values[[positions[str(key)] for key in counts]] = _doubles(list(counts.values()), "counts")
    else:
        values = _doubles(counts, "counts")
    if values.shape != (size,):
        raise InputError(f"counts must be {size} numbers, one for each output, got {values.size}", "counts")
    if not (np.isfinite(values) & (values >= 0)).all() or not 0 < values.sum() < math.inf:
        raise InputError("counts must be finite numbers >= 0, some of them above 0, got others", "counts")
    result: Floats = values / values.sum()
    return result


def _start_weights(source: Channel, start: StartLike | None) -> Floats:
    size = len(source.inputs)
    if start is None:
        return np.full(size, 1.0 / size)
    weights = _doubles(start.exact() if isinstance(start, Prior) else start, "start")
    if weights.shape != (size,):
        raise InputError(
            f"start must have {size} weights, one for each input of the channel, got {weights.size}", "start"
        )
    if not (np.isfinite(weights) & (weights >= 0)).all() or not math.isclose(weights.sum(), 1.0, rel_tol=1e-9):
        raise InputError("start must be weights >= 0 that sum to 1, got others", "start")
    result: Floats = weights / weights.sum()
    return result


def _doubles(values: object, name: str) -> Floats:
    """Numbers as doubles: fractions, whole numbers, doubles, and texts of numbers."""
    try:
        items = list(values)  # type: ignore[call-overload]
        exact = [number(item, name) if isinstance(item, str) else item for item in items]
        return np.array([float(item) for item in exact], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a list of numbers, got {type(values).__name__}", name) from None


def _check_limits(gap: float, rounds: int) -> None:
    if isinstance(gap, bool) or not isinstance(gap, int | float) or not 0 <= gap < math.inf:
        raise InputError("gap must be a number >= 0", "gap")
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 0 <= rounds <= MAX_ROUNDS:
        raise InputError(f"rounds must be a whole number from 0 to {MAX_ROUNDS}", "rounds")
