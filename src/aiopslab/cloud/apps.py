"""Deploy applications on a world's cluster: publish images, apply manifests, wait for pods.

Manifests are applied with kubectl on an operator's host and charts are installed with helm, so that the annotations, managed
fields, events and releases are those that an operator would find. An application may also get an earlier release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import Final

from aiopslab.apps import INGRESS, NODE_PORT, Application
from aiopslab.cloud.history import History, skip_until
from aiopslab.cloud.past import date_back, leave_earlier_release, use_addresses
from aiopslab.utils import ProgressCallback, ignore_progress
from simcloud.kubernetes import Cluster, ComponentClient
from simcloud.kubernetes.api import Object, at
from simcloud.kubernetes.host import ClusterPki, Leaf
from simcloud.world import Terminal, World, add_cluster, share_folder

FOLDER: Final = "/root/manifests"
CHARTS: Final = "/root/charts"
HOST: Final = "bastion-deploy"
RENDERED_BYTES: Final = 16 << 20
TIMEOUT_S: Final = 300.0
FIRST_START_S: Final = 19.0
"""How long databases took to start for the first time and write their data."""
STEP_S: Final = 1.0
DATABASE_UID: Final = 999
"""The user and group of databases in their images."""
SETTLED_S: Final = 15.0
"""Pods without probes are reported ready too early; one that lacks its database fails after ten seconds."""


YEAR_S: Final = 365 * 86_400
INGRESS_MANIFEST: Final = Template("""\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: $name
  namespace: $namespace
spec:
  ingressClassName: nginx
  tls:
  - hosts: [$host]
    secretName: $name-tls
  rules:
  - host: $host
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: $name
            port: {number: $port}
""")


class NotReady(Exception):
    """An application was not ready in time; the message names the Deployments that lack pods."""


def deploy(
    world: World,
    cluster: Cluster,
    app: Application,
    timeout_s: float = TIMEOUT_S,
    history: History | None = None,
    entry: str = NODE_PORT,
    tell: ProgressCallback = ignore_progress,
) -> float:
    """Deploy an application on a started cluster and wait until it is ready; return the virtual seconds that took.

    With a history, the world grows older until the day on which each step was done. Raises ``NotReady`` after ``timeout_s`` virtual seconds, and ``DeployFailed`` if the manifests or the chart are refused.
    """
    app.publish(cluster.registry)
    for folder in app.shared_folders:
        share_folder(world, cluster, folder)
    started_s = world.kernel.now
    if history is not None:
        if app.past is not None:
            _leave_data(cluster, app, history.released_s + FIRST_START_S)
        skip_until(world, history.upgraded_s)
        if app.past is not None:
            use_addresses(cluster, app)
    terminal = Terminal(world, cluster, name=HOST)
    if app.chart_files:
        install_chart(terminal, app)
    else:
        apply_manifests(terminal, app)
    if entry == INGRESS:
        apply_ingress(terminal, cluster.pki, app)
    if app.past is not None:
        released_s = history.released_s if history is not None else cluster.api.now_s
        leave_earlier_release(cluster, app, app.past, released_s)
        if history is not None:
            wait_until_ready(world, cluster, app, started_s + timeout_s, tell)
            date_back(cluster.api, app.namespace, history.released_s)
            skip_until(world, history.changed_s)
        for line in app.past.by_hand:
            _run(terminal, line)
    wait_until_ready(world, cluster, app, started_s + timeout_s, tell)
    return world.kernel.now - started_s


def _leave_data(cluster: Cluster, app: Application, time_s: float) -> None:
    """Write the files that an earlier release left in shared folders, as old as that release."""
    files = next(iter(cluster.kubelets.values())).node.machine.host.files
    for path, data in app.build_data(time_s).items():
        folder = path.rpartition("/")[0]
        files.mkdir(folder, 0o755 if folder.endswith("-pv") else 0o700, parents=True)
        files.write(path, data, mode=0o600)
        for changed in (path, folder):
            files.chown(changed, DATABASE_UID, DATABASE_UID)
            files.utime(changed, time_s, time_s)


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


def render_chart(app: Application) -> str:
    """Return the manifests of an application's chart, as helm renders them for a release of the application's name."""
    world = World()
    terminal = Terminal(world, add_cluster(world, 1), name=HOST, shown_bytes=RENDERED_BYTES)
    folder = _write_files(terminal, f"{CHARTS}/{app.name}", app.chart_files)
    values = "".join(f" -f {folder}/{name}" for name in app.chart_values)
    return _run(terminal, f"helm template {app.name} {folder} -n {app.namespace}{values}")


def issue_certificate(pki: ClusterPki, host: str, begins_s: float, ends_s: float) -> tuple[bytes, bytes]:
    """Return a certificate of a cluster's authority for a host, and its key."""
    signed = pki.issue(Leaf("ca", host, serves=True, names=(host,)), begins_s, ends_s)
    return signed.certificate, signed.key


def apply_ingress(terminal: Terminal, pki: ClusterPki, app: Application) -> None:
    """Apply an application's Ingress from a host, with a certificate for a year from the cluster's authority."""
    certificate, key = issue_certificate(pki, app.host, pki.created_s, pki.created_s + YEAR_S)
    service, port = app.front_door.service, app.front_door.port
    values = {"name": service, "namespace": app.namespace, "host": app.host, "port": port}
    texts = {
        "tls.crt": certificate.decode(),
        "tls.key": key.decode(),
        "ingress.yaml": INGRESS_MANIFEST.substitute(values),
    }
    folder = _write_files(terminal, f"{FOLDER}/{app.name}-ingress", texts)
    secret = f"{service}-tls --cert={folder}/tls.crt --key={folder}/tls.key"
    _run(terminal, f"kubectl -n {app.namespace} create secret tls {secret}")
    _run(terminal, f"kubectl apply -f {folder}/ingress.yaml")


def _write_files(terminal: Terminal, folder: str, texts: Mapping[str, str]) -> str:
    """Write files into a folder of the host; return the folder."""
    files = terminal.machine.host.files
    for name, text in texts.items():
        path = f"{folder}/{name}"
        files.mkdir(path.rpartition("/")[0], parents=True)
        files.put(path, text.encode())
    return folder


def _run(terminal: Terminal, line: str) -> str:
    result = terminal.run(line, TIMEOUT_S)
    if result.status != 0:
        raise DeployFailed(result.stderr.decode())
    return result.stdout.decode()


def wait_until_ready(
    world: World,
    cluster: Cluster,
    app: Application,
    deadline: float,
    tell: ProgressCallback = ignore_progress,
) -> None:
    """Wait until every Deployment has its ready pods and none has restarted for a while; raises ``NotReady``."""
    client = ComponentClient(cluster.api, "kubernetes-admin", "kubectl")
    settled_at, restarts = world.kernel.now + SETTLED_S, -1
    while True:
        pods = client.list("pods", app.namespace)
        deployments = client.list("deployments.apps", app.namespace)
        missing = _find_unready(deployments)
        ready = len(deployments) - len(missing)
        tell(f"deploying {app.name} ({ready} of {len(deployments)} Deployments are ready)")
        new_restarts = sum(count_restarts(pod) for pod in pods)
        if missing or new_restarts != restarts:
            settled_at, restarts = world.kernel.now + SETTLED_S, new_restarts
        elif world.kernel.now >= settled_at:
            return
        if world.kernel.now >= deadline:
            raise NotReady(f"{app.name}: not ready: {', '.join(missing) or 'pods are restarting'}")
        world.run_for(STEP_S)


def _find_unready(deployments: Sequence[Object]) -> list[str]:
    """Return the names of the Deployments that lack ready pods."""
    return [
        deployment["metadata"]["name"]
        for deployment in deployments
        if _count_ready(deployment) < at(deployment, "spec", "replicas", default=1)
    ]


def _count_ready(deployment: Object) -> int:
    ready: int = at(deployment, "status", "readyReplicas", default=0)
    return ready


def count_restarts(pod: Object) -> int:
    """Return how often the containers of a pod have been restarted."""
    statuses: list[Object] = at(pod, "status", "containerStatuses", default=[])
    return sum(int(status.get("restartCount", 0)) for status in statuses)
