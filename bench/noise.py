"""Exact noise beside its own random bits and beside peers: functions for bench/run.py, or run by itself.

Every time is in seconds, the best of a few repeats in this run. `python bench/noise.py` prints the tables.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

DRAWS = 10**6
PEER_DRAWS = 10**4  # of the peer that takes microseconds a draw


def best_time(task: Callable[[], Any], repeats: int = 9) -> float:
    """Least seconds of a few runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def counter_mode() -> float:
    """AES-256-CTR alone: 8 bytes a draw, into memory that is already there."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()
    zeros, buffer = bytes(8 * DRAWS), bytearray(8 * DRAWS + 16)
    return best_time(lambda: cipher.update_into(zeros, buffer))


def laplace() -> float:
    """numpy's Laplace noise in doubles, which is not private: its low bits identify the secret."""
    import numpy as np

    generator = np.random.default_rng()
    return best_time(lambda: generator.laplace(0.0, 10.0, DRAWS))


def opendp() -> float | None:
    """OpenDP's exact discrete Laplace on a vector, scaled to as many draws; None if it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement, counts = dp.m.make_laplace(*space, scale=10.0), [500_000] * PEER_DRAWS
    return best_time(lambda: measurement(counts), 3) * DRAWS / PEER_DRAWS


def truncated(epsilon: str = "0.1") -> float:
    """The truncated geometric mechanism: a million counts, each with noise of its own."""
    import numpy as np

    import utmost as ut

    mechanism, counts = ut.geometric(10**6, ut.epsilon(epsilon)), np.full(DRAWS, 500_000)
    mechanism.draw(counts[:1])
    return best_time(lambda: mechanism.draw(counts))


def draws() -> dict[str, Any]:
    """Seconds for a million draws at ε = 0.1, beside the cipher and the peers."""
    return {"seconds": truncated(), "counter mode": counter_mode(), "laplace": laplace(), "opendp": opendp()}


def levels() -> dict[str, Any]:
    """Seconds for a million draws by ε: small ones take a word for each digit more."""
    return {value: truncated(value) for value in ("1", "0.1", "0.01", "0.001", "0.000001")}


def setups() -> dict[str, Any]:
    """Seconds to set up: the tables of a level, rows of 10^4 weights, a 1000 × 1000 channel and 10^5 draws from it."""
    from fractions import Fraction

    import numpy as np

    import utmost as ut
    from utmost.channel import Channel
    from utmost.noise import channel_sampler, draw_channel, row_sampler
    from utmost.noise.geometric import lattice
    from utmost.noise.planar import planar_noise

    uniform, size = [Fraction(1, 10**4)] * 10**4, 1000
    rational, irrational = (ut.geometric(10**4 - 1, level).law(5000) for level in (ut.alpha("1/2"), ut.epsilon("0.1")))
    row = [Fraction(2 * (y + 1), size * (size + 1)) for y in range(size)]
    entries = np.array([row[x:] + row[:x] for x in range(size)], dtype=object)
    start = time.perf_counter()
    laws = channel_sampler(Channel(tuple(range(size)), tuple(range(size)), entries))
    channel, inputs = time.perf_counter() - start, np.arange(10**5) % size
    return {
        "level, ε = 0.1": best_time(lambda: lattice.__wrapped__(ut.epsilon("0.1")), 3),
        "row, uniform": best_time(lambda: row_sampler(uniform), 3),
        "row, α = 1/2": best_time(lambda: row_sampler(rational), 3),
        "row, ε = 0.1": best_time(lambda: row_sampler(irrational), 3),
        "channel 1000 × 1000": channel,
        "10^5 draws from it": best_time(lambda: draw_channel(laws, inputs), 3),
        "10^6 planar draws, ε·step = 0.1": best_time(lambda: planar_noise(ut.epsilon("0.1"), 1, DRAWS), 3),
    }


def draw_rows(seconds_by_sampler: dict[str, Any]) -> list[list[str]]:
    """Rows of a table: name, nanoseconds a draw, utmost's time as a ratio of it; from what `draws` returns."""
    names = {
        "seconds": "utmost, truncated geometric, exact",
        "counter mode": "AES-256-CTR, 8 bytes a draw",
        "laplace": "numpy Generator.laplace, not private",
        "opendp": "OpenDP, vector Laplace on integers",
    }
    return [
        [names[key], f"{seconds / DRAWS * 1e9:.2f} ns", f"{seconds_by_sampler['seconds'] / seconds:.4g}×"]
        for key, seconds in seconds_by_sampler.items()
        if seconds is not None
    ]


def main() -> None:
    """Measure and print."""
    for line in draw_rows(draws()):
        print(" | ".join(line))
    for value, seconds in levels().items():
        print(f"ε = {value} | {seconds / DRAWS * 1e9:.2f} ns")
    for name, seconds in setups().items():
        print(f"{name} | {seconds:.4f} s")


if __name__ == "__main__":
    main()
