"""KL10 Prop. 2.2.2, 2.2.3, 2.2.4: what a privacy predicate must allow once it allows something."""

from __future__ import annotations

from fractions import Fraction

from utmost.axioms import allowed_range, parse_bound, predicate, soundness
from utmost.axioms.pair_rules import permits
from utmost.axioms.predicate import Predicate
from utmost.axioms.regions import Region, region
from utmost.channel import Channel, channel
from utmost.exact import Number
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, statement_item
from utmost.papers.kl10.matrices import event_probabilities, two_output_mechanism

SOUND = (
    "b <= 2*a and a <= 2*b",
    "b <= 2*a + 1/10 and a <= 2*b + 1/10",
    "b <= a + 1/10",
    "b <= 3*a and b <= a + 1/5",
    "b < a + 1/10 or a = b",
    "0 < a < 1 or a = b",
    "a = b",
    "b <= 1",
)
UNSOUND = (
    "b <= 2*a or b <= 1/2",
    "a = b or a = 1/4 and b = 3/4 or a = 3/4 and b = 1/4",
    "b <= 3*a and b <= 3/5*a + 2/5 or b <= 5/3*a and b <= 1/3*a + 2/3",
    "a != 1/2",
)
TRIAL_SHARES = tuple(Fraction(k, 4) for k in range(5))


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return printed222(), exchanged222(), diagonal222(), proposition223(), proposition224()


def interval_end(a: Fraction, b: Fraction, low_half: bool) -> Fraction:
    """The other end of Prop. 2.2.2's interval: (1−b)·a/(1−a), proved for a ≤ 1/2, or 1 − b·(1−a)/a."""
    return (1 - b) * a / (1 - a) if low_half else 1 - b * (1 - a) / a


def printed222() -> Item:
    """The items as they are printed, on differential privacy with e^ε = 2, which satisfies both axioms."""
    curve = parse_bound("alpha:1/2")
    lines: list[Claim] = []
    for a, b, low_half in ((Fraction(3, 4), Fraction(1, 2), True), (Fraction(1, 4), Fraction(1, 2), False)):
        end = interval_end(a, b, low_half)
        inner = max(min((b + end) / 2, Fraction(15, 16)), Fraction(1, 16))
        item = "second" if low_half else "third"
        lines += [
            (f"{item} item, a = {a}, b = {b}: its end of the interval is a probability", True, bool(0 <= end <= 1)),
            (f"{item} item: q(a, b′) for b′ = {inner} between b and {end}", True, permits(curve, a, inner)),
        ]
    note = "statement: the two items are exchanged; the proof has them right"
    caption = "for a ≥ 1/2 up to (1−b)a/(1−a), for a ≤ 1/2 up to 1 − b(1−a)/a; q: differential privacy, e^ε = 2"
    return claims_item("Proposition 2.2.2, as printed", caption, lines, note)


def post_process(source: Channel, c: Fraction, d: Fraction) -> Channel:
    """The proof's A_{c,d} after a mechanism with two outputs."""
    return source.then(channel([[c, 1 - c], [d, 1 - d]], source.outputs, source.outputs))


def exchanged222() -> Item:
    """The proof's post-processings: a stays, b′ goes from b to the end of the interval; `allowed_range` has both."""
    rows: list[list[Value]] = []
    holds, labels = True, []
    for a, b in ((Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 3), Fraction(1, 5)), (Fraction(3, 4), Fraction(1, 2))):
        is_swapped = a > Fraction(1, 2)
        p, q = (1 - a, 1 - b) if is_swapped else (a, b)
        results = [
            post_process(two_output_mechanism(p, q), c, (1 - c) * p / (1 - p)).rows[:, 0].tolist() for c in TRIAL_SHARES
        ]
        second_values: list[Number] = [1 - second if is_swapped else second for _, second in results]
        holds = (
            holds
            and all(first == p for first, _ in results)
            and allowed_range(a, b) == (min(second_values), max(second_values))
        )
        labels.append(f"({a}, {b})")
        rows.append([interval_end(a, b, not is_swapped), *second_values])
    return statement_item(
        "Proposition 2.2.2, exchanged",
        "(a, b) is allowed, so a mechanism has an event with these; post-processed by the proof's A_{c,d}",
        "all b′ between b and (1−b)a/(1−a) for a ≤ 1/2, between b and 1 − b(1−a)/a for a ≥ 1/2, are allowed",
        LabelledMatrix("(a, b)", ("end", *(f"b′, c = {c}" for c in TRIAL_SHARES)), labels, rows),
        holds,
        "P(o₁|i₁) = a for every c, and b′ runs through the whole interval",
    )


def diagonal222() -> Item:
    """The first item: what a constant mechanism, its answer replaced by a coin, makes."""
    lines: list[Claim] = []
    for text in SOUND:
        rule = predicate(text)
        every = all(permits(rule, c, c) for c in (Fraction(k, 24) for k in range(25)))
        lines.append((f"{text}: q(a, a) for a = 0, 1/24, …, 1", True, every))
    note = (
        "a predicate that allows (0, 0) and not (1/2, 1/2) is refuted by a coin: see Axiom 2.1.1, anything but one half"
    )
    return claims_item(
        "Proposition 2.2.2, the diagonal", "q(a, a) = T for predicates that satisfy Axiom 2.1.1", lines, note
    )


def has_interval_sections(shape: Region) -> bool:
    """Is what is allowed at each place an interval."""
    return all(
        "10" not in "".join("1" if is_allowed else "0" for is_allowed in column.allowed).strip("0")
        for column in shape.columns
    )


def proposition223() -> Item:
    """M_q and m_q: what is allowed at each a is an interval."""
    rows: list[list[Value]] = []
    for text in SOUND + UNSOUND:
        shape = region(predicate(text))
        column = shape.column(Fraction(1, 4))
        assert column.top is not None
        assert column.bottom is not None
        rows.append(
            [
                soundness(predicate(text)).sound is True,
                has_interval_sections(shape),
                column.bottom.value,
                column.top.value,
            ]
        )
    return statement_item(
        "Proposition 2.2.3",
        "the sections {b : q(a, b)} of predicates, decided at every a; M_q and m_q at a = 1/4",
        "if some mechanism satisfies q then Axiom 2.1.1 implies that sections are intervals from m_q(a) to M_q(a)",
        LabelledMatrix(
            "q, with its complement", ("axioms hold", "intervals", "m_q(1/4)", "M_q(1/4)"), SOUND + UNSOUND, rows
        ),
        all(row[1] for row in rows if row[0]),
        "intervals are not enough: three predicates have them and fail, see Axiom 2.1.1",
    )


def open_and_closed_predicates() -> tuple[Predicate, Predicate]:
    """A predicate without its boundary, and KL10's q* for it."""
    return predicate("b < a + 1/10 or a = b"), predicate("b <= a + 1/10")


def proposition224() -> Item:
    """Closing the boundary keeps M and m, and the mechanisms."""
    (rule, closed_rule), lines = open_and_closed_predicates(), []
    for point in (Fraction(0), Fraction(1, 4), Fraction(1)):
        tops, bottoms = zip(
            *((c.top, c.bottom) for c in (region(q).column(point) for q in (closed_rule, rule))), strict=True
        )
        lines += [
            (f"M_q({point})", tops[0].value, tops[1].value),
            (f"m_q({point})", bottoms[0].value, bottoms[1].value),
        ]
    mechanism = two_output_mechanism(Fraction(1, 4), Fraction(1, 3))
    meets = [all(permits(q, a, b) for a, b in event_probabilities(mechanism, 0, 1)) for q in (rule, closed_rule)]
    lines.append(("a mechanism with the event (1/4, 1/3) satisfies q*, as it does q", meets[0], meets[1]))
    return claims_item("Proposition 2.2.4", "q: b < a + 1/10 or a = b; published: q*, with its boundary", lines)
