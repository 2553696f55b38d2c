"""What all forms share: errors beside their fields, and spaces, priors and losses as visitors type them.

Spaces, priors and losses as a visitor types them: those with names and those written out, never files.

The command line's words include FILE; on a page that would be a path of the machine that serves it. So what could be a
file is refused before the library reads it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field

from utmost.errors import BudgetError, InputError, LedgerError, UtmostError

if TYPE_CHECKING:
    from utmost.consumer.losses import Loss
    from utmost.consumer.priors import Prior
    from utmost.spaces import Space

MAX_MESSAGE_CHARS = 400


class Problem(BaseModel):
    """One line that says what was wrong and what to do; `field` is the parameter it is about, if it is about one."""

    field: str | None = Field(default=None, examples=["epsilon"])
    message: str = Field(examples=["epsilon must be > 0, got 0"])


class Refusal(UtmostError):
    """A request that is turned away, with the status of HTTP that says why."""

    def __init__(self, status: int, message: str, wait: int | None = None) -> None:
        super().__init__(message)
        self.status, self.wait = status, wait

    def __reduce__(self) -> tuple[type[Refusal], tuple[int, str, int | None]]:
        """All arguments, so that it can pass from one process to another."""
        return Refusal, (self.status, str(self), self.wait)


@contextmanager
def errors_for_field(field: str) -> Iterator[None]:
    """Report input errors raised inside as errors of this field.

    >>> with errors_for_field("level"):
    ...     raise InputError("epsilon must be > 0, got 0", "epsilon")
    Traceback (most recent call last):
    utmost.errors.InputError: epsilon must be > 0, got 0
    """
    try:
        yield
    except InputError as error:
        raise error.about(field) from None


def problem_from_error(error: Exception, fields: Collection[str] | None = None) -> Problem:
    """The problem that an error is. Its field is the error's own; where `fields` are given, only if it is one of them.

    >>> problem_from_error(InputError("epsilon must be > 0, got 0", "epsilon"), ["epsilon", "where"]).field
    'epsilon'
    """
    field = error.field if isinstance(error, InputError) else None
    return Problem(field=field if fields is None or field in fields else None, message=one_line(str(error)))


def status_code(error: UtmostError) -> int:
    """422 what the visitor can mend, 409 a budget that is short, 503 a ledger out of reach, 500 the rest."""
    if isinstance(error, Refusal):
        return error.status
    if isinstance(error, BudgetError):
        return 409
    return 422 if isinstance(error, InputError) else 503 if isinstance(error, LedgerError) else 500


def validation_problem(error: RequestValidationError) -> Problem:
    """The first thing that a request's own types refuse; what was sent is not repeated."""
    first = error.errors()[0]
    location = [str(part) for part in first["loc"] if part not in ("query", "body", "path", "header")]
    field = ".".join(location) or None
    return Problem(field=field, message=one_line(f"{field or 'request'}: {first['msg']}"))


def one_line(message: str) -> str:
    """One printable line, its middle left out where it is long."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(message.split()))
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[: MAX_MESSAGE_CHARS - 120]} … {line[-110:]}"


WEIGHTS_PATTERN = re.compile(r"[0-9eE.,/+\s-]*,[0-9eE.,/+\s-]*")
ARGUMENTS_PATTERN = re.compile(r"[0-9eE.,;:/+ -]*")
SPACE_PATTERN = re.compile(r"[a-z0-9:.+*/() ]+")


def parse_space(text: str) -> Space:
    """A space by its name, sums and multiples of such; never one that names a file."""
    from utmost import spaces
    from utmost.spaces.registry import SPACES, forms

    file_kinds = [family.kind for family in SPACES if family.reads_files]
    with errors_for_field("space"):
        if SPACE_PATTERN.fullmatch(text) is None or any(kind in text for kind in file_kinds):
            raise InputError(f"space must be {forms(files=False)}", "space")
        return spaces.parse_space(text)


def parse_prior(text: str, size: int) -> Prior:
    """A prior by its name, or its weights between commas."""
    from utmost.consumer import priors

    prior_text = text.strip()
    with errors_for_field("prior"):
        if priors.named_family(prior_text) is not None and _has_plain_arguments(prior_text):
            return priors.parse(prior_text, size)
        if WEIGHTS_PATTERN.fullmatch(prior_text) is None:
            raise priors.PRIORS.refusal(prior_text, files=False)
        weights = [weight.strip() for weight in prior_text.split(",")]
        if len(weights) != size:
            raise InputError(
                f"prior must have {size} weights, one for each secret in order, got {len(weights)}", "prior"
            )
        return priors.explicit(weights)


def parse_loss(text: str) -> Loss:
    """A loss by its name."""
    from utmost.consumer import losses

    loss_text = text.strip()
    with errors_for_field("loss"):
        family = losses.LOSSES.find(loss_text.partition(":")[0])
        if family is None or family.reads_files or not _has_plain_arguments(loss_text):
            raise losses.LOSSES.refusal(loss_text, files=False)
        return losses.parse(loss_text)


def _has_plain_arguments(text: str) -> bool:
    """Are there only numbers and signs after the colon."""
    return ARGUMENTS_PATTERN.fullmatch(text.partition(":")[2]) is not None
