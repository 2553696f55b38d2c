"""The records of a ledger: budgets, what a release would cost, and charges. Plain data, checked when created."""

from __future__ import annotations

import json
import shlex
from dataclasses import astuple, dataclass
from fractions import Fraction

from utmost.errors import BudgetError, InputError
from utmost.exact import decimal, decimal_above, decimal_below
from utmost.exact.input_text import check_plain_text, escape_control
from utmost.ledger.compositions import registry
from utmost.ledger.costs import (
    CONVERTED_LAWS,
    NEIGHBOURS,
    ROW,
    ChargeGroup,
    Composition,
    Part,
    QueryCost,
    check_choice,
    check_delta,
    check_epsilon,
    check_text,
)
from utmost.notebook import report_html

MAX_NAME_CHARS = 100
MAX_COSTS = 10_000  # of one charge
MAX_DECIMALS = 12  # of an amount that is shown as a decimal

SHOWN_DIGITS = 6  # of an amount in a line
MAX_SHOWN_QUERIES = 8  # of a charge in a line
CHAIN_CHARS = 16  # of a hash of the chain that is shown


@dataclass(frozen=True, slots=True)
class Budget:
    """Total ε, or (ε, δ), of all charges together for one unit; `unit` and `neighbours` are fixed for good.

    `composition` names how charges add up (`ledger.compositions`); where none is named it is `pure`, or `approximate`
    with a δ. A budget that remembers gives the release of the same plan on the same fingerprint again for free.
    `opened` and `closed` are times that the ledger sets; a closed budget takes no further charge.
    """

    name: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    composition: str = ""
    unit: str = ROW
    neighbours: str = "replace"
    remember: bool = True
    opened: str = ""
    closed: str = ""

    def __post_init__(self) -> None:
        """Check every field; numbers may be text."""
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", check_delta(self.delta, "delta"))
        if not self.composition:
            object.__setattr__(self, "composition", "approximate" if self.delta else "pure")
        check_name(self.name)
        check_choice(self.composition, registry.names(), "composition")
        check_choice(self.neighbours, NEIGHBOURS, "neighbours")
        check_text(self.unit, "unit")
        self.rule.check_terms(self)

    @property
    def rule(self) -> Composition:
        """How charges to it add up."""
        return registry.find(self.composition)


@dataclass(frozen=True, slots=True)
class ReleaseCost:
    """What a release would cost: its queries' costs, on the whole table or on a part of it.

    `plan` is a digest that stands for all that was asked, `fingerprint` the curator's name for the state of the data,
    `unit_kind` the kind of the column that names persons, `charged_by` who charges (by default the operating system's
    user), `source` the name of the file or database, of which the ledger keeps a hash, `table` the table of a database.
    """

    budget: str
    unit: str
    neighbours: str
    costs: tuple[QueryCost, ...]
    part: Part | None = None
    plan: str = ""
    fingerprint: str | None = None
    unit_kind: str | None = None
    charged_by: str | None = None
    source: str | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        """Check every field."""
        check_name(self.budget)
        check_choice(self.neighbours, NEIGHBOURS, "neighbours")
        check_text(self.unit, "unit")
        check_text(self.plan, "plan", min_chars=0)
        check_plain_text(self._texts(), "release cost")
        if not 1 <= len(self.costs) <= MAX_COSTS:
            raise InputError(f"costs must be from 1 to {MAX_COSTS}, got {len(self.costs)}", "costs")
        for name in ("fingerprint", "unit_kind", "charged_by", "source", "table"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name)

    def groups(self, part: Part | None) -> list[ChargeGroup]:
        """The charges that the release would make on a part as the ledger stores it, each a group of one."""
        return [cost.group(part) for cost in self.costs]

    def open_command(self, name: str | None = None) -> str:
        """The command that opens a budget which this release can be charged to, of its own name or another.

        >>> cost = ReleaseCost("my survey", "person", "add-remove", (QueryCost("q", Fraction(1, 2)),))
        >>> print(cost.open_command())
        utmost budget open 'my survey' --epsilon 0.5 --unit person --neighbours add-remove
        """
        epsilon, delta = self._total_texts()
        options = ("--epsilon", epsilon, *(("--delta", delta) if delta else ()))
        terms = (*options, "--unit", self.unit, "--neighbours", self.neighbours)
        return shlex.join(("utmost", "budget", "open", name or self.budget, *terms))

    def open_call(self, ledger: str | None = None) -> str:
        """The call that does the same in Python.

        >>> cost = ReleaseCost("my survey", "person", "add-remove", (QueryCost("q", Fraction(1, 2)),))
        >>> print(cost.open_call())
        ut.budget("my survey", epsilon="0.5", unit="person")
        """
        epsilon, delta = self._total_texts()
        unit = None if self.unit == ROW else self.unit
        neighbours = None if self.neighbours == "add-remove" else self.neighbours
        terms = {"epsilon": epsilon, "delta": delta, "unit": unit, "neighbours": neighbours, "ledger": ledger}
        given = (f"{name}={json.dumps(text, ensure_ascii=False)}" for name, text in terms.items() if text)
        return f"ut.budget({', '.join((json.dumps(self.budget, ensure_ascii=False), *given))})"

    def _total_texts(self) -> tuple[str, str]:
        """The ε and δ of all queries together, as they are written; without δ an empty text."""
        total = sum((cost.epsilon for cost in self.costs), Fraction(0))
        decimals = _count_decimals(total)
        epsilon = str(total) if decimals is None else _format_fixed(total, decimals)
        total_delta = sum((cost.delta for cost in self.costs), Fraction(0))
        return epsilon, str(decimal_above(total_delta, 12)) if total_delta else ""

    def _texts(self) -> list[str | None]:
        part = () if self.part is None else astuple(self.part)
        asked = (self.unit, self.plan, self.fingerprint, self.unit_kind)
        origin = (self.charged_by, self.source, self.table)
        return [*asked, *origin, *part, *(cost.query for cost in self.costs)]


@dataclass(frozen=True, slots=True, repr=False)
class Charge:
    """What was charged: its number in the ledger, when (UTC), for what, and whether its release was kept.

    `charged_by` is who charged it, `source` the start of a hash that is the same for the same name of a source, `table`
    the table of a database, as the plan writes it; None where there is none, and in entries of ledgers that did not
    record them.
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
    charged_by: str | None = None
    source: str | None = None
    table: str | None = None

    @property
    def epsilon(self) -> Fraction:
        """Σ of the costs: the ε of this charge by itself."""
        return sum((cost.epsilon for cost in self.costs), Fraction(0))

    @property
    def rho(self) -> Fraction:
        """Σ of the costs in ρ: that of their noise, or ε²/2."""
        return sum((cost.group(None).concentrated_rho for cost in self.costs), Fraction(0))

    @property
    def own_delta(self) -> Fraction:
        """Σ of the δ that add up with those of other charges: not what ρ of Gaussian noise is converted at."""
        return sum((cost.group(None).own_delta for cost in self.costs), Fraction(0))

    @property
    def has_converted(self) -> bool:
        """Has it Gaussian noise, whose ε and δ are only one way to tell its ρ."""
        return any(cost.law in CONVERTED_LAWS for cost in self.costs)

    @property
    def delta(self) -> Fraction:
        """Σ of the costs: the δ of this charge by itself."""
        return sum((cost.delta for cost in self.costs), Fraction(0))

    def groups(self) -> list[ChargeGroup]:
        """Its costs, each a group of one."""
        return [cost.group(self.part) for cost in self.costs]

    @property
    def queries_text(self) -> str:
        """The names of its queries, the first of many."""
        names = [cost.query for cost in self.costs]
        return (
            ", ".join(names) if len(names) <= MAX_SHOWN_QUERIES else f"{', '.join(names[:2])} and {len(names) - 2} more"
        )

    def __repr__(self) -> str:
        """Its number, when it was made, its price, and for which queries."""
        delta = f" and δ {decimal_above(self.delta, SHOWN_DIGITS)}" if self.delta else ""
        price = f"ε {decimal_above(self.epsilon, SHOWN_DIGITS)}{delta}"
        return escape_control(f"<Charge {self.number}: {self.charged}, {price}, for {self.queries_text}>", frozenset())

    def _repr_html_(self) -> str:
        return report_html(self, "budget", "describe_charge")


@dataclass(frozen=True, slots=True, repr=False)
class BudgetState:
    """What the charges of a budget, `charges` in number, have spent together, and what is left.

    `chain` is the start of the hash of the last of them, or of the budget itself; None before that is known. `measure`
    is the symbol of what its composition counts.
    """

    spent: Fraction
    left: Fraction
    charges: int
    chain: str | None = None
    delta_spent: Fraction = Fraction(0)
    delta_left: Fraction = Fraction(0)
    measure: str = "ε"

    def __repr__(self) -> str:
        """What is spent, rounded up, and left, rounded down."""
        spent, left = decimal_above(self.spent, SHOWN_DIGITS), decimal_below(self.left, SHOWN_DIGITS)
        has_delta = self.delta_spent or self.delta_left
        delta = f", δ {decimal_below(self.delta_left, SHOWN_DIGITS)} left" if has_delta else ""
        return f"<BudgetState: {self.measure} {spent} spent, {left} left{delta}; charges: {self.charges}>"

    def _repr_html_(self) -> str:
        return report_html(self, "budget", "describe_state")


@dataclass(frozen=True, slots=True)
class ChargeReceipt:
    """A charge just made: its number in the ledger, and what its budget has spent and left after it.

    `chain` is the start of the hash of this charge and all before it. Two copies of a ledger that were both charged
    have different ones for the same number. `measure` is the symbol of what its composition counts.
    """

    id: int
    spent: Fraction
    left: Fraction
    chain: str = ""
    delta_spent: Fraction = Fraction(0)
    delta_left: Fraction = Fraction(0)
    measure: str = "ε"


LESS_RHO = "lower its prices, accept larger errors, or open a new budget"


def budget_error(budget: Budget, left: Fraction, cost: Fraction) -> BudgetError:
    """The refusal of a plan that costs more than is left.

    >>> print(budget_error(Budget("survey", Fraction(1)), Fraction(1, 4), Fraction(1, 2)))
    budget 'survey' has ε 0.25 left, this plan costs 0.50: lower its epsilons or open a new budget
    """
    has, costs = format_amounts(left, cost)
    error = BudgetError(
        f"budget '{budget.name}' has {budget.rule.measure} {has} left, this plan costs {costs}",
        "budget",
        "lower its epsilons or open a new budget" if budget.rule.measure == "ε" else LESS_RHO,
    )
    error.missing = cost - left
    return error


def delta_error(budget: Budget, left: Fraction, cost: Fraction) -> BudgetError:
    """The refusal of a plan that costs more δ than is left.

    >>> print(delta_error(Budget("survey", Fraction(1), Fraction("1e-6")), Fraction("5e-7"), Fraction("1e-6")))
    budget 'survey' has δ 5e-07 left, this plan costs 1e-06: lower its deltas or open a new budget
    """
    has, costs = decimal_below(left, SHOWN_DIGITS), decimal_above(cost, SHOWN_DIGITS)
    problem = f"budget '{budget.name}' has δ {has} left{budget.rule.delta_words}, this plan costs {costs}"
    return BudgetError(problem, "budget", f"lower its deltas or open a new budget{budget.rule.delta_hint(cost)}")


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
            f"name of a budget must be 1 to {MAX_NAME_CHARS} printable characters without spaces at the ends", "name"
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
