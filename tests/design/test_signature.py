"""Signatures and the lemmas of GRS12 §5.3–5.5."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, legal_consumers, rational_levels
from utmost.channel import Channel, channel, deterministic, mix
from utmost.consumer import Consumer, losses, priors
from utmost.design import by_program, lemmas, optimal, remap_of, signature
from utmost.design.count_mechanism import intervals, remapped_channel, signature_of_remap, signature_text
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import geometric
from utmost.spaces import line

HALF = alpha("1/2")
FIGURE_3B = ("↓0↑↑↑↑", "↓0S↑↑↑", "↓0↓↑↑↑", "↓0↓↓↑↑", "↓0↓↓↓↑")
FIGURE_4 = ("↓↑↑↑↑↑", "↓↓↑↑↑↑", "↓↓↓↑↑↑", "↓↓↓↓↑↑", "↓↓↓↓↓↑")


def failing_entries(symbols: tuple[str, ...]) -> dict[str, tuple[int, int] | None]:
    return {finding.lemma: finding.index for finding in lemmas(symbols) if not finding.holds}


def test_figure_4_is_the_signature_of_the_geometric_mechanism() -> None:
    assert signature(geometric(5, HALF).channel(), HALF) == FIGURE_4
    assert signature(geometric(5, epsilon("0.1")).channel(), epsilon("0.1")) == FIGURE_4
    assert not failing_entries(FIGURE_4)
    assert remap_of(FIGURE_4) == [0, 1, 2, 3, 4, 5]


def test_figure_3b_is_the_signature_of_the_optimal_mechanism() -> None:
    reader = Consumer(priors.parse("1/4,0,1/4,0,1/4,1/4", 6), losses.power("1.5"))
    design = optimal(line(6), HALF, reader)
    assert signature(design.channel, HALF) == FIGURE_3B
    assert not failing_entries(FIGURE_3B)
    assert intervals(FIGURE_3B) == [(0, 0, 0), (1, 2, 2), (3, 3, 3), (4, 4, 4), (5, 5, 5)]


@given(legal_consumers(2, 5, strict=True), rational_levels())
@settings(max_examples=30)
def test_optimal_vertex_mechanisms_obey_every_lemma_and_spell_their_remap(reader: Consumer, level: Level) -> None:
    """The program's basic optimum knows nothing of signatures or of the geometric mechanism."""
    size = reader.prior.size
    vertex = by_program(line(size), level, reader).channel
    symbols = signature(vertex, level)
    assert not failing_entries(symbols)
    remap = deterministic(remap_of(symbols), range(size), range(size))
    assert geometric(size - 1, level).channel().then(remap) == vertex


@given(st.lists(st.integers(0, 4), min_size=5, max_size=5), rational_levels())
@settings(max_examples=40)
def test_the_signature_of_a_remap_is_that_of_its_mechanism(remap: list[int], level: Level) -> None:
    assert signature_of_remap(remap) == signature(remapped_channel(level, remap), level)


@given(channels(inputs=5, outputs=4), rational_levels())
@settings(max_examples=40)
def test_every_private_mechanism_obeys_lemma_5_3(remap: Channel, level: Level) -> None:
    symbols = signature(geometric(4, level).channel().then(remap), level)
    assert not {"5.3(a)", "5.3(b)"} & failing_entries(symbols).keys()


@pytest.mark.parametrize(
    ("symbols", "lemma", "entry"),
    [
        (("↓0↑", "↓↑↑"), "5.3(a)", (0, 1)),
        (("↓↓0", "↓↑0"), "5.3(b)", (0, 0)),
        (("↓↑S", "↓↓↑"), "5.5", (0, 2)),
        (("SS↑", "↓↓↑"), "5.5", (0, 1)),
        (("↓↓↑", "↓↑↑"), "5.6(a)", (1, 1)),
        (("↓↑↑", "↓↑↑"), "5.6(b)", (1, 0)),
        (("↓S↑", "↓↓↑"), "5.8", (0, 1)),
        (("↓↓↑", "↓↑↑"), "5.9(P1)", (1, 1)),
        (("↑↑↑", "↓↓↑"), "5.9(P2)", (0, 0)),
        (("↓↑↑", "↓↑↑", "↓↓↑"), "5.9(P3)", (2, 1)),
    ],
)
def test_a_lemma_that_fails_names_the_entry(symbols: tuple[str, ...], lemma: str, entry: tuple[int, int]) -> None:
    assert failing_entries(symbols)[lemma] == entry


def test_a_missing_end_of_the_last_column_is_detected() -> None:
    assert failing_entries(("↓↑", "↓↓"))["5.9(P2)"] == (1, 1)


def test_a_signature_needs_a_private_mechanism_and_an_inner_level() -> None:
    with pytest.raises(InputError, match="inputs 0 and 1, output 0"):
        signature(geometric(3, alpha("1/3")).channel(), HALF)
    for end in (0, 1):
        with pytest.raises(InputError, match="0 < alpha < 1"):
            signature(geometric(3, HALF).channel(), alpha(end))
    with pytest.raises(InputError, match="exact"):
        signature(channel([[0.5, 0.5], [0.5, 0.5]]), HALF)


def test_no_remap_is_read_off_a_signature_that_has_none() -> None:
    mechanism = mix(geometric(3, HALF).channel(), channel([["1/4"] * 4] * 4), "1/2")
    with pytest.raises(InputError, match=r"Lemma 5\.9"):
        remap_of(signature(mechanism, HALF))


def test_a_signature_is_printed_as_in_the_paper() -> None:
    text = signature_text(("↓↑↑", "↓↓↑"), range(3), range(3))
    assert text.splitlines() == ["   0 1 2", " 0 ↓ ↑ ↑", " 1 ↓ ↓ ↑"]


def test_inputs_in_another_order_have_the_same_signature() -> None:
    mechanism = geometric(3, HALF).channel()
    assert signature(mechanism.restrict([2, 0, 3, 1]), HALF) == signature(mechanism, HALF)
