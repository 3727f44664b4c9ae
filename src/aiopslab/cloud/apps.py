"""Applications on a world's cluster: their images in its registry, their manifests applied, their pods waited for.

The manifests go through kubectl at an operator's host, as in life; what is left behind (annotations, managed fields,
events) is what an operator would find.
"""

from __future__ import annotations

from typing import Final

from aiopslab.cloud.storage import share_folder
from aiopslab.cloud.terminal import Terminal
from aiopslab.cloud.world import World
from aiopslab.cluster.api.objects import Object, at
from aiopslab.cluster.client import Client
from aiopslab.cluster.cluster import Cluster
from aiopslab.service.apps.base import Application

FOLDER: Final = "/root/manifests"
HOST: Final = "bastion-deploy"
PATIENCE_S: Final = 300.0
STEP_S: Final = 1.0
SETTLED_S: Final = 15.0
"""Pods without probes look ready before they are; one that lacks a database shows it after ten seconds."""


class NotReady(Exception):
    """An application did not come up in time; says which pods are missing."""


def deploy(world: World, cluster: Cluster, app: Application, patience_s: float = PATIENCE_S) -> float:
    """Deploy an application on a started cluster, and let time pass until all of it runs.

    Returns how many virtual seconds that took. Raises ``NotReady`` after so many, and ``DeployFailed`` when the
    manifests are refused.
    """
    app.publish(cluster.registry)
    for folder in app.shared_folders:
        share_folder(world, cluster, folder)
    begun = world.kernel.now
    apply_manifests(Terminal(world, cluster, name=HOST), app)
    wait_until_ready(world, cluster, app, begun + patience_s)
    return world.kernel.now - begun


class DeployFailed(Exception):
    """Manifests were refused; the text is kubectl's."""


def apply_manifests(terminal: Terminal, app: Application) -> None:
    """Apply an application's manifests from a host."""
    folder, files = f"{FOLDER}/{app.name}", terminal.machine.host.files
    files.mkdir(folder, parents=True)
    for name, text in app.manifest_files.items():
        files.put(f"{folder}/{name}", text.encode())
    done = terminal.run(f"kubectl apply -f {folder}", PATIENCE_S)
    if done.status != 0:
        raise DeployFailed(done.stderr.decode())


def wait_until_ready(world: World, cluster: Cluster, app: Application, deadline: float) -> None:
    """Let time pass until every Deployment has its pods, all of them ready and none restarted for a while."""
    client = Client(cluster.api, "kubernetes-admin", "kubectl")
    settled_at, restarts = world.kernel.now + SETTLED_S, -1
    while True:
        pods = client.list("pods", app.namespace)
        missing = _missing(client, app)
        now_restarted = sum(_restarts(pod) for pod in pods)
        if missing or now_restarted != restarts:
            settled_at, restarts = world.kernel.now + SETTLED_S, now_restarted
        elif world.kernel.now >= settled_at:
            return
        if world.kernel.now >= deadline:
            raise NotReady(f"{app.name}: not ready: {', '.join(missing) or 'pods are restarting'}")
        world.run_for(STEP_S)


def _missing(client: Client, app: Application) -> list[str]:
    """The Deployments that lack ready pods."""
    found = client.list("deployments.apps", app.namespace)
    return [one["metadata"]["name"] for one in found if _ready(one) < at(one, "spec", "replicas", default=1)]


def _ready(deployment: Object) -> int:
    ready: int = at(deployment, "status", "readyReplicas", default=0)
    return ready


def _restarts(pod: Object) -> int:
    statuses: list[Object] = at(pod, "status", "containerStatuses", default=[])
    return sum(int(one.get("restartCount", 0)) for one in statuses)
