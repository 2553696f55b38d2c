"""GMP13 Examples 1.1 and 4.1, Figures 1 and 2: exact laws of samplers that are not private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from utmost.exact import Level, alpha, decimal, nearest_double
from utmost.papers.items import Claim, Item, LabelledMatrix, Series, Value, claims_item, computed_item
from utmost.precision.attacks import ideal_cell_mass, largest_ratio, last_digits, rounded_quantile_law, scaled_law
from utmost.precision.enumeration import Law
from utmost.precision.number_formats import UniformGenerator, uniform_generator

DIGITS, DOUBLINGS = 6, 2  # d = 6 and b = 2^2
SECOND_SECRET = Fraction(7, 32)  # 3·2^−4 + 2^−5
GENERATOR_VALUES = 64  # of the generator of Figure 2
MAX_RESULT = 12
SECRET_OFFSET = 0.1  # that the points of the two secrets stand beside their result, so that all are seen


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return example11(), figure1(), example41(), figure2()


def digits_of(law: Law) -> str:
    """The last two binary digits that the results have: one word if it is always the same."""
    digits = {last_digits(Fraction(result), DIGITS, DOUBLINGS) for result in law}
    return " or ".join(f"{k:02b}" for k in sorted(digits))


def example11() -> Item:
    """b = 4, d = 6, r₁ = 0 and r₂ = 1 + 2^−5: the last two digits survive the noise."""
    first, second = (scaled_law(r, DIGITS, DOUBLINGS) for r in (Fraction(0), 1 + Fraction(1, 32)))
    lines: list[Claim] = [
        ("last two digits of every result for r₁", "00", digits_of(first)),
        ("last two digits of every result for r₂", "10", digits_of(second)),
        ("results that both can give", Fraction(0), Fraction(len(set(first) & set(second)))),
        (
            "told apart for every h from 1 to 2^n − 1",
            True,
            all(_have_disjoint_results(h) for h in range(1, 2**DOUBLINGS)),
        ),
    ]
    note = f"exact law of a generator with {2 ** (DIGITS + 4)} values; {len(first)} results of each secret, ε = ∞"
    return claims_item(
        "Example 1.1", "fixed point with d = 6 digits, noise of scale 1 multiplied by b = 4", lines, note
    )


def _have_disjoint_results(h: int) -> bool:
    """Have 0 and (2^n·3 + h)/2^d no result in common."""
    second_secret = Fraction(2**DOUBLINGS * 3 + h, 2**DIGITS)
    first, second = (scaled_law(r, DIGITS, DOUBLINGS) for r in (Fraction(0), second_secret))
    return not set(first) & set(second)


def figure1() -> Item:
    """The two laws of the figure."""
    laws = {"r₁ = 0": scaled_law(0, DIGITS, DOUBLINGS), "r₂ = 7/32": scaled_law(SECOND_SECRET, DIGITS, DOUBLINGS)}
    results = [Fraction(k, 64) for k in range(-8, 24, 2)]
    rows = [[law.get(x, Fraction(0)) for x in results] for law in laws.values()]
    grid = LabelledMatrix("result", list(laws), results, [list(cells) for cells in zip(*rows, strict=True)])
    note = "r₂ − r₁ = (2²·3 + 2)/2⁶ = 7/32: the text's (2^{n+k+h})/2^d is (2^n·k + h)/2^d"
    item = computed_item(
        "Figure 1",
        "b = 4, d = 6 digits, k = 3, h = 2: the laws of the results for r₁ = 0 and r₂ = 7/32",
        grid,
        note,
        _law_series(laws),
    )
    return replace(item, claim="No result has a positive chance under both secrets")


def _law_series(laws: dict[str, Law]) -> tuple[Series, ...]:
    """The results that have a chance, and no others: a law of points, nothing between them."""
    results = [Fraction(k, 64) for k in range(-24, 41, 2)]
    series = []
    for name, law in laws.items():
        possible = [result for result in results if law.get(result)]
        chances = tuple(float(law[result]) for result in possible)
        series.append(Series(name, "result", "probability", tuple(map(float, possible)), chances, stems=True))
    return tuple(series)


def figure2_level() -> Level:
    """The ratio 4/3 of Figure 2."""
    return alpha("3/4")


def figure2_generator() -> UniformGenerator:
    """z/N with both ends, as Example 4.1 has it."""
    return uniform_generator(GENERATOR_VALUES, "closed")


def example41() -> Item:
    """A discretised generator makes a ratio of 2 where 4/3 was meant; an error of 1/3 at a probability of 1.5/N."""
    first, second = (rounded_quantile_law(figure2_level(), figure2_generator(), r, MAX_RESULT) for r in (0, 1))
    ratio, single_support = largest_ratio(first, second)
    lines: list[Claim] = [
        ("ratio of the theoretical laws", Fraction(4, 3), 1 / Fraction(figure2_level().power(1))),  # type: ignore[arg-type]
        ("largest finite ratio of the laws that run", Fraction(2), ratio),
        ("least error where 1.5/N is meant", Fraction(1, 3), min(abs(k / Fraction(3, 2) - 1) for k in range(4))),
    ]
    note = (
        f"N = {GENERATOR_VALUES}; besides, {len(single_support)} results can come from one of the two secrets only, "
        "so that there is no ε at all"
    )
    return claims_item(
        "Example 4.1", "Laplace quantiles of z/N, rounded to whole numbers, secrets 0 and 1", lines, note
    )


def figure2() -> Item:
    """Both laws and the theoretical ones."""
    laws = [rounded_quantile_law(figure2_level(), figure2_generator(), r, MAX_RESULT) for r in (0, 1)]
    results = range(-4, MAX_RESULT + 1)
    rows: list[Sequence[Value]] = [
        [law[Fraction(k)] * GENERATOR_VALUES for law in laws]
        + [decimal(nearest_double(ideal_cell_mass(figure2_level(), r, k) * GENERATOR_VALUES), 4) for r in (0, 1)]
        for k in results
    ]
    grid = LabelledMatrix("result", ("secret 0", "secret 1", "meant, 0", "meant, 1"), results, rows)
    caption = f"how many of the N = {GENERATOR_VALUES} values lead to each result, and how many should"
    item = computed_item("Figure 2", caption, grid, "where 1.5 are meant there are 1 or 2", _count_series(laws))
    return replace(item, claim="A generator of 64 values turns a ratio of 4/3 into 2, and into ∞ further out")


def _count_series(laws: Sequence[Law]) -> tuple[Series, ...]:
    results = tuple(range(-MAX_RESULT, MAX_RESULT + 1))
    axis, series = f"values of the generator, of {GENERATOR_VALUES}", []
    for r, law in enumerate(laws):
        offset = (2 * r - 1) * SECRET_OFFSET
        runs = [(k + offset, float(law[Fraction(k)] * GENERATOR_VALUES)) for k in results if law[Fraction(k)]]
        ideal = [(float(k), nearest_double(ideal_cell_mass(figure2_level(), r, k) * GENERATOR_VALUES)) for k in results]
        for name, points, stems in (("as it runs (points)", runs, True), ("as meant (line)", ideal, False)):
            x, y = zip(*points, strict=True)
            series.append(Series(f"secret {r}, {name}", "result", axis, x, y, stems, r))
    return tuple(series)
