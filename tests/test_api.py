"""What is public is written down once: names, modules, the API page, the type stub, and what docs import."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import utmost as ut

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
SCRIPTS = sorted((ROOT / "examples").rglob("*.py"))
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def load_make_api() -> ModuleType:
    spec = spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public_names() -> dict[str, set[str]]:
    """The public names of each module that programs may import from, by where it is defined."""
    homes = ut._module_homes()
    names = {homes[key.partition(" = ")[0]]: set(value.split()) for key, value in ut._MODULES.items()}
    for name in homes:  # ut.continuous.losses is an attribute of ut.continuous
        parent, _, child = name.rpartition(".")
        if parent:
            names[homes[parent]].add(child)
    return {**names, "utmost": {*ut.__all__, "__version__"}}


PUBLIC = public_names()
IMPORTABLE = {"utmost", *(home for name, home in ut._module_homes().items() if home == f"utmost.{name}")}


def python_of(page: Path) -> str:
    if page.suffix == ".py":
        return page.read_text(encoding="utf-8")
    parser = doctest.DocTestParser()
    bodies = PYTHON_BLOCK.findall(page.read_text(encoding="utf-8"))
    return "\n".join(
        "".join(example.source for example in parser.get_examples(body)) if ">>>" in body else body for body in bodies
    )


class Imports(ast.NodeVisitor):
    """Collects what a program takes from the package: (module, name) pairs, whichever way it writes them."""

    def __init__(self) -> None:
        self.taken: set[tuple[str, str]] = set()
        self.modules: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] == "utmost":
                self.modules[alias.asname or "utmost"] = alias.name if alias.asname else "utmost"
                if alias.name not in IMPORTABLE:
                    self.taken.add((alias.name, "(import)"))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if (node.module or "").split(".")[0] == "utmost":
            if node.module not in IMPORTABLE:
                self.taken.add((str(node.module), "(import)"))
            for alias in node.names:
                self._take(str(node.module), alias.name, alias.asname or alias.name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._module_of(node)
        self.generic_visit(node)

    def _module_of(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        if isinstance(node, ast.Attribute):
            module = self._module_of(node.value)
            return None if module is None else self._take(module, node.attr, None)
        return None

    def _take(self, module: str, name: str, bound: str | None) -> str | None:
        self.taken.add((module, name))
        value = getattr(importlib.import_module(module), name, None)
        if not isinstance(value, ModuleType) or value.__name__ not in PUBLIC:
            return None
        if bound is not None:
            self.modules[bound] = value.__name__
        return value.__name__


@pytest.mark.parametrize("page", [*PAGES, *SCRIPTS], ids=lambda page: str(page.relative_to(ROOT)))
def test_docs_and_examples_take_public_names_only(page: Path) -> None:
    imports = Imports()
    imports.visit(ast.parse(python_of(page)))
    assert not sorted((module, name) for module, name in imports.taken if name not in PUBLIC.get(module, ()))


def test_the_check_of_imports_sees_private_names() -> None:
    imports = Imports()
    imports.visit(
        ast.parse(
            "import utmost as ut\nfrom utmost import qif\nfrom utmost.exact.reals import Real\n"
            "ut.axioms.check_bound\nqif.hyper\nqif.linear_systems.x\nut.universal.verify\nimport utmost.lp\n"
            "from utmost.design.universal import verify"
        )
    )
    private = {(module, name) for module, name in imports.taken if name not in PUBLIC.get(module, ())}
    assert private == {
        ("utmost.design.universal", "(import)"),
        ("utmost.exact.reals", "(import)"),
        ("utmost.exact.reals", "Real"),
        ("utmost.axioms", "check_bound"),
        ("utmost.qif", "linear_systems"),
        ("utmost.lp", "(import)"),
    }


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_there_and_has_a_docstring(module: str) -> None:
    found = importlib.import_module(module)
    for name in PUBLIC[module] - {"__version__"}:
        value = getattr(found, name)
        kind = value if inspect.isfunction(value) or inspect.isclass(value) or inspect.ismodule(value) else type(value)
        assert inspect.getdoc(kind), f"{module}.{name}"


def test_the_page_and_the_stub_are_what_the_code_says() -> None:
    make_api: Any = load_make_api()
    advice = "run make api"
    assert make_api.PAGE.read_text(encoding="utf-8") == make_api.page(), advice
    assert make_api.STUB.read_text(encoding="utf-8") == make_api.stub(), advice


def test_every_public_name_is_on_the_page() -> None:
    text = load_make_api().page()
    for name in ut._HOME:
        assert f"#### `ut.{name}`" in text
    for key, names in ut._MODULES.items():
        module = key.partition(" = ")[0]
        section = text.partition(f"### `ut.{module}`\n")[2].partition("\n### ")[0]
        assert section
        assert not [
            name for name in names.split() if f"`ut.{module}.{name}`" not in section and f"`{name}`" not in section
        ]


def test_no_name_is_written_twice() -> None:
    names = [name for value in ut._NAMES.values() for name in value.split()]
    assert len(names) == len(set(names))
    assert not set(names) & set(ut._MODULE_HOME)
    assert dir(ut) == sorted({*names, *ut._MODULE_HOME, "__version__"})
    for value in ut._MODULES.values():
        assert len(value.split()) == len(set(value.split()))


def test_a_public_module_lists_its_public_names_however_it_was_reached() -> None:
    program = (
        "import utmost as ut\n"
        "import utmost.channel, utmost.continuous.losses\n"
        "for name, home in ut._module_homes().items():\n"
        "    value = ut\n"
        "    for part in name.split('.'):\n"
        "        value = getattr(value, part)\n"
        "    print(name, *dir(value))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    listed = {line.split()[0]: set(line.split()[1:]) for line in run.stdout.splitlines()}
    assert listed == {name: PUBLIC[home] for name, home in ut._module_homes().items()}


def test_completion_in_a_notebook_offers_public_names() -> None:
    pytest.importorskip("IPython")
    from IPython.core.completer import provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.user_ns["ut"] = ut
    shell.Completer.use_jedi = False
    for line, home in (("ut.losses.", "utmost.consumer.losses"), ("ut.audit.", "utmost.audit")):
        with provisionalcompleter():
            offered = {completion.text.lstrip(".") for completion in shell.Completer.completions(line, len(line))}
        assert {name for name in offered if "__" not in name} == PUBLIC[home]


@pytest.mark.slow
def test_type_checkers_resolve_public_names(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(
        "import utmost as ut\n"
        "reveal_type(ut.optimal)\nreveal_type(ut.Level)\nreveal_type(ut.ledger.open_ledger)\n"
        "reveal_type(ut.losses.power)\nreveal_type(ut.universal.verify)\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / ".mypy_cache"), "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    revealed = re.findall(r'Revealed type is "(.*)"', run.stdout)
    assert len(revealed) == 5, run.stdout
    assert not [text for text in revealed if text == "Any"]
    assert "keep_best" in revealed[0]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'optimum'"):
        ut.optimum  # noqa: B018
