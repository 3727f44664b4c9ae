"""What must hold in a living cluster: at every moment, and once it has come to rest.

Each check is a function that returns sentences about what is wrong, none if all is well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import controller_of
from simcloud.kubernetes.controllers.deployments.sets import max_surge
from simcloud.kubernetes.controllers.pods import is_active, is_leaving, is_ready, is_terminal
from tests.simcloud.kubernetes.lab import Lab

COLLECTED_S = 10.0
"""So long after its last owner an object may still be there without being asked to go."""

OWNERS = (
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "nodes",
    "deployments.apps",
    "jobs.batch",
)
WITHOUT_REST = ("leases", "events", "nodes")
"""What is written in a cluster in which nothing happens: signs of life."""

SETTLING_WITHOUT_A_NODE = ("deployments.apps", "replicasets.apps")
"""What finds other nodes. The others' pods are bound to the lost one by name, or by their own name."""
SETTLING = (*SETTLING_WITHOUT_A_NODE, "statefulsets.apps", "daemonsets.apps")


class Watcher:
    """Remembers when owners went, which the cluster itself does not."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.gone_at: dict[str, float] = {}
        for resource in OWNERS:
            lab.client.follow(resource, self._see)

    def _see(self, write: Revision) -> None:
        if write.change == "DELETED":
            self.gone_at[write.object["metadata"]["uid"]] = self.lab.world.kernel.now

    def always(self) -> list[str]:
        """What is wrong now that may never be."""
        lab = self.lab
        return [*self._without_owner(), *overfull(lab), *shared_addresses(lab), *too_many_replicas(lab)]

    def _without_owner(self) -> Iterator[str]:
        present = {
            one["metadata"]["uid"]: None for resource in OWNERS for one in self.lab.client.list(resource)
        }
        for child in (*self.lab.pods(None), *self.lab.client.list("replicasets.apps")):
            owner = controller_of(child)
            if owner is None or owner["uid"] in present or is_leaving(child):
                continue
            name = child["metadata"]["name"]
            since = self.gone_at.get(owner["uid"])
            if since is None:
                yield f"{name} belongs to {owner['name']}, which never was"
            elif self.lab.world.kernel.now - since > COLLECTED_S:
                yield f"{name} is still there, its owner {owner['name']} is not"


def overfull(lab: Lab) -> Iterator[str]:
    """Nodes that were given more than they have."""
    for node in lab.client.list("nodes"):
        name, room = node["metadata"]["name"], node["status"]["allocatable"]
        pods = [pod for pod in lab.pods(None) if pod["spec"].get("nodeName") == name and not is_terminal(pod)]
        if len(pods) > int(room["pods"]):
            yield f"{name} has {len(pods)} pods"
        for resource in ("cpu", "memory"):
            asked = sum((_request(pod, resource) for pod in pods), Fraction())
            if asked > quantity.parse(room[resource]):
                yield f"{name} has {room[resource]} of {resource}, its pods were promised {asked}"


def _request(pod: Object, resource: str) -> Fraction:
    asked = [at(one, "resources", "requests", resource) for one in pod["spec"]["containers"]]
    return sum((quantity.parse(one) for one in asked if one is not None), Fraction())


def shared_addresses(lab: Lab) -> Iterator[str]:
    """Addresses that two running pods have, as far as their nodes can tell."""
    reachable = {name: None for name, machine in lab.world.machines.items() if machine.running}
    running = [
        pod["status"].get("podIP")
        for pod in lab.pods(None)
        if pod["status"]["phase"] == "Running"
        and not pod["spec"].get("hostNetwork")
        and pod["spec"]["nodeName"] in reachable
        and is_ready(pod)
    ]
    for address, count in Counter(running).items():
        if count > 1:
            yield f"{count} pods have the address {address}"


def too_many_replicas(lab: Lab) -> Iterator[str]:
    """Deployments whose ReplicaSets want more than replicas and surge, although it had its say."""
    for deployment in lab.client.list("deployments.apps"):
        if at(deployment, "status", "observedGeneration") != deployment["metadata"]["generation"]:
            continue
        sets = [one for one in lab.client.list("replicasets.apps") if _is_of(one, deployment)]
        wanted = sum(one["spec"]["replicas"] for one in sets)
        most = deployment["spec"]["replicas"] + max_surge(deployment)
        if wanted > most:
            yield f"{deployment['metadata']['name']} may have {most} replicas, its sets want {wanted}"


def _is_of(child: Object, owner: Object) -> bool:
    reference = controller_of(child)
    return reference is not None and reference["uid"] == owner["metadata"]["uid"]


def unsettled(lab: Lab, lost: str = "") -> list[str]:
    """What is wrong in a cluster that had all the time it needs; a machine may be lost."""
    return [
        *_workloads(lab, SETTLING if not lost else SETTLING_WITHOUT_A_NODE),
        *_stuck_pods(lab, lost),
        *_left_behind(lab, lost),
        *_wrong_backends(lab),
    ]


def _workloads(lab: Lab, resources: tuple[str, ...]) -> Iterator[str]:
    for resource in resources:
        for owner in lab.client.list(resource):
            if is_leaving(owner) and resources is SETTLING_WITHOUT_A_NODE:
                continue  # it waits, in the foreground, for pods that nobody can end
            name = f"{resource}/{owner['metadata']['name']}"
            status, pods = owner["status"], _pods_of(lab, owner)
            if status["observedGeneration"] != owner["metadata"]["generation"]:
                yield f"{name} was not looked at"
            wanted = owner["spec"].get("replicas", status.get("desiredNumberScheduled"))
            ready = sum(map(is_ready, pods))
            if len(pods) != wanted or ready != wanted:
                yield f"{name} wants {wanted} pods, has {len(pods)}, of which {ready} are ready"
            for field, told in _told(resource, status).items():
                if told != wanted:
                    yield f"{name} wants {wanted} pods and tells of {told} in {field}"


def _told(resource: str, status: Object) -> dict[str, int]:
    fields = {
        "deployments.apps": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
        "statefulsets.apps": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
        "replicasets.apps": ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
        "daemonsets.apps": (
            "currentNumberScheduled",
            "updatedNumberScheduled",
            "numberReady",
            "numberAvailable",
        ),
    }
    return {field: status.get(field) or 0 for field in fields[resource]}


def _pods_of(lab: Lab, owner: Object) -> list[Object]:
    """The pods that live for an owner, also through a ReplicaSet."""
    namespace = owner["metadata"]["namespace"]
    uids = {owner["metadata"]["uid"]: None}
    for one in lab.client.list("replicasets.apps", namespace):
        if _is_of(one, owner):
            uids[one["metadata"]["uid"]] = None
    return [
        pod
        for pod in lab.pods(namespace)
        if is_active(pod) and (controller_of(pod) or {"uid": ""})["uid"] in uids
    ]


def _stuck_pods(lab: Lab, lost: str) -> Iterator[str]:
    for pod in lab.pods(None):
        if is_leaving(pod) and pod["spec"].get("nodeName") != lost:
            yield f"{pod['metadata']['name']} on {pod['spec'].get('nodeName')} is still Terminating"


def _left_behind(lab: Lab, lost: str) -> Iterator[str]:
    """Sandboxes on machines that belong to no pod."""
    uids = {pod["metadata"]["uid"]: None for pod in lab.pods(None)}
    for name, kubelet in lab.cluster.kubelets.items():
        for uid in kubelet.node.runtime.pods:
            if name != lost and uid not in uids:
                yield f"{name} still has the sandbox of a pod that is gone"


def _wrong_backends(lab: Lab) -> Iterator[str]:
    for service in lab.client.list("services", "default"):
        selector, name = service["spec"].get("selector"), service["metadata"]["name"]
        if not selector:
            continue
        ready = sorted(
            pod["status"]["podIP"]
            for pod in lab.pods()
            if selector.items() <= pod["metadata"].get("labels", {}).items()
            and is_ready(pod)
            and is_active(pod)
        )
        for source, told in (("Endpoints", _endpoints(lab, name)), ("EndpointSlices", _slices(lab, name))):
            if told != ready:
                yield f"{source} of {name} are {told}, ready are {ready}"


def _endpoints(lab: Lab, service: str) -> list[str]:
    subsets = lab.get("endpoints", service).get("subsets") or ()
    return sorted(one["ip"] for subset in subsets for one in subset.get("addresses") or ())


def _slices(lab: Lab, service: str) -> list[str]:
    return sorted(
        endpoint["addresses"][0]
        for one in lab.client.list("endpointslices.discovery.k8s.io", "default")
        if one["metadata"]["labels"]["kubernetes.io/service-name"] == service
        for endpoint in one.get("endpoints") or ()
        if endpoint["conditions"]["ready"]
    )


def restless(lab: Lab, seconds: float) -> list[str]:
    """What is written within some seconds that is no mere sign of life."""
    before = lab.cluster.api.log.revision
    lab.world.run_for(seconds)
    return [
        f"{write.by} wrote {write.key.plural}/{write.key.name} at {write.time_s:.1f} s"
        for write in lab.cluster.api.log.history()
        if write.number > before and write.key.plural not in WITHOUT_REST
    ]
