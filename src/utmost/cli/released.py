"""How previews and releases look."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.cli.show import facts, say, table

if TYPE_CHECKING:
    from utmost.publish.record import Answer, Error, Release
    from utmost.publish.run import Intended, Preview

MOST_CELLS = 12  # of a histogram in the terminal


def show_preview(seen: Preview) -> None:
    """What the plan costs and how far off its answers will be."""
    setting = seen.setting
    public = "not public" if setting.units is None else f"{setting.units}, public"
    part = [] if setting.part is None else [("Part", f"only the rows with {setting.part}")]
    privacy = f"for {setting.unit}; neighbours: {setting.neighbours}; number of units: {public}"
    facts([("Privacy", privacy), *part, ("Cost", _cost(seen))])
    say()
    table(("query", "kind", "ε", "sensitivity", "error", "± (95 %)"), [_intended_row(one) for one in seen.intended], 2)
    for line in _remarks(seen):
        say(line)
    say()


def _cost(seen: Preview) -> str:
    if seen.left is None or seen.after is None or seen.spent is None:
        return f"ε {_amount(seen.cost)}; budget {seen.plan.budget} is not open yet: see utmost budget open"
    now = f"budget {seen.plan.budget}: ε {_amount(seen.spent)} spent, ε {_amount(seen.left)} left"
    if seen.free:
        return f"nothing: the ledger remembers this release; {now}"
    takes = seen.left - seen.after
    less = "" if takes == seen.cost else f", of which ε {_amount(takes)} is taken from the budget"
    return f"ε {_amount(seen.cost)}{less}; {now}, ε {_amount(seen.after)} after it"


def _remarks(seen: Preview) -> Iterator[str]:
    kinds = {_kind(one.asked.query) for one in seen.intended}
    if any(one.error.over_rows for one in seen.intended):
        yield "/r: at most, divided by the number of rows in the mean, which is not public."
    if "quantile" in kinds:
        yield "rows: at most so many lie on the wrong side of the quantile."
    for one in seen.intended:
        if one.asked.extra_loss is not None:
            yield _step(one)
    if seen.guesses:
        from utmost.publish.run import declaration

        yield f"Kinds were found in the rows; to release, declare them: {declaration(seen.guesses)}"
    about = [] if seen.setting.unit.column is None else [f"at most {_kept(seen)} of each person"]
    about += ["values within their bounds"] if kinds & {"sum", "mean", "quantile"} else []
    if about:
        yield f"Errors are of the noise alone, around what is asked of {' and '.join(about)}."


def _step(one: Intended) -> str:
    """The step that an accepted extra loss led to."""
    from utmost.publish.plans import described

    step, extra = described(one.asked.query)["step"], one.asked.extra_loss
    return f"{one.asked.name}: step {step}, the coarsest that adds at most {extra} to any reader's absolute loss."


def _kept(seen: Preview) -> str:
    unit = seen.setting.unit
    return f"{unit.rows} rows" if unit.rows else f"{unit.groups} groups"


def _intended_row(one: Intended) -> tuple[str, ...]:
    kind = _kind(one.asked.query)
    spread = _error(one.error, kind == "quantile")
    return (one.asked.name, kind, str(one.asked.epsilon), str(one.law.sensitivity), *spread)


def _kind(query: Any) -> str:
    from utmost.publish.plans import KIND_OF

    return KIND_OF[type(query)]


def _error(error: Error, ranked: bool) -> tuple[str, str]:
    mark = "/r" if error.over_rows else " rows" if ranked else ""
    return f"{plainly(error.expected, 4)}{mark}", f"{plainly(error.half_width, 4)}{mark}"


def plainly(value: Fraction | float, digits: int) -> str:
    """A decimal of so many digits, a large number with all of those before its point.

    >>> plainly(0.123456, 4), plainly(35632000.4, 4), plainly(1e20, 4)
    ('0.1235', '35632000', '1e+20')
    """
    from utmost.exact import decimal

    return str(round(value)) if 10**digits <= abs(float(value)) < 10**16 else decimal(value, digits)


def preview_document(seen: Preview) -> dict[str, Any]:
    """The preview as JSON: what `--dry-run --json` prints."""
    from utmost.publish.encode import part_content

    setting = seen.setting
    amounts = {"spent": seen.spent, "left": seen.left, "after": seen.after}
    books = {name: None if value is None else str(value) for name, value in amounts.items()}
    return {
        "dry_run": True,
        "engine": seen.engine,
        "unit": str(setting.unit),
        "neighbours": str(setting.neighbours),
        "units": setting.units,
        "part": part_content(setting.part),
        "cost": str(seen.cost),
        "free": seen.free,
        "guesses": dict(seen.guesses),
        "ledger": {"budget": seen.plan.budget, **books},
        "queries": [_intended_document(one) for one in seen.intended],
    }


def _intended_document(one: Intended) -> dict[str, Any]:
    from utmost.publish import encode, plans

    extra = one.asked.extra_loss
    found = {} if extra is None else {"extra_loss": str(extra), "step": plans.described(one.asked.query)["step"]}
    return {
        "name": one.asked.name,
        "kind": _kind(one.asked.query),
        **found,
        "epsilon": str(one.asked.epsilon),
        "sensitivity": one.law.sensitivity,
        "mechanism": encode.mechanism_content(one.law.mechanism),
        "optimal": one.law.optimal,
        "error": encode.error_content(one.error),
    }


def show_release(made: Release) -> None:
    """The values, and what they guarantee."""
    table(("query", "value", "± (95 %)", "best"), [_answer_row(answer) for answer in made], 1)
    say()
    for answer in made:
        if isinstance(answer.value, tuple):
            say(f"{answer.name}: {cells(answer)}")
    say(f"Guarantee: {made.guarantee}.")
    say(f"Ledger: entry {made.entry.number}, budget {made.entry.budget}, ε {_amount(made.entry.left)} left.")


def _answer_row(answer: Answer) -> tuple[str, ...]:
    half = _error(answer.error, answer.kind == "quantile")[1]
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


def _amount(value: Fraction) -> str:
    """An amount of ε: exactly where that is short, else as a decimal."""
    from utmost.exact import decimal

    return str(value) if len(str(value)) <= 12 else decimal(value, 9)
