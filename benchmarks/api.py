"""The Kubernetes API under load: the cost of creating, listing, watching and updating objects, and its growth.

In process, figures are CPU time of this process; over HTTPS they are wall time through ``aiopslab cluster up``. The
budget is on growth: with 5,000 objects, creating and updating one may cost at most twice as much as with 500.
``python benchmarks/api.py [--json] [--short]``
"""

from __future__ import annotations

import gc
import http.client
import json
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from _measure import Stopwatch, resident_bytes
from _report import Budget, Report, find_missed, run, tabulate_figures

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.bootstrap import default_service_account
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.cluster import Cluster
from simcloud.sim import Kernel

SMALL, LARGE = 500, 5_000
GROWTH = {"create, CPU us": Budget(2.0), "update status, CPU us": Budget(2.0)}
OVER_HTTP = 5_000
CONNECTIONS = 8
LISTS = 10
TIMEOUT_S = 60.0

CONTAINER: Object = {
    "name": "web",
    "image": "nginx:1.19",
    "ports": [{"name": "http", "containerPort": 80}],
    "env": [{"name": "MODE", "value": "production"}],
    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
    "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
}
STATUS: Object = {
    "phase": "Running",
    "podIP": "10.244.0.7",
    "podIPs": [{"ip": "10.244.0.7"}],
    "startTime": "2026-01-05T09:00:00Z",
    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-05T09:00:00Z"}],
    "containerStatuses": [
        {
            "name": "web",
            "image": "nginx:1.19",
            "imageID": "docker.io/library/nginx@sha256:0",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": "2026-01-05T09:00:00Z"}},
        }
    ],
}


def make_object(number: int) -> tuple[str, str, Object]:
    """Return the group, the plural and the body of an object: half are pods, the rest three other kinds."""
    metadata = {"name": f"n{number:05}", "labels": {"app": f"app-{number % 50}"}}
    match number % 6:
        case 0 | 1 | 2:
            return "", "pods", {"metadata": metadata, "spec": {"containers": [CONTAINER]}}
        case 3:
            labels = metadata["labels"]
            template = {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}}
            return "apps", "deployments", {"metadata": metadata, "spec": {"selector": {"matchLabels": labels}, "template": template}}  # fmt: skip
        case 4:
            return "", "configmaps", {"metadata": metadata, "data": {"settings": "x" * 200}}
        case _:
            ports = [{"name": "http", "port": 80}]
            return (
                "",
                "services",
                {"metadata": metadata, "spec": {"selector": {"app": "web"}, "ports": ports}},
            )


def measure_in_process(count: int) -> dict[str, Any]:
    """Create, list, watch and update this many objects."""
    api = Cluster(Kernel(1)).api
    api.create(api.catalogue.find("serviceaccounts"), "default", default_service_account("default"))
    pods = api.catalogue.find("pods")
    gc.collect()
    before = resident_bytes()
    bodies = [make_object(number) for number in range(count)]
    watching = api.watch(pods, "default")
    watch = Stopwatch()
    for group, plural, body in bodies:
        api.create(api.catalogue.find(plural, group), "default", body)
    create_us = watch.cpu_s / count * 1e6
    gc.collect()
    object_kb = (resident_bytes() - before) / 1024 / count
    names = [pod["metadata"]["name"] for pod in api.list(pods, "default")["items"]]
    update_us = update_statuses(api, names)
    watch = Stopwatch()
    for _ in range(LISTS):
        api.list(pods, None)
    list_us = watch.cpu_s / LISTS * 1e6
    events = 0
    while watching.take() is not None:
        events += 1
    assert events == 2 * len(names), "a watch missed something"
    return {
        "create, CPU us": create_us,
        "update status, CPU us": update_us,
        "list all pods, CPU us": list_us,
        "memory per object, KB": object_kb,
        "watch events": events,
    }


def update_statuses(api: Api, names: list[str]) -> float:
    """Write the status of each pod, as a kubelet does; return the CPU time of one in microseconds."""
    pods = api.catalogue.find("pods")
    changed = []
    for name in names:
        pod = copy(api.get(pods, "default", name))
        pod["status"] = STATUS
        changed.append(pod)
    watch = Stopwatch()
    for name, pod in zip(names, changed, strict=True):
        api.update(pods, "default", name, pod, subresource="status")
    return watch.cpu_s / len(names) * 1e6


class ServedCluster:
    """A client of a cluster that runs in a process of its own."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        url = urlsplit(config["clusters"][0]["cluster"]["server"])
        self._address = (url.hostname or "", url.port or 0)
        self._headers = {
            "Authorization": f"Bearer {config['users'][0]['user']['token']}",
            "Content-Type": "application/json",
        }
        self._context = ssl.create_default_context()
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(*self._address, context=self._context, timeout=TIMEOUT_S)

    def request(
        self, connection: http.client.HTTPSConnection, method: str, path: str, body: Any = None
    ) -> bytes:
        connection.request(method, path, json.dumps(body) if body is not None else None, self._headers)
        response = connection.getresponse()
        data = response.read()
        assert response.status < 300, data
        return data

    def watch(self, path: str, events: int) -> float:
        """Return the seconds until this many events have arrived."""
        watch = Stopwatch()
        with closing(self.connect()) as connection:
            connection.request("GET", path, headers=self._headers)
            response = connection.getresponse()
            for _ in range(events):
                assert response.readline(), "a watch missed something"
            return watch.wall_s

    def create(self, namespace: str, numbers: range) -> None:
        """Create objects one after the other on one connection."""
        with closing(self.connect()) as connection:
            for number in numbers:
                group, plural, body = make_object(number)
                root = f"/apis/{group}/v1" if group else "/api/v1"
                self.request(connection, "POST", f"{root}/namespaces/{namespace}/{plural}", body)


@contextmanager
def serve_cluster() -> Iterator[ServedCluster]:
    """Run ``aiopslab cluster up`` until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        command = [sys.executable, "-c", "from aiopslab.cli import main; main()"]
        command += ["cluster", "up", "--api-only", "--kubeconfig", str(kubeconfig)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + TIMEOUT_S
            while not kubeconfig.exists():
                assert server.poll() is None and time.monotonic() < deadline, "the cluster did not come up"
                time.sleep(0.02)
            yield ServedCluster(kubeconfig)
        finally:
            server.terminate()
            server.wait()


def measure_over_https(count: int) -> dict[str, Any]:
    """Create objects by one client and by several, list all pods, and watch them."""
    with serve_cluster() as served:
        with closing(served.connect()) as connection:
            for namespace in ("one", "many"):
                served.request(connection, "POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
                accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
                served.request(connection, "POST", accounts, default_service_account(namespace))
        watch = Stopwatch()
        served.create("one", range(count))
        one_s = watch.wall_s
        share = count // CONNECTIONS
        shares = [range(start, start + share) for start in range(0, share * CONNECTIONS, share)]
        watch = Stopwatch()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(lambda numbers: served.create("many", numbers), shares))
        many_s = watch.wall_s
        watch = Stopwatch()
        with closing(served.connect()) as connection:
            pods = len(json.loads(served.request(connection, "GET", "/api/v1/pods"))["items"])
        list_s = watch.wall_s
        watch_s = served.watch("/api/v1/pods?watch=true", pods)
    return {
        "objects": count,
        "created per s, 1 connection": count / one_s,
        f"created per s, {CONNECTIONS} connections": share * CONNECTIONS / many_s,
        "pods listed": pods,
        "list all pods, ms": list_s * 1e3,
        "watch events per s": pods / watch_s,
    }


def measure(short: bool) -> Report:
    sizes, over_https = ((12, 24), 16) if short else ((SMALL, LARGE), OVER_HTTP)
    measure_in_process(sizes[0])  # fills caches
    columns = {f"{count:,} objects": measure_in_process(count) for count in sizes}
    small, large = columns.values()
    growth = {name: large[name] / small[name] for name in GROWTH}
    https = measure_over_https(over_https)
    return Report(
        {"in_process": columns, "growth": growth, "over_https": https},
        [
            tabulate_figures("In process", columns),
            tabulate_figures("The most objects compared with the fewest", {"growth": growth}, GROWTH),
            tabulate_figures("Over HTTPS", {"measured": https}),
        ],
        find_missed(growth, GROWTH),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
