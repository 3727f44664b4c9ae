"""Queries of the catalogue and of the health of services.

Each function reads the present state and returns it with the index of its last change. The API calls it again
while a blocking query waits for a larger index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.consul.documents import (
    Document,
    catalog_service_document,
    check_document,
    node_document,
    service_document,
)
from simcloud.datastores.consul.request import ApiRequest, Refused
from simcloud.datastores.consul.state import PASSING, STATES, Service, State

Answer = tuple[int, Any]
"""The index, and the document."""

Reader = Callable[[State, ApiRequest, str], Answer]


def catalog_nodes(state: State, request: ApiRequest, rest: str) -> Answer:
    """List all nodes."""
    return state.last_index("nodes"), [node_document(state.node)]


def catalog_services(state: State, request: ApiRequest, rest: str) -> Answer:
    """List the names of all services, with the tags of their instances."""
    names: dict[str, list[str]] = {}
    for service in state.services.values():
        tags = names.setdefault(service.name, [])
        tags.extend(tag for tag in service.tags if tag not in tags)
    return state.last_index("services"), {name: names[name] for name in sorted(names)}


def catalog_service(state: State, request: ApiRequest, rest: str) -> Answer:
    """List the instances of a service with their nodes."""
    if not rest:
        raise Refused(400, "Missing service name")
    found = [each for each in state.instances(rest) if _has_tag(each, request)]
    documents = [catalog_service_document(state.node, each) for each in found]
    return state.service_index(rest), documents


def health_service(state: State, request: ApiRequest, rest: str) -> Answer:
    """List the instances of a service with their only check, the node's, which passes."""
    if not rest:
        raise Refused(400, "Missing service name")
    documents: list[Document] = [
        {
            "Node": node_document(state.node),
            "Service": service_document(service),
            "Checks": [check_document(state)],
        }
        for service in state.instances(rest)
        if _has_tag(service, request)
    ]
    return state.service_index(rest), documents


def health_state(state: State, request: ApiRequest, rest: str) -> Answer:
    """List the checks in a state, or in any."""
    if rest not in (*STATES, "any"):
        raise (
            Refused(400, "Missing check state") if not rest else Refused(400, f"Invalid check state: {rest}")
        )
    found = [check_document(state)] if rest in ("any", PASSING) else []
    return state.last_index("checks", "node checks"), found


def health_checks(state: State, request: ApiRequest, rest: str) -> Answer:
    """List the checks of a service, which has none of its own."""
    return state.service_index(rest), []


def _has_tag(service: Service, request: ApiRequest) -> bool:
    tag = request.params.get("tag", "")
    return not tag or tag in service.tags


READERS: Final[dict[str, Reader]] = {
    "/v1/catalog/nodes": catalog_nodes,
    "/v1/catalog/services": catalog_services,
    "/v1/catalog/service/": catalog_service,
    "/v1/health/service/": health_service,
    "/v1/health/state/": health_state,
    "/v1/health/checks/": health_checks,
}
