"""FMPD23 §IV and its appendix: the duality of mechanisms and losses, where optimal mechanisms exist, and where not."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from utmost.channel import is_private
from utmost.consumer import losses, priors
from utmost.consumer.loss_classes import LossLike, is_monotone, is_strictly_monotone, is_trivial, lift_loss
from utmost.design.universal import (
    binary_mechanism,
    closest_pair,
    isolating,
    pair_loss,
    universal_mechanism,
    universally_optimal,
)
from utmost.design.universal.second_proofs import check_choice, check_constant, check_restriction
from utmost.exact import Level, alpha
from utmost.mechanisms.geometric import geometric
from utmost.mechanisms.randomised_response import response, response_dual
from utmost.papers.fmpd23.channels import constant_channel, half
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, matrix_item, statement_item
from utmost.polytopes import count_kernels, decomposition, kernels
from utmost.qif import posterior_uncertainty, refinement, uncertainty
from utmost.spaces import Space, cycle, discrete, graph, line, scale_space, space


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        theorem3(),
        properties(),
        theorem6(),
        corollary9(),
        theorem10(),
        theorem10_loss(),
        theorem10_rows(),
        theorem11(),
        theorem12(),
        corollary13(),
        beyond_lines(),
    )


def theorem3() -> Item:
    """Mechanisms of a type, taken apart into kernel mechanisms and a post-processing, and multiplied out again."""
    weak = alpha("3/4")
    cases = {
        "geometric, α = 3/4": (geometric(3, weak).channel(), line(4)),
        "random response, α = 3/4": (response(4, weak).channel(), discrete(4)),
        "its dual, α = 3/4": (response_dual(4, weak).channel(), cycle(4)),
        "𝕀": (constant_channel(4), line(4)),
    }
    rows: list[list[Value]] = []
    for mechanism, metric in cases.values():
        kernel_sum = decomposition(mechanism, metric, half())
        is_same = kernel_sum.channel().rows.tolist() == mechanism.rows.tolist()
        rows.append([metric.name, len(kernel_sum.kernels), len(kernel_sum.post_processing.inputs), is_same])
    return statement_item(
        "Theorem 3",
        "mechanisms as (Σ p_i·K_i)·R, K_i kernel mechanisms of the type at α = 1/2, exact",
        "every mechanism of a type is a refinement of a convex sum of kernel mechanisms",
        LabelledMatrix("mechanism", ("type", "kernels", "vertices", "multiplied out: the same"), list(cases), rows),
        all(row[-1] is True for row in rows),
    )


def properties() -> Item:
    """Properties 1 and 3: no kernel mechanism's posteriors hold another's, and none refines another."""
    lines: list[Claim] = []
    for metric in (line(3), line(4), discrete(3), cycle(4)):
        kernel_list = list(kernels(metric, half()))
        sets = [set(kernel.columns) for kernel in kernel_list]
        is_apart = not any(a < b or b < a for a, b in combinations(sets, 2))
        channels = [kernel.channel() for kernel in kernel_list[:6]]
        is_related = any(refinement(a, b).refines or refinement(b, a).refines for a, b in combinations(channels, 2))
        lines += [
            (f"{metric.name}: one holds another's posteriors", False, not is_apart),
            (
                f"{metric.name}: one refines another (the first {len(channels)} of {len(kernel_list)})",
                False,
                is_related,
            ),
        ]
    return claims_item("Properties 1 and 3", "kernel mechanisms, ε = ln 2", lines)


def theorem6() -> Item:
    """Statement 3 depends on what trivial means, statement 5 holds one way."""
    level, three = half(), discrete(3)
    pair_space, dominated = line(2), [[Fraction(0), Fraction(1)]] * 2
    first, second = (isolating(three, level, three.labels[k]) for k in (0, 2))
    pair = lift_loss(losses.binary, [three.labels[0], three.labels[2]], three)
    steep, uniform = [[Fraction(0), Fraction(1)], [Fraction(100), Fraction(0)]], priors.uniform(2)
    is_better = posterior_uncertainty(uniform, steep, binary_mechanism(pair_space, level)) < uncertainty(uniform, steep)
    restriction = check_restriction(line(3), level, losses.binary, [0, 2], geometric(2, level).channel())
    lines: list[Claim] = [
        (
            "(3) 𝕀 is optimal for ℓ = (0, 1), (0, 1), not trivial by Def. 6",
            False,
            check_constant(pair_space, level, dominated).left,
        ),
        (
            "(3) 𝕀 is optimal exactly for losses trivial by Def. A1",
            True,
            check_constant(pair_space, level, dominated).holds,
        ),
        ("(3), proof: at the uniform prior T beats 𝕀 for a non-trivial ℓ", True, bool(is_better)),
        ("(4) K_A ⊕ K_B: optimal iff both are", True, check_choice(three, level, pair, first, second, "1/3").holds),
        ("(5) ℓ_bin ∈ L_{G↓{0,2}} iff ℓ_bin↑ ∈ L_G, on line:3", True, restriction.holds),
    ]
    note = (
        "statement: (3) needs Def. A1; (5) holds from left to right. proof: (3) needs another prior than the uniform "
        "one, as ℓ = (0, 1), (100, 0) shows. Of (5): G is optimal for ℓ_bin on {0, 2}, lifted, but its restriction is"
        " not: T is better there, and does not extend to line:3"
    )
    return claims_item("Theorem 6", "the duality of mechanisms and losses, ε = ln 2", lines, note)


def two_action_losses() -> list[list[list[Fraction]]]:
    """All losses of two secrets and two actions with entries 0, 1, 2."""
    values = [Fraction(v) for v in range(3)]
    return [[[a, b], [c, d]] for a, b, c, d in product(values, repeat=4)]


def corollary9() -> Item:
    """T is the only kernel mechanism on two secrets, and best for every loss."""
    lines: list[Claim] = []
    for distance, level in ((1, half()), (2, half()), (1, alpha("1/5"))):
        pair = scale_space(line(2), distance)
        best = binary_mechanism(pair, level)
        verdicts = [universally_optimal(pair, level, loss, best).optimal for loss in two_action_losses()]
        name = f"d = {distance}, α = {level.alpha}"
        lines += [
            (f"{name}: kernel mechanisms", Fraction(1), Fraction(count_kernels(pair, level))),
            (
                f"{name}: losses of {len(verdicts)} for which T is universally optimal",
                Fraction(81),
                Fraction(sum(verdicts)),
            ),
        ]
    return claims_item("Corollary 9", "T = (e^d, 1)/(1+e^d) on two secrets", lines)


def trial_spaces() -> tuple[Space, ...]:
    """Types of several kinds."""
    uneven = space([[0, 2, 3, 3], [2, 0, 2, 4], [3, 2, 0, 3], [3, 4, 3, 0]], name="uneven")
    return line(3), line(4), discrete(3), discrete(4), cycle(4), uneven


def theorem10() -> Item:
    """The construction of Thm 10 on several metrics: private, and universally optimal for a monotone loss."""
    rows: list[list[Value]] = []
    for metric in trial_spaces():
        pair = closest_pair(metric)
        mechanism, padded_loss = isolating(metric, half(), pair[0]), pair_loss(metric, *pair)
        trial_losses = (lift_loss(losses.binary, pair, metric), padded_loss)
        best = [universally_optimal(metric, half(), loss, mechanism).optimal for loss in trial_losses]
        trivial = is_trivial(padded_loss, len(metric)).dominated
        rows.append(
            [is_private(mechanism, metric, half()), *best, is_monotone(padded_loss, metric).holds and not trivial]
        )
    columns = ("K is private", "K is optimal for ℓ_bin↑", "and for [x ≠ a(w)]", "which is monotone")
    return statement_item(
        "Theorem 10",
        "K for the closest pair x1*, x2* of secrets, a(w1) = x1*, a(w2) = x2*; α = 1/2 per unit of distance",
        "every type has a mechanism that is universally optimal for a non-trivial monotone loss",
        LabelledMatrix("type", columns, [metric.name for metric in trial_spaces()], rows),
        all(all(row) for row in rows),
        "the proof's α is e^−d(x1*, x2*), not e^−ε: they differ where the closest pair is not 1 apart",
    )


def theorem10_loss() -> Item:
    """Thm 10, A4: is the lifted loss monotone."""
    lines: list[Claim] = []
    for metric in trial_spaces():
        loss = lift_loss(losses.binary, closest_pair(metric), metric)
        lines.append((f"{metric.name}: ℓ_bin↑ is monotone in d", True, is_monotone(loss, metric).holds))
    note = (
        "proof: padded with 1 instead of 0 it is, in every metric, and the same mechanisms are optimal: see Theorem 10"
    )
    return claims_item("Theorems 10 and A4, the loss", "ℓ_bin on two secrets, lifted by 0 to all", lines, note)


def theorem10_rows() -> Item:
    """The rows of K↓{x1*, x2*} as printed lack a factor n."""
    size, ratio = 3, half().alpha
    k, j = 1 + (size - 1) * ratio, ratio + size - 1
    mechanism = isolating(discrete(size), half(), discrete(size).labels[0])
    printed = [[1 / (k + j), ratio / (k + j)], [ratio / (k + j), 1 / (k + j)]]
    grid = LabelledMatrix("K↓{x1*, x2*}", ("y1", "y2"), ("x1*", "x2*"), printed)
    note = f"misprint: the printed rows sum to {sum(printed[0])} = 1/n: n/(k+j) = 1/(1+α) is meant"
    caption = "the mechanism on the closest pair, 1/(k+j) and α/(k+j), for three secrets and α = 1/2"
    return matrix_item("Theorem 10, the rows", caption, grid, [list(row) for row in mechanism.rows[:2]], note)


def theorem11() -> Item:
    """More than one kernel mechanism, hence none that all others refine."""
    rows: list[list[Value]] = [[count_kernels(metric, half())] for metric in trial_spaces()]
    return statement_item(
        "Theorem 11",
        "kernel mechanisms of types with more than two secrets, ε = ln 2",
        "no mechanism is universally optimal for all losses on more than two secrets",
        LabelledMatrix("type", ("kernel mechanisms",), [metric.name for metric in trial_spaces()], rows),
        all(row[0] != 1 for row in rows),
        "a universally optimal one would be refined by every kernel mechanism, and by Property 3 none refines another",
    )


def has_optimal_mechanism(metric: Space, level: Level, loss: LossLike) -> bool:
    """Has the type any universally ℓ-optimal mechanism: every kernel mechanism is asked (Cor. 7)."""
    mechanisms = (kernel.channel() for kernel in kernels(metric, level))
    return universal_mechanism(metric, level, loss, mechanisms).exists


def theorem12() -> Item:
    """True when there is an action for each secret; false with fewer."""
    three = discrete(3)
    two_action_loss = pair_loss(three, *closest_pair(three))
    lines: list[Claim] = [
        ("ℓ_bin: strictly monotone in d_D", True, is_strictly_monotone(losses.binary, three).holds),
        ("ℓ_bin: some mechanism is optimal", False, has_optimal_mechanism(three, half(), losses.binary)),
        ("ℓ_Avg: strictly monotone in d₂", True, is_strictly_monotone(losses.absolute, line(3)).holds),
        ("ℓ_Avg: some mechanism is optimal", False, has_optimal_mechanism(three, half(), losses.absolute)),
        (
            "ℓ_bin with two of the three actions: strictly monotone in d_D",
            True,
            is_strictly_monotone(two_action_loss, three).holds,
        ),
        (
            "ℓ_bin with two of the three actions: some mechanism is optimal",
            False,
            has_optimal_mechanism(three, half(), two_action_loss),
        ),
    ]
    note = (
        "statement: Def. 6 asks that a be injective, Lemma A3's proof that it be onto. With fewer actions than "
        "secrets the mechanism of Thm 10 is optimal for a strictly monotone loss"
    )
    return claims_item("Theorem 12", "strictly monotone losses on discrete:3, ε = ln 2", lines, note)


def corollary13() -> Item:
    """No mechanism of the discrete type is universally ℓ_bin-optimal."""
    cases = [(3, alpha(text)) for text in ("1/10", "1/2", "9/10")] + [(4, half())]
    lines: list[Claim] = [
        (
            f"discrete:{n}, α = {level.alpha}: some mechanism is optimal",
            False,
            has_optimal_mechanism(discrete(n), level, losses.binary),
        )
        for n, level in cases
    ]
    kernel_count = [count_kernels(discrete(n), half()) for n in (3, 4)]
    note = (
        f"each of the {kernel_count[0]} and {kernel_count[1]} kernel mechanisms is refuted by a prior and a better one"
    )
    return claims_item("Corollary 13", "ℓ_bin on discrete types", lines, note)


def beyond_lines() -> Item:
    """§I says, after Brenner and Nissim, that ℓ_bin has no universally optimal mechanism but on lines."""
    star = graph([("c", "x"), ("c", "y"), ("c", "z")])
    lines: list[Claim] = [
        (
            f"star of three leaves, α = {text}: some mechanism is optimal",
            False,
            has_optimal_mechanism(star, alpha(text), losses.binary),
        )
        for text in ("1/3", "1/2", "2/3")
    ]
    note = (
        "statement: α^d(x,y), scaled by columns, is a mechanism of a tree for α ≤ 1/(Δ − 1), Δ its largest degree, and "
        "optimal"
    )
    return claims_item("Section I, beyond lines", "ℓ_bin on a tree that is no line", lines, note)
