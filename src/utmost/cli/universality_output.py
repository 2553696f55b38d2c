"""Universal optimality on the command line: the question, the evidence, the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.design.universal import Counterexample, Verdict
    from utmost.exact import Level
    from utmost.spaces import Space


@dataclass(frozen=True, slots=True)
class UniversalityJudgement:
    """What was found: of the mechanism given, or of all kernel mechanisms of the type."""

    given: bool
    mechanism: Channel | None
    verdict: Verdict | None
    objections: tuple[Counterexample, ...]


def judge_universality(points: Space, level: Level, loss: str, path: str | None) -> UniversalityJudgement:
    """Is the mechanism in the file universally optimal for the loss; without a file, is any."""
    from utmost import polytopes
    from utmost.channel import files
    from utmost.cli.progress import progress_line
    from utmost.consumer import losses
    from utmost.design import universal

    fear = losses.over(losses.parse(loss), points)
    with progress_line(points.name) as report:

        def progress(words: str, done: int, total: int) -> None:
            report(f"{done:,}{f' of {total:,}' if total else ''} {words}")

        if path is not None:
            mechanism = files.read_channel(path)
            verdict = universal.universally_optimal(points, level, fear, mechanism, progress)
            return UniversalityJudgement(
                True, mechanism, verdict, () if verdict.objection is None else (verdict.objection,)
            )
        kernels = (one.channel() for one in polytopes.kernels(points, level))
        found = universal.universal_mechanism(points, level, fear, kernels, progress)
        named = None if found.mechanism is None else _named(found.mechanism, points)
        return UniversalityJudgement(False, named, found.verdict, found.objections)


def _named(kernel: Channel, points: Space) -> Channel:
    """The kernel with its outputs named by the secret under which each is likeliest, in order, if these differ."""
    from utmost.channel.channel import trusted_channel

    likeliest = kernel.floats().argmax(axis=0).tolist()
    if len(set(likeliest)) < len(likeliest):
        return kernel
    order = sorted(range(len(likeliest)), key=lambda y: likeliest[y])
    return trusted_channel(points.labels, [points.labels[likeliest[y]] for y in order], kernel.rows[:, order])


def universality_document(found: UniversalityJudgement) -> dict[str, Any]:
    """For the document: `optimal` or `exists`, the mechanism, the priors that prove it or the objections."""
    from utmost.cli.output import channel_document

    proved = found.verdict is not None and found.verdict.optimal
    content: dict[str, Any] = {"optimal" if found.given else "exists": proved}
    content["mechanism"] = None if found.mechanism is None else channel_document(found.mechanism)
    content["corners"] = None
    if found.verdict is not None and proved:
        content["corners"] = [
            {"prior": [str(p) for p in corner.prior], "loss": str(corner.loss)} for corner in found.verdict.corners
        ]
    content["objections"] = [_objection(one) for one in (() if proved else found.objections)]
    return content


def _objection(one: Counterexample) -> dict[str, Any]:
    from utmost.cli.output import channel_document

    prior, better = [str(p) for p in one.prior], channel_document(one.better)
    return {"prior": prior, "loss": str(one.loss), "better_loss": str(one.better_loss), "better": better}


def print_universality(found: UniversalityJudgement, loss: str) -> None:
    """In words, with the mechanism or the consumer who objects."""
    from utmost.cli.output import channel_table, print_text

    if found.verdict is not None and found.verdict.optimal:
        number = len(found.verdict.corners)
        how = f"Proved by exact multipliers at {number} priors." if number else "Nothing can be told at this level."
        print_text(
            f"{'This' if found.given else 'One'} mechanism is the best for the loss {loss} whatever the prior: none "
            f"serves any such consumer better. {how}"
        )
        if found.mechanism is not None and not found.given:
            channel_table(found.mechanism)
        return
    _show_objection(found, loss)


def _show_objection(found: UniversalityJudgement, loss: str) -> None:
    from utmost.cli.output import channel_table, print_text

    one = found.objections[0]
    start = f"This mechanism is NOT the best for the loss {loss} whatever the prior:"
    if not found.given:
        start = (
            f"No mechanism is the best for the loss {loss} whatever the prior: to each of the "
            f"{len(found.objections):,} kernel mechanisms some consumer objects. To the first:"
        )
    prior = ", ".join(str(p) for p in one.prior)
    print_text(
        f"{start} a consumer with prior ({prior}) loses {one.loss} with it, and {one.better_loss} with this one:"
    )
    channel_table(one.better)
