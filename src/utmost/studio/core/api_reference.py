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

reference_pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an address."""

    name: str
    kind: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A method and an address, what it does and what it takes."""

    method: str
    path: str
    description: str
    parameters: tuple[Parameter, ...]
    body: str
    answer: str
    page: str


@reference_pages.get("/reference")
def reference_page(request: Request, visitor: VisitorDep) -> HTMLResponse:
    """All operations that the visitor may call, by their part of the studio."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in request.app.openapi()["paths"].items():
        for method, operation in methods.items():
            if permissions.is_allowed(visitor, path):
                groups.setdefault(operation.get("tags", ["studio"])[0], []).append(_operation(method, path, operation))
    return render_page(request, "core/reference.html", json_address="/openapi.json", groups=groups)


def _operation(method: str, path: str, operation: dict[str, Any]) -> Operation:
    parameters = tuple(_parameter(parameter) for parameter in operation.get("parameters", ()))
    return Operation(
        method=method.upper(),
        path=path,
        description=operation.get("description", operation.get("summary", "")),
        parameters=parameters,
        body=_content_types(operation.get("requestBody", {})),
        answer=_content_types({**operation["responses"].get("200", {}), **operation["responses"].get("201", {})}),
        page="" if "{" in path or method != "get" or any(parameter.required for parameter in parameters) else path,
    )


def _parameter(specification: dict[str, Any]) -> Parameter:
    schema = specification.get("schema", {})
    description = specification.get("description", schema.get("description", ""))
    return Parameter(specification["name"], _type_name(schema), specification.get("required", False), description)


def _content_types(section: dict[str, Any]) -> str:
    return ", ".join(
        dict.fromkeys(_type_name(media.get("schema", {})) for media in section.get("content", {}).values())
    )


def _type_name(schema: dict[str, Any]) -> str:
    """The name of a schema's type, as a person would say it.

    >>> _type_name({"anyOf": [{"type": "integer"}, {"type": "null"}]}), _type_name({"$ref": "#/components/schemas/Job"})
    ('integer', 'Job')
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(kind for option in schema["anyOf"] if (kind := _type_name(option)) != "null")
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = str(schema.get("type", "anything"))
    return f"list of {_type_name(schema['items'])}" if kind == "array" and "items" in schema else kind
