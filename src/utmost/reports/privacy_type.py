"""Describe a privacy type: its vertices, its kernel mechanisms, its capacities, and universal optimality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.exact import json_number, number
from utmost.polytopes.type_members import Entry, Members
from utmost.reports import capacity
from utmost.reports.blocks import Block, Cell, Matrix, Paragraph, Report, Table
from utmost.reports.mechanism import channel_document
from utmost.reports.numbers import Quantity, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.design import Capacities
    from utmost.design.universal import Counterexample, Verdict
    from utmost.exact import Level
    from utmost.spaces import Space

MAX_SHOWN_MEMBERS = 24  # vertices, or kernel mechanisms
MAX_CELL_CHARS, CELL_DIGITS = 12, 4  # of an exact number in a table of members, and of a rounded one


@dataclass(frozen=True, slots=True)
class Universality:
    """Is a mechanism the best for a loss whatever the prior: the one that was given, or any kernel mechanism.

    `mechanism` is the one given, or the one found; without one, `objections` has a consumer for each kernel mechanism.
    """

    loss_text: str
    is_given: bool
    mechanism: Channel | None
    verdict: Verdict | None
    objections: tuple[Counterexample, ...]

    @property
    def is_proved(self) -> bool:
        """Is the mechanism the best whatever the prior."""
        return self.verdict is not None and self.verdict.optimal


@dataclass(frozen=True, slots=True)
class TypeFindings:
    """What was found of a privacy type; None where it was not asked for. `space_text` is as the user wrote it."""

    space_text: str
    space: Space
    level: Level
    members: Members | None = None
    kernel: Channel | None = None
    capacities: Capacities | None = None
    universality: Universality | None = None


def describe(findings: TypeFindings) -> Report:
    """Everything that was found, in one report."""
    count = len(findings.space)
    secrets = f" secret{'s' if count > 1 else ''}"
    blocks: dict[str, Block | None] = {
        "title": Paragraph(
            f"The privacy type of {findings.space.name} (", quantity(count), f"{secrets}) at {findings.level}."
        )
    }
    capacities = None if findings.capacities is None else capacity.describe(findings.capacities)
    if findings.members is not None:
        blocks |= _vertex_blocks(findings.space, findings.members.vertices) | _kernel_blocks(findings.members.kernels)
    if findings.kernel is not None:
        blocks["kernel"] = Matrix(findings.kernel)
    if capacities is not None:
        blocks |= capacities.blocks
    if findings.universality is not None:
        blocks |= _universality_blocks(findings.universality)
    return Report(
        blocks, lambda: _document(findings, capacities), {} if capacities is None else dict(capacities.numbers)
    )


def _document(findings: TypeFindings, capacities: Report | None) -> dict[str, Any]:
    alpha = json_number(findings.level.alpha)
    content: dict[str, Any] = {"space": findings.space_text, "points": len(findings.space), "alpha": alpha}
    if findings.members is not None:
        members = {"vertices": findings.members.vertices, "kernels": findings.members.kernels}
        content |= {name: value for name, value in members.items() if value is not None}
    if findings.kernel is not None:
        content["kernel"] = channel_document(findings.kernel)
    if capacities is not None:
        content |= capacities.content
    if findings.universality is not None:
        content["universal"] = _universality_document(findings.universality)
    return content


def _vertex_blocks(space: Space, vertices: int | list[Entry] | None) -> dict[str, Block | None]:
    """Their number, and their posteriors, a column for each secret."""
    if vertices is None:
        return {}
    count = vertices if isinstance(vertices, int) else len(vertices)
    heading = Paragraph("Vertices of the region of posteriors: ", quantity(count), ".")
    if isinstance(vertices, int):
        return {"vertices": heading}
    posteriors = [vertex["posterior"] for vertex in vertices[:MAX_SHOWN_MEMBERS]]
    table = posterior_table([str(label) for label in space.labels], posteriors)
    return {"vertices": heading, "posteriors": table, "posteriors omitted": _omission_paragraph(count)}


def posterior_table(secrets: list[str], posteriors: list[list[str]]) -> Table:
    """Posteriors by their numbers from 0, a column for each secret."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (str(k), *map(_cell, posterior)) for k, posterior in enumerate(posteriors)
    )
    return Table(("", *secrets), rows, caption="Vertices, as posteriors under a uniform prior")


def _kernel_blocks(kernels: int | list[Entry] | None) -> dict[str, Block | None]:
    """Their number, and each by the numbers of its vertices."""
    if kernels is None:
        return {}
    count = kernels if isinstance(kernels, int) else len(kernels)
    heading = Paragraph("Kernel mechanisms: ", quantity(count), ".")
    if isinstance(kernels, int):
        return {"kernels": heading}
    rows = tuple(
        (str(k), *("  ".join(str(_cell(value)) for value in kernel[key]) for key in ("vertices", "weights")))
        for k, kernel in enumerate(kernels[:MAX_SHOWN_MEMBERS])
    )
    table = Table(("", "of vertices (--vertices)", "with weights"), rows, text_columns=3)
    return {"kernels": heading, "kernel list": table, "kernels omitted": _omission_paragraph(count)}


def _omission_paragraph(count: int) -> Paragraph:
    if count <= MAX_SHOWN_MEMBERS:
        return Paragraph("")
    return Paragraph(
        f"The first {MAX_SHOWN_MEMBERS}; --json lists them all, --save FILE.jsonl writes them as they are found.\n"
    )


def _cell(value: object) -> Quantity:
    return Quantity(number(value), CELL_DIGITS, max_exact_chars=MAX_CELL_CHARS)


def name_outputs(kernel: Channel, space: Space) -> Channel:
    """The kernel with its outputs named by the secret under which each is likeliest, in order, if these differ."""
    from utmost.channel.channel import trusted_channel

    likeliest = kernel.floats().argmax(axis=0).tolist()
    if len(set(likeliest)) < len(likeliest):
        return kernel
    order = sorted(range(len(likeliest)), key=lambda y: likeliest[y])
    return trusted_channel(space.labels, [space.labels[likeliest[y]] for y in order], kernel.rows[:, order])


def _universality_blocks(universality: Universality) -> dict[str, Block | None]:
    """The verdict, with the mechanism or a consumer who is better served by another one."""
    if not universality.is_proved:
        objection = universality.objections[0]
        return {"universal": Paragraph(_objection_sentence(universality)), "better": Matrix(objection.better)}
    assert universality.verdict is not None
    count = len(universality.verdict.corners)
    proof = f"Proved by exact multipliers at {count} priors." if count else "Nothing can be told at this level."
    verdict = (
        f"{'This' if universality.is_given else 'One'} mechanism is the best for the loss {universality.loss_text} "
        f"whatever the prior: none serves any such consumer better. {proof}"
    )
    is_found = universality.mechanism is not None and not universality.is_given
    mechanism = Matrix(universality.mechanism) if is_found and universality.mechanism is not None else None
    return {"universal": Paragraph(verdict), "mechanism": mechanism}


def _objection_sentence(universality: Universality) -> str:
    objection, loss = universality.objections[0], universality.loss_text
    start = f"This mechanism is NOT the best for the loss {loss} whatever the prior:"
    if not universality.is_given:
        count = len(universality.objections)
        start = (
            f"No mechanism is the best for the loss {loss} whatever the prior: for each of the {count} kernel "
            "mechanisms there is a consumer who is better served by another. For the first:"
        )
    prior = ", ".join(str(weight) for weight in objection.prior)
    losses = f"{objection.loss} with it, and {objection.better_loss} with this one:"
    return f"{start} a consumer with prior ({prior}) loses {losses}"


def _universality_document(universality: Universality) -> dict[str, Any]:
    """`optimal` or `exists`, the mechanism, the priors that prove it or the objections."""
    verdict, is_proved = universality.verdict, universality.is_proved
    corners = None
    if verdict is not None and is_proved:
        corners = [{"prior": [str(p) for p in corner.prior], "loss": str(corner.loss)} for corner in verdict.corners]
    mechanism = universality.mechanism
    return {
        "optimal" if universality.is_given else "exists": is_proved,
        "mechanism": None if mechanism is None else channel_document(mechanism),
        "corners": corners,
        "objections": [] if is_proved else [_objection_document(item) for item in universality.objections],
    }


def _objection_document(objection: Counterexample) -> dict[str, Any]:
    return {
        "prior": [str(p) for p in objection.prior],
        "loss": str(objection.loss),
        "better_loss": str(objection.better_loss),
        "better": channel_document(objection.better),
    }


def figure(space: Space, level: Level, mechanism: Channel | None) -> alt.TopLevelMixin:
    """The region of posteriors of three or four secrets, with those of a mechanism."""
    from utmost import charts
    from utmost.errors import InputError

    if len(space) not in (3, 4):
        raise InputError(f"--plot must be for 3 secrets (a triangle) or 4 (a tetrahedron), got {len(space)}", "plot")
    title = f"The posteriors that {space.name} allows at {level}"
    claim = "Shaded: every posterior of every private mechanism, under a uniform prior (the cross)."
    return charts.region_chart(space, level, mechanism, title, claim)
