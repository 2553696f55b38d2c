"""Some readings of the interior point: their entries, and the slacks and multipliers of the pairs they work with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from utmost.design.interior_point.exact_bounds import SHRINK_BITS
from utmost.design.interior_point.model import Model
from utmost.design.interior_point.orbits import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Readings `first`, `first` + 1, …; matrices are readings by points.

    A working pair is z[low] − ratio·z[high] = t ≥ 0 with multiplier v; `low` and `high` are places in the matrix, read
    row by row, and pairs are sorted by `low`. Every place also makes a pair with itself, of ratio 0: z ≥ 0. The other
    pairs imply that, but its multipliers are what reduced costs exceed u by, so that rounding does not spoil a bound.
    """

    first: int
    costs: Floats
    z: Floats
    low: Ints
    high: Ints
    ratio: Floats
    t: Floats
    v: Floats

    @property
    def energy(self) -> float:
        """Σ v·t."""
        return float(self.v @ self.t)

    @property
    def energies(self) -> Floats:
        """Σ v·t of each reading."""
        products = self.v * self.t
        return np.add.reduceat(products, np.searchsorted(self.low, self.z.shape[1] * np.arange(len(self.z))))

    def working_pairs(self) -> Iterator[tuple[Ints, Ints, Floats]]:
        """(low, high, v) of the pairs of two points, for each reading."""
        size = self.z.shape[1]
        pairs = np.flatnonzero(self.low != self.high)
        low, high, v = self.low[pairs], self.high[pairs], self.v[pairs]
        for first, stop in pairwise(np.searchsorted(low, size * np.arange(len(self.z) + 1))):
            yield low[first:stop] % size, high[first:stop] % size, v[first:stop]

    def pull(self, v: Floats) -> Floats:
        """What multipliers v of the pairs add up to at each entry: the transpose of t as a function of z."""
        forward = np.bincount(self.low, weights=v, minlength=self.z.size)
        forward -= np.bincount(self.high, weights=self.ratio * v, minlength=self.z.size)
        return np.asarray(forward.reshape(self.z.shape))

    def dual_minima(self, pull: Floats) -> Floats:
        """For each of `SHRINK_BITS` and each point the least reduced cost, as in `exact_bounds`; `pull` is Gᵀv."""
        shares = (2.0**-k if k else 0.0 for k in SHRINK_BITS)
        pull = pull - self.v[self.low == self.high].reshape(self.z.shape)
        return np.array([(self.costs - (1 - share) * pull).min(axis=0) for share in shares])

    def step(self, primal: float, dual: float, dz: Floats, dt: Floats, dv: Floats) -> Columns:
        """The columns after a step. Slacks are computed from entries, or where that cancels from their own changes."""
        z, changed = self.z + primal * dz, self.t + primal * dt
        flat = z.ravel()
        t = flat.take(self.low) - self.ratio * flat.take(self.high)
        return replace(self, z=z, t=np.where(t > changed / 2, t, changed), v=self.v + dual * dv)

    def pairs_near(self, model: Model, z: Floats, share: float) -> Ints:
        """Keys of the generating pairs that are not worked with and have less than a share of their slack at z."""
        size = z.shape[1]
        limits = model.ratios / (1 - share * (1 - model.ratios**2))
        starts = np.searchsorted(self.low, size * np.arange(len(z) + 1))
        keys, products = [], np.empty((size, size))
        for w, entries in enumerate(z):
            np.multiply(limits, entries, out=products)
            near = np.flatnonzero(products > entries[:, None]) + w * size * size
            known = slice(starts[w], starts[w + 1])
            keys.append(_missing_keys(near, self.low[known] * size + self.high[known] % size))
        return np.concatenate(keys)

    def reach(self, model: Model, keys: Ints, dz: Floats) -> float:
        """How far z can go along dz before one of these pairs has no slack."""
        low, high, ratio = self._pairs(model, keys)
        z, change = self.z.ravel(), dz.ravel()
        return max_step(z[low] - ratio * z[high], change[low] - ratio * change[high])

    def with_pairs(self, model: Model, keys: Ints, target: float) -> Columns:
        """More working pairs, with v·t = target."""
        low, high, ratio = self._pairs(model, keys)
        z = self.z.ravel()
        t = z[low] - ratio * z[high]
        low, high = np.concatenate([self.low, low]), np.concatenate([self.high, high])
        order = np.argsort(low, kind="stable")
        ratio, t = np.concatenate([self.ratio, ratio]), np.concatenate([self.t, t])
        v = np.concatenate([self.v, target / t[len(self.v) :]])
        return replace(self, low=low[order], high=high[order], ratio=ratio[order], t=t[order], v=v[order])

    def _pairs(self, model: Model, keys: Ints) -> tuple[Ints, Ints, Floats]:
        """(low, high, ratio) of pairs with keys low·n + the point of high."""
        size = len(model.ratios)
        low, high = np.divmod(keys, size)
        return low, low - low % size + high, model.ratios[low % size, high]


def _missing_keys(keys: Ints, known: Ints) -> Ints:
    """Those of `keys` that are not among the known ones."""
    known = np.sort(known)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.asarray(keys[known[places] != keys])


def first_columns(model: Model, first: int, stop: int) -> Columns:
    """Readings first … stop − 1 of the first mechanism, with its pairs, not yet with multipliers."""
    size, count = len(model.orbit), stop - first
    low, high = (np.concatenate([np.arange(size), ends]) for ends in (model.low, model.high))
    order = np.argsort(low, kind="stable")
    offsets = size * np.arange(count)[:, None]
    z = model.start[first:stop]
    low, high = (offsets + low[order]).ravel(), (offsets + high[order]).ravel()
    ratio = model.ratios[low % size, high % size]
    t = z.ravel()[low] - ratio * z.ravel()[high]
    return Columns(first, model.costs[first:stop], z, low, high, ratio, t, np.zeros_like(t))


def max_step(values: Floats, changes: Floats) -> float:
    """How far positive values can be changed before one of them is 0."""
    worst = float(np.min(changes / values, initial=0.0))
    return -1 / worst if worst < 0 else np.inf
