"""GRS12 §6 and Appendix C: mechanisms that see the whole database."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, channel, is_private
from utmost.channel.channel import Label
from utmost.consumer import Consumer, losses, priors
from utmost.consumer.losses import Loss
from utmost.design import optimal
from utmost.design.database_mechanisms import (
    DatabaseDesign,
    DatabaseSetting,
    average_rows,
    common_source,
    count_query,
    optimal_for_prior,
    optimal_for_worst,
    worst_case_loss,
)
from utmost.design.privacy_program import privacy_program
from utmost.lp import certified_optimum, infeasibility, is_unique
from utmost.papers.grs12.figures import half, numbers
from utmost.papers.items import Claim, Grid, Item, Value, claims, compared, found, statement
from utmost.spaces import Space, databases, line, space

SHOWN = {"{1}": "100", "{2}": "010", "{1, 3}": "101", "{2, 3}": "011"}  # the databases of Figure 6, row by row
FIGURE_6A = ("11/12 1/12", "2/3 1/3", "5/6 1/6", "1/3 2/3")
FIGURE_6B = ("2/3 1/3", "11/12 1/12", "1/3 2/3", "5/6 1/6")
POWERS = {  # |j - i|^(1-δ) for |j - i| = 0 … 3, to three decimals
    "0": ("0", "1", "2", "3"),
    "1/10": ("0", "1", "1.866", "2.688"),
    "1/2": ("0", "1", "1.414", "1.732"),
}
SMALL = Fraction(1, 100)


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        proposition61(),
        figure6("Figure 6(a)", FIGURE_6A, exchanged=False),
        figure6("Figure 6(b)", FIGURE_6B, exchanged=True),
        figure6_four(),
        figure6_range(),
        appendix_c(),
        appendix_c_steps(),
    )


def cube() -> Space:
    """All databases of three rows over {0, 1}."""
    return databases("01", 3)


def subspace(labels: Sequence[Label]) -> Space:
    """Some of them, at the same distances."""
    whole = cube()
    places = [whole.position(label) for label in labels]
    return space([[whole.distance(a, b) for b in places] for a in places], labels, f"{len(places)} databases")


def loss(delta: str, readings: int = 4) -> Loss:
    """|j − i|^(1−δ), its values rounded to three decimals."""
    values = [Fraction(text) for text in POWERS[delta]]
    return losses.matrix([[values[abs(i - j)] for j in range(readings)] for i in range(readings)])


def prior(labels: Sequence[Label], small: Fraction, exchanged: bool) -> list[Fraction]:
    """The prior of user 1; of user 2 if `exchanged`."""
    pair = (small, Fraction(1, 2) - small)
    one, two = pair[::-1] if exchanged else pair
    weights = {"100": Fraction(1, 4), "010": Fraction(1, 4), "101": one, "011": two}
    return [weights.get(str(label), Fraction(0)) for label in labels]


def over_all(delta: str, small: Fraction, exchanged: bool) -> tuple[DatabaseSetting, list[Fraction]]:
    """The user's problem over all eight databases."""
    whole = cube()
    return DatabaseSetting(whole, count_query(whole, "1"), loss(delta)), prior(whole.labels, small, exchanged)


def is_only(setting: DatabaseSetting, weights: Sequence[Fraction], design: DatabaseDesign) -> bool:
    """Is a design for objective (8) the only optimal one: decided."""
    costs = np.array(weights, dtype=object)[:, None] * setting.losses()
    return is_unique(privacy_program(setting.space, half(), costs), design.certificate).unique


def shown(mechanism: Channel) -> list[list[Value]]:
    """The rows and columns that Figure 6 shows."""
    part = mechanism.restrict(SHOWN.values())
    return [[row[1], row[2]] for row in part.rows]


def figure6(name: str, rows: Sequence[str], *, exchanged: bool) -> Item:
    """The optimal mechanism of one user over all eight databases, δ ≈ 1/10, ε = 1/100."""
    setting, weights = over_all("1/10", SMALL, exchanged)
    design = optimal_for_prior(setting, half(), weights)
    only = "the only optimum" if is_only(setting, weights, design) else "not the only optimum"
    return compared(
        name,
        f"the optimal mechanism of user #{1 + exchanged}, α = 1/2; over all 8 databases, ε = 1/100, δ ≈ 1/10",
        Grid("database", (1, 2), tuple(SHOWN), numbers(rows)),
        shown(design.channel),
        f"{only}, expected loss {design.loss}, gap {design.certificate.gap}",
    )


def figure6_four() -> Item:
    """May the databases of prior probability 0 be ignored: the optimum over 4 databases and over 8."""
    four = subspace(tuple(SHOWN.values()))
    rows: list[list[Value]] = []
    for exchanged in (False, True):
        setting, weights = over_all("1/10", SMALL, exchanged)
        small = DatabaseSetting(four, count_query(four, "1"), loss("1/10", 3))
        rows.append(
            [
                optimal_for_prior(small, half(), prior(four.labels, SMALL, exchanged)).loss,
                optimal_for_prior(setting, half(), weights).loss,
            ]
        )
    return statement(
        "Figure 6, unshown inputs",
        "least expected loss over the four databases shown and over all eight",
        "unshown inputs have prior probability zero and can be ignored",
        Grid("user", ("4 databases", "8 databases"), ("#1", "#2"), rows),
        all(four_ == eight for four_, eight in rows),
        "in general a private mechanism on some databases need not extend to all of them; here it does",
    )


def figure6_range() -> Item:
    """For which ε and δ Figure 6(a) is the only optimum."""
    epsilons = [Fraction(text) for text in ("1/1000", "1/100", "1/10", "31/250", "1/8", "63/500", "1/4")]
    verdicts = [[figure6_verdict(delta, small) for delta in POWERS] for small in epsilons]
    grid = Grid("ε", [f"δ = {delta}" for delta in POWERS], epsilons, verdicts)
    note = "the threshold is ε < 1/8: its loss is 13/48 + ε/2, and 1/3 can be had instead; δ does not matter"
    return found(
        "Figure 6, how small ε", '"ε is sufficiently small", "small δ > 0": is Figure 6(a) the only optimum', grid, note
    )


def figure6_verdict(delta: str, small: Fraction) -> str:
    """Is Figure 6(a) the only optimum, one of several, or none."""
    setting, weights = over_all(delta, small, exchanged=False)
    design = optimal_for_prior(setting, half(), weights)
    figure = numbers(FIGURE_6A)
    wrong = ((d, 1 - d // 2) for d in range(4))
    cost = sum(
        (weights[setting.space.position(x)] * figure[d][w] for x, (d, w) in zip(SHOWN.values(), wrong, strict=True)),
        Fraction(0),
    )
    if cost != design.loss:
        return "not optimal"
    return "the only one" if is_only(setting, weights, design) else "one of several"


def figure6_channels() -> tuple[Channel, Channel]:
    """Figure 6(a) and (b) as printed."""
    inputs = tuple(SHOWN.values())
    first, second = (channel(numbers(rows), inputs, (1, 2)) for rows in (FIGURE_6A, FIGURE_6B))
    return first, second


def appendix_c() -> Item:
    """No private mechanism has remaps to both: a Farkas certificate, checked by multiplying out."""
    four = subspace(tuple(SHOWN.values()))
    first, second = figure6_channels()
    program = common_source(four, half(), first, second)
    proof = infeasibility(program)
    lines = [
        ("Figure 6(a) and (b) are 1/2-private", True, all(is_private(c, four, half()) for c in (first, second))),
        ("a private mechanism has remaps to both", False, proof is None or not proof.check(program)),
    ]
    used = 0 if proof is None else sum(value != 0 for value in proof.y)
    return claims(
        "Appendix C", "no mechanism is best for both users", lines, f"Farkas certificate with {used} multipliers"
    )


def appendix_c_steps() -> Item:
    """The two probabilities that contradict each other in the proof."""
    ends = {"x_{1},11": (("100", "010"), Fraction(7, 12)), "x_{1,3},11": (("101", "011"), Fraction(1, 6))}
    lines = [(name, value, forced(labels)) for name, (labels, value) in ends.items()]
    return claims("Appendix C, steps", "forced by privacy between two databases at distance 2", lines, "7/12 > 2 · 1/6")


def forced(labels: tuple[str, str]) -> Value:
    """The probability that both users read 1 on the first of two databases, where only one value is possible."""
    first, second = (each.restrict(labels) for each in figure6_channels())
    program = common_source(subspace(labels), half(), first, second)
    certificate = certified_optimum(program)
    return certificate.x[0] if is_unique(program, certificate).unique else "not determined"


def proposition61() -> Item:
    """Averaging: a mechanism that is best for user 1 becomes oblivious, stays private, and its objective (9) falls."""
    setting, weights = over_all("0", SMALL, exchanged=False)
    best = optimal_for_prior(setting, half(), weights).channel
    oblivious = average_rows(setting, best)
    counts = [sum((p for p, f in zip(weights, setting.answers, strict=True) if f == i), Fraction(0)) for i in range(4)]
    before, after = (worst_case_loss(setting, each, counts) for each in (best, oblivious))
    robust = optimal_for_worst(setting, half(), counts).loss
    reader = Consumer(priors.explicit(counts), losses.absolute)
    lines: list[Claim] = [
        ("the averaged mechanism is private", True, is_private(oblivious, setting.space, half())),
        ("its objective (9) is not larger", True, bool(after <= before)),
        ("an oblivious one is optimal under (9)", True, optimal(line(4), half(), reader).loss == robust),
    ]
    note = f"objective (9): {before} before averaging, {after} after, {robust} at best"
    return claims(
        "Proposition 6.1", "user #1's mechanism of Figure 6(a), averaged over databases of equal count", lines, note
    )
