"""The price of a whole plan: what its queries leave unsaid of ε and δ is split over them, exactly.

Queries with an ε of their own keep it, and a query that wants an error gets the least ε that reaches it
(`wanted_errors`). What the plan's `epsilon` then leaves is split over the others in proportion to their `share`, 1
where none is given; the plan's `delta` the same way over those that need δ and name none.

**Persons over the bound.** A query with `over` and the count of the persons over its bound have one price. The stated
part p of it, a tenth unless another is stated, goes to the count and 1 − p to the query, so that asking for the count
does not change what a plan costs. A query that wants an error as well reaches it with its own ε, so the price of both
is ε/(1 − p).

The ε of a wanted error is known when the setting is. A plan without one is split when it is read; the ε of the others
is found by `execute.price_plan`, before anything is charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import decimal, decimal_above, plain_decimal
from utmost.ledger.costs import MAX_AMOUNT_DIGITS
from utmost.ledger.ledger import MAX_DENOMINATOR_BITS

if TYPE_CHECKING:
    from utmost.publish.plan_model import QuerySpec

GEOMETRIC, GAUSSIAN, CANONICAL, BEST = "geometric", "gaussian", "canonical", "best"  # noise that a plan may ask for
NOISES = (GEOMETRIC, GAUSSIAN, CANONICAL, BEST)
EXAMPLES = {"epsilon": "1", "delta": "1e-6", "rho": "0.02"}  # of amounts that are missing
PRINTED_DIGITS = 6  # of an amount that is missing
NONE_FOUND: Mapping[str, Fraction] = {}


@dataclass(frozen=True, slots=True)
class PriceRequest:
    """What a query says of one amount: the amount itself, or None and its share of what is left.

    `is_found` says that the amount is what a wanted error needs.
    """

    name: str
    amount: Fraction | None
    share: Fraction = Fraction(1)
    is_found: bool = False


def split_price(total: Fraction | None, requests: Sequence[PriceRequest], field: str) -> list[Fraction]:
    """The amount of each query, in their order; refused where the total does not suffice, or none is given.

    >>> one = Fraction(1)
    >>> asked = [PriceRequest("a", one / 4), PriceRequest("b", None), PriceRequest("c", None, Fraction(2))]
    >>> [str(amount) for amount in split_price(one, asked, "epsilon")]
    ['1/4', '1/4', '1/2']
    """
    open_requests = [request for request in requests if request.amount is None]
    if total is None:
        if open_requests:
            hint = f"add it to the query, or at the top of the plan for all: {field} = {EXAMPLES[field]}"
            raise InputError(f"{field} is missing", field, hint, context=f'query "{open_requests[0].name}"')
        return _check_amounts([request.amount for request in requests if request.amount is not None], requests, field)
    left = total - sum((request.amount for request in requests if request.amount is not None), Fraction(0))
    if left < 0 or (open_requests and not left):
        raise _short_price(total, requests, field)
    shares = sum((request.share for request in open_requests), Fraction(0))
    amounts = [left * request.share / shares if request.amount is None else request.amount for request in requests]
    return _check_amounts(amounts, requests, field)


def _check_amounts(amounts: list[Fraction], requests: Sequence[PriceRequest], field: str) -> list[Fraction]:
    """The amounts, if a ledger can hold each of them and their sum: longer ones take ever longer to compute with."""
    for amount, request in zip(amounts, requests, strict=True):
        if max(abs(amount.numerator), amount.denominator) >= 10**MAX_AMOUNT_DIGITS:
            problem = f"{field} must be a number of at most {MAX_AMOUNT_DIGITS} digits, and is longer once it is split"
            raise InputError(problem, field, "take shorter shares", context=f'query "{request.name}"')
    if sum(amounts, Fraction(0)).denominator.bit_length() > MAX_DENOMINATOR_BITS:
        problem = f"{field}s must have denominators that stay short when they are added up, got some that do not"
        raise InputError(problem, field, "write them as decimals")
    return amounts


def _short_price(total: Fraction, requests: Sequence[PriceRequest], field: str) -> InputError:
    """The refusal of a total that does not suffice: what the queries need before anything is split."""
    own, found = (
        sum((request.amount or Fraction(0) for request in requests if request.is_found is is_found), Fraction(0))
        for is_found in (False, True)
    )
    if not found:
        problem = f"{field} of the plan must be more than its queries have of their own, got {decimal(total)}"
        return InputError(problem, field, "raise it")
    relation = "more than" if any(request.amount is None for request in requests) else "at least"
    needs = f"{_amount_text(found)} for wanted errors" + (f" and {_amount_text(own)} of their own" if own else "")
    problem = f"{field} of the plan must be {relation} {_amount_text(own + found)}: its queries need {needs}"
    return InputError(f"{problem}, got {decimal(total)}", field, "raise it, or accept larger errors")


def _amount_text(amount: Fraction) -> str:
    """An amount that is needed, not below itself."""
    return plain_decimal(amount, PRINTED_DIGITS, decimal_above)


@dataclass(frozen=True, slots=True)
class PricedPair:
    """What has one price: a query, and the count of the persons over its bound where that is asked for."""

    query: QuerySpec
    over: QuerySpec | None = None

    @property
    def part(self) -> Fraction:
        """The part of the price that the count of persons takes."""
        return Fraction(0) if self.over is None or self.over.over is None else self.over.over

    @property
    def price(self) -> Fraction:
        """What both cost."""
        return self.query.epsilon + (Fraction(0) if self.over is None else self.over.epsilon)

    def with_price(self, price: Fraction) -> tuple[QuerySpec, ...]:
        """Both with their parts of a price."""
        query = replace(self.query, epsilon=price * (1 - self.part))
        return (query,) if self.over is None else (query, replace(self.over, epsilon=price * self.part))


def pair_queries(queries: Sequence[QuerySpec]) -> list[PricedPair]:
    """The queries of a plan, each with the count of the persons over its bound, which comes right after it."""
    pairs: list[PricedPair] = []
    for query in queries:
        if query.over is None:
            pairs.append(PricedPair(query))
        else:
            pairs[-1] = replace(pairs[-1], over=query)
    return pairs


def price_queries(
    queries: Sequence[QuerySpec], total: Fraction | None, found: Mapping[str, Fraction] = NONE_FOUND
) -> tuple[QuerySpec, ...]:
    """The queries with their ε; `found` has those that wanted errors lead to, by name. It is idempotent."""
    pairs = pair_queries(queries)
    prices = split_price(total, [_request(pair, found) for pair in pairs], "epsilon")
    return tuple(query for pair, price in zip(pairs, prices, strict=True) for query in pair.with_price(price))


def _request(pair: PricedPair, found: Mapping[str, Fraction]) -> PriceRequest:
    query = pair.query
    if query.share is not None:
        return PriceRequest(query.name, None, query.share)
    if query.wanted is not None:
        return PriceRequest(query.name, found[query.name] / (1 - pair.part), is_found=True)
    return PriceRequest(query.name, pair.price)
