"""Mechanisms by their names on the command line: what each takes, how its matrix and its samples are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from utmost.cli.options import CHANNEL_ENDINGS, required_level
from utmost.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    from utmost.channel import Channel, PrivacyLoss
    from utmost.exact import Level, Number
    from utmost.mechanisms.randomised_response import RandomisedResponse

MAX_MATRIX_COUNT = 500  # upper end of a count whose matrix is written out here
MAX_IRRATIONAL_COUNT = 100  # the same, where its entries are irrational
MAX_SLOW_COUNT = 50  # the same, where they are roots or every pair within a sensitivity is compared
MAX_SAMPLED_COUNT = 10**12  # upper end of a count that is drawn from
OPTIONS_BY_MECHANISM = {
    "geometric": ("--size",),
    "laplace": ("--range", "--granularity", "--sensitivity"),
    "planar": ("--step", "--box"),
    "response": ("--size",),
    "response-dual": ("--size",),
    "exponential": ("--scores", "--sensitivity", "--monotone"),
    "staircase": ("--sensitivity", "--size"),
}
REQUIRED_OPTIONS = {
    "geometric": ("--size",),
    "laplace": ("--range", "--granularity"),
    "planar": ("--step",),
    "response": ("--size",),
    "response-dual": ("--size",),
    "exponential": ("--scores",),
    "staircase": (),
}


@dataclass(frozen=True, slots=True)
class MechanismChoice:
    """The mechanism that was asked for.

    `build_channel` makes its matrix or says why there is none, `privacy_loss` recomputes its ε, `parse_input` reads an
    --input, `draw` gives that many samples for it as a document has them; `facts` join the document. `space` names the
    neighbours that were assumed where the mechanism itself does not say, `neighbours_remark` says it in words.
    """

    title: str
    rows: str
    build_channel: Callable[[], Channel]
    privacy_loss: Callable[[Channel], PrivacyLoss]
    parse_input: Callable[[str], Any]
    draw: Callable[[Any, int], list[Any]]
    level: Level | None
    facts: dict[str, Any] = field(default_factory=dict)
    space: str | None = None
    neighbours_remark: str = ""


def choose_mechanism(name: str, options: dict[str, str], alpha: str | None, epsilon: str | None) -> MechanismChoice:
    """The mechanism by its name; every option is checked before anything is drawn."""
    if name.lower().endswith(CHANNEL_ENDINGS):
        levels = {"--alpha": alpha, "--epsilon": epsilon}
        _refuse_surplus(name, [*options, *(key for key, value in levels.items() if value is not None)], ("--space",))
        return _build_from_file(name, options.get("--space"))
    if name not in OPTIONS_BY_MECHANISM:
        raise InputError(_unknown_name_message(name))
    _refuse_surplus(name, list(options), OPTIONS_BY_MECHANISM[name])
    for option in REQUIRED_OPTIONS[name]:
        if option not in options:
            raise InputError(f"{option} must be given for {name}, got none: see utmost mechanism --help")
    builders = {
        "geometric": _build_geometric,
        "laplace": _build_laplace,
        "planar": _build_planar,
        "exponential": _build_exponential,
    }
    builders |= {"response": _build_response, "response-dual": _build_response_dual, "staircase": _build_staircase}
    return builders[name](options, required_level(alpha, epsilon))


def _refuse_surplus(name: str, options: list[str], allowed_options: tuple[str, ...]) -> None:
    for option in options:
        if option not in allowed_options:
            explanation = (
                "the file is the whole mechanism"
                if allowed_options == ("--space",)
                else f"it takes {', '.join(allowed_options)}"
            )
            raise InputError(f"{option} must not be given for {name[-40:]}: {explanation}")


def _unknown_name_message(name: str) -> str:
    from difflib import get_close_matches

    matches = get_close_matches(name.lower(), OPTIONS_BY_MECHANISM, 1, 0.5)
    advice = f"did you mean {matches[0]}?" if matches else "no other mechanism is built in"
    return (
        f"NAME must be {', '.join(OPTIONS_BY_MECHANISM)}, or a file that ends in .csv or .json, got "
        f'"{name[:40]}": {advice}'
    )


def _build_geometric(options: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.channel import least_epsilon
    from utmost.mechanisms import geometric
    from utmost.spaces import line

    size = _parse_upper_end(options["--size"])
    return MechanismChoice(
        "The truncated geometric mechanism",
        f"counts 0 to {size}",
        lambda: geometric(_check_matrix_size(size, level), level).channel(),
        lambda channel: least_epsilon(channel, line(len(channel.inputs))),
        lambda text: _parse_position(text, size),
        lambda x, count: geometric(size, level).draw([x] * count).tolist(),
        level,
    )


def _build_laplace(options: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.cli import output
    from utmost.mechanisms.laplace import laplace

    low, high = _parse_numbers(options["--range"], "--range", 2)
    require_inner_level(level)
    mechanism = laplace(low, high, options["--granularity"], options.get("--sensitivity", "1"), level)
    cost, value_text = mechanism.cost, cache(lambda k: str(mechanism.value(k)))

    def channel() -> Channel:
        has_roots = mechanism.steps > 1 and level.exponent is None  # several steps a sensitivity: α^(1/steps) for each
        _check_matrix_size(
            mechanism.size,
            level,
            "--granularity must leave a number of steps",
            MAX_SLOW_COUNT if has_roots else MAX_MATRIX_COUNT,
        )
        return mechanism.channel()

    facts: dict[str, Any] = {"rounding": str(cost.rounding), "steps": cost.steps, "stretch": str(cost.stretch)}
    errors = {"grid_error": cost.grid_error, "laplace_error": cost.continuous_error}
    return MechanismChoice(
        "The truncated Laplace mechanism on a grid",
        f"values {mechanism.low} to {mechanism.high} in steps of {mechanism.granularity}",
        channel,
        lambda channel: mechanism.privacy_loss(),
        lambda text: mechanism.position(_parse_exact_input(text, 1)[0]),
        lambda x, count: list(map(value_text, mechanism.draw_positions([x] * count).tolist())),
        level,
        {"cost": facts | {name: output.json_value(float(value)) for name, value in errors.items()}},
    )


def _build_planar(options: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.exact import integer
    from utmost.mechanisms.planar import planar

    require_inner_level(level)
    mechanism = planar(options["--step"], level)
    if "--box" in options:
        corners = [integer(c / mechanism.step, "--box in steps") for c in _parse_numbers(options["--box"], "--box", 4)]
        mechanism = planar(mechanism.step, level, corners)

    coordinate_text = cache(lambda k: str(k * mechanism.step))

    def draw(x: Any, count: int) -> list[Any]:
        return [[coordinate_text(i), coordinate_text(j)] for i, j in mechanism.draw([x] * count).tolist()]

    def channel() -> Channel:
        reason = "its probabilities are no numbers that can be written down exactly"
        raise InputError(f"planar has no matrix to write out, since {reason}: say --sample K --input X,Y")

    return MechanismChoice(
        "The planar Laplace mechanism",
        "places on a lattice",
        channel,
        _refuse_privacy_loss,
        lambda text: mechanism.position(_parse_exact_input(text, 2)),
        draw,
        level,
        {"step": str(mechanism.step)},
    )


def _refuse_privacy_loss(channel: Channel) -> PrivacyLoss:
    raise InputError("this mechanism has no matrix to recompute its epsilon from")


def _build_response(options: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.mechanisms.randomised_response import response

    return _build_response_choice(response(_parse_value_count(options["--size"]), level), "Randomised response")


def _build_response_dual(options: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.mechanisms.randomised_response import response_dual

    return _build_response_choice(
        response_dual(_parse_value_count(options["--size"]), level), "The dual of randomised response"
    )


def _build_response_choice(mechanism: RandomisedResponse, title: str) -> MechanismChoice:
    from utmost.mechanisms.randomised_response import pairwise_privacy_loss

    def channel() -> Channel:
        _check_matrix_size(mechanism.size, mechanism.level)
        return mechanism.channel()

    return MechanismChoice(
        title,
        f"values 0 to {mechanism.size - 1}",
        channel,
        pairwise_privacy_loss,
        lambda text: _parse_position(text, mechanism.size - 1),
        lambda x, count: mechanism.draw([x] * count).tolist(),
        mechanism.level,
    )


def _build_exponential(options: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.mechanisms.exponential import exponential
    from utmost.mechanisms.randomised_response import pairwise_privacy_loss

    rows = [_parse_scores(row, "--scores") for row in options["--scores"].split(";")]
    mechanism = exponential(rows, level, options.get("--sensitivity", "1"), "--monotone" in options)

    def channel() -> Channel:
        _check_matrix_size(max(len(rows), len(rows[0])), None, "--scores must have a number of rows and columns")
        return mechanism.channel()

    return MechanismChoice(
        "The exponential mechanism",
        "inputs, in the order of their scores",
        channel,
        pairwise_privacy_loss,
        lambda text: _parse_position(text, len(rows) - 1),
        lambda x, count: mechanism.draw([x] * count).tolist(),
        level,
    )


def _build_staircase(options: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.channel import least_epsilon
    from utmost.mechanisms.staircase import staircase, staircase_space

    require_inner_level(level)
    mechanism = staircase(options.get("--sensitivity", "1"), level)  # type: ignore[arg-type]
    size = _parse_upper_end(options["--size"]) if "--size" in options else None
    sampler = mechanism if size is None else mechanism.truncate(size)

    def channel() -> Channel:
        if size is None:
            raise InputError("--size must be given to write the matrix of a staircase out, got none: or say --sample")
        return mechanism.truncate(_check_matrix_size(size, level, max_count=MAX_SLOW_COUNT)).channel()

    return MechanismChoice(
        f"The staircase mechanism for a sensitivity of {mechanism.sensitivity}, of width {mechanism.width}",
        f"counts 0 to {size}",
        channel,
        lambda channel: least_epsilon(channel, staircase_space(len(channel.inputs) - 1, mechanism.sensitivity)),
        lambda text: _parse_position(text, size),
        lambda x, count: sampler.draw([x] * count).tolist(),
        level,
        {"width": mechanism.width},
    )


def _build_from_file(name: str, space: str | None) -> MechanismChoice:
    from utmost.channel import files, least_epsilon
    from utmost.mechanisms.randomised_response import pairwise_privacy_loss
    from utmost.noise import channel_sampler, draw_channel
    from utmost.spaces import line, parse_space

    source = files.read_channel(name)
    points = None if space is None else parse_space(space)
    sampler, size = cache(lambda: channel_sampler(source)), len(source.inputs)
    are_counts = set(map(str, source.inputs)) == set(map(str, range(size)))
    counts_remark = f"Inputs that differ by 1 were taken for neighbours, since they are the counts 0 to {size - 1}."
    any_pair_remark = (
        "Any two inputs were taken for neighbours, since they are no counts from 0 on; --space says how far they are."
    )
    return MechanismChoice(
        "The channel in the file",
        "inputs",
        lambda: source,
        pairwise_privacy_loss
        if points is None and not are_counts
        else lambda channel: least_epsilon(channel, line(size) if points is None else points),
        lambda text: _find_input(text, source),
        lambda x, count: [source.outputs[y] for y in draw_channel(sampler(), [x] * count).tolist()],
        None,
        space=space or (f"line:{size}" if are_counts else f"discrete:{size}"),
        neighbours_remark="" if points is not None else counts_remark if are_counts else any_pair_remark,
    )


def _find_input(text: str, source: Channel) -> int:
    """The index of an input by its label: as it is spelled, else the one that is the same number, as 0.5 is 1/2."""
    from utmost.channel import files

    label = files.read_label(text)
    if label in source.inputs:
        return source.inputs.index(label)
    value = _number_or_none(text)
    matches = [
        x for x, candidate in enumerate(source.inputs) if value is not None and _number_or_none(candidate) == value
    ]
    if len(matches) != 1:
        raise InputError("--input must be an input of the channel in the file, spelled as there")
    return matches[0]


def _number_or_none(label: object) -> Number | None:
    from utmost.exact import number

    try:
        return number(label)
    except InputError:
        return None


def _parse_upper_end(text: str) -> int:
    from utmost.exact import integer

    size = integer(text, "--size")
    if not 0 <= size <= MAX_SAMPLED_COUNT:
        size_text = size if abs(size) < 10**15 else "more"
        raise InputError(f"--size must be the count's upper end, from 0 to 10^12, got {size_text}")
    return size


def _parse_value_count(text: str) -> int:
    from utmost.exact import integer
    from utmost.mechanisms.randomised_response import MAX_DRAW_VALUES

    size = integer(text, "--size")
    if not 1 <= size <= MAX_DRAW_VALUES:
        size_text = size if abs(size) < 10**15 else "more"
        raise InputError(f"--size must be the number of values, from 1 to {MAX_DRAW_VALUES}, got {size_text}")
    return size


def _check_matrix_size(
    size: int, level: Level | None, requirement: str = "--size must be", max_count: int = MAX_MATRIX_COUNT
) -> int:
    """A size whose matrix can be written out; a level that is irrational, or None, has the smaller limit."""
    from utmost.exact import Real

    irrational = level is None or isinstance(level.alpha, Real)
    limit = min(max_count, MAX_IRRATIONAL_COUNT if irrational else MAX_MATRIX_COUNT)
    if size > limit:
        advice = (
            "a rational --alpha goes further" if irrational and max_count == MAX_MATRIX_COUNT else "show a smaller one"
        )
        advice += ", and --sample needs no matrix"
        raise InputError(f"{requirement} from 0 to {limit} to write the matrix out at this level, got {size}: {advice}")
    return size


def require_inner_level(level: Level) -> None:
    """Refuse the two ends of privacy, where there is nothing to draw."""
    from utmost.exact import sign

    if level.alpha == 1:
        raise InputError("epsilon must be > 0 for this, got 0 (alpha 1): noise without end tells nothing")
    if sign(level.alpha) == 0:
        raise InputError("alpha must be > 0 for this, got 0: that would tell the input itself")


def _parse_scores(text: str, name: str) -> list[Fraction]:
    """Exact numbers with commas between them that are data: a refusal does not repeat them."""
    from utmost.mechanisms.input_checks import check_exact_number

    return [check_exact_number(score, name) for score in text.split(",")]


def _parse_numbers(text: str, name: str, count: int | None = None) -> list[Fraction]:
    """Exact numbers with commas between them."""
    from utmost.exact import rational

    numbers = [rational(number, name) for number in text.split(",")]
    if count is not None and len(numbers) != count:
        raise InputError(f"{name} must be {count} numbers with commas between them, got {len(numbers)}")
    return numbers


def _parse_position(text: str, last: int | None) -> int:
    """A whole number from 0 to `last`, or any where there is none; an --input is data, so it is not repeated."""
    from utmost.exact import integer

    requirement = "a whole number" if last is None else f"a whole number from 0 to {last}"
    try:
        x = integer(text, "--input")
    except InputError:
        raise InputError(f"--input must be {requirement}, got something else") from None
    if abs(x) > MAX_SAMPLED_COUNT or (last is not None and not 0 <= x <= last):
        raise InputError(f"--input must be {requirement}, got one outside")
    return x


def _parse_exact_input(text: str, count: int) -> list[Fraction]:
    """The numbers of an --input; it is data, so what is wrong with it is said without repeating it."""
    try:
        return _parse_numbers(text, "--input", count)
    except InputError:
        requirement = "an exact number such as 41.5" if count == 1 else f"{count} exact numbers such as 0.3,1.7"
        raise InputError(f"--input must be {requirement}, got something else") from None
