"""How previews and releases look."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.cli.show import facts, say, table

if TYPE_CHECKING:
    from utmost.publish.record import Answer, Error, Release
    from utmost.publish.run import Intended, Preview

MOST_CELLS = 12  # of a histogram in the terminal


def show_preview(seen: Preview) -> None:
    """What the plan costs and how far off its answers will be."""
    from utmost.publish import previewed

    setting = seen.setting
    public = "not public" if setting.units is None else f"{setting.units}, public"
    part = [] if setting.part is None else [("Part", f"only the rows with {setting.part}")]
    privacy = f"for {setting.unit}; neighbours: {setting.neighbours}; number of units: {public}"
    facts([("Privacy", privacy), *part, ("Cost", previewed.cost(seen))])
    say()
    table(("query", "kind", "ε", "sensitivity", "error", "± (95 %)"), [_intended_row(one) for one in seen.intended], 2)
    for line in previewed.remarks(seen.intended, setting, seen.guesses):
        say(line)
    say()


def _intended_row(one: Intended) -> tuple[str, ...]:
    kind = _kind(one.asked.query)
    spread = _error(one.error, kind)
    return (one.asked.name, kind, str(one.asked.epsilon), str(one.law.sensitivity), *spread)


def _kind(query: Any) -> str:
    from utmost.publish.plans import KIND_OF

    return KIND_OF[type(query)]


def _error(error: Error, kind: str) -> tuple[str, str]:
    from utmost.publish.previewed import behind

    mark = behind(error, kind)
    return f"{plainly(error.expected, 4)}{mark}", f"{plainly(error.half_width, 4)}{mark}"


def plainly(value: Fraction | float, digits: int) -> str:
    """A decimal of so many digits, a large number with all of those before its point.

    >>> plainly(0.123456, 4), plainly(35632000.4, 4), plainly(1e20, 4)
    ('0.1235', '35632000', '1e+20')
    """
    from utmost.exact import decimal

    return str(round(value)) if 10**digits <= abs(float(value)) < 10**16 else decimal(value, digits)


def show_release(made: Release) -> None:
    """The values, and what they guarantee."""
    from utmost.publish.previewed import amount

    table(("query", "value", "± (95 %)", "best"), [_answer_row(answer) for answer in made], 1)
    say()
    for answer in made:
        if isinstance(answer.value, tuple):
            say(f"{answer.name}: {cells(answer)}")
    say(f"Guarantee: {made.guarantee}.")
    say(f"Ledger: entry {made.entry.number}, budget {made.entry.budget}, ε {amount(made.entry.left)} left.")


def _answer_row(answer: Answer) -> tuple[str, ...]:
    half = _error(answer.error, answer.kind)[1]
    return (answer.name, _value(answer), half, answer.optimal.partition(":")[0])


def _value(answer: Answer) -> str:
    if isinstance(answer.value, tuple):
        return f"{len(answer.value)} cells"
    return str(answer.value) if isinstance(answer.value, int) else plainly(answer.value, 8)


def cells(answer: Answer) -> str:
    """The cells of a histogram with their values, the first of many."""
    from utmost.publish.estimate import cells as names

    assert isinstance(answer.value, tuple)
    pairs = [f"{name}: {value}" for name, value in zip(names(answer), answer.value, strict=True)]
    more = f"; and {len(pairs) - MOST_CELLS} more" if len(pairs) > MOST_CELLS else ""
    return "; ".join(pairs[:MOST_CELLS]) + more
