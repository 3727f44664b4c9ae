"""What may be asked of the catalogue, the health of services, and the keys. Every answer has an index.

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
    pair_document,
    service_document,
)
from simcloud.datastores.consul.state import CRITICAL, STATES, WARNING, Check, Service, State

Answer = tuple[int, Any]
"""The index, and what is answered; ``NOTHING`` is a 404 without words."""

Reader = Callable[[State, Ask, str], Answer]
NOTHING: Final = object()


def catalog_nodes(state: State, ask: Ask, rest: str) -> Answer:
    """All nodes."""
    return state.modified("nodes"), [node_document(node) for node in state.nodes.values()]


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
    found = [each for each in state.instances(rest) if _has_tag(each, ask) and each.node in state.nodes]
    documents = [catalog_service_document(state.nodes[each.node], each) for each in found]
    return state.service_index(rest), documents


def catalog_node(state: State, ask: Ask, rest: str) -> Answer:
    """One node with what is on it."""
    node = state.nodes.get(rest)
    if node is None:
        return state.modified("nodes"), None
    services = {each.id: service_document(each) for each in state.services.values() if each.node == rest}
    return state.modified("nodes", "services"), {"Node": node_document(node), "Services": services}


def health_service(state: State, ask: Ask, rest: str) -> Answer:
    """The instances of a service with their checks; only the healthy ones when ``passing`` is given."""
    if not rest:
        raise Refused(400, "Missing service name")
    documents: list[Document] = []
    for service in state.instances(rest):
        checks = state.checks_of(service)
        bad = (WARNING, CRITICAL) if _wants_passing(ask) else ()
        node = state.nodes.get(service.node)
        if node is None or not _has_tag(service, ask) or any(check.status in bad for check in checks):
            continue
        documents.append(
            {
                "Node": node_document(node),
                "Service": service_document(service),
                "Checks": [check_document(check, service if check.service_id else None) for check in checks],
            }
        )
    return state.service_index(rest), documents


def health_state(state: State, ask: Ask, rest: str) -> Answer:
    """The checks in a state, or in any."""
    if rest not in (*STATES, "any"):
        raise (
            Refused(400, "Missing check state") if not rest else Refused(400, f"Invalid check state: {rest}")
        )
    found = [check for check in state.checks.values() if rest in ("any", check.status)]
    return state.modified("checks", "node checks"), _check_documents(state, found)


def health_node(state: State, ask: Ask, rest: str) -> Answer:
    """The checks of a node."""
    found = [check for check in state.checks.values() if check.node == rest]
    return state.modified("checks", "node checks"), _check_documents(state, found)


def health_checks(state: State, ask: Ask, rest: str) -> Answer:
    """The checks of a service."""
    found = [check for check in state.checks.values() if rest and check.service_name == rest]
    return state.service_index(rest), _check_documents(state, found)


def keys(state: State, ask: Ask, rest: str) -> Answer:
    """A key, the keys below a prefix, or their names."""
    index = state.modified("keys")
    if ask.flag("keys"):
        names = sorted(name for name in state.pairs if name.startswith(rest))
        cut = ask.params.get("separator", "")
        if cut:
            names = list(dict.fromkeys(_up_to(name, rest, cut) for name in names))
        return index, names if names else NOTHING
    if ask.flag("recurse"):
        found = [pair_document(state.pairs[name]) for name in sorted(state.pairs) if name.startswith(rest)]
        return index, found if found else NOTHING
    if not rest:
        raise Refused(400, "Missing key name")
    pair = state.pairs.get(rest)
    if pair is None:
        return index, NOTHING
    return pair.modified, pair.value if ask.flag("raw") else [pair_document(pair)]


def _up_to(name: str, prefix: str, cut: str) -> str:
    at = name.find(cut, len(prefix))
    return name if at < 0 else name[: at + len(cut)]


def _check_documents(state: State, checks: list[Check]) -> list[Document]:
    return [check_document(check, state.services.get((check.node, check.service_id))) for check in checks]


def _has_tag(service: Service, ask: Ask) -> bool:
    tag = ask.params.get("tag", "")
    return not tag or tag in service.tags


def _wants_passing(ask: Ask) -> bool:
    return ask.params.get("passing", "false") in ("", "1", "true")


READERS: Final[dict[str, Reader]] = {
    "/v1/catalog/nodes": catalog_nodes,
    "/v1/catalog/services": catalog_services,
    "/v1/catalog/service/": catalog_service,
    "/v1/catalog/node/": catalog_node,
    "/v1/health/service/": health_service,
    "/v1/health/state/": health_state,
    "/v1/health/node/": health_node,
    "/v1/health/checks/": health_checks,
    "/v1/kv/": keys,
}
