"""The twins of the consumer's pages. A release and a query is all they see: no table, no plan, no ledger."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from utmost.consumer.priors import Prior
from utmost.publish.estimate import cells
from utmost.publish.record import Answer, Lattice, Release
from utmost.studio import files
from utmost.studio.consumer import board, found, shelf
from utmost.studio.consumer.asked import Asked
from utmost.studio.consumer.found import OverFound, ReadingFound
from utmost.studio.consumer.shelf import Shelf
from utmost.studio.consumer.tailored import Tailored, tailored
from utmost.studio.consumer.told import told
from utmost.studio.files import ReleaseFile
from utmost.studio.house import Who, With
from utmost.studio.problems import about
from utmost.studio.sessions import Visitor
from utmost.studio.settings import Settings

MOST_NAMED = 500  # cells whose names are listed

api = APIRouter(prefix="/api/consumer", tags=["consumer"])
Said = Annotated[Asked, Query()]
Name = Annotated[
    str, Path(max_length=300, description="A release's file, or the id of an upload", examples=["survey.release.json"])
]


class UploadView(BaseModel):
    """A release that this visitor brought; it is hers alone, and forgotten after a day."""

    id: str
    title: str
    answers: int
    epsilon: str


class Overview(BaseModel):
    """The releases that can be read."""

    releases: list[ReleaseFile]
    uploads: list[UploadView]


class AnswerView(BaseModel):
    """An answer of a release. `cells` are the names of a histogram's, up to 500 of them."""

    name: str
    kind: str
    where: str | None
    epsilon: str
    optimal: str
    behind: str = Field(description="How far off it may be")
    cells: list[str]
    cell_count: int
    value: str | None = Field(description="What was released, exactly; None for a histogram")
    bounded: bool = Field(description="Both ends are public, so a reader need not say them")


class ReleaseView(BaseModel):
    """A release: what it guarantees, and its answers."""

    title: str
    epsilon: str
    guarantee: str
    neighbours: str
    unit: str
    units: int | None
    answers: list[AnswerView]


class Document(BaseModel):
    """A release file, or weights, as text."""

    text: str = Field(max_length=shelf.LARGEST_RELEASE)


class Kept(BaseModel):
    """Where what was brought is found again, in this session."""

    id: str
    size: int = Field(description="Answers of a release, or weights of a prior")


@api.get("")
def overview(settings: With, who: Who) -> Overview:
    """The releases of the studio, and those that you brought."""
    own = [_upload(name, shelf.opened(settings, who, "uploads", name)) for name in shelf.brought(settings, who)]
    return Overview(releases=files.releases(settings), uploads=own)


def _upload(name: str, made: Release) -> UploadView:
    return UploadView(id=name, title=_title(made), answers=len(made), epsilon=str(made.epsilon))


def _title(made: Release) -> str:
    return made.title or made.source.name


@api.post("/uploads", status_code=201)
def bring_release(settings: With, who: Who, document: Document) -> Kept:
    """Bring a release of your own: the text of its file. It is kept for your session alone."""
    name = shelf.keep_release(settings, who, document.text.encode(errors="replace"))
    return Kept(id=name, size=len(shelf.opened(settings, who, "uploads", name)))


@api.post("/weights", status_code=201)
def bring_weights(settings: With, who: Who, document: Document) -> Kept:
    """Bring the weights of a prior: one a line, between commas, or a JSON list. Then read with prior=file&kept=ID."""
    name = shelf.keep_weights(settings, who, document.text.encode(errors="replace"))
    return Kept(id=name, size=shelf.weights(settings, who, name).size)


@api.get("/{shelf_name}/{name}")
def release(settings: With, who: Who, shelf_name: Shelf, name: Name) -> ReleaseView:
    """A release: what it guarantees, and its answers."""
    return described(shelf.opened(settings, who, shelf_name, name))


@api.get("/{shelf_name}/{name}/reading")
def reading(settings: With, who: Who, shelf_name: Shelf, name: Name, said: Said) -> ReadingFound:
    """The best reading of an answer for a prior and a loss, its interval, and what face value would cost."""
    answer, said, prior = asked_for(settings, who, shelf_name, name, said)
    with told():
        return found.reading(answer, file_name(shelf_name, name), said, prior)


@api.get("/{shelf_name}/{name}/over")
def over(settings: With, who: Who, shelf_name: Shelf, name: Name, said: Said) -> OverFound:
    """The same before the answer was known: losses over all answers, and how each of them would be read."""
    answer, said, prior = asked_for(settings, who, shelf_name, name, said)
    with told():
        return found.over(answer, said, prior)


@api.get("/{shelf_name}/{name}/tailored")
def made_for_her(settings: With, who: Who, shelf_name: Shelf, name: Name, said: Said) -> Tailored:
    """A mechanism made for this reader alone, certified, beside the released one: the same, by GRS12 Thm 3.2."""
    answer, said, prior = asked_for(settings, who, shelf_name, name, said)
    with told():
        return tailored(answer, said, prior)


def described(made: Release) -> ReleaseView:
    """A release and its answers; the cells of a histogram come with their readings."""
    return ReleaseView(
        title=_title(made),
        epsilon=str(made.epsilon),
        guarantee=made.guarantee,
        neighbours=str(made.neighbours),
        unit=str(made.unit),
        units=made.units,
        answers=[_answer(answer) for answer in made],
    )


def _answer(answer: Answer) -> AnswerView:
    names, law = cells(answer), answer.mechanism
    return AnswerView(
        name=answer.name,
        kind=answer.kind,
        where=answer.where,
        epsilon=str(answer.epsilon),
        optimal=answer.optimal,
        behind=answer.error.words,
        cells=list(names[:MOST_NAMED]),
        cell_count=len(names),
        value=None if isinstance(answer.value, tuple) else str(answer.value),
        bounded=not isinstance(law, Lattice) or (law.low is not None and law.high is not None),
    )


def asked_for(
    settings: Settings, who: Visitor, shelf_name: Shelf, name: str, said: Asked
) -> tuple[Answer, Asked, Prior | None]:
    """The answer that is read, what is said of it with its gaps filled, and the weights she brought, if she did."""
    made = shelf.opened(settings, who, shelf_name, name)
    with about("query"):
        answer = made[said.query] if said.query else made.answers[0]
    said = board.completed(said, answer)
    if said.prior == "file":
        return answer, said, shelf.weights(settings, who, said.kept)
    return answer, said, shelf.weights_in(said.weights) if said.prior == "weights" else None


def file_name(shelf_name: Shelf, name: str) -> str:
    """How the command line calls the release."""
    return name if shelf_name == "releases" else "uploaded.release.json"
