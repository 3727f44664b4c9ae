"""The Kubernetes API under load: what an object costs to make, list, watch and update, and how that grows.

In process the figures are this process's own CPU time, so that a busy machine does not count; over HTTP they are wall
time through ``aiopslab cluster up``. The budget is growth: making and updating 5,000 objects must not cost more than
twice as much per object as 500. ``python benchmarks/api.py [--json]``
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from rich.console import Console
from rich.table import Table

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.bootstrap import default_service_account
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.cluster import Cluster
from simcloud.sim import Kernel

SMALL, LARGE = 500, 5_000
LARGEST_RATIO = 2.0
OVER_HTTP = 5_000
CONNECTIONS = 8
PATIENCE_S = 60.0

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


def made(number: int) -> tuple[str, str, Object]:
    """The group, the plural and the body of an object: half of them pods, the rest in equal parts."""
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


@dataclass
class Stopwatch:
    """CPU time of this process since it was made."""

    start: float = 0.0

    def __post_init__(self) -> None:
        self.start = time.process_time()

    def us_each(self, count: int) -> float:
        return (time.process_time() - self.start) / count * 1e6


def in_process(count: int) -> dict[str, Any]:
    """Make, list, watch and update so many objects; microseconds each."""
    api = Cluster(Kernel(1)).api
    api.create(api.catalogue.named("serviceaccounts"), "default", default_service_account("default"))
    pods = api.catalogue.named("pods")
    gc.collect()
    before_kb = memory_kb()
    bodies = [made(number) for number in range(count)]
    watching = api.watch(pods, "default")
    watch = Stopwatch()
    for group, plural, body in bodies:
        api.create(api.catalogue.named(plural, group), "default", body)
    create_us = watch.us_each(count)
    gc.collect()
    kb_each = (memory_kb() - before_kb) / count
    names = [one["metadata"]["name"] for one in api.list(pods, "default")["items"]]
    update_us = updated(api, names)
    watch = Stopwatch()
    for _ in range(10):
        api.list(pods, None)
    list_us = watch.us_each(10)
    events = 0
    while watching.take() is not None:
        events += 1
    assert events == 2 * len(names), "a watch missed something"
    return {
        "objects": count,
        "create_us": create_us,
        "status_update_us": update_us,
        "list_all_pods_us": list_us,
        "memory_kb_per_object": kb_each,
        "events": events,
    }


def updated(api: Api, names: list[str]) -> float:
    """Write each pod's status, as a kubelet does."""
    pods = api.catalogue.named("pods")
    changed = []
    for name in names:
        pod = copy(api.get(pods, "default", name))
        pod["status"] = STATUS
        changed.append(pod)
    watch = Stopwatch()
    for name, pod in zip(names, changed, strict=True):
        api.update(pods, "default", name, pod, subresource="status")
    return watch.us_each(len(names))


def memory_kb() -> float:
    """What this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4.0


class Served:
    """A cluster in a process of its own, and exchanges with it."""

    def __init__(self, kubeconfig: Path) -> None:
        told = yaml.safe_load(kubeconfig.read_text())
        url = urlsplit(told["clusters"][0]["cluster"]["server"])
        self._address = (url.hostname or "", url.port or 0)
        self._headers = {
            "Authorization": f"Bearer {told['users'][0]['user']['token']}",
            "Content-Type": "application/json",
        }
        self._context = ssl.create_default_context()
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(*self._address, context=self._context, timeout=PATIENCE_S)

    def ask(self, line: http.client.HTTPSConnection, method: str, path: str, body: Any = None) -> bytes:
        line.request(method, path, json.dumps(body) if body is not None else None, self._headers)
        answer = line.getresponse()
        data = answer.read()
        assert answer.status < 300, data
        return data

    def watch(self, path: str, events: int) -> float:
        """Seconds until so many events have come."""
        start = time.perf_counter()
        with closing(self.connect()) as line:
            line.request("GET", path, headers=self._headers)
            answer = line.getresponse()
            for _ in range(events):
                assert answer.readline(), "a watch missed something"
            return time.perf_counter() - start

    def create(self, space: str, numbers: range) -> None:
        """Make objects one after the other, on one connection."""
        with closing(self.connect()) as line:
            for number in numbers:
                group, plural, body = made(number)
                root = f"/apis/{group}/v1" if group else "/api/v1"
                self.ask(line, "POST", f"{root}/namespaces/{space}/{plural}", body)


@contextmanager
def served() -> Iterator[Served]:
    """``aiopslab cluster up`` until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        command = [sys.executable, "-c", "from aiopslab.cli import main; main()"]
        command += ["cluster", "up", "--api-only", "--kubeconfig", str(kubeconfig)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + PATIENCE_S
            while not kubeconfig.exists():
                assert server.poll() is None and time.monotonic() < deadline, "the cluster did not come up"
                time.sleep(0.02)
            yield Served(kubeconfig)
        finally:
            server.terminate()
            server.wait()


def over_http() -> dict[str, Any]:
    """Objects made per second through TLS, by one client and by several; a whole list; the way of one event."""
    with served() as door, closing(door.connect()) as line:
        for space in ("one", "many"):
            door.ask(line, "POST", "/api/v1/namespaces", {"metadata": {"name": space}})
            account = f"/api/v1/namespaces/{space}/serviceaccounts"
            door.ask(line, "POST", account, default_service_account(space))
        start = time.perf_counter()
        door.create("one", range(OVER_HTTP))
        one_s = time.perf_counter() - start
        share = OVER_HTTP // CONNECTIONS
        start = time.perf_counter()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(
                pool.map(lambda n: door.create("many", range(n * share, (n + 1) * share)), range(CONNECTIONS))
            )
        many_s = time.perf_counter() - start
        start = time.perf_counter()
        pods = len(json.loads(door.ask(line, "GET", "/api/v1/pods"))["items"])
        list_s = time.perf_counter() - start
        watch_s = door.watch("/api/v1/pods?watch=true", pods)
    return {
        "objects": OVER_HTTP,
        "created_per_s_1_connection": OVER_HTTP / one_s,
        f"created_per_s_{CONNECTIONS}_connections": share * CONNECTIONS / many_s,
        "listed_pods": pods,
        "list_all_pods_ms": list_s * 1e3,
        "watch_events_per_s": pods / watch_s,
    }


def main() -> int:
    in_process(SMALL)  # what is compiled or cached at first use is not measured
    small, large = in_process(SMALL), in_process(LARGE)
    ratios = {name: large[name] / small[name] for name in ("create_us", "status_update_us")}
    http_figures = over_http()
    ok = max(ratios.values()) <= LARGEST_RATIO
    if "--json" in sys.argv:
        print(
            json.dumps({"in_process": [small, large], "growth": ratios, "over_http": http_figures, "ok": ok})
        )
    else:
        console = Console()
        console.print(table(f"In process (growth at most {LARGEST_RATIO:g}x)", [small, large]))
        console.print("growth: " + ", ".join(f"{name} {ratio:.2f}x" for name, ratio in ratios.items()))
        console.print(table("Over HTTPS", [http_figures]))
    return 0 if ok else 1


def table(title: str, runs: list[dict[str, Any]]) -> Table:
    """A line for each figure, a column for each run."""
    result = Table("", *("" for _ in runs), title=title, show_header=False)
    for name in runs[0]:
        values = (run[name] for run in runs)
        result.add_row(
            name, *(f"{value:.3g}" if isinstance(value, float) else str(value) for value in values)
        )
    return result


if __name__ == "__main__":
    sys.exit(main())
