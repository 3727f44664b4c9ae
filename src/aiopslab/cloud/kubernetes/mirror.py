"""A copy of a cluster's objects in a revision log, kept up to date by lists and watches as a controller's cache is.

Judges and actions read the log as they read that of the embedded cloud. Changes arrive in another thread and are written to the log
when the site takes them, at the time at which they arrived. ``refresh`` lists everything again, for a moment that must not
miss a change which was made just before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

import msgspec

from aiopslab.cloud.declared import KINDS
from aiopslab.cloud.kubernetes.client import ClusterClient, ClusterFailed, Refused, gather_all
from aiopslab.cloud.kubernetes.http_client import HttpFailed
from simcloud.kubernetes.api import Key, Object, RevisionLog

FOLLOWED: Final = (
    ("apps", "replicasets"), ("batch", "jobs"), ("discovery.k8s.io", "endpointslices"),
    ("", "endpoints"), ("", "events"), ("", "pods"),
)  # fmt: skip
"""What is followed besides declared objects."""
VERSIONS: Final = {"autoscaling": "v2"}
PAUSE_S: Final = 1.0
WATCH_S: Final = 300
PAGE: Final = 500
GONE: Final = 410

Post = Callable[[Callable[[], None]], None]


def make_path(group: str, plural: str, namespace: str = "", name: str = "") -> str:
    """Return the path of objects in the API."""
    version = VERSIONS.get(group, "v1")
    parts = ["apis", group, version] if group else ["api", version]
    parts += ["namespaces", namespace] if namespace else []
    parts += [plural, name] if name else [plural]
    return f"/{'/'.join(parts)}"


class Mirror:
    """Copies objects into ``log``. ``post`` passes a function to the thread that owns the log."""

    def __init__(self, client: ClusterClient, log: RevisionLog, post: Post) -> None:
        self._client = client
        self._log = log
        self._post = post
        self._versions: dict[Key, int] = {}
        """The resourceVersion that each object had in the cluster, or of its removal."""
        self._served: list[tuple[str, str]] = []

    def start(self) -> None:
        """Copy all objects, and follow their changes from now on; raises ``ClusterFailed`` if rights are missing."""
        self._served = []
        for kind, newest in self._list(KINDS + FOLLOWED):
            self._served.append(kind)
            self._client.start(self._follow(kind, newest))

    def refresh(self) -> None:
        """List the declared objects again."""
        self._list([kind for kind in self._served if kind in KINDS])

    def add(self, key: Key, obj: Object) -> None:
        """Write an object as it was just read, unless the log has a newer one."""
        self._put(key, obj)

    def _list(
        self, kinds: tuple[tuple[str, str], ...] | list[tuple[str, str]]
    ) -> list[tuple[tuple[str, str], str]]:
        """Write all objects of these kinds to the log; return those that are served, each with its newest version."""
        found = self._client.call(gather_all([self._read_all(kind) for kind in kinds]))
        listed = []
        for kind, answer in zip(kinds, found, strict=True):
            if answer is not None:
                objects, newest = answer
                self._replace(kind, objects, newest)
                listed.append((kind, newest))
        return listed

    async def _read_all(self, kind: tuple[str, str]) -> tuple[list[Object], str] | None:
        """Return all objects of a kind and the version of the list; None if the cluster does not serve the kind."""
        objects: list[Object] = []
        after = ""
        while True:
            query = urlencode({"limit": PAGE, **({"continue": after} if after else {})})
            try:
                page = await self._client.send("GET", f"{make_path(*kind)}?{query}")
            except Refused as error:
                if error.status == 404:
                    return None
                raise ClusterFailed(
                    f"The user of the kubeconfig may not list {kind[1]} ({error}). The harness needs an administrator's rights."
                ) from None
            own = {"kind": page["kind"].removesuffix("List"), "apiVersion": page["apiVersion"]}
            objects += ({**own, **item} for item in page.get("items") or ())
            after = page["metadata"].get("continue") or ""
            if not after:
                return objects, page["metadata"]["resourceVersion"]

    async def _follow(self, kind: tuple[str, str], newest: str) -> None:
        """Watch a kind until cancelled."""
        while True:
            try:
                newest = await self._watch(kind, newest)
            except (HttpFailed, Refused, ClusterFailed) as error:
                await asyncio.sleep(PAUSE_S)
                if isinstance(error, Refused) and error.status == GONE:
                    newest = await self._list_again(kind) or newest

    async def _list_again(self, kind: tuple[str, str]) -> str:
        try:
            answer = await self._read_all(kind)
        except (HttpFailed, ClusterFailed):
            return ""
        if answer is None:
            return ""
        objects, newest = answer
        self._post(lambda: self._replace(kind, objects, newest))
        return newest

    async def _watch(self, kind: tuple[str, str], newest: str) -> str:
        """Follow changes after a version until the stream ends; return the newest version seen."""
        options = {
            "watch": "true",
            "resourceVersion": newest,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": WATCH_S,
        }
        path = f"{make_path(*kind)}?{urlencode(options)}"
        async with self._client.http.stream("GET", path) as (answer, parts):
            if answer.status >= 400:
                raise Refused(answer.status, "", f"HTTP {answer.status}")
            held = b""
            async for part in parts:
                *lines, held = (held + part).split(b"\n")
                for line in lines:
                    newest = self._take(kind, msgspec.json.decode(line), newest)
        return newest

    def _take(self, kind: tuple[str, str], event: Object, newest: str) -> str:
        obj: Object = event["object"]
        if event["type"] == "ERROR":
            raise Refused(int(obj.get("code") or 500), str(obj.get("reason")), str(obj.get("message")))
        version = str(obj["metadata"]["resourceVersion"])
        if event["type"] != "BOOKMARK":
            key = get_key(kind, obj)
            is_gone = event["type"] == "DELETED"
            self._post(lambda: self._remove(key, int(version)) if is_gone else self._put(key, obj))
        return version

    def _replace(self, kind: tuple[str, str], objects: list[Object], newest: str) -> None:
        """Write all objects of a kind, and remove those that are not among them."""
        known = {get_key(kind, obj): obj for obj in objects}
        for obj in list(self._log.objects(*kind)):
            if (key := get_key(kind, obj)) not in known:
                self._remove(key, int(newest))
        for key, obj in known.items():
            self._put(key, obj)

    def _put(self, key: Key, obj: Object) -> None:
        version = int(obj["metadata"]["resourceVersion"])
        if version > self._versions.get(key, -1):
            self._versions[key] = version
            self._log.put(key, {**obj, "metadata": {**obj["metadata"]}})

    def _remove(self, key: Key, version: int) -> None:
        if version > self._versions.get(key, -1):
            self._versions[key] = version
            if self._log.get(key) is not None:
                self._log.remove(key)


def get_key(kind: tuple[str, str], obj: Object) -> Key:
    """Return the key of an object."""
    metadata = obj["metadata"]
    return Key(*kind, metadata.get("namespace", ""), metadata["name"])
