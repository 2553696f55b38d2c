"""The lower bound an audit finds: exact for a channel, with a confidence for a black box."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.audit.black_boxes import BlackBox
from utmost.audit.confidence_bounds import log_ratio
from utmost.audit.events import CandidateEvent, choose_events
from utmost.audit.features import Sample, make_sample, number_places
from utmost.audit.sampling import MIN_DRAWS, Progress, SampleHalves, draw_samples
from utmost.channel import Channel, Mechanism, PrivacyLoss, channel_of, least_epsilon
from utmost.errors import InputError
from utmost.exact import Level, Number, decimal, number, rational
from utmost.spaces import Label, Space, line, space
from utmost.spaces.space import integer_distances

MOST_SAMPLES = 10**7
NEAREST, FARTHEST = Fraction(1, 10**9), Fraction(10**9)  # distances
TESTED = 4  # events counted on the second half; each costs a share of the risk
PLAINER = 0.02  # of a bound; what is given up for each step towards an event that is easier to read
DEFAULT_CONFIDENCE = Fraction(99, 100)
ANY_PAIR_TEXT = "any two inputs"
DEFAULT_SAMPLES = 50_000  # of each secret
DEFAULT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class AuditResult:
    """ε ≥ `lower` per unit of distance, since `event` is likelier under `high` than under `low` by that much.

    Of a channel: `confidence` 1, `leak` has the exact ratio, and `lower` is the double nearest to ε. Of a black box:
    Pr[lower > ε] ≤ 1 − confidence over the draws, whatever the box is, as long as its draws are independent; of the
    `samples`/2 draws of the second half `counts` were in the event under `high` and under `low`. `samples` are the
    draws of each secret; nothing found: 0.
    """

    lower: float
    confidence: Fraction
    event: str | None
    samples: int
    high: object
    low: object
    counts: tuple[int, int] | None = None
    tested: int = 1
    claimed: Level | None = None
    leak: PrivacyLoss | None = None
    neighbours: str = "pair"  # else the space, `any two inputs` or `line:N`

    @property
    def verdict(self) -> str | None:
        """`refuted`, else `holds` (a channel: decided) or `not refuted` (a black box); None if nothing is claimed."""
        if self.claimed is None:
            return None
        if self.leak is not None:
            return "holds" if self.leak.within(self.claimed) else "refuted"
        return "refuted" if self.lower > self.claimed.epsilon else "not refuted"


def channel_bound(
    mechanism: Channel | Mechanism,
    points: Space | None = None,
    pair: tuple[Label, Label] | None = None,
    distance: object = 1,
    claimed: Level | None = None,
) -> AuditResult:
    """The ε of a channel, exact: on a space, or for one pair at the distance given.

    If neither is given, inputs 0 … n−1 are a line and of any other inputs any two are neighbours.

    Pr[S|x] ≤ e^ε·Pr[S|x′] for every set S of outputs if it holds for each single one (the mediant inequality), so the
    event that attains ε is one output.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> found = channel_bound(geometric(5, alpha("1/2")), claimed=alpha("2/3"))
    >>> found.leak.ratio, found.event, found.verdict
    (Fraction(2, 1), 'output 0', 'refuted')
    """
    source = channel_of(mechanism)
    if pair is not None:
        if points is not None:
            raise InputError("a pair of inputs must come without a space, got both: give the distance of the pair")
        if pair[0] == pair[1]:
            raise InputError("the two inputs of a pair must differ, got the same one twice")
        gap = _distance(distance)
        source = source.restrict(pair)
        points = space([[0, gap], [gap, 0]], pair, "pair")
    ground = points if points is not None else _usual(source)
    leak = least_epsilon(source, ground)
    event = f"output {leak.output}" if leak.ratio != 1 else None
    found = AuditResult(leak.epsilon, Fraction(1), event, 0, leak.high, leak.low, claimed=claimed, leak=leak)
    return replace(found, neighbours=ground.name)


def _usual(source: Channel) -> Space:
    """A line for the inputs 0 … n−1; for others all distances are 1.

    An output tells most of the pair of inputs under which it is likeliest and least likely, so only those are edges.
    """
    size = len(source.inputs)
    if set(map(str, source.inputs)) == set(map(str, range(size))):
        return line(size)
    columns = (column.tolist() for column in source.rows.T)
    ends = (sorted((column.index(max(column)), column.index(min(column)))) for column in columns)
    edges = {(x, other) for x, other in ends if x != other}
    return Space(
        ANY_PAIR_TEXT, source.inputs, integer_distances(1 - np.eye(size, dtype=np.int64)), tuple(sorted(edges))
    )


def sampled_bound(
    box: BlackBox,
    secrets: tuple[Any, Any],
    *,
    samples: int = DEFAULT_SAMPLES,
    seconds: float = DEFAULT_SECONDS,
    confidence: object = DEFAULT_CONFIDENCE,
    distance: object = 1,
    claimed: Level | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """A lower bound on the ε of a black box from `samples` draws under each of two secrets, by turns.

    The first half chooses at most `TESTED` events; the second half counts them. For each, ln(p/q) is bounded below by
    Clopper–Pearson bounds on p and q, the risk 1 − confidence shared equally among the 2·`TESTED` bounds (union bound).
    The largest is the answer, or one up to a twentieth smaller if its event is plainer and the verdict the same. Which
    events were looked at in the first half costs nothing: the halves are independent.

    >>> def broken(secrets, seconds):
    ...     return secrets
    >>> found = sampled_bound(broken, (0, 1), samples=1000)
    >>> found.event, found.counts, found.lower > 4
    ('value = 0', (500, 0), True)
    """
    sure, gap = _confidence(confidence), float(_distance(distance))
    _check_plan(samples, seconds)
    draws = draw_samples(box, secrets, samples, seconds, progress)
    candidates = choose_events(*_samples(draws.first, draws), TESTED)
    risk = float(1 - sure) / len(candidates)
    after = _samples(draws.second, draws)
    tested = [_tested(candidate, *after, risk) for candidate in candidates]
    least = math.inf if claimed is None else claimed.epsilon * gap
    best, counts, candidate = max(tested, key=lambda item: (item[0] > least, _readable(item[0], item[2])))
    high, low = secrets if candidate.forward else secrets[::-1]
    size = 2 * len(draws.first[0])
    if best <= 0:
        return AuditResult(0.0, sure, None, size, high, low, None, len(tested), claimed)
    return AuditResult(best / gap, sure, str(candidate.event), size, high, low, counts, len(tested), claimed)


def _samples(pair: tuple[list[Any], list[Any]], draws: SampleHalves) -> tuple[Sample, Sample]:
    """Both sides of a half, with the columns that the first half has."""
    places = number_places([*draws.first[0], *draws.first[1]])
    return make_sample(pair[0], places), make_sample(pair[1], places)


def _tested(
    candidate: CandidateEvent, first: Sample, second: Sample, risk: float
) -> tuple[float, tuple[int, int], CandidateEvent]:
    sides = (first, second) if candidate.forward else (second, first)
    high, low = (candidate.event.count(side) for side in sides)
    return log_ratio(high, low, len(first.values), risk), (high, low), candidate


def _readable(bound: float, candidate: CandidateEvent) -> float:
    """The bound, less a little for each step away from an event that is easy to read."""
    return bound * (1 - PLAINER * candidate.event.fancy) if bound > 0 else bound


def _confidence(value: object) -> Fraction:
    sure = rational(value, "confidence")
    if not Fraction(1, 2) <= sure < 1 or 1 - sure < Fraction(1, 10**12):
        raise InputError(f"confidence must be from 0.5 to 1 - 1e-12, got {decimal(sure)}: say for instance 0.99")
    return sure


def _distance(value: object) -> Number:
    gap = number(value, "distance")
    if not NEAREST <= gap <= FARTHEST:
        raise InputError("distance must be from 1e-9 to 1e9: how far the two secrets are apart, 1 for neighbours")
    return gap


def _check_plan(samples: int, seconds: float) -> None:
    if not 2 * MIN_DRAWS <= samples <= MOST_SAMPLES:
        raise InputError(f"samples must be from {2 * MIN_DRAWS} to {MOST_SAMPLES}, got {samples}")
    if not (math.isfinite(seconds) and 0 < seconds <= 10**6):
        raise InputError(f"seconds must be > 0 and at most 1e6, got {seconds:g}: how long the draws may take")
