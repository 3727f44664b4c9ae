"""Applications on a world's cluster: their images in its registry, their manifests applied, their pods waited for.

The manifests go through kubectl at an operator's host, or a chart through helm, as in life; what is left behind
(annotations, managed fields, events, releases) is what an operator would find. One with a past has that, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.apps.base import Application
from aiopslab.cloud.past import leave_earlier_release
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import Client
from simcloud.world.storage import share_folder
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

FOLDER: Final = "/root/manifests"
CHARTS: Final = "/root/charts"
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
    manifests or the chart are refused.
    """
    app.publish(cluster.registry)
    for folder in app.shared_folders:
        share_folder(world, cluster, folder)
    begun = world.kernel.now
    terminal = Terminal(world, cluster, name=HOST)
    if app.chart_files:
        install_chart(terminal, app)
    else:
        apply_manifests(terminal, app)
    if app.past is not None:
        leave_earlier_release(cluster, app, app.past)
        for line in app.past.by_hand:
            _run(terminal, line)
    wait_until_ready(world, cluster, app, begun + patience_s)
    return world.kernel.now - begun


class DeployFailed(Exception):
    """Manifests or a chart were refused; the text is kubectl's or helm's."""


def apply_manifests(terminal: Terminal, app: Application) -> None:
    """Apply an application's manifests from a host."""
    folder = _put(terminal, f"{FOLDER}/{app.name}", app.manifest_files)
    _run(terminal, f"kubectl apply -f {folder}")


def install_chart(terminal: Terminal, app: Application) -> None:
    """Install an application's chart from a host, as a release of the application's name."""
    folder = _put(terminal, f"{CHARTS}/{app.name}", app.chart_files)
    values = "".join(f" -f {folder}/{name}" for name in app.chart_values)
    _run(terminal, f"helm install {app.name} {folder} -n {app.namespace} --create-namespace{values}")


def _put(terminal: Terminal, folder: str, texts: Mapping[str, str]) -> str:
    """Put files into a folder of the host."""
    files = terminal.machine.host.files
    for name, text in texts.items():
        path = f"{folder}/{name}"
        files.mkdir(path.rpartition("/")[0], parents=True)
        files.put(path, text.encode())
    return folder


def _run(terminal: Terminal, line: str) -> None:
    done = terminal.run(line, PATIENCE_S)
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
