"""Examine a channel: its ε, signature, origin, membership of its type and capacity; its generality; its events.

Each part is None where it does not apply or is not decided. Signature and origin are defined on a line, for exact
entries and 0 < α < 1; `obstacle` says what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost import design, polytopes, qif
from utmost.axioms import likelihood_ratio
from utmost.axioms.constraint_graphs import RowGraph, row_graphs
from utmost.axioms.definition import relation_from_space
from utmost.axioms.dobrushin import Ergodicity, best_coefficient, ergodicity
from utmost.axioms.generality import Maximality, maximality
from utmost.axioms.pair_rules import AllowedPairs
from utmost.axioms.privacy_profiles import Profile, profile
from utmost.axioms.satisfaction import Satisfaction, satisfaction
from utmost.channel import Channel, Concentration, PrivacyLoss, align_inputs, concentration, least_epsilon
from utmost.design.optimal import is_line
from utmost.exact import Level, Number, alpha
from utmost.result_values import short_repr

if TYPE_CHECKING:
    from fractions import Fraction

    from utmost.axioms.curves import Curve
    from utmost.axioms.definition import Definition
    from utmost.axioms.likelihood_ratio import Odds
    from utmost.channel.channel import Label
    from utmost.design import Derivation
    from utmost.polytopes import MembershipVerdict
    from utmost.spaces import Space

MAX_TYPE_OUTPUTS = 100  # of a channel whose membership of its type is decided
MAX_GENERALITY_SIZE = 100  # inputs and outputs of a channel whose generality is decided


@dataclass(frozen=True, slots=True)
class Examination:
    """The properties of a channel on a space.

    `level` is the one asked for, else the channel's own where it is exact; `private` says whether it is private at the
    one asked for. `vertex` and `kernel`: is it made of vertices of its type, is it a kernel mechanism (FMPD23 Def. 4,
    5).
    """

    __repr__ = short_repr

    channel: Channel
    space: Space
    privacy_loss: PrivacyLoss
    level: Level | None
    private: bool | None
    signature: tuple[str, ...] | None
    derivation: Derivation | None
    vertex: MembershipVerdict | None
    kernel: MembershipVerdict | None
    capacity: qif.Capacity | None
    obstacle: str | None


def examine(source: Channel, space: Space, requested_level: Level | None) -> Examination:
    """The properties of a channel. Without a level its own least one is taken, where that is exact."""
    privacy_loss = least_epsilon(source, space)
    channel = align_inputs(source, space)
    level = requested_level if requested_level is not None or not source.exact else privacy_loss.level
    private = None if requested_level is None else privacy_loss.within(requested_level)
    obstacle = _signature_obstacle(channel, level) if is_line(space) else f"{space.name} is no line"
    signature, derivation = None, None
    if obstacle is None and level is not None:
        is_private = privacy_loss.within(level)
        signature = design.signature(channel, level) if is_private else None
        obstacle = None if is_private else "it is not private at this level"
        derivation = design.derivation(channel, level)
    vertex, kernel = _membership(channel, space, level)
    capacity = qif.capacity(channel) if channel.exact else None
    return Examination(
        channel, space, privacy_loss, level, private, signature, derivation, vertex, kernel, capacity, obstacle
    )


def _membership(
    source: Channel, space: Space, level: Level | None
) -> tuple[MembershipVerdict | None, MembershipVerdict | None]:
    if not source.exact or level is None or len(source.outputs) > MAX_TYPE_OUTPUTS:
        return None, None
    vertex = polytopes.is_vertex_mechanism(source, space, level)
    return vertex, polytopes.is_kernel_mechanism(source, space, level) if vertex else vertex


def _signature_obstacle(source: Channel, level: Level | None) -> str | None:
    """Why signature and derivation cannot be decided, if they cannot."""
    if not source.exact:
        return "its entries are floats; write them as fractions or decimals in text"
    if level is None:
        return "its least level cannot be written exactly; give --alpha or --epsilon"
    return None if level.is_inner else f"it takes 0 < α < 1, and the level is α = {level.alpha}"


@dataclass(frozen=True, slots=True)
class GeneralityExamination:
    """Row graphs of a channel, whether it is maximally general, Dobrushin's coefficient and the best possible one.

    All but the labels are None for floats and large channels; for one that is not private, all but its coefficient.
    """

    level: Level | None
    labels: tuple[Any, ...]
    graphs: tuple[RowGraph, ...] | None = None
    maximality: Maximality | None = None
    ergodicity: Ergodicity | None = None
    best: Number | None = None


def examine_generality(examination: Examination) -> GeneralityExamination:
    """The generality of an examined channel."""
    source, space, level = examination.channel, examination.space, examination.level
    labels = tuple(source.inputs)
    if not source.exact or max(len(source.inputs), len(source.outputs)) > MAX_GENERALITY_SIZE:
        return GeneralityExamination(level, labels)
    coefficient = ergodicity(source)
    if level is None or not examination.privacy_loss.within(level):
        return GeneralityExamination(level, labels, ergodicity=coefficient)
    graphs = row_graphs(source, space, level)
    length = _common_edge_length(space)
    best = None
    if length is not None:
        level_per_edge = level if length == 1 else alpha(level.power(length))
        best = best_coefficient(relation_from_space(space), level_per_edge)
    return GeneralityExamination(level, labels, graphs, maximality(graphs, labels), coefficient, best)


def _common_edge_length(space: Space) -> Number | None:
    """The distance of all neighbours, if it is one; only then the closed form of the best coefficient applies."""
    lengths = {str(length): length for length in (space.distance(x, y) for x, y in space.edges)}
    return next(iter(lengths.values())) if len(lengths) == 1 else None


@dataclass(frozen=True, slots=True)
class EventExamination:
    """The profile of a pair, whether a definition is met for every event, its bound for that pair, and posterior odds.

    `definition_text` is the definition as given. `level` is the one that the odds are for. `concentration` says whether
    zero-concentrated privacy is met, where the definition is that.
    """

    definition_text: str | None
    profile: Profile | None
    verdict: Satisfaction | None
    bound: Curve | None
    level: Level | None
    odds: Odds | None
    allowed_odds: Odds | None
    concentration: Concentration | None = None


def examine_events(
    examination: Examination,
    definition: Definition | None,
    definition_text: str | None,
    pair: tuple[Label, Label] | None,
    rho: Fraction | None = None,
) -> EventExamination:
    """The events of an examined channel; with a ρ, whether it has that for all neighbours, in both directions.

    The pair is the one given, else the definition's worst, else the one that attains ε.
    """
    source, privacy_loss, level = examination.channel, examination.privacy_loss, examination.level
    verdict = None if definition is None else satisfaction(source, definition)
    if pair is None:
        worst = None if verdict is None else verdict.witness
        pair = (privacy_loss.low, privacy_loss.high) if worst is None else worst.pair
    pair_profile = None if pair[0] == pair[1] else profile(source, pair)
    bound = None if definition is None else _pair_bound(definition, pair)
    odds_level = level if pair_profile is not None and level is not None and level.is_inner else None
    odds, allowed_odds = None, None
    if odds_level is not None and pair_profile is not None:
        odds = likelihood_ratio.odds_tails(pair_profile.curve, odds_level)
        allowed_odds = None if bound is None else likelihood_ratio.odds_bounds(bound, odds_level)
    rho_verdict = None if rho is None else _examine_rho(examination, rho)
    return EventExamination(definition_text, pair_profile, verdict, bound, odds_level, odds, allowed_odds, rho_verdict)


def _examine_rho(examination: Examination, rho: Fraction) -> Concentration:
    relation = relation_from_space(examination.space)
    pairs = [(relation.labels[first], relation.labels[second]) for first, second in relation.pairs]
    return concentration(examination.channel, pairs, rho)


def _pair_bound(definition: Definition, pair: tuple[Label, Label]) -> Curve | None:
    """M of a pair, and what the reversed pair's adds to it; None if the definition does not relate it."""
    positions = {str(label): k for k, label in enumerate(definition.relation.labels)}
    first, second = positions[str(pair[0])], positions[str(pair[1])]
    related_pairs = definition.relation.pairs
    if (first, second) not in related_pairs:
        return None
    bound = definition.bound(first, second)
    reverse_bound = definition.bound(second, first) if (second, first) in related_pairs else None
    return AllowedPairs(bound, reverse_bound).bound or bound
