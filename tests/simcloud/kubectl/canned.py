"""A small API of fixed objects, for a genuine kubectl to print.

It answers discovery, lists, single objects and Tables over HTTP, from ``data/objects.json``. A living
cluster would do too, but could not hold a null, a float or a string of odd characters where one is wanted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.tables.builder import make_table
from tests.simcloud.server.kubernetes.served import PATIENCE_S

KUBECTL = Path(sys.prefix) / "clients" / "kubectl-1.36.4"
DATA = Path(__file__).parent / "data"
NOW_S = 1_800_000_000.0

WIDGETS = Resource("example.com", "v1", "widgets", "widget", "Widget", True, ("get", "list"))
"""A kind without a schema, so that its objects may hold anything."""


def objects() -> dict[str, list[dict[str, Any]]]:
    """The fixed objects by the name of their resource."""
    loaded: dict[str, list[dict[str, Any]]] = json.loads((DATA / "objects.json").read_text())
    return loaded


def resource_of(name: str) -> Resource:
    """The resource of a key of the objects: ``pods``, ``deployments.apps``."""
    if name == "widgets.example.com":
        return WIDGETS
    plural, _, group = name.partition(".")
    return Catalogue().find(plural, group)


@dataclass(frozen=True)
class Printed:
    """What a command printed and how it ended."""

    stdout: str
    stderr: str
    exit: int


@dataclass(frozen=True)
class Genuine:
    """A genuine kubectl at the fixed objects."""

    home: Path

    def run(self, arguments: Sequence[str]) -> Printed:
        """One command line."""
        done = subprocess.run(
            [str(KUBECTL), *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), "KUBECONFIG": str(self.home / "config")},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Printed(
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"),
            done.returncode,
        )


class _Answers(BaseHTTPRequestHandler):
    held: dict[str, list[dict[str, Any]]]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        answer = self._answer([part for part in path.split("/") if part], "includeObject=Object" in query)
        body = json.dumps(answer or _not_found()).encode()
        self.send_response(200 if answer else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self, parts: list[str], whole: bool) -> Any:
        resources = {name: resource_of(name) for name in self.held}
        if parts == ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"]}
        if parts == ["apis"]:
            return _groups(list(resources.values()))
        group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
        if not rest:
            return _resources("/".join(parts[1:]), [r for r in resources.values() if r.group == group])
        namespace = None
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        return self._objects(resources, group, namespace, rest, whole)

    def _objects(
        self, resources: dict[str, Resource], group: str, namespace: str | None, rest: list[str], whole: bool
    ) -> Any:
        key = rest[0] + (f".{group}" if group else "")
        resource = resources.get(key)
        if resource is None:
            return None
        items = [o for o in self.held[key] if namespace in (None, o["metadata"].get("namespace"))]
        include = "Object" if whole else "Metadata"
        if len(rest) > 1:
            one = next((o for o in items if o["metadata"]["name"] == rest[1]), None)
            if one is None or not self._as_table():
                return one
            return make_table(resource, [one], now_s=NOW_S, include_object=include)
        metadata = {"resourceVersion": "1000"}
        if self._as_table():
            return make_table(resource, items, now_s=NOW_S, include_object=include, list_metadata=metadata)
        return {
            "kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": metadata, "items": items,
        }  # fmt: skip

    def _as_table(self) -> bool:
        return "as=Table" in self.headers.get("Accept", "")


def _not_found() -> dict[str, Any]:
    return {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 404,
        "reason": "NotFound", "message": "the server could not find the requested resource",
    }  # fmt: skip


def _groups(resources: list[Resource]) -> dict[str, Any]:
    versions = dict.fromkeys((r.group, r.version) for r in resources if r.group)
    groups = []
    for group, version in versions:
        told = {"groupVersion": f"{group}/{version}", "version": version}
        groups.append({"name": group, "versions": [told], "preferredVersion": told})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _resources(version: str, resources: list[Resource]) -> dict[str, Any]:
    told = [
        {
            "name": r.plural, "singularName": r.singular, "namespaced": r.namespaced, "kind": r.kind,
            "verbs": ["get", "list"], "shortNames": list(r.short_names),
        }
        for r in resources
    ]  # fmt: skip
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": told}


@contextmanager
def genuine(home: Path, held: dict[str, list[dict[str, Any]]] | None = None) -> Iterator[Genuine]:
    """The fixed objects served to a genuine kubectl, until the block ends."""
    handler = type("Answers", (_Answers,), {"held": objects() if held is None else held})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}],
    }
    (home / "config").write_text(json.dumps(config))
    try:
        yield Genuine(home)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)
