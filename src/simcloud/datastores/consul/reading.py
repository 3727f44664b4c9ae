"""What may be asked of the catalogue and the health of services. Every answer has an index.

A function here reads the present state and says since which index it has been so; the server repeats it while a
blocking query waits for a larger one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.consul.asking import Ask, Refused
from simcloud.datastores.consul.documents import (
    Document,
    catalog_service_document,
    check_document,
    node_document,
    service_document,
)
from simcloud.datastores.consul.state import PASSING, STATES, Service, State

Answer = tuple[int, Any]
"""The index, and what is answered."""

Reader = Callable[[State, Ask, str], Answer]


def catalog_nodes(state: State, ask: Ask, rest: str) -> Answer:
    """All nodes."""
    return state.modified("nodes"), [node_document(state.node)]


def catalog_services(state: State, ask: Ask, rest: str) -> Answer:
    """The names of all services with the tags their instances have."""
    names: dict[str, list[str]] = {}
    for service in state.services.values():
        tags = names.setdefault(service.name, [])
        tags.extend(tag for tag in service.tags if tag not in tags)
    return state.modified("services"), {name: names[name] for name in sorted(names)}


def catalog_service(state: State, ask: Ask, rest: str) -> Answer:
    """The instances of a service with their nodes."""
    if not rest:
        raise Refused(400, "Missing service name")
    found = [each for each in state.instances(rest) if _has_tag(each, ask)]
    documents = [catalog_service_document(state.node, each) for each in found]
    return state.service_index(rest), documents


def health_service(state: State, ask: Ask, rest: str) -> Answer:
    """The instances of a service with their check, which is that of the node and passes."""
    if not rest:
        raise Refused(400, "Missing service name")
    documents: list[Document] = [
        {
            "Node": node_document(state.node),
            "Service": service_document(service),
            "Checks": [check_document(state)],
        }
        for service in state.instances(rest)
        if _has_tag(service, ask)
    ]
    return state.service_index(rest), documents


def health_state(state: State, ask: Ask, rest: str) -> Answer:
    """The checks in a state, or in any."""
    if rest not in (*STATES, "any"):
        raise (
            Refused(400, "Missing check state") if not rest else Refused(400, f"Invalid check state: {rest}")
        )
    found = [check_document(state)] if rest in ("any", PASSING) else []
    return state.modified("checks", "node checks"), found


def health_checks(state: State, ask: Ask, rest: str) -> Answer:
    """The checks of a service: it has none of its own."""
    return state.service_index(rest), []


def _has_tag(service: Service, ask: Ask) -> bool:
    tag = ask.params.get("tag", "")
    return not tag or tag in service.tags


READERS: Final[dict[str, Reader]] = {
    "/v1/catalog/nodes": catalog_nodes,
    "/v1/catalog/services": catalog_services,
    "/v1/catalog/service/": catalog_service,
    "/v1/health/service/": health_service,
    "/v1/health/state/": health_state,
    "/v1/health/checks/": health_checks,
}
