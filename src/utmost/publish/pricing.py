"""The price of a whole plan: what its queries leave unsaid of ε and δ is split over them, exactly.

Queries with an ε of their own keep it, and a query that wants an error gets the least ε that reaches it
(`wanted_errors`). What the plan's `epsilon` then leaves is split over the others in proportion to their `share`, 1
where none is given; the plan's `delta` the same way over those that need δ and name none.

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

if TYPE_CHECKING:
    from utmost.publish.plans import QuerySpec

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
            raise InputError(f"{field} is missing", field, "add it", context=f'query "{open_requests[0].name}"')
        return [request.amount for request in requests if request.amount is not None]
    left = total - sum((request.amount for request in requests if request.amount is not None), Fraction(0))
    if left < 0 or (open_requests and not left):
        raise _short_price(total, requests, field)
    shares = sum((request.share for request in open_requests), Fraction(0))
    return [left * request.share / shares if request.amount is None else request.amount for request in requests]


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


def price_queries(
    queries: Sequence[QuerySpec], total: Fraction | None, found: Mapping[str, Fraction] = NONE_FOUND
) -> tuple[QuerySpec, ...]:
    """The queries with their ε; `found` has those that wanted errors lead to, by name. It is idempotent."""
    requests = [_request(query, found) for query in queries]
    amounts = split_price(total, requests, "epsilon")
    return tuple(replace(query, epsilon=amount) for query, amount in zip(queries, amounts, strict=True))


def _request(query: QuerySpec, found: Mapping[str, Fraction]) -> PriceRequest:
    if query.share is not None:
        return PriceRequest(query.name, None, query.share)
    if query.wanted is not None:
        return PriceRequest(query.name, found[query.name], is_found=True)
    return PriceRequest(query.name, query.epsilon)
