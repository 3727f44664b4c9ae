"""The JSON documents of Consul's API, with their fields in the genuine order."""

from __future__ import annotations

from typing import Any, Final

from simcloud.datastores.consul.state import DATACENTER, PASSING, Node, Service, State

Document = dict[str, Any]
WEIGHTS: Final = {"Passing": 1, "Warning": 1}
PROXY: Final = {"Mode": "", "MeshGateway": {}, "Expose": {}}


def node_document(node: Node) -> Document:
    """Return a node of the catalogue."""
    return {
        "ID": node.id,
        "Node": node.name,
        "Address": node.address,
        "Datacenter": DATACENTER,
        "TaggedAddresses": _tag_addresses(node.address),
        "Meta": node.meta,
        "CreateIndex": node.created,
        "ModifyIndex": node.modified,
    }


def service_document(service: Service) -> Document:
    """Return an instance as the health endpoint shows it."""
    document = {
        "ID": service.id,
        "Service": service.name,
        "Tags": service.tags,
        "Address": service.address,
        "TaggedAddresses": _service_addresses(service),
        "Meta": service.meta,
        "Port": service.port,
        "Weights": WEIGHTS,
        "EnableTagOverride": False,
        "Proxy": PROXY,
        "Connect": {},
        "PeerName": "",
        "CreateIndex": service.created,
        "ModifyIndex": service.modified,
    }
    if not service.address:
        del document["TaggedAddresses"]
    return document


def agent_service_document(service: Service) -> Document:
    """An instance as the agent it was registered with shows it."""
    document = {
        "ID": service.id,
        "Service": service.name,
        "Tags": service.tags,
        "Meta": service.meta,
        "Port": service.port,
        "Address": service.address,
        "TaggedAddresses": _service_addresses(service),
        "Weights": WEIGHTS,
        "EnableTagOverride": False,
        "Datacenter": DATACENTER,
    }
    if not service.address:
        del document["TaggedAddresses"]
    return document


def catalog_service_document(node: Node, service: Service) -> Document:
    """Return an instance with its node, as the catalogue shows it."""
    return {
        "ID": node.id,
        "Node": node.name,
        "Address": node.address,
        "Datacenter": DATACENTER,
        "TaggedAddresses": _tag_addresses(node.address),
        "NodeMeta": node.meta,
        "ServiceKind": "",
        "ServiceID": service.id,
        "ServiceName": service.name,
        "ServiceTags": service.tags,
        "ServiceAddress": service.address,
        "ServiceTaggedAddresses": _service_addresses(service),
        "ServiceWeights": WEIGHTS,
        "ServiceMeta": service.meta,
        "ServicePort": service.port,
        "ServiceSocketPath": "",
        "ServiceEnableTagOverride": False,
        "ServiceProxy": PROXY,
        "ServiceConnect": {},
        "ServiceLocality": None,
        "CreateIndex": service.created,
        "ModifyIndex": service.modified,
    }


def check_document(state: State) -> Document:
    """Return the check of the agent's node as the health endpoints show it."""
    return {
        "Node": state.node.name,
        "CheckID": "serfHealth",
        "Name": "Serf Health Status",
        "Status": PASSING,
        "Notes": "",
        "Output": "Agent alive and reachable",
        "ServiceID": "",
        "ServiceName": "",
        "ServiceTags": [],
        "Type": "",
        "Interval": "",
        "Timeout": "",
        "ExposedPort": 0,
        "Definition": {},
        "CreateIndex": state.checked,
        "ModifyIndex": state.checked,
    }


def _tag_addresses(address: str) -> Document:
    return {"lan": address, "lan_ipv4": address, "wan": address, "wan_ipv4": address}


def _service_addresses(service: Service) -> Document:
    if not service.address:
        return {}
    place = {"Address": service.address, "Port": service.port}
    return {"lan_ipv4": place, "wan_ipv4": place}
