"""Nodes and their leases."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, condition, items, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table, wide

_INFO = "core.v1.NodeSystemInfo"
_ROLE = "node-role.kubernetes.io/"


@table(
    "",
    "Node",
    NAME,
    Column("Status", "The status of the node"),
    Column("Roles", "The roles of the node"),
    AGE,
    Column("Version", of=f"{_INFO}.kubeletVersion"),
    wide("Internal-IP", of="core.v1.NodeStatus.addresses"),
    wide("External-IP", of="core.v1.NodeStatus.addresses"),
    wide("OS-Image", of=f"{_INFO}.osImage"),
    wide("Kernel-Version", of=f"{_INFO}.kernelVersion"),
    wide("Container-Runtime", of=f"{_INFO}.containerRuntimeVersion"),
)
def node(obj: Object, now_s: float) -> Cells:
    """A node's row."""
    status = part(obj, "status")
    info, addresses = part(status, "nodeInfo"), items(status, "addresses")
    architecture = info.get("architecture")
    return [
        name(obj),
        _status(obj, status),
        roles_of(part(obj, "metadata", "labels")),
        age(obj, now_s),
        text(info, "kubeletVersion"),
        _address(addresses, "InternalIP"),
        _address(addresses, "ExternalIP"),
        info.get("osImage") or "<unknown>",
        (info.get("kernelVersion") or "<unknown>") + (f" ({architecture})" if architecture else ""),
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _status(obj: Object, status: Object) -> str:
    ready = condition(reversed(items(status, "conditions")), "Ready")
    if ready is None:
        readiness = "Unknown"
    else:
        readiness = "Ready" if ready.get("status") == "True" else "NotReady"
    return readiness + (",SchedulingDisabled" if part(obj, "spec").get("unschedulable") else "")


def roles_of(labels: Object) -> str:
    """The roles that a node's labels give it."""
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    roles.add(labels.get("kubernetes.io/role", ""))
    return ",".join(sorted(roles - {""})) or "<none>"


def _address(addresses: list[Object], kind: str) -> str:
    found = condition(addresses, kind)
    return text(found, "address") if found else "<none>"


@table(
    "coordination.k8s.io", "Lease", NAME, Column("Holder", of="coordination.v1.LeaseSpec.holderIdentity"), AGE
)
def lease(obj: Object, now_s: float) -> Cells:
    """A lease's row."""
    return [name(obj), text(part(obj, "spec"), "holderIdentity"), age(obj, now_s)]
