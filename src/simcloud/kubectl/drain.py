"""Drain of a node: which pods are removed, and their eviction or deletion.

The genuine tool evicts all pods at once in threads; here one loop does the next due step, so that the order is
deterministic: that of the pods, then that of time.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from msgspec import Struct, field

from simcloud.golang import format_duration
from simcloud.kubectl.describe.parts import controller_of
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.output import DryRun, dry_run
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, DeleteOptions, NotFound, Object, at, meta, times

RETRY_S: Final = 5.0
LOOK_EVERY_S: Final = 1.0
MIRROR: Final = "kubernetes.io/config.mirror"
LOCAL_STORAGE: Final = "Pods with local storage (use --delete-emptydir-data to override)"
DAEMONS: Final = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
NO_CONTROLLER: Final = "Pods that declare no controller (use --force to override)"


class Sorted(Struct):
    """The pods of a node: those to send away, and what must be said of others."""

    leaving: list[Object] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=dict)
    warnings: dict[str, list[str]] = field(default_factory=dict)

    def refusals(self) -> list[str]:
        """Why the node cannot be drained."""
        return [f"cannot delete {why}: {', '.join(pods)}" for why, pods in self.faults.items()]

    def warning(self) -> str:
        """What the person should know."""
        return "; ".join(f"{why}: {', '.join(pods)}" for why, pods in self.warnings.items())


async def sort_pods(kubectl: Kubectl, node: str) -> Sorted:
    """Look at the pods of a node one by one."""
    connection = await kubectl.connect()
    pods = await connection.list(
        connection.resource("pods"),
        None,
        labels=kubectl.flags["pod-selector"],
        fields=f"spec.nodeName={node}",
    )
    found = Sorted()
    for pod in pods:
        await _sort(kubectl, pod, found)
    return found


async def _sort(kubectl: Kubectl, pod: Object, found: Sorted) -> None:
    flags = kubectl.flags
    connection = await kubectl.connect()
    metadata = meta(pod)
    name = f"{metadata['namespace']}/{metadata['name']}"
    finished = at(pod, "status", "phase") in ("Succeeded", "Failed")
    controller = controller_of(pod)
    patience_s, deleted = flags["skip-wait-for-delete-timeout"], metadata.get("deletionTimestamp")
    if patience_s > 0 and deleted and connection.now_s - times.parse(deleted) > patience_s:
        return
    if controller is not None and controller.get("kind") == "DaemonSet" and not finished:
        await _sort_daemon(kubectl, metadata["namespace"], controller["name"], name, found)
        return
    if MIRROR in (metadata.get("annotations") or {}):
        return
    volumes = at(pod, "spec", "volumes", default=None) or ()
    local = any("emptyDir" in volume for volume in volumes)
    if local and not finished and not flags["delete-emptydir-data"]:
        found.faults.setdefault(LOCAL_STORAGE, []).append(name)
        return
    if not finished and controller is None:
        if not flags["force"]:
            found.faults.setdefault(NO_CONTROLLER, []).append(name)
            return
        found.warnings.setdefault("deleting Pods that declare no controller", []).append(name)
    found.leaving.append(pod)


async def _sort_daemon(kubectl: Kubectl, namespace: str, owner: str, pod: str, found: Sorted) -> None:
    """A pod of a DaemonSet stays; whether it may is the question."""
    connection = await kubectl.connect()
    try:
        await connection.get(connection.resource("daemonsets.apps"), namespace, owner)
    except ApiError as error:
        orphan = isinstance(error, NotFound) and kubectl.flags["force"]
        where = found.warnings if orphan else found.faults
        where.setdefault(error.message, []).append(pod)
        return
    if kubectl.flags["ignore-daemonsets"]:
        found.warnings.setdefault("ignoring DaemonSet-managed Pods", []).append(pod)
    else:
        found.faults.setdefault(DAEMONS, []).append(pod)


async def send_away(kubectl: Kubectl, pods: list[Object]) -> list[str]:
    """Evict or delete pods and wait until they are gone; the answer is what went wrong."""
    if not pods:
        return []
    if kubectl.flags["disable-eviction"]:
        return await _delete(kubectl, pods)
    return await _Evictions(kubectl, pods).run()


def _grace(kubectl: Kubectl) -> int | None:
    grace: int = kubectl.flags["grace-period"]
    return grace if grace >= 0 else None


def _format_timeout(kubectl: Kubectl) -> str:
    return f"global timeout reached: {format_duration(kubectl.flags['timeout'])}"


async def _is_gone(kubectl: Kubectl, pod: Object) -> bool:
    connection = await kubectl.connect()
    metadata = meta(pod)
    try:
        now = await connection.get(connection.resource("pods"), metadata["namespace"], metadata["name"])
    except NotFound:
        return True
    return bool(meta(now)["uid"] != metadata["uid"])


async def _delete(kubectl: Kubectl, pods: list[Object]) -> list[str]:
    connection = await kubectl.connect()
    trying = dry_run(kubectl) is DryRun.SERVER
    options = DeleteOptions(grace_s=_grace(kubectl), dry_run=trying)
    for pod in pods:
        metadata = meta(pod)
        try:
            await connection.delete(
                connection.resource("pods"), metadata["namespace"], metadata["name"], options
            )
        except NotFound:
            continue
    if trying:
        return []
    limit_s = kubectl.flags["timeout"]
    end_s = connection.now_s + limit_s if limit_s > 0 else None
    left = list(pods)
    while True:
        there: list[Object] = []
        for pod in left:
            if await _is_gone(kubectl, pod):
                await kubectl.out(f"pod/{meta(pod)['name']} deleted\n")
            else:
                there.append(pod)
        left = there
        if not left:
            return []
        if end_s is not None and connection.now_s >= end_s:
            return [_format_timeout(kubectl)]
        pause_s = LOOK_EVERY_S if end_s is None else min(LOOK_EVERY_S, end_s - connection.now_s)
        await kubectl.ctx.sleep(pause_s)


class _Evictions:
    """Evictions under way: each pod is asked to leave until the server agrees, then looked for until it is gone."""

    def __init__(self, kubectl: Kubectl, pods: list[Object]) -> None:
        self._kubectl = kubectl
        self._pods = pods
        self._leaving = [False] * len(pods)
        self._faults: list[str] = []
        limit_s = kubectl.flags["timeout"]
        self._end_s: float | None = kubectl.ctx.now + limit_s if limit_s > 0 else None

    async def run(self) -> list[str]:
        """Go on until nothing is left to do."""
        ctx = self._kubectl.ctx
        due = [(ctx.now, place) for place in range(len(self._pods))]
        heapify(due)
        while due:
            moment_s, place = heappop(due)
            if moment_s > ctx.now:
                await ctx.sleep(moment_s - ctx.now)
            try:
                pause_s = await (self._look(place) if self._leaving[place] else self._evict(place))
            except KubectlError as error:
                self._faults.append(error.message)
                continue
            if pause_s is not None:
                heappush(due, (ctx.now + pause_s, place))
        return self._faults

    @property
    def _late(self) -> bool:
        return self._end_s is not None and self._kubectl.ctx.now >= self._end_s

    async def _evict(self, place: int) -> float | None:
        """Ask a pod to leave; the answer is when to go on with it, None if there is nothing more to do."""
        kubectl, pod = self._kubectl, self._pods[place]
        namespace, name = meta(pod)["namespace"], meta(pod)["name"]
        trying = dry_run(kubectl) is DryRun.SERVER
        await kubectl.out(f"evicting pod {namespace}/{name}{' (server dry run)' if trying else ''}\n")
        about = f'error when evicting pods/"{name}" -n "{namespace}"'
        if self._late:
            raise KubectlError(f"{about}: {_format_timeout(kubectl)}")
        connection = await kubectl.connect()
        try:
            await connection.act(
                connection.resource("pods"), namespace, name, "eviction", self._body(pod, trying)
            )
        except NotFound:
            return None
        except ApiError as error:
            if error.reason == "TooManyRequests":
                await kubectl.err(f"{about} (will retry after 5s): {error.message}\n")
                return RETRY_S
            ending = error.reason == "Forbidden" and "is being terminated" in error.message
            if not ending:
                raise KubectlError(f"{about}: {error.message}") from None
            if not meta(pod).get("deletionTimestamp"):
                ending_about = f'error when evicting pod "{name}" from terminating namespace "{namespace}"'
                await kubectl.err(f"{ending_about} (will retry after 5s): {error.message}\n")
                return RETRY_S
        if trying:
            return None
        self._leaving[place] = True
        return 0.0

    def _body(self, pod: Object, trying: bool) -> Object:
        options: Object = {}
        if (grace := _grace(self._kubectl)) is not None:
            options["gracePeriodSeconds"] = grace
        if trying:
            options["dryRun"] = ["All"]
        return {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": meta(pod)["name"], "namespace": meta(pod)["namespace"]},
            "deleteOptions": options,
        }

    async def _look(self, place: int) -> float | None:
        pod = self._pods[place]
        namespace, name = meta(pod)["namespace"], meta(pod)["name"]
        if await _is_gone(self._kubectl, pod):
            await self._kubectl.out(f"pod/{name} evicted\n")
            return None
        if self._late:
            why = _format_timeout(self._kubectl)
            raise KubectlError(
                f'error when waiting for pod "{name}" in namespace "{namespace}" to terminate: {why}'
            )
        if self._end_s is None:
            return LOOK_EVERY_S
        return min(LOOK_EVERY_S, self._end_s - self._kubectl.ctx.now)
