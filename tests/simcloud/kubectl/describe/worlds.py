"""Two worlds to describe: a living cluster of broken and sound things, and one of rare fields only written."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.store import RevisionLog
from simcloud.kubernetes.api.times import micro, rfc3339
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.nodes import node_names
from simcloud.sim import Kernel
from simcloud.world.world import World
from tests.simcloud.kubernetes.api.frozen import freeze
from tests.simcloud.kubernetes.bare import without_loops

HERE = Path(__file__).parent
SETTLE_S, LIFE_S, LAST_S = 40, 200, 20


def living() -> Cluster:
    """Three nodes on which the living manifests have run for some minutes; it lives in the host's present."""
    world = World(5, epoch_s=float(int(time.time()) - SETTLE_S - LIFE_S))
    machines = [world.add_machine(name) for name in node_names(3)]
    cluster = Cluster(world.kernel, machines, world.epoch_s)
    cluster.start()
    world.run_for(SETTLE_S)
    client = ComponentClient(cluster.api, "kubernetes-admin", "kubectl")
    for obj in manifests("living"):
        client.create(obj)
        if obj["kind"] == "Namespace":
            world.run_for(1)  # until it has its service account
    world.run_for(LIFE_S - LAST_S)
    _change(client)
    world.run_for(LAST_S)
    return cluster


def _change(client: ComponentClient) -> None:
    """A rollout that will not end, a pod that will not go, a node that takes no more."""

    def other_image(deployment: Object) -> None:
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:nosuchtag"

    def cordon(node: Object) -> None:
        node["spec"]["unschedulable"] = True

    for name, namespace, obj, change in (
        ("deployments.apps", "lab", "changed", other_image),
        ("nodes", "", "kind-worker", cordon),
    ):
        found = client.get(name, namespace, obj)
        assert found is not None
        client.edit(found, change)
    pod = client.get("pods", "lab", "slow-to-end")
    assert pod is not None
    client.delete(pod)


def written() -> Cluster:
    """An API in which no loop runs, with the rare manifests in it, statuses as they say.

    What it hands out cannot be changed: a describer that sorts a list in its place fails.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RevisionLog, "seal", staticmethod(freeze))
        return _written()


def _written() -> Cluster:
    cluster = Cluster(Kernel(1), epoch_s=float(int(time.time()) - 1000))
    without_loops(cluster.api)
    client = ComponentClient(cluster.api, "kubernetes-admin", "kubectl")
    for obj in manifests("rare"):
        _write(client, obj)
    _debug(client)
    _tell(client)
    return cluster


def _debug(client: ComponentClient) -> None:
    """A pod that somebody looks into by another container."""
    pod = client.get("pods", "rare", "bare")
    assert pod is not None

    def attach(spec: Object) -> None:
        debugger = {"name": "debugger", "image": "busybox", "stdin": True, "targetContainerName": "main"}
        spec["spec"]["ephemeralContainers"] = [debugger]

    def say(seen: Object) -> None:
        running = {"running": {"startedAt": "2026-11-15T00:00:00Z"}}
        status = {"name": "debugger", "image": "busybox", "imageID": "i", "state": running}
        seen["status"]["ephemeralContainerStatuses"] = [{**status, "ready": False, "restartCount": 0}]

    client.edit(pod, attach, "ephemeralcontainers")
    client.edit(pod, say, "status")


def _tell(client: ComponentClient) -> None:
    """Events of every shape about a pod, and so many about another that sorting them is not trivial."""
    now_s = client.api.now_s
    shapes: list[Object] = [
        {"count": 1, "firstTimestamp": rfc3339(now_s - 50), "lastTimestamp": rfc3339(now_s - 50)},
        {"count": 7, "firstTimestamp": rfc3339(now_s - 5000), "lastTimestamp": rfc3339(now_s - 70)},
        {"message": " spaces around \n", "source": {"component": "kubelet", "host": "n"}},
        {"eventTime": micro(now_s - 90.5), "action": "Binding", "reportingInstance": "scheduler-1"},
        {
            "eventTime": micro(now_s - 900.25),
            "series": {"count": 3, "lastObservedTime": micro(now_s - 30.75)},
            "action": "Binding",
            "reportingInstance": "scheduler-1",
        },
        {"fieldPath": "spec.containers{main}", "message": "two\nlines"},
    ]
    for number, shape in enumerate(shapes):
        _event(client, "containers", number, shape)
    for number in range(30):
        told = rfc3339(now_s - number * 7 % 5 * 60)
        _event(
            client, "bare", number, {"lastTimestamp": told, "firstTimestamp": told, "message": str(number)}
        )


def _event(client: ComponentClient, pod: str, number: int, shape: Object) -> None:
    about = client.get("pods", "rare", pod)
    assert about is not None
    involved = {"kind": "Pod", "name": pod, "namespace": "rare", "uid": about["metadata"]["uid"]}
    if "fieldPath" in shape:
        involved["fieldPath"] = shape["fieldPath"]
    client.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{pod}.{number:02}", "namespace": "rare"},
            "involvedObject": involved,
            "type": "Normal",
            "reason": "Told",
            "reportingComponent": "example.com/teller",
            **{key: value for key, value in shape.items() if key != "fieldPath"},
        }
    )


def _write(client: ComponentClient, obj: Object) -> None:
    status: Any = obj.get("status")
    made = client.create(obj)
    if status:
        client.update_status({**copy(made), "status": status})
    deleted = (obj["metadata"].get("annotations") or {}).get("test/deleted")
    if deleted:
        client.delete(made)


def manifests(folder: str) -> list[Object]:
    """The objects of a folder's files, in the order of the files' names."""
    files = sorted((HERE / folder).glob("*.yaml"))
    return [one for path in files for one in yaml.safe_load_all(path.read_text()) if one]
