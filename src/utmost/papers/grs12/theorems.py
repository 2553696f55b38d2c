"""GRS12 Ex. 2.3, Thm 3.2, Cor. 3.4, Lemmas 5.9 and 5.12, minimax consumers (§4) and asymmetric losses (§7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from utmost.channel import Channel, channel, deterministic
from utmost.consumer import Consumer, Minimax, losses, priors
from utmost.consumer.losses import Table
from utmost.design import by_program, lemmas, optimal, signature
from utmost.design.count_mechanism import remapped_channel, remapped_geometric
from utmost.design.minimax import minimax_optimal
from utmost.design.privacy_program import privacy_program
from utmost.exact import Level, Number, alpha
from utmost.lp import certified_optimum, is_unique
from utmost.mechanisms.geometric import geometric, untruncated_law
from utmost.papers.items import (
    Claim,
    Item,
    LabelledMatrix,
    Value,
    claims_item,
    computed_item,
    matrix_item,
    require_exact,
    statement_item,
)
from utmost.spaces import line

LEVELS = tuple(alpha(text) for text in ("1/4", "1/2", "3/4"))


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        example23(),
        example23_even(),
        theorem32(),
        corollary34(),
        minimax_consumers(),
        lemma59(),
        lemma512(),
        lemma512_range(),
        asymmetric_losses(),
    )


def two_ends_consumer(size: int) -> Consumer:
    """Example 2.3's user: the count is 0 or n, each with probability 1/2; binary loss."""
    weights = [Fraction(0)] * (size + 1)
    weights[0] = weights[-1] = Fraction(1, 2)
    return Consumer(priors.explicit(weights), losses.binary)


def example23() -> Item:
    """Face value against the best remap, n odd."""
    cases = [(size, level) for size in (1, 3, 5) for level in LEVELS]
    published = [
        [2 * level.alpha / (1 + level.alpha), level.power((size + 1) // 2) / (1 + level.alpha)] for size, level in cases
    ]
    computed = [
        [face_value_loss(level), require_exact(two_ends_consumer(size).expected_loss(geometric(size, level)))]
        for size, level in cases
    ]
    return matrix_item(
        "Example 2.3",
        "the count is 0 or n: expected loss at face value, 2α/(1+α), and remapped, α^((n+1)/2)/(1+α)",
        LabelledMatrix("n, α", ("at face value", "remapped"), case_labels(cases), published),
        computed,
    )


def face_value_loss(level: Level) -> Number:
    """Pr[Δ ≠ 0] of the untruncated mechanism."""
    return 1 - untruncated_law(0, [0], level)[0]


def example23_even() -> Item:
    """For even n the middle answer is a tie and the remapped loss is α^(n/2)/2."""
    cases = [(size, level) for size in (2, 4) for level in LEVELS]
    formula = [[level.power(size // 2) / 2] for size, level in cases]
    computed = [[require_exact(two_ends_consumer(size).expected_loss(geometric(size, level)))] for size, level in cases]
    grid = LabelledMatrix("n, α", ("remapped",), case_labels(cases), computed)
    note = "the paper asks for odd n; for even n the loss is α^(n/2)/2"
    return computed_item(
        "Example 2.3, even n", "the same user", grid, note if formula == computed else "α^(n/2)/2 fails"
    )


def case_labels(cases: Sequence[tuple[int, Level]]) -> list[str]:
    """n and α of each row."""
    return [f"n = {size}, α = {level.alpha}" for size, level in cases]


def consumers(size: int) -> dict[str, Consumer]:
    """Some consumers of a count 0 … size with legal losses, one of which depends on the truth."""
    uneven = priors.explicit(Fraction(2 * k + 1, (size + 1) ** 2) for k in range(size + 1))
    truth_dependent = losses.matrix([[(1 + i) * min(abs(i - j), 2) for j in range(size + 1)] for i in range(size + 1)])
    return {
        "uniform, absolute": Consumer(priors.uniform(size + 1), losses.absolute),
        "uneven, squared": Consumer(uneven, losses.squared),
        "uneven, binary": Consumer(uneven, losses.binary),
        "uniform, (1+i)·min(|i-j|, 2)": Consumer(priors.uniform(size + 1), truth_dependent),
    }


def theorem32() -> Item:
    """The least loss of any private mechanism, by the program, and that of the geometric one, remapped."""
    cases = [(name, consumer, level) for name, consumer in consumers(5).items() for level in LEVELS]
    programs = [by_program(line(6), level, consumer) for _, consumer, level in cases]
    min_losses = [design.loss for design in programs]
    remapped = [require_exact(consumer.expected_loss(geometric(5, level))) for _, consumer, level in cases]
    labels = [f"{name}, α = {level.alpha}" for name, _, level in cases]
    return statement_item(
        "Theorem 3.2",
        "twelve consumers of a count 0 to 5",
        "for every legal consumer the truncated geometric mechanism, remapped, is as good as any private mechanism",
        LabelledMatrix(
            "consumer",
            ("any mechanism, by the program", "T, remapped"),
            labels,
            rows_from_columns(min_losses, remapped),
        ),
        min_losses == remapped and all(design.certificate.gap == 0 for design in programs),
        "each optimum of the program is certified with gap 0",
    )


def rows_from_columns(*columns: Sequence[Value]) -> list[list[Value]]:
    """Columns as rows."""
    return [list(row) for row in zip(*columns, strict=True)]


def corollary34() -> Item:
    """Only permutations of T are best for everyone: so at 0 ≤ α < 1, not at α = 1."""
    constant = channel([["1/3"] * 3] * 3)
    lines: list[Claim] = [
        (
            f"α = {level.alpha}: T with its outputs permuted is optimal for all",
            True,
            is_best_for_all(permuted_geometric(level), level),
        )
        for level in (alpha(0), *LEVELS, alpha(1))
    ]
    lines.append(
        (
            "α = 1: the uniform answer, not of the form π∘T, is optimal for all",
            False,
            is_best_for_all(constant, alpha(1)),
        )
    )
    note = "at α = 1 nothing may be told, so every private mechanism is optimal for everyone: the corollary needs α < 1"
    return claims_item("Corollary 3.4", "four consumers of a count 0 to 2", lines, note)


def permuted_geometric(level: Level) -> Channel:
    """The truncated geometric mechanism on 0 … 2 with answers renamed."""
    return geometric(2, level).channel().then(deterministic((2, 0, 1), range(3), range(3)))


def is_best_for_all(mechanism: Channel, level: Level) -> bool:
    """Does it give each of the consumers the least loss that a private mechanism can give."""
    space = line(len(mechanism.inputs))
    all_consumers = consumers(len(mechanism.inputs) - 1).values()
    return all(consumer.expected_loss(mechanism) == optimal(space, level, consumer).loss for consumer in all_consumers)


def minimax_consumers() -> Item:
    """Least worst-case loss: of any mechanism, of randomised readings of T, of deterministic ones; n = 2, 3."""
    level, trial_losses = alpha("1/2"), (losses.absolute, losses.squared, losses.binary)
    cases = [(size, Minimax(loss)) for size in (2, 3) for loss in trial_losses]
    min_losses = [minimax_optimal(line(size + 1), level, consumer).loss for size, consumer in cases]
    remapped = [consumer.reading(geometric(size, level)).loss for size, consumer in cases]
    deterministic_losses = [best_deterministic(size, level, consumer) for size, consumer in cases]
    labels = [f"n = {size}, {consumer.loss.name}" for size, consumer in cases]
    return statement_item(
        "Minimax users (§4)",
        "worst expected loss of users without a prior, α = 1/2",
        "the truncated geometric mechanism is optimal for minimax users, who make use of randomised remaps",
        LabelledMatrix(
            "user",
            ("any mechanism", "T, randomised remap", "T, remap"),
            labels,
            rows_from_columns(min_losses, remapped, deterministic_losses),
        ),
        min_losses == remapped and any(a < b for a, b in zip(remapped, deterministic_losses, strict=True)),
    )


def best_deterministic(size: int, level: Level, consumer: Minimax) -> Number:
    """The least worst-case loss over all (n+1)^(n+1) deterministic remaps of T."""
    remaps = product(range(size + 1), repeat=size + 1)
    worst = (consumer.worst_loss(remapped_channel(level, list(remap))) for remap in remaps)
    return min(loss for loss in worst if not isinstance(loss, float))  # exact channels have exact losses


def lemma59() -> Item:
    """A unique optimal vertex whose signature does not begin with the row r_1 of the lemma's proof."""
    level, consumer, space = alpha("3/4"), Consumer(priors.uniform(4), losses.absolute), line(4)
    program = privacy_program(space, level, consumer.costs())
    certificate = certified_optimum(program)
    rows = np.array(certificate.proof.x, dtype=object).reshape(4, 4)
    symbols = signature(Channel(space.labels, space.labels, rows), level)
    lines = [
        ("the optimal vertex is the only optimum", True, is_unique(program, certificate).unique),
        ("its signature has the properties of Lemmas 5.3 to 5.9", True, all(f.holds for f in lemmas(symbols))),
        ("its first row is strictly unimodal", True, "S" not in symbols[0]),
    ]
    note = f"n = 3, α = 3/4, uniform prior, absolute loss: {' / '.join(symbols)}. The lemma holds; see the errata"
    return claims_item("Lemma 5.9", 'the proof says that the row r_1, which has no S, is "the first row"', lines, note)


def lemma512_consumer(size: int, gamma: Fraction) -> Consumer:
    """Uniform prior; loss 0 if right, else 1 + γ·|j − i|."""
    counts = range(size + 1)
    table = [[Fraction(0) if i == j else 1 + gamma * abs(i - j) for j in counts] for i in counts]
    return Consumer(priors.uniform(size + 1), losses.matrix(table))


def is_geometric_the_only_optimum(size: int, level: Level, gamma: Fraction) -> bool:
    """Is the truncated geometric mechanism the unique optimal direct mechanism of Lemma 5.12's user: decided."""
    program = privacy_program(line(size + 1), level, lemma512_consumer(size, gamma).costs())
    certificate = certified_optimum(program)
    same = bool(np.all(np.array(certificate.proof.x, dtype=object) == geometric(size, level).channel().rows.ravel()))
    return same and is_unique(program, certificate).unique


def gamma_limit(size: int, level: Level) -> Number | None:
    """The γ up to which Lemma 5.12 holds: (1−α)²/(2α−1−α^(n+1)); None, for every γ, where 2α ≤ 1+α^(n+1).

    Reading answer 0 as 1 instead of 0 costs (1−α) − γ·(α + … + α^n − 1) more, weighted, and this must be > 0. Further
    steps and inner answers ask for less: with M_k(w) = Σ_i α^|i−k|·|i−w|, M_k(w) − M_k(w+1) ≤ α^(w−k)·(M_0(0) − M_0(1))
    for w ≥ k, while α^(w−k) − α^(w+1−k) = α^(w−k)·(1−α).
    """
    denominator = 2 * level.alpha - 1 - level.power(size + 1)
    return (1 - level.alpha) ** 2 / denominator if denominator > 0 else None


def lemma512() -> Item:
    """T is the only optimum of its user, small γ."""
    cases = [(size, level) for size in (1, 2, 4) for level in LEVELS]
    gamma = Fraction(1, 100)
    labels = case_labels(cases)
    lines = [
        (f"{label}, γ = {gamma}", True, is_geometric_the_only_optimum(*case, gamma))
        for label, case in zip(labels, cases, strict=True)
    ]
    return claims_item("Lemma 5.12", "the truncated geometric mechanism is the unique optimal direct mechanism", lines)


def lemma512_range() -> Item:
    """How small γ must be."""
    cases = [(size, level) for size in (2, 4, 8) for level in (*LEVELS, alpha("9/10"))]
    limits = [gamma_limit(size, level) for size, level in cases]
    grid = LabelledMatrix(
        "n, α", ("γ must be below",), case_labels(cases), [["any"] if g is None else [g] for g in limits]
    )
    finite_cases = [
        (size, level, Fraction(g))
        for (size, level), g in zip(cases, limits, strict=True)
        if isinstance(g, Fraction) and size < 5
    ]
    is_sharp = all(
        is_geometric_the_only_optimum(*case[:2], case[2] * Fraction(99, 100))
        and not is_geometric_the_only_optimum(*case)
        for case in finite_cases
    )
    verdict = "checked" if is_sharp else "FAILS"
    note = f"(1-α)²/(2α-1-α^(n+1)); at 99/100 of it T is the only optimum and at it no longer: {verdict}"
    return computed_item(
        "Lemma 5.12, how small γ", '"provided γ is very small"', grid, f"{note} for {len(finite_cases)} of these rows"
    )


def side_monotone_losses(largest: int) -> Iterator[Table]:
    """All losses on the counts 0, 1, 2 with entries 0 … largest, 0 at the truth and monotone on each side of it."""
    values = range(largest + 1)
    for a, b, c, d, e, f in product(values, repeat=6):
        if a <= b and f <= e:
            yield losses.matrix([[0, a, b], [c, 0, d], [e, f, 0]])


def asymmetric_losses() -> Item:
    """Is the remapped geometric mechanism optimal for every loss that is monotone on each side of the truth."""
    all_consumers = [Consumer(priors.uniform(3), loss) for loss in side_monotone_losses(2)]
    rows: list[list[Value]] = []
    for level in LEVELS:
        objections = sum(
            remapped_geometric(level, consumer.costs()).objection is not None for consumer in all_consumers
        )
        rows.append([len(all_consumers), sum(not consumer.legality().legal for consumer in all_consumers), objections])
    columns = ("losses", "of them not legal", "not served best by T")
    grid = LabelledMatrix("α", columns, [level.alpha for level in LEVELS], rows)
    note = "left open in §7; the answer is yes, by an exchange argument: see docs/papers/grs12.md"
    return computed_item(
        "Asymmetric losses (§7)", "all losses on 0, 1, 2 with values 0, 1, 2, monotone on each side", grid, note
    )
