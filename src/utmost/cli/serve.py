"""`utmost serve`: the studio for a team, with tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utmost.cli.options import CommandGroup, JsonOption
from utmost.errors import InputError

EXAMPLES = (
    "Examples: utmost serve token ann --role curator --tokens tokens.txt;  "
    "utmost serve --ledger postgresql://... --tokens tokens.txt --folder surveys"
)
TOKENS_HELP = "a file of tokens: utmost serve token NAME --role curator --tokens FILE makes one"

app = typer.Typer(
    cls=CommandGroup,
    help="Serve the web pages to a team.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)
TokensOption = Annotated[str | None, typer.Option(metavar="FILE", help="File of tokens, one line role:name:hash each.")]


@app.callback(invoke_without_command=True)
def command(
    context: typer.Context,
    ledger: Annotated[
        str | None, typer.Option(metavar="LEDGER", help="postgresql:// URL, or a file in --folder.")
    ] = None,
    tokens: TokensOption = None,
    folder: Annotated[str, typer.Option(metavar="DIR", help="Folder of tables, plans and releases.")] = ".",
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; this computer only if left out.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(metavar="N", help="Port.")] = 8650,
    name: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Host name of the server; may be repeated.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Serve the web pages to a team.

    Consumers reach releases and what needs no data; curators everything. It ends with Ctrl-C or SIGTERM, calmly.
    """
    if context.invoked_subcommand is not None:
        return
    if ledger is None:
        raise InputError(
            "--ledger must be given, got none", "ledger", "say postgresql://... or a file such as ledger.sqlite"
        )
    if tokens is None:
        raise InputError(f"--tokens must be given, got none: it is {TOKENS_HELP}", "tokens")
    _serve(folder, ledger, Path(tokens), host, port, tuple(name or ()), json)


def _serve(folder: str, ledger: str, tokens: Path, host: str, port: int, names: tuple[str, ...], json: bool) -> None:
    from utmost.cli.studio import check_port, require_studio

    require_studio()
    from utmost import ledger as ledgers
    from utmost.cli.output import print_json, print_lines, print_remark
    from utmost.studio import server, settings
    from utmost.studio.visitors import read_tokens

    if not read_tokens(tokens):
        raise InputError(f"--tokens must hold a token, got an empty file: it is {TOKENS_HELP}", "tokens")
    team_settings = settings.team_settings(
        folder, ledger=ledger, tokens=tokens, host=host, port=check_port(port), names=names
    )
    with ledgers.open_ledger(ledger, team_settings.folder) as opened_ledger:
        opened_ledger.has_budget("")  # it can be reached
    if host not in settings.LOOPBACK:
        print_remark("tokens travel as they are: let others reach this only through a proxy that speaks TLS")
    server.serve(
        team_settings,
        lambda address: print_json({"address": address}) if json else print_lines(f"Studio: {address}"),
    )


@app.command("token", epilog=EXAMPLES)
def token_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Owner of the token: ann.", show_default=False)],
    role: Annotated[str, typer.Option(metavar="ROLE", help="curator or consumer.")],
    tokens: TokensOption = None,
    json: JsonOption = False,
) -> None:
    """Create a token, print it once, and store its hash."""
    from utmost.cli.output import print_json, print_lines
    from utmost.studio.visitors import add_token

    if tokens is None:
        raise InputError(
            "--tokens must be given, got none", "tokens", "say where the tokens' hashes are, for instance tokens.txt"
        )
    token = add_token(Path(tokens), name, role)
    if json:
        print_json({"name": name, "role": role, "token": token})
    else:
        print_lines(f"{token}\nThe token of {name}, a {role}. It is not kept: copy it now.")
