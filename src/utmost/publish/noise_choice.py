"""Which noise each query of a plan gets, and at which price, where the plan asks for other noise than geometric.

The price of Gaussian noise is ρ, that of canonical noise ε and δ, and what a plan's (ε, δ) means follows from how its
budget composes.

- `approximate`: ε and δ are split over the queries. Each has canonical noise of its own (ε, δ), or the ρ that these
  convert to.
- `zcdp`: (ε, δ) stands for the ρ of a budget with these terms; ρ is split. A query with geometric noise has
  ε = √(2ρ), rounded down. Canonical noise has no ρ.
- `pld`: ρ is split in the same way, and the sum is the largest with which all queries together are (ε, δ)-private, as
  the ledger composes them. Canonical noise has the ε of geometric noise; half of δ is split over the queries with it,
  and counts as what their noise tells beyond its reach.

`best` takes the noise with the narrowest 95 % interval at the same price, of equal ones that with the smallest expected
absolute error. Under `approximate` that is geometric, Gaussian or canonical noise, under `zcdp` one of the first two.
Under `pld`, where the price of all depends on the noise of each, it takes the best of three: Gaussian noise for all
such queries, for none, or for those that gain by it when all have it. The best is the one whose intervals are narrowest
on average over all numbers, relative to geometric noise for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from utmost.errors import InputError
from utmost.exact import decimal, decimal_above, decimal_below
from utmost.ledger.costs import QueryCost
from utmost.noise.concentrated import rho_of
from utmost.publish import pricing
from utmost.publish.pricing import (
    BEST,
    CANONICAL,
    GAUSSIAN,
    GEOMETRIC,
    PricedPair,
    PriceRequest,
    pair_queries,
    split_price,
)
from utmost.publish.told_privacy import ToldPrivacy, epsilon_at, told_privacy
from utmost.publish.wanted_errors import find_epsilon, least_epsilon
from utmost.queries.privacy_setting import short_epsilon

if TYPE_CHECKING:
    from utmost.ledger import Budget
    from utmost.publish.plan_model import Plan, QuerySpec
    from utmost.queries.answer_mechanisms.mechanism import ErrorLaw
    from utmost.queries.privacy_setting import PrivacySetting
    from utmost.queries.query import SelectedMechanism

SHOWN_DIGITS = 6  # of an amount in an error
AMOUNT_DIGITS = 12  # of a ρ, and of an ε that follows from one
SEARCH_PRECISION = Fraction(1, 2000)  # the ρ of a plan under pld is found to within this part of itself
MAX_SEARCH_STEPS = 40
MIN_PART = 10**6  # the ρ that is split is not looked for below one part in so many of what queries have of their own
ANY_DELTA = Fraction(1, 10**6)  # where what ρ is told as does not matter
MIN_RATIO = Fraction(1, 2)  # of ε to the wanted one, from which the next ρ follows: ε can be 0
NEAR_RATIO = Fraction(1, 50)
NO_WIDTH = 1e-6  # of an expected error, where no half width tells noises apart

Result = TypeVar("Result")
Specs = tuple["QuerySpec", ...]


def price_noise(plan: Plan, setting: PrivacySetting, budget: Budget | None) -> tuple[Specs, ToldPrivacy | None]:
    """The queries with their noise and their prices, and what they tell together where that is no sum."""
    composition, other = _composition(plan, budget), _other_noise(plan)
    missing = InputError(f"delta is missing: {other} noise needs a δ", "delta", "add for instance delta = 1e-6")
    if composition == "pure" and _takes_any_noise(plan):
        geometric = tuple(replace(spec, noise=GEOMETRIC, noise_delta=Fraction(0)) for spec in plan.queries)
        return _price_by_sums(replace(plan, queries=geometric), setting), None
    if composition == "pure" and budget is None:
        raise missing
    if composition == "pure":
        problem = f"noise must be geometric in a budget without δ: {other} noise is private only but for a δ"
        raise InputError(problem, "noise", "open a budget with --delta, or take geometric noise")
    if composition == "approximate":
        return _price_by_sums(plan, setting), None
    delta = plan.price.delta or (None if budget is None else budget.delta)
    if not delta:
        raise missing
    plan = _share_rho(plan)
    if composition == "zcdp":
        return _price_by_rho(plan, setting, delta)
    return _price_by_distributions(plan, setting, delta)


def _share_rho(plan: Plan) -> Plan:
    """The plan where shares of levels that were planned are planned for sums of ρ."""
    shared = {spec.name: spec for table in plan.tables for spec in table.for_sums_of_rho().specs}
    return replace(plan, queries=tuple(shared.get(spec.name, spec) for spec in plan.queries))


def _takes_any_noise(plan: Plan) -> bool:
    """Does every query leave the choice of noise and have no price in ρ: without δ the noise is geometric."""
    has_rho = plan.price.rho is not None or any(spec.rho is not None for spec in plan.queries)
    return not has_rho and all(spec.noise in (GEOMETRIC, BEST) for spec in plan.queries)


def _other_noise(plan: Plan) -> str:
    """Which noise beside geometric a plan asks for, in words."""
    return "canonical" if any(spec.noise == CANONICAL for spec in plan.queries) else "Gaussian"


@dataclass(frozen=True, slots=True)
class OtherNoise:
    """The error with the noise that a query did not get: geometric where ε adds up, or Gaussian at the same price."""

    noise: str
    error: ErrorLaw


def other_noises(plan: Plan, priced: Specs, setting: PrivacySetting) -> dict[str, OtherNoise]:
    """What the noise that was not chosen would do, by query: geometric noise where ε adds up, or Gaussian noise."""
    pure, left_open = _pure_epsilons(plan), {spec.name for spec in plan.queries if spec.noise == BEST}
    others: dict[str, OtherNoise] = {}
    for spec in priced:
        if spec.noise in (GAUSSIAN, CANONICAL) and spec.name in pure:
            others[spec.name] = OtherNoise(GEOMETRIC, _plain_error(spec, pure[spec.name], setting))
        elif spec.noise == GEOMETRIC and spec.name in left_open and spec.rejected_rho is not None:
            others[spec.name] = OtherNoise(GAUSSIAN, _gaussian_error(spec, spec.rejected_rho, setting))
    return others


def _pure_epsilons(plan: Plan) -> dict[str, Fraction]:
    """The ε that each query would have if those of all added up to the plan's; none where that is not known."""
    is_split = plan.price.epsilon is not None and all(spec.share is not None or spec.over for spec in plan.queries)
    if not plan.chooses_noise or not is_split:
        return {}
    return {spec.name: spec.epsilon for spec in pricing.price_queries(plan.queries, plan.price.epsilon)}


def _composition(plan: Plan, budget: Budget | None) -> str:
    """How the plan's budget composes; of one that is not open, how one with the plan's amounts would."""
    if budget is not None:
        return budget.composition
    if plan.price.rho is not None:
        return "zcdp"
    return "approximate" if plan.price.delta or any(spec.noise_delta for spec in plan.queries) else "pure"


def gaussian_selection(spec: QuerySpec, rho: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
    """The Gaussian mechanism of a query at ρ; None where it has none and the plan's noise is only a default."""
    selection = spec.query.resolve(spec.epsilon or Fraction(1), setting).select_gaussian(rho, setting)
    if selection is None and spec.noise == GAUSSIAN and not spec.inherits_noise:
        raise _without_noise(spec, "Gaussian")
    return selection


def _without_noise(spec: QuerySpec, noise: str) -> InputError:
    """The refusal of noise that a query has not."""
    where = "with keys that are found in the data" if spec.query.needs_delta else "here"
    kinds = "counts, sums, different values and means of a public number of rows, in cells too"
    problem = f"noise must be geometric for a {spec.query.noun} {where}: {noise} noise is for {kinds}"
    return InputError(problem, "noise", "leave it out")


def canonical_selection(spec: QuerySpec, setting: PrivacySetting) -> SelectedMechanism | None:
    """Canonical noise of a query at its ε and δ; None where it has none and the plan's noise is only a default."""
    query = spec.query.resolve(spec.epsilon, setting)
    try:
        selection = query.select_canonical(spec.epsilon, spec.noise_delta, setting)
    except InputError:
        if spec.noise != BEST:
            raise
        return None
    if selection is None and spec.noise == CANONICAL and not spec.inherits_noise:
        raise _without_noise(spec, "canonical")
    return selection


def has_canonical(spec: QuerySpec, setting: PrivacySetting) -> bool:
    """Has a query canonical noise; refused where it asks for it by itself and has none."""
    return canonical_selection(replace(spec, epsilon=Fraction(1), noise_delta=ANY_DELTA), setting) is not None


def has_gaussian(spec: QuerySpec, setting: PrivacySetting) -> bool:
    """Has a query Gaussian noise; refused where it asks for it by itself and has none."""
    return gaussian_selection(spec, Fraction(1), setting) is not None


def spec_cost(spec: QuerySpec, selection: SelectedMechanism) -> QueryCost:
    """What a priced query costs a ledger."""
    numbers = 1 if selection.moves is None else selection.moves.numbers or 1
    steps, law = selection.ledger_steps, selection.ledger_law
    return QueryCost(spec.name, spec.epsilon, law, steps, spec.delta, spec.rho, numbers)


# Sums of ε and δ


def _price_by_sums(plan: Plan, setting: PrivacySetting) -> Specs:
    queries = _split_noise_delta(plan.queries, plan.price.delta)
    queries = tuple(
        spec if spec.rho is None else replace(spec, epsilon=epsilon_at(spec.rho, spec.noise_delta)) for spec in queries
    )
    found = {spec.name: _wanted_epsilon(spec, setting) for spec in queries if spec.wanted is not None}
    priced = pricing.price_queries(queries, plan.price.epsilon, found)
    return tuple(_named(spec, lambda spec=spec: _choose_by_sums(spec, setting)) for spec in priced)  # type: ignore[misc]


def _split_noise_delta(queries: Specs, total: Fraction | None) -> Specs:
    """The queries with a δ each where their noise may need one: their own, or an equal part of what is left."""
    asked = [spec for spec in queries if spec.noise != GEOMETRIC or spec.query.needs_delta]
    fixed = {spec.name: spec.delta for spec in asked if spec.delta and not spec.splits_delta}
    requests = [PriceRequest(spec.name, fixed.get(spec.name)) for spec in asked]
    deltas = dict(zip([spec.name for spec in asked], split_price(total, requests, "delta"), strict=True))
    return tuple(_with_delta(spec, deltas.get(spec.name), spec.name in fixed) for spec in queries)


def _with_delta(spec: QuerySpec, delta: Fraction | None, is_own: bool) -> QuerySpec:
    if delta is None:
        return spec
    if spec.query.needs_delta:
        return replace(spec, query=spec.query.with_delta(delta), splits_delta=not is_own)
    return replace(spec, noise_delta=delta, splits_delta=not is_own)


def _wanted_epsilon(spec: QuerySpec, setting: PrivacySetting) -> Fraction:
    """The ε that a wanted error needs, with the noise that needs less."""
    assert spec.wanted is not None
    wanted = spec.wanted
    is_gaussian = spec.noise == GAUSSIAN and _named(spec, lambda: has_gaussian(spec, setting))
    is_canonical = spec.noise == CANONICAL and _named(spec, lambda: has_canonical(spec, setting))
    amounts = []
    if not (is_gaussian or is_canonical):
        amounts.append(_named(spec, lambda: find_epsilon(spec.query, setting, wanted)))
    if spec.noise in (GAUSSIAN, BEST):
        rho = _named(spec, lambda: _wanted_rho(spec, setting))
        amounts += [] if rho is None else [epsilon_at(rho, spec.noise_delta)]
    if is_canonical or spec.noise == BEST:
        amounts += _named(spec, lambda: _wanted_canonical(spec, setting))
    return min(amounts)


def _wanted_canonical(spec: QuerySpec, setting: PrivacySetting) -> list[Fraction]:
    """The least ε of four digits with which canonical noise is within the wanted error; none where `best` has none."""
    assert spec.wanted is not None
    error, delta = spec.wanted.error, spec.noise_delta or ANY_DELTA
    if not has_canonical(spec, setting):
        return []
    try:
        spec.query.check_error(error)
        return [least_epsilon(lambda epsilon: canonical_error(spec, epsilon, delta, setting), error)]
    except InputError:
        if spec.noise != BEST:
            raise
        return []


def canonical_error(spec: QuerySpec, epsilon: Fraction, delta: Fraction, setting: PrivacySetting) -> ErrorLaw:
    """The error of a query with canonical noise of (ε, δ)."""
    query = spec.query.resolve(epsilon, setting)
    selection = query.select_canonical(epsilon, delta, setting)
    assert selection is not None
    return query.error_law(selection.mechanism)


def _choose_by_sums(spec: QuerySpec, setting: PrivacySetting) -> QuerySpec:
    plain, others = replace(spec, noise=GEOMETRIC, noise_delta=Fraction(0), rho=None), []
    if spec.noise in (GAUSSIAN, BEST) and has_gaussian(spec, setting):
        rho = spec.rho or _short(rho_of(spec.epsilon, spec.noise_delta))
        others.append(replace(spec, noise=GAUSSIAN, rho=rho))
    if spec.noise in (CANONICAL, BEST):
        others += _with_canonical(spec, setting)
    return _choose(plain, others, spec, setting)


def _with_canonical(spec: QuerySpec, setting: PrivacySetting) -> list[QuerySpec]:
    """The query with canonical noise, and the δ that this has; none where it has no such noise."""
    selection = canonical_selection(spec, setting)
    if selection is None:
        return []
    delta = selection.mechanism.told_delta(selection.sensitivity)
    return [replace(spec, noise=CANONICAL, rho=None, noise_delta=delta)]


def _choose(plain: QuerySpec, others: Sequence[QuerySpec], spec: QuerySpec, setting: PrivacySetting) -> QuerySpec:
    """The noise that is asked for, or that errs least; the plain query where it has no other."""
    if spec.noise != BEST:
        return others[0] if others else plain
    chosen = min([plain, *others], key=lambda candidate: _widths(candidate, setting))
    rhos = [other.rho for other in others if other.rho is not None]
    return replace(plain, rejected_rho=rhos[0] if rhos else None) if chosen is plain else chosen


def _widths(spec: QuerySpec, setting: PrivacySetting) -> tuple[Fraction | float, float]:
    """The half width of the 95 % interval of a priced query, and its expected absolute error."""
    error = _error(spec, setting)
    return error.half_width, error.expected


def _error(spec: QuerySpec, setting: PrivacySetting) -> ErrorLaw:
    """The error of a priced query."""
    return spec.query.resolve(spec.epsilon, setting).error_law(select(spec, setting).mechanism)


def _plain_error(spec: QuerySpec, epsilon: Fraction, setting: PrivacySetting) -> ErrorLaw:
    """The error of a query at an ε with geometric noise, or with whatever else its kind is answered by."""
    return _error(replace(spec, epsilon=epsilon, noise=GEOMETRIC, noise_delta=Fraction(0), rho=None), setting)


# Sums of ρ


def _price_by_rho(plan: Plan, setting: PrivacySetting, delta: Fraction) -> tuple[Specs, ToldPrivacy]:
    _check_no_canonical(plan.queries)
    reserved = _found_delta(plan.queries, delta)
    told_delta = delta - reserved
    queries = _split_found_delta(plan.queries, reserved)
    total = plan.price.rho
    if total is None and plan.price.epsilon is not None:
        total = _plan_rho(plan.price.epsilon, delta, reserved)
        _check_own_rho(queries, plan.price.epsilon, told_delta, total, setting)
    specs = _split_rho(queries, total, told_delta, setting)
    costs = [spec_cost(spec, select(spec, setting)) for spec in specs]
    own = sum((cost.group(None).own_delta for cost in costs), Fraction(0))
    return specs, told_privacy(costs, told_delta + own, "zcdp")


def _plan_rho(epsilon: Fraction, delta: Fraction, reserved: Fraction) -> Fraction:
    """The ρ that a plan's ε stands for: that of a budget of its terms, if found cells take no more of δ than there."""
    from utmost.ledger.compositions.zcdp import FOUND_CELLS_SHARE, rho_limit

    if reserved == delta * FOUND_CELLS_SHARE:
        return rho_limit(epsilon, delta)
    return _short(rho_of(epsilon, delta - reserved))


def _check_own_rho(
    queries: Specs, epsilon: Fraction, delta: Fraction, total: Fraction, setting: PrivacySetting
) -> None:
    """Refuse a plan whose queries have more ρ of their own than its ε stands for, in words of ε."""
    requests = [(pair, _rho_request(pair, delta, setting)) for pair in pair_queries(queries)]
    own = [(pair, request.amount) for pair, request in requests if request.amount is not None and not request.is_found]
    amounts = [amount for _, amount in own]
    needed = sum(amounts, Fraction(0))
    if not own or (needed < total or (needed == total and len(own) == len(requests))):
        return
    costliest = max(own, key=lambda pair_amount: pair_amount[1])[0].query
    need, has = decimal_above(needed, SHOWN_DIGITS), decimal_below(total, SHOWN_DIGITS)
    problem = f"epsilon of the plan must be more than {short_epsilon(epsilon)}, which in this budget is ρ {has}"
    hint = f'raise it, or give query "{costliest.name}" a share or a smaller price: an ε of its own is ρ = ε²/2'
    raise InputError(f"{problem}: its queries have ρ {need} of their own", "epsilon", hint)


def _check_no_canonical(queries: Specs) -> None:
    """Refuse canonical noise where ρ is counted."""
    for spec in queries:
        if spec.noise == CANONICAL:
            problem = "noise must not be canonical in a budget that counts ρ: canonical noise has no ρ"
            hint = "take best, gaussian or geometric noise, or a budget with --composition approximate"
            raise InputError(problem, "noise", hint, context=f'query "{spec.name}"')


def _found_delta(queries: Specs, delta: Fraction) -> Fraction:
    """How much of a plan's δ is for found cells: a tenth, or what they have of their own where that is more.

    Where some have a δ of their own that is more than a tenth, the others share a tenth of what these leave.
    """
    from utmost.ledger.compositions.zcdp import FOUND_CELLS_SHARE

    asked = [spec for spec in queries if spec.query.needs_delta]
    own = sum((spec.delta for spec in asked if _has_own_delta(spec)), Fraction(0))
    if own < delta * FOUND_CELLS_SHARE:
        return delta * FOUND_CELLS_SHARE
    if own >= delta:
        problem = f"delta of the plan must be more than {decimal_above(own, SHOWN_DIGITS)}, which its queries have"
        raise InputError(f"{problem} of their own, got {decimal(delta)}", "delta", "raise it")
    return own if all(_has_own_delta(spec) for spec in asked) else own + (delta - own) * FOUND_CELLS_SHARE


def _has_own_delta(spec: QuerySpec) -> bool:
    """Does a query over found cells name its δ."""
    return bool(spec.delta) and not spec.splits_delta


def _split_found_delta(queries: Specs, total: Fraction) -> Specs:
    """The queries over found cells with a δ each: their own, or an equal part of what is left of the total."""
    asked = [spec for spec in queries if spec.query.needs_delta]
    if not asked:
        return queries
    fixed = {spec.name: spec.delta for spec in asked if _has_own_delta(spec)}
    requests = [PriceRequest(spec.name, fixed.get(spec.name)) for spec in asked]
    deltas = dict(zip([spec.name for spec in asked], split_price(total, requests, "delta"), strict=True))
    return tuple(
        _with_delta(spec, deltas[spec.name], spec.name in fixed) if spec.name in deltas else spec for spec in queries
    )


def _split_rho(queries: Specs, total: Fraction | None, delta: Fraction, setting: PrivacySetting) -> Specs:
    """The queries with their noise and their part of ρ, told at δ."""
    pairs = pair_queries(queries)
    requests = [_rho_request(pair, delta, setting) for pair in pairs]
    return _with_rhos(pairs, split_price(total, requests, "rho"), delta, setting)


def _rho_request(pair: PricedPair, delta: Fraction, setting: PrivacySetting) -> PriceRequest:
    """What a query says of its ρ: its own, that of its own ε or wanted error, or its share."""
    spec = pair.query
    if spec.share is not None:
        return PriceRequest(spec.name, None, spec.share)
    if spec.wanted is not None:
        rho = _named(spec, lambda: _wanted_price(spec, setting)) / (1 - pair.part)
        return PriceRequest(spec.name, rho, is_found=True)
    if spec.rho is not None:
        return PriceRequest(spec.name, spec.rho)
    if spec.noise in (GEOMETRIC, CANONICAL):
        return PriceRequest(spec.name, pair.price**2 / 2)
    return PriceRequest(spec.name, _short(rho_of(pair.price, spec.noise_delta or delta)))


def _wanted_price(spec: QuerySpec, setting: PrivacySetting) -> Fraction:
    """The ρ that a wanted error needs, with the noise that needs less."""
    assert spec.wanted is not None
    if spec.noise == CANONICAL and has_canonical(spec, setting):
        return _wanted_canonical(spec, setting)[0] ** 2 / 2
    rho = _wanted_rho(spec, setting) if spec.noise in (GAUSSIAN, BEST) else None
    if rho is not None and spec.noise == GAUSSIAN:
        return rho
    plain = find_epsilon(spec.query, setting, spec.wanted) ** 2 / 2
    return plain if rho is None else min(plain, rho)


def _wanted_rho(spec: QuerySpec, setting: PrivacySetting) -> Fraction | None:
    """The least ρ of four digits with which Gaussian noise is within the wanted error; None without such noise."""
    assert spec.wanted is not None
    if gaussian_selection(spec, Fraction(1), setting) is None:
        return None
    spec.query.check_error(spec.wanted.error)
    return least_epsilon(lambda rho: _gaussian_error(spec, rho, setting), spec.wanted.error)


def _gaussian_error(spec: QuerySpec, rho: Fraction, setting: PrivacySetting) -> ErrorLaw:
    selection = gaussian_selection(spec, rho, setting)
    assert selection is not None
    return spec.query.error_law(selection.mechanism)


def _with_rhos(
    pairs: Sequence[PricedPair], amounts: Sequence[Fraction], delta: Fraction, setting: PrivacySetting
) -> Specs:
    specs: list[QuerySpec] = []
    for pair, amount in zip(pairs, amounts, strict=True):
        for spec, part in ((pair.query, 1 - pair.part), (pair.over, pair.part)):
            if spec is not None:
                specs.append(_named(spec, lambda s=spec, p=part, a=amount: _at_rho(s, a * p, delta, setting)))  # type: ignore[misc]
    return tuple(specs)


def _at_rho(spec: QuerySpec, rho: Fraction, delta: Fraction, setting: PrivacySetting) -> QuerySpec:
    """A query with the noise that it asks for, at a price of ρ; its own ε stays where it has geometric noise."""
    has_own_epsilon = spec.epsilon and spec.share is None and spec.noise in (GEOMETRIC, CANONICAL)
    epsilon = spec.epsilon if has_own_epsilon else _root_below(2 * rho)
    plain = replace(spec, noise=GEOMETRIC, epsilon=epsilon, rho=None, noise_delta=Fraction(0))
    if spec.noise == GEOMETRIC:
        return plain
    if spec.noise == CANONICAL:
        return _choose(plain, _with_canonical(replace(spec, epsilon=epsilon), setting), spec, setting)
    if not has_gaussian(spec, setting):
        is_converted = spec.share is None and spec.epsilon and spec.epsilon != epsilon
        return replace(plain, stated_epsilon=spec.epsilon) if is_converted else plain
    short = _short(rho)
    told = epsilon_at(short, delta)
    return _choose(plain, [replace(spec, noise=GAUSSIAN, epsilon=told, rho=short, noise_delta=delta)], spec, setting)


def error_at_rho(spec: QuerySpec, rho: Fraction, setting: PrivacySetting) -> ErrorLaw:
    """The error of a query at a price of ρ, with the noise that it asks for."""
    priced = _at_rho(replace(spec, epsilon=Fraction(0)), rho, ANY_DELTA, setting)
    return priced.query.error_law(select(priced, setting).mechanism)


def select(spec: QuerySpec, setting: PrivacySetting) -> SelectedMechanism:
    """The mechanism of a priced query."""
    query = spec.query.resolve(spec.epsilon, setting)
    if spec.noise == CANONICAL:
        selection = query.select_canonical(spec.epsilon, spec.noise_delta, setting)
    elif spec.rho is not None and spec.noise == GAUSSIAN:
        selection = query.select_gaussian(spec.rho, setting)
    else:
        return query.select_mechanism(spec.epsilon, setting)
    assert selection is not None
    return selection


def _short(rho: Fraction) -> Fraction:
    return Fraction(decimal_below(rho, AMOUNT_DIGITS))


def _root_below(square: Fraction) -> Fraction:
    """A decimal of 12 digits that is at most the square root, and nearly it.

    >>> _root_below(Fraction(2)), _root_below(Fraction(1, 4))
    (Fraction(141421356237, 100000000000), Fraction(1, 2))
    """
    scaled = square * 10**48
    return Fraction(decimal_below(Fraction(math.isqrt(math.floor(scaled)), 10**24), AMOUNT_DIGITS))


# Privacy-loss distributions


def _price_by_distributions(plan: Plan, setting: PrivacySetting, delta: Fraction) -> tuple[Specs, ToldPrivacy]:
    """The noise of the queries that leave it open with which they err least: Gaussian for all, for none, or for some.

    Some are those that gain by it when all have it.
    """
    open_names = [spec.name for spec in plan.queries if spec.noise == BEST]
    if not open_names:
        return _search_rho(plan.queries, plan, setting, delta)

    def priced(gaussian_names: set[str]) -> tuple[list[float], tuple[Specs, ToldPrivacy]]:
        result = _search_rho(_with_noise(plan.queries, gaussian_names), plan, setting, delta)
        specs = {spec.name: spec for spec in result[0]}
        return [_width(specs[name], setting) for name in open_names], result

    gaussian, plain = priced(set(open_names)), priced(set())
    choices = [gaussian, plain]
    gaining = {name for name, *widths in zip(open_names, gaussian[0], plain[0], strict=True) if widths[0] < widths[1]}
    if 0 < len(gaining) < len(open_names):
        choices.append(priced(gaining))
    numbers = {spec.name: len(spec.query.cells) or 1 for spec in plan.queries}
    weights = [numbers[name] for name in open_names]
    chosen = min(choices, key=lambda choice: _total_ratio(choice[0], plain[0], weights))[1]
    return _with_rejected(chosen[0], gaussian[1][0], open_names), chosen[1]


def _with_rejected(chosen: Specs, gaussian: Specs, open_names: Sequence[str]) -> Specs:
    """The queries that were chosen to have geometric noise, with the ρ of Gaussian noise where all have it."""
    rhos = {spec.name: spec.rho for spec in gaussian if spec.name in open_names}
    return tuple(spec if spec.rho is not None else replace(spec, rejected_rho=rhos.get(spec.name)) for spec in chosen)


def _total_ratio(widths: Sequence[float], others: Sequence[float], weights: Sequence[int]) -> float:
    """The widths relative to others; those of a query with cells count for each cell."""
    return math.fsum(weight * width / other for width, other, weight in zip(widths, others, weights, strict=True))


def _with_noise(queries: Specs, gaussian_names: set[str]) -> Specs:
    """The queries that leave their noise open with Gaussian noise for these, where they have it, else geometric."""
    return tuple(
        replace(spec, noise=GAUSSIAN if spec.name in gaussian_names else GEOMETRIC, inherits_noise=True)
        if spec.noise == BEST
        else spec
        for spec in queries
    )


def _width(spec: QuerySpec, setting: PrivacySetting) -> float:
    """The half width of a query's 95 % interval; a little more where it is 0, since ratios are taken."""
    error = spec.query.error_law(select(spec, setting).mechanism)
    return float(error.half_width) + error.expected * NO_WIDTH


def _search_rho(queries: Specs, plan: Plan, setting: PrivacySetting, delta: Fraction) -> tuple[Specs, ToldPrivacy]:
    """The queries with the largest ρ, in all, with which they are (ε, δ)-private together."""
    queries = _split_canonical_delta(_split_found_delta(queries, _found_delta(queries, delta)), delta / 2)

    def priced(total: Fraction | None) -> tuple[Specs, ToldPrivacy]:
        specs = _split_rho(queries, total, delta, setting)
        costs = [spec_cost(spec, select(spec, setting)) for spec in specs]
        return specs, told_privacy(costs, delta, "pld")

    if plan.price.epsilon is None or all(spec.share is None for spec in queries):
        return priced(plan.price.rho)
    own = [_rho_request(pair, delta, setting).amount or Fraction(0) for pair in pair_queries(queries)]
    return _largest(priced, plan.price.epsilon, rho_of(plan.price.epsilon, delta), sum(own, Fraction(0)))


def _split_canonical_delta(queries: Specs, total: Fraction) -> Specs:
    """The queries that ask for canonical noise with a δ each: their own, or an equal part of what is left."""
    asked = [spec for spec in queries if spec.noise == CANONICAL and not spec.query.needs_delta]
    if not asked:
        return queries
    requests = [PriceRequest(spec.name, spec.noise_delta or None) for spec in asked]
    own = sum((request.amount or Fraction(0) for request in requests), Fraction(0))
    if own > total or (own == total and any(request.amount is None for request in requests)):
        problem = f"delta of the plan or its budget must be more than {decimal_above(2 * own, SHOWN_DIGITS)}"
        reason = (
            f"half of it is for canonical noise, whose queries have {decimal_above(own, SHOWN_DIGITS)} of their own"
        )
        raise InputError(f"{problem}: {reason}", "delta", "raise it, or lower theirs")
    deltas = dict(zip([spec.name for spec in asked], split_price(total, requests, "delta"), strict=True))
    return tuple(replace(spec, noise_delta=deltas.get(spec.name, spec.noise_delta)) for spec in queries)


def _largest(
    priced: Callable[[Fraction], tuple[Specs, ToldPrivacy]], epsilon: Fraction, first: Fraction, own: Fraction
) -> tuple[Specs, ToldPrivacy]:
    """The result with about the largest ρ above `own` whose ε is at most this: bracketed, then interpolated.

    ε grows about with the square root of ρ, which is where the next ρ is looked for. Where most of ρ is searched, an ε
    this near to the wanted one is enough.
    """
    best: tuple[Specs, ToldPrivacy] | None = None
    low, high, rest = Fraction(0), None, first
    for _ in range(MAX_SEARCH_STEPS):
        result = priced(own + rest)
        if result[1].epsilon <= epsilon:
            low, best = rest, result
            if own <= rest and result[1].epsilon >= epsilon * (1 - SEARCH_PRECISION / 2):
                break
        else:
            high = rest
        if high is not None and best is not None and high - low <= high * SEARCH_PRECISION:
            break
        if best is None and rest * MIN_PART < own:
            break
        rest = _next_rest(low, high, rest, result[1].epsilon / epsilon)
    if best is None:
        raise InputError("epsilon of the plan must be more than its queries have of their own", "epsilon", "raise it")
    return best


def _next_rest(low: Fraction, high: Fraction | None, rest: Fraction, ratio: Fraction) -> Fraction:
    """Where ε is expected to be met, moved to within the bracket; its middle where the last ε was far off."""
    guess = _short(rest / max(ratio, MIN_RATIO) ** 2 * (Fraction(4999, 5000) if ratio <= 1 else Fraction(4998, 5000)))
    if high is None:
        return max(guess, _short(rest * Fraction(5001, 5000)))
    margin = (high - low) / 50
    if low + margin < guess < high - margin:
        return guess
    is_near = abs(ratio - 1) < NEAR_RATIO
    return _short(min(max(guess, low + margin), high - margin) if is_near else (low + high) / 2)


def _named(spec: QuerySpec, compute: Callable[[], Result]) -> Result:
    """What is computed for a query, which every error in it names."""
    from utmost.publish.plan_model import name_query_in_errors

    with name_query_in_errors(spec.name):
        return compute()
