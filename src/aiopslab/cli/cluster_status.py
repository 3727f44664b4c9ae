"""What a served cluster says of itself, asked as any client asks."""

from __future__ import annotations

import base64
import json
import ssl
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import yaml
from rich.console import Console
from rich.table import Table

PATIENCE_S = 5.0
COUNTED = {
    "nodes": "/api/v1/nodes",
    "namespaces": "/api/v1/namespaces",
    "pods": "/api/v1/pods",
    "deployments": "/apis/apps/v1/deployments",
    "services": "/api/v1/services",
}


class Unreachable(Exception):
    """No cluster answers; the sentence says what to do."""


def show_status(kubeconfig: Path, as_json: bool) -> int:
    """Print what the cluster says of itself; the exit code."""
    try:
        found = read_status(kubeconfig)
    except Unreachable as error:
        print(error, file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps(found))
        return 0
    table = Table("what", "how many", title=f"{found['server']} ({found['version']})", title_justify="left")
    for name, count in found["counts"].items():
        table.add_row(name, str(count))
    Console().print(table)
    return 0


def read_status(kubeconfig: Path) -> dict[str, Any]:
    """Version and counts of the cluster that a kubeconfig names."""
    try:
        told = yaml.safe_load(kubeconfig.read_text())
        cluster = told["clusters"][0]["cluster"]
        server = cluster["server"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        token = told["users"][0]["user"]["token"]
    except FileNotFoundError:
        raise Unreachable(
            f"There is no {kubeconfig}. Start a cluster with `aiopslab cluster up`, or name its file by --kubeconfig."
        ) from None
    except (KeyError, IndexError, TypeError, ValueError, yaml.YAMLError):
        raise Unreachable(f"{kubeconfig} is not a kubeconfig that `aiopslab cluster up` wrote.") from None
    context = ssl.create_default_context(cadata=authority)

    def ask(path: str) -> Any:
        request = Request(server + path, headers={"Authorization": f"Bearer {token}"})
        with urlopen(request, timeout=PATIENCE_S, context=context) as response:
            return json.load(response)

    try:
        counts = {name: len(ask(path)["items"]) for name, path in COUNTED.items()}
        return {"server": server, "version": ask("/version")["gitVersion"], "counts": counts}
    except HTTPError as error:
        raise Unreachable(f"{server} refused the question ({error.code} {error.reason}).") from error
    except (URLError, OSError) as error:
        raise Unreachable(f"Nothing answers at {server}. Is `aiopslab cluster up` still running?") from error
