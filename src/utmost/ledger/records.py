"""The records of a ledger: budgets, release costs and charges. Plain data, checked when created.

Amounts are exact fractions. A unit is "row" or the name of the column whose values are the persons protected.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from fractions import Fraction

from utmost.errors import BudgetError, InputError
from utmost.exact import decimal, rational
from utmost.exact.levels import MAX_EPSILON
from utmost.exact.plain_text import check_plain_text

ROW = "row"
COMPOSITIONS = ("pure", "pld")
NEIGHBOURS = ("replace", "add-remove")
LAWS = ("geometric", "any")
MAX_NAME_CHARS = 100
MAX_TEXT_CHARS = 1000
MAX_AMOUNT_DIGITS = 40  # digits above or below the line of a fraction
MAX_STEPS = 2**63 - 1
MAX_COSTS = 10_000  # of one charge
MIN_PLD_DELTA = Fraction(1, 10**9)  # below it floating-point composition cannot be trusted
MAX_DECIMALS = 12  # of an amount that is shown as a decimal

CHAIN_CHARS = 16  # of a hash of the chain that is shown


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a source's table where column = value, the column read as values of `kind`.

    `source` is a text that is the same only where the rows are the same; None where that is not known. Two parts share
    no row for certain only if they differ in `value` alone.
    """

    column: str
    value: str
    kind: str | None = None
    table: str | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        """Check every field."""
        _check_text(self.column, "column of a part")
        _check_text(self.value, "value of a part", min_chars=0)
        for name in ("kind", "table", "source"):
            if getattr(self, name) is not None:
                _check_text(getattr(self, name), f"{name} of a part")


@dataclass(frozen=True, slots=True)
class Budget:
    """Total ε, or (ε, δ), of all charges together for one unit; `unit` and `neighbours` are fixed for good.

    `pure` composition adds up ε and has δ = 0. `pld` composes privacy-loss distributions at δ > 0. A budget that
    remembers gives the release of the same plan on the same fingerprint again for free. `opened` is set by the ledger.
    """

    name: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    composition: str = "pure"
    unit: str = ROW
    neighbours: str = "replace"
    remember: bool = True
    opened: str = ""

    def __post_init__(self) -> None:
        """Check every field; numbers may be text."""
        object.__setattr__(self, "epsilon", _check_epsilon(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", _check_amount(self.delta, "delta"))
        check_name(self.name)
        _check_choice(self.composition, COMPOSITIONS, "composition")
        _check_choice(self.neighbours, NEIGHBOURS, "neighbours")
        _check_text(self.unit, "unit")
        _check_delta(self.delta, self.composition)


@dataclass(frozen=True, slots=True)
class QueryCost:
    """The privacy loss of one query: `epsilon` in all, and the law of its noise, which pld composition may use.

    `geometric`: one number, a whole number of lattice steps, which a unit moves by at most `steps`, with noise
    Pr[Δ = δ] ∝ e^(−ε·|δ|/steps). `any`: nothing is known but ε.
    """

    query: str
    epsilon: Fraction
    law: str = "any"
    steps: int = 1

    def __post_init__(self) -> None:
        """Check every field."""
        object.__setattr__(self, "epsilon", _check_epsilon(self.epsilon, "epsilon of a cost"))
        _check_text(self.query, "query of a cost")
        _check_choice(self.law, LAWS, "law of a cost")
        if not 1 <= self.steps <= MAX_STEPS:
            raise InputError(f"steps of a cost must be from 1 to 2^63 - 1, got {self.steps}")


@dataclass(frozen=True, slots=True)
class ReleaseCost:
    """What a release would cost: its queries' costs, on the whole table or on a part of it.

    `plan` is a digest that stands for all that was asked, `fingerprint` the curator's name for the state of the data,
    `unit_kind` the kind of the column that names persons.
    """

    budget: str
    unit: str
    neighbours: str
    costs: tuple[QueryCost, ...]
    part: Part | None = None
    plan: str = ""
    fingerprint: str | None = None
    unit_kind: str | None = None

    def __post_init__(self) -> None:
        """Check every field."""
        check_name(self.budget)
        _check_choice(self.neighbours, NEIGHBOURS, "neighbours")
        _check_text(self.unit, "unit")
        _check_text(self.plan, "plan", min_chars=0)
        check_plain_text(self._texts(), "release cost")
        if not 1 <= len(self.costs) <= MAX_COSTS:
            raise InputError(f"costs must be from 1 to {MAX_COSTS}, got {len(self.costs)}")
        if self.fingerprint is not None:
            _check_text(self.fingerprint, "fingerprint")
        if self.unit_kind is not None:
            _check_text(self.unit_kind, "unit_kind")

    def _texts(self) -> list[str | None]:
        part = () if self.part is None else astuple(self.part)
        asked = (self.unit, self.plan, self.fingerprint, self.unit_kind)
        return [*asked, *part, *(cost.query for cost in self.costs)]


@dataclass(frozen=True, slots=True)
class Charge:
    """What was charged: its number in the ledger, when (UTC), for what, and whether its release was kept.

    `chain` is the start of the hash of this charge and all before it (`utmost.ledger.chain`).
    """

    number: int
    charged: str
    plan: str
    fingerprint: str | None
    part: Part | None
    costs: tuple[QueryCost, ...]
    kept: bool
    unit_kind: str | None = None
    chain: str | None = None

    @property
    def epsilon(self) -> Fraction:
        """Σ of the costs: the ε of this charge by itself."""
        return sum((cost.epsilon for cost in self.costs), Fraction(0))


@dataclass(frozen=True, slots=True)
class BudgetState:
    """What the charges of a budget, `charges` in number, have spent together, and what is left.

    `chain` is the start of the hash of the last of them, or of the budget itself; None before that is known.
    """

    spent: Fraction
    left: Fraction
    charges: int
    chain: str | None = None


@dataclass(frozen=True, slots=True)
class ChargeReceipt:
    """A charge just made: its number in the ledger, and what its budget has spent and left after it.

    `chain` is the start of the hash of this charge and all before it. Two copies of a ledger that were both charged
    have different ones for the same number.
    """

    id: int
    spent: Fraction
    left: Fraction
    chain: str = ""


def budget_error(budget: Budget, left: Fraction, cost: Fraction) -> BudgetError:
    """The refusal of a plan that costs more than is left.

    >>> budget_error(Budget("survey", Fraction(1)), Fraction(1, 4), Fraction(1, 2)).args[0]
    "budget 'survey' has ε 0.25 left, this plan costs 0.50: lower its epsilons or open a new budget"
    """
    has, costs = format_amounts(left, cost)
    return BudgetError(
        f"budget '{budget.name}' has ε {has} left, this plan costs {costs}: lower its epsilons or open a new budget"
    )


def format_amounts(*values: Fraction) -> list[str]:
    """Amounts as text: with equally many decimals where all are short decimals, else each by itself.

    >>> (
    ...     format_amounts(Fraction(1, 4), Fraction(1, 2)),
    ...     format_amounts(Fraction(1, 3), Fraction(1, 2)),
    ...     format_amounts(Fraction(2)),
    ... )
    (['0.25', '0.50'], ['1/3', '0.5'], ['2'])
    """
    decimal_counts = [_count_decimals(value) for value in values]
    longest = max((count for count in decimal_counts if count is not None), default=0)
    if None in decimal_counts:
        return [
            _format_fixed(value, count) if count is not None else _format_long(value)
            for value, count in zip(values, decimal_counts, strict=True)
        ]
    return [_format_fixed(value, longest) for value in values]


def check_name(name: str) -> str:
    """A budget's name: 1 to 100 printable characters, no spaces at its ends."""
    if (
        not isinstance(name, str)
        or not 1 <= len(name) <= MAX_NAME_CHARS
        or not name.isprintable()
        or name != name.strip()
    ):
        raise InputError(
            f"name of a budget must be 1 to {MAX_NAME_CHARS} printable characters without spaces at the ends"
        )
    return name


def _count_decimals(value: Fraction) -> int | None:
    """How many decimals write the value exactly; None if more than MAX_DECIMALS."""
    scaled = value * 10**MAX_DECIMALS
    if scaled.denominator != 1:
        return None
    return MAX_DECIMALS - next(k for k in range(MAX_DECIMALS, -1, -1) if scaled.numerator % 10**k == 0)


def _format_fixed(value: Fraction, decimals: int) -> str:
    digits = str(int(value * 10**decimals)).zfill(decimals + 1)
    return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals and value else str(int(value))


def _format_long(value: Fraction) -> str:
    is_short = max(value.numerator.bit_length(), value.denominator.bit_length()) <= 40
    return str(value) if is_short else f"about {decimal(value)}"


def _check_amount(value: object, name: str) -> Fraction:
    amount = rational(value, name)
    if max(abs(amount.numerator), amount.denominator) >= 10**MAX_AMOUNT_DIGITS:
        raise InputError(f"{name} must be a number of at most {MAX_AMOUNT_DIGITS} digits, got a longer one: round it")
    return amount


def _check_epsilon(value: object, name: str) -> Fraction:
    amount = _check_amount(value, name)
    if not 0 < amount <= MAX_EPSILON:
        raise InputError(f"{name} must be > 0 and at most {MAX_EPSILON}, got {decimal(amount)}")
    return amount


def _check_delta(delta: Fraction, composition: str) -> None:
    if not 0 <= delta < 1:
        raise InputError(f"delta must be from 0 to below 1, got {decimal(delta)}")
    if composition == "pure" and delta:
        raise InputError(f"delta must be 0 with pure composition, got {decimal(delta)}: say composition pld")
    if composition == "pld" and delta < MIN_PLD_DELTA:
        raise InputError(
            f"delta must be at least 1e-9 with pld composition, got {decimal(delta)}: say for instance 1e-6"
        )


def _check_choice(value: str, choices: tuple[str, ...], name: str) -> None:
    if value not in choices:
        raise InputError(f'{name} must be {" or ".join(choices)}, got "{str(value)[:40]}"')


def _check_text(value: str, name: str, min_chars: int = 1) -> None:
    """Text that every database can hold."""
    if not isinstance(value, str) or not min_chars <= len(value) <= MAX_TEXT_CHARS:
        raise InputError(f"{name} must be text of {min_chars} to {MAX_TEXT_CHARS} characters")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"{name} must be text without the character 0 and without halves of characters")
