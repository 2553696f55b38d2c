from __future__ import annotations

from fractions import Fraction

from solve.programs import count_program, uniform
from utmost.solve import solve
from utmost.solve.program import products
from utmost.solve.rational import Quotient
from utmost.solve.refinement import frame, opening, refine, slack_form


def test_rounds_shrink_the_violations_geometrically() -> None:
    n = 30
    program = count_program(n, Fraction(1, 2), uniform(n), scaled=False)
    around = frame(program)
    point = opening(around, solve(program))

    def violation(x: list[Quotient]) -> Quotient:
        rows = zip(products(program, x), program.targets, program.equality, strict=True)
        return max(abs(a - b) if equal else b - a for a, b, equal in rows)

    first = violation(point.x)
    for _ in range(2):
        found = refine(around, [point.x], [point.y], point.basis)
        assert found is not None
        point = found
    assert violation(point.x) * 10**9 < first


def test_the_slack_form_has_one_slack_for_each_inequality() -> None:
    program = count_program(3, Fraction(1, 2), uniform(3), scaled=True)
    form = slack_form(program)
    assert form.equality.all()
    assert form.shape == (program.shape[0], program.shape[1] + int((~program.equality).sum()))
