"""The entropy source: AES-CTR as the standard has it, fresh for every thread and process."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import fixed_stream
from utmost.noise import entropy, system_source
from utmost.noise.entropy import BLOCK_BYTES, RESEED_BYTES, SEED_BYTES, Keystream

# NIST SP 800-38A, F.5.5 CTR-AES256.Encrypt
KEY = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
COUNTER = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
PLAINTEXT = (
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CIPHERTEXT = (
    "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
    "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
)


def test_the_keystream_is_that_of_the_standard() -> None:
    words = Keystream(lambda size: bytes.fromhex(KEY + COUNTER)).words(8)
    assert words.tobytes() == bytes(
        a ^ b for a, b in zip(bytes.fromhex(PLAINTEXT), bytes.fromhex(CIPHERTEXT), strict=True)
    )


@given(st.lists(st.integers(0, 300), max_size=6), st.integers(0, 2**300))
@settings(max_examples=50)
def test_words_asked_for_in_pieces_are_the_words_asked_for_at_once(sizes: list[int], seed: int) -> None:
    stream = fixed_stream(seed)
    pieces = [stream.words(size) for size in sizes]
    assert np.array_equal(np.concatenate([np.empty(0, np.uint64), *pieces]), fixed_stream(seed).words(sum(sizes)))


def test_a_long_request_is_the_ciphers_keystream_block_after_block() -> None:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    seed = os.urandom(SEED_BYTES)
    size = 2 * BLOCK_BYTES + 8 * 5
    expected = Cipher(algorithms.AES(seed[:32]), modes.CTR(seed[32:])).encryptor().update(bytes(size))
    assert Keystream(lambda _: seed).words(size // 8).tobytes() == expected


def test_a_new_key_comes_after_the_stated_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = [os.urandom(SEED_BYTES) for _ in range(3)]
    monkeypatch.setattr(entropy, "RESEED_BYTES", 64)
    stream, queue = Keystream(lambda _: queue.pop(0)), list(seeds)
    stream_bytes = stream.words(20).tobytes()
    assert not queue
    bytes_by_seed = [Keystream(lambda _, seed=seed: seed).words(8).tobytes() for seed in seeds]
    assert stream_bytes == b"".join(bytes_by_seed)[:160]


def test_the_stated_number_of_bytes_is_64_mebibytes() -> None:
    requested_sizes: list[int] = []
    stream = Keystream(lambda size: requested_sizes.append(size) or os.urandom(size))  # type: ignore[func-returns-value]
    for _ in range(RESEED_BYTES // BLOCK_BYTES):
        stream.words(BLOCK_BYTES // 8)
    assert (requested_sizes, RESEED_BYTES) == ([SEED_BYTES], 64 * 2**20)
    stream.words(1)
    assert requested_sizes == [SEED_BYTES, SEED_BYTES]


def test_threads_never_share_words() -> None:
    """Of 16 000 words two are equal by chance with probability below 1e-11."""
    source, taken = system_source(), []
    barrier = threading.Barrier(8)

    def take_words() -> None:
        barrier.wait()
        taken.extend(int(word) for _ in range(20) for word in source.words(100))

    threads = [threading.Thread(target=take_words) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == len(taken) == 16_000


FORKING_PROGRAM = """
import json, os
from utmost.noise import system_source
source = system_source()
words = lambda: [int(word) for word in source.words(50)]
before = words()
lines = []
for _ in range(2):
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        inner = os.fork()  # a grandchild, too
        with os.fdopen(os.dup(write), "w") as pipe:
            pipe.write(json.dumps(words()) + "\\n")
        if inner:
            os.waitpid(inner, 0)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        lines += [json.loads(line) for line in pipe]
    os.wait()
print(json.dumps([before, words(), *lines]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forked_processes_never_repeat_words() -> None:
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING_PROGRAM], capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    word_lists = json.loads(process.stdout)
    assert len(word_lists) == 6  # the parent twice, two children, two grandchildren
    assert len({word for words in word_lists for word in words}) == 300


def test_nothing_can_be_handed_to_the_systems_source() -> None:
    assert not inspect.signature(system_source).parameters
    assert system_source() is system_source()


def worst_bit_deviation(words: np.ndarray) -> float:
    """How many standard deviations the worst of the 64 bits is away from a half."""
    ones = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
    return float(np.abs(ones - 0.5).max() * 2 * len(words) ** 0.5)


def test_every_bit_is_unbiased() -> None:
    """Beyond 7 deviations of 64 bits: a false alarm with probability below 2e-10. A bit 5 % wrong is 22 away."""
    words = system_source().words(200_000)
    assert worst_bit_deviation(words) < 7
    biased = words | system_source().words(200_000) % 20 // 19  # its last bit is 1 with probability 0.525
    assert worst_bit_deviation(biased) > 7
