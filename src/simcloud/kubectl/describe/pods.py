"""Pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.kubectl.describe.containers import write_containers, write_seccomp
from simcloud.kubectl.describe.events import events_about, write_found
from simcloud.kubectl.describe.page import NONE, Page, long_time
from simcloud.kubectl.describe.parts import (
    lasts,
    write_controller,
    write_labels,
    write_metadata,
    write_name,
    write_resources,
    write_spread,
    write_tolerations,
)
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubectl.describe.volumes import write_volumes
from simcloud.kubernetes.api import ApiError, Object, meta
from simcloud.kubernetes.api.strategies import qos_class
from simcloud.kubernetes.api.tables import cells

_MIRROR: Final = "kubernetes.io/config.mirror"


@describes("", "Pod")
async def describe_pod(reader: Reader, obj: Object, show_events: bool) -> str:
    """A pod, its containers, volumes and events."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    write_name(page, obj)
    _write_placement(page, spec, status)
    write_metadata(page, obj)
    _write_status(page, obj, reader.now_s)
    if spec.get("resources") is not None:
        page.line("Resources:")
        write_resources(page, spec["resources"], 1)
    _write_all_containers(page, obj, spec)
    _write_conditions(page, cells.items(spec, "readinessGates"), cells.items(status, "conditions"))
    write_volumes(page, cells.items(spec, "volumes"))
    page.field("QoS Class", status.get("qosClass") or qos_class(spec))
    write_labels(page, "Node-Selectors", spec.get("nodeSelector"))
    write_tolerations(page, cells.items(spec, "tolerations"))
    write_spread(page, cells.items(spec, "topologySpreadConstraints"))
    write_scheduling_group(page, spec)
    if show_events:
        write_found(page, await _events(reader, obj), reader.now_s)
    return page.text()


def _write_placement(page: Page, spec: Object, status: Object) -> None:
    if spec.get("priority") is not None:
        page.field("Priority", spec["priority"])
    page.optional("Priority Class Name", spec.get("priorityClassName"))
    page.optional("Runtime Class Name", spec.get("runtimeClassName"))
    page.optional("Service Account", spec.get("serviceAccountName"))
    node = spec.get("nodeName")
    page.field("Node", f"{node}/{cells.text(status, 'hostIP')}" if node else NONE)
    if status.get("startTime") is not None:
        page.field("Start Time", long_time(status["startTime"]))


def _write_status(page: Page, pod: Object, now_s: float) -> None:
    spec, status, metadata = cells.part(pod, "spec"), cells.part(pod, "status"), meta(pod)
    phase = cells.text(status, "phase")
    if metadata.get("deletionTimestamp") is not None and phase not in ("Failed", "Succeeded"):
        page.field("Status", f"Terminating (lasts {lasts(pod, now_s)})")
        page.field("Termination Grace Period", f"{metadata.get('deletionGracePeriodSeconds', 0)}s")
    else:
        page.field("Status", phase)
    page.optional("Reason", status.get("reason"))
    page.optional("Message", status.get("message"))
    write_seccomp(page, cells.part(spec, "securityContext"), 0, 0)
    page.field("IP", cells.text(status, "podIP"))
    addresses = cells.items(status, "podIPs")
    if not addresses:
        page.field("IPs", NONE)
    else:
        page.line("IPs:")
        for address in addresses:
            page.field("IP", cells.text(address, "ip"), 1)
    write_controller(page, pod)
    page.optional("NominatedNodeName", status.get("nominatedNodeName"))


def _write_all_containers(page: Page, pod: Object, spec: Object) -> None:
    if cells.items(spec, "initContainers"):
        write_containers(page, "Init Containers", spec["initContainers"], pod, "initContainerStatuses")
    write_containers(page, "Containers", cells.items(spec, "containers"), pod, "containerStatuses")
    if cells.items(spec, "ephemeralContainers"):
        write_containers(
            page, "Ephemeral Containers", spec["ephemeralContainers"], pod, "ephemeralContainerStatuses"
        )


def _write_conditions(page: Page, gates: Sequence[Object], conditions: Sequence[Object]) -> None:
    if gates:
        page.line("Readiness Gates:")
        page.line("Type", "Status", level=1)
        for gate in gates:
            kind = cells.text(gate, "conditionType")
            found = cells.condition(conditions, kind)
            page.line(f"{kind} ", f"{cells.text(found, 'status') if found else NONE} ", level=1)
    if conditions:
        page.line("Conditions:")
        page.line("Type", "Status", level=1)
        for entry in conditions:
            page.line(f"{cells.text(entry, 'type')} ", f"{cells.text(entry, 'status')} ", level=1)


def write_scheduling_group(page: Page, spec: Object, level: int = 0) -> None:
    """The group that a pod is scheduled with, if it has one."""
    group = spec.get("schedulingGroup")
    if group is not None:
        page.line("SchedulingGroup:", level=level)
        page.field("PodGroupName", cells.text(group, "podGroupName"), 1)


async def _events(reader: Reader, pod: Object) -> list[Object]:
    """About this pod; a mirror pod's are about what it mirrors."""
    mirrored = (meta(pod).get("annotations") or {}).get(_MIRROR, "")
    try:
        return await events_about(reader, pod, any_kind=True, uid=mirrored)
    except ApiError:
        return []
