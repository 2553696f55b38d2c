"""Universal optimality on the command line: the question, the evidence, the sentences."""

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
    """The verdict on the mechanism given, or on all kernel mechanisms of the type."""

    is_given: bool
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

    loss_function = losses.over(losses.parse(loss), points)
    with progress_line(points.name) as report:

        def progress(stage: str, count: int, total: int) -> None:
            report(f"{count:,}{f' of {total:,}' if total else ''} {stage}")

        if path is not None:
            mechanism = files.read_channel(path)
            verdict = universal.universally_optimal(points, level, loss_function, mechanism, progress)
            return UniversalityJudgement(
                True, mechanism, verdict, () if verdict.objection is None else (verdict.objection,)
            )
        kernels = (kernel.channel() for kernel in polytopes.kernels(points, level))
        search = universal.universal_mechanism(points, level, loss_function, kernels, progress)
        named_mechanism = None if search.mechanism is None else _name_outputs(search.mechanism, points)
        return UniversalityJudgement(False, named_mechanism, search.verdict, search.objections)


def _name_outputs(kernel: Channel, points: Space) -> Channel:
    """The kernel with its outputs named by the secret under which each is likeliest, in order, if these differ."""
    from utmost.channel.channel import trusted_channel

    likeliest = kernel.floats().argmax(axis=0).tolist()
    if len(set(likeliest)) < len(likeliest):
        return kernel
    order = sorted(range(len(likeliest)), key=lambda y: likeliest[y])
    return trusted_channel(points.labels, [points.labels[likeliest[y]] for y in order], kernel.rows[:, order])


def universality_document(judgement: UniversalityJudgement) -> dict[str, Any]:
    """For the document: `optimal` or `exists`, the mechanism, the priors that prove it or the objections."""
    from utmost.cli.output import channel_document

    is_proved = judgement.verdict is not None and judgement.verdict.optimal
    content: dict[str, Any] = {"optimal" if judgement.is_given else "exists": is_proved}
    content["mechanism"] = None if judgement.mechanism is None else channel_document(judgement.mechanism)
    content["corners"] = None
    if judgement.verdict is not None and is_proved:
        content["corners"] = [
            {"prior": [str(p) for p in corner.prior], "loss": str(corner.loss)} for corner in judgement.verdict.corners
        ]
    content["objections"] = [
        _objection_document(objection) for objection in (() if is_proved else judgement.objections)
    ]
    return content


def _objection_document(objection: Counterexample) -> dict[str, Any]:
    from utmost.cli.output import channel_document

    prior, better = [str(p) for p in objection.prior], channel_document(objection.better)
    return {"prior": prior, "loss": str(objection.loss), "better_loss": str(objection.better_loss), "better": better}


def print_universality(judgement: UniversalityJudgement, loss: str) -> None:
    """Print the verdict, with the mechanism or the consumer who objects."""
    from utmost.cli.output import print_channel, print_text

    if judgement.verdict is not None and judgement.verdict.optimal:
        prior_count = len(judgement.verdict.corners)
        proof_text = (
            f"Proved by exact multipliers at {prior_count} priors."
            if prior_count
            else "Nothing can be told at this level."
        )
        print_text(
            f"{'This' if judgement.is_given else 'One'} mechanism is the best for the loss {loss} whatever the "
            "prior: none "
            f"serves any such consumer better. {proof_text}"
        )
        if judgement.mechanism is not None and not judgement.is_given:
            print_channel(judgement.mechanism)
        return
    _print_objection(judgement, loss)


def _print_objection(judgement: UniversalityJudgement, loss: str) -> None:
    from utmost.cli.output import print_channel, print_text

    objection = judgement.objections[0]
    start = f"This mechanism is NOT the best for the loss {loss} whatever the prior:"
    if not judgement.is_given:
        start = (
            f"No mechanism is the best for the loss {loss} whatever the prior: to each of the "
            f"{len(judgement.objections):,} kernel mechanisms some consumer objects. To the first:"
        )
    prior = ", ".join(str(p) for p in objection.prior)
    print_text(
        f"{start} a consumer with prior ({prior}) loses {objection.loss} with it, and {objection.better_loss} with "
        "this one:"
    )
    print_channel(objection.better)
