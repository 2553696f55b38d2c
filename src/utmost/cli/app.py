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
    compare,
    continuous,
    curve,
    deconvolve,
    definition,
    demo,
    distance,
    estimate,
    generalize,
    inspect,
    loss,
    mechanism,
    obfuscate,
    optimal,
    papers,
    plan,
    precision,
    privacy_type,
    recover,
    refine,
    release,
    serve,
    studio,
    table,
)
from utmost.cli.options import CommandGroup, FamilyCommand

SUMMARY = "Differentially private releases, provably as useful as the guarantee allows."
COMMANDS_BY_ROLE = {
    "Start": {"demo": demo},
    "Curator (publish a table)": {
        "release": release,
        "plan": plan,
        "inspect": inspect,
        "budget": budget,
        "calibrate": calibrate,
        "continuous": continuous,
        "obfuscate": obfuscate,
        "studio": studio,
        "serve": serve,
    },
    "Analyst (read a release)": {"estimate": estimate, "table": table, "recover": recover, "deconvolve": deconvolve},
    "Designer (choose a mechanism)": {
        "mechanism": mechanism,
        "optimal": optimal,
        "compare": compare,
        "curve": curve,
        "type": privacy_type,
        "refine": refine,
        "distance": distance,
        "generalize": generalize,
        "loss": loss,
    },
    "Auditor (test a guarantee)": {
        "check": check,
        "definition": definition,
        "audit": audit,
        "precision": precision,
    },
    "Papers": {"papers": papers},
}
app = typer.Typer(
    name="utmost",
    cls=CommandGroup,
    help=SUMMARY,
    epilog="Every command takes --json. Start with: utmost demo",
    subcommand_metavar="COMMAND",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
for role, modules in COMMANDS_BY_ROLE.items():
    for name, module in modules.items():
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name, rich_help_panel=role)
        else:
            command_class = getattr(module, "COMMAND_CLASS", FamilyCommand)
            app.command(name, cls=command_class, epilog=module.EXAMPLES, rich_help_panel=role)(module.command)


def _print_version(show_version: bool) -> None:
    if show_version:
        print(f"utmost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, help=SUMMARY)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Print the help where no command is named."""
    if context.invoked_subcommand is None:
        print(context.get_help())
