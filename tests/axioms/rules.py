"""Random rules, and oracles that know nothing of how they are decided."""

from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st

from utmost.axioms import curve_from_points
from utmost.axioms.predicate import AllOf, AnyOf, Comparison, Linear, Predicate

ARGUMENT = st.fractions(min_value=0, max_value=1, max_denominator=24)
UNIT = st.fractions(min_value=0, max_value=1, max_denominator=8)
SIGNS = [frozenset(some) for some in ({-1}, {-1, 0}, {0}, {-1, 1})]
GRID = [Fraction(k, 12) for k in range(13)]


@st.composite
def curves(draw, ends_at_one=False):
    """Any curve with values in [0, 1]; `ends_at_one` if it ends at 1."""
    arguments = sorted({Fraction(0), Fraction(1), *draw(st.lists(ARGUMENT, max_size=5))})
    values = [draw(ARGUMENT) for _ in arguments]
    end_values = (draw(ARGUMENT), draw(ARGUMENT)) if draw(st.booleans()) else (values[0], values[-1])
    return curve_from_points(zip(arguments, values, strict=True), end_values[0], 1 if ends_at_one else end_values[1])


@st.composite
def comparisons(draw):
    """b compared with a line, a with a number, or one of the two with the other."""
    slope, start = draw(st.fractions(min_value=0, max_value=4, max_denominator=3)), draw(UNIT)
    form = draw(
        st.sampled_from(
            [
                Linear(-slope, Fraction(1), -start),
                Linear(Fraction(-1), Fraction(0), start),
                Linear(Fraction(-1), Fraction(1), Fraction(0)),
            ]
        )
    )
    return Comparison(form, draw(st.sampled_from(SIGNS)))


def _combinations(trees):
    return st.builds(lambda kind, subtrees: kind(tuple(subtrees)), st.sampled_from([AllOf, AnyOf]), trees)


@st.composite
def predicates(draw):
    """A small Boolean combination that allows impossible and certain events, mostly."""
    inner = _combinations(st.lists(comparisons(), min_size=1, max_size=2))
    tree = AnyOf(tuple(draw(st.lists(st.one_of(comparisons(), inner), min_size=1, max_size=3))))
    if draw(st.booleans()):
        tree = AnyOf((tree, Comparison(Linear(Fraction(-1), Fraction(1), Fraction(0)), frozenset({0}))))
    return Predicate("drawn", tree)


def events(mechanism, first=0, second=1):
    """(P(O|x), P(O|other)) for every event O."""
    columns = range(len(mechanism.outputs))
    subsets = [subset for size in range(len(mechanism.outputs) + 1) for subset in combinations(columns, size)]
    return [
        tuple(sum((mechanism.rows[k, y] for y in subset), Fraction(0)) for k in (first, second)) for subset in subsets
    ]


def meets(mechanism, rule, first=0, second=1):
    """Does every event of a channel satisfy a predicate."""
    return all(rule(a, b) for a, b in events(mechanism, first, second))
