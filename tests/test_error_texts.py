"""Nobody reads the text of an exception: what a caller must know is an attribute of the error.

The text may be shown, stored, or put into another message. It is not compared, split, searched or replaced.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "utmost"
MODULES = sorted(SOURCE.rglob("*.py"))
READING_METHODS = {
    *("startswith", "endswith", "split", "rsplit", "partition", "rpartition", "splitlines", "find", "rfind", "index"),
    *("removeprefix", "removesuffix", "replace", "count", "translate"),
}
READING_FUNCTIONS = {"match", "fullmatch", "search", "findall", "finditer", "sub", "subn", "split"}


def caught_names(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """(name, scope) of each exception: one that is caught, and a parameter whose annotation says that it is one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node
        if isinstance(node, ast.FunctionDef):
            for argument in node.args.args:
                if argument.annotation is not None and ast.unparse(argument.annotation).endswith(
                    ("Error", "Exception")
                ):
                    yield argument.arg, node


def is_text_of(node: ast.AST, name: str, copies: set[str]) -> bool:
    """Is it the text of the exception, or of a variable that holds it: str(error), error.args[0], error.message."""
    if isinstance(node, ast.Name):
        return node.id in copies
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if node.func.id in ("str", "repr") and [ast.unparse(argument) for argument in arguments] == [name]:
            return True
        return any(is_text_of(argument, name, copies) for argument in arguments)
    text = ast.unparse(node)
    return text.startswith(f"{name}.args[") or text in (f"{name}.message", f"{name}.text", f"{name}.hint")


def readings(scope: ast.AST, name: str) -> Iterator[str]:
    """Where the text of an exception is read in its scope."""
    copies: set[str] = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and is_text_of(node.value, name, copies):
            copies |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method, receiver = node.func.attr, node.func.value
            if method in READING_METHODS and is_text_of(receiver, name, copies):
                yield ast.unparse(node)
            if method in READING_FUNCTIONS and any(is_text_of(argument, name, copies) for argument in node.args):
                yield ast.unparse(node)
        if (
            isinstance(node, ast.Compare)
            and any(is_text_of(side, name, copies) for side in (node.left, *node.comparators))
            and not all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops)
        ):
            yield ast.unparse(node)


def all_readings(code: str) -> list[str]:
    tree = ast.parse(code)
    return [found for name, scope in caught_names(tree) for found in readings(scope, name)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_reads_the_text_of_an_exception(module: Path) -> None:
    assert not all_readings(module.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "body",
    [
        "str(error).startswith('table ')",
        "str(error).split(' ')",
        "'accounting' in str(error)",
        "re.match('[a-z]+', str(error))",
        "PATTERN.sub('', one_line(str(error)))",
        "message = str(error)\n    message.partition(' ')",
        "error.args[0] == 'x'",
        "error.message.removeprefix('x')",
    ],
)
def test_the_check_sees_a_text_that_is_read(body: str) -> None:
    assert all_readings(f"try:\n    pass\nexcept InputError as error:\n    {body}\n")
    indented = body.replace("\n    ", "\n    ")
    assert all_readings(f"def field_of(error: InputError) -> str:\n    {indented}\n")


@pytest.mark.parametrize(
    "body",
    ["raise InputError(f'x: {error}') from None", "show(str(error))", "error.field == 'x'", "error.hint is None"],
)
def test_the_check_lets_a_text_be_shown(body: str) -> None:
    assert not all_readings(f"try:\n    pass\nexcept InputError as error:\n    {body}\n")
