"""The lower bound on ε that an audit proves: exact for a channel, with a confidence for a black box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.audit.black_boxes import MIN_DRAWS, BlackBox, Progress, SampleHalves, draw_samples
from utmost.audit.events import CandidateEvent, Sample, choose_events, log_ratio, make_sample, number_positions
from utmost.channel import Channel, Mechanism, PrivacyLoss, channel_of, least_epsilon
from utmost.errors import InputError
from utmost.exact import Level, Number, decimal, number, rational
from utmost.notebook import Figure, draw_figure, report_html
from utmost.spaces import Label, Space, line, space
from utmost.spaces.space import integer_distances

MAX_SAMPLES = 10**7
MIN_DISTANCE, MAX_DISTANCE = Fraction(1, 10**9), Fraction(10**9)  # distances
MAX_TESTED_EVENTS = 4  # counted on the second half; each costs a share of the risk
READABILITY_DISCOUNT = 0.02  # of a bound; what is given up for each step towards an event that is easier to read
DEFAULT_CONFIDENCE = Fraction(99, 100)
ANY_PAIR_TEXT = "any two inputs"
DEFAULT_SAMPLES = 50_000  # of each secret
DEFAULT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class AuditResult:
    """ε ≥ `lower` per unit of distance, since `event` is likelier under `high` than under `low` by that much.

    Of a channel: `confidence` 1, `privacy_loss` has the exact ratio, and `lower` is the double nearest to ε. Of a black
    box: Pr[lower > ε] ≤ 1 − confidence over the draws, whatever the box is, as long as its draws are independent; of
    the `samples`/2 draws of the second half `counts` were in the event under `high` and under `low`. `samples` are the
    draws of each secret; `lower` is 0 where no event is likelier under one secret.
    """

    lower: float
    confidence: Fraction
    event: str | None
    samples: int
    high: object
    low: object
    counts: tuple[int, int] | None = None
    events_tested: int = 1
    claimed: Level | None = None
    privacy_loss: PrivacyLoss | None = None
    neighbours: str = "pair"  # else the space, `any two inputs` or `line:N`

    def _repr_html_(self) -> str:
        return report_html(self, "audit")

    def plot(self) -> Figure:
        """A chart of the ε that is proved and the one that is claimed."""
        return draw_figure(self, "audit")

    @property
    def verdict(self) -> str | None:
        """`refuted`, else `holds` (a channel: decided) or `not refuted` (a black box); None if nothing is claimed."""
        if self.claimed is None:
            return None
        if self.privacy_loss is not None:
            return "holds" if self.privacy_loss.within(self.claimed) else "refuted"
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
    >>> result = channel_bound(geometric(5, alpha("1/2")), claimed=alpha("2/3"))
    >>> result.privacy_loss.ratio, result.event, result.verdict
    (Fraction(2, 1), 'output 0', 'refuted')
    """
    source = channel_of(mechanism)
    if pair is not None:
        if points is not None:
            raise InputError(
                "a pair of inputs must come without a space, got both", hint="give the distance of the pair"
            )
        points = _pair_space(pair, distance)
        source = source.restrict(pair)
    input_space = points if points is not None else _default_space(source)
    privacy_loss = least_epsilon(source, input_space)
    event = f"output {privacy_loss.output}" if privacy_loss.ratio != 1 else None
    return AuditResult(
        privacy_loss.epsilon,
        Fraction(1),
        event,
        0,
        privacy_loss.high,
        privacy_loss.low,
        claimed=claimed,
        privacy_loss=privacy_loss,
        neighbours=input_space.name,
    )


def _pair_space(pair: tuple[Label, Label], distance: object) -> Space:
    if pair[0] == pair[1]:
        raise InputError("the two inputs of a pair must differ, got the same one twice")
    pair_distance = _parse_distance(distance)
    return space([[0, pair_distance], [pair_distance, 0]], pair, "pair")


def _default_space(source: Channel) -> Space:
    """A line for the inputs 0 … n−1; for others all distances are 1.

    The largest ratio of an output is that of the inputs under which it is likeliest and least likely: they are edges.
    """
    size = len(source.inputs)
    if set(map(str, source.inputs)) == set(map(str, range(size))):
        return line(size)
    columns = (column.tolist() for column in source.rows.T)
    extreme_pairs = (sorted((column.index(max(column)), column.index(min(column)))) for column in columns)
    edges = {(x, other) for x, other in extreme_pairs if x != other}
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

    The first half chooses at most `MAX_TESTED_EVENTS` events; the second half counts them. For each, ln(p/q) is bounded
    below by Clopper–Pearson bounds on p and q, the risk 1 − confidence shared equally among these bounds, two for each
    event (union bound). The largest is the answer, or one up to a twentieth smaller if its event is plainer and the
    verdict the same. Which events were looked at in the first half costs nothing: the halves are independent.

    >>> def broken(secrets, seconds):
    ...     return secrets
    >>> result = sampled_bound(broken, (0, 1), samples=1000)
    >>> result.event, result.counts, result.lower > 4
    ('value = 0', (500, 0), True)
    """
    confidence_level, pair_distance = _parse_confidence(confidence), float(_parse_distance(distance))
    _check_limits(samples, seconds)
    draws = draw_samples(box, secrets, samples, seconds, progress)
    candidates = choose_events(*_half_samples(draws.first, draws), MAX_TESTED_EVENTS)
    risk = float(1 - confidence_level) / len(candidates)
    second_samples = _half_samples(draws.second, draws)
    test_results = [_test_event(candidate, *second_samples, risk) for candidate in candidates]
    claimed_log_ratio = math.inf if claimed is None else claimed.epsilon * pair_distance
    best = max(test_results, key=lambda result: (result.log_ratio > claimed_log_ratio, _readability_score(result)))
    high, low = secrets if best.candidate.forward else secrets[::-1]
    return AuditResult(
        max(best.log_ratio / pair_distance, 0.0),
        confidence_level,
        str(best.candidate.event) if best.log_ratio > 0 else None,
        2 * len(draws.first[0]),
        high,
        low,
        best.counts if best.log_ratio > 0 else None,
        len(test_results),
        claimed,
    )


def _half_samples(half: tuple[list[Any], list[Any]], draws: SampleHalves) -> tuple[Sample, Sample]:
    """The samples of both secrets in a half, with the columns that the first half has."""
    positions = number_positions([*draws.first[0], *draws.first[1]])
    return make_sample(half[0], positions), make_sample(half[1], positions)


@dataclass(frozen=True, slots=True)
class _TestResult:
    """A bound on ln of the ratio of an event's probabilities, and how often it came under both secrets."""

    candidate: CandidateEvent
    log_ratio: float
    counts: tuple[int, int]


def _test_event(candidate: CandidateEvent, first: Sample, second: Sample, risk: float) -> _TestResult:
    ordered_samples = (first, second) if candidate.forward else (second, first)
    high, low = (candidate.event.count(sample) for sample in ordered_samples)
    return _TestResult(candidate, log_ratio(high, low, len(first.values), risk), (high, low))


def _readability_score(result: _TestResult) -> float:
    """The bound, less a little for each step away from an event that is easy to read."""
    discount = READABILITY_DISCOUNT * result.candidate.event.complexity if result.log_ratio > 0 else 0
    return result.log_ratio * (1 - discount)


def _parse_confidence(value: object) -> Fraction:
    confidence_level = rational(value, "confidence")
    if not Fraction(1, 2) <= confidence_level < 1 or 1 - confidence_level < Fraction(1, 10**12):
        raise InputError(
            f"confidence must be from 0.5 to 1 - 1e-12, got {decimal(confidence_level)}",
            "confidence",
            "say for instance 0.99",
        )
    return confidence_level


def _parse_distance(value: object) -> Number:
    pair_distance = number(value, "distance")
    if not MIN_DISTANCE <= pair_distance <= MAX_DISTANCE:
        raise InputError(
            "distance must be from 1e-9 to 1e9: how far the two secrets are apart, 1 for neighbours", "distance"
        )
    return pair_distance


def _check_limits(samples: int, seconds: float) -> None:
    if not 2 * MIN_DRAWS <= samples <= MAX_SAMPLES:
        raise InputError(f"samples must be from {2 * MIN_DRAWS} to {MAX_SAMPLES}, got {samples}", "samples")
    if not (math.isfinite(seconds) and 0 < seconds <= 10**6):
        raise InputError(
            f"seconds must be > 0 and at most 1e6, got {seconds:g}: how long the draws may take", "seconds"
        )
