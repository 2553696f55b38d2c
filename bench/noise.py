"""Exact noise beside its own random bits and beside peers: `python bench/noise.py` prints the tables.

The limit of a row of rational weights is one exact division a weight, that of a row of irrational ones one ball of 192
bits a weight: less cannot be known of the law that is drawn.
"""

from __future__ import annotations

import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import measuring
from measuring import QUICK, Blocks, Figure, Measurement, Measurements, Section, ratio

DRAWS = 10**4 if QUICK else 10**6
PEER_DRAWS = 10**2 if QUICK else 10**4  # of the peer that takes microseconds a draw
ROW_WEIGHTS = 100 if QUICK else 10**4
CHANNEL_SIZE = 20 if QUICK else 1000
LEVELS = ("1", "0.1", "0.01", "0.001", "0.000001")
UTMOST, AES, LAPLACE, OPENDP = (
    "utmost, truncated geometric, exact",
    "AES-256-CTR, 8 bytes a draw",
    "numpy `Generator.laplace`, not private",
    "OpenDP, vector Laplace on integers",
)
VARIANCES = {"100": 100, "10⁶": 10**6}  # of the discrete Gaussian, by their names
GAUSSIAN, NORMAL, OPENDP_GAUSSIAN = (
    "utmost, discrete Gaussian, exact",
    "numpy `Generator.normal`, not private",
    "OpenDP, vector Gaussian on integers",
)


def best_time(task: Any, repeats: int = 9) -> Measurement:
    """Least seconds of a few runs."""
    return {"seconds": measuring.best_time(task, repeats)[0]}


def counter_mode(folder: Path) -> Measurement:
    """AES-256-CTR alone: 8 bytes a draw, into memory that is already there."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()
    zeros, buffer = bytes(8 * DRAWS), bytearray(8 * DRAWS + 16)
    return best_time(lambda: cipher.update_into(zeros, buffer))


def laplace(folder: Path) -> Measurement:
    """numpy's Laplace noise in doubles, which is not private: its low bits identify the secret."""
    import numpy as np

    generator = np.random.default_rng()
    return best_time(lambda: generator.laplace(0.0, 10.0, DRAWS))


def opendp(folder: Path) -> Measurement:
    """OpenDP's exact discrete Laplace on a vector, scaled to as many draws."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement, counts = dp.m.make_laplace(*space, scale=10.0), [500_000] * PEER_DRAWS
    return {"seconds": best_time(lambda: measurement(counts), 3)["seconds"] * DRAWS / PEER_DRAWS}


def truncated(epsilon: str) -> Measurement:
    """The truncated geometric mechanism: a million counts, each with noise of its own."""
    import numpy as np

    import utmost as ut

    mechanism, counts = ut.geometric(10**6, ut.epsilon(epsilon)), np.full(DRAWS, 500_000)
    mechanism.draw(counts[:1])
    return best_time(lambda: mechanism.draw(counts))


def discrete_gaussian(variance: int) -> Measurement:
    """A million exact draws of the discrete Gaussian."""
    from utmost.noise.gaussian import gaussian_noise

    gaussian_noise(variance, 1)
    return best_time(lambda: gaussian_noise(variance, DRAWS))


def normal(variance: int) -> Measurement:
    """numpy's normal noise in doubles, which is not private."""
    import numpy as np

    generator, deviation = np.random.default_rng(), math.sqrt(variance)
    return best_time(lambda: generator.normal(0.0, deviation, DRAWS))


def opendp_gaussian(variance: int) -> Measurement:
    """OpenDP's exact discrete Gaussian on a vector of 64-bit integers, scaled to as many draws."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    measurement, counts = dp.m.make_gaussian(*space, scale=math.sqrt(variance)), [500_000] * PEER_DRAWS
    return {"seconds": best_time(lambda: measurement(counts), 3)["seconds"] * DRAWS / PEER_DRAWS}


def variance_tables(variance: int) -> Measurement:
    """The tables of a variance, from nothing."""
    from utmost.noise import gaussian

    def fill() -> None:
        for value in vars(gaussian).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()
        gaussian.gaussian_tables(variance)

    return best_time(fill, 3)


def level_tables(folder: Path) -> Measurement:
    """The tables of a level."""
    import utmost as ut
    from utmost.noise.geometric import lattice

    return best_time(lambda: lattice.__wrapped__(ut.epsilon("0.1")), 3)


def row(kind: str) -> Measurement:
    """A row of weights made ready for draws."""
    import utmost as ut
    from utmost.noise import row_sampler

    weights: Any = [Fraction(1, ROW_WEIGHTS)] * ROW_WEIGHTS
    if kind != "uniform":
        level = ut.alpha("1/2") if kind == "α = 1/2" else ut.epsilon("0.1")
        weights = ut.geometric(ROW_WEIGHTS - 1, level).law(ROW_WEIGHTS // 2)
    return best_time(lambda: row_sampler(weights), 3)


def exact_divisions(count: int) -> Measurement:
    """The limit for rational weights."""
    weights = [Fraction(2 * (k % 1000 + 1), 1000 * 1001) for k in range(count)]
    return best_time(lambda: [(weight.numerator << 64) // weight.denominator for weight in weights], 3)


def ball_exponentials(folder: Path) -> Measurement:
    """The limit for irrational weights."""
    from flint import arb, ctx

    with ctx.workprec(192):
        return best_time(lambda: [(arb(-k) / 10).exp() for k in range(ROW_WEIGHTS)], 3)


def channel_draws(folder: Path) -> Measurement:
    """A whole channel made ready for draws, and 10^5 draws from it, each for another input."""
    import numpy as np

    from utmost.channel import Channel
    from utmost.noise import channel_sampler, draw_channel

    size = CHANNEL_SIZE
    weights = [Fraction(2 * (y + 1), size * (size + 1)) for y in range(size)]
    entries = np.array([weights[x:] + weights[:x] for x in range(size)], dtype=object)
    channel = Channel(tuple(range(size)), tuple(range(size)), entries)
    seconds, laws = measuring.best_time(lambda: channel_sampler(channel), 1)
    inputs = np.arange(DRAWS // 10) % size
    return {"seconds": seconds, "draws": best_time(lambda: draw_channel(laws, inputs), 3)["seconds"]}


def planar(folder: Path) -> Measurement:
    """Planar noise at ε·step = 0.1."""
    import utmost as ut
    from utmost.noise.planar import planar_noise

    return best_time(lambda: planar_noise(ut.epsilon("0.1"), 1, DRAWS), 3)


def draw_rows(measurements: Measurements, ours: str, peers: list[str]) -> list[list[str]]:
    """Rows of a table: name, nanoseconds a draw, utmost's time as a ratio of it."""
    rows = []
    for name in (ours, *peers):
        measurement, label = measurements[name], name.partition(" at ")[0]
        if "missing" in measurement:
            rows.append([label, measurement["missing"], ""])
            continue
        ratio_text = f"{measurements[ours]['seconds'] / measurement['seconds']:.2g}×"
        rows.append([label, f"{measurement['seconds'] / DRAWS * 1e9:.2f} ns", ratio_text])
    return rows


def at_variance(name: str, variance: str) -> str:
    """The task of a library at a variance."""
    return f"{name} at σ² = {variance}"


def gaussian_rows(measurements: Measurements) -> list[list[str]]:
    """The same for the discrete Gaussian, after its variance."""
    rows = []
    for variance in VARIANCES:
        ours, *peers = (at_variance(name, variance) for name in (GAUSSIAN, NORMAL, OPENDP_GAUSSIAN))
        rows += [[variance, *row] for row in draw_rows(measurements, ours, [AES, *peers])]
    return rows


def setup_rows(measurements: Measurements) -> list[list[str]]:
    """Rows of the table of set-ups: what, time, limit, ratio, the most that was asked for."""
    channel = measurements["channel"]
    cases = [
        ("tables of a level, ε = 0.1", measurements["level tables"], None, ""),
        *((f"tables of σ² = {name}", measurements[f"tables, σ² = {name}"], None, "") for name in VARIANCES),
        ("a row of 10⁴ weights, uniform", measurements["row, uniform"], "divisions, row", "≤ 0.5 s"),
        ("a row of 10⁴ weights, α = 1/2", measurements["row, α = 1/2"], "divisions, row", "≤ 0.5 s"),
        ("a row of 10⁴ weights, ε = 0.1", measurements["row, ε = 0.1"], "balls, row", "≤ 0.5 s"),
        ("a 1000 × 1000 channel", channel, "divisions, channel", ""),
        ("10⁵ draws from it, each for another input", {"seconds": channel["draws"]}, None, "≤ 0.5 s"),
        ("10⁶ planar draws, ε·step = 0.1", measurements["planar"], LAPLACE, "≤ 3 s"),
    ]
    limits = {None: "", "balls, row": "one ball a weight", LAPLACE: "numpy's Laplace, one axis"}
    rows = []
    for name, measurement, limit, target in cases:
        times = ["", ""] if limit is None else [
            f"{measurements[limit]['seconds']:.4f} s", measuring.ratio_text(measurement, measurements[limit], 1)
        ]  # fmt: skip
        limit_name = limits.get(limit, "one exact division a weight")
        rows.append([name, f"{measurement['seconds']:.3f} s", limit_name, *times, target])
    return rows


def report(measurements: Measurements) -> Blocks:
    """Draws, levels, set-ups."""
    levels = [[value, f"{measurements[f'ε = {value}']['seconds'] / DRAWS * 1e9:.1f} ns"] for value in LEVELS]
    return {
        "noise": measuring.markdown_table(
            ["what", "a draw", "utmost's time as a ratio of it"],
            draw_rows(measurements, UTMOST, [AES, LAPLACE, OPENDP]),
        ),
        "noise-levels": measuring.markdown_table(["ε", "a draw"], levels),
        "noise-gaussian": measuring.markdown_table(
            ["σ²", "what", "a draw", "utmost's time as a ratio of it"], gaussian_rows(measurements)
        ),
        "noise-setups": measuring.markdown_table(
            ["set-up or draw", "time", "limit", "its time", "ratio", "asked"], setup_rows(measurements)
        ),
    }


def gaussian_ratios(variance: str, aes: float, numpy: float, opendp: float) -> list[Figure]:
    """The draws at a variance beside their random words and beside the peers, with a ceiling each."""
    name, ours = f"discrete Gaussian draws, σ² = {variance}", at_variance(GAUSSIAN, variance)
    return [
        ratio(f"{name} ÷ AES", ours, AES, aes),
        ratio(f"{name} ÷ numpy's normal", ours, at_variance(NORMAL, variance), numpy),
        ratio(f"{name} ÷ OpenDP", ours, at_variance(OPENDP_GAUSSIAN, variance), opendp),
    ]


SECTION = Section(
    "noise",
    {
        UTMOST: lambda _: truncated("0.1"),
        AES: counter_mode,
        LAPLACE: laplace,
        OPENDP: opendp,
        **{f"ε = {value}": lambda _, value=value: truncated(value) for value in LEVELS},
        **{
            at_variance(library, name): lambda _, measure=measure, variance=variance: measure(variance)
            for library, measure in (
                (GAUSSIAN, discrete_gaussian),
                (NORMAL, normal),
                (OPENDP_GAUSSIAN, opendp_gaussian),
            )
            for name, variance in VARIANCES.items()
        },
        "level tables": level_tables,
        **{
            f"tables, σ² = {name}": lambda _, variance=variance: variance_tables(variance)
            for name, variance in VARIANCES.items()
        },
        **{f"row, {kind}": lambda _, kind=kind: row(kind) for kind in ("uniform", "α = 1/2", "ε = 0.1")},
        "divisions, row": lambda _: exact_divisions(ROW_WEIGHTS),
        "balls, row": ball_exponentials,
        "channel": channel_draws,
        "divisions, channel": lambda _: exact_divisions(CHANNEL_SIZE**2),
        "planar": planar,
    },
    [
        ratio("geometric draws ÷ AES", UTMOST, AES, 10),
        ratio("geometric draws ÷ numpy's Laplace", UTMOST, LAPLACE, 0.6),
        ratio("geometric draws ÷ OpenDP", UTMOST, OPENDP, 0.002),
        ratio("geometric draws, ε = 10⁻⁶ ÷ AES", "ε = 0.000001", AES, 36),
        *gaussian_ratios("100", 10, 0.7, 0.001),
        *gaussian_ratios("10⁶", 20, 2, 0.002),
        ratio("row, uniform ÷ divisions", "row, uniform", "divisions, row", 30),
        ratio("row, α = 1/2 ÷ divisions", "row, α = 1/2", "divisions, row", 100),
        ratio("row, ε = 0.1 ÷ balls", "row, ε = 0.1", "balls, row", 60),
        ratio("channel ÷ divisions", "channel", "divisions, channel", 40, quick=False),
        ratio("planar draws ÷ numpy's Laplace", "planar", LAPLACE, 14),
    ],
    report,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
