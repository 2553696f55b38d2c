"""What no linear unbiased strategy can do better: nuclear norms, bounded from below.

A *strategy* publishes sums A x of cells, each with independent noise, and estimates the workload W x by W A⁺ of the
answers. Scaled to unit variance, B = diag(1/σ)·A, its total variance is ‖W B⁺‖²_F. For weights d ≥ 0 of the cells,
Σ d = 1, D = diag(d), W D^½ = (W B⁺)(B D^½), so by Cauchy and Schwarz

    total variance ≥ ‖W D^½‖²_* / ‖B D^½‖²_F,   ‖B D^½‖²_F = Σ d_i·‖b_i‖²,

and privacy bounds every ‖b_i‖²: the squared length of the scaled answers that one more row of cell i moves is at most
1/V. **ρ**, Gaussian noise: Σ a²/(2σ²) ≤ ρ, so 1/V = 2ρ. **ε**, geometric noise with e^(−ε_j) on a whole number that a
row moves by a_j: its inverse variance is τ(ε_j) = cosh ε_j − 1, and a²·τ(ε_j) ≤ τ(|a|·ε_j), Σ τ(ε_j) ≤ τ(Σ ε_j), since
all coefficients of τ in ε² are ≥ 0; so 1/V = cosh ε − 1. Laplace noise of the same ε has more variance. ∎

Under replace a row passes from one cell to another: for all i ≠ j ‖b_i − b_j‖² ≤ 1/V. Weighted with d_i·d_j this is
tr(B M Bᵀ) ≤ (1 − Σ d²)/(2V), M = D − ddᵀ = C Cᵀ with C = D^½(I − √d√dᵀ), and ‖W C‖²_* stands for ‖W D^½‖²_*.

**Any unbiased mechanism** (Hammersley, Chapman and Robbins). Let it be unbiased at a table x and at all tables with one
more row. With scores s_i = p(x + e_i)/p(x) − 1 the covariance of the estimates and Wᵀ, and of s, are a positive matrix,
so total variance ≥ ‖W D^½‖²_*/max_i E s_i². Under ε-privacy E s² ≤ 2(cosh ε − 1), under ρ-zCDP E s² ≤ e^(2ρ) − 1. ∎

**Norms.** At equal weights the singular values are known: of regular designs from `regular`; of prefix sums
1/(2·sin((2k−1)π/(4n+2))); of ranges √(n+1)/(2·sin(kπ/(2n+2))), since their Gram matrix is n+1 times the inverse of the
tridiagonal (−1, 2, −1). For few cells the weights are improved, d ← diag((D^½GD^½)^½), in doubles, and the norm is
bounded in whole numbers: K = SGS for a whole diagonal S, and tr √K ≥ tr(KZ)/√‖ZKZ‖ for every symmetric Z (duality of
norms, Y = G^½SZ). With M = ZKZ a largest eigenvalue μ has μ² − μ ≤ ‖M² − M‖_F. Irregular trees: with d(c) shared, a
node's matrix is at least m·I + w·u uᵀ, m the least eigenvalue below it on its parts; √ is monotone for matrices. ∎
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.planning.designs import TableDesign
from utmost.planning.regular import RegularModel
from utmost.planning.trees import Chain, chain_of
from utmost.planning.workloads import PREFIX, Workload, gram_matrix

if TYPE_CHECKING:
    from flint import arb, fmpz_mat
    from numpy.typing import NDArray

MAX_CERTIFIED_CELLS = 512  # of which weights are improved
PROFILE_CELLS = 64  # of which the weights of a long row of cells are improved first
IMPROVEMENTS = 30
FINAL_IMPROVEMENTS = 2
WEIGHT_SCALE, NORM_BITS = 2**30, 60


@dataclass(frozen=True, eq=False)
class NormBound:
    """Lower bounds of ‖W D^½‖²_*, and of 2·‖W C‖²_*/(1 − Σ d²), for some weights d each; `weights` says which."""

    added: arb
    replaced: arb
    weights: str


def norm_bound(design: TableDesign, workload: Workload, model: Any) -> NormBound:
    """The largest bound of those that are known for this design and workload."""
    found: list[NormBound] = []
    if isinstance(model, RegularModel) and workload.runs is None:
        return _regular_bound(model)
    if workload.runs is not None:
        found.append(_run_bound(workload, design.size))
    else:
        found += [_single_level_bound(workload, place) for place in range(len(workload.partitions))]
        chain = chain_of(workload.partitions, design)
        found += [] if chain is None else [_tree_bound(chain, workload, shared) for shared in (False, True)]
    if design.size <= MAX_CERTIFIED_CELLS:
        is_run = workload.runs is not None
        found.append(_row_bound(workload.runs or "", design.size) if is_run else _matrix_bound(workload, design.size))
    return NormBound(
        _largest([one.added for one in found]),
        _largest([one.replaced for one in found]),
        max(found, key=lambda one: float(one.added)).weights,
    )


def _largest(balls: Sequence[arb]) -> arb:
    return max(balls, key=lambda one: float(one.lower()))


def _ball(value: Fraction | int) -> arb:
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def _positive(value: arb) -> arb:
    from flint import arb

    return value if value > 0 else arb(0)


def _from_norm(norm: arb, top_square: arb, squares: Fraction, weights: str) -> NormBound:
    """Both bounds from the norm: that of W C is at least ‖W D^½‖_* − |W d|, since they differ by a matrix of rank 1."""
    rest = _positive(norm - top_square.sqrt())
    replaced = 2 * rest * rest / _ball(1 - squares) if squares < 1 else norm * 0
    return NormBound(norm * norm, replaced, weights)


def _regular_bound(model: RegularModel) -> NormBound:
    from flint import arb

    traces, unit = model.traces
    roots = [(arb(rank) * trace).sqrt() for rank, trace in zip(model.ranks, traces, strict=True)]
    norm, rest = sum(roots, arb(0)), sum(roots[1:], arb(0))
    size = model.size * unit
    replaced = 2 * rest * rest / ((model.size - 1) * unit) if model.size > 1 else arb(0)
    return NormBound(norm * norm / size, replaced, "equal")


def _run_bound(workload: Workload, size: int) -> NormBound:
    from flint import arb, fmpq

    if workload.runs == PREFIX:
        sines = (arb.sin_pi_fmpq(fmpq(2 * k - 1, 4 * size + 2)) for k in range(1, size + 1))
        scale, top = _ball(Fraction(1, size)), Fraction((size + 1) * (2 * size + 1), 6 * size**2)
    else:
        sines = (arb.sin_pi_fmpq(fmpq(k, 2 * size + 2)) for k in range(1, size + 1))
        scale = _ball(Fraction(2, size))  # (n + 1) over n(n + 1)/2 sums
        top = Fraction(sum(k * k * (size + 1 - k) for k in range(1, size + 1)) * 2, (size + 1) * size**3)
    norm = sum((1 / (2 * sine) for sine in sines), arb(0)) * (scale / size).sqrt()
    return _from_norm(norm, _ball(top), Fraction(1, size), "equal")


def _single_level_bound(workload: Workload, place: int) -> NormBound:
    """Of one partition alone, with equal weight of its parts: all of its singular values are equal."""
    part, weight = workload.partitions[place], workload.weights[place]
    square = _ball(weight * part.size)
    replaced = square * 2 * (part.size - 1) / part.size
    return NormBound(square, replaced, f"of {part.name}")


def _tree_bound(chain: Chain, workload: Workload, shared: bool) -> NormBound:
    """Of levels of a tree; `shared` weights are the same for all parts of a cell, else for all cells."""
    from flint import arb

    pairs = list(zip(workload.partitions, workload.weights, strict=True))
    weights = [sum((w for one, w in pairs if one.size == part.size), Fraction(0)) for part in chain.parts]
    masses = _masses(chain, shared)
    least = masses[-1] * _ball(weights[-1])
    norm = arb(0)
    for level in reversed(range(len(chain.starts))):
        starts = chain.starts[level]
        counts = np.diff(np.r_[starts, len(least)])
        least = np.array([_least(part) for part in np.split(least, starts[1:])], dtype=object)
        norm += sum((value.sqrt() * int(n - 1) for value, n in zip(least, counts, strict=True) if n > 1), arb(0))
        least = least + masses[level] * _ball(weights[level])
    norm += least[0].sqrt()
    squares = sum((mass * mass for mass in masses[-1]), arb(0))
    top = _tree_top(chain, workload, masses)
    rest = _positive(norm - top.sqrt())
    room = 1 - squares
    return NormBound(norm * norm, 2 * rest * rest / room if room > 0 else arb(0), "shared" if shared else "equal")


def _tree_top(chain: Chain, workload: Workload, masses: list[Any]) -> arb:
    """|W d|²."""
    from flint import arb

    by_size = {part.size: mass for part, mass in zip(chain.parts, masses, strict=True)}
    total = arb(0)
    for part, weight in zip(workload.partitions, workload.weights, strict=True):
        total += sum((mass * mass for mass in by_size[part.size]), arb(0)) * _ball(weight)
    return total


def _least(values: Any) -> Any:
    """A ball that is at most each of these."""
    return min(values, key=lambda one: one.lower()).lower()


def _masses(chain: Chain, shared: bool) -> list[Any]:
    """The weight of each part of each level: all add up to 1 at each level."""
    from flint import arb

    size = len(chain.order)
    if not shared:
        cells = np.full(size, arb(1) / size, dtype=object)
        masses = [cells]
        for starts in reversed(chain.starts):
            masses.append(np.add.reduceat(masses[-1], starts))
        return masses[::-1]
    masses = [np.full(1, arb(1), dtype=object)]
    for starts, parents in zip(chain.starts, chain.parents, strict=True):
        counts = np.diff(np.r_[starts, len(parents)])
        each = masses[-1] / np.array([arb(int(n)) for n in counts], dtype=object)
        masses.append(each[parents])
    return masses


@lru_cache(maxsize=64)
def _row_bound(runs: str, size: int) -> NormBound:
    """Of prefix sums or ranges, which depend on nothing but the number of cells."""
    return _matrix_bound(Workload(runs, runs=runs), size)


def _matrix_bound(workload: Workload, size: int) -> NormBound:
    """With improved weights, proved in whole numbers."""
    gram, denominator = gram_matrix(workload, range(size), size)
    doubles = np.array(gram, dtype=float) / denominator
    roots = [max(1, round(float(root) * WEIGHT_SCALE)) for root in np.sqrt(improved_weights(doubles, workload))]
    total = sum(root * root for root in roots)
    norm = _proved_norm(gram, roots)
    squares = Fraction(sum(root**4 for root in roots), total * total)
    top = sum(gram[i][j] * roots[i] ** 2 * roots[j] ** 2 for i in range(size) for j in range(size) if gram[i][j])
    norm = norm / _ball(total * denominator).sqrt()
    return _from_norm(norm, _ball(Fraction(top, total * total * denominator)), squares, "improved")


def improved_weights(gram: NDArray[np.float64], workload: Workload) -> NDArray[np.float64]:
    """Weights with a large norm, in doubles: nothing that is proved rests on their being the best."""
    size = len(gram)
    if workload.runs is None or size <= 2 * PROFILE_CELLS:
        return _improve(gram, np.full(size, 1 / size), IMPROVEMENTS)
    small, unit = gram_matrix(workload, range(PROFILE_CELLS), PROFILE_CELLS)
    profile = _improve(np.array(small, dtype=float) / unit, np.full(PROFILE_CELLS, 1 / PROFILE_CELLS), IMPROVEMENTS)
    places = (np.arange(size) + 0.5) / size * PROFILE_CELLS - 0.5
    start = np.interp(places, np.arange(PROFILE_CELLS), profile)
    return _improve(gram, start / start.sum(), FINAL_IMPROVEMENTS)


def _improve(gram: NDArray[np.float64], weights: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    for _ in range(steps):
        roots = np.sqrt(weights)
        values, vectors = np.linalg.eigh(roots[:, None] * gram * roots)
        weights = (vectors**2) @ np.sqrt(np.maximum(values, 0))
        weights = weights / weights.sum()
    return weights


def _proved_norm(gram: list[list[int]], roots: list[int]) -> arb:
    """A lower bound of tr √K, K = SGS with the whole numbers S on its diagonal, for every Z: here nearly K^−½."""
    from flint import arb, fmpz, fmpz_mat

    size = len(roots)
    matrix = fmpz_mat([[roots[i] * gram[i][j] * roots[j] for j in range(size)] for i in range(size)])
    scale = max(int(matrix[i, i]) for i in range(size))
    doubles = np.array([[int(matrix[i, j]) / scale for j in range(size)] for i in range(size)])
    values, vectors = np.linalg.eigh(doubles)
    kept = values > values.max() * 1e-12
    guess = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    unit = 2 ** max(0, NORM_BITS - math.frexp(float(np.abs(guess).max()))[1])
    whole = fmpz_mat([[int(entry) for entry in row] for row in np.rint((guess + guess.T) / 2 * unit).tolist()])
    product = matrix * whole
    trace = sum((product[i, i] for i in range(size)), fmpz(0))
    eigenvalue = _largest_eigenvalue(whole * product, scale * unit * unit)
    norm: arb = arb(trace) / (eigenvalue * scale).sqrt() / unit
    return norm


def _largest_eigenvalue(matrix: fmpz_mat, unit: int) -> arb:
    """An upper bound of the eigenvalues of M = matrix/unit, which is nearly a projection."""
    from flint import arb, fmpz

    rest = matrix * matrix - matrix * unit
    difference = arb(sum((entry * entry for entry in rest.entries()), fmpz(0))).sqrt() / (arb(unit) * unit)
    return (1 + (1 + 4 * difference).sqrt()) / 2
