"""The commands of `utmost`, in one app."""

from __future__ import annotations

from typing import Annotated

import typer

from utmost import __version__
from utmost.cli import (
    audit,
    budget,
    calibrate,
    check,
    continuous,
    definition,
    demo,
    estimate,
    generalize,
    loss,
    mechanism,
    obfuscate,
    optimal,
    papers,
    precision,
    privacy_type,
    recover,
    refine,
    release,
    serve,
    studio,
)

app = typer.Typer(
    name="utmost",
    help="Differentially private releases, provably as useful as the guarantee allows.",
    epilog="Every command takes --json. Start with: utmost demo",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
for name, module in {
    "demo": demo,
    "release": release,
    "estimate": estimate,
    "obfuscate": obfuscate,
    "recover": recover,
    "mechanism": mechanism,
    "optimal": optimal,
    "type": privacy_type,
    "check": check,
    "refine": refine,
    "generalize": generalize,
    "loss": loss,
    "papers": papers,
    "studio": studio,
    "audit": audit,
}.items():
    app.command(name, epilog=module.EXAMPLES)(module.command)
app.add_typer(budget.app, name="budget")
app.add_typer(calibrate.app, name="calibrate")
app.add_typer(continuous.app, name="continuous")
app.add_typer(definition.app, name="definition")
app.add_typer(precision.app, name="precision")
app.add_typer(serve.app, name="serve")


def _print_version(show_version: bool) -> None:
    if show_version:
        print(f"utmost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Differentially private releases, provably as useful as the guarantee allows."""
    if context.invoked_subcommand is None:
        print(context.get_help())
