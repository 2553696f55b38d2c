"""FMPD23 Theorem 6, statement by statement, on given mechanisms and losses, each side decided.

L_M is the set of losses for which M is universally optimal in its type. "Trivial" is Def. A1's: one action is best
whatever the secret. With Def. 6's (the loss does not depend on the action) statement 3 fails: [[0, 1], [0, 1]] depends
on it, and the mechanism that tells nothing is universally optimal for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, choice
from utmost.channel.channel import trusted_channel
from utmost.consumer.loss_classes import is_trivial
from utmost.consumer.loss_operations import LossLike, lift_loss
from utmost.design.universal.decision import universally_optimal
from utmost.exact import Level
from utmost.spaces import Label, Space, sub_space


@dataclass(frozen=True, slots=True)
class Statement:
    """Two sides of a statement on one example, and whether they stand as the theorem says."""

    left: bool
    right: bool
    holds: bool


def trivial_is_optimal(space: Space, level: Level, loss: LossLike, mechanism: Channel) -> Statement:
    """(1) L* ⊆ L_M: if the loss is trivial (left), M is optimal for it (right)."""
    left = is_trivial(loss, len(space)).dominated
    right = universally_optimal(space, level, loss, mechanism).optimal
    return Statement(left, right, right or not left)


def refinement_keeps(space: Space, level: Level, loss: LossLike, mechanism: Channel, remap: Channel) -> Statement:
    """(2) M ⊑ M′ = M·R implies L_M ⊇ L_M′: if M′ is optimal (left), so is M (right)."""
    left = universally_optimal(space, level, loss, mechanism.then(remap)).optimal
    right = universally_optimal(space, level, loss, mechanism).optimal
    return Statement(left, right, right or not left)


def check_constant(space: Space, level: Level, loss: LossLike) -> Statement:
    """(3) L_𝕀 = L*: the mechanism that tells nothing is optimal (left) exactly for trivial losses (right); α < 1."""
    constant = trusted_channel(space.labels, (0,), np.full((len(space), 1), Fraction(1), dtype=object))
    left = universally_optimal(space, level, loss, constant).optimal
    right = is_trivial(loss, len(space)).dominated
    return Statement(left, right, left == right)


def check_choice(
    space: Space, level: Level, loss: LossLike, first: Channel, second: Channel, weight: object
) -> Statement:
    """(4) L_{M ⊕_p M′} = L_M ∩ L_M′ for 0 < p < 1: the choice is optimal (left) exactly when both are (right)."""
    left = universally_optimal(space, level, loss, choice(first, second, weight)).optimal
    right = all(universally_optimal(space, level, loss, mechanism).optimal for mechanism in (first, second))
    return Statement(left, right, left == right)


def check_restriction(
    space: Space, level: Level, loss: LossLike, labels: Sequence[Label], mechanism: Channel
) -> Statement:
    """(5) ℓ ∈ L_{M↓X′} (left) if and only if ℓ↑X ∈ L_M (right), X′ = `labels`.

    Left implies right: with π supported on X′ the loss of M is that of M↓X′, and what the type of X can do on X′ the
    type of X′ can do too. The converse needs that mechanisms on X′ extend to X, and **fails** without: on line:3 the
    geometric mechanism is optimal for ℓ_bin on {0, 2}, lifted, but its restriction is not for ℓ_bin, since T, which is,
    extends to no private mechanism on the line (`extension`). Where X has a `retraction` onto X′ both directions hold.
    """
    part_space = sub_space(space, labels)
    left = universally_optimal(part_space, level, loss, mechanism.restrict(labels)).optimal
    right = universally_optimal(space, level, lift_loss(loss, labels, space), mechanism).optimal
    return Statement(left, right, left == right)
