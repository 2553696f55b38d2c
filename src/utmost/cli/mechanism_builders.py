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
LARGEST_IRRATIONAL = 100  # the same, where its entries are irrational
LARGEST_SLOW = 50  # the same, where they are roots or every pair within a sensitivity is compared
LONGEST_LINE = 10**12  # upper end of a count that is drawn from
OPTIONS_BY_MECHANISM = {
    "geometric": ("--size",),
    "laplace": ("--range", "--granularity", "--sensitivity"),
    "planar": ("--step", "--box"),
    "response": ("--size",),
    "response-dual": ("--size",),
    "exponential": ("--scores", "--sensitivity", "--monotone"),
    "staircase": ("--sensitivity", "--size"),
}
NEEDS = {
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

    `channel` makes its matrix or says why there is none, `leak` recomputes its ε, `point` reads an --input, `draw`
    gives that many samples for it as a document has them; `facts` join the document. `space` names the neighbours that
    were assumed where the mechanism itself does not say, `assumed` says it in words.
    """

    title: str
    rows: str
    channel: Callable[[], Channel]
    leak: Callable[[Channel], PrivacyLoss]
    point: Callable[[str], Any]
    draw: Callable[[Any, int], list[Any]]
    level: Level | None
    facts: dict[str, Any] = field(default_factory=dict)
    space: str | None = None
    assumed: str = ""


def choose_mechanism(name: str, given: dict[str, str], alpha: str | None, epsilon: str | None) -> MechanismChoice:
    """The mechanism by its name; every option is checked before anything is drawn."""
    if name.lower().endswith(CHANNEL_ENDINGS):
        levels = {"--alpha": alpha, "--epsilon": epsilon}
        _refuse_surplus(name, [*given, *(key for key, value in levels.items() if value is not None)], ("--space",))
        return _file(name, given.get("--space"))
    if name not in OPTIONS_BY_MECHANISM:
        raise InputError(_unknown(name))
    _refuse_surplus(name, list(given), OPTIONS_BY_MECHANISM[name])
    for option in NEEDS[name]:
        if option not in given:
            raise InputError(f"{option} must be given for {name}, got none: see utmost mechanism --help")
    makers = {"geometric": _geometric, "laplace": _laplace, "planar": _planar, "exponential": _exponential}
    makers |= {"response": _response, "response-dual": _response_dual, "staircase": _staircase}
    return makers[name](given, required_level(alpha, epsilon))


def _refuse_surplus(name: str, given: list[str], takes: tuple[str, ...]) -> None:
    for option in given:
        if option not in takes:
            words = "the file is the whole mechanism" if takes == ("--space",) else f"it takes {', '.join(takes)}"
            raise InputError(f"{option} must not be given for {name[-40:]}: {words}")


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), OPTIONS_BY_MECHANISM, 1, 0.5)
    advice = f"did you mean {near[0]}?" if near else "no other mechanism is built in"
    return (
        f"NAME must be {', '.join(OPTIONS_BY_MECHANISM)}, or a file that ends in .csv or .json, got "
        f'"{name[:40]}": {advice}'
    )


def _geometric(given: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.channel import least_epsilon
    from utmost.mechanisms import geometric
    from utmost.spaces import line

    size = _upper_end(given["--size"])
    return MechanismChoice(
        "The truncated geometric mechanism",
        f"counts 0 to {size}",
        lambda: geometric(_written(size, level), level).channel(),
        lambda channel: least_epsilon(channel, line(len(channel.inputs))),
        lambda text: _position(text, size),
        lambda x, count: geometric(size, level).draw([x] * count).tolist(),
        level,
    )


def _laplace(given: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.cli import output
    from utmost.mechanisms.laplace import laplace

    low, high = _numbers(given["--range"], "--range", 2)
    inner(level)
    made = laplace(low, high, given["--granularity"], given.get("--sensitivity", "1"), level)
    cost, spelled = made.cost, cache(lambda k: str(made.value(k)))

    def channel() -> Channel:
        rooted = made.steps > 1 and level.exponent is None  # several steps a sensitivity: α^(1/steps) for each
        _written(
            made.size, level, "--granularity must leave a number of steps", LARGEST_SLOW if rooted else MAX_MATRIX_COUNT
        )
        return made.channel()

    facts: dict[str, Any] = {"rounding": str(cost.rounding), "steps": cost.steps, "stretch": str(cost.stretch)}
    errors = {"grid_error": cost.grid_error, "laplace_error": cost.continuous_error}
    return MechanismChoice(
        "The truncated Laplace mechanism on a grid",
        f"values {made.low} to {made.high} in steps of {made.granularity}",
        channel,
        lambda channel: made.leak(),
        lambda text: made.position(_exact(text, 1)[0]),
        lambda x, count: list(map(spelled, made.draw_positions([x] * count).tolist())),
        level,
        {"cost": facts | {name: output.json_value(float(value)) for name, value in errors.items()}},
    )


def _planar(given: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.exact import integer
    from utmost.mechanisms.planar import planar

    inner(level)
    made = planar(given["--step"], level)
    if "--box" in given:
        corners = [integer(c / made.step, "--box in steps") for c in _numbers(given["--box"], "--box", 4)]
        made = planar(made.step, level, corners)

    spelled = cache(lambda k: str(k * made.step))

    def draw(x: Any, count: int) -> list[Any]:
        return [[spelled(i), spelled(j)] for i, j in made.draw([x] * count).tolist()]

    def channel() -> Channel:
        why = "its probabilities are no numbers that can be written down exactly"
        raise InputError(f"planar has no matrix to write out, since {why}: say --sample K --input X,Y")

    return MechanismChoice(
        "The planar Laplace mechanism",
        "places on a lattice",
        channel,
        _no_leak,
        lambda text: made.position(_exact(text, 2)),
        draw,
        level,
        {"step": str(made.step)},
    )


def _no_leak(channel: Channel) -> PrivacyLoss:
    raise InputError("this mechanism has no matrix to recompute its epsilon from")


def _response(given: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.mechanisms.randomised_response import response

    return _responder(response(_values(given["--size"]), level), "Randomised response")


def _response_dual(given: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.mechanisms.randomised_response import response_dual

    return _responder(response_dual(_values(given["--size"]), level), "The dual of randomised response")


def _responder(made: RandomisedResponse, title: str) -> MechanismChoice:
    from utmost.mechanisms.randomised_response import pairwise_leak

    def channel() -> Channel:
        _written(made.size, made.level)
        return made.channel()

    return MechanismChoice(
        title,
        f"values 0 to {made.size - 1}",
        channel,
        pairwise_leak,
        lambda text: _position(text, made.size - 1),
        lambda x, count: made.draw([x] * count).tolist(),
        made.level,
    )


def _exponential(given: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.mechanisms.exponential import exponential
    from utmost.mechanisms.randomised_response import pairwise_leak

    rows = [_data(row, "--scores") for row in given["--scores"].split(";")]
    made = exponential(rows, level, given.get("--sensitivity", "1"), "--monotone" in given)

    def channel() -> Channel:
        _written(max(len(rows), len(rows[0])), None, "--scores must have a number of rows and columns")
        return made.channel()

    return MechanismChoice(
        "The exponential mechanism",
        "inputs, in the order of their scores",
        channel,
        pairwise_leak,
        lambda text: _position(text, len(rows) - 1),
        lambda x, count: made.draw([x] * count).tolist(),
        level,
    )


def _staircase(given: dict[str, str], level: Level) -> MechanismChoice:
    from utmost.channel import least_epsilon
    from utmost.mechanisms.staircase import staircase, staircase_space

    inner(level)
    made = staircase(given.get("--sensitivity", "1"), level)  # type: ignore[arg-type]
    size = _upper_end(given["--size"]) if "--size" in given else None
    drawn = made if size is None else made.truncated(size)

    def channel() -> Channel:
        if size is None:
            raise InputError("--size must be given to write the matrix of a staircase out, got none: or say --sample")
        return made.truncated(_written(size, level, most=LARGEST_SLOW)).channel()

    return MechanismChoice(
        f"The staircase mechanism for a sensitivity of {made.sensitivity}, of width {made.width}",
        f"counts 0 to {size}",
        channel,
        lambda channel: least_epsilon(channel, staircase_space(len(channel.inputs) - 1, made.sensitivity)),
        lambda text: _position(text, size),
        lambda x, count: drawn.draw([x] * count).tolist(),
        level,
        {"width": made.width},
    )


def _file(name: str, space: str | None) -> MechanismChoice:
    from utmost.channel import files, least_epsilon
    from utmost.mechanisms.randomised_response import pairwise_leak
    from utmost.noise import channel_sampler, draw_channel
    from utmost.spaces import line, parse_space

    source = files.read_channel(name)
    points = None if space is None else parse_space(space)
    tables, size = cache(lambda: channel_sampler(source)), len(source.inputs)
    ordered = set(map(str, source.inputs)) == set(map(str, range(size)))
    counts = f"Inputs that differ by 1 were taken for neighbours, since they are the counts 0 to {size - 1}."
    others = (
        "Any two inputs were taken for neighbours, since they are no counts from 0 on; --space says how far they are."
    )
    return MechanismChoice(
        "The channel in the file",
        "inputs",
        lambda: source,
        pairwise_leak
        if points is None and not ordered
        else lambda channel: least_epsilon(channel, line(size) if points is None else points),
        lambda text: _labelled(text, source),
        lambda x, count: [source.outputs[y] for y in draw_channel(tables(), [x] * count).tolist()],
        None,
        space=space or (f"line:{size}" if ordered else f"discrete:{size}"),
        assumed="" if points is not None else counts if ordered else others,
    )


def _labelled(text: str, source: Channel) -> int:
    """The place of an input by its label: as it is spelled, else the one that is the same number, as 0.5 is 1/2."""
    from utmost.channel import files

    label = files.read_label(text)
    if label in source.inputs:
        return source.inputs.index(label)
    value = _number_if_any(text)
    same = [x for x, other in enumerate(source.inputs) if value is not None and _number_if_any(other) == value]
    if len(same) != 1:
        raise InputError("--input must be an input of the channel in the file, spelled as there")
    return same[0]


def _number_if_any(label: object) -> Number | None:
    from utmost.exact import number

    try:
        return number(label)
    except InputError:
        return None


def _upper_end(text: str) -> int:
    from utmost.exact import integer

    size = integer(text, "--size")
    if not 0 <= size <= LONGEST_LINE:
        got = size if abs(size) < 10**15 else "more"
        raise InputError(f"--size must be the count's upper end, from 0 to 10^12, got {got}")
    return size


def _values(text: str) -> int:
    from utmost.exact import integer
    from utmost.mechanisms.randomised_response import MAX_DRAW_VALUES

    size = integer(text, "--size")
    if not 1 <= size <= MAX_DRAW_VALUES:
        got = size if abs(size) < 10**15 else "more"
        raise InputError(f"--size must be the number of values, from 1 to {MAX_DRAW_VALUES}, got {got}")
    return size


def _written(size: int, level: Level | None, words: str = "--size must be", most: int = MAX_MATRIX_COUNT) -> int:
    """A size whose matrix can be written out; a level that is irrational, or None, has the smaller limit."""
    from utmost.exact import Real

    irrational = level is None or isinstance(level.alpha, Real)
    limit = min(most, LARGEST_IRRATIONAL if irrational else MAX_MATRIX_COUNT)
    if size > limit:
        advice = "a rational --alpha goes further" if irrational and most == MAX_MATRIX_COUNT else "show a smaller one"
        advice += ", and --sample needs no matrix"
        raise InputError(f"{words} from 0 to {limit} to write the matrix out at this level, got {size}: {advice}")
    return size


def inner(level: Level) -> None:
    """Refuse the two ends of privacy, where there is nothing to draw."""
    from utmost.exact import sign

    if level.alpha == 1:
        raise InputError("epsilon must be > 0 for this, got 0 (alpha 1): noise without end tells nothing")
    if sign(level.alpha) == 0:
        raise InputError("alpha must be > 0 for this, got 0: that would tell the input itself")


def _data(text: str, name: str) -> list[Fraction]:
    """Exact numbers with commas between them that are data: a refusal does not repeat them."""
    from utmost.mechanisms.input_checks import check_exact_number

    return [check_exact_number(part, name) for part in text.split(",")]


def _numbers(text: str, name: str, count: int | None = None) -> list[Fraction]:
    """Exact numbers with commas between them."""
    from utmost.exact import rational

    parts = [rational(part, name) for part in text.split(",")]
    if count is not None and len(parts) != count:
        raise InputError(f"{name} must be {count} numbers with commas between them, got {len(parts)}")
    return parts


def _position(text: str, last: int | None) -> int:
    """A whole number from 0 to `last`, or any where there is none; an --input is data, so it is not repeated."""
    from utmost.exact import integer

    words = "a whole number" if last is None else f"a whole number from 0 to {last}"
    try:
        x = integer(text, "--input")
    except InputError:
        raise InputError(f"--input must be {words}, got something else") from None
    if abs(x) > LONGEST_LINE or (last is not None and not 0 <= x <= last):
        raise InputError(f"--input must be {words}, got one outside")
    return x


def _exact(text: str, count: int) -> list[Fraction]:
    """The numbers of an --input; it is data, so what is wrong with it is said without repeating it."""
    try:
        return _numbers(text, "--input", count)
    except InputError:
        words = "an exact number such as 41.5" if count == 1 else f"{count} exact numbers such as 0.3,1.7"
        raise InputError(f"--input must be {words}, got something else") from None
