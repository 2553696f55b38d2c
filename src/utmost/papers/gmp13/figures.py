"""GMP13 Examples 1.1 and 4.1, Figures 1 and 2: exact laws of samplers that leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from utmost.exact import Level, alpha, decimal, nearest_double
from utmost.papers.items import Claim, Grid, Item, Series, Value, claims, found
from utmost.precision.enumeration import Law
from utmost.precision.float_samplers import ideal_step, largest_ratio, last_digits, scaled_law, stepped_law
from utmost.precision.number_formats import UniformGenerator, uniform_generator

DIGITS, DOUBLINGS = 6, 2  # d = 6 and b = 2^2
SECOND = Fraction(7, 32)  # 3·2^−4 + 2^−5
VALUES = 64  # of the generator of Figure 2
REACH = 12
ASIDE = 0.1  # that the points of the two secrets stand beside their result, so that all are seen


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return example11(), figure1(), example41(), figure2()


def digits_of(law: Law) -> str:
    """The last two binary digits that the results have: one word if it is always the same."""
    seen = {last_digits(Fraction(result), DIGITS, DOUBLINGS) for result in law}
    return " or ".join(f"{k:02b}" for k in sorted(seen))


def example11() -> Item:
    """b = 4, d = 6, r₁ = 0 and r₂ = 1 + 2^−5: the last two digits survive the noise."""
    first, second = (scaled_law(r, DIGITS, DOUBLINGS) for r in (Fraction(0), 1 + Fraction(1, 32)))
    lines: list[Claim] = [
        ("last two digits of every result for r₁", "00", digits_of(first)),
        ("last two digits of every result for r₂", "10", digits_of(second)),
        ("results that both can give", Fraction(0), Fraction(len(set(first) & set(second)))),
        ("told apart for every h from 1 to 2^n − 1", True, all(_apart(h) for h in range(1, 2**DOUBLINGS))),
    ]
    note = f"exact law of a generator with {2 ** (DIGITS + 4)} values; {len(first)} results of each secret, ε = ∞"
    return claims("Example 1.1", "fixed point with d = 6 digits, noise of scale 1 multiplied by b = 4", lines, note)


def _apart(h: int) -> bool:
    """Are 0 and (2^n·3 + h)/2^d told apart."""
    other = Fraction(2**DOUBLINGS * 3 + h, 2**DIGITS)
    first, second = (scaled_law(r, DIGITS, DOUBLINGS) for r in (Fraction(0), other))
    return not set(first) & set(second)


def figure1() -> Item:
    """The two laws of the figure."""
    laws = {"r₁ = 0": scaled_law(0, DIGITS, DOUBLINGS), "r₂ = 7/32": scaled_law(SECOND, DIGITS, DOUBLINGS)}
    near = [Fraction(k, 64) for k in range(-8, 24, 2)]
    rows = [[law.get(x, Fraction(0)) for x in near] for law in laws.values()]
    grid = Grid("result", list(laws), near, [list(cells) for cells in zip(*rows, strict=True)])
    note = "r₂ − r₁ = (2²·3 + 2)/2⁶ = 7/32: the text's (2^{n+k+h})/2^d is (2^n·k + h)/2^d"
    made = found(
        "Figure 1",
        "b = 4, d = 6 digits, k = 3, h = 2: the laws of the results for r₁ = 0 and r₂ = 7/32",
        grid,
        note,
        _lines(laws),
    )
    return replace(made, claim="No result has a positive chance under both secrets")


def _lines(laws: dict[str, Law]) -> tuple[Series, ...]:
    """The results that have a chance, and no others: a law of points, nothing between them."""
    spots = [Fraction(k, 64) for k in range(-24, 41, 2)]
    made = []
    for name, law in laws.items():
        taken = [spot for spot in spots if law.get(spot)]
        chances = tuple(float(law[spot]) for spot in taken)
        made.append(Series(name, "result", "probability", tuple(map(float, taken)), chances, stems=True))
    return tuple(made)


def level() -> Level:
    """The ratio 4/3 of Figure 2."""
    return alpha("3/4")


def generator() -> UniformGenerator:
    """z/N with both ends, as Example 4.1 has it."""
    return uniform_generator(VALUES, "closed")


def example41() -> Item:
    """A discretised generator makes a ratio of 2 where 4/3 was meant; an error of 1/3 at a probability of 1.5/N."""
    first, second = (stepped_law(level(), generator(), r, REACH) for r in (0, 1))
    ratio, only = largest_ratio(first, second)
    lines: list[Claim] = [
        ("ratio of the theoretical laws", Fraction(4, 3), 1 / Fraction(level().power(1))),  # type: ignore[arg-type]
        ("largest finite ratio of the laws that run", Fraction(2), ratio),
        ("least error where 1.5/N is meant", Fraction(1, 3), min(abs(k / Fraction(3, 2) - 1) for k in range(4))),
    ]
    note = (
        f"N = {VALUES}; besides, {len(only)} results can come from one of the two secrets only, so that there is no ε "
        "at all"
    )
    return claims("Example 4.1", "Laplace quantiles of z/N, rounded to whole numbers, secrets 0 and 1", lines, note)


def figure2() -> Item:
    """Both laws and the theoretical ones."""
    laws = [stepped_law(level(), generator(), r, REACH) for r in (0, 1)]
    places = range(-4, REACH + 1)
    rows: list[Sequence[Value]] = [
        [law[Fraction(k)] * VALUES for law in laws]
        + [decimal(nearest_double(ideal_step(level(), r, k) * VALUES), 4) for r in (0, 1)]
        for k in places
    ]
    grid = Grid("result", ("secret 0", "secret 1", "meant, 0", "meant, 1"), places, rows)
    caption = f"how many of the N = {VALUES} values lead to each result, and how many should"
    made = found("Figure 2", caption, grid, "where 1.5 are meant there are 1 or 2", _steps(laws))
    return replace(made, claim="A generator of 64 values turns a ratio of 4/3 into 2, and into ∞ further out")


def _steps(laws: Sequence[Law]) -> tuple[Series, ...]:
    places = tuple(range(-REACH, REACH + 1))
    axis, made = f"values of the generator, of {VALUES}", []
    for r, law in enumerate(laws):
        side = (2 * r - 1) * ASIDE
        runs = [(k + side, float(law[Fraction(k)] * VALUES)) for k in places if law[Fraction(k)]]
        meant = [(float(k), nearest_double(ideal_step(level(), r, k) * VALUES)) for k in places]
        for name, points, stems in (("as it runs (points)", runs, True), ("as meant (line)", meant, False)):
            x, y = zip(*points, strict=True)
            made.append(Series(f"secret {r}, {name}", "result", axis, x, y, stems, r))
    return tuple(made)
