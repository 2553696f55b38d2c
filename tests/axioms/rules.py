"""Random rules, and oracles that know nothing of how they are decided."""

from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st

from utmost.axioms import curve_from_points
from utmost.axioms.predicate import AllOf, AnyOf, Comparison, Linear, Predicate

PLACE = st.fractions(min_value=0, max_value=1, max_denominator=24)
UNIT = st.fractions(min_value=0, max_value=1, max_denominator=8)
SIGNS = [frozenset(some) for some in ({-1}, {-1, 0}, {0}, {-1, 1})]
GRID = [Fraction(k, 12) for k in range(13)]


@st.composite
def curves(draw, whole=False):
    """Any curve with values in [0, 1]; `whole` if it ends at 1."""
    places = sorted({Fraction(0), Fraction(1), *draw(st.lists(PLACE, max_size=5))})
    values = [draw(PLACE) for _ in places]
    ends = (draw(PLACE), draw(PLACE)) if draw(st.booleans()) else (values[0], values[-1])
    return curve_from_points(zip(places, values, strict=True), ends[0], 1 if whole else ends[1])


@st.composite
def halves(draw):
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


def _joined(parts):
    return st.builds(lambda kind, some: kind(tuple(some)), st.sampled_from([AllOf, AnyOf]), parts)


@st.composite
def predicates(draw):
    """A small Boolean combination that allows impossible and certain events, mostly."""
    inner = _joined(st.lists(halves(), min_size=1, max_size=2))
    tree = AnyOf(tuple(draw(st.lists(st.one_of(halves(), inner), min_size=1, max_size=3))))
    if draw(st.booleans()):
        tree = AnyOf((tree, Comparison(Linear(Fraction(-1), Fraction(1), Fraction(0)), frozenset({0}))))
    return Predicate("drawn", tree)


def events(made, x=0, other=1):
    """(P(O|x), P(O|other)) for every event O."""
    columns = range(len(made.outputs))
    chosen = [some for size in range(len(made.outputs) + 1) for some in combinations(columns, size)]
    return [tuple(sum((made.rows[k, y] for y in some), Fraction(0)) for k in (x, other)) for some in chosen]


def meets(made, rule, x=0, other=1):
    """Does every event of a channel satisfy a predicate."""
    return all(rule(a, b) for a, b in events(made, x, other))
