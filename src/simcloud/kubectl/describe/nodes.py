"""Nodes, with their pods and allocated resources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from simcloud.golang import sprint
from simcloud.kubectl.describe.events import events_about, write_found
from simcloud.kubectl.describe.page import UNSET, Page, long_time
from simcloud.kubectl.describe.parts import (
    write_amounts,
    write_created,
    write_metadata,
    write_name,
    write_taints,
)
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubectl.describe.resize import KINDS, most_held
from simcloud.kubernetes.api import (
    Amount,
    Amounts,
    ApiError,
    Forbidden,
    Object,
    amounts,
    meta,
    name_of,
    pod_amounts,
    quantity,
)
from simcloud.kubernetes.api.tables import cells, roles_of

_SYSTEM: Final = (
    ("Machine ID", "machineID"),
    ("System UUID", "systemUUID"),
    ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"),
    ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"),
    ("Kubelet Version", "kubeletVersion"),
)
_STANDARD: Final = ("cpu", "memory", "ephemeral-storage")
_POD_HEADINGS: Final = (
    "Namespace",
    "Name",
    "",
    "CPU Requests",
    "CPU Limits",
    "Memory Requests",
    "Memory Limits",
    "Age",
)
_NOT_A_NUMBER: Final = -(2**63)
_NOTHING: Final = Amount(Fraction(0))


@describes("", "Node")
async def describe_node(reader: Reader, obj: Object, show_events: bool) -> str:
    """A node."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    pods = await _pods(reader, name_of(obj))
    write_name(page, obj, namespace=False)
    page.field("Roles", roles_of(meta(obj).get("labels") or {}))
    write_metadata(page, obj)
    write_created(page, obj)
    write_taints(page, cells.items(spec, "taints"))
    page.field("Unschedulable", sprint(bool(spec.get("unschedulable"))))
    await _write_lease(page, reader, name_of(obj))
    _write_conditions(page, cells.items(status, "conditions"))
    page.line("Addresses:")
    for address in cells.items(status, "addresses"):
        page.field(cells.text(address, "type"), cells.text(address, "address"), 1)
    for title in ("Capacity", "Allocatable"):
        if cells.part(status, title.lower()):
            page.line(f"{title}:")
            write_amounts(page, status[title.lower()], 1)
    page.line("System Info:")
    for title, key in _SYSTEM:
        page.field(title, cells.text(cells.part(status, "nodeInfo"), key), 1)
    page.optional("PodCIDR", spec.get("podCIDR"))
    page.optional("PodCIDRs", ",".join(cells.items(spec, "podCIDRs")))
    page.optional("ProviderID", spec.get("providerID"))
    if pods is None:
        page.field("Pods", "not authorized")
    else:
        _write_pods(
            page, pods, cells.part(status, "allocatable") or cells.part(status, "capacity"), reader.now_s
        )
    if show_events:
        write_found(page, await _events(reader, obj), reader.now_s)
    return page.text()


async def _pods(reader: Reader, node: str) -> list[Object] | None:
    """The pods on a node that have not ended; None if they may not be seen."""
    fields = f"spec.nodeName={node},status.phase!=Succeeded,status.phase!=Failed"
    try:
        return await reader.list(reader.resource("pods"), None, fields=fields)
    except Forbidden:
        return None


async def _events(reader: Reader, node: Object) -> list[Object]:
    """About the node by its uid, as controllers tell them, then by its name, as the kubelet does."""
    try:
        found = await events_about(reader, node, any_uid=True)
    except ApiError:
        return []
    pairs = [(cells.part(event, "involvedObject").get("uid"), event) for event in found]
    return [event for wanted in (meta(node)["uid"], name_of(node)) for uid, event in pairs if uid == wanted]


async def _write_lease(page: Page, reader: Reader, node: str) -> None:
    try:
        lease = await reader.get(reader.resource("leases.coordination.k8s.io"), "kube-node-lease", node)
    except ApiError as error:
        page.field("Lease", f"Failed to get lease: {error.message}")
        return
    spec = cells.part(lease, "spec")
    page.line("Lease:")
    holder = spec.get("holderIdentity")
    page.field("HolderIdentity", UNSET if holder is None else holder, 1)
    for title, key in (("AcquireTime", "acquireTime"), ("RenewTime", "renewTime")):
        page.field(title, UNSET if spec.get(key) is None else long_time(spec[key]), 1)


def _write_conditions(page: Page, conditions: Sequence[Object]) -> None:
    if not conditions:
        return
    page.line("Conditions:")
    rows = [
        (
            f"{cells.text(condition, 'type')} ",
            f"{cells.text(condition, 'status')} ",
            f"{long_time(condition.get('lastHeartbeatTime'))} ",
            f"{long_time(condition.get('lastTransitionTime'))} ",
            f"{cells.text(condition, 'reason')} ",
            cells.text(condition, "message"),
        )
        for condition in conditions
    ]
    page.table(("Type", "Status", "LastHeartbeatTime", "LastTransitionTime", "Reason", "Message"), rows)


def _write_pods(page: Page, pods: Sequence[Object], allocatable: Object, now_s: float) -> None:
    wanted = [tuple(pod_amounts(cells.part(pod, "spec"), kind) for kind in KINDS) for pod in pods]
    page.field("Non-terminated Pods", f"({len(pods)} in total)")
    rows = (_pod(pod, asked, allocatable, now_s) for pod, asked in zip(pods, wanted, strict=True))
    page.table(_POD_HEADINGS, rows)
    page.line("Allocated resources:")
    page.line("(Total limits may be over 100 percent, i.e., overcommitted.)", level=1)
    requests, limits = (amounts.add(*(asked[number] for asked in wanted)) for number in range(len(KINDS)))
    page.table(("Resource", "Requests", "Limits"), _totals(requests, limits, allocatable))


def _pod(pod: Object, wanted: Sequence[Amounts], allocatable: Object, now_s: float) -> tuple[str, ...]:
    held = [most_held(pod, kind, asked) for kind, asked in zip(KINDS, wanted, strict=True)]
    shares = (
        _share(asked.get(name, _NOTHING), name, allocatable) for name in ("cpu", "memory") for asked in held
    )
    return meta(pod)["namespace"], name_of(pod), "", *shares, cells.age(pod, now_s)


def _share(amount: Amount, name: str, allocatable: Object) -> str:
    """An amount and what part of a node it is."""
    if name == "cpu":
        asked, there = quantity.milli(str(amount)), quantity.milli(allocatable.get(name, "0"))
    else:
        asked, there = quantity.whole(str(amount)), quantity.whole(allocatable.get(name, "0"))
    percent = int(asked / there * 100) if there else _NOT_A_NUMBER
    return f"{amount} ({percent}%)"


def _totals(requests: Amounts, limits: Amounts, allocatable: Object) -> Iterator[tuple[str, ...]]:
    huge = sorted(name for name in allocatable if name.startswith("hugepages-"))
    for name in (*_STANDARD, *huge):
        asked, bound = requests.get(name, _NOTHING), limits.get(name, _NOTHING)
        if quantity.milli(allocatable.get(name, "0")):
            yield name, _share(asked, name, allocatable), _share(bound, name, allocatable)
        else:
            yield name, f"{asked} (0%)", f"{bound} (0%)"
    for name in sorted(allocatable):
        if name not in (*_STANDARD, *huge, "pods"):
            yield name, str(requests.get(name, _NOTHING)), str(limits.get(name, _NOTHING))
