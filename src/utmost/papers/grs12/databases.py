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
from utmost.papers.grs12.figures import fraction_rows, half
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
from utmost.spaces import Space, databases, line, space

FIGURE_6_DATABASES = {
    "{1}": "100",
    "{2}": "010",
    "{1, 3}": "101",
    "{2, 3}": "011",
}  # the databases of Figure 6, row by row
FIGURE_6A = ("11/12 1/12", "2/3 1/3", "5/6 1/6", "1/3 2/3")
FIGURE_6B = ("2/3 1/3", "11/12 1/12", "1/3 2/3", "5/6 1/6")
LOSS_VALUES = {  # |j - i|^(1-δ) for |j - i| = 0 … 3, to three decimals
    "0": ("0", "1", "2", "3"),
    "1/10": ("0", "1", "1.866", "2.688"),
    "1/2": ("0", "1", "1.414", "1.732"),
}
SMALL_WEIGHT = Fraction(1, 100)


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


def all_databases() -> Space:
    """All databases of three rows over {0, 1}."""
    return databases("01", 3)


def subspace(labels: Sequence[Label]) -> Space:
    """Some of them, at the same distances."""
    every_database = all_databases()
    indices = [every_database.position(label) for label in labels]
    return space(
        [[every_database.distance(a, b) for b in indices] for a in indices], labels, f"{len(indices)} databases"
    )


def power_loss(delta: str, readings: int = 4) -> Loss:
    """|j − i|^(1−δ), its values rounded to three decimals."""
    values = [Fraction(text) for text in LOSS_VALUES[delta]]
    return losses.matrix([[values[abs(i - j)] for j in range(readings)] for i in range(readings)])


def user_prior(labels: Sequence[Label], small_weight: Fraction, exchanged: bool) -> list[Fraction]:
    """The prior of user 1; of user 2 if `exchanged`."""
    weight_pair = (small_weight, Fraction(1, 2) - small_weight)
    first_weight, second_weight = weight_pair[::-1] if exchanged else weight_pair
    weights = {"100": Fraction(1, 4), "010": Fraction(1, 4), "101": first_weight, "011": second_weight}
    return [weights.get(str(label), Fraction(0)) for label in labels]


def full_setting(delta: str, small_weight: Fraction, exchanged: bool) -> tuple[DatabaseSetting, list[Fraction]]:
    """The user's problem over all eight databases."""
    every_database = all_databases()
    return DatabaseSetting(every_database, count_query(every_database, "1"), power_loss(delta)), user_prior(
        every_database.labels, small_weight, exchanged
    )


def is_only_optimum(setting: DatabaseSetting, weights: Sequence[Fraction], design: DatabaseDesign) -> bool:
    """Is a design for objective (8) the only optimal one: decided."""
    costs = np.array(weights, dtype=object)[:, None] * setting.losses()
    return is_unique(privacy_program(setting.space, half(), costs), design.certificate).unique


def figure_cells(mechanism: Channel) -> list[list[Value]]:
    """The rows and columns that Figure 6 shows."""
    restricted = mechanism.restrict(FIGURE_6_DATABASES.values())
    return [[row[1], row[2]] for row in restricted.rows]


def figure6(name: str, rows: Sequence[str], *, exchanged: bool) -> Item:
    """The optimal mechanism of one user over all eight databases, δ ≈ 1/10, ε = 1/100."""
    setting, weights = full_setting("1/10", SMALL_WEIGHT, exchanged)
    design = optimal_for_prior(setting, half(), weights)
    uniqueness = "the only optimum" if is_only_optimum(setting, weights, design) else "not the only optimum"
    return matrix_item(
        name,
        f"the optimal mechanism of user #{1 + exchanged}, α = 1/2; over all 8 databases, ε = 1/100, δ ≈ 1/10",
        LabelledMatrix("database", (1, 2), tuple(FIGURE_6_DATABASES), fraction_rows(rows)),
        figure_cells(design.channel),
        f"{uniqueness}, expected loss {design.loss}, gap {design.certificate.gap}",
    )


def figure6_four() -> Item:
    """May the databases of prior probability 0 be ignored: the optimum over 4 databases and over 8."""
    four_databases = subspace(tuple(FIGURE_6_DATABASES.values()))
    rows: list[list[Value]] = []
    for exchanged in (False, True):
        setting, weights = full_setting("1/10", SMALL_WEIGHT, exchanged)
        four_setting = DatabaseSetting(four_databases, count_query(four_databases, "1"), power_loss("1/10", 3))
        rows.append(
            [
                optimal_for_prior(
                    four_setting, half(), user_prior(four_databases.labels, SMALL_WEIGHT, exchanged)
                ).loss,
                optimal_for_prior(setting, half(), weights).loss,
            ]
        )
    return statement_item(
        "Figure 6, unshown inputs",
        "least expected loss over the four databases shown and over all eight",
        "unshown inputs have prior probability zero and can be ignored",
        LabelledMatrix("user", ("4 databases", "8 databases"), ("#1", "#2"), rows),
        all(over_four == over_eight for over_four, over_eight in rows),
        "in general a private mechanism on some databases need not extend to all of them; here it does",
    )


def figure6_range() -> Item:
    """For which ε and δ Figure 6(a) is the only optimum."""
    epsilons = [Fraction(text) for text in ("1/1000", "1/100", "1/10", "31/250", "1/8", "63/500", "1/4")]
    verdicts = [[figure6_verdict(delta, small_weight) for delta in LOSS_VALUES] for small_weight in epsilons]
    grid = LabelledMatrix("ε", [f"δ = {delta}" for delta in LOSS_VALUES], epsilons, verdicts)
    note = "the threshold is ε < 1/8: its loss is 13/48 + ε/2, and 1/3 can be had instead; δ does not matter"
    return computed_item(
        "Figure 6, how small ε", '"ε is sufficiently small", "small δ > 0": is Figure 6(a) the only optimum', grid, note
    )


def figure6_verdict(delta: str, small_weight: Fraction) -> str:
    """Is Figure 6(a) the only optimum, one of several, or none."""
    setting, weights = full_setting(delta, small_weight, exchanged=False)
    design = optimal_for_prior(setting, half(), weights)
    figure_rows = fraction_rows(FIGURE_6A)
    wrong_cells = ((d, 1 - d // 2) for d in range(4))
    cost = sum(
        (
            weights[setting.space.position(x)] * figure_rows[d][w]
            for x, (d, w) in zip(FIGURE_6_DATABASES.values(), wrong_cells, strict=True)
        ),
        Fraction(0),
    )
    if cost != design.loss:
        return "not optimal"
    return "the only one" if is_only_optimum(setting, weights, design) else "one of several"


def figure6_channels() -> tuple[Channel, Channel]:
    """Figure 6(a) and (b) as printed."""
    inputs = tuple(FIGURE_6_DATABASES.values())
    first, second = (channel(fraction_rows(rows), inputs, (1, 2)) for rows in (FIGURE_6A, FIGURE_6B))
    return first, second


def appendix_c() -> Item:
    """No private mechanism has remaps to both: a Farkas certificate, checked by multiplying out."""
    four_databases = subspace(tuple(FIGURE_6_DATABASES.values()))
    first, second = figure6_channels()
    program = common_source(four_databases, half(), first, second)
    proof = infeasibility(program)
    lines = [
        (
            "Figure 6(a) and (b) are 1/2-private",
            True,
            all(is_private(c, four_databases, half()) for c in (first, second)),
        ),
        ("a private mechanism has remaps to both", False, proof is None or not proof.check(program)),
    ]
    multiplier_count = 0 if proof is None else sum(value != 0 for value in proof.y)
    return claims_item(
        "Appendix C",
        "no mechanism is best for both users",
        lines,
        f"Farkas certificate with {multiplier_count} multipliers",
    )


def appendix_c_steps() -> Item:
    """The two probabilities that contradict each other in the proof."""
    forced_values = {"x_{1},11": (("100", "010"), Fraction(7, 12)), "x_{1,3},11": (("101", "011"), Fraction(1, 6))}
    lines = [(name, probability, forced_probability(labels)) for name, (labels, probability) in forced_values.items()]
    return claims_item(
        "Appendix C, steps", "forced by privacy between two databases at distance 2", lines, "7/12 > 2 · 1/6"
    )


def forced_probability(labels: tuple[str, str]) -> Value:
    """The probability that both users read 1 on the first of two databases, where only one value is possible."""
    first, second = (mechanism.restrict(labels) for mechanism in figure6_channels())
    program = common_source(subspace(labels), half(), first, second)
    certificate = certified_optimum(program)
    return certificate.proof.x[0] if is_unique(program, certificate).unique else "not determined"


def proposition61() -> Item:
    """Averaging: a mechanism that is best for user 1 becomes oblivious, stays private, and its objective (9) falls."""
    setting, weights = full_setting("0", SMALL_WEIGHT, exchanged=False)
    best = optimal_for_prior(setting, half(), weights).channel
    oblivious = average_rows(setting, best)
    count_prior = [
        sum((p for p, f in zip(weights, setting.answers, strict=True) if f == i), Fraction(0)) for i in range(4)
    ]
    before, after = (worst_case_loss(setting, mechanism, count_prior) for mechanism in (best, oblivious))
    robust = optimal_for_worst(setting, half(), count_prior).loss
    consumer = Consumer(priors.explicit(count_prior), losses.absolute)
    lines: list[Claim] = [
        ("the averaged mechanism is private", True, is_private(oblivious, setting.space, half())),
        ("its objective (9) is not larger", True, bool(after <= before)),
        ("an oblivious one is optimal under (9)", True, optimal(line(4), half(), consumer).loss == robust),
    ]
    note = f"objective (9): {before} before averaging, {after} after, {robust} at best"
    return claims_item(
        "Proposition 6.1", "user #1's mechanism of Figure 6(a), averaged over databases of equal count", lines, note
    )
