"""A new mechanism is one module and one line of registration: a toy one is registered here and used by its name.

The toy tells the parity of a count through randomised response, and has an option that no other mechanism has.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from cli.conftest import utmost
from utmost.channel import Channel, deterministic, least_epsilon
from utmost.exact import Level
from utmost.mechanisms import registry, response
from utmost.mechanisms.mechanism_kind import (
    SIZE,
    BuiltMechanism,
    MechanismKind,
    Option,
    parse_position,
    parse_upper_end,
)
from utmost.spaces import line
from utmost.studio.designer.refinement import parse_mechanism

__all__ = ["utmost"]


def build(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    size = parse_upper_end(options["size"])
    counts, words = range(size + 1), options.get("words", "even,odd").split(",")
    coin = response(2, level)

    def channel() -> Channel:
        parity = deterministic([count % 2 for count in counts], list(counts), [0, 1])
        return parity.then(coin)

    return BuiltMechanism(
        "The toy mechanism",
        f"counts 0 to {size}",
        channel,
        lambda channel: least_epsilon(channel, line(len(channel.inputs))),
        lambda text: parse_position(text, size),
        lambda x, count: [words[answer] for answer in coin.draw([x % 2] * count)],
        level,
        {"words": words},
    )


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = MechanismKind("toy", (SIZE,), (Option("words", "A,B", "The words for even and odd."),), build)
    monkeypatch.setattr(registry, "MECHANISMS", (*registry.MECHANISMS, toy))


def test_a_new_mechanism_is_shown_with_its_epsilon_recomputed(utmost) -> None:
    document = utmost("mechanism", "toy", "--size", 2, "--epsilon", "1/2", "--words", "a,b", "--json").document
    assert (document["inputs"], document["outputs"], document["words"]) == ([0, 1, 2], [0, 1], ["a", "b"])
    assert document["epsilon"] == "1/2"
    assert "The toy mechanism. Rows: counts 0 to 2." in utmost("mechanism", "toy", "--size", 2, "--alpha", "1/2").out


def test_a_new_mechanism_is_sampled(utmost) -> None:
    result = utmost("mechanism", "toy", "--size", 9, "--alpha", "1/2", "--sample", 50, "--input", 3)
    assert set(result.out.split()) == {"even", "odd"}


def test_help_and_errors_know_the_new_mechanism(utmost) -> None:
    page = utmost("mechanism", "--help").out
    assert "staircase, toy, or a channel" in " ".join(page.split())
    assert "--words A,B" in page
    assert "did you mean toy?" in utmost("mechanism", "toys", "--alpha", "1/2").err
    surplus = utmost("mechanism", "geometric", "--size", 2, "--words", "a,b", "--alpha", "1/2")
    assert (surplus.code, surplus.err) == (2, "utmost: --words must not be given for geometric: it takes --size\n")
    assert "--size must be given for toy, got none" in utmost("mechanism", "toy", "--alpha", "1/2").err


def test_the_studio_compares_a_new_mechanism_that_a_size_determines() -> None:
    assert parse_mechanism("toy 4 1/2", "first").inputs == (0, 1, 2, 3, 4)


def test_the_page_on_mechanisms_names_every_mechanism() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    assert all(f"`{name.replace('-', '_')}(" in page for name in registry.names()[:-1])
