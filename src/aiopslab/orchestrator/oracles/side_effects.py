"""Side effects of a repair: changes, restarted pods and rebooted nodes that the repair did not need.

A good repair restarts the faulty component, and perhaps its neighbours, which may hold stale connections or state.
Restarting everything puts every user at risk. A faulty node is drained: all that ran there has to start elsewhere, and
its neighbours may restart too. Every other node stays on: a reboot takes down healthy pods, and destroys evidence.

Whatever a fault concerns may be changed in any way that works, with three limits that hold for all faults alike. Scaling:
the workload of a faulty component may keep up to ``MAX_SCALING`` times as many pods as before, which is a usual precaution;
more is waste, and so is any additional pod of another workload. Metadata: labels and annotations that an object had before
stay, because other people's tools find it by them; new ones do no harm. Volumes: pods still mount the claims that they
mounted before, even if nobody misses the data yet.

The same holds for what the API does not know: packet filters, kernel settings and configuration files of nodes that are
not faulty, and users and roles in databases that no fault concerns.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import takewhile
from math import floor
from typing import TYPE_CHECKING, Final

from aiopslab.apps import Application
from aiopslab.cloud import (
    Declared,
    State,
    describe_differences,
    find_changes,
    find_differences,
    find_lost_metadata,
    find_state_changes,
)
from aiopslab.generators.fault import Fault, Site
from simcloud.kubernetes.api import Key, Object, at, times

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite

MAX_SCALING: Final = 2
"""Maximum ratio of a faulty component's pods to those that it had before."""
SHOWN: Final = 5
REPLICAS: Final = "spec.replicas"


def find_unneeded_changes(
    before: Declared, now: Declared, site: Site, faults: Iterable[Fault], among: Container[Key] | None = None
) -> list[str]:
    """Describe the changes of declared objects that a repair does not need; only of those ``among``, if given."""
    faults = tuple(faults)
    concerned = {resource for fault in faults for resource in _list_concerned(fault, site)}
    nodes = find_faulty_nodes(site, faults)
    components = {name for fault in faults for name in list_faulty_components(fault)}
    found: list[str] = []
    for key, what in find_changes(before, now).items():
        if (among is not None and key not in among) or (key.plural == "nodes" and key.name in nodes):
            continue
        is_concerned = (format_resource(key), key.name, key.namespace) in concerned
        is_concerned |= (
            what == "added" and _get_claim(now[key]) in concerned
        )  # a volume that the cluster made
        name = f"{key.plural}/{key.name}"
        if what != "changed":
            found += [] if is_concerned else [f"{name} was {what}"]
            continue
        old, new = before[key], now[key]
        if is_concerned:
            paths = [*find_lost_metadata(old, new), *_find_lost_claims(old, new)]
        else:
            paths = find_differences(old, new)
        if is_concerned or (key.namespace == site.namespace and key.name in components):
            paths = [path for path in paths if path != REPLICAS]
            found += _find_overscaling(name, old, new)
        if paths:
            verb = "lost" if is_concerned else "was changed"
            found.append(f"{name} {verb} ({join_some(paths)})")
    return found


def find_concerned_changes(before: Declared, now: Declared, site: Site, fault: Fault) -> list[str]:
    """Describe how the objects that a fault concerns differ from what they should be."""
    concerned = set(_list_concerned(fault, site))
    found: list[str] = []
    for key, what in find_changes(before, now).items():
        if (format_resource(key), key.name, key.namespace) not in concerned:
            continue
        name = f"{key.plural}/{key.name}"
        if what == "changed":
            found.append(f"{name} has {join_some(describe_differences(before[key], now[key]))}")
        else:
            found.append(f"{name} was {what}")
    return found


def _list_concerned(fault: Fault, site: Site) -> Iterator[tuple[str, ...]]:
    """Yield the objects that a fault concerns, with their namespaces."""
    for resource in fault.concerned:
        if len(resource) > 2:
            yield resource
        else:
            yield from ((*resource, site.namespace), (*resource, ""))


def _get_claim(obj: Object) -> tuple[str, str, str]:
    """Return the claim that a volume is bound to; empty texts if there is none."""
    claim = at(obj, "spec", "claimRef", default={}) if obj["kind"] == "PersistentVolume" else {}
    return "persistentvolumeclaims", claim.get("name", ""), claim.get("namespace", "")


def _find_lost_claims(before: Object, now: Object) -> Iterator[str]:
    """Yield the claims that a workload's pods do not mount any more."""
    kept = _list_mounted_claims(now)
    return (f"the mounted claim {name}" for name in _list_mounted_claims(before) if name not in kept)


def _list_mounted_claims(workload: Object) -> list[str]:
    pods = at(workload, "spec", "template", "spec", default={})
    mounts = [
        mount["name"]
        for container in pods.get("containers", ())
        for mount in container.get("volumeMounts", ())
    ]
    return [
        volume["persistentVolumeClaim"]["claimName"]
        for volume in pods.get("volumes", ())
        if "persistentVolumeClaim" in volume and volume["name"] in mounts
    ]


def _find_overscaling(name: str, before: Object, now: Object) -> Iterator[str]:
    wanted, scaled = (at(obj, "spec", "replicas", default=1) for obj in (before, now))
    if before["kind"] in ("Deployment", "StatefulSet") and scaled > MAX_SCALING * wanted:
        yield f"{name} was scaled from {wanted} to {scaled} pods, more than {MAX_SCALING} times as many"


def find_unneeded_state_changes(environment: IncidentSite, faults: Iterable[Fault]) -> list[str]:
    """Describe the changes on nodes and in databases since the baseline that a repair does not need."""
    faults = tuple(faults)
    faulty = find_faulty_nodes(environment, faults)
    faulty |= {name for fault in faults for name in list_faulty_components(fault)}
    return describe_state_changes(environment.baseline.state, environment.read_state(), faulty)


def find_concerned_state_changes(environment: IncidentSite, fault: Fault) -> list[str]:
    """Describe the changes since the baseline on nodes and in databases that a fault concerns."""
    concerned = {*fault.machines_at_fault(environment), *list_faulty_components(fault)}
    changes = find_state_changes(environment.baseline.state, environment.read_state())
    return [f"on {name} {what}" for name, what in changes if name in concerned]


def describe_state_changes(before: State, now: State, spared: Container[str] = ()) -> list[str]:
    """Describe the changes on nodes and in databases other than those spared."""
    return [f"on {name} {what}" for name, what in find_state_changes(before, now) if name not in spared]


def list_faulty_components(fault: Fault) -> tuple[str, ...]:
    """Return the names of the components that a fault makes faulty, and of the objects that it concerns."""
    truth = fault.truth
    return (
        truth.component,
        *truth.also_at_fault,
        *truth.also_right,
        *(resource[1] for resource in fault.concerned),
    )


def join_some(phrases: list[str], separator: str = ", ") -> str:
    """Join the first phrases and the number of those left out."""
    more = [f"{len(phrases) - SHOWN} more"] if len(phrases) > SHOWN else []
    return separator.join((*phrases[:SHOWN], *more))


def format_resource(key: Key) -> str:
    """Return a resource's name as faults write it: ``deployments.apps``."""
    return f"{key.plural}.{key.group}".rstrip(".")


def find_unneeded_restarts(environment: IncidentSite, faults: Iterable[Fault]) -> list[str]:
    """Return the components with pods younger than the session that a repair need not restart.

    A repair may restart the faulty components, what ran on faulty nodes, and the neighbours of both.
    """
    spared = {component.name for component in environment.app.components}
    for fault in faults:
        displaced = _find_components_on(environment, fault.machines_at_fault(environment))
        for name in (fault.truth.component, *fault.truth.also_right, *displaced):
            spared -= {name, *_get_neighbours(environment.app, name)}
    pods = environment.cluster.api.log.objects("", "pods", environment.namespace)
    return sorted(spared & {_get_workload(pod) for pod in pods if is_new(environment, pod)})


def find_unneeded_reboots(environment: IncidentSite, faults: Iterable[Fault]) -> list[str]:
    """Return the healthy nodes that were turned off or rebooted since the session began."""
    faulty = find_faulty_nodes(environment, faults)
    return [name for name in environment.find_rebooted_nodes(environment.handed_over_s) if name not in faulty]


def find_faulty_nodes(site: Site, faults: Iterable[Fault]) -> set[str]:
    """Return the names of the faulty nodes of all faults."""
    return {name for fault in faults for name in fault.machines_at_fault(site)}


def _get_neighbours(app: Application, name: str) -> list[str]:
    """Return the components that a component calls, and its callers."""
    return [*app.component(name).calls, *app.find_callers(name)]


def _find_components_on(environment: IncidentSite, nodes: Iterable[str]) -> set[str]:
    """Return the components with pods on these nodes at the end of the baseline, from the log: pods may be gone by now."""
    node_names = frozenset(nodes)
    if not node_names:
        return set()
    pods: dict[str, Object] = {}
    writes = environment.cluster.api.log.history(
        lambda key: key.plural == "pods" and key.namespace == environment.namespace
    )
    for write in takewhile(lambda write: write.time_s <= environment.baseline.end, writes):
        pods[write.key.name] = write.object
        if write.change == "DELETED":
            del pods[write.key.name]
    known = {component.name for component in environment.app.components}
    return known & {
        _get_workload(pod) for pod in pods.values() if at(pod, "spec", "nodeName", default="") in node_names
    }


def _get_workload(pod: Object) -> str:
    """Return the Deployment of a pod, from the name of the ReplicaSet that owns it."""
    owner: str = at(pod, "metadata", "ownerReferences", 0, "name", default="")
    return owner.rpartition("-")[0]


def is_new(environment: IncidentSite, obj: Object) -> bool:
    """Whether an object was created since the agent got the system; objects are dated in whole seconds."""
    began_s = floor(environment.world.epoch_s + environment.handed_over_s)
    return times.parse(obj["metadata"]["creationTimestamp"]) >= began_s
