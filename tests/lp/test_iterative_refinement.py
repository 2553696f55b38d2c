from __future__ import annotations

from fractions import Fraction

from lp.programs import count_program, uniform
from utmost.lp import solve
from utmost.lp.guess_repair import initial_point, refine_once, scaled_frame, slack_form
from utmost.lp.linear_program import Rational, row_products


def test_rounds_shrink_the_violations_geometrically() -> None:
    n = 30
    program = count_program(n, Fraction(1, 2), uniform(n), scaled=False)
    frame = scaled_frame(program)
    point = initial_point(frame, solve(program))

    def violation(x: list[Rational]) -> Rational:
        rows = zip(row_products(program, x), program.targets, program.equality, strict=True)
        return max(abs(a - b) if equal else b - a for a, b, equal in rows)

    initial_violation = violation(point.x)
    for _ in range(2):
        refined = refine_once(frame, [point.x], [point.y], point.basis)
        assert refined is not None
        point = refined
    assert violation(point.x) * 10**9 < initial_violation


def test_the_slack_form_has_one_slack_for_each_inequality() -> None:
    program = count_program(3, Fraction(1, 2), uniform(3), scaled=True)
    form = slack_form(program)
    assert form.equality.all()
    assert form.shape == (program.shape[0], program.shape[1] + int((~program.equality).sum()))
