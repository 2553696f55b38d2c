"""Propose how to split a total ε over the queries of a plan: equally, scaled from the plan, balanced. Spends nothing.

*Balanced* makes the largest relative error as small as it can be: the half width of each query's 95 % interval, divided
by its wanted `error`, or by its half width under the equal split where no error is wanted. For a bound t on all of
them, the least ε of each query with half width ≤ t·reference is searched (`wanted_errors.least_epsilon`); the least t
whose ε add up to at most the total is bisected, to within 1/256 of itself. What is left over is shared in proportion.

A query and the count of the persons over its bound have one price: its error is that of the part that the query itself
gets. All ε are decimals of four digits, rounded down: their sum is never above the total.

Of a plan that asks for Gaussian noise ρ is split in their place, as a `zcdp` budget adds it up: the stated one, or that
of a budget of the stated ε and δ. Of a plan that asks for canonical noise ε is split, and δ in equal parts over the
queries with such noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from utmost.data import sources
from utmost.errors import InputError
from utmost.ledger.costs import check_epsilon, check_rho
from utmost.noise.concentrated import check_conversion_delta
from utmost.publish import execute, noise_choice, plans
from utmost.publish.plan_model import name_query_in_errors
from utmost.publish.pricing import CANONICAL, GEOMETRIC, PricedPair, pair_queries
from utmost.publish.wanted_errors import (
    CANDIDATES_PER_DECADE,
    LOWEST_DECADE,
    candidate,
    error_law_at,
    least_epsilon,
    printed_half_width,
    round_down,
)

if TYPE_CHECKING:
    from utmost.publish.execute import PlanSource
    from utmost.publish.plan_model import Plan
    from utmost.queries.answer_mechanisms.mechanism import ErrorLaw
    from utmost.queries.privacy_setting import PrivacySetting

BOUND_PRECISION = 256  # the bound on relative errors is found to within this part of itself
MAX_BISECTIONS = 40

LawAt = Callable[[Fraction], "ErrorLaw"]


@dataclass(frozen=True, slots=True)
class Split:
    """A proposal: the ε of each query, the error laws that they lead to, and the largest relative error."""

    name: str
    words: str
    epsilons: tuple[Fraction, ...]
    errors: tuple[ErrorLaw, ...]
    largest: Fraction | None

    @property
    def total(self) -> Fraction:
        """What it costs."""
        return sum(self.epsilons, Fraction(0))


@dataclass(frozen=True, slots=True)
class PlanSplits:
    """Proposals for a plan and a total ε."""

    plan: Plan
    total: Fraction
    splits: tuple[Split, ...]
    measure: str = "ε"


def propose_splits(
    plan_source: PlanSource, epsilon: object = None, *, delta: object = None, rho: object = None
) -> PlanSplits:
    """Three ways to split ε over the queries of a plan, with the half widths that they lead to. Reads no ledger.

    Of a plan that asks for Gaussian noise the ρ of (ε, δ), or a stated one, is split.
    """
    plan = plans.load_plan(plan_source)
    if any(spec.noise == CANONICAL for spec in plan.queries):
        return _propose_canonical_splits(plan, epsilon, delta, rho)
    if plan.chooses_noise:
        return _propose_rho_splits(plan, _total_rho(epsilon, delta, rho))
    if delta is not None or rho is not None:
        problem = "delta and rho must be left out where all noise is geometric, got one"
        raise InputError(problem, "rho", 'say --epsilon, or write noise = "best" into the plan')
    total = check_epsilon(epsilon, "epsilon")
    with sources.open_table(plan.source, plan.folder) as table:
        plan_check = execute.check_plan(plan, table)
    pairs = pair_queries(plan_check.plan.queries)
    laws = [_law_at(pair, plan_check.setting) for pair in pair_queries(plan.queries)]
    weights = [pair.price for pair in pairs]
    return PlanSplits(plan_check.plan, total, _propose(pairs, laws, weights, total, "ε"))


def _propose_rho_splits(plan: Plan, total: Fraction) -> PlanSplits:
    with sources.open_table(plan.source, plan.folder) as table:
        setting = execute.privacy_setting(plan, table)
    pairs = pair_queries(plan.queries)
    laws = [_law_at_rho(pair, setting) for pair in pairs]
    weights = [pair.query.share or pair.query.rho or pair.price**2 / 2 or Fraction(1) for pair in pairs]
    return PlanSplits(plan, total, _propose(pairs, laws, weights, total, "ρ"), "ρ")


def _propose_canonical_splits(plan: Plan, epsilon: object, delta: object, rho: object) -> PlanSplits:
    for spec in plan.queries:
        if spec.noise not in (CANONICAL, GEOMETRIC):
            problem = "noise must be canonical or geometric where a query has the first: canonical noise has no ρ"
            raise InputError(problem, "noise", "leave it out", context=f'query "{spec.name}"')
    if rho is not None:
        problem = "rho must be left out for a plan that asks for it: canonical noise has no ρ"
        raise InputError(problem, "rho", "say --epsilon and --delta")
    if delta is None:
        problem = "delta must be given with epsilon for a plan that asks for canonical noise"
        raise InputError(problem, "delta", "say for instance --delta 1e-6")
    total = check_epsilon(epsilon, "epsilon")
    share = check_conversion_delta(delta) / sum(spec.noise == CANONICAL for spec in plan.queries)
    with sources.open_table(plan.source, plan.folder) as table:
        setting = execute.privacy_setting(plan, table)
    pairs = pair_queries(plan.queries)
    laws = [_law_at_delta(pair, share, setting) for pair in pairs]
    weights = [pair.query.share or pair.price or Fraction(1) for pair in pairs]
    return PlanSplits(plan, total, _propose(pairs, laws, weights, total, "ε"))


def _law_at_delta(pair: PricedPair, share: Fraction, setting: PrivacySetting) -> LawAt:
    """The error law of a query as a function of its price, with canonical noise where it asks for it and has it."""
    spec = pair.query
    with name_query_in_errors(spec.name):
        if spec.noise != CANONICAL or not noise_choice.has_canonical(spec, setting):
            return _law_at(pair, setting)

    @cache
    def law_at(price: Fraction) -> ErrorLaw:
        with name_query_in_errors(spec.name):
            return noise_choice.canonical_error(spec, price * (1 - pair.part), spec.noise_delta or share, setting)

    return law_at


def _total_rho(epsilon: object, delta: object, rho: object) -> Fraction:
    """The stated ρ, or that of a budget of (ε, δ)."""
    from utmost.ledger.compositions.zcdp import rho_limit

    if rho is not None:
        if epsilon is not None or delta is not None:
            raise InputError("rho must be given without epsilon and delta", "rho", "keep one of them")
        return check_rho(rho, "rho")
    if delta is None:
        problem = "delta must be given with epsilon for a plan that asks for Gaussian noise"
        raise InputError(problem, "delta", "say for instance --delta 1e-6, or --rho")
    return rho_limit(check_epsilon(epsilon, "epsilon"), check_conversion_delta(delta))


def _propose(
    pairs: list[PricedPair], laws: list[LawAt], weights: list[Fraction], total: Fraction, measure: str
) -> tuple[Split, ...]:
    equal = _scale([Fraction(1)] * len(laws), total)
    references = [_reference(pair, law, share) for pair, law, share in zip(pairs, laws, equal, strict=True)]
    scaled = _scale(weights, total)
    balanced = _balance(laws, references, equal, total)
    proposals = (
        ("equal", f"the same {measure} for each query", equal),
        ("scaled", "in the proportions of the plan", scaled),
        ("balanced", "the largest relative error as small as it can be", balanced),
    )
    return tuple(_split(name, words, shares, laws, references) for name, words, shares in proposals)


def _law_at_rho(pair: PricedPair, setting: PrivacySetting) -> LawAt:
    """The error law of a query as a function of its ρ, with the noise that it asks for."""

    @cache
    def law_at(price: Fraction) -> ErrorLaw:
        with name_query_in_errors(pair.query.name):
            return noise_choice.error_at_rho(pair.query, price * (1 - pair.part), setting)

    return law_at


def _law_at(pair: PricedPair, setting: PrivacySetting) -> LawAt:
    """The error law of a query as a function of its price, each computed once."""

    @cache
    def law_at(price: Fraction) -> ErrorLaw:
        with name_query_in_errors(pair.query.name):
            return error_law_at(pair.query.query, setting, price * (1 - pair.part))

    return law_at


def _scale(weights: list[Fraction], total: Fraction) -> list[Fraction]:
    """The total in proportion to the weights, each part rounded down."""
    whole = sum(weights, Fraction(0))
    return [round_down(total * weight / whole) for weight in weights]


def _reference(pair: PricedPair, law_at: LawAt, equal_share: Fraction) -> Fraction:
    """The half width that a query's errors are compared with: the wanted one, or that of the equal split."""
    wanted = pair.query.wanted
    return printed_half_width(law_at(equal_share)) if wanted is None else wanted.error * (wanted.rows or 1)


def _split(name: str, words: str, shares: list[Fraction], laws: list[LawAt], references: list[Fraction]) -> Split:
    errors = tuple(law_at(share) for law_at, share in zip(laws, shares, strict=True))
    return Split(name, words, tuple(shares), errors, _largest_ratio(errors, references))


def _largest_ratio(errors: tuple[ErrorLaw, ...], references: list[Fraction]) -> Fraction | None:
    """The largest half width relative to its reference; None where no reference is above 0."""
    ratios = [printed_half_width(e) / reference for e, reference in zip(errors, references, strict=True) if reference]
    return max(ratios, default=None)


def _balance(laws: list[LawAt], references: list[Fraction], equal: list[Fraction], total: Fraction) -> list[Fraction]:
    """The shares for the least bound on all relative errors; the equal split meets the first one that is tried."""
    high = _largest_ratio(tuple(law_at(share) for law_at, share in zip(laws, equal, strict=True)), references)
    if high is None:
        return equal
    low, shares = Fraction(0), equal
    for _ in range(MAX_BISECTIONS):
        if high - low <= high / BOUND_PRECISION:
            break
        middle = (low + high) / 2
        needed = [_least_share(law_at, middle * ref, total) for law_at, ref in zip(laws, references, strict=True)]
        found = [share for share in needed if share is not None]
        if len(found) == len(needed) and sum(found) <= total:
            high, shares = middle, found
        else:
            low = middle
    return _scale(shares, total)


def _least_share(law_at: LawAt, half_width: Fraction, total: Fraction) -> Fraction | None:
    """The least ε with at most this half width; None where the total itself does not reach it."""
    lowest = candidate(LOWEST_DECADE * CANDIDATES_PER_DECADE)
    if printed_half_width(law_at(total)) > half_width:
        return None
    try:
        return least_epsilon(law_at, half_width)
    except InputError:
        return lowest  # every ε reaches it
