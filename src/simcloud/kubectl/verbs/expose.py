"""``kubectl expose``: creates a Service for a workload."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_creation import create_built, overridden, selector_labels
from simcloud.kubectl.output import Teller
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.delete import NOTHING_SAID
from simcloud.kubernetes.api import Object, at

EXAMPLES: Final = (
    "kubectl expose deployment web --port=80 --target-port=8080",
    "kubectl expose pod web --name=outside --type=NodePort --port=80",
)
EXPOSABLE: Final = (
    ("", "replicationcontrollers"), ("", "services"), ("", "pods"),
    ("apps", "deployments"), ("apps", "replicasets"),
)  # fmt: skip
MOST_NAME: Final = 63
NO_SELECTOR: Final = "couldn't retrieve selectors via --selector flag or introspection: "


@command("expose", "Make a service for a workload", examples=EXAMPLES)
async def expose(kubectl: Kubectl) -> None:
    """Make a service for each object named."""
    flags = kubectl.flags
    if not kubectl.args and not flags["filename"] and not flags["kustomize"]:
        raise KubectlError(NOTHING_SAID)
    teller = Teller(kubectl, "exposed", keep_order=True)
    infos = await select(_without_selector(kubectl), kubectl.args, fetch_files=True)
    connection = await kubectl.connect()
    for info in infos:
        if info.resource.key not in EXPOSABLE:
            raise KubectlError(f"cannot expose a {_group_kind(info)}")
        service = overridden(kubectl, connection.resource("services"), _service(kubectl, info))
        await create_built(kubectl, "services", service, teller=teller)


def _without_selector(kubectl: Kubectl) -> Kubectl:
    """``--selector`` is the service's here, and chooses nothing."""
    kubectl.flags.values["service-selector"] = kubectl.flags.values.pop("selector")
    return kubectl


def _group_kind(info: Info) -> str:
    group = info.resource.group
    return f"{info.resource.kind}.{group}" if group else info.resource.kind


def _service(kubectl: Kubectl, info: Info) -> Object:
    flags = kubectl.flags
    selector = selector_labels(flags["service-selector"]) if flags["service-selector"] else _pod_labels(info)
    name = flags["name"] or info.name[:MOST_NAME]
    labels = selector_labels(flags["labels"]) if flags["labels"] else info.obj["metadata"].get("labels")
    spec: Object = {
        "selector": selector,
        "ports": _ports(kubectl, info),
        "externalIPs": [flags["external-ip"]] if flags["external-ip"] else None,
        "type": flags["type"],
        "loadBalancerIP": flags["load-balancer-ip"] if flags["type"] == "LoadBalancer" else "",
        "sessionAffinity": flags["session-affinity"],
        "clusterIP": flags["cluster-ip"],
    }
    metadata = {"name": name, **({"labels": labels} if labels else {})}
    return {"metadata": metadata, "spec": {key: value for key, value in spec.items() if value}}


def _pod_labels(info: Info) -> dict[str, str]:
    kind, obj = info.resource.plural, info.obj
    if kind == "pods":
        labels = obj["metadata"].get("labels")
        if not labels:
            raise KubectlError(f"{NO_SELECTOR}the pod has no labels and cannot be exposed")
        return dict(labels)
    if kind in ("services", "replicationcontrollers"):
        labels = at(obj, "spec", "selector")
        if not labels:
            raise KubectlError(f"{NO_SELECTOR}the service has no pod selector set")
        return dict(labels)
    if at(obj, "spec", "selector", "matchExpressions"):
        expressions = at(obj, "spec", "selector", "matchExpressions")
        raise KubectlError(
            f"{NO_SELECTOR}couldn't convert expressions - {expressions} to map-based selector format"
        )
    labels = at(obj, "spec", "selector", "matchLabels")
    if not labels:
        raise KubectlError(f"{NO_SELECTOR}invalid deployment: no selectors, therefore cannot be exposed")
    return dict(labels)


def _ports(kubectl: Kubectl, info: Info) -> list[Object]:
    flags = kubectl.flags
    there = _ports_of(info)
    said = flags["port"].split(",") if flags["port"] else [str(number) for number, _ in there]
    if not said:
        raise KubectlError(
            "couldn't find port via --port flag or introspection\nSee 'kubectl expose -h' for help and examples"
        )
    protocols = {str(number): protocol for number, protocol in there}
    ports = []
    for place, text in enumerate(said, 1):
        if not re.fullmatch(r"[+-]?\d+", text):
            raise KubectlError(f'strconv.Atoi: parsing "{text}": invalid syntax')
        number = int(text)
        port: Object = {"port": number}
        if len(said) > 1:
            port["name"] = f"port-{place}"
        port["protocol"] = flags["protocol"] or protocols.get(text, "TCP")
        target: Any = flags["target-port"] or number
        port["targetPort"] = int(target) if re.fullmatch(r"\d+", str(target)) else target
        ports.append(port)
    return ports


def _ports_of(info: Info) -> list[tuple[int, str]]:
    """The ports that an object names, with their protocols."""
    obj = info.obj
    if info.resource.plural == "services":
        return [(port["port"], port.get("protocol", "TCP")) for port in at(obj, "spec", "ports") or ()]
    spec = obj["spec"] if info.resource.plural == "pods" else at(obj, "spec", "template", "spec") or {}
    return [
        (port["containerPort"], port.get("protocol", "TCP"))
        for container in spec.get("containers") or ()
        for port in container.get("ports") or ()
    ]
