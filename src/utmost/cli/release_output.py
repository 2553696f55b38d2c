"""How previews and releases look."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.cli.output import print_facts, print_table, print_text

if TYPE_CHECKING:
    from utmost.publish.execute import PlannedAnswer, Preview
    from utmost.publish.release_model import Answer, ErrorLaw, Release

MOST_CELLS = 12  # of a histogram in the terminal


def show_preview(seen: Preview) -> None:
    """What the plan costs and how far off its answers will be."""
    from utmost.publish import preview

    setting = seen.setting
    public = "not public" if setting.units is None else f"{setting.units}, public"
    part = [] if setting.part is None else [("Part", f"only the rows with {setting.part}")]
    privacy = f"for {setting.unit}; neighbours: {setting.neighbours}; number of units: {public}"
    print_facts([("Privacy", privacy), *part, ("Cost", preview.cost_sentence(seen))])
    print_text()
    print_table(
        ("query", "kind", "ε", "sensitivity", "error", "± (95 %)"), [_intended_row(one) for one in seen.intended], 2
    )
    for line in preview.error_remarks(seen.intended, setting, seen.guesses):
        print_text(line)
    print_text()


def _intended_row(one: PlannedAnswer) -> tuple[str, ...]:
    kind = _kind(one.asked.query)
    spread = _error(one.error, kind)
    return (one.asked.name, kind, str(one.asked.epsilon), str(one.law.sensitivity), *spread)


def _kind(query: Any) -> str:
    from utmost.publish.plans import QUERY_KINDS

    return QUERY_KINDS[type(query)]


def _error(error: ErrorLaw, kind: str) -> tuple[str, str]:
    from utmost.publish.preview import error_suffix

    mark = error_suffix(error, kind)
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
    from utmost.publish.preview import format_epsilon

    print_table(("query", "value", "± (95 %)", "best"), [_answer_row(answer) for answer in made], 1)
    print_text()
    for answer in made:
        if isinstance(answer.value, tuple):
            print_text(f"{answer.name}: {cells(answer)}")
    print_text(f"Guarantee: {made.guarantee}.")
    print_text(
        f"Ledger: entry {made.entry.number}, budget {made.entry.budget}, ε {format_epsilon(made.entry.left)} left."
    )


def _answer_row(answer: Answer) -> tuple[str, ...]:
    half = _error(answer.error, answer.kind)[1]
    return (answer.name, _value(answer), half, answer.optimal.partition(":")[0])


def _value(answer: Answer) -> str:
    if isinstance(answer.value, tuple):
        return f"{len(answer.value)} cells"
    return str(answer.value) if isinstance(answer.value, int) else plainly(answer.value, 8)


def cells(answer: Answer) -> str:
    """The cells of a histogram with their values, the first of many."""
    from utmost.publish.estimate import cell_names as names

    assert isinstance(answer.value, tuple)
    pairs = [f"{name}: {value}" for name, value in zip(names(answer), answer.value, strict=True)]
    more = f"; and {len(pairs) - MOST_CELLS} more" if len(pairs) > MOST_CELLS else ""
    return "; ".join(pairs[:MOST_CELLS]) + more
