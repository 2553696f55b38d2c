"""Pure composition against channels written out: every table small enough, every answer, exact ratios.

Costs are whole numbers n of bits: noise with α = 2^−n, so ε = n·ln 2, and the ε claimed for all answers together is N
bits exactly when some answer is 2^N times as likely under one table as under a neighbour.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from utmost.channel import channel, least_epsilon
from utmost.exact import alpha
from utmost.ledger import Budget, Part, QueryCost, ReleaseCost
from utmost.ledger.compositions.pure import pure_epsilon
from utmost.ledger.costs import ChargeGroup
from utmost.mechanisms import geometric
from utmost.spaces import space

REGIONS, SEXES = ("north", "south", "west"), ("f", "m")
MAX_ROWS = 2

ROWS = tuple(product(REGIONS, SEXES, (0, 1)))  # region, sex, and a bit that is counted
COLUMNS = {"region": 0, "sex": 1}

PARTS = st.one_of(
    st.none(),
    st.tuples(st.just("region"), st.sampled_from(REGIONS)),
    st.tuples(st.just("sex"), st.sampled_from(SEXES)),
)
CHARGES = st.lists(st.tuples(PARTS, st.integers(1, 4)), min_size=1, max_size=3)


def part_of(column_and_value, kind="text", table=None, source="people.csv"):
    return None if column_and_value is None else Part(*column_and_value, kind, table, source)


def charge_groups(charges):
    return [ChargeGroup(Fraction(bits), "geometric", 1, part_of(part)) for part, bits in charges]


def rows_in_part(table, part):
    return table if part is None else [row for row in table if row[COLUMNS[part[0]]] == part[1]]


def tables(neighbours):
    """All tables of two rows, or of at most two, and how far they are apart in rows replaced, or added and removed."""
    sizes = [MAX_ROWS] if neighbours == "replace" else range(MAX_ROWS + 1)
    all_tables = [table for size in sizes for table in combinations_with_replacement(ROWS, size)]
    counts = [Counter(table) for table in all_tables]
    distances = [[(left - right).total() + (right - left).total() for right in counts] for left in counts]
    return all_tables, np.array(distances) // (2 if neighbours == "replace" else 1)


def largest_ratio(laws, distances):
    """The largest ratio of likelihoods between neighbours: a plain loop, no metric needed."""
    worst = Fraction(1)
    for x, y in np.argwhere(distances == 1):
        worst = max(worst, *(a / b for a, b in zip(laws[x], laws[y], strict=True)))
    return worst


def joint_law(rows_of_laws):
    """The law of independent answers together."""
    return [prod(answer) for answer in product(*rows_of_laws)]


def count_law(table, part, bits):
    """The law of a count by geometric noise: of the bit on the whole table, of the rows in a part."""
    number = sum(row[2] for row in table) if part is None else len(rows_in_part(table, part))
    return geometric(MAX_ROWS, alpha(Fraction(1, 2**bits))).law(number)


@pytest.fixture(scope="module", params=["replace", "add-remove"])
def relation(request):
    return request.param, *tables(request.param)


@settings(max_examples=40)
@given(charges=CHARGES)
def test_counts_by_geometric_noise_tell_exactly_what_is_claimed(relation, charges):
    neighbours, all_tables, distances = relation
    laws = [joint_law([count_law(table, part, bits) for part, bits in charges]) for table in all_tables]
    assert largest_ratio(laws, distances) == 2 ** pure_epsilon(charge_groups(charges), "row", neighbours)


def response(bits, outputs, truth):
    """k-ary randomised response: the truth is 2^bits times as likely as any other output."""
    weights = [Fraction(2**bits if output == truth else 1) for output in range(outputs)]
    return [weight / sum(weights) for weight in weights]


@settings(max_examples=40)
@given(charges=CHARGES, seed=st.integers(0, 2**32), outputs=st.integers(2, 3))
def test_any_answers_from_the_rows_of_a_part_tell_at_most_what_is_claimed(relation, charges, seed, outputs):
    neighbours, all_tables, distances = relation
    random = np.random.default_rng(seed)
    truths = [{} for _ in charges]

    def law(k, table):
        part, bits = charges[k]
        truth = truths[k].setdefault(tuple(rows_in_part(table, part)), int(random.integers(outputs)))
        return response(bits, outputs, truth)

    laws = [joint_law([law(k, table) for k in range(len(charges))]) for table in all_tables]
    assert largest_ratio(laws, distances) <= 2 ** pure_epsilon(charge_groups(charges), "row", neighbours)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@settings(max_examples=10)
@given(bits=st.lists(st.integers(1, 3), min_size=3, max_size=3))
def test_a_person_is_in_all_parts_so_they_add_up(neighbours, bits):
    """One person with any set of at most three rows, one in a region; present or absent, or replaced by another."""
    persons = [
        tuple(name for name, is_present in zip(REGIONS, presence, strict=True) if is_present)
        for presence in product((0, 1), repeat=3)
    ]
    laws = [
        joint_law(
            [
                geometric(1, alpha(Fraction(1, 2**n))).law(int(name in rows))
                for name, n in zip(REGIONS, bits, strict=True)
            ]
        )
        for rows in persons
    ]
    distances = np.ones((len(persons), len(persons)), dtype=int) - np.eye(len(persons), dtype=int)
    claimed_bits = pure_epsilon(
        [ChargeGroup(Fraction(n), "any", 1, part_of(("region", name))) for name, n in zip(REGIONS, bits, strict=True)],
        "p",
        neighbours,
    )
    assert largest_ratio(laws, distances) == 2**claimed_bits == 2 ** sum(bits)


def test_the_library_s_own_least_epsilon_agrees():
    """Two parts and the whole, tables of one row: 1 + 2 bits of the parts and 1 of the whole."""
    charges = [(("region", "north"), 1), (("region", "south"), 2), (None, 1)]
    all_tables = [(row,) for row in ROWS]
    laws = [joint_law([count_law(table, part, bits) for part, bits in charges]) for table in all_tables]
    distances = [[int(left != right) for right in all_tables] for left in all_tables]
    labels = ["-".join(map(str, table[0])) for table in all_tables]
    result = least_epsilon(channel(laws, labels), space(distances, labels))
    assert result.ratio == 2 ** pure_epsilon(charge_groups(charges), "row", "replace") == 2**4


@settings(max_examples=30)
@given(
    charges=st.lists(
        st.tuples(
            st.one_of(st.none(), st.tuples(st.sampled_from("abc"), st.sampled_from("uvw"))),
            st.fractions(Fraction(1, 50), 5, max_denominator=50),
        ),
        max_size=12,
    )
)
def test_the_claim_is_the_worst_row_that_enters_or_leaves(charges):
    """Against every row there is: what it touches is charged, one row under add-remove, two under replace."""
    rows = [dict(zip("abc", values, strict=True)) for values in product("uvw", repeat=3)]

    def epsilon_of_change(*changed_rows):
        is_affected = (part is None or any(row[part[0]] == part[1] for row in changed_rows) for part, _ in charges)
        return sum(
            (epsilon for (_, epsilon), affected in zip(charges, is_affected, strict=True) if affected), Fraction(0)
        )

    groups = [ChargeGroup(epsilon, "any", 1, part_of(part)) for part, epsilon in charges]
    assert pure_epsilon(groups, "row", "add-remove") == max(epsilon_of_change(row) for row in rows)
    assert pure_epsilon(groups, "row", "replace") == max(
        epsilon_of_change(old_row, new_row) for old_row, new_row in product(rows, rows)
    )
    assert pure_epsilon(groups, "person", "replace") == sum((epsilon for _, epsilon in charges), Fraction(0))


@pytest.mark.parametrize(
    ("first", "second"),
    [("North", "north "), ("1", "1.0"), ("01", "1"), ("ﬁ", "FI"), ('"north "', '"North"'), (".5", "0.50")],
)
def test_values_that_an_engine_may_find_equal_are_one_part(first, second):
    groups = [ChargeGroup(Fraction(1, 10), "any", 1, part_of(("region", value))) for value in (first, second)]
    assert pure_epsilon(groups, "row", "add-remove") == Fraction(1, 5)


@given(times=st.integers(1, 50), epsilon=st.fractions(Fraction(1, 100), 3, max_denominator=100))
def test_counting_charges_together_changes_nothing(times, epsilon):
    group = ChargeGroup(epsilon, "any", 1, part_of(("a", "b")))
    assert pure_epsilon([group] * times, "row", "replace") == pure_epsilon(
        [ChargeGroup(epsilon, "any", 1, part_of(("a", "b")), times)], "row", "replace"
    )


def test_a_release_spends_what_its_costs_are():
    costs = (QueryCost("a", Fraction(1, 3)), QueryCost("b", Fraction(1, 6), "geometric", 5))
    north = part_of(("region", "north"))
    ask = ReleaseCost("survey", "row", "replace", costs, north, "p")
    assert ask.groups(north) == [
        ChargeGroup(Fraction(1, 3), "any", 1, north),
        ChargeGroup(Fraction(1, 6), "geometric", 5, north),
    ]
    survey = Budget("survey", Fraction(1))
    assert survey.rule.spent(ask.groups(north), survey) == Fraction(1, 2)
    assert survey.rule.spent([], survey) == 0


@given(charges=CHARGES, more=CHARGES)
def test_more_charges_never_tell_less(charges, more):
    for unit, neighbours in product(("row", "person"), ("replace", "add-remove")):
        before, after = (
            pure_epsilon(charge_groups(charge_list), unit, neighbours) for charge_list in (charges, charges + more)
        )
        assume(more)
        assert before <= after <= before + sum(bits for _, bits in more)
