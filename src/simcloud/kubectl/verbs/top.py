"""``kubectl top``: CPU and memory usage of nodes and pods from the metrics server."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.golang import TabWriter, format_duration, go_sorted
from simcloud.kubectl.command import command, group
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, Object, Resource, Unserved, at, meta, quantity
from simcloud.kubernetes.api.tables import cells

METRICS: Final = "metrics.k8s.io"
NOT_SERVED: Final = "Metrics API not available"
MIB: Final = 1 << 20
UNKNOWN: Final = "<unknown>"
LINE: Final = "________"
PATIENCE_S: Final = 120.0
"""So old a pod is expected to be known to the metrics server."""

group("top", "Show how much CPU and memory is used", silent=True)


class Usage(Struct, frozen=True):
    """What one thing uses."""

    namespace: str
    name: str
    cpu_m: int
    memory_bytes: int
    containers: tuple[Usage, ...] = ()

    def cells(self) -> tuple[str, str]:
        """CPU and memory as they are shown."""
        return f"{self.cpu_m}m", f"{self.memory_bytes // MIB}Mi"


@command("top node", "Show how much nodes use", examples=("kubectl top node",), aliases=("nodes", "no"))
async def top_node(kubectl: Kubectl) -> None:
    """Print what nodes use, and what share of what they have that is."""
    flags = kubectl.flags
    resource = await _metrics(kubectl, "nodes")
    connection = await kubectl.connect()
    name = kubectl.args[0] if kubectl.args else ""
    found = await _get(kubectl, resource, None, name)
    if not found:
        raise KubectlError("metrics not available yet")
    nodes = connection.resource("nodes")
    if name:
        known = [await connection.get(nodes, "", name)]
    else:
        known = await connection.list(nodes, None, labels=flags["selector"])
    have = "capacity" if flags["show-capacity"] else "allocatable"
    sizes = {meta(node)["name"]: at(node, "status", have, default={}) for node in known}
    writer = TabWriter()
    if not flags["no-headers"]:
        writer.write("NAME\tCPU(cores)\tCPU(%)\tMEMORY(bytes)\tMEMORY(%)\t\n")
    used = [_usage(metrics, "", [metrics.get("usage") or {}]) for metrics in found]
    for usage in _in_order(used, flags["sort-by"]):
        cpu, memory = usage.cells()
        size = sizes.pop(usage.name, {})
        cpu_m, memory_bytes = quantity.milli(size.get("cpu", "0")), quantity.whole(size.get("memory", "0"))
        shares = (_share(usage.cpu_m, cpu_m), _share(usage.memory_bytes, memory_bytes))
        writer.write(f"{usage.name}\t{cpu}\t{shares[0]}\t{memory}\t{shares[1]}\t\n")
    for missing in sorted(sizes):
        writer.write("\t".join((missing, *[UNKNOWN] * 4, "")) + "\n")
    await kubectl.out(writer.flush())


def _share(used: int, size: int) -> str:
    return f"{used * 100 // size}%" if size else UNKNOWN


@command(
    "top pod",
    "Show how much pods use",
    examples=("kubectl top pod -A --sort-by=cpu",),
    aliases=("pods", "po"),
)
async def top_pod(kubectl: Kubectl) -> None:
    """Print what pods use, or each of their containers."""
    flags = kubectl.flags
    resource = await _metrics(kubectl, "pods")
    name = kubectl.args[0] if kubectl.args else ""
    namespace = None if flags["all-namespaces"] else kubectl.namespace
    found = await _get(kubectl, resource, namespace, name)
    if not found:
        await _why_none(kubectl, namespace, name)
    used = [
        _usage(
            metrics,
            meta(metrics)["namespace"],
            [part.get("usage") or {} for part in metrics["containers"]],
            metrics,
        )
        for metrics in found
    ]
    if used:
        await kubectl.out(
            _pods_text(kubectl, _in_order(used, flags["sort-by"], by_namespace=namespace is None))
        )


def _pods_text(kubectl: Kubectl, used: list[Usage]) -> str:
    flags = kubectl.flags
    everywhere, containers = flags["all-namespaces"], flags["containers"]
    writer = TabWriter()
    columns = [
        *(["NAMESPACE"] if everywhere else []),
        *(["POD"] if containers else []),
        *("NAME", "CPU(cores)", "MEMORY(bytes)"),
    ]
    rows = [] if flags["no-headers"] else [columns]
    for usage in used:
        place = [usage.namespace] if everywhere else []
        if containers:
            parts = _in_order(list(usage.containers), flags["sort-by"])
            rows += [[*place, usage.name, part.name, *part.cells()] for part in parts]
        else:
            rows.append([*place, usage.name, *usage.cells()])
    if flags["sum"]:
        blank = [""] * (len(columns) - 2)
        cpu_m, memory_bytes = sum(usage.cpu_m for usage in used), sum(usage.memory_bytes for usage in used)
        rows += [[*blank, LINE, LINE], [*blank, *Usage("", "", cpu_m, memory_bytes).cells()]]
    for row in rows:
        writer.write("\t".join([*row, ""]) + "\n")
    return writer.flush()


async def _metrics(kubectl: Kubectl, plural: str) -> Resource:
    """The resource of the metrics server, after a look at the command line."""
    flags, full = kubectl.flags, kubectl.command.full
    if len(kubectl.args) > 1:
        raise UsageError(f"{kubectl.command.name} [NAME | -l label]", full)
    if flags["sort-by"] not in ("", "cpu", "memory"):
        raise KubectlError("--sort-by accepts only cpu or memory")
    if kubectl.args and (flags["selector"] or flags.get("field-selector")):
        raise KubectlError("only one of NAME or selector can be provided")
    connection = await kubectl.connect()
    try:
        return connection.resource(f"{plural}.{METRICS}")
    except (ApiError, KeyError, LookupError):
        raise KubectlError(NOT_SERVED) from None


async def _get(kubectl: Kubectl, resource: Resource, namespace: str | None, name: str) -> list[Object]:
    connection, flags = await kubectl.connect(), kubectl.flags
    fields = flags.get("field-selector") or ""
    try:
        if name:
            return [await connection.get(resource, namespace or "", name)]
        return await connection.list(resource, namespace, labels=flags["selector"], fields=fields)
    except Unserved:
        raise KubectlError(NOT_SERVED) from None


def _usage(obj: Object, namespace: str, amounts: list[Object], pod: Object | None = None) -> Usage:
    """What an object's metrics say; of a pod, with each of its containers."""
    parts = tuple(
        _usage({"metadata": container}, namespace, [container.get("usage") or {}])
        for container in (pod or {}).get("containers", ())
    )
    return Usage(
        namespace,
        meta(obj)["name"],
        sum(quantity.milli(amount.get("cpu", "0")) for amount in amounts),
        sum(quantity.whole(amount.get("memory", "0")) for amount in amounts),
        parts,
    )


def _in_order(used: list[Usage], by: str, by_namespace: bool = False) -> list[Usage]:
    def before(one: Usage, other: Usage) -> bool:
        if by == "cpu":
            return one.cpu_m > other.cpu_m
        if by == "memory":
            return one.memory_bytes > other.memory_bytes
        if by_namespace and one.namespace != other.namespace:
            return one.namespace < other.namespace
        return one.name < other.name

    return go_sorted(used, before)


async def _why_none(kubectl: Kubectl, namespace: str | None, name: str) -> None:
    """No pod is known to the metrics server: because there is none, or too early, or wrongly."""
    connection, flags = await kubectl.connect(), kubectl.flags
    pods = connection.resource("pods")
    if name:
        found = [await connection.get(pods, namespace or "", name)]
    else:
        fields = flags.get("field-selector") or ""
        found = await connection.list(pods, namespace, labels=flags["selector"], fields=fields)
    for pod in found:
        age_s = connection.now_s - (cells.seconds(meta(pod).get("creationTimestamp")) or 0.0)
        if age_s > PATIENCE_S:
            where = f"{meta(pod)['namespace']}/{meta(pod)['name']}"
            raise KubectlError(f"Metrics not available for pod {where}, age: {format_duration(age_s)}")
    if found:
        raise KubectlError("metrics not available yet")
    where = "" if namespace is None else f" in {kubectl.namespace} namespace."
    await kubectl.err(f"No resources found{where}\n")
