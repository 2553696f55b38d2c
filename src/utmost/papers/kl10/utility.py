"""KL10 §3 and §3.1, §3.2, App. A: generality, and measures of utility that respect it or do not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from utmost.axioms import (
    absolute_determinant,
    at_least_as_general,
    canonical,
    curve_from_points,
    equivalent,
    ergodicity,
    rename_counterexample,
    soundness,
)
from utmost.axioms.pair_rules import permits
from utmost.axioms.utility_measures import (
    Refutation,
    check_measure,
    dobrushin,
    negative_expected_loss,
    remap_counterexample,
)
from utmost.channel import Channel, channel, deterministic
from utmost.consumer import Consumer, losses, priors
from utmost.design import by_program
from utmost.exact import alpha
from utmost.mechanisms import geometric, response
from utmost.papers.grs12.figures import FIGURE_5A, fraction_rows
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, computed_item, statement_item
from utmost.papers.kl10.matrices import event_probabilities, stack_matrices, two_output_mechanism
from utmost.spaces import discrete, line


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        any_optimum(),
        definition312(),
        definition313(),
        example321(),
        example321_geometric(),
        example322(),
        example322_shapes(),
        example323(),
        strict_loss(),
    )


def figure5_channel() -> Channel:
    """GRS12 Figure 5(a): private on a line of four at α = 1/2, and no remap of the geometric mechanism."""
    return channel([row[:3] for row in fraction_rows(FIGURE_5A)])


def any_optimum() -> Item:
    """§3 on GRS12: "any optimal mechanism" is a remap of the geometric one, by a map that is not one-to-one."""
    half = alpha("1/2")
    indifferent = Consumer(priors.uniform(4), losses.matrix([[1] * 4] * 4))
    figure5_loss = indifferent.expected_loss(channel([[*row, 0] for row in figure5_channel().rows.tolist()]))
    best = by_program(line(4), half, indifferent).loss
    careful = Consumer(priors.uniform(3), losses.binary)
    lines: list[Claim] = [
        ("a constant loss: GRS12's Figure 5(a) is optimal", True, bool(figure5_loss == best)),
        (
            "and can be made from the geometric mechanism",
            True,
            at_least_as_general(figure5_channel(), geometric(3, half)).refines,
        ),
        (
            "n = 2, uniform, binary loss: the best remap merges answers",
            True,
            len(set(careful.remap(geometric(2, half)))) < 3,
        ),
    ]
    note = (
        "statement: for each user some optimal mechanism is a remap, not each; and the remap is one-to-one for some "
        "users (GRS12 Lemma 5.12), for whom the geometric mechanism itself is optimal"
    )
    caption = "any optimal mechanism is made from the geometric one by a map that is not one-to-one; α = 1/2"
    return claims_item("§3, the geometric mechanism", caption, lines, note)


def definition312() -> Item:
    """≤_G, decided with the post-processing; it is no partial order."""
    half, third = geometric(2, alpha("1/2")).channel(), geometric(2, alpha("1/3")).channel()
    renamed_channel = Channel(half.inputs, ("c", "b", "a"), half.rows)
    order = at_least_as_general(half, third)
    assert order.post_processing is not None
    lines: list[Claim] = [
        ("geometric at α = 1/2 ≤_G geometric at α = 1/3", True, order.refines),
        ("A∘M₂ = M₁, entry by entry", True, third.then(order.post_processing) == half),
        ("geometric at α = 1/3 ≤_G geometric at α = 1/2", False, at_least_as_general(third, half).refines),
        ("with outputs renamed, each ≤_G the other", True, equivalent(half, renamed_channel)),
        ("and they are the same mechanism, as a partial order asks", True, half == renamed_channel),
        ("their canonical forms are the same", True, canonical(half) == canonical(renamed_channel)),
    ]
    note = "statement: ≤_G is a preorder; it is a partial order of mechanisms up to equivalence"
    return claims_item("Definition 3.1.2", "the generality partial order, on counts 0 … 2", lines, note)


def definition313() -> Item:
    """A definition that satisfies both axioms and has no maximally general mechanism."""
    curve = curve_from_points([(0, 1), (1, 1)], at_zero=0)
    rows: list[list[Value]] = []
    for k in (2, 3, 10, 100):
        mechanism, successor = (
            two_output_mechanism(Fraction(1, k), Fraction(1)),
            two_output_mechanism(Fraction(1, k + 1), Fraction(1)),
        )
        meets = all(permits(curve, a, b) for a, b in event_probabilities(mechanism, 0, 1))
        is_below, is_above = (
            at_least_as_general(mechanism, successor).refines,
            at_least_as_general(successor, mechanism).refines,
        )
        rows.append([meets, is_below, is_above])
    columns = ("meets it", "M_k ≤_G M_(k+1)", "M_(k+1) ≤_G M_k")
    return computed_item(
        "Definition 3.1.3",
        "M(0) = 0, M(a) = 1 for a > 0; M_k has an output with P(o|i₁) = 1/k, P(o|i₂) = 1, and another",
        LabelledMatrix("k", columns, [2, 3, 10, 100], rows),
        "the paper says that S_Max may be empty. Here it is: what meets M has a profile f with f(0) = 0, so f(a) ≤ "
        "s·a for some s, and is strictly less general than M_k for k > s; soundness(M) holds: "
        f"{'yes' if soundness(curve).sound else 'no'}",
    )


def example321() -> Item:
    """Negative expected loss, refuted: the mechanism and the post-processing."""
    refutation = rename_counterexample([[0, 1], [1, 0]], line(2), alpha("1/2"))
    assert refutation is not None
    assert refutation.holds(negative_expected_loss([[0, 1], [1, 0]]))
    return _refutation_item(
        "Example 3.2.1", "0/1 loss on two secrets, α = 1/2: −Trace(LᵀM) rises when answers are exchanged", refutation
    )


def example321_geometric() -> Item:
    """The paper's own reason: the geometric mechanism and a user who merges its answers."""
    consumer = Consumer(priors.parse("1/8,3/4,1/8", 3), losses.absolute)
    refutation = remap_counterexample(geometric(2, alpha("1/2")), consumer)
    assert refutation is not None
    caption = "the geometric mechanism, prior (1/8, 3/4, 1/8), absolute loss: the best reading of every answer is 1"
    return _refutation_item("Example 3.2.1, after GRS12", caption, refutation)


def _refutation_item(name: str, caption: str, refutation: Refutation) -> Item:
    """The matrices of a refutation, and what the measure says before and after."""
    matrices = [
        ("M", refutation.mechanism),
        ("post", refutation.post_processing),
        ("result", refutation.mechanism.then(refutation.post_processing)),
    ]
    return statement_item(
        name,
        caption,
        "negative expected loss does not satisfy Axiom 3.1.4",
        stack_matrices(matrices),
        bool(refutation.before < refutation.after),
        f"−Trace(LᵀM) = {refutation.before} before, {refutation.after} after",
    )


def deterministic_maps(width: int) -> list[Channel]:
    """All deterministic maps of so many outputs to as many."""
    return [deterministic(mapping, range(width), range(width)) for mapping in product(range(width), repeat=width)]


def square_mechanisms() -> dict[str, Channel]:
    """Mechanisms with as many outputs as secrets."""
    half = alpha("1/2")
    return {
        "geometric, n = 2": geometric(2, half).channel(),
        "geometric, n = 3": geometric(3, half).channel(),
        "response, 3 secrets": response(3, half).channel(),
    }


def example322() -> Item:
    """|det|: multiplicative, so it respects the axiom among square matrices."""
    rows: list[list[Value]] = []
    holds = True
    for source in square_mechanisms().values():
        width = len(source.outputs)
        processings = [*deterministic_maps(width)[:: 1 if width == 3 else 7], response(width, alpha("2/3")).channel()]
        before = absolute_determinant(source)
        after = [absolute_determinant(source.then(processing)) for processing in processings]
        products = [before * absolute_determinant(processing) for processing in processings]
        holds = holds and after == products and all(value <= before for value in after)
        rows.append([before, len(processings), max(after), sum(value == 0 for value in after)])
    columns = ("|det M|", "processings", "largest after", "of them 0")
    return statement_item(
        "Example 3.2.2",
        "|det(M·A)| for all, or every seventh, deterministic A and randomised response as A",
        "|det(A M)| = |det A|·|det M| ≤ |det M|",
        LabelledMatrix("mechanism", columns, list(square_mechanisms()), rows),
        holds,
    )


def example322_shapes() -> Item:
    """Other shapes: the natural extension of |det| breaks the axiom."""
    source = channel([["2/3", "1/3"], ["1/3", "2/3"]])
    split_channel = source.then(channel([["1/2", "1/2", 0], [0, 0, 1]], source.outputs))
    volumes = [absolute_volume(mechanism) for mechanism in (source, split_channel)]
    lines: list[list[Value]] = [
        [len(mechanism.outputs), value] for mechanism, value in zip((source, split_channel), volumes, strict=True)
    ]
    return computed_item(
        "Example 3.2.2, other shapes",
        "det(M·Mᵀ), the squared volume, of response on two secrets and with an output told as two halves",
        LabelledMatrix("mechanism", ("outputs", "det(M·Mᵀ)"), ("response", "told as halves"), lines),
        "the two are equivalent, so a measure that respects the axiom gives both the same: |det| is for square M",
    )


def absolute_volume(source: Channel) -> Fraction:
    """det(M·Mᵀ) of a channel with two inputs."""
    (a, b), (_, d) = source.rows.dot(source.rows.T).tolist()
    return Fraction(a * d - b * b)


def example323() -> Item:
    """μ_Dob and App. A: no processing raises it."""
    rows: list[list[Value]] = []
    for source in (*square_mechanisms().values(), figure5_channel()):
        width = len(source.outputs)
        values = [dobrushin(source.then(processing)) for processing in deterministic_maps(width)]
        rows.append([dobrushin(source), len(values), max(values), sum(value > dobrushin(source) for value in values)])
    trial = check_measure(dobrushin, discrete(3), alpha("1/2"))
    columns = ("μ_Dob(M)", "processings", "largest after", "larger than before")
    return statement_item(
        "Example 3.2.3, Appendix A",
        "μ_Dob(M) = −min Σ_y min(M[x,y], M[x′,y]) before and after every deterministic map of answers",
        "μ_Dob(A M) ≤ μ_Dob(M)",
        LabelledMatrix("mechanism", columns, [*square_mechanisms(), "GRS12 Figure 5(a)"], rows),
        all(row[3] == 0 for row in rows) and trial.refutation is None,
        f"and on {trial.tried} more pairs of small mechanisms and maps (axioms.check_measure)",
    )


def strict_loss() -> Item:
    """§1: a transformation that cannot be undone "should strictly decrease utility"."""
    half = alpha("1/2")
    source = geometric(3, half).channel()
    halves = source.then(deterministic([0, 0, 1, 1], range(4), range(2)))
    copies = channel([["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])
    merged_copies = copies.then(deterministic([0, 0, 1], range(3), range(2)))
    lines: list[Claim] = [
        ("geometric, n = 3, answers told as halves 0–1, 2–3: it can be undone", False, equivalent(halves, source)),
        ("and μ_Dob is strictly less", True, ergodicity(halves).value < ergodicity(source).value),
        (
            "two proportional outputs merged, a map without inverse: something is lost",
            True,
            not equivalent(merged_copies, copies),
        ),
    ]
    note = "statement, §1: Axiom 3.1.4 asks for ≥ only, and rightly"
    return claims_item("§1, the third axiom", "a noninvertible transformation strictly decreases utility", lines, note)
