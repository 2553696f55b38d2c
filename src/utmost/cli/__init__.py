"""The command line: parse the arguments, call the library, print. `main` is the entry point; no traceback leaves it."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from utmost.errors import InputError, UtmostError

MAX_MESSAGE_CHARS = 400


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and end the process: 0 done, 2 bad input, 130 interrupted, 1 anything else."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ε shows a question mark, not a traceback
    sys.set_int_max_str_digits(0)  # exact numbers may be long
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """The exit code of one command; what goes wrong is one line on stderr."""
    try:
        code = _run_command(arguments)
        sys.stdout.flush()
        return _print_error("interrupted", code) if code == 130 else code  # the parser may end a Ctrl-C by itself
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # the reader of our output has left: nothing to say
        return 1
    except UtmostError as problem:
        return _print_error(str(problem), 2 if isinstance(problem, InputError) else 1)
    except KeyboardInterrupt:
        return _print_error("interrupted", 130)
    except Exception as problem:
        return _report_exception(problem)


def _run_command(arguments: Sequence[str]) -> int:
    """The command itself: the parser's own `Exit` comes back as a code."""
    from utmost.cli.app import app
    from utmost.exact.files import record_files

    try:
        with record_files():
            code = app(list(arguments), prog_name="utmost", standalone_mode=False)
    except SystemExit as system_exit:
        code = system_exit.code
    return code if isinstance(code, int) else 0


def _report_exception(problem: Exception) -> int:
    """What the parser refuses is bad input (exit code 2); the rest is a bug here, named by its type alone.

    The parser is typer's own copy of click or click itself, by version, so its errors are recognised by their methods.
    """
    import typer

    if isinstance(problem, typer.Abort):
        return _print_error("interrupted", 130)
    if hasattr(problem, "format_message"):
        return _print_error(_usage_message(problem), 2)
    return _print_error(
        f"internal error ({type(problem).__name__}): this is a bug in utmost, please report the command", 1
    )


def _usage_message(problem: Exception) -> str:
    """The parser's message with the page that helps."""
    message: str = problem.format_message()  # type: ignore[attr-defined]
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "utmost"
    text = re.sub(r"\s*\(Possible options: (.*)\)", r", did you mean \1?", message.strip().rstrip("."))
    return f"{text[:1].lower()}{text[1:]}{'' if text.endswith('?') else ':'} see {path} --help"


def _print_error(message: str, code: int) -> int:
    """One printable line on stderr; of a long one the beginning and the end, where it says what to do."""
    line = " ".join(message.split())
    if len(line) > MAX_MESSAGE_CHARS:
        line = f"{line[: MAX_MESSAGE_CHARS - 120]} … {line[-110:]}"
    print(f"utmost: {''.join(c if c.isprintable() else '?' for c in line)}", file=sys.stderr)
    return code
