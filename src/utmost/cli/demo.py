"""`utmost demo`: a count of real people released privately, and what three consumers make of the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import PICTURES, Json, ending
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Leak
    from utmost.consumer import Consumer
    from utmost.data import Bundled
    from utmost.exact import Level
    from utmost.mechanisms.geometric import Geometric

EXAMPLES = "Examples: utmost demo;  utmost demo --plot beliefs.png;  utmost demo --json"
QUESTION = "How many of them expect to vote for Dole?"
EPSILON = "0.1"
CLAIM = 400  # what the fact checker has read in the paper
DEFAULT_PLOT = "utmost-demo.svg"


@dataclass(frozen=True, slots=True)
class Persona:
    """A consumer with a name, and her prior and loss in words."""

    name: str
    believes: str
    minimises: str
    consumer: Consumer


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a persona makes of the answer: her belief given it, her reading, its expected loss and face value's."""

    persona: Persona
    belief: tuple[float, ...]
    estimate: int
    expected_loss: float
    face_value_loss: float


def command(
    plot: Annotated[
        str, typer.Option(metavar="FILE", help="Where the picture goes: .svg, .png or .html.")
    ] = DEFAULT_PLOT,
    json: Json = False,
) -> None:
    """A private count, and what three consumers make of it.

    Counts the bundled survey of 1996, releases the count with ε = 0.1 and lets three consumers read the same answer.
    """
    from utmost import exact
    from utmost.data import anes96, count
    from utmost.mechanisms import geometric

    ending(plot, PICTURES, "--plot")
    survey, level = anes96(), exact.epsilon(EPSILON)
    mechanism = geometric(len(survey.rows), level)
    value = int(mechanism.draw([count(survey, lambda row: row["vote"] == 1)])[0])
    leak = recomputed(mechanism, value)
    outcomes = [outcome(persona, level, value) for persona in personas(len(survey.rows) + 1)]
    _draw(value, outcomes, plot)
    _document(value, leak, mechanism, outcomes) if json else _text(value, leak, survey, outcomes)


def personas(size: int) -> list[Persona]:
    """Three consumers of a count from 0 to size − 1, each with a legal loss, so that GRS12 Thm 3.2 speaks of her."""
    from fractions import Fraction

    from utmost.consumer import Consumer, losses, priors

    rest = Fraction(1, 2 * (size - 1))
    claim = priors.Explicit(tuple(Fraction(1, 2) if k == CLAIM else rest for k in range(size)), f"half on {CLAIM}")
    poll = priors.binomial(size, "0.45")
    return [
        Persona("journalist", "nothing (uniform)", "absolute error", Consumer(priors.uniform(size), losses.absolute)),
        Persona("pollster", "a poll: 45 in 100", "squared error", Consumer(poll, losses.squared)),
        Persona("fact checker", f"{CLAIM}, at even odds", "being wrong", Consumer(claim, losses.binary)),
    ]


def outcome(persona: Persona, level: Level, value: int) -> Outcome:
    """What a persona makes of the answer `value`."""
    from utmost.consumer.kernel import posterior, readings

    prior, loss = persona.consumer.prior, persona.consumer.loss
    every = readings(prior, level, loss)
    belief = tuple(float(chance) for chance in posterior(prior, level, value))
    return Outcome(persona, belief, int(every.remap[value]), every.expected_loss, every.face_value_loss)


def recomputed(mechanism: Geometric, value: int) -> Leak:
    """The largest leak between neighbours at both ends and at the answer, from their exact laws.

    By T[x,y] = κ_y·α^|x−y| every other pair of neighbours has the same ratios.
    """
    from utmost.channel import channel, least_epsilon
    from utmost.spaces import line

    last = mechanism.size - 1
    pairs = ((x, x + 1) for x in sorted({0, min(value, last), last}))
    leaks = [least_epsilon(channel([mechanism.law(x), mechanism.law(y)]), line(2)) for x, y in pairs]
    return max(leaks, key=lambda leak: leak.epsilon)


def _document(value: int, leak: Leak, mechanism: Geometric, outcomes: Sequence[Outcome]) -> None:
    from utmost.cli import show

    consumers = [
        {
            "name": found.persona.name,
            "prior": found.persona.consumer.prior.name,
            "loss": found.persona.consumer.loss.name,
            "estimate": found.estimate,
            "expected_loss": show.plain(found.expected_loss),
            "face_value_loss": show.plain(found.face_value_loss),
        }
        for found in outcomes
    ]
    name = f"geometric, truncated to 0..{mechanism.size}"
    show.document({"value": value, "epsilon": show.epsilon_of(leak), "mechanism": name, "consumers": consumers})


def _text(value: int, leak: Leak, survey: Bundled, outcomes: Sequence[Outcome]) -> None:
    from utmost.cli import show

    people = len(survey.rows)
    show.facts(
        [
            ("data", f"{survey.title}: {people} respondents; {survey.licence}. Source: {survey.source}."),
            ("question", f"{QUESTION} The true count is not shown."),
            ("mechanism", f"the geometric mechanism truncated to 0..{people}, drawn exactly"),
            ("privacy", f"ε = {show.epsilon_of(leak)}, recomputed from exact laws at both ends and at the answer"),
            ("released", str(value)),
        ]
    )
    show.say()
    show.say("What three consumers make of it. Losses are expected ones, over all answers:")
    _table(outcomes)
    show.say()
    for line in bars(value, outcomes, min(show.console().width, 100)):
        show.say(line)
    if all(found.persona.consumer.legality().legal for found in outcomes):
        show.say(
            f"\nNo other mechanism with ε = {show.epsilon_of(leak)} can give any of them a smaller expected loss, "
            "whatever she believes: GRS12 Theorem 3.2, whose condition on losses was checked for each."
        )


def _table(outcomes: Sequence[Outcome]) -> None:
    from utmost.cli import show
    from utmost.exact import decimal

    rows = [
        [
            found.persona.name,
            found.persona.believes,
            found.persona.minimises,
            str(found.estimate),
            decimal(found.expected_loss, 4),
            decimal(found.face_value_loss, 4),
        ]
        for found in outcomes
    ]
    show.table(["", "believes", "minimises", "reads", "her loss", "at face value"], rows, left=3)


def window(value: int, outcomes: Sequence[Outcome], margin: int) -> range:
    """The counts around the answer and the readings."""
    places = [value, *(found.estimate for found in outcomes)]
    return range(max(min(places) - margin, 0), min(max(places) + margin + 1, len(outcomes[0].belief)))


def bars(value: int, outcomes: Sequence[Outcome], width: int) -> list[str]:
    """Beliefs as rows of blocks over the counts around the answer, each to its own scale, the reading marked below."""
    label = max(len(found.persona.name) for found in outcomes) + 2
    counts = window(value, outcomes, 24)
    step = -(-len(counts) // max(width - label, 10))
    cells = [range(k, min(k + step, counts.stop)) for k in range(counts.start, counts.stop, step)]
    lines = []
    for found in outcomes:
        lines.append(f"{found.persona.name:<{label}}{_blocks(found, cells)}".rstrip())
        lines.append(_mark(f"reads {found.estimate}", label + (found.estimate - counts.start) // step, width))
    return [*lines, _mark(f"the answer {value}", label + (value - counts.start) // step, width)]


def _blocks(found: Outcome, cells: Sequence[range]) -> str:
    heights = [sum(found.belief[k] for k in cell) for cell in cells]
    top = max(heights)
    return "".join(" ▁▂▃▄▅▆▇█"[round(8 * height / top)] for height in heights)


def _mark(text: str, place: int, width: int) -> str:
    """A mark at a place of a line, with its text on the side that has room."""
    return " " * place + f"▲ {text}" if place + len(text) + 2 <= width else f"{text} ▲".rjust(place + 1)


def _draw(value: int, outcomes: Sequence[Outcome], plot: str) -> None:
    """The picture; a default one that cannot be written is a remark, one that was asked for an error."""
    from utmost import pictures
    from utmost.cli.show import remark

    counts = window(value, outcomes, 32)
    beliefs = [_belief(found, counts) for found in outcomes]
    title = f"One private answer, {value}, three readings"
    claim = "Bars: what each believes after the answer. Dashed: the answer. Solid: her best reading of it."
    try:
        pictures.write(pictures.beliefs(value, beliefs, title, claim), plot)
        remark(f"drew {plot}")
    except InputError as problem:
        if plot != DEFAULT_PLOT:
            raise
        remark(f"no picture, {problem}: --plot FILE puts it elsewhere")


def _belief(found: Outcome, counts: range) -> Any:
    from utmost.pictures import Belief

    who = found.persona
    words = f"{who.name}: believes {who.believes}; minimises {who.minimises}; reads {found.estimate}"
    return Belief(words, tuple(counts), tuple(found.belief[k] for k in counts), found.estimate)
