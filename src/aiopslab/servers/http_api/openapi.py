"""The OpenAPI description of the interface, from its table of endpoints and the types of its bodies."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from aiopslab.orchestrator import get_version
from aiopslab.servers.http_api.answers import ANSWERS

JSON: Final = "application/json"
_PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True)
class Endpoint:
    """One operation of the interface."""

    method: str
    path: str
    handle: Callable[[Any, Request], Awaitable[Response]]
    body: type[msgspec.Struct] | None = None
    status: int = 200
    query: Sequence[str] = ()
    media: str = JSON
    is_for_agents: bool = False
    """Whether a session's own token is enough."""
    is_open: bool = False
    """Whether no token is needed."""


def build_description(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document."""
    bodies = [endpoint.body for endpoint in endpoints if endpoint.body is not None]
    found, schemas = msgspec.json.schema_components(
        [*bodies, *ANSWERS.values()], ref_template="#/components/schemas/{name}"
    )
    answers = dict(zip(ANSWERS, found[len(bodies) :], strict=True))
    schemas["Error"] = {
        "type": "object",
        "properties": {"error": {"type": "string", "description": "What is wrong, and a way out."}},
        "required": ["error"],
    }
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        paths.setdefault(_PARAMETER.sub(r"{\1}", endpoint.path), {})[endpoint.method.lower()] = _describe(
            endpoint, answers
        )
    return {
        "openapi": "3.1.0",
        "info": {"title": "AIOpsLab in a box", "version": get_version()},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _describe(endpoint: Endpoint, answers: Mapping[str, Any]) -> dict[str, Any]:
    schema = answers.get(endpoint.handle.__name__)
    content = {} if schema is None else {"schema": schema}
    described: dict[str, Any] = {
        "operationId": endpoint.handle.__name__,
        "summary": (endpoint.handle.__doc__ or "").partition("\n")[0],
        "parameters": list(_iter_parameters(endpoint)),
        "responses": {
            str(endpoint.status): {"description": "Done.", "content": {endpoint.media: content}},
            "default": {
                "description": "An error.",
                "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }
    if endpoint.body is not None:
        reference = {"$ref": f"#/components/schemas/{endpoint.body.__name__}"}
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": reference}}}
    if endpoint.is_open:
        described["security"] = []
    return described


def _iter_parameters(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    for name in _PARAMETER.findall(endpoint.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name in endpoint.query:
        yield {"name": name, "in": "query", "schema": {"type": "string"}}
