"""`utmost studio`: the web page, on this machine, for its user."""

from __future__ import annotations

from typing import Annotated

import typer

from utmost.cli.options import JsonOption
from utmost.errors import InputError

EXAMPLES = "Examples: utmost studio;  utmost studio surveys --port 9000 --no-browser"


def command(
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Folder of tables, plans and releases.")] = ".",
    port: Annotated[int, typer.Option(metavar="N", help="Port; a free one if it is taken.")] = 8650,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    json: JsonOption = False,
) -> None:
    """Open the web pages on this computer.

    Only this computer can reach them (127.0.0.1). They need no network. Ctrl-C ends the server.
    """
    require_studio()
    from utmost.studio import server, settings

    local_settings = settings.local_settings(folder, port=check_port(port))
    server.serve(local_settings, lambda address: _announce(address, browser, json), any_port=True)


def _announce(address: str, browser: bool, json: bool) -> None:
    """Say where it is, and open it."""
    from utmost.cli.output import print_json, print_lines

    if json:
        print_json({"address": address})
    else:
        print_lines(f"Studio: {address}  (Ctrl-C ends it)")
    if browser:
        import webbrowser

        webbrowser.open(address)


def check_port(port: int) -> int:
    """A port that exists; 0 is any free one."""
    if not 0 <= port <= 65535:
        raise InputError(f"--port must be from 0 to 65535, got {port}", "port")
    return port


def require_studio() -> None:
    """Refuse to go on without what serves pages."""
    from importlib.util import find_spec

    missing = [name for name in ("fastapi", "uvicorn", "jinja2", "python_multipart") if find_spec(name) is None]
    if missing:
        raise InputError(f"the studio needs {', '.join(missing)}, not installed", hint="pip install 'utmost[studio]'")
