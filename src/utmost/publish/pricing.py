"""The price of a whole plan: what its queries leave unsaid of ε and δ is split over them, exactly.

Queries with an ε of their own keep it. What the plan's `epsilon` leaves is split over the others in proportion to their
`share`, 1 where none is given; the plan's `delta` the same way over those that need δ and name none. A query whose ε
follows from something else, such as an error that is wanted, is a request with that ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from utmost.errors import InputError
from utmost.exact import decimal


@dataclass(frozen=True, slots=True)
class PriceRequest:
    """What a query says of one amount: the amount itself, or None and its share of what is left."""

    name: str
    amount: Fraction | None
    share: Fraction = Fraction(1)


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
        raise InputError(
            f"{field} of the plan must be more than its queries have of their own, got {decimal(total)}",
            field,
            "raise it",
        )
    shares = sum((request.share for request in open_requests), Fraction(0))
    return [left * request.share / shares if request.amount is None else request.amount for request in requests]
