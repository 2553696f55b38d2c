"""Universal optimality decided (FMPD23 §IV, §VI): two methods, their certificates, and what they find."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from design.universal_cases import HALF, SHAPES, kernels, loss_tables, mechanisms, metrics
from strategies import monotone_rows, rational_levels, weights
from utmost.channel import channel, choice, is_private
from utmost.consumer import losses
from utmost.consumer.loss_classes import (
    add_losses,
    is_monotone,
    is_strictly_monotone,
    is_trivial,
    lift_loss,
    loss_rows,
    metric_for,
    scale_loss,
)
from utmost.design.count_mechanism import objection
from utmost.design.privacy_program import privacy_program
from utmost.design.universal import (
    Verdict,
    binary_mechanism,
    binary_proof,
    cell_corners,
    closest_pair,
    isolating,
    minimal_remaps,
    nearest,
    nib_proof,
    pair_loss,
    pulled_back,
    simulation,
    tree_mechanism,
    uncertainty,
    universal_mechanism,
    universally_optimal,
    verify,
    verify_simulation,
)
from utmost.design.universal.decision import costs
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon, sign
from utmost.lp import certified_optimum
from utmost.mechanisms import geometric, response
from utmost.spaces import Space, cycle, discrete, graph, hamming, line, space

LEVELS = [alpha(a) for a in ("1/2", "1/3", "2/3")]


def brute_corners(rows: np.ndarray, table: np.ndarray) -> set[tuple[Fraction, ...]]:
    """Every point of the simplex where n − 1 independent walls meet, if the walls there are real (actions that tie)."""
    size = len(rows)
    walls = [[Fraction(k == x) for k in range(size)] for x in range(size)]
    for column in rows.T:
        pieces = [column * table[:, w] for w in range(table.shape[1])]
        walls += [list(a - b) for a, b in combinations(pieces, 2)]
    corners = set()
    for selection in combinations(walls, size - 1):
        matrix = [[fmpq(v.numerator, v.denominator) for v in wall] for wall in [*selection, [Fraction(1)] * size]]
        if fmpq_mat(matrix).det() == 0:
            continue
        solution = fmpq_mat(matrix).solve(fmpq_mat([[0]] * (size - 1) + [[1]]))
        prior = tuple(Fraction(int(solution[x, 0].p), int(solution[x, 0].q)) for x in range(size))
        if min(prior) >= 0 and _is_isolated(prior, rows, table):
            corners.add(prior)
    return corners


def _is_isolated(prior: tuple[Fraction, ...], rows: np.ndarray, table: np.ndarray) -> bool:
    """Do the zeros of the prior and the actions that tie for best leave no direction to move in."""
    size = len(prior)
    constraints = [[fmpq(1)] * size] + [[fmpq(int(k == x)) for k in range(size)] for x in range(size) if not prior[x]]
    for column in rows.T:
        scores = [sum(p * m * v for p, m, v in zip(prior, column, a, strict=True)) for a in table.T]
        best = [column * table[:, w] for w, score in enumerate(scores) if score == min(scores)]
        constraints += [[fmpq(v.numerator, v.denominator) for v in piece - best[0]] for piece in best[1:]]
    return bool(fmpq_mat(constraints).rank() == size)


@st.composite
def questions(draw: st.DrawFn, kind: str | None = None) -> tuple[str, Level, list[list[int]], object]:
    name = kind or draw(st.sampled_from(["line", "discrete"]))
    level = draw(st.sampled_from(LEVELS))
    return name, level, draw(loss_tables(3)), draw(mechanisms(name, 3, level))


@given(questions())
@settings(max_examples=40)
def test_corners_are_those_that_brute_force_finds(case: tuple) -> None:
    _, _, table, mechanism = case
    rows = loss_rows(table, 3)
    corners = cell_corners(mechanism.rows, rows)
    assert len(corners) == len(set(corners))
    brute_force = brute_corners(mechanism.rows, rows)
    assert (
        set(corners) <= brute_force
    )  # brute force also has the ties of actions that a third one is as good as: no bends
    assert all(_is_on_the_hull(prior, corners, mechanism.rows, rows) for prior in brute_force)


def _is_on_the_hull(prior: tuple, corners: list, rows: np.ndarray, table: np.ndarray) -> bool:
    """Is U at a prior what U at the corners makes it: its graph is their upper hull."""
    values = [uncertainty(p, rows, table) for p in corners]
    sums = [[float(p[x]) for p in corners] for x in range(len(prior))]
    best = linprog([-float(v) for v in values], A_eq=sums, b_eq=list(map(float, prior)))
    return abs(-best.fun - float(uncertainty(prior, rows, table))) < 1e-9


def test_corners_of_a_cone_agree_with_the_parma_library() -> None:
    ppl = pytest.importorskip("ppl", reason="pplpy is not installed")
    rows, table = geometric(3, HALF).channel().rows, loss_rows(losses.squared, 4)
    pieces = [[[int(v * 96) for v in rows[:, y] * table[:, w]] for w in range(4)] for y in range(4)]
    variables = [ppl.Variable(k) for k in range(8)]
    system = ppl.Constraint_System()
    system.insert(sum(variables[:4]) == 1)
    for x in range(4):
        system.insert(variables[x] >= 0)
        for piece in pieces[x]:
            system.insert(sum(c * v for c, v in zip(piece, variables, strict=False)) - variables[4 + x] >= 0)
    points = [g for g in ppl.C_Polyhedron(system).minimized_generators() if g.is_point()]
    theirs = {tuple(Fraction(int(g.coefficient(v)), int(g.divisor())) for v in variables[:4]) for g in points}
    assert set(cell_corners(rows, table)) == theirs


@given(questions())
@settings(max_examples=60)
def test_the_two_methods_agree_and_both_prove_what_they_say(case: tuple) -> None:
    kind, level, table, mechanism = case
    metric, type_kernels = SHAPES[kind](3), kernels(kind, 3, level)
    verdict = universally_optimal(metric, level, table, mechanism)
    second = simulation(metric, level, table, mechanism, type_kernels)
    assert verdict.optimal == second.optimal
    assert verify(metric, level, table, mechanism, verdict)
    if second.optimal:
        assert verify_simulation(metric, level, table, mechanism, type_kernels, second)
    else:
        assert verify(metric, level, table, mechanism, Verdict((), second.objection))


@given(questions(), st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any))
@settings(max_examples=40)
def test_the_least_loss_of_a_type_is_that_of_its_best_kernel(case: tuple, raw: list[int]) -> None:
    kind, level, table, _ = case
    rows, prior = loss_rows(table, 3), tuple(Fraction(w, sum(raw)) for w in raw)
    optimum = certified_optimum(privacy_program(SHAPES[kind](3), level, costs(prior, rows)))
    type_kernels = kernels(kind, 3, level)
    assert optimum.lower == optimum.upper == min(uncertainty(prior, k.rows, rows) for k in type_kernels)
    directs = minimal_remaps(SHAPES[kind](3), level, table, type_kernels)
    assert optimum.upper == min(sum(p * v for p, v in zip(prior, d.losses, strict=True)) for d in directs)


@pytest.mark.parametrize("loss", [losses.absolute, losses.squared, losses.binary], ids=lambda loss: loss.name)
@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_geometric_mechanism_is_universally_optimal_for_named_losses(loss: losses.Loss, size: int) -> None:
    for level in LEVELS:
        verdict = universally_optimal(line(size), level, loss, geometric(size - 1, level))
        assert verdict.optimal
        assert verify(line(size), level, loss, geometric(size - 1, level), verdict)


@given(st.integers(3, 4).flatmap(lambda n: monotone_rows(n, False, False)), st.sampled_from(LEVELS))
@settings(max_examples=15)
def test_the_geometric_mechanism_is_universally_optimal_for_losses_monotone_on_each_side(
    table: list[list[Fraction]], level: Level
) -> None:
    size = len(table)
    assert universally_optimal(line(size), level, table, geometric(size - 1, level)).optimal


def test_on_five_counts_it_is_decided_in_seconds() -> None:
    assert universally_optimal(line(5), HALF, losses.absolute, geometric(4, HALF)).optimal


@pytest.mark.parametrize(("size", "count"), [(3, 5), (4, 41)])
def test_no_mechanism_on_a_discrete_space_is_universally_optimal_for_binary(size: int, count: int) -> None:
    """Cor. 13; FMPD23 Table 5a has the numbers of kernels."""
    type_kernels = kernels("discrete", size, HALF)
    assert len(type_kernels) == count
    existence = universal_mechanism(discrete(size), HALF, losses.binary, type_kernels)
    assert not existence.exists
    assert len(existence.objections) == count
    for kernel, counterexample in zip(type_kernels, existence.objections, strict=True):
        assert verify(discrete(size), HALF, losses.binary, kernel, Verdict((), counterexample))


def test_a_universally_optimal_kernel_is_found_where_there_is_one() -> None:
    type_kernels = kernels("line", 4, HALF)
    assert len(type_kernels) == 11  # FMPD23 Table 4a
    existence = universal_mechanism(line(4), HALF, losses.absolute, type_kernels)
    assert existence.mechanism is not None
    assert existence.verdict is not None
    assert verify(line(4), HALF, losses.absolute, existence.mechanism, existence.verdict)
    directions = {tuple(column / sum(column)) for column in existence.mechanism.rows.T}
    assert directions == {tuple(column / sum(column)) for column in geometric(3, HALF).channel().rows.T}


@given(loss_tables(2), st.integers(1, 4), rational_levels())
@settings(max_examples=50)
def test_on_two_secrets_one_mechanism_is_best_for_every_loss(table: list[list[int]], gap: int, level: Level) -> None:
    """Cor. 9."""
    metric = space([[0, gap], [gap, 0]])
    mechanism = binary_mechanism(metric, level)
    assert is_private(mechanism, metric, level)
    assert universally_optimal(metric, level, table, mechanism).optimal


@given(metrics(), st.sampled_from(LEVELS), loss_tables(2))
@settings(max_examples=40)
def test_every_space_has_a_loss_with_a_universally_optimal_mechanism(
    metric: Space, level: Level, table: list[list[int]]
) -> None:
    """Thm 10: K tells one of the closest pair from the rest; any loss on the pair, lifted, is best served by it."""
    first, second = closest_pair(metric)
    mechanism = isolating(metric, level, first)
    assert is_private(mechanism, metric, level)
    assert universally_optimal(metric, level, lift_loss(table, [first, second], metric), mechanism).optimal
    loss = pair_loss(metric, first, second)
    assert universally_optimal(metric, level, loss, mechanism).optimal
    assert is_monotone(loss, metric).holds
    assert not is_trivial(loss, len(metric)).dominated


@given(metrics(), st.sampled_from(LEVELS), st.data())
@settings(max_examples=25)
def test_so_does_every_secret_with_its_nearest_neighbour(metric: Space, level: Level, data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(metric.labels))
    mechanism = isolating(metric, level, label)
    assert is_private(mechanism, metric, level)
    loss = lift_loss(losses.binary, [label, nearest(metric, label)], metric)
    assert universally_optimal(metric, level, loss, mechanism).optimal


def test_the_rows_printed_in_the_proof_of_theorem_ten_are_n_times_too_small() -> None:
    """k = 1 + (n−1)α and j = α + (n−1) make k + j = n(1+α), so 1/(k+j) and α/(k+j) sum to 1/n."""
    size, a = 4, Fraction(1, 2)
    k, j = 1 + (size - 1) * a, a + (size - 1)
    assert (1 + a) / (k + j) == Fraction(1, size)
    row = isolating(discrete(size), HALF, 0).rows[0]
    assert list(row) == [size / (k + j), size * a / (k + j)]


def test_the_lifted_loss_of_theorem_a4_is_not_monotone_in_the_discrete_metric() -> None:
    table = lift_loss(losses.binary, [0, 1], discrete(3))
    assert not is_monotone(table, discrete(3)).holds
    assert is_monotone(pair_loss(discrete(3), 0, 1), discrete(3)).holds


@pytest.mark.parametrize("size", [3, 4, 5])
def test_the_two_mechanisms_of_the_discrete_example_and_all_visible_choices_are_optimal(size: int) -> None:
    """§VI-B: K_A tells the last secret from the rest, K_B the first; ℓ_e is ℓ_nib on those two."""
    metric = discrete(size)
    first, second = isolating(metric, HALF, size - 1), isolating(metric, HALF, 0)
    loss = lift_loss(losses.nib, [0, size - 1], metric)
    if size == 3:  # the columns printed in the paper are those of three inputs
        hyper = {tuple(column / sum(column)) for column in first.rows.T}
        quarter, fifth = Fraction(1, 4), Fraction(1, 5)
        assert hyper == {(quarter, quarter, 2 * quarter), (2 * fifth, 2 * fifth, fifth)}
    for weight in ("0", "1/3", "1/2", "1"):
        mechanism = choice(first, second, weight)
        assert is_private(mechanism, metric, HALF)
        assert universally_optimal(metric, HALF, loss, mechanism).optimal
    assert not universally_optimal(metric, HALF, loss, response(size, HALF)).optimal


def test_the_mechanism_of_figure_eight_is_the_geometric_one_of_the_hamming_weight() -> None:
    metric, path = hamming(3), ["000", "100", "110", "111"]
    mechanism = pulled_back(geometric(3, HALF), {x: str(x).count("1") for x in metric.labels}, metric)
    assert is_private(mechanism, metric, HALF)
    assert np.all(mechanism.restrict(path).rows == geometric(3, HALF).channel().rows)
    twelfths = {"000": [8, 2, 1, 1], "001": [4, 4, 2, 2], "010": [4, 4, 2, 2], "011": [2, 2, 4, 4]}
    twelfths |= {"100": [4, 4, 2, 2], "101": [2, 2, 4, 4], "110": [2, 2, 4, 4], "111": [1, 1, 2, 8]}
    assert all(list(mechanism.row(x) * 12) == row for x, row in twelfths.items())
    outer = mechanism.rows.sum(axis=0) / 8
    assert list(outer * 32) == [9, 7, 7, 9]
    for loss in (losses.binary, losses.absolute):
        assert universally_optimal(metric, HALF, lift_loss(loss, path, metric), mechanism).optimal
    assert not universally_optimal(metric, HALF, lift_loss(losses.binary, ["001", "010"], metric), mechanism).optimal


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_geometric_mechanism_is_universally_optimal_for_nib(size: int) -> None:
    """What FMPD23 suspects at the end of §VI-A, decided for every prior."""
    for level in LEVELS:
        verdict = universally_optimal(line(size), level, losses.nib, geometric(size - 1, level))
        assert verdict.optimal
        assert verify(line(size), level, losses.nib, geometric(size - 1, level), verdict)


@st.composite
def trees(draw: st.DrawFn, max_points: int = 6, max_length: int = 2) -> Space:
    """Trees: each point hangs on an earlier one."""
    size = draw(st.integers(2, max_points))
    return graph([(draw(st.integers(0, x - 1)), x, draw(st.integers(1, max_length))) for x in range(1, size)])


@given(trees(), st.one_of(rational_levels(), st.just(epsilon("1/3"))), st.data())
@settings(max_examples=60)
def test_the_proofs_for_binary_and_nib_hold_step_by_step_on_any_tree(
    tree: Space, level: Level, data: st.DataObject
) -> None:
    """c_w − u is ≥ 0 on every vertex of the cone of private columns: those with all edges of the tree tight."""
    prior = data.draw(weights(len(tree)))
    for loss, proof in ((losses.binary, binary_proof), (losses.nib, nib_proof)):
        bound = proof(tree, level, prior)
        assert sum(bound.multipliers) == bound.loss
        table = costs(prior, loss_rows(loss, len(tree)))
        for column in tight_columns(tree, level):
            assert all(sign((table[:, w] - bound.multipliers) @ column) >= 0 for w in range(len(tree)))
    support = [k for k, u in enumerate(nib_proof(tree, level, prior).multipliers) if u]
    assert len(support) <= 1 or tuple(support) in tree.edges


def tight_columns(tree: Space, level: Level) -> list[np.ndarray]:
    """2^edges columns, each edge tight one way or the other."""
    columns = []
    for directions in product((1, -1), repeat=len(tree.edges)):
        exponents = {0: Fraction(0)}
        while len(exponents) < len(tree):
            for (x, z), direction in zip(tree.edges, directions, strict=True):
                for start, end, step in ((x, z, direction), (z, x, -direction)):
                    if start in exponents:
                        exponents.setdefault(end, exponents[start] + step * tree.distance(x, z))
        smallest = min(exponents.values())
        columns.append(np.array([level.power(exponents[x] - smallest) for x in range(len(tree))], dtype=object))
    return columns


@given(trees(), rational_levels(), st.data())
@settings(max_examples=50)
def test_the_geometric_mechanism_of_a_tree_attains_the_bounds_and_the_linear_program(
    tree: Space, level: Level, data: st.DataObject
) -> None:
    prior = data.draw(weights(len(tree)))
    factors = [level.power(tree.distance(x, z)) for x, z in tree.edges]
    removed_weights = [
        sum(a / (1 + a) for a, e in zip(factors, tree.edges, strict=True) if y in e) for y in range(len(tree))
    ]
    if max(removed_weights) > 1:
        with pytest.raises(InputError, match="negative weight"):
            tree_mechanism(tree, level)
        return
    mechanism = tree_mechanism(tree, level)
    assert np.all(mechanism.rows.sum(axis=1) == 1)
    assert is_private(mechanism, tree, level)
    for loss, proof in ((losses.binary, binary_proof), (losses.nib, nib_proof)):
        rows = loss_rows(loss, len(tree))
        optimum = certified_optimum(privacy_program(tree, level, costs(prior, rows)))
        assert optimum.lower == uncertainty(prior, mechanism.rows, rows) == proof(tree, level, prior).loss


@given(st.integers(1, 14), st.one_of(rational_levels(), st.just(epsilon("1/3"))), st.data())
@settings(max_examples=30)
def test_on_a_line_it_is_the_truncated_geometric_mechanism_and_nib_is_proved_for_any_size_and_level(
    size: int, level: Level, data: st.DataObject
) -> None:
    prior, mechanism = data.draw(weights(size)), geometric(size - 1, level).channel()
    assert tree_mechanism(line(size), level) == mechanism
    bound = nib_proof(line(size), level, prior)
    assert objection(level.alpha, costs(prior, loss_rows(losses.nib, size)), bound.multipliers) is None
    assert bound.loss == sum(min(p * v for p, v in zip(prior, column, strict=True)) for column in mechanism.rows.T)


@pytest.mark.parametrize("leaves", [3, 4])
def test_a_star_has_universally_optimal_mechanisms_for_binary_and_nib_up_to_its_threshold(leaves: int) -> None:
    """α ≤ 1/(Δ−1): so lines are not alone, as FMPD23 §I has it of ℓ_bin."""
    star = graph([("c", k) for k in range(leaves)])
    level = alpha(Fraction(1, leaves - 1))
    for loss in (losses.binary, losses.nib):
        verdict = universally_optimal(star, level, loss, tree_mechanism(star, level))
        assert verdict.optimal
        assert verify(star, level, loss, tree_mechanism(star, level), verdict)
    with pytest.raises(InputError, match="no geometric mechanism"):
        tree_mechanism(star, alpha(Fraction(1, leaves - 1) + Fraction(1, 100)))


def test_beyond_its_threshold_a_star_has_none() -> None:
    """All nine kernels of the star with three leaves at α = 2/3 are refuted, for both losses."""
    level = alpha("2/3")
    type_kernels = kernels("star", 4, level)
    assert len(type_kernels) == 9
    for loss in (losses.binary, losses.nib):
        existence = universal_mechanism(SHAPES["star"](4), level, loss, type_kernels)
        assert len(existence.objections) == 9
        assert not existence.exists


@given(st.permutations(range(3)), st.lists(st.integers(1, 3), min_size=3, max_size=3), st.data())
@settings(max_examples=20)
def test_no_strictly_monotone_loss_with_as_many_actions_as_secrets_has_an_optimal_mechanism_on_discrete(
    images: list[int], lengths: list[int], data: st.DataObject
) -> None:
    """Thm 12 for a bijective a: ℓ(w, x) = m(d(x, a(w))), any metric d on three points, m strictly increasing."""
    ranks = {pair: 1 + Fraction(k, 3) for pair, k in zip(combinations(range(3), 2), lengths, strict=True)}
    m = {d: sum(data.draw(st.integers(1, 3)) for _ in range(k + 1)) for k, d in enumerate(sorted(set(ranks.values())))}
    m = dict(zip(sorted(m), np.cumsum(sorted(m.values())).tolist(), strict=True))
    table = [[0 if x == a else m[ranks[min(x, a), max(x, a)]] for a in images] for x in range(3)]
    assert metric_for(table, 3, strict=True) is not None
    for level in LEVELS[:2]:
        existence = universal_mechanism(discrete(3), level, table, kernels("discrete", 3, level))
        assert not existence.exists


def test_with_fewer_actions_than_secrets_theorem_twelve_fails() -> None:
    """ℓ_bin with the actions 0 and 1 only is strictly monotone in d_D (a is injective), and K is optimal for it."""
    metric, table = discrete(3), [[0, 1], [1, 0], [1, 1]]
    assert is_strictly_monotone(table, metric).images == (0, 1)
    mechanism = isolating(metric, HALF, 0)
    verdict = universally_optimal(metric, HALF, table, mechanism)
    assert verdict.optimal
    assert verify(metric, HALF, table, mechanism, verdict)
    assert simulation(metric, HALF, table, mechanism, kernels("discrete", 3, HALF)).optimal


@given(loss_tables(3, 3), st.sampled_from(LEVELS))
@settings(max_examples=30)
def test_losses_that_distinguish_every_pair_have_no_optimal_mechanism_on_discrete(
    table: list[list[int]], level: Level
) -> None:
    """Lemma A6, for non-triviality in the sense of Def. A1."""
    pair_is_trivial = [is_trivial([table[x], table[z]], 2).dominated for x, z in combinations(range(3), 2)]
    existence = universal_mechanism(discrete(3), level, table, kernels("discrete", 3, level))
    if not any(pair_is_trivial):
        assert not existence.exists


def test_with_the_triviality_of_definition_six_lemma_a6_fails() -> None:
    """Each pair's restriction depends on the action, yet one action is best everywhere: all mechanisms are optimal."""
    table = [[0, 1], [0, 1], [0, 1]]
    assert not any(is_trivial([table[x], table[z]], 2).constant for x, z in combinations(range(3), 2))
    assert universal_mechanism(discrete(3), HALF, table, kernels("discrete", 3, HALF)).exists


def test_randomised_response_restricted_to_two_secrets_is_not_what_the_proof_of_lemma_a6_says() -> None:
    """Two of its columns are tight in opposite directions on {0, 1}, but the third says nothing: it is not T."""
    rows = response(3, HALF).channel().restrict([0, 1]).rows
    assert [a / b for a, b in rows.T] == [2, Fraction(1, 2), 1]


@given(questions(), st.sampled_from(["tell", "loss", "drop"]))
@settings(max_examples=40)
def test_a_verdict_that_was_tampered_with_does_not_verify(case: tuple, change: str) -> None:
    kind, level, table, mechanism = case
    metric = SHAPES[kind](3)
    verdict = universally_optimal(metric, level, table, mechanism)
    assert not verify(metric, level, table, mechanism, _tamper(verdict, change, metric))


def _tamper(verdict: Verdict, change: str, metric: Space) -> Verdict:
    counterexample = verdict.objection
    if counterexample is not None:
        identity = channel([[int(x == w) for w in range(3)] for x in range(3)], inputs=metric.labels)
        changes = {"tell": {"better": identity}, "loss": {"better_loss": counterexample.better_loss - 1}}
        return Verdict(
            (), replace(counterexample, **changes.get(change, {"prior": (Fraction(1), Fraction(1), Fraction(-1))}))
        )
    first, *remaining = verdict.corners
    if change == "drop":
        return Verdict(tuple(remaining), None)
    false_proof = (
        replace(first, loss=first.loss + 1)
        if change == "loss"
        else replace(first, multipliers=tuple(y - 1 for y in first.multipliers))
    )
    return Verdict((false_proof, *remaining), None)


@given(questions(), loss_tables(3), st.lists(st.integers(0, 3), min_size=3, max_size=3))
@settings(max_examples=25)
def test_losses_that_a_mechanism_is_best_for_are_closed_under_sums_and_scaling(
    case: tuple, second_table: list[list[int]], factors: list[int]
) -> None:
    """FMPD23 §IV-C after Def. 7."""
    kind, level, table, mechanism = case
    metric = SHAPES[kind](3)
    best = [universally_optimal(metric, level, t, mechanism).optimal for t in (table, second_table)]
    if all(best):
        assert universally_optimal(metric, level, add_losses(table, second_table, 3), mechanism).optimal
    if best[0]:
        assert universally_optimal(metric, level, scale_loss(table, factors), mechanism).optimal


def test_at_the_ends_of_the_levels_the_question_is_answered() -> None:
    constant = channel([[1], [1], [1]])
    identity = channel([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert universally_optimal(line(3), alpha(1), losses.absolute, constant).optimal
    assert verify(line(3), alpha(1), losses.absolute, constant, Verdict((), None))
    assert universally_optimal(line(3), alpha(0), losses.absolute, identity).optimal
    assert not universally_optimal(line(3), alpha(0), losses.absolute, constant).optimal
    assert universally_optimal(line(1), HALF, [[2, 1]], channel([[1]])).optimal


def test_progress_is_reported() -> None:
    reports: list[tuple[str, int, int]] = []
    universally_optimal(line(3), HALF, losses.binary, geometric(2, HALF), lambda *step: reports.append(step))
    assert [step[1] for step in reports] == list(range(reports[0][2]))
    simulation(
        line(3), HALF, losses.binary, geometric(2, HALF), kernels("line", 3, HALF), lambda *step: reports.append(step)
    )
    universal_mechanism(line(3), HALF, losses.binary, kernels("line", 3, HALF), lambda *step: reports.append(step))
    assert len({step[0] for step in reports}) == 3


@pytest.mark.parametrize(
    ("mechanism", "level", "loss", "message"),
    [
        (geometric(2, epsilon(1)), epsilon(1), losses.binary, "rational alpha"),
        (geometric(2, HALF), HALF, losses.power("1/2"), "rational losses"),
        (geometric(2, HALF), alpha("2/3"), losses.binary, "not private"),
        (channel([[0.5, 0.5]] * 3), HALF, losses.binary, "exact entries"),
        (geometric(3, HALF), HALF, losses.binary, "must be the points of line:3"),
        (geometric(2, HALF), HALF, [[0, 1], [1, 0]], "3 rows"),
        (geometric(2, HALF), HALF, [[0.5, 1], [1, 0], [0, 0]], "exact entries"),
        (geometric(2, HALF), HALF, [[0, 1], [1], [0, 0]], "equally long"),
    ],
)
def test_what_is_no_question_is_refused_in_one_line(
    mechanism: object, level: Level, loss: object, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        universally_optimal(line(3), level, loss, mechanism)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_constructions_refuse_what_they_cannot_do() -> None:
    with pytest.raises(InputError, match="2 points"):
        binary_mechanism(line(3), HALF)
    for ask in (lambda: closest_pair(line(1)), lambda: nearest(line(1), 0)):
        with pytest.raises(InputError, match="at least 2 points"):
            ask()
    with pytest.raises(InputError, match="where each point"):
        pulled_back(geometric(2, HALF), {0: 0}, line(3))
    with pytest.raises(InputError, match="inputs of the mechanism"):
        pulled_back(geometric(2, HALF), {0: 0, 1: 1, 2: 7}, line(3))
    with pytest.raises(InputError, match="0 < alpha < 1"):
        nib_proof(line(1), alpha(1), [Fraction(1)])
    with pytest.raises(InputError, match="must be a tree"):
        tree_mechanism(cycle(4), HALF)
    with pytest.raises(InputError, match="one for each secret"):
        nib_proof(line(2), HALF, [Fraction(1)])


@pytest.mark.parametrize(
    ("loss", "names"), [(losses.binary, (0, 1, 2)), ([[0, 1], [1, 0], [1, 1]], ("w0", "w1"))], ids=["points", "actions"]
)
def test_the_better_mechanism_answers_by_points_or_by_actions_as_an_optimal_one_does(
    loss: object, names: tuple
) -> None:
    constant = channel([[1]] * 3, discrete(3).labels)
    by_corners = universally_optimal(discrete(3), HALF, loss, constant).objection  # type: ignore[arg-type]
    by_kernels = simulation(discrete(3), HALF, loss, constant, kernels("discrete", 3, HALF)).objection  # type: ignore[arg-type]
    assert by_corners is not None
    assert by_kernels is not None
    assert by_corners.better.outputs == by_kernels.better.outputs == names
