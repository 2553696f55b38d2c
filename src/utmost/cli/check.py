"""`utmost check`: what a channel really is: its least ε, signature, origin, membership of its type, capacities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import (
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    PlotOption,
    check_ending,
    least_level,
    optional_level,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel, PrivacyLoss
    from utmost.cli.check_definition import EventReport
    from utmost.cli.check_generality import GeneralityReport
    from utmost.consumer import Consumer
    from utmost.design import Derivation, LemmaFinding
    from utmost.exact import Level, Number
    from utmost.polytopes import MembershipVerdict
    from utmost.qif import Capacity
    from utmost.spaces import Space

EXAMPLES = (
    "Examples: utmost check channel.csv --space line:6 --alpha 1/2;  "
    "utmost mechanism geometric --size 5 --alpha 1/2 --output g.csv, then utmost check g.csv;  "
    "utmost check g.csv --definition approximate:1/2,1/10 --plot profile.svg"
)
MAX_TYPE_OUTPUTS = 100  # of a channel whose membership of its type is decided


@dataclass(frozen=True, slots=True)
class TypeMembership:
    """Is a channel made of vertices of its type, is it a kernel mechanism (FMPD23 Def. 4, 5); None: not decided."""

    vertex: MembershipVerdict | None
    kernel: MembershipVerdict | None


@dataclass(frozen=True, slots=True)
class ConsumerLoss:
    """What a consumer expects to lose: with the best reading of the channel, and without any answer."""

    expected: Number | float
    uninformed: float

    @classmethod
    def of(cls, reader: Consumer, source: Channel) -> ConsumerLoss:
        """The losses of `reader` with the channel `source`."""
        from utmost.cli.optimal import uninformed_loss

        return cls(reader.expected_loss(source), uninformed_loss(reader))


@dataclass(frozen=True, slots=True)
class Report:
    """The properties of a channel; one that does not apply is None and `reason` says why."""

    channel: Channel
    space: Space
    privacy_loss: PrivacyLoss
    level: Level | None
    private: bool | None
    signature: tuple[str, ...] | None
    derivation: Derivation | None
    membership: TypeMembership
    capacity: Capacity | None
    reason: str | None


def command(
    channel: Annotated[
        str, typer.Argument(metavar="CHANNEL", help="A .csv (header: outputs; first column: inputs) or .json.")
    ],
    space: Annotated[
        str | None, typer.Option(metavar="SPACE", help="line:6, grid:3x3, graph:FILE …; line:N if left out.")
    ] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    prior: Annotated[str | None, typer.Option(metavar="PRIOR", help="With --loss: what a consumer believes.")] = None,
    loss: Annotated[str | None, typer.Option(metavar="LOSS", help="What she would lose with this channel.")] = None,
    definition: Annotated[
        str | None,
        typer.Option(metavar="D", help="Is it met for every event: pure:1/10, approximate:1,1e-6 …, FILE.toml."),
    ] = None,
    pair: Annotated[str | None, typer.Option(metavar="I1,I2", help="Whose profile is shown and drawn.")] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """The least ε of a channel, its signature, its origin, its capacities.

    Decides whether it is private at a level, which lemmas of GRS12 its signature obeys, whether it is the geometric
    mechanism with its answers read anew, whether it is a vertex or a kernel mechanism of its type, whether a private
    mechanism could tell more, and whether it meets a definition of privacy for every event.
    """
    from utmost.channel import files
    from utmost.cli import check_definition, check_generality

    request = check_definition.EventRequest(definition, pair, check_ending(plot, CHART_ENDINGS, "--plot"))
    level = optional_level(alpha, epsilon)
    source = files.read_channel(channel)
    points = _choose_space(space, source, definition)
    reader = _parse_reader(prior, loss, points)
    report = examine(source, points, level)
    events = check_definition.examine_events(report.channel, points, report.privacy_loss, report.level, request)
    generality = check_generality.examine_generality(report.channel, points, report.privacy_loss, report.level)
    consumer_loss = None if reader is None else ConsumerLoss.of(reader, report.channel)
    print_report = _print_json if json else _print_text
    print_report(report, consumer_loss, events, generality)
    check_definition.draw_profile(events, plot)


def _choose_space(text: str | None, source: Channel, definition: str | None) -> Space:
    """The space asked for; else that of the definition's file, for inputs that are no counts; else a line."""
    from utmost import spaces
    from utmost.axioms.definition_files import parse_definition_space

    if text is not None:
        return spaces.parse_space(text)
    counts = {str(label) for label in source.inputs} == {str(k) for k in range(len(source.inputs))}
    definition_space = None if counts or definition is None else parse_definition_space(definition)
    return definition_space if definition_space is not None else spaces.parse_space(f"line:{len(source.inputs)}")


def _parse_reader(prior: str | None, loss: str | None, space: Space) -> Consumer | None:
    from utmost.consumer import Consumer, losses, priors

    if loss is None and prior is None:
        return None
    if loss is None:
        raise InputError("--prior must come with --loss: say what she fears")
    space.check_table_size()
    return Consumer(priors.parse(prior or "uniform", len(space)), losses.over(losses.parse(loss), space), space.labels)


def examine(source: Channel, space: Space, requested_level: Level | None) -> Report:
    """The report of a channel. Without a level its own least one is taken, where that is exact."""
    from utmost import design
    from utmost.channel import align_inputs, least_epsilon
    from utmost.design.optimal import is_line

    privacy_loss = least_epsilon(source, space)
    aligned_channel = align_inputs(source, space)
    level = requested_level if requested_level is not None or not source.exact else least_level(privacy_loss)
    private = None if requested_level is None else privacy_loss.within(requested_level)
    membership, capacity = _decide_membership(aligned_channel, space, level), _exact_capacity(aligned_channel)
    reason = _signature_obstacle(aligned_channel, level) if is_line(space) else f"{space.name} is no line"
    if reason is not None or level is None:
        return Report(aligned_channel, space, privacy_loss, level, private, None, None, membership, capacity, reason)
    is_private = privacy_loss.within(level)
    signs = design.signature(aligned_channel, level) if is_private else None
    obstacle = None if is_private else "it is not private at this level"
    origin = design.derivation(aligned_channel, level)
    return Report(aligned_channel, space, privacy_loss, level, private, signs, origin, membership, capacity, obstacle)


def _decide_membership(source: Channel, space: Space, level: Level | None) -> TypeMembership:
    from utmost import polytopes

    if not source.exact or level is None or len(source.outputs) > MAX_TYPE_OUTPUTS:
        return TypeMembership(None, None)
    vertex = polytopes.is_vertex_mechanism(source, space, level)
    return TypeMembership(vertex, polytopes.is_kernel_mechanism(source, space, level) if vertex else vertex)


def _exact_capacity(source: Channel) -> Capacity | None:
    from utmost import qif

    return qif.capacity(source) if source.exact else None


def _signature_obstacle(source: Channel, level: Level | None) -> str | None:
    """Why signature and derivation cannot be decided, if they cannot."""
    if not source.exact:
        return "its entries are floats; write them as fractions or decimals in text"
    if level is None:
        return "its least level cannot be written exactly; give --alpha or --epsilon"
    return None if level.is_inner else f"it takes 0 < α < 1, and the level is α = {level.alpha}"


def _print_json(
    report: Report, consumer_loss: ConsumerLoss | None, events: EventReport, generality: GeneralityReport
) -> None:
    from utmost.cli import check_definition, check_generality, output
    from utmost.design import lemmas

    privacy_loss, derivation, signs = report.privacy_loss, report.derivation, report.signature
    consumer_content = (
        {}
        if consumer_loss is None
        else {
            "loss": output.json_value(consumer_loss.expected),
            "silent_loss": output.json_value(consumer_loss.uninformed),
        }
    )
    output.print_json(
        {
            "inputs": list(report.channel.inputs),
            "outputs": list(report.channel.outputs),
            "space": report.space.name,
            "epsilon": output.json_epsilon(privacy_loss, report.level),
            "witness": {
                "output": privacy_loss.output,
                "high": privacy_loss.high,
                "low": privacy_loss.low,
                "ratio": _witness_ratio(report),
            },
            "alpha": None if report.level is None else output.json_value(report.level.alpha),
            "private": report.private,
            "signature": None if signs is None else list(signs),
            "lemmas": None if signs is None else [_lemma_document(report, item) for item in lemmas(signs)],
            "derivable": None if derivation is None else derivation.derivable,
            "remap": None
            if derivation is None or derivation.remap is None
            else output.json_rows(derivation.remap.rows),
            "negative": _negative_entry(derivation),
            "vertex": None if report.membership.vertex is None else report.membership.vertex.holds,
            "kernel": None if report.membership.kernel is None else report.membership.kernel.holds,
            "capacity": _capacity_document(report),
            "reason": report.reason,
        }
        | check_generality.generality_document(generality)
        | check_definition.event_document(events)
        | consumer_content
    )


def _capacity_document(report: Report) -> dict[str, Any] | None:
    from utmost.cli import output

    capacity = report.capacity
    if capacity is None:
        return None
    return {
        "multiplicative": output.json_value(capacity.multiplicative.value),
        "additive": output.json_value(capacity.additive.value),
    }


def _witness_ratio(report: Report) -> Any:
    """The ratio that attains ε: exact where the entries are."""
    from utmost.cli import output

    ratio = report.privacy_loss.ratio
    return output.json_value(ratio if ratio is None or report.channel.exact else float(ratio))


def _lemma_document(report: Report, item: LemmaFinding) -> dict[str, Any]:
    entry = (
        None if item.index is None else [report.channel.inputs[item.index[0]], report.channel.outputs[item.index[1]]]
    )
    return {"lemma": item.lemma, "holds": item.holds, "place": entry, "says": item.says}


def _negative_entry(derivation: Derivation | None) -> dict[str, Any] | None:
    if derivation is None or derivation.derivable:
        return None
    return {"answer": derivation.answer, "reading": derivation.reading, "value": str(derivation.value)}


def _print_text(
    report: Report, consumer_loss: ConsumerLoss | None, events: EventReport, generality: GeneralityReport
) -> None:
    from utmost.cli import check_definition, check_generality, output
    from utmost.exact import decimal

    shape = f"{len(report.channel.inputs)} inputs, {len(report.channel.outputs)} outputs"
    output.print_text(
        f"A channel on {report.space.name}: {shape}, {'exact' if report.channel.exact else 'float'} entries."
    )
    output.print_text(output.privacy_loss_sentence(report.privacy_loss, report.level))
    if report.private is not None:
        output.print_text(f"Private at {report.level}: {'yes' if report.private else 'NO'}, decided.")
    elif report.level is not None and report.reason is None:
        output.print_text(f"No level was given; what follows is at its own, {report.level}.")
    if report.signature is not None:
        _print_signature(report, report.signature)
    if report.reason is not None:
        output.print_text(f"No signature{'' if report.derivation else ', nothing on its origin'}: {report.reason}.")
    if report.derivation is not None:
        _print_derivation(report.derivation)
    if report.membership.vertex is not None and report.membership.kernel is not None:
        _print_membership(report, report.membership.vertex, report.membership.kernel)
    if report.capacity is not None:
        _print_capacity(report.capacity)
    check_generality.print_generality(generality)
    check_definition.print_events(events)
    if consumer_loss is not None:
        loss, uninformed_loss = decimal(consumer_loss.expected), decimal(consumer_loss.uninformed)
        output.print_text(
            f"Read in her best way, this consumer expects to lose {loss}; without any answer {uninformed_loss}."
        )


def _print_membership(report: Report, vertex: MembershipVerdict, kernel: MembershipVerdict) -> None:
    from utmost.cli import output

    kind = (
        "a kernel mechanism"
        if kernel
        else "a vertex mechanism, but no kernel mechanism"
        if vertex
        else "no vertex mechanism"
    )
    output.print_text(f"Of the type of {report.space.name} at {report.level} it is {kind}: {kernel.reason}.")


def _print_capacity(capacity: Capacity) -> None:
    from utmost.cli import output
    from utmost.exact import decimal_above

    texts = []
    for value in (capacity.multiplicative.value, capacity.additive.value):
        text = str(value)
        texts.append(text if len(text) <= 2 * output.MAX_FRACTION_CHARS else decimal_above(value))
    output.print_text(
        f"An answer multiplies what anybody can gain by at most {texts[0]}, and adds at most {texts[1]} of 1 to it."
    )


def _print_signature(report: Report, signs: tuple[str, ...]) -> None:
    from utmost.cli import output
    from utmost.design import lemmas
    from utmost.design.signature import signature_text

    if len(report.channel.outputs) <= output.MAX_TABLE_ROWS:
        output.print_text("Signature (from each input to the next: ↓ ↑ as fast as privacy allows, S slower, 0 never):")
        output.print_text(signature_text(signs, report.channel.inputs, report.channel.outputs))
    broken = [item for item in lemmas(signs) if not item.holds]
    lemmas_met = [item.lemma for item in lemmas(signs) if item.holds]
    output.print_text(f"It has the form of GRS12's lemmas {', '.join(lemmas_met) or '(none)'}.")
    if broken:
        output.print_text(
            "It does not have the form that optimal mechanisms have (5.5, 5.6), or optimal vertices (5.8, 5.9):"
        )
    for item in broken:
        x, y = _lemma_document(report, item)["place"]
        output.print_text(f"  Lemma {item.lemma}, input {x}, output {y}: {item.says}.")


def _print_derivation(derivation: Derivation) -> None:
    from utmost.cli import output

    if derivation.remap is None and derivation.value is not None:
        text = str(derivation.value)
        value = f"probability {text}" if len(text) <= 4 * output.MAX_FRACTION_CHARS else "a negative probability"
        entry = f"reading {derivation.reading} of the geometric answer {derivation.answer}"
        output.print_text(f"Not derivable from the geometric mechanism: {entry} would need {value}.")
    elif derivation.remap is not None:
        output.print_text("Derivable from the geometric mechanism, whose answers (rows) are read as (columns):")
        output.print_channel(derivation.remap)
