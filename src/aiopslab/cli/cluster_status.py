"""``aiopslab cluster status``: read the state of a served cluster from its Kubernetes API and its telemetry."""

from __future__ import annotations

import base64
import json
import ssl
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

import yaml

from aiopslab.cli.cluster_view import draw
from simcloud.server.kubernetes import SESSION, TELEMETRY
from simcloud.telemetry import list_workloads

TIMEOUT_S: Final = 10.0
LOOKBACK_S: Final = 300
COUNTED: Final = {
    "nodes": "/api/v1/nodes",
    "namespaces": "/api/v1/namespaces",
    "pods": "/api/v1/pods",
    "deployments": "/apis/apps/v1/deployments",
    "statefulsets": "/apis/apps/v1/statefulsets",
    "daemonsets": "/apis/apps/v1/daemonsets",
    "replicasets": "/apis/apps/v1/replicasets",
    "services": "/api/v1/services",
}
NODE_QUERIES: Final = {
    "cpu_share": '1 - avg by (node) (rate(node_cpu_seconds_total{mode="idle"}[2m]))',
    "memory_share": "1 - node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes",
}

Object = dict[str, Any]
Get = Callable[[str], Any]


class Unreachable(Exception):
    """The cluster cannot be reached; the message says what to do."""


def show_status(kubeconfig: Path, as_json: bool) -> int:
    """Print the state of the cluster; return the exit code."""
    try:
        status = read_status(kubeconfig)
    except Unreachable as error:
        print(error, file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps(status))
    else:
        draw(status)
    return 0


def read_status(kubeconfig: Path) -> Object:
    """Return the state of the cluster in a kubeconfig; raises ``Unreachable``.

    Without telemetry, ``alerts`` and ``calls`` are None.
    """
    connection = connect(kubeconfig)
    server, telemetry, get = connection.server, connection.addresses.get(TELEMETRY, ""), connection.get
    try:
        items: dict[str, list[Object]] = {name: get(server + path)["items"] for name, path in COUNTED.items()}
        status: Object = {
            "server": server,
            "version": get(f"{server}/version")["gitVersion"],
            "counts": {name: len(listed) for name, listed in items.items()},
            "nodes": [_describe_node(node) for node in items["nodes"]],
            "workloads": list_workloads(items),
            "task": _read_task(connection),
            "telemetry": telemetry or None,
            "alerts": None,
            "calls": None,
        }
        if telemetry:
            _add_telemetry(status, telemetry, get)
        return status
    except HTTPError as error:
        raise Unreachable(f"{server} refused the request ({error.code} {error.reason}).") from error
    except (URLError, OSError) as error:
        raise Unreachable(
            f"No cluster answers at {server}. Is `aiopslab cluster up` still running?"
        ) from error


@dataclass(frozen=True)
class Connection:
    """How to reach a served cluster."""

    server: str
    addresses: dict[str, str]
    """What else is served, by the name of the kubeconfig's extension."""
    headers: dict[str, str]
    opener: OpenerDirector

    def read(self, url: str) -> bytes:
        """Return what an address answers to GET."""
        with self.opener.open(Request(url, headers=self.headers), timeout=TIMEOUT_S) as response:
            data: bytes = response.read()
            return data

    def get(self, url: str) -> Any:
        """Return the JSON of an address."""
        return json.loads(self.read(url))


def _read_task(connection: Connection) -> str | None:
    """Return the task of the problem that the cluster is served for, if any."""
    url = connection.addresses.get(SESSION)
    return None if url is None else connection.read(url).decode()


def connect(kubeconfig: Path) -> Connection:
    """Return how to reach the cluster of a kubeconfig; raises ``Unreachable`` if the file is not usable."""
    try:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        server = cluster["server"]
        context = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode()
        )
        token = config["users"][0]["user"]["token"]
        addresses = {entry["name"]: entry["extension"]["server"] for entry in cluster.get("extensions", ())}
    except FileNotFoundError:
        raise Unreachable(
            f"There is no file {kubeconfig}. Start a cluster with `aiopslab cluster up`, or choose its file with --kubeconfig."
        ) from None
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OSError, yaml.YAMLError):
        raise Unreachable(f"{kubeconfig} is not a kubeconfig that `aiopslab cluster up` wrote.") from None

    # The cluster is on this machine, so the proxies of the environment must be ignored.
    direct = build_opener(ProxyHandler({}), HTTPSHandler(context=context))
    return Connection(server, addresses, {"Authorization": f"Bearer {token}"}, direct)


def _describe_node(node: Object) -> Object:
    ready = next((c["status"] for c in node["status"]["conditions"] if c["type"] == "Ready"), "Unknown")
    prefix = "node-role.kubernetes.io/"
    roles = [label.removeprefix(prefix) for label in node["metadata"]["labels"] if label.startswith(prefix)]
    return {
        "name": node["metadata"]["name"],
        "ready": ready == "True",
        "schedulable": not node["spec"].get("unschedulable", False),
        "roles": roles,
        "version": node["status"]["nodeInfo"]["kubeletVersion"],
    }


def _add_telemetry(status: Object, telemetry: str, get: Get) -> None:
    alerts = get(f"{telemetry}/api/v1/alerts")["data"]["alerts"]
    status["alerts"] = [alert for alert in alerts if alert["state"] == "firing"]
    status["calls"] = get(f"{telemetry}/topology?lookback_s={LOOKBACK_S}")
    for name, query in NODE_QUERIES.items():
        samples = get(f"{telemetry}/api/v1/query?{urlencode({'query': query})}")["data"]["result"]
        shares = {sample["metric"].get("node"): float(sample["value"][1]) for sample in samples}
        for node in status["nodes"]:
            node[name] = shares.get(node["name"])
