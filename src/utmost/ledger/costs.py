"""What releases cost, and the interface of the ways to add costs up.

What releases cost: one query's cost, the part of a table that it concerns, and many equal costs counted together.

Plain data, checked when created. Amounts are exact fractions. A unit is "row" or the name of the column whose values
are the persons protected.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import decimal, rational
from utmost.exact.privacy_levels import MAX_EPSILON

if TYPE_CHECKING:
    from utmost.ledger.records import Budget

ROW = "row"
NEIGHBOURS = ("replace", "add-remove")
CONVERTED_LAWS = ("gaussian", "concentrated")  # whose ε and δ are what their ρ converts to
LAWS = ("geometric", "any", *CONVERTED_LAWS, "canonical")
MAX_TEXT_CHARS = 1000
MAX_AMOUNT_DIGITS = 40  # digits above or below the line of a fraction
MAX_STEPS = 2**63 - 1
MAX_NUMBERS = 2**31 - 1
MAX_CANONICAL_STEPS, MIN_CANONICAL_DELTA = 1024, Fraction(1, 10**27)  # of a cost of law canonical


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
        check_text(self.column, "column of a part")
        check_text(self.value, "value of a part", min_chars=0)
        for name in ("kind", "table", "source"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), f"{name} of a part")


@dataclass(frozen=True, slots=True)
class QueryCost:
    """The privacy loss of one query: (`epsilon`, `delta`) in all, and the law of its noise, which pld may use.

    `geometric`: one number, a whole number of lattice steps, which a unit moves by at most `steps`, with noise
    Pr[Δ = δ] ∝ e^(−ε·|δ|/steps). `gaussian`: a unit moves at most `numbers` of its whole numbers, each by at most
    `steps`; each has discrete Gaussian noise of variance numbers·steps²/(2ρ). `concentrated`: nothing is known but that
    it is ρ-zCDP. Both are (ε, δ)-private by conversion of ρ: of several such queries δ need not be added up.
    `canonical`: one number that a unit moves by at most `steps`, at most 1024, with the noise of
    `noise.tight_canonical` of ε/steps and the least reach at δ. `any`: nothing is known but ε and δ; it may have a ρ
    below ε²/2, which its theorem says.
    """

    query: str
    epsilon: Fraction
    law: str = "any"
    steps: int = 1
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    numbers: int = 1

    def __post_init__(self) -> None:
        """Check every field."""
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon, "epsilon of a cost"))
        object.__setattr__(self, "delta", check_delta(self.delta, "delta of a cost"))
        check_text(self.query, "query of a cost")
        check_choice(self.law, LAWS, "law of a cost")
        if not 1 <= self.steps <= MAX_STEPS:
            raise InputError(f"steps of a cost must be from 1 to 2^63 - 1, got {self.steps}", "steps")
        if not 1 <= self.numbers <= MAX_NUMBERS:
            raise InputError(f"numbers of a cost must be from 1 to 2^31 - 1, got {self.numbers}", "numbers")
        if self.rho is not None:
            object.__setattr__(self, "rho", check_rho(self.rho, "rho of a cost"))
        elif self.law in CONVERTED_LAWS:
            raise InputError(f"rho must be given for a cost of law {self.law}", "rho")
        if self.law == "canonical" and (self.delta < MIN_CANONICAL_DELTA or self.steps > MAX_CANONICAL_STEPS):
            terms = f"a cost of law canonical must have delta from 1e-27 and at most {MAX_CANONICAL_STEPS} steps"
            raise InputError(f"{terms}, got others", "delta")

    def group(self, part: Part | None, times: int = 1) -> ChargeGroup:
        """So many charges of this cost on a part."""
        return ChargeGroup(self.epsilon, self.law, self.steps, part, times, self.delta, self.rho, self.numbers)


@dataclass(frozen=True, slots=True)
class ChargeGroup:
    """A number of charges of the same cost on the same part, or on the whole table."""

    epsilon: Fraction
    law: str
    steps: int
    part: Part | None = None
    times: int = 1
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    numbers: int = 1

    @property
    def own_delta(self) -> Fraction:
        """The δ that adds up with that of other charges whatever composes them: none where it is what ρ converts to."""
        return Fraction(0) if self.law in CONVERTED_LAWS else self.delta

    @property
    def concentrated_rho(self) -> Fraction:
        """Its ρ: what its theorem says, or ε²/2 of an ε-private charge."""
        return self.epsilon**2 / 2 if self.rho is None else self.rho


def check_amount(value: object, name: str) -> Fraction:
    """An exact number that is short enough to be added up."""
    amount = rational(value, name)
    if max(abs(amount.numerator), amount.denominator) >= 10**MAX_AMOUNT_DIGITS:
        raise InputError(
            f"{name} must be a number of at most {MAX_AMOUNT_DIGITS} digits, got a longer one", name, "round it"
        )
    return amount


def check_epsilon(value: object, name: str) -> Fraction:
    """An amount of ε."""
    amount = check_amount(value, name)
    if not 0 < amount <= MAX_EPSILON:
        raise InputError(f"{name} must be > 0 and at most {MAX_EPSILON}, got {decimal(amount)}", name)
    return amount


def check_delta(value: object, name: str) -> Fraction:
    """An amount of δ."""
    amount = check_amount(value, name)
    if not 0 <= amount < 1:
        raise InputError(f"{name} must be from 0 to below 1, got {decimal(amount)}", name, "say for instance 1e-6")
    return amount


def check_rho(value: object, name: str) -> Fraction:
    """An amount of ρ."""
    amount = check_amount(value, name)
    if not 0 < amount <= MAX_EPSILON**2:
        problem = f"{name} must be > 0 and at most {MAX_EPSILON**2}, got {decimal(amount)}"
        raise InputError(problem, name, "say for instance 0.02")
    return amount


def check_choice(value: str, choices: Sequence[str], name: str) -> None:
    """Refuse what is not among the choices."""
    if value not in choices:
        raise InputError(f'{name} must be {" or ".join(choices)}, got "{str(value)[:40]}"', name)


def check_text(value: str, name: str, min_chars: int = 1) -> None:
    """Text that every database can hold."""
    if not isinstance(value, str) or not min_chars <= len(value) <= MAX_TEXT_CHARS:
        raise InputError(f"{name} must be text of {min_chars} to {MAX_TEXT_CHARS} characters", name)
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"{name} must be text without the character 0 and without halves of characters", name)


class Composition(ABC):
    """A way to compose charges: how much of a budget they spend together.

    `name` is its name on the command line, `words` describe it. What it spends is measured by one number, for which
    `measure` is the symbol: ε, or something else that it makes of the costs, such as ρ; `limit` is a budget's total in
    that measure.
    """

    name: str
    words: str
    measure: str = "ε"
    delta_words: str = ""  # for what the δ is that a budget has left, where it is not all of it

    @abstractmethod
    def spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """What all these charges spend together, exactly or rounded up."""

    @abstractmethod
    def why_part_adds_up(self, part: Part, groups: Sequence[ChargeGroup]) -> str | None:
        """Why a part of a known source adds up with earlier charges on its column; None where it composes with them."""

    def limit(self, budget: Budget) -> Fraction:
        """All that a budget may spend."""
        return budget.epsilon

    def delta_limit(self, budget: Budget) -> Fraction:
        """All δ that charges may spend."""
        return budget.delta

    def delta_hint(self, cost: Fraction) -> str:
        """Which δ a new budget needs for charges with a δ of their own, where it is another."""
        return ""

    def delta_spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """The δ that all these charges spend together; at most `delta_limit` is allowed."""
        return sum((group.own_delta * group.times for group in groups), Fraction(0))

    def check_charges(self, groups: Sequence[ChargeGroup], budget: Budget) -> None:
        """Refuse charges that this composition cannot add up: those with δ, where the budget has none."""
        if not budget.delta and any(group.delta for group in groups):
            is_converted = any(group.law in CONVERTED_LAWS for group in groups)
            problem = f"budget '{budget.name}' has no δ" + (", which Gaussian noise needs" if is_converted else "")
            raise InputError(problem, "budget", f"open one with --delta: {open_command(budget)}")

    def check_terms(self, budget: Budget) -> None:
        """Refuse a budget whose amounts this composition has no use for: δ, unless it overrides this."""
        if budget.delta:
            raise InputError(
                f"delta must be 0 with {self.name} composition, got {decimal(budget.delta)}",
                "delta",
                "say composition approximate, zcdp or pld",
            )

    def prepare(self) -> None:  # noqa: B027 - most need nothing
        """Load what `spent` needs, which can take a second, or say how to install it."""


def open_command(budget: Budget) -> str:
    """The command that opens a budget with δ for the same units and neighbours under a new name."""
    unit = "" if budget.unit == ROW else f" --unit {budget.unit}"
    return f"utmost budget open NAME --epsilon E --delta D{unit} --neighbours {budget.neighbours}"
