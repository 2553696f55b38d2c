"""KL10 Lemmas 3.3.4, 3.3.5, 3.3.7, 3.3.8 and App. C, E: which private mechanisms have the best μ_Dob.

The conditions of Lemmas 3.3.4, 3.3.5 and 3.3.8 are typed in as they stand, with 2 × n mechanisms to try them on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

from utmost.axioms import (
    best_coefficient,
    best_mechanism,
    ergodicity,
    generalize,
    is_dobrushin_optimal,
    row_graphs,
    steepest_path,
)
from utmost.axioms.definition import Relation, parse_relation
from utmost.axioms.dobrushin import least_overlap
from utmost.channel import Channel, channel
from utmost.exact import Number, alpha
from utmost.mechanisms import geometric, response
from utmost.papers.items import (
    Claim,
    Item,
    LabelledMatrix,
    Series,
    Value,
    claims_item,
    computed_item,
    matrix_item,
    statement_item,
)
from utmost.papers.kl10.graphs import half
from utmost.papers.kl10.matrices import event_probabilities

RATE = Fraction(2)
START_VALUES = tuple(Fraction(k, 12) for k in range(1, 12))


def two_output_channel(law: Sequence[Fraction]) -> Channel:
    """The channel with two outputs and these probabilities of the first."""
    return channel([[p, 1 - p] for p in law])


def least_overlap_law(size: int) -> list[Fraction]:
    """A 2 × n mechanism with the least overlap of inputs 1 and n, by a certified program; m₁,₁ ≤ m₁,ₙ."""
    program = least_overlap(parse_relation(f"line:{size}"), alpha("1/2"), 0, size - 1)
    assert program.exact
    return list(program.proof.x[:size])


def end_overlap(law: Sequence[Fraction]) -> Fraction:
    """−E₁,ₙ: the overlap of the first and the last input."""
    return min(law[0], law[-1]) + min(1 - law[0], 1 - law[-1])


def meets_lemma334(law: Sequence[Fraction]) -> bool:
    """Lemma 3.3.4: m₁,ⱼ = max(e^−ε·m₁,ⱼ₊₁, 1 − (1 − m₁,ⱼ₊₁)·e^ε) for all j."""
    return all(p == max(q / RATE, 1 - (1 - q) * RATE) for p, q in pairwise(law))


def meets_lemma335(law: Sequence[Fraction]) -> bool:
    """Lemma 3.3.5, for m₁,₁ ≤ m₁,ₙ, with the paper's indices from 1."""
    n, row = len(law), [Fraction(0), *law]
    rising, falling = (
        (range(2, n // 2 + 2), range(n // 2 + 1, n + 1))
        if n % 2 == 0
        else (range(2, (n + 1) // 2 + 1), range((n + 3) // 2, n + 1))
    )
    first = all(row[j] == RATE * row[j - 1] for j in rising)
    return first and all(1 - row[j] == (1 - row[j - 1]) / RATE for j in falling)


def trial_laws(size: int) -> Iterator[list[Fraction]]:
    """Private 2 × n mechanisms: from a value in the middle every step is as steep as it may be, half of it, or flat."""
    middle = (size + 1) // 2
    cases = [(start, kind) for start in START_VALUES for kind in product(range(3), repeat=min(2, size - 1))]
    for start, (first_kind, *rest) in cases:
        second_kind = rest[0] if rest else first_kind
        backward = _next_values(start, [first_kind if k % 2 else second_kind for k in range(middle - 1)], rising=False)
        forward = _next_values(start, [second_kind if k % 2 else first_kind for k in range(size - middle)], rising=True)
        yield [*reversed(backward), start, *forward]


def _next_values(start: Fraction, kinds: Sequence[int], *, rising: bool) -> list[Fraction]:
    """The next values: kind 0 is the furthest that privacy allows, 1 halfway to it, 2 none."""
    values, value = [], start
    for kind in kinds:
        limit = min(value * RATE, 1 - (1 - value) / RATE) if rising else max(value / RATE, 1 - (1 - value) * RATE)
        value = (limit, (value + limit) / 2, value)[kind]
        values.append(value)
    return values


def meets_printed_lemma338(source: Channel, path: Sequence[int]) -> bool:
    """Lemma 3.3.8's condition on all outputs, as printed: j from 2, and "and" where d is odd."""
    d = len(path) - 1

    def tight(column: Sequence[Number], steps: range, factor: Fraction) -> bool:
        return all(column[path[j]] == factor * column[path[j - 1]] for j in steps)

    def holds(column: Sequence[Number]) -> bool:
        if d % 2 == 0:
            return tight(column, range(2, d // 2 + 2), RATE) or tight(column, range(d // 2 + 1, d + 1), 1 / RATE)
        rising, falling = range(2, (d + 1) // 2 + 1), range((d + 3) // 2, d + 1)
        return tight(column, rising, RATE) and tight(column, falling, 1 / RATE)

    return all(holds(column) for column in source.rows.T.tolist())


def meets_corrected_lemma338(source: Channel, relation: Relation) -> bool:
    """The condition put right, on some shortest path between secrets at the diameter: written out once more."""
    d = relation.diameter
    assert d is not None
    h = (d + 1) // 2
    end_pairs = [(x, z) for x in range(len(relation)) for z, step in enumerate(relation.distances(x)) if step == d]
    paths = [path for x, z in end_pairs if (path := relation.path(x, z)) is not None]

    def holds(column: Sequence[Number], path: Sequence[int]) -> bool:
        steps = [(column[a], column[b]) for a, b in pairwise(path)]
        return all(b == RATE * a for a, b in steps[:h]) or all(a == RATE * b for a, b in steps[d - h :])

    return any(all(holds(column, path) for column in source.rows.T.tolist()) for path in paths)


SIZES = range(2, 8)
GRAPHS = ("line:4", "cycle:4", "cycle:5", "discrete:4", "hamming:3", "grid:2x3")


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        lemma334(),
        lemma335(),
        lemma335_all(),
        one_direction(),
        appendix_c(),
        lemma337(),
        layers(),
        lemma338_printed(),
        lemma338(),
        common_structure(),
        optimum_after_generalizing(),
    )


def lemma334() -> Item:
    """Each optimum of a certified program is as small at each step as the next entry allows."""
    rows: list[list[Value]] = []
    for size in SIZES:
        best = least_overlap_law(size)
        rows.append([", ".join(map(str, best)), meets_lemma334(best), meets_lemma334(best[::-1])])
    columns = ("m₁,₁, …, m₁,ₙ", "forwards", "or backwards")
    return statement_item(
        "Lemma 3.3.4, Appendix E",
        "2 × n mechanisms that maximise E₁,ₙ, found by certified programs; e^ε = 2",
        "m₁,ⱼ = max(e^−ε·m₁,ⱼ₊₁, 1 − (1 − m₁,ⱼ₊₁)·e^ε) for all j, or the same with j and j+1 exchanged",
        LabelledMatrix("n", columns, list(SIZES), rows),
        all(row[1] or row[2] for row in rows),
        "misprint: m_{j+1} is m_{1,j+1}",
    )


def lemma335() -> Item:
    """The value of the program, and the conditions of the lemma on its optimum."""
    published: list[list[Value]] = []
    computed: list[list[Value]] = []
    for size in SIZES:
        rate = half().alpha
        power = half().power(size // 2)
        published.append([power if size % 2 else 2 * power / (1 + rate), True])
        best = least_overlap_law(size)
        computed.append([end_overlap(best), meets_lemma335(best)])
    grid = LabelledMatrix("n", ("least overlap −E₁,ₙ", "conditions hold"), list(SIZES), published)
    note = "computed: certified linear programs. Even n: 2α^(n/2)/(1+α); odd n: α^((n−1)/2); from App. C's equation (9)"
    item = matrix_item("Lemma 3.3.5, Appendix C", "2 × n mechanisms that maximise E₁,ₙ; e^ε = 2", grid, computed, note)
    values = tuple(float(end_overlap(least_overlap_law(size))) for size in SIZES)
    line = Series("least overlap of inputs 1 and n", "inputs n", "overlap", tuple(map(float, SIZES)), values)
    return replace(item, series=(line,), claim="The further apart two inputs are, the better they can be told apart")


def lemma335_all() -> Item:
    """If and only if: on 2 × n mechanisms with steps that are tight or not."""
    rows: list[list[Value]] = []
    for size in SIZES:
        laws = list(trial_laws(size))
        best = end_overlap(least_overlap_law(size))
        rising = [law for law in laws if law[0] <= law[-1]]
        agree = sum(meets_lemma335(law) == (end_overlap(law) == best) for law in rising)
        rows.append([len(rising), sum(end_overlap(law) == best for law in rising), agree])
    return statement_item(
        "Lemma 3.3.5, if and only if",
        "private 2 × n mechanisms whose entries rise, fall or stay, from several values in the middle; e^ε = 2",
        "M maximises E₁,ₙ iff its first row rises, and its second falls, as fast as may be on the lemma's steps",
        LabelledMatrix("n", ("tried, m₁,₁ ≤ m₁,ₙ", "optimal", "lemma right"), list(SIZES), rows),
        all(row[0] == row[2] for row in rows),
    )


def one_direction() -> Item:
    """R_n = {(i, i+1)} as it is printed, with one direction only, allows more."""
    mechanism = two_output_channel([Fraction(0), Fraction(1, 2)])
    one_way = all(b <= 2 * a and 1 - b <= 2 * (1 - a) for b, a in event_probabilities(mechanism, 0, 1))
    lines: list[Claim] = [
        ("(0, 1), (1/2, 1/2) satisfies P(O|1) ≤ 2·P(O|2) for every event O", True, one_way),
        (
            "least overlap for n = 2, by the lemma 2/3; of this mechanism",
            end_overlap(least_overlap_law(2)),
            -ergodicity(mechanism).value,
        ),
    ]
    note = (
        "misprint: the lemmas need R_n symmetric, {(i, i+1), (i+1, i)}; Def. 2.0.2 asks P(O|i₁) ≤ e^ε·P(O|i₂) on R only"
    )
    return claims_item("Lemma 3.3.5, one direction", "R₂ = {(1, 2)} as printed, e^ε = 2", lines, note)


def appendix_c() -> Item:
    """The value of m₂,ℓ in the even case."""
    rate = Fraction(2)
    even = least_overlap_law(4)
    lines: list[Claim] = [
        ("m₁,ℓ = e^ε/(1+e^ε), ℓ = n/2 + 1, n = 4", rate / (1 + rate), even[2]),
        ("m₂,ℓ = 1/(1−e^ε)", 1 / (1 - rate), 1 - even[2]),
    ]
    note = "misprint: 1/(1−e^ε) is negative; read 1/(1+e^ε)"
    return claims_item("Appendix C, m₂,ℓ", "the optimum for n = 4, e^ε = 2", lines, note)


def least_overlaps(relation: Relation) -> list[set[Fraction]]:
    """The least overlaps of the first secret and of the last with all others, by distance 1, 2, …"""
    overlap_values: dict[int, set[Fraction]] = {}
    for x, z in product((0, len(relation) - 1), range(len(relation))):
        step = relation.distances(x)[z]
        if step:
            program = least_overlap(relation, half(), relation.labels[x], relation.labels[z])
            overlap_values.setdefault(step, set()).add(program.upper)
            overlap_values[step].add(program.lower)
    return [overlap_values[step] for step in sorted(overlap_values)]


def lemma337() -> Item:
    """The least overlap of two secrets depends on their distance, and falls with it."""
    rows: list[list[Value]] = []
    for relation_name in GRAPHS:
        relation = parse_relation(relation_name)
        min_overlaps = least_overlaps(relation)
        falls = all(len(values) == 1 for values in min_overlaps) and all(
            max(b) < min(a) for a, b in pairwise(min_overlaps)
        )
        overlap_text = ", ".join(str(min(values)) for values in min_overlaps)
        rows.append([relation.diameter or 0, overlap_text, falls, -best_coefficient(relation, half())])
    return statement_item(
        "Lemma 3.3.7",
        "the least overlap of two secrets at distance 1, 2, … under any private mechanism: certified programs, e^ε = 2",
        "if M maximises μ_Dob, only secrets at the diameter attain it",
        LabelledMatrix("R", ("diameter", "least overlaps", "strictly falling", "closed form"), GRAPHS, rows),
        all(row[2] and str(row[1]).split(", ")[-1] == str(row[3]) for row in rows),
    )


def layers() -> Item:
    """The proof's groups G_1, …, G_{t+1} leave out the secret they are counted from."""
    steps = parse_relation("line:4").distances(0)
    printed = [sum(step == k for step in steps) for k in (1, 2)] + [sum((step or 0) >= 3 for step in steps)]
    lines: list[Claim] = [("secrets in G₁, …, G_{t+1} together, of 4", 4, sum(printed))]
    note = "proof: u₂ itself, at distance 0, is in none of them; the groups begin with G₀, and P(·|u₂) = P(·|i₀)"
    return claims_item(
        "Lemma 3.3.7, proof", "the partition by distance from u₂ = 0 on a line of four, t = 2", lines, note
    )


def lemma338_printed() -> Item:
    """The lemma's conditions as printed, on mechanisms whose standing is known."""
    flat, best = channel([[1], [1]]), best_mechanism(parse_relation("line:3"), half())
    late_rise = two_output_channel([Fraction(1, 3), Fraction(1, 3), Fraction(2, 3)])
    lines: list[Claim] = []
    steep = geometric(3, half()).channel()
    mechanisms = {
        "silence, d = 1": flat,
        "(1, 2, 3)/4, d = 2": best,
        "(1, 1, 2)/3, d = 2": late_rise,
        "geometric, d = 3": steep,
    }
    for name, source in mechanisms.items():
        relation = parse_relation(f"line:{len(source.inputs)}")
        optimal, passes = (
            is_dobrushin_optimal(source, relation, half()),
            meets_printed_lemma338(source, tuple(range(len(source.inputs)))),
        )
        lines.append((f"{name}: is optimal, by the printed condition", passes, optimal))
    note = (
        "statement: the indices are those of Lemma 3.3.5, where n = d + 1 inputs are counted from 1; here the path is "
        "counted from 0, d takes the place of n, and “and” in the odd case must be “or”. Published: what it says"
    )
    return claims_item("Lemma 3.3.8, as printed", "on lines, e^ε = 2; path 0 … d", lines, note)


def candidates() -> dict[str, tuple[Channel, str]]:
    """Mechanisms on connected relations, optimal and not."""
    rate = half()
    return {
        "geometric, line:4": (geometric(3, rate).channel(), "line:4"),
        "geometric, line:5": (geometric(4, rate).channel(), "line:5"),
        "best, line:3": (best_mechanism(parse_relation("line:3"), rate), "line:3"),
        "best, cycle:5": (best_mechanism(parse_relation("cycle:5"), rate), "cycle:5"),
        "best, hamming:3": (best_mechanism(parse_relation("hamming:3"), rate), "hamming:3"),
        "generalized, grid:2x3": (
            generalize(best_mechanism(parse_relation("grid:2x3"), rate), parse_relation("grid:2x3"), rate).channel,
            "grid:2x3",
        ),
        "response, discrete:3": (response(3, rate).channel(), "discrete:3"),
        "silence, line:2": (channel([[1], [1]]), "line:2"),
        "(1, 1, 2)/3, line:3": (two_output_channel([Fraction(1, 3), Fraction(1, 3), Fraction(2, 3)]), "line:3"),
    }


def lemma338() -> Item:
    """Put right: optimal exactly when each output rises, or falls, as fast as it may on half of a shortest path."""
    rows: list[list[Value]] = []
    for source, relation_name in candidates().values():
        relation = parse_relation(relation_name)
        path = steepest_path(source, relation, half())
        rows.append(
            [
                ergodicity(source).value,
                best_coefficient(relation, half()),
                meets_corrected_lemma338(source, relation),
                "" if path is None else f"{len(path.rising)} rise, {len(path.falling)} fall",
            ]
        )
    return statement_item(
        "Lemma 3.3.8, put right",
        "h = ⌈d/2⌉; e^ε = 2",
        "for all r: m_r,iⱼ = e^ε·m_r,iⱼ₋₁ for j = 1, …, h, or m_r,iⱼ = e^−ε·m_r,iⱼ₋₁ for j = d−h+1, …, d",
        LabelledMatrix("mechanism", ("μ_Dob", "best", "condition", "outputs"), list(candidates()), rows),
        all((row[0] == row[1]) == row[2] == bool(row[3]) for row in rows),
        "the geometric mechanism is optimal on every line, as §3.3 says",
    )


def common_structure() -> Item:
    """§3.3: "a graph structure that is common to the subgraphs of all" outputs."""
    best = best_mechanism(parse_relation("line:3"), half())
    graphs = row_graphs(best, parse_relation("line:3"), half())
    common_edges = set.intersection(*({frozenset(edge) for edge in graph.edges} for graph in graphs))
    lines: list[Claim] = [
        ("it maximises μ_Dob", True, is_dobrushin_optimal(best, parse_relation("line:3"), half())),
        ("its row graphs have an edge in common", True, bool(common_edges)),
    ]
    note = (
        "statement: for even d one kind of output is tight on the first half of the path, the other on the second, and "
        "none on both; for odd d the middle step is common to all"
    )
    return claims_item(
        "§3.3, a common structure", "two outputs (1, 2, 3)/4 and (3, 2, 1)/4 on a line of three", lines, note
    )


def optimum_after_generalizing() -> Item:
    """§3.3: an optimum that is not maximally general, before and after the construction."""
    relation = parse_relation("line:3")
    before = best_mechanism(relation, half())
    after = generalize(before, relation, half()).channel
    rows: list[list[Value]] = []
    for source in (before, after):
        connected = all(graph.connected for graph in row_graphs(source, relation, half()))
        rows.append([len(source.outputs), connected, ergodicity(source).value])
    return computed_item(
        "§3.3, optimal and not general",
        "the mechanism above and what App. B makes of it: μ_Dob stays",
        LabelledMatrix("", ("outputs", "row graphs connected", "μ_Dob"), ("before", "after"), rows),
    )
