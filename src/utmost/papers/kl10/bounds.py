"""KL10 Def. 2.0.2, 2.1.3 and the bounds M of §2.1: pure, (ε, δ), identity, subsampling."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from utmost.axioms import parse_bound, predicate, profile, satisfaction, subsampling
from utmost.axioms.definition import definition_of, parse_relation
from utmost.axioms.pair_rules import permits
from utmost.axioms.regions import region
from utmost.channel import Channel, channel, identity
from utmost.exact import Number, alpha
from utmost.mechanisms import geometric, response
from utmost.papers.items import (
    Claim,
    Item,
    LabelledMatrix,
    Value,
    claims_item,
    computed_item,
    matrix_item,
    statement_item,
)
from utmost.papers.kl10.matrices import event_probabilities

A_VALUES = tuple(Fraction(k, 8) for k in range(9))
RATES = (Fraction(2), Fraction(3, 2), Fraction(10))  # e^ε
DELTAS = (Fraction(1, 10), Fraction(1, 4), Fraction(9, 10))
KEEP_PROBABILITY = Fraction(1, 4)
BOUND_TEXTS = ("alpha:1/2", "alpha:2/3", "variation:1/4", "points:0 1/8,1/3 5/8,1 1", "identity")


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        definition213(),
        pure_bound(),
        one_direction(),
        approximate_bound(),
        identity_bound(),
        subsampling_bound(),
        or_constraint(),
    )


def definition213() -> Item:
    """Generic differential privacy, decided from profiles and by looking at every event."""
    half = alpha("1/2")
    mechanisms = {"line:4": geometric(3, half).channel(), "discrete:3": response(3, half).channel()}
    rows: list[list[Value]] = []
    for name, source in mechanisms.items():
        relation = parse_relation(name)
        for bound_text in BOUND_TEXTS:
            met_by_profiles = satisfaction(source, definition_of(bound_text, relation)).holds
            curve = parse_bound(bound_text)
            met_by_events = all(
                permits(curve, a, b) for pair in relation.pairs for a, b in event_probabilities(source, *pair)
            )
            rows.append([bound_text, met_by_profiles, met_by_events])
    labels = [
        f"{kind}, {name}" for kind, name in (("geometric", "line:4"), ("response", "discrete:3")) for _ in BOUND_TEXTS
    ]
    item = statement_item(
        "Definition 2.1.3",
        "generic differential privacy: which of these mechanisms (α = 1/2) meet which definitions",
        "M(P(O|i₁)) ≥ P(O|i₂) for every event O and its complement",
        LabelledMatrix("mechanism", ("definition", "met, by profiles", "met, by every event"), labels, rows),
        all(row[1] == row[2] for row in rows),
        "the condition on complements is implied: the complement of an event is an event",
    )
    return replace(item, draw=_profile_chart)


def _profile_chart() -> Any:
    """A profile under a bound that it touches."""
    from utmost.charts.definition import profile_chart

    response_profile = profile(response(3, alpha("1/2")), (0, 1))
    bound = parse_bound("points:0 1/8,7/20 13/20,7/8 1,1 1")
    title = "A mechanism meets a definition when no event is above M"
    subtitle = "KL10 Def. 2.1.3: randomised response on three secrets, α = 1/2, under (ε, δ) = (ln 3/2, 1/8)"
    return profile_chart(response_profile, bound, (), title, subtitle)


def max_allowed(text: str, a: Fraction) -> Number:
    """M_q(a), the largest b that a predicate allows for an event and its complement."""
    upper_end = region(predicate(text)).column(a).top
    assert upper_end is not None
    return upper_end.value


def pure_bound() -> Item:
    """M of ε-differential privacy against the two inequalities it stands for."""
    published = [[min(rate * a, 1 - (1 - a) / rate) for a in A_VALUES] for rate in RATES]
    computed = [[max_allowed(f"b <= {rate}*a and a <= {rate}*b", a) for a in A_VALUES] for rate in RATES]
    grid = LabelledMatrix("e^ε", [f"a = {a}" for a in A_VALUES], RATES, published)
    note = "computed: the largest b with b ≤ e^ε·a and a ≤ e^ε·b, for an event and its complement"
    return matrix_item("§2.1, differential privacy", "M(a) = min(e^ε·a, 1 − e^−ε·(1−a))", grid, computed, note)


def one_direction() -> Item:
    """What M would be if only (i₁, i₂) were related."""
    published = [[min(rate * a, 1 - (1 - a) / rate) for a in A_VALUES] for rate in RATES]
    computed = [[max_allowed(f"a <= {rate}*b", a) for a in A_VALUES] for rate in RATES]
    grid = LabelledMatrix("e^ε", [f"a = {a}" for a in A_VALUES], RATES, published)
    note = (
        "statement: §2 asks P(O|i₁) ≤ e^ε·P(O|i₂) for (i₁, i₂) in R. For one ordered pair this is another M, "
        "1 − e^−ε·(1−a); the printed one needs R symmetric. Def. 3.3.1 and R_n have one direction only: see Lemma 3.3.5"
    )
    caption = "M(a) for a ≤ e^ε·b of an event and its complement, where (i₂, i₁) is not related"
    return matrix_item("§2.1, one direction", caption, grid, computed, note)


def approximate_bound() -> Item:
    """M of (ε, δ) against the two inequalities; the printed d is δ."""
    cases = list(zip(RATES, DELTAS, strict=True))
    published = [
        [min(Fraction(1), rate * a + delta, 1 - (1 - a - delta) / rate) for a in A_VALUES] for rate, delta in cases
    ]
    computed = [
        [max_allowed(f"b <= {rate}*a + {delta} and a <= {rate}*b + {delta}", a) for a in A_VALUES]
        for rate, delta in cases
    ]
    labels = [f"{rate}, {delta}" for rate, delta in cases]
    grid = LabelledMatrix("e^ε, δ", [f"a = {a}" for a in A_VALUES], labels, published)
    note = "misprint: d in the formula is δ, and M has one argument, not (a, b)"
    caption = "M(a) = min(1, e^ε·a + δ, 1 − e^−ε·(1−a−d)), read with d = δ"
    return matrix_item("§2.1, (ε, δ)", caption, grid, computed, note)


def identity_bound() -> Item:
    """M = 1 allows the mechanism that outputs its input, and nothing less does."""
    identity_channel, relation = identity((0, 1)), parse_relation("discrete:2")

    def is_met(text: str) -> bool:
        return satisfaction(identity_channel, definition_of(text, relation)).holds

    lines: list[Claim] = [
        ("M = 1 allows it", True, is_met("identity")),
        (
            "its profile is M = 1, so no smaller M allows it",
            True,
            profile(identity_channel, (0, 1)).curve == parse_bound("identity"),
        ),
        ("M(a) = min(1, a + 99/100) allows it", False, is_met("variation:99/100")),
        ("differential privacy with e^ε = 100 allows it", False, is_met("alpha:1/100")),
    ]
    return claims_item("§2.1, identity", "the mechanism that outputs its input", lines)


def subsampling_channel() -> Channel:
    """Random subsets of {x, y} and of {x, y, z}, each record kept with probability 1/4."""
    subsets = [frozenset(members) for size in range(4) for members in combinations("xyz", size)]
    rows = [[_subset_probability(frozenset(records), subset) for subset in subsets] for records in ("xy", "xyz")]
    return channel(rows, ["xy", "xyz"], ["".join(sorted(subset)) or "{}" for subset in subsets])


def _subset_probability(records: frozenset[str], subset: frozenset[str]) -> Fraction:
    if not subset <= records:
        return Fraction(0)
    return KEEP_PROBABILITY ** len(subset) * (1 - KEEP_PROBABILITY) ** (len(records) - len(subset))


def subsampling_bound() -> Item:
    """The M that subsampling needs, from the channel of all subsets."""
    forward, backward = (profile(subsampling_channel(), pair).curve for pair in (("xy", "xyz"), ("xyz", "xy")))
    bound = subsampling(KEEP_PROBABILITY)
    rows: list[list[Value]] = [[str(bound), str(forward)], [str(bound.reversed), str(backward)]]
    return computed_item(
        "§2.1, subsampling",
        "a random subset, each record kept with p = 1/4: M(a) = p + (1−p)·a; back min(1, a/(1−p))",
        LabelledMatrix(
            "pair", ("M, as points", "profile of the channel of all subsets"), ("xy → xyz", "xyz → xy"), rows
        ),
        "the paper names the mechanism and gives no M; this one is derived here, and is what the channel tells",
    )


def or_constraint() -> Item:
    """§3.3's constraint with "or" excludes nothing."""
    identity_channel, rate = identity(["i1", "i2"]), Fraction(2)
    holds_with_or = all(a <= rate * b or b <= rate * a for a, b in event_probabilities(identity_channel, 0, 1))
    holds_with_and = all(a <= rate * b and b <= rate * a for a, b in event_probabilities(identity_channel, 0, 1))
    lines: list[Claim] = [
        ("telling the input passes, with the constraint as printed", False, holds_with_or),
        ("telling the input passes, with “and”", False, holds_with_and),
    ]
    note = "misprint: of two numbers one is at most e^ε times the other, always; read “and”, for every event"
    caption = "P(O|i₁) ≤ e^ε·P(O|i₂) “or” P(O|i₂) ≤ e^ε·P(O|i₁); e^ε = 2"
    return claims_item("§3.3, the constraint", caption, lines, note)
