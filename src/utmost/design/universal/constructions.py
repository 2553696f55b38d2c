"""Mechanisms that are universally optimal by construction, those of trees too (FMPD23 Cor. 9, Thm 10, §VI-B).

The geometric mechanism of a tree is universally optimal for ℓ_bin and for ℓ_nib: a proof, and its multipliers.

A tree is a space with one generating pair less than points; a line is one. Let K[x,y] = α^d(x,y), a_e = α^length(e) for
an edge e, and κ_y = 1 − Σ a_e/(1+a_e) over the edges at y; then Kκ = 1. Where κ ≥ 0, T[x,y] = κ_y·α^d(x,y) is a
mechanism, and private: on a line the truncated geometric one. With edges of length 1, κ ≥ 0 means α ≤ 1/(Δ−1), Δ the
largest degree.

**Theorem.** If κ ≥ 0, then T is universally ℓ_bin-optimal and universally ℓ_nib-optimal.

So the geometric mechanism on a line is universally ℓ_nib-optimal for every number of secrets and every α. FMPD23 §VI-A
suspects it, having seen it attain the additive capacity (where the prior is uniform) for up to 6 secrets. And lines are
not alone in having universally ℓ_bin-optimal mechanisms, as FMPD23 §I has it: a star with three leaves has one at
α = 1/2.

*Proof.* P is the cone of private columns, P* its dual, and c_w[x] = π_x·ℓ(w,x). As in `design.count_mechanism`, let h_k
be what the column K_k costs, read in the best way, and suppose that u has Ku = h and c_w − u ∈ P* for all actions w.
Then no mechanism of the type costs less than Σ u, by weak duality; and T costs κ·h = κ·Ku = Σ u. It remains to find u.

*ℓ_bin.* The gain of K_k is g_k = max_w π_w·α^d(w,k). Take u = π − K⁻¹g. Since c_w = π − π_w·e_w, it is to show that
gᵀK⁻¹x ≥ π_w·x_w for every x in P. Root the tree at w. K is the covariance of a process on the tree in which each child
is a_e times its parent plus noise of its own, of variance 1 − a_e²; so over the edges e from parents p to children c,
gᵀK⁻¹x = g_w·x_w + Σ_e (g_c − a_e·g_p)·(x_c − a_e·x_p)/(1 − a_e²). Both g and x are in P, so every factor is ≥ 0, and
gᵀK⁻¹x ≥ g_w·x_w ≥ π_w·x_w.

*ℓ_nib.* h_k = min_w π_w·α^d(w,k). If some π_w is 0, then h = 0 and u = 0 will do. Else measure lengths in units of 1/ε
and hang on each w a path of length −log π_w (plus a constant): −log h_k is the eccentricity of k, which on a tree is a
constant plus the distance to the centre. So h_k = c·α^d(k,s), where s is a secret with h_s = π_s, or lies on an edge
(m, m′) of length l. In the first case u = π_s·e_s; in the second u is 0 but at m and m′, and with a = α^l, u_m + a·u_m′
= h_m and a·u_m + u_m′ = h_m′; u ≥ 0 since h is in P. Then Ku = h everywhere. To show: π_w·x_w ≥ u_m·x_m + u_m′·x_m′ for
x in P. Let w be on m's side. In P, x_m ≤ α^−d(w,m)·x_w and x_m′ ≤ α^−d(w,m′)·x_w, where d(w,m′) = d(w,m) + l; so the
right side is at most α^−d(w,m)·(u_m + u_m′/a)·x_w = α^−d(w,m′)·h_m′·x_w ≤ π_w·x_w, since h_m′ ≤ π_w·α^d(w,m′). The
first case is the same with one term. ∎

Without κ ≥ 0 the multipliers still bound the loss from below; but T is no mechanism then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, channel_of
from utmost.channel.channel import trusted_channel
from utmost.consumer.loss_classes import Exacts
from utmost.errors import InputError
from utmost.exact import Level, Number, sign
from utmost.spaces import Label, Space


def binary_mechanism(space: Space, level: Level) -> Channel:
    """T of FMPD23 Cor. 9, on two secrets: tells the truth with probability 1/(1+β), β = α^d. Best for every loss.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> print(binary_mechanism(line(2), alpha("1/2")))
         0    1
    0  2/3  1/3
    1  1/3  2/3
    """
    if len(space) != 2:
        raise InputError(
            f"space must have 2 points here, got {len(space)}: only there one mechanism is best for all", "space"
        )
    first, second = space.labels
    return trusted_channel(space.labels, (first, second), isolating(space, level, first).rows)


def nearest(space: Space, label: Label) -> Label:
    """The nearest other secret, the first of those that tie."""
    point = space.position(label)
    others = [x for x in range(len(space)) if x != point]
    if not others:
        raise InputError("space must have at least 2 points, got 1: nothing can be told apart there", "space")
    return space.labels[min(others, key=lambda x: space.distance(point, x))]


def closest_pair(space: Space) -> tuple[Label, Label]:
    """Two secrets at the least distance of all."""
    pairs = list(combinations(range(len(space)), 2))
    if not pairs:
        raise InputError("space must have at least 2 points, got 1: nothing can be told apart there", "space")
    x, z = min(pairs, key=lambda pair: space.distance(*pair))
    return space.labels[x], space.labels[z]


def isolating(space: Space, level: Level, label: Label) -> Channel:
    """Tells whether the secret is `label` or not, as loudly as its nearest neighbour allows.

    Row `label` is (1, β)/(1+β), every other one (β, 1)/(1+β), with β = α^d and d the distance to the nearest other
    secret; so ratios are 1 or β^±1 at distance ≥ d, and it is private. On {label, nearest} it is T, so for every loss
    on those two, lifted, it is universally optimal (FMPD23 Thm 6(5)). With the closest pair of all it is K of Thm 10,
    whose rows there are printed 1/n times too small: k + j = n(1+β). On discrete spaces it is K_A and K_B of §VI-B.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> print(isolating(line(3), alpha("1/2"), 0))
         0  not 0
    0  2/3    1/3
    1  1/3    2/3
    2  1/3    2/3
    """
    beta = level.power(_gap(space, label))
    loud, quiet = 1 / (1 + beta), beta / (1 + beta)
    rows = np.empty((len(space), 2), dtype=object)
    rows[:] = [(loud, quiet) if x == label else (quiet, loud) for x in space.labels]
    return trusted_channel(space.labels, (label, f"not {label}"), rows)


def _gap(space: Space, label: Label) -> Number:
    return space.distance(space.position(label), space.position(nearest(space, label)))


def pair_loss(space: Space, first: Label, second: Label) -> Exacts:
    """Two actions, "it is `first`" and "it is `second`": 0 where right, else 1.

    With the closest pair of all this is m(d(x, a(w))) for m(t) = [t ≥ least distance]: monotone in any metric, which
    the lifted loss that the proof of FMPD23 Thm 10 uses is not. They differ by a constant at each secret, so the same
    mechanisms are best for both.
    """
    rows = np.empty((len(space), 2), dtype=object)
    rows[:] = [(Fraction(x != first), Fraction(x != second)) for x in space.labels]
    return rows


def pulled_back(mechanism: Channel | Mechanism, mapping: Mapping[Label, Label], space: Space) -> Channel:
    """The mechanism on `space` that looks at mapping[x] only: row x is the mechanism's row mapping[x].

    It is of the space's type if the mapping brings no two secrets further apart. With the Hamming weight as the
    mapping, hamming:3 → line:4, and the geometric mechanism, it is K of FMPD23 Fig. 8.
    """
    source = channel_of(mechanism)
    missing = [x for x in space.labels if x not in mapping]
    if missing:
        raise InputError(
            f"mapping must say where each point of {space.name} goes, got none for {len(missing)} of them", "mapping"
        )
    images = [mapping[x] for x in space.labels]
    unknown = [x for x in images if x not in source.inputs]
    if unknown:
        raise InputError(f"mapping must lead to inputs of the mechanism, got {len(unknown)} that are not", "mapping")
    return trusted_channel(space.labels, source.outputs, source.rows[[source.inputs.index(x) for x in images]])


@dataclass(frozen=True, slots=True)
class TreeProof:
    """No private mechanism on the tree costs less than `loss` = Σ u under the prior; `multipliers` is u."""

    loss: Number
    multipliers: tuple[Number, ...]


def tree_mechanism(space: Space, level: Level) -> Channel:
    """T[x,y] = κ_y·α^d(x,y) on a tree; outputs with κ_y = 0 are left out. Refused where some κ_y < 0.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import graph
    >>> print(tree_mechanism(graph([("c", "x"), ("c", "y"), ("c", "z")]), alpha("1/2")))
         x    y    z
    c  1/3  1/3  1/3
    x  2/3  1/6  1/6
    y  1/6  2/3  1/6
    z  1/6  1/6  2/3
    """
    factors = _factors(space, level)
    weights: list[Number] = [Fraction(1)] * len(space)
    for (x, z), a in factors.items():
        for end in (x, z):
            weights[end] = weights[end] - a / (1 + a)
    if any(sign(weight) < 0 for weight in weights):
        raise InputError(
            f"{space.name} has no geometric mechanism at this level: an answer would need a negative weight; "
            "with edges of length 1, alpha must be at most 1/(largest degree - 1)"
        )
    outputs = [y for y, weight in enumerate(weights) if weight]
    rows = _kernel(space, level)[:, outputs] * np.array([weights[y] for y in outputs], dtype=object)
    return trusted_channel(space.labels, (space.labels[y] for y in outputs), rows)


def binary_proof(space: Space, level: Level, prior: Sequence[Number]) -> TreeProof:
    """A lower bound of the ℓ_bin loss on a tree, which `tree_mechanism` attains where there is one; any 0 < α < 1."""
    gains = [max(column) for column in _joint(space, level, prior)]
    multipliers = tuple(p - v for p, v in zip(prior, _inverse_kernel_product(space, level, gains), strict=True))
    return TreeProof(sum(multipliers, Fraction(0)), multipliers)


def nib_proof(space: Space, level: Level, prior: Sequence[Number]) -> TreeProof:
    """A lower bound of the ℓ_nib loss on a tree, which `tree_mechanism` attains where there is one; any 0 < α < 1.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> [str(u) for u in nib_proof(line(4), alpha("1/2"), [Fraction(1, 4)] * 4).multipliers]
    ['0', '1/24', '1/24', '0']
    """
    multipliers = _inverse_kernel_product(space, level, [min(column) for column in _joint(space, level, prior)])
    return TreeProof(sum(multipliers, Fraction(0)), multipliers)


def _joint(space: Space, level: Level, prior: Sequence[Number]) -> Matrix:
    """π_w·α^d(w,k), a row for each k."""
    if len(prior) != len(space):
        raise InputError(f"prior must have {len(space)} weights, one for each secret, got {len(prior)}", "prior")
    weights = np.empty(len(prior), dtype=object)
    weights[:] = prior
    joint: Matrix = _kernel(space, level) * weights[None, :]
    return joint


def _kernel(space: Space, level: Level) -> Matrix:
    powers = {d: level.power(d) for d in set(space.distances.ravel())}
    kernel = np.empty((len(space), len(space)), dtype=object)
    for index, distance in np.ndenumerate(space.distances):
        kernel[index] = powers[distance]
    return kernel


def _factors(space: Space, level: Level) -> dict[tuple[int, int], Number]:
    """a_e for each edge of a tree."""
    if not level.is_inner:
        raise InputError("level must have 0 < alpha < 1 here: at 0 everything is told, at 1 nothing", "level")
    if len(space.edges) != len(space) - 1:
        raise InputError(f"{space.name} must be a tree: {len(space)} points need {len(space) - 1} generating pairs")
    return {(x, z): level.power(space.distance(x, z)) for x, z in space.edges}


def _inverse_kernel_product(space: Space, level: Level, heights: Sequence[Number]) -> tuple[Number, ...]:
    """K⁻¹h: on a tree each edge e = (x, z) adds (a²·h_x − a·h_z)/(1−a²) at x, and likewise at z, to h itself."""
    result = list(heights)
    for (x, z), a in _factors(space, level).items():
        scale = a / (1 - a * a)
        for this_end, other_end in ((x, z), (z, x)):
            result[this_end] = result[this_end] + scale * (a * heights[this_end] - heights[other_end])
    return tuple(result)
