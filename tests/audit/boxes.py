"""Black boxes with a known ε, correct and incorrect, for the audit to judge."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, channel
from utmost.exact import epsilon
from utmost.mechanisms import geometric
from utmost.noise import geometric_noise

STEPS_PER_UNIT = 1024


def correct_geometric(size, level):
    """The geometric mechanism of utmost, exact."""
    mechanism = geometric(size, level)
    return lambda secrets, _: mechanism.draw(secrets)


def laplace(rate):
    """Laplace noise of this rate on the grid of 1/1024: no float artefacts, ε is exactly `rate` for secrets 1 apart."""
    level = epsilon(Fraction(rate) / STEPS_PER_UNIT)
    return lambda secrets, _: np.asarray(secrets) + geometric_noise(level, len(secrets)) / STEPS_PER_UNIT


def wrong_clamp(size, level, reach=12):
    """Answers up to `reach` outside 0 … size are clamped; beyond that the box gives up and returns the truth."""

    def draw(secrets, _):
        truth = np.asarray(secrets)
        answers = truth + geometric_noise(level, len(truth))
        far = (answers < -reach) | (answers > size + reach)
        return np.where(far, truth, np.clip(answers, 0, size))

    return draw


def wrong_clamp_channel(size, level, reach=12) -> Channel:
    """The law of `wrong_clamp`, exact."""
    centre = (1 - level.alpha) / (1 + level.alpha)
    rows = []
    for x in range(size + 1):
        row = [Fraction(0)] * (size + 1)
        for y in range(-reach, size + reach + 1):
            row[min(max(y, 0), size)] += centre * level.power(abs(x - y))
        row[x] += 1 - sum(row)
        rows.append(row)
    return channel(rows)


def inverse_laplace(scale, generator):
    """Laplace noise by inverting its distribution in doubles: outputs that one secret alone can give."""

    def draw(secrets, _):
        u = generator.random(len(secrets)) - 0.5
        return np.asarray(secrets, dtype=float) - scale * np.sign(u) * np.log1p(-2 * np.abs(u))

    return draw


def gaussian(rho, part=1.0, seed=0):
    """Gaussian noise with `part` of the σ that has this ρ at distance 1, on the grid of 1/1024, from a fixed seed."""
    generator = np.random.default_rng(seed)
    sigma = part / math.sqrt(2 * Fraction(rho))

    def draw(secrets, _):
        return np.rint(generator.normal(secrets, sigma) * STEPS_PER_UNIT) / STEPS_PER_UNIT

    return draw
