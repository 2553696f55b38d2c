"""Write `docs/api.md` and the type stub `src/utmost/__init__.pyi` from the tables of public names and the docstrings.

Run it after a change of a public name, signature or docstring: `make api`. A test compares both files with the code.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import utmost

ROOT = Path(__file__).parent.parent
PAGE, STUB = ROOT / "docs" / "api.md", ROOT / "src" / "utmost" / "__init__.pyi"
INTRODUCTION = """\
# API reference

This page is made from the docstrings (`make api`). `import utmost as ut` gives the names that most programs need;
further names are in modules such as `ut.ledger` and `ut.qif`.

**What is public.** The names on this page, their parameters, and the documented attributes of their classes. They are
stable: `CHANGELOG.md` announces every change. Everything else in the package is private, whatever it is called, and may
change at any time.

An error that you can correct is an `ut.InputError`, with `field` (the argument) and `hint` (what to do). Numbers are
exact: write `"0.1"` or `"1/10"`, not the float `0.1`.
"""
MAX_LINE_CHARS = 100  # of a signature on one line
ROLES = {  # role: (homes of names of utmost, public modules)
    "Curator": (
        ("utmost.publish.builder", "utmost.publish.release_file", "utmost.publish.table_strategies"),
        ("builder", "planning", "queries", "ledger", "data", "calibration", "local"),
    ),
    "Analyst": (("utmost.consumer", "utmost.consumer.counts"), ("consumer", "priors", "losses", "joint")),
    "Designer": (
        (
            "utmost.spaces",
            "utmost.channel",
            "utmost.mechanisms",
            "utmost.comparison",
            "utmost.design",
            "utmost.design.minimax",
            "utmost.design.universal",
            "utmost.polytopes",
            "utmost.qif",
            "utmost.continuous",
        ),
        (
            "spaces",
            "channel",
            "comparison",
            "mechanisms",
            "universal",
            "approximate_counts",
            "gaussian",
            "concentrated",
            "polytopes",
            "qif",
            "continuous",
            "continuous.densities",
            "continuous.losses",
            "continuous.mechanisms",
        ),
    ),
    "Auditor": (("utmost.axioms",), ("audit", "axioms", "precision", "noise")),
    "Every role": (("utmost.exact", "utmost.errors"), ("exact", "errors", "charts", "papers")),
}
SUMMARIES = {
    "Curator": "You have a table and publish statistics under a budget.",
    "Analyst": "You have a release, a prior and a loss, and want the best reading.",
    "Designer": "You have secrets and a metric, and want the best mechanism, a capacity or a comparison.",
    "Auditor": "You have an implementation or a definition, and want the ε that it really gives.",
    "Every role": "Exact numbers, errors, charts, and the papers computed again.",
}


def page() -> str:
    """The text of `docs/api.md`."""
    return "\n".join([INTRODUCTION, *(line for role in ROLES for line in _role_lines(role))])


def stub() -> str:
    """The text of `__init__.pyi`: each public name, imported from its home."""
    names = [f"from {home} import {name} as {name}" for name, home in utmost._HOME.items()]
    modules = [f"from {home.rpartition('.')[0]} import {name} as {name}" for name, home in utmost._MODULE_HOME.items()]
    return "\n".join(["# Written by docs/make_api.py.", *sorted(names + modules), "", "__version__: str", ""])


def _role_lines(role: str) -> Iterator[str]:
    homes, modules = ROLES[role]
    yield from (f"## {role}", "", SUMMARIES[role], "", "### `ut`", "")
    for home in homes:
        for name in utmost._NAMES[home].split():
            yield from _name_lines(f"ut.{name}", getattr(import_module(home), name))
    for module_name in modules:
        yield from _module_lines(module_name)


def _module_lines(name: str) -> Iterator[str]:
    """A module's first sentence, and its names; what `ut` has too is only listed."""
    key = next(key for key in utmost._MODULES if key.partition(" = ")[0] == name)
    module = import_module(utmost._module_homes()[name])
    public = utmost._MODULES[key].split()
    repeated = [x for x in public if x in utmost._HOME and getattr(utmost, x) is not None and _is_same(module, x)]
    yield from (f"### `ut.{name}`", "", _first_paragraph(module), "")
    if repeated:
        yield from (f"Also in `ut`: {', '.join(f'`{x}`' for x in repeated)}.", "")
    for public_name in public:
        if public_name not in repeated:
            yield from _name_lines(f"ut.{name}.{public_name}", getattr(module, public_name))


def _is_same(module: ModuleType, name: str) -> bool:
    return getattr(module, name) is getattr(import_module(utmost._HOME[name]), name)


def _name_lines(name: str, value: Any) -> Iterator[str]:
    value = inspect.unwrap(value)
    yield from (f"#### `{name}`", "")
    signature = _signature(value)
    if signature:
        yield from ("```text", f"{name.rpartition('.')[2]}{signature}", "```", "")
    yield from (_first_paragraph(value), "")


def _signature(value: Any) -> str:
    """The parameters of a function or of a class that is made by calling it."""
    is_made = inspect.isclass(value) and (is_dataclass(value) or "__init__" in vars(value))
    is_protocol = getattr(value, "_is_protocol", False)
    if (not isinstance(value, FunctionType) and not is_made) or is_protocol:
        return ""
    signature = inspect.signature(value)
    returns = inspect.Signature.empty if inspect.isclass(value) else _Annotation(signature.return_annotation)
    parameters = [parameter.replace(annotation=_Annotation(parameter.annotation)) for parameter in _shown(signature)]
    text = str(signature.replace(parameters=parameters, return_annotation=returns))
    if len(text) > MAX_LINE_CHARS:
        arguments, _, result = text.rpartition(")")
        lines = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
        assert lines == f"{arguments})"
        text = f"(\n    {_one_a_line(lines[1:-1])},\n){result}"
    return re.sub(r"<[^<>]* at 0x[0-9a-f]+>", "…", text)


def _shown(signature: inspect.Signature) -> list[inspect.Parameter]:
    return [parameter for name, parameter in signature.parameters.items() if name != "self"]


def _one_a_line(arguments: str) -> str:
    """The arguments, each on its own line: commas inside brackets stay."""
    depth, text = 0, ""
    for character in arguments:
        depth += (character in "([{") - (character in ")]}")
        text += character + ("\n   " if character == "," and not depth else "")
    return text


class _Annotation:
    """An annotation that is written as in the source, without the quotes that postponed evaluation puts around it."""

    def __init__(self, annotation: Any) -> None:
        self.text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)

    def __repr__(self) -> str:
        return self.text


def _first_paragraph(value: Any) -> str:
    if not isinstance(value, ModuleType | FunctionType | type):
        kind = type(value)
        return f"A {kind.__name__}. {_first_paragraph(kind) if kind.__module__.startswith('utmost') else ''}".strip()
    paragraph = (inspect.getdoc(value) or "").split("\n\n")[0]
    return " ".join(line.strip() for line in paragraph.splitlines())


def main() -> None:
    """Write both files."""
    PAGE.write_text(page(), encoding="utf-8")
    STUB.write_text(stub(), encoding="utf-8")


if __name__ == "__main__":
    main()
