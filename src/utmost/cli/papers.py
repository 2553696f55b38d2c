"""`utmost papers`: the papers' tables and figures, published beside computed."""
from __future__ import annotations
from typing import Annotated
import typer
from utmost.cli.options import Json
EXAMPLES = "Examples: utmost papers;  utmost papers GRS12 --output figures"
def command(
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="A paper, for instance GRS12; all are listed if left out.")] = None,
    output: Annotated[str | None, typer.Option(metavar="DIR", help="Write its figures there.")] = None,
    json: Json = False,
) -> None:
    """Regenerate a paper's tables and figures, published beside computed."""
