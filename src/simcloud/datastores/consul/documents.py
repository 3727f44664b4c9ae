"""Consul's objects as its API shows them, field by field in the order of the genuine answers."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

from simcloud.datastores.consul.state import DATACENTER, Check, Node, Pair, Service

Document = dict[str, Any]
WEIGHTS: Final = {"Passing": 1, "Warning": 1}
PROXY: Final = {"Mode": "", "MeshGateway": {}, "Expose": {}}


def node_document(node: Node) -> Document:
    """A node of the catalogue."""
    return {
        "ID": node.id,
        "Node": node.name,
        "Address": node.address,
        "Datacenter": DATACENTER,
        "TaggedAddresses": _tagged(node.address),
        "Meta": node.meta,
        "CreateIndex": node.created,
        "ModifyIndex": node.modified,
    }


def service_document(service: Service) -> Document:
    """An instance as the health endpoint shows it."""
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
    """An instance with its node, as the catalogue shows it."""
    return {
        "ID": node.id,
        "Node": node.name,
        "Address": node.address,
        "Datacenter": DATACENTER,
        "TaggedAddresses": _tagged(node.address),
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


def check_document(check: Check, service: Service | None) -> Document:
    """A check as the health endpoints show it."""
    return {
        "Node": check.node,
        "CheckID": check.id,
        "Name": check.name,
        "Status": check.status,
        "Notes": check.notes,
        "Output": check.output,
        "ServiceID": check.service_id,
        "ServiceName": check.service_name,
        "ServiceTags": service.tags if service else [],
        "Type": check.kind,
        "Interval": check.interval,
        "Timeout": check.timeout,
        "ExposedPort": 0,
        "Definition": {},
        "CreateIndex": check.created,
        "ModifyIndex": check.modified,
    }


def pair_document(pair: Pair) -> Document:
    """A key with its value."""
    return {
        "LockIndex": pair.lock_index,
        "Key": pair.key,
        "Flags": pair.flags,
        "Value": b64encode(pair.value).decode() if pair.value else None,
        "CreateIndex": pair.created,
        "ModifyIndex": pair.modified,
    }


def _tagged(address: str) -> Document:
    return {"lan": address, "lan_ipv4": address, "wan": address, "wan_ipv4": address}


def _service_addresses(service: Service) -> Document:
    if not service.address:
        return {}
    place = {"Address": service.address, "Port": service.port}
    return {"lan_ipv4": place, "wan_ipv4": place}
