"""The API for people: what OpenAPI says, as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.requests import Request

from utmost.studio import permissions
from utmost.studio.rendering import render_page
from utmost.studio.state import VisitorDep

pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an address."""

    name: str
    kind: str
    required: bool
    words: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A method and an address, what it does and what it takes."""

    method: str
    path: str
    words: str
    parameters: tuple[Parameter, ...]
    body: str
    answer: str
    page: str


@pages.get("/reference")
def reference_page(request: Request, who: VisitorDep) -> HTMLResponse:
    """All operations that the visitor may call, by their part of the studio."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in request.app.openapi()["paths"].items():
        for method, found in methods.items():
            if permissions.is_allowed(who, path):
                groups.setdefault(found.get("tags", ["studio"])[0], []).append(_operation(method, path, found))
    return render_page(request, "core/reference.html", twin="/openapi.json", groups=groups)


def _operation(method: str, path: str, found: dict[str, Any]) -> Operation:
    parameters = tuple(_parameter(one) for one in found.get("parameters", ()))
    return Operation(
        method=method.upper(),
        path=path,
        words=found.get("description", found.get("summary", "")),
        parameters=parameters,
        body=_content(found.get("requestBody", {})),
        answer=_content({**found["responses"].get("200", {}), **found["responses"].get("201", {})}),
        page="" if "{" in path or method != "get" or any(one.required for one in parameters) else path,
    )


def _parameter(one: dict[str, Any]) -> Parameter:
    schema = one.get("schema", {})
    words = one.get("description", schema.get("description", ""))
    return Parameter(one["name"], _kind(schema), one.get("required", False), words)


def _content(holder: dict[str, Any]) -> str:
    return ", ".join(dict.fromkeys(_kind(media.get("schema", {})) for media in holder.get("content", {}).values()))


def _kind(schema: dict[str, Any]) -> str:
    """The name of a schema's type, as a person would say it.

    >>> _kind({"anyOf": [{"type": "integer"}, {"type": "null"}]}), _kind({"$ref": "#/components/schemas/Job"})
    ('integer', 'Job')
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(kind for one in schema["anyOf"] if (kind := _kind(one)) != "null")
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = str(schema.get("type", "anything"))
    return f"list of {_kind(schema['items'])}" if kind == "array" and "items" in schema else kind
