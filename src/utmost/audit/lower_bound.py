"""The lower bound on ε or ρ that an audit proves: exact for a channel, with a confidence for a black box."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from utmost.audit.black_boxes import MIN_DRAWS, BlackBox, Progress, SampleHalves, draw_samples
from utmost.audit.channel_claims import approximate_loss
from utmost.audit.claims import NEIGHBOURS_ONLY, Claims, check_claims, double_below
from utmost.audit.divergences import DivergenceBound, rho_lower_bound
from utmost.audit.events import CandidateEvent, Sample, choose_events, log_ratio, make_sample, number_positions
from utmost.audit.result import AuditResult
from utmost.channel import Channel, Mechanism, align_inputs, channel_of, concentration, least_epsilon
from utmost.errors import InputError
from utmost.exact import Level, Number, decimal, number, rational
from utmost.spaces import Label, Space, line, space
from utmost.spaces.space import integer_distances

MAX_SAMPLES = 10**7
MIN_DISTANCE, MAX_DISTANCE = Fraction(1, 10**9), Fraction(10**9)  # distances
MAX_TESTED_EVENTS = 4  # counted on the second half; each costs a share of the risk
READABILITY_DISCOUNT = 0.02  # of a bound; what is given up for each step towards an event that is easier to read
DEFAULT_CONFIDENCE = Fraction(99, 100)
MAX_NAMED_OUTPUTS = 6  # of an event
ANY_PAIR_TEXT = "any two inputs"
DEFAULT_SAMPLES = 50_000  # of each secret
DEFAULT_SECONDS = 60.0


def channel_bound(
    mechanism: Channel | Mechanism,
    points: Space | None = None,
    pair: tuple[Label, Label] | None = None,
    distance: object = 1,
    claimed: Level | None = None,
    *,
    delta: object | None = None,
    rho: object | None = None,
) -> AuditResult:
    """The ε of a channel, exact: on a space, or for one pair at the distance given.

    If neither is given, inputs 0 … n−1 are a line and of any other inputs any two are neighbours.

    Pr[S|x] ≤ e^ε·Pr[S|x′] for every set S of outputs if it holds for each single one (the mediant inequality), so the
    event that attains ε is one output. With a `delta`: the least δ at the claimed ε and the least ε at that δ, with the
    set of outputs that attains it (`channel_claims`). With a claimed `rho`: whether it holds at every order, and the
    order and pair that refute it (`channel.concentration`).

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> mechanism = geometric(5, alpha("1/2"))
    >>> result = channel_bound(mechanism, claimed=alpha("2/3"))
    >>> result.privacy_loss.ratio, result.event, result.verdict
    (Fraction(2, 1), 'output 0', 'refuted')
    >>> result = channel_bound(mechanism, claimed=alpha("2/3"), delta="1/10")
    >>> result.approximate_loss.least_delta, result.event, result.verdict
    (Fraction(1, 6), 'outputs 1, 2, 3, 4, 5', 'refuted')
    >>> channel_bound(mechanism, rho="1/4").verdict
    'holds'
    """
    source = channel_of(mechanism)
    claims = check_claims(claimed, delta, rho)
    if pair is not None:
        if points is not None:
            raise InputError(
                "a pair of inputs must come without a space, got both", hint="give the distance of the pair"
            )
        points = _pair_space(pair, distance)
        source = source.restrict(pair)
    input_space = points if points is not None else _default_space(source)
    if claims.delta is None and claims.rho is None:
        return _pure_bound(source, input_space, claimed)
    return _neighbour_bound(align_inputs(source, input_space), input_space, claims)


def _pure_bound(source: Channel, input_space: Space, claimed: Level | None) -> AuditResult:
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


def _neighbour_bound(source: Channel, input_space: Space, claims: Claims) -> AuditResult:
    """What is known of (ε, δ) or ρ over all neighbours."""
    if any(input_space.distances[pair] != 1 for pair in input_space.edges):
        raise InputError(NEIGHBOURS_ONLY, "distance", "leave the distance out, or take a space of steps of 1")
    if len(source.inputs) < 2:
        raise InputError("channel must have two inputs or more for a claim with delta or rho, got one", "channel")
    is_any_pair = input_space.name == ANY_PAIR_TEXT
    pairs = combinations(source.inputs, 2) if is_any_pair else _labels(source, input_space)
    common: dict[str, Any] = {
        "neighbours": input_space.name,
        "claimed": claims.level,
        "delta": claims.delta,
        "rho": claims.rho,
    }
    if claims.rho is not None:
        return _rho_bound(source, [way for x, other in pairs for way in ((x, other), (other, x))], common)
    assert claims.delta is not None
    loss = approximate_loss(source, pairs, claims.delta, claims.level)
    event = _outputs_text(loss.event) if loss.event else None
    return AuditResult(
        loss.least_level.epsilon, Fraction(1), event, 0, loss.high, loss.low, approximate_loss=loss, **common
    )


def _labels(source: Channel, input_space: Space) -> Iterator[tuple[Label, Label]]:
    return ((source.inputs[x], source.inputs[other]) for x, other in input_space.edges)


def _rho_bound(source: Channel, pairs: list[tuple[Label, Label]], common: dict[str, Any]) -> AuditResult:
    result = concentration(source, pairs, common["rho"])
    witness = result.witness
    high, low = witness.pair if witness is not None else pairs[0]
    event = _outputs_text((witness.output,)) if witness is not None and witness.output is not None else None
    lower = math.inf if result.lower is None else double_below(result.lower)
    return AuditResult(lower, Fraction(1), event, 0, high, low, concentration=result, **common)


def _outputs_text(outputs: tuple[Label, ...]) -> str:
    """The outputs of an event, the first few by name."""
    if len(outputs) == 1:
        return f"output {outputs[0]}"
    names = ", ".join(map(str, outputs[:MAX_NAMED_OUTPUTS]))
    rest = len(outputs) - MAX_NAMED_OUTPUTS
    return f"outputs {names}" + (f" and {rest} more" if rest > 0 else "")


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
    delta: object | None = None,
    rho: object | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """A lower bound on the ε of a black box from `samples` draws under each of two secrets, by turns.

    The first half chooses at most `MAX_TESTED_EVENTS` events; the second half counts them. For each, ln(p/q) is bounded
    below by Clopper–Pearson bounds on p and q, the risk 1 − confidence shared equally among these bounds, two for each
    event (union bound). The largest is the answer, or one up to a twentieth smaller if its event is plainer and the
    verdict the same. Which events were looked at in the first half costs nothing: the halves are independent.

    With a `delta` the bound is on ε at that δ. (ε, δ)-privacy says p ≤ e^ε·q + δ for every event, so ε ≥ ln((p − δ)/q)
    where p > δ. This rises in p and falls in q, so it is least at the lower bound of p and the upper bound of q.

    With a claimed `rho` the bound is on the ρ of zero-concentrated privacy: see `divergences`.

    >>> def broken(secrets, seconds):
    ...     return secrets
    >>> result = sampled_bound(broken, (0, 1), samples=1000)
    >>> result.event, result.counts, result.lower > 4
    ('value = 0', (500, 0), True)
    >>> sampled_bound(broken, (0, 1), samples=1000, rho=1).verdict
    'refuted'
    """
    confidence_level, pair_distance = _parse_confidence(confidence), float(_parse_distance(distance))
    claims = check_claims(claimed, delta, rho)
    if pair_distance != 1 and (claims.delta is not None or claims.rho is not None):
        raise InputError(NEIGHBOURS_ONLY, "distance", "leave the distance out, and take two neighbours")
    _check_limits(samples, seconds)
    draws = draw_samples(box, secrets, samples, seconds, progress)
    first_half, second_half = _half_samples(draws.first, draws), _half_samples(draws.second, draws)
    margin = claims.delta_above
    candidates = choose_events(*first_half, MAX_TESTED_EVENTS, margin)
    common: dict[str, Any] = {"confidence": confidence_level, "samples": 2 * len(draws.first[0]), "delta": claims.delta}
    if claims.rho is not None:
        bound = rho_lower_bound(first_half, second_half, candidates, float(1 - confidence_level))
        return _divergence_result(bound, secrets, claims.rho, common)
    risk = float(1 - confidence_level) / len(candidates)
    test_results = [_test_event(candidate, *second_half, risk, margin) for candidate in candidates]
    claimed_log_ratio = math.inf if claimed is None else claimed.epsilon * pair_distance
    best = max(test_results, key=lambda result: (result.log_ratio > claimed_log_ratio, _readability_score(result)))
    high, low = secrets if best.candidate.forward else secrets[::-1]
    return AuditResult(
        max(best.log_ratio / pair_distance, 0.0),
        event=str(best.candidate.event) if best.log_ratio > 0 else None,
        high=high,
        low=low,
        counts=best.counts if best.log_ratio > 0 else None,
        events_tested=len(test_results),
        claimed=claimed,
        **common,
    )


def _divergence_result(
    bound: DivergenceBound, secrets: tuple[Any, Any], rho: Fraction, common: dict[str, Any]
) -> AuditResult:
    high, low = secrets if bound.forward else secrets[::-1]
    event = f"{bound.partition} in {bound.cells} cells" if bound.rho > 0 else None
    return AuditResult(
        bound.rho,
        event=event,
        high=high,
        low=low,
        events_tested=bound.tested,
        rho=rho,
        divergence=bound,
        **common,
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


def _test_event(candidate: CandidateEvent, first: Sample, second: Sample, risk: float, delta: float) -> _TestResult:
    ordered_samples = (first, second) if candidate.forward else (second, first)
    high, low = (int(np.count_nonzero(candidate.event.contains(sample))) for sample in ordered_samples)
    return _TestResult(candidate, log_ratio(high, low, len(first.values), risk, delta), (high, low))


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
