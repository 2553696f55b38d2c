"""FMPD23 §VI: the named mechanisms of the four types, the question left open, and Figure 8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.channel import Channel, choice, is_private
from utmost.consumer import losses, priors
from utmost.consumer.loss_classes import LossLike, lift_loss
from utmost.design.universal import binary_mechanism, isolating, pulled_back, universally_optimal
from utmost.exact import Number, alpha
from utmost.mechanisms.geometric import geometric
from utmost.mechanisms.randomised_response import response, response_dual
from utmost.papers.fmpd23.channels import fraction_rows, half
from utmost.papers.fmpd23.regions import PATH, inners, posteriors
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, matrix_item, statement_item
from utmost.polytopes import count_vertices, is_kernel_mechanism
from utmost.qif import hyper
from utmost.spaces import Space, discrete, hamming, line

FIGURE_8 = {  # Δ_K and, below it, its outers; the rows as far as they can be distinguished
    "000": "8/27 2/21 1/21 1/27",
    "100": "4/27 4/21 2/21 2/27",
    "110": "2/27 2/21 4/21 4/27",
    "111": "1/27 1/21 2/21 8/27",
    "011": "2/27 2/21 4/21 4/27",
    "101": "2/27 2/21 4/21 4/27",
    "010": "4/27 4/21 2/21 2/27",
    "001": "4/27 4/21 2/21 2/27",
    "outer": "9/32 7/32 7/32 9/32",
}
K_A = ("1/4 2/5", "1/4 2/5", "1/2 1/5", "4/9 5/9")
K_B = ("1/2 1/5", "1/4 2/5", "1/4 2/5", "4/9 5/9")


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        lemma_a2(),
        lemmas19_and_21(),
        lemma21(),
        section6a(),
        hyper_item("Section VI-B, K_A", K_A, last=True),
        hyper_item("Section VI-B, K_B", K_B, last=False),
        section6b(),
        section6b_sums(),
        figure8(),
        figure8_claims(),
    )


def lemmas19_and_21() -> Item:
    """Lemmas 19 and 21: the geometric mechanism, R and R° are kernel mechanisms."""
    lines: list[Claim] = []
    for n in (3, 4):
        mechanisms = {
            "geometric": (geometric(n - 1, half()).channel(), line(n)),
            "R": (response(n, half()).channel(), discrete(n)),
            "R°": (response_dual(n, half()).channel(), discrete(n)),
        }
        lines += [
            (
                f"{name} on {metric.name} is a kernel mechanism",
                True,
                is_kernel_mechanism(mechanism, metric, half()).holds,
            )
            for name, (mechanism, metric) in mechanisms.items()
        ]
    return claims_item("Lemmas 19 and 21", "kernel mechanisms, ε = ln 2", lines)


def lemma21() -> Item:
    """The matrix in the proof of Lemma 21 is R°'s; the lemma holds of both."""
    ratio, size = half().alpha, 3
    proved = (ratio - 1) ** (size - 1) * (ratio + size - 1)
    lines: list[Claim] = [
        ("the determinant, times k^n, is R's (1 on the diagonal)", proved, determinant(Fraction(1), ratio)),
        ("the determinant, times k^n, is R°'s (α on the diagonal)", proved, determinant(ratio, Fraction(1))),
    ]
    note = (
        "misprint: the lemma holds. The matrix printed for R is that of R°, and so is the determinant; R's is "
        "(1 − α)^(n−1)·(1 + (n−1)α)/k^n, not 0 either"
    )
    return claims_item("Lemma 21, the matrix", "the determinant in its proof, n = 3, ε = ln 2", lines, note)


def determinant(diagonal: Number, off_diagonal: Number) -> Number:
    """Of the 3 × 3 matrix with `same` on the diagonal and `other` elsewhere."""
    a, b = diagonal, off_diagonal
    return a * (a * a - b * b) - b * (b * a - b * b) + b * (b * b - a * b)


def lemma_a2() -> Item:
    """2(n−1) is a bound; the line, which its proof says attains it, has 2^(n−1) vertices."""
    sizes = (2, 3, 4, 5, 6)
    published = LabelledMatrix("n", ("vertices of line:n",), sizes, [[2 * (n - 1)] for n in sizes])
    computed: list[list[Value]] = [[count_vertices(line(n))] for n in sizes]
    note = (
        "proof: at least 2(n−1), the lemma, is right: the exponents of the vertices come in opposite pairs (d is "
        "symmetric) and span n−1 dimensions. §VI-A has the line's count right"
    )
    return matrix_item(
        "Lemma A2, proof", "2(n−1) constraints are counted as if each were a vertex", published, computed, note
    )


def section6a() -> Item:
    """Is the geometric mechanism universally ℓ_nib-optimal: the question that §VI-A leaves open."""
    sizes, levels = (2, 3, 4, 5), [alpha(text) for text in ("1/3", "1/2", "2/3")]
    rows: list[list[Value]] = [
        [universally_optimal(line(n), level, losses.nib, geometric(n - 1, level)).optimal for n in sizes]
        for level in levels
    ]
    return statement_item(
        "Section VI-A, open question",
        "is the geometric mechanism universally ℓ_nib-optimal, line:n",
        "the geometric mechanism may also be optimal for the non-monotone ℓ_nib",
        LabelledMatrix("α", [f"n = {n}" for n in sizes], [level.alpha for level in levels], rows),
        all(all(row) for row in rows),
        "it is, for every n and α: proved in design/universal; here every corner of the simplex of priors is certified",
    )


def hyper_item(name: str, rows: tuple[str, ...], *, last: bool) -> Item:
    """K_A reveals whether the secret is x_n, K_B whether it is x_1; three secrets."""
    three = discrete(3)
    mechanism = isolating(three, half(), three.labels[-1 if last else 0])
    mechanism_hyper = hyper(priors.uniform(3), mechanism)
    order = sorted(range(2), key=lambda y: mechanism_hyper.inners[-1 if last else 0, y], reverse=True)
    computed = [[row[y] for y in order] for row in (*mechanism_hyper.inners.tolist(), list(mechanism_hyper.outers))]
    grid = LabelledMatrix("Δ", ("y1", "y2"), ("x1", "x2", "x3", "outer"), fraction_rows(rows))
    return matrix_item(name, "its hyper on three secrets, ε = ln 2", grid, computed)


def section6b() -> Item:
    """K_A, K_B and their choices: kernels, T on {x1, xn}, optimal for ℓ_e lifted."""
    lines = [claim for n in (3, 4) for claim in _end_mechanism_claims(discrete(n))]
    return claims_item("Section VI-B, K_A and K_B", "ℓ_e is ℓ_nib on x1 and xn, ε = ln 2", lines)


def _end_mechanism_claims(metric: Space) -> list[Claim]:
    """What is said of the two mechanisms that reveal whether the secret is the last one, or the first."""
    end_labels, name = (metric.labels[0], metric.labels[-1]), f"n = {len(metric)}"
    mechanisms = first, second = isolating(metric, half(), end_labels[1]), isolating(metric, half(), end_labels[0])
    best = sorted(map(tuple, binary_mechanism(line(2), half()).rows.T))
    is_same = all(sorted(map(tuple, mechanism.restrict(end_labels).rows.T)) == best for mechanism in mechanisms)
    loss = lift_loss(losses.nib, end_labels, metric)
    choices = {p: choice(first, second, p) for p in ("0", "1/3", "1")}
    return [
        (
            f"{name}: K_A and K_B are kernel mechanisms",
            True,
            all(is_kernel_mechanism(mechanism, metric, half()).holds for mechanism in mechanisms),
        ),
        (f"{name}: on x1 and xn both are T, up to the order of columns", True, is_same),
        *(
            (f"{name}: K_A ⊕_p K_B is ℓ_e↑-optimal, p = {p}", True, _is_optimal(metric, loss, mechanism))
            for p, mechanism in choices.items()
        ),
    ]


def _is_optimal(metric: Space, loss: LossLike, mechanism: Channel) -> bool:
    return universally_optimal(metric, half(), loss, mechanism).optimal


def section6b_sums() -> Item:
    """The printed columns of K_A and K_B are distributions for three secrets only."""
    sizes, quarter, fifth = (3, 4, 5), Fraction(1, 4), Fraction(1, 5)
    published: list[list[Value]] = [[quarter * (n - 1) + 2 * quarter, 2 * fifth * (n - 1) + fifth] for n in sizes]
    computed = [_column_sums(inners(isolating(discrete(n), half(), discrete(n).labels[0]))) for n in sizes]
    note = (
        "misprint: on n secrets they are (2, 1, …)/(n+1) and (1, 2, …)/(2n−1), with outers (n+1)/(3n) and (2n−1)/(3n)"
    )
    return matrix_item(
        "Section VI-B, n secrets",
        "what the columns of Δ_KA, Δ_KB sum to, if 1/4 and 2/5 stand for all secrets but one",
        LabelledMatrix("n", ("first column", "second column"), sizes, published),
        computed,
        note,
    )


def _column_sums(points: Sequence[Sequence[Number]]) -> list[Value]:
    return [sum(point, Fraction(0)) for point in points]


def cube_mechanism() -> Channel:
    """K of Fig. 8: the geometric mechanism of the number of ones."""
    cube = hamming(3)
    return pulled_back(geometric(3, half()), {label: str(label).count("1") for label in cube.labels}, cube)


def figure8() -> Item:
    """Δ_K on bitstrings of length 3."""
    cube, mechanism = hamming(3), cube_mechanism()
    cube_hyper = hyper(priors.uniform(8), mechanism)
    rows = {str(label): list(row) for label, row in zip(cube.labels, cube_hyper.inners.tolist(), strict=True)}
    computed = [rows[label] for label in FIGURE_8 if label != "outer"] + [list(cube_hyper.outers)]
    grid = LabelledMatrix("Δ_K", ("y1", "y2", "y3", "y4"), tuple(FIGURE_8), fraction_rows(tuple(FIGURE_8.values())))
    note = (
        "misprint: the text followed here has ten rows for the eight secrets; the two that read 2/27 2/21 4/21 2/27 "
        "are superfluous (they average to 10/96, not to 1/8) and left out; the other eight are right"
    )
    item = matrix_item("Figure 8", "a kernel hyper on bitstrings of length 3, ε = ln 2", grid, computed, note)
    return replace(item, draw=lambda: _cube_chart(mechanism))


def _cube_chart(mechanism: Channel) -> Any:
    from utmost import charts

    title = "K is the geometric mechanism of the number of ones"
    return charts.channel_chart(mechanism, title, "FMPD23 Figure 8, K, ε = ln 2")


def figure8_claims() -> Item:
    """What is said of K."""
    cube, mechanism = hamming(3), cube_mechanism()
    path_channel = mechanism.restrict(PATH)
    points = set(inners(mechanism))
    geometric_rows = geometric(3, half()).channel().rows
    lines: list[Claim] = [
        ("K is private", True, is_private(mechanism, cube, half())),
        (
            "its posteriors are four of the 38 vertices",
            True,
            len(points) == 4 and points <= set(posteriors(cube, half())),
        ),
        ("K is a kernel mechanism", True, is_kernel_mechanism(mechanism, cube, half()).holds),
        ("K↓{000, 100, 110, 111} is the geometric mechanism", True, bool((path_channel.rows == geometric_rows).all())),
        (
            "K is universally optimal for ℓ_bin on these, lifted",
            True,
            _is_optimal(cube, lift_loss(losses.binary, PATH, cube), mechanism),
        ),
    ]
    note = "K depends on the number of ones alone: row x is the geometric mechanism's row for it"
    return claims_item("Figure 8, K", "the mechanism that noises the number of ones", lines, note)
