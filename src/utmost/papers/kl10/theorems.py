"""KL10 Axioms 2.1.1 and 2.1.2, Thm 2.2.5 (necessary) and 2.3.1 (sufficient), and predicates that break the axioms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from utmost.axioms import Candidate, Curve, closure, parse_bound, predicate, relation_from_pairs, soundness
from utmost.axioms.counterexamples import Mixture, Processing
from utmost.axioms.pair_rules import AllowedPairs, permits
from utmost.axioms.predicate import Predicate
from utmost.axioms.regions import region
from utmost.channel import Channel, channel, mix
from utmost.exact import Number
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, computed_item, statement_item
from utmost.papers.kl10.matrices import event_probabilities, stack_matrices, two_output_mechanism
from utmost.papers.kl10.predicates import SOUND, UNSOUND, has_interval_sections, open_and_closed_predicates

BOUND_TEXTS = (
    "alpha:1/2",
    "points:0 1/10,3/10 7/10,9/10 1,1 1",
    "variation:1/10",
    "subsampling:1/4",
    "identity",
    "points:0 0,1 1",
)
SHARES = tuple(Fraction(k, 3) for k in range(4))
TWO_POINT_PREDICATE = UNSOUND[1]
UNSOUND_BY_NAME = {"up to one half": UNSOUND[0], "two parallelograms": UNSOUND[2], "anything but one half": UNSOUND[3]}


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        *(failure_item(name, axiom) for name in UNSOUND_BY_NAME for axiom in ("2.1.1", "2.1.2")),
        theorem225(),
        monotone225(),
        closed225(),
        several_pairs(),
        theorem231(),
        continuity231(),
        indicator231(),
    )


def failure_item(name: str, axiom: str) -> Item:
    """The mechanisms that refute one axiom for a predicate, as matrices."""
    rule = predicate(UNSOUND_BY_NAME[name])
    verdict = soundness(rule)
    failure = verdict.transformation if axiom == "2.1.1" else verdict.choice
    assert failure is not None
    matrices = _processing_matrices(failure) if isinstance(failure, Processing) else _mixture_matrices(failure)
    forbidden = next((a, b) for a, b in event_probabilities(failure.result, 0, 1) if not AllowedPairs(rule)(a, b))
    item = computed_item(
        f"Axiom {axiom}, {name}",
        f"q: {rule}. What meets it, and what is made of that and does not",
        stack_matrices(matrices),
        f"every event of what meets q does; of the last an event has ({forbidden[0]}, {forbidden[1]}), and does not",
    )
    return replace(item, draw=lambda: _region_chart(rule)) if (name, axiom) == ("up to one half", "2.1.1") else item


def _processing_matrices(failure: Processing) -> list[tuple[str, Channel]]:
    return [("meets q", failure.mechanism), ("post", failure.post_processing), ("result", failure.result)]


def _mixture_matrices(failure: Mixture) -> list[tuple[str, Channel]]:
    return [
        ("meets q", failure.first),
        ("meets q too", failure.second),
        (f"{failure.weight} of the first", failure.result),
    ]


def _region_chart(rule: Predicate) -> Any:
    """What the predicate allows, and the point that is missing."""
    from utmost.axioms.pair_rules import region_outline
    from utmost.charts import definition

    shape, convexity_gap = region_outline(AllowedPairs(rule)), soundness(rule).gap
    assert convexity_gap is not None
    labelled_lines = [("M", line) for line in shape.upper] + [("m", line) for line in shape.lower]
    return definition.allowed_region_chart(
        [[_floats(corner) for corner in cell] for cell in shape.cells],
        [(name, [_floats(point) for point in line]) for name, line in labelled_lines],
        [_floats(isolated_point) for isolated_point in shape.isolated_points],
        "Between two allowed points one is missing, so both axioms fail",
        f"KL10 Axioms 2.1.1 and 2.1.2 for q: {rule}",
        gap=[_floats(point) for point in (convexity_gap.first, convexity_gap.second, convexity_gap.missing)],
    )


def _floats(values: tuple[Number, ...]) -> list[float]:
    return [float(value) for value in values]


def upper_curve(text: str) -> Curve | None:
    """M_q as a curve; None where it is not concave: it is compared with its hull wherever it can bend, and between."""
    rule = predicate(text)
    hull, columns = closure(rule).bound, region(rule).columns
    same = all(column.top is not None and column.top.value == hull(column.argument) for column in columns)
    return hull if same else None


def theorem225_conditions(curve: Curve) -> list[bool]:
    """Thm 2.2.5 (ii) … (vi) of a concave M and m(a) = 1 − M(1−a), (v) with m non-decreasing."""
    lower = curve.reflected
    ordered = all(lower(a) <= a <= curve(a) <= 1 for a, _ in (*curve.points, *lower.points))
    strict = all(b > a for (_, a), (_, b) in pairwise(curve.points) if a < 1)
    rising = curve.drop is None and lower.drop is None and strict
    return [ordered, lower.reflected == curve, curve.concave, rising, curve.at_one == curve.points[-1][1]]


def theorem225() -> Item:
    """The necessary conditions on sound predicates, and which of them the others break."""
    rows: list[list[Value]] = []
    for text in SOUND + UNSOUND:
        curve = upper_curve(text)
        holds = [
            has_interval_sections(region(predicate(text))),
            *(theorem225_conditions(curve) if curve else [False] * 5),
        ]
        rows.append([soundness(predicate(text)).sound is True, holds[0], all(holds[1:])])
    columns = ("axioms hold, decided", "(i) intervals", "(ii)–(vi)")
    return statement_item(
        "Theorem 2.2.5",
        "M_q and m_q of predicates; (v) with m non-decreasing",
        "(ii) 1 ≥ M ≥ a ≥ m ≥ 0, (iii) m(a) = 1 − M(1−a), (iv) M concave, (v) increasing, (vi) continuous but at 0",
        LabelledMatrix("q, with its complement", columns, SOUND + UNSOUND, rows),
        all((row[1] and row[2]) == row[0] for row in rows),
        "each axiom alone implies the other, and with it (iv) and (vi): see docs/definitions.md",
    )


def monotone225() -> Item:
    """(v) says that m does not increase."""
    lines: list[Claim] = []
    for text in ("alpha:1/2", "variation:1/10", "subsampling:1/4"):
        lower = parse_bound(text).reflected
        lines.append((f"{text}: m(9/10) ≤ m(1/2)", True, bool(lower("9/10") <= lower("1/2"))))
    note = "misprint: m(a) = 1 − M(1−a) is non-decreasing, and strictly increasing where m(a) > 0 (printed: M(a) > 0)"
    return claims_item("Theorem 2.2.5 (v), as printed", "m is nonincreasing", lines, note)


def closed225() -> Item:
    """The proof of (iv) and (v) takes mechanisms on the boundary for mechanisms of q."""
    rule, closed_rule = open_and_closed_predicates()
    quarter = Fraction(1, 4)
    mechanism = two_output_mechanism(quarter, parse_bound("variation:1/10")(quarter))
    lines: list[Claim] = [
        ("P(o₁|i₁) = 1/4, P(o₁|i₂) = M(1/4) is a mechanism for q", True, _meets_rule(mechanism, AllowedPairs(rule))),
        ("and for q*", True, _meets_rule(mechanism, AllowedPairs(closed_rule))),
    ]
    note = (
        "proof: it is one for q*, and Prop. 2.2.4 does not show that q* keeps the axioms. It does: what q allows is "
        "convex, and stays so with its boundary"
    )
    return claims_item("Theorem 2.2.5 (iv), proof", "q: b < a + 1/10 or a = b, M(a) = min(1, a + 1/10)", lines, note)


def _meets_rule(source: Channel, rule: AllowedPairs) -> bool:
    return all(rule(a, b) for a, b in event_probabilities(source, 0, 1))


def several_pairs() -> Item:
    """Prop. 2.2.3, and with it Thm 2.2.5, for one of several pairs, where another one leaves nothing."""
    candidate = Candidate(
        relation_from_pairs([(1, 2), (2, 1)]), predicate("a = b"), {(0, 1): predicate(TWO_POINT_PREDICATE)}
    )
    verdict = soundness(candidate)
    lines: list[Claim] = [
        (
            "some mechanism satisfies {q₁₂, q₂₁}, and both axioms hold",
            True,
            bool(verdict.satisfiable and verdict.sound),
        ),
        (
            "what q₁₂ allows at a = 1/4 is an interval",
            True,
            has_interval_sections(region(predicate(TWO_POINT_PREDICATE))),
        ),
    ]
    note = (
        "statement: q₂₁ leaves constants only, so whatever else q₁₂ allows is never used. The proof takes the "
        "mechanism with events (a, b) of one pair for one of all pairs. For one pair, or one rule for all, it holds"
    )
    caption = f"R = {{(1, 2), (2, 1)}}; q₂₁: a = b; q₁₂: {TWO_POINT_PREDICATE}"
    return claims_item("Proposition 2.2.3, several pairs", caption, lines, note)


def tightest_mechanism(curve: Curve) -> Channel:
    """The mechanism whose profile is M: an output for each straight piece, and one that i₁ never makes if M(0) > 0."""
    points = [(Fraction(0), Fraction(0)), *curve.points] if curve.at_zero else list(curve.points)
    steps = [(d - b, c - a) for (a, b), (c, d) in pairwise(points)]
    return channel([[width for _, width in steps], [height for height, _ in steps]])


def two_output_processings(source: Channel) -> Iterator[Channel]:
    """Post-processings to two outputs, with shares of thirds."""
    for shares in product(SHARES, repeat=len(source.outputs)):
        yield source.then(channel([[share, 1 - share] for share in shares], source.outputs, ["yes", "no"]))


def theorem231() -> Item:
    """The sufficient conditions on several M: decided, and tried on post-processings and mixtures."""
    rows: list[list[Value]] = []
    for text in BOUND_TEXTS:
        curve = parse_bound(text)
        processings = list(two_output_processings(tightest_mechanism(curve)))
        mixtures = [
            mix(mechanism, second, "1/3")
            for mechanism, second in product(
                processings[:: 1 + len(processings) // 12], processings[1 :: 1 + len(processings) // 9]
            )
        ]
        failure_counts = [
            sum(
                not all(permits(curve, a, b) for a, b in event_probabilities(mechanism, 0, 1))
                for mechanism in mechanisms
            )
            for mechanisms in (processings, mixtures)
        ]
        rows.append(
            [soundness(curve).sound is True, len(processings), failure_counts[0], len(mixtures), failure_counts[1]]
        )
    columns = ("sound, decided", "post-processings", "fail", "mixtures", "fail ")
    return statement_item(
        "Theorem 2.3.1",
        "q: m(a) ≤ b ≤ M(a); the mechanism whose profile is M, processed and mixed",
        "if M is concave, continuous on (0, 1], M(0) ≥ 0 and M(1) = 1 then Axioms 2.1.1 and 2.1.2 hold",
        LabelledMatrix("M", columns, BOUND_TEXTS, rows),
        all(row[0] and row[2] == 0 and row[4] == 0 for row in rows),
    )


def continuity231() -> Item:
    """Condition (iii) follows from the others."""
    curves = [Curve(((Fraction(0), Fraction(0)), (Fraction(1), limit)), Fraction(0), Fraction(1)) for limit in SHARES]
    lines: list[Claim] = [
        (f"M(a) = {limit}·a for a < 1 and M(1) = 1 is concave", False, curve.concave)
        for limit, curve in zip(SHARES[:-1], curves, strict=False)
    ]
    note = "a concave M ≤ 1 with M(1) = 1 is continuous on (0, 1]: a jump at 1 would be upwards, and break a chord"
    return claims_item("Theorem 2.3.1 (iii)", "M with a jump at 1 only: excluded by (ii) and (iv) already", lines, note)


def indicator231() -> Item:
    """Step 3 of the proof: ∫h dμ₁ = 1 does not make h an indicator."""
    source = channel([[1, 0], ["1/2", "1/2"]], ["i1", "i2"])
    result = source.then(channel([[1, 0], ["1/2", "1/2"]], source.outputs, ["S", "other"]))
    shares: list[Number] = [Fraction(1), Fraction(1, 2)]
    a, b = result.rows[:, 0].tolist()
    lines: list[Claim] = [
        ("∫h dμ₁", Fraction(1), a),
        ("h is an indicator", True, all(share in (0, 1) for share in shares)),
        ("b ≥ μ₂(h = 1), from which b ≥ m(1) follows", True, bool(b >= source.rows[1, 0])),
    ]
    note = "proof: h = 1 only where i₁'s outputs are. The set where h = 1 has μ₁ = 1, so b ≥ μ₂ of it ≥ m(1) by Step 1"
    caption = "outputs 0, 1 with μ₁ = (1, 0), μ₂ = (1/2, 1/2); h = P(S | output) = (1, 1/2)"
    return claims_item("Theorem 2.3.1, Step 3", caption, lines, note)
