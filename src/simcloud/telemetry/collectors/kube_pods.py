"""Pods and nodes as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.telemetry.collectors.kube_rows import STATUSES, Row, conditions_of, created, names_of, owners_of

ROLE: Final = "node-role.kubernetes.io/"
PHASES: Final = ("Pending", "Succeeded", "Failed", "Unknown", "Running")


def pod_rows(pod: Object) -> Iterator[Row]:
    """Yield the metrics of a pod and its containers."""
    names, spec, status = names_of(pod, "pod"), pod["spec"], pod.get("status", {})
    uid = {"uid": pod["metadata"]["uid"]}
    node = spec.get("nodeName", "")
    owner: Object = next(iter(pod["metadata"].get("ownerReferences") or ()), {})
    about = {"node": node, "pod_ip": status.get("podIP", ""), "host_ip": status.get("hostIP", "")}
    about |= {"created_by_kind": owner.get("kind", ""), "created_by_name": owner.get("name", "")}
    yield "kube_pod_info", names | uid | about, 1
    yield created(pod, "pod", names | uid)
    yield from owners_of(pod, "pod", names | uid)
    for phase in PHASES:
        yield "kube_pod_status_phase", names | uid | {"phase": phase}, status.get("phase") == phase
    for condition in status.get("conditions") or ():
        if condition["type"] in ("Ready", "PodScheduled"):
            name = "kube_pod_status_ready" if condition["type"] == "Ready" else "kube_pod_status_scheduled"
            for word in STATUSES:
                yield name, names | uid | {"condition": word}, condition["status"].lower() == word
    if status.get("reason"):
        yield "kube_pod_status_reason", names | uid | {"reason": status["reason"]}, 1
    for container in spec.get("containers") or ():
        yield from _resources(container, names | uid | {"container": container["name"], "node": node})
    for kind, listed in (("container", "containerStatuses"), ("init_container", "initContainerStatuses")):
        for container_status in status.get(listed) or ():
            labels = names | uid | {"container": container_status["name"]}
            yield from _container(kind, container_status, labels)


def _resources(container: Object, names: dict[str, str]) -> Iterator[Row]:
    for kind in ("requests", "limits"):
        for resource, amount in (container.get("resources", {}).get(kind) or {}).items():
            unit = (
                "core"
                if resource == "cpu"
                else "byte"
                if resource in ("memory", "ephemeral-storage")
                else "integer"
            )
            about = {"resource": resource.replace("-", "_"), "unit": unit}
            yield f"kube_pod_container_resource_{kind}", names | about, float(quantity.parse(amount))


def _container(kind: str, status: Object, names: dict[str, str]) -> Iterator[Row]:
    prefix = f"kube_pod_{kind}_status"
    state, last = status.get("state") or {}, status.get("lastState") or {}
    yield f"{prefix}_restarts_total", names, status.get("restartCount", 0)
    yield f"{prefix}_ready", names, bool(status.get("ready"))
    yield f"kube_pod_{kind}_info", names | {"image": status.get("image", "")}, 1
    for word in ("running", "waiting", "terminated"):
        yield f"{prefix}_{word}", names, word in state
    for name, part in (
        (f"{prefix}_waiting_reason", state.get("waiting")),
        (f"{prefix}_terminated_reason", state.get("terminated")),
        (f"{prefix}_last_terminated_reason", last.get("terminated")),
    ):
        if part and part.get("reason"):
            yield name, names | {"reason": part["reason"]}, 1
    if "terminated" in last:
        yield f"{prefix}_last_terminated_exitcode", names, last["terminated"].get("exitCode", 0)


def node_rows(node: Object) -> Iterator[Row]:
    """Yield the metrics of a node."""
    names, status = names_of(node, "node"), node.get("status", {})
    facts = status.get("nodeInfo", {})
    about = {
        "kernel_version": facts.get("kernelVersion", ""),
        "os_image": facts.get("osImage", ""),
        "container_runtime_version": facts.get("containerRuntimeVersion", ""),
        "kubelet_version": facts.get("kubeletVersion", ""),
    }
    yield "kube_node_info", names | about, 1
    yield created(node, "node", names)
    yield "kube_node_spec_unschedulable", names, bool(node["spec"].get("unschedulable"))
    for label in node["metadata"].get("labels") or ():
        if label.startswith(ROLE):
            yield "kube_node_role", names | {"role": label.removeprefix(ROLE)}, 1
    for taint in node["spec"].get("taints") or ():
        labels = {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
        yield "kube_node_spec_taint", names | labels, 1
    yield from conditions_of(node, "kube_node_status_condition", names)
    for kind in ("capacity", "allocatable"):
        for resource, amount in (status.get(kind) or {}).items():
            unit = "core" if resource == "cpu" else "integer" if resource == "pods" else "byte"
            labels = {"resource": resource.replace("-", "_"), "unit": unit}
            yield f"kube_node_status_{kind}", names | labels, float(quantity.parse(amount))
