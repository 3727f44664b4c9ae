"""The pod and container that arguments name: ``web-1``, ``deploy/web``, ``svc/web -c proxy``.

Another object than a pod stands for the pods it selects, of which the best one is taken: the one that is ready for
the longest time for a command, the most informative one for a log. If there is none yet, kubectl waits for the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.golang import go_sorted, quote
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.selection import Info, Wanted, fetch, info_of, parse_wanted
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import LabelSelector, Object, Resource, at, selectors
from simcloud.kubernetes.api.verbs import WatchOptions
from simcloud.machine.process import Stream
from simcloud.sim import TimedOut

POD: Final = ("", "pods")
BY_LABEL_SELECTOR: Final = frozenset(
    {
        ("apps", "replicasets"), ("apps", "statefulsets"), ("apps", "daemonsets"),
        ("apps", "deployments"), ("batch", "jobs"),
    }
)  # fmt: skip
BY_LABELS: Final = frozenset({("", "replicationcontrollers"), ("", "services")})
DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"
PARTS: Final = {"containers": "", "ephemeralContainers": " (ephem)", "initContainers": " (init)"}
TOO_LATE: Final = "timed out waiting for the condition"

PHASES: Final = {"Running": 0, "Unknown": 1, "Pending": 2}


async def find_target(kubectl: Kubectl, word: str) -> Info:
    """Find the object that POD or TYPE/NAME names."""
    connection = await kubectl.connect()
    words = [word] if "/" in word else ["pods", word]
    one: Wanted = parse_wanted(kubectl, connection.catalogue, words, selected=False)[0]
    return info_of(one.resource, await fetch(connection, one))


async def pod_to_run_in(kubectl: Kubectl, info: Info) -> Object:
    """The pod that a command or a connection goes to."""
    if info.resource.key == POD:
        return info.obj
    selector = selector_of(info, "cannot attach to")
    pods = await pods_of(
        kubectl, info.namespace, selector, lambda one, other: _before(other, one, busiest=True)
    )
    return pods[0]


async def pods_to_read(kubectl: Kubectl, info: Info) -> list[Object]:
    """The pods whose log is meant, the most telling one first."""
    if info.resource.key == POD:
        return [info.obj]
    selector = selector_of(info, "cannot get the logs from")
    return await pods_of(
        kubectl, info.namespace, selector, lambda one, other: _before(one, other, busiest=False)
    )


def selector_of(info: Info, doing: str) -> str:
    """The labels of the pods that an object stands for."""
    resource, spec = info.resource, info.obj.get("spec") or {}
    selector: LabelSelector
    if resource.key in BY_LABEL_SELECTOR:
        selector = selectors.from_label_selector(spec.get("selector"))
    elif resource.key in BY_LABELS:
        if not spec.get("selector") and resource.plural == "services":
            raise KubectlError(
                f"{doing} *v1.Service: invalid service '{info.name}': Service is defined without a selector"
            )
        selector = selectors.from_set(spec.get("selector"))
    else:
        kind = go_type(resource)
        raise KubectlError(f"{doing} {kind}: selector for {kind} not implemented")
    return str(selector)


def go_type(resource: Resource) -> str:
    """The name of the type that the genuine tool holds an object in."""
    return "*unstructured.Unstructured" if resource.custom else f"*{resource.version}.{resource.kind}"


async def pods_of(
    kubectl: Kubectl, namespace: str, labels: str, before: Callable[[Object, Object], bool]
) -> list[Object]:
    """The pods with these labels in order; the first that appears, if there are none."""
    connection = await kubectl.connect()
    resource = connection.resource("pods")
    revision = str(connection.api.log.revision)
    found = await connection.list(resource, namespace, labels=labels)
    if found:
        return go_sorted(list(found), before)
    watch = await connection.watch(
        resource, namespace, WatchOptions(labels=labels, resource_version=revision)
    )
    try:
        with kubectl.ctx.kernel.timeout(running_timeout_s(kubectl)):
            while (event := await watch.next()) is not None:
                if event.type in ("ADDED", "MODIFIED"):
                    return [event.object]
    except TimedOut:
        pass
    finally:
        watch.stop()
    raise KubectlError(TOO_LATE)


def running_timeout_s(kubectl: Kubectl, *, tells_usage: bool = False) -> float:
    """How long a pod may take to come up."""
    seconds: float = kubectl.flags["pod-running-timeout"]
    if seconds <= 0:
        why = "--pod-running-timeout must be higher than zero"
        raise UsageError(why, kubectl.command.full) if tells_usage else KubectlError(why)
    return seconds


def _before(one: Object, other: Object, *, busiest: bool) -> bool:
    """Whether a pod is to be preferred. ``busiest`` is the order of what is kept when some must go."""
    placed, other_placed = bool(one["spec"].get("nodeName")), bool(other["spec"].get("nodeName"))
    if placed != other_placed:
        return placed
    phase, other_phase = _phase(one), _phase(other)
    if phase != other_phase:
        return phase < other_phase
    ready, other_ready = _ready_since(one), _ready_since(other)
    if (ready is None) != (other_ready is None):
        return ready is not None
    if ready is not None and other_ready is not None and ready != other_ready:
        return ready < other_ready
    restarts, other_restarts = _restarts(one), _restarts(other)
    if restarts != other_restarts:
        return restarts < other_restarts if busiest else restarts > other_restarts
    return str(one["metadata"]["creationTimestamp"]) < str(other["metadata"]["creationTimestamp"])


def _phase(pod: Object) -> int:
    """Of phases that are none of these, nothing is known: they count as running."""
    return PHASES.get(at(pod, "status", "phase", default=""), 0)


def _ready_since(pod: Object) -> str | None:
    for condition in at(pod, "status", "conditions", default=()):
        if condition["type"] == "Ready" and condition["status"] == "True":
            return str(condition.get("lastTransitionTime") or "")
    return None


def _restarts(pod: Object) -> int:
    statuses = at(pod, "status", "containerStatuses", default=())
    return max((container_status.get("restartCount", 0) for container_status in statuses), default=0)


# -- containers --------------------------------------------------------------------------------


def find_container(pod: Object, name: str) -> Object | None:
    """A container of any sort by its name."""
    for part in ("initContainers", "containers", "ephemeralContainers"):
        for container in pod["spec"].get(part) or ():
            if container["name"] == name:
                found: Object = container
                return found
    return None


def all_names(pod: Object) -> str:
    """The containers that one may choose from."""
    return ", ".join(
        f"{container['name']}{mark}"
        for part, mark in PARTS.items()
        for container in pod["spec"].get(part) or ()
    )


def existing_container(pod: Object, name: str) -> Object:
    """The container of that name, or a complaint."""
    found = find_container(pod, name)
    if found is None:
        raise KubectlError(
            f"container {name} is not valid for pod {pod['metadata']['name']} out of: {all_names(pod)}"
        )
    return found


async def default_container(kubectl: Kubectl, pod: Object, *, quiet: bool, to: Stream | None = None) -> str:
    """Return the default container of a pod; print a note if it has several."""

    async def tell(text: str) -> None:
        if not quiet and to is not None:
            await to.write(f"{text}\n".encode())
        elif not quiet:
            await kubectl.err(f"{text}\n")

    said = str((pod["metadata"].get("annotations") or {}).get(DEFAULT_CONTAINER, ""))
    if said and find_container(pod, said) is not None:
        return said
    if said:
        await tell(f"Default container name {quote(said)} not found in pod {pod['metadata']['name']}")
    spec = pod["spec"]
    first = str(spec["containers"][0]["name"])
    if len(spec["containers"]) > 1 or spec.get("initContainers") or spec.get("ephemeralContainers"):
        await tell(f"Defaulted container {quote(first)} out of: {all_names(pod)}")
    return first
