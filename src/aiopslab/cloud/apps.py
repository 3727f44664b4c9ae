"""Deploy applications on a world's cluster: publish images, apply manifests, wait for pods.

Manifests are applied with kubectl on an operator's host and charts are installed with helm, so that the annotations, managed
fields, events and releases are those that an operator would find. An application may also get an earlier release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.apps import Application
from aiopslab.cloud.past import leave_earlier_release
from simcloud.kubernetes import Cluster, ComponentClient
from simcloud.kubernetes.api import Object, at
from simcloud.world import Terminal, World, share_folder

FOLDER: Final = "/root/manifests"
CHARTS: Final = "/root/charts"
HOST: Final = "bastion-deploy"
TIMEOUT_S: Final = 300.0
STEP_S: Final = 1.0
SETTLED_S: Final = 15.0
"""Pods without probes are reported ready too early; one that lacks its database fails after ten seconds."""


class NotReady(Exception):
    """An application was not ready in time; the message names the Deployments that lack pods."""


def deploy(world: World, cluster: Cluster, app: Application, timeout_s: float = TIMEOUT_S) -> float:
    """Deploy an application on a started cluster and wait until it is ready; return the virtual seconds that took.

    Raises ``NotReady`` after ``timeout_s`` virtual seconds, and ``DeployFailed`` if the manifests or the chart are refused.
    """
    app.publish(cluster.registry)
    for folder in app.shared_folders:
        share_folder(world, cluster, folder)
    started_s = world.kernel.now
    terminal = Terminal(world, cluster, name=HOST)
    if app.chart_files:
        install_chart(terminal, app)
    else:
        apply_manifests(terminal, app)
    if app.past is not None:
        leave_earlier_release(cluster, app, app.past)
        for line in app.past.by_hand:
            _run(terminal, line)
    wait_until_ready(world, cluster, app, started_s + timeout_s)
    return world.kernel.now - started_s


class DeployFailed(Exception):
    """Manifests or a chart were refused; the message is kubectl's or helm's."""


def apply_manifests(terminal: Terminal, app: Application) -> None:
    """Apply an application's manifests from a host."""
    folder = _write_files(terminal, f"{FOLDER}/{app.name}", app.manifest_files)
    _run(terminal, f"kubectl apply -f {folder}")


def install_chart(terminal: Terminal, app: Application) -> None:
    """Install an application's chart from a host; the release has the application's name."""
    folder = _write_files(terminal, f"{CHARTS}/{app.name}", app.chart_files)
    values = "".join(f" -f {folder}/{name}" for name in app.chart_values)
    _run(terminal, f"helm install {app.name} {folder} -n {app.namespace} --create-namespace{values}")


def _write_files(terminal: Terminal, folder: str, texts: Mapping[str, str]) -> str:
    """Write files into a folder of the host; return the folder."""
    files = terminal.machine.host.files
    for name, text in texts.items():
        path = f"{folder}/{name}"
        files.mkdir(path.rpartition("/")[0], parents=True)
        files.put(path, text.encode())
    return folder


def _run(terminal: Terminal, line: str) -> None:
    result = terminal.run(line, TIMEOUT_S)
    if result.status != 0:
        raise DeployFailed(result.stderr.decode())


def wait_until_ready(world: World, cluster: Cluster, app: Application, deadline: float) -> None:
    """Wait until every Deployment has its ready pods and none has restarted for a while; raises ``NotReady``."""
    client = ComponentClient(cluster.api, "kubernetes-admin", "kubectl")
    settled_at, restarts = world.kernel.now + SETTLED_S, -1
    while True:
        pods = client.list("pods", app.namespace)
        missing = _find_unready(client, app)
        new_restarts = sum(_count_restarts(pod) for pod in pods)
        if missing or new_restarts != restarts:
            settled_at, restarts = world.kernel.now + SETTLED_S, new_restarts
        elif world.kernel.now >= settled_at:
            return
        if world.kernel.now >= deadline:
            raise NotReady(f"{app.name}: not ready: {', '.join(missing) or 'pods are restarting'}")
        world.run_for(STEP_S)


def _find_unready(client: ComponentClient, app: Application) -> list[str]:
    """Return the names of the Deployments that lack ready pods."""
    return [
        deployment["metadata"]["name"]
        for deployment in client.list("deployments.apps", app.namespace)
        if _count_ready(deployment) < at(deployment, "spec", "replicas", default=1)
    ]


def _count_ready(deployment: Object) -> int:
    ready: int = at(deployment, "status", "readyReplicas", default=0)
    return ready


def _count_restarts(pod: Object) -> int:
    statuses: list[Object] = at(pod, "status", "containerStatuses", default=[])
    return sum(int(status.get("restartCount", 0)) for status in statuses)
