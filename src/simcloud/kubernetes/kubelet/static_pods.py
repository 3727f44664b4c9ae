"""Static pods: the kubelet runs those whose manifests are in a folder of its machine, and mirrors them in the API.

A cluster starts with the mirrors of its control plane; manifests that are moved away, put back or edited later take effect
at the next look.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

import yaml

from simcloud.kubernetes.addons.objects import mirror
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.node import Node
from simcloud.machine.files import GraftedVolume
from simcloud.sim import Task

FOLDER: Final = "/etc/kubernetes/manifests"
LOOK_S: Final = 20.0
SOON_S: Final = 1.0
"""Until the next look while a pod is ending, whose place another one may take."""


class StaticPods:
    """Watches the folder of a node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def begin(self, spawn: Callable[[Coroutine[Any, Any, Any], str], Task[Any]]) -> None:
        """The kubelet starts."""
        spawn(self._watch(), "static pods")

    async def _watch(self) -> None:
        wait_s = LOOK_S
        while True:
            await self._node.machine.kernel.sleep(wait_s)
            wait_s = SOON_S if self._is_touched() and self._look() else LOOK_S

    def _is_touched(self) -> bool:
        """Whether somebody has ever changed files there; computing manifests that nobody has touched takes long."""
        files = self._node.machine.host.files
        if not files.is_dir(FOLDER):
            return False
        volume = files.find(FOLDER)[0].volume
        return not isinstance(volume, GraftedVolume) or volume.is_changed

    def _look(self) -> bool:
        """End pods whose manifests are gone or edited, and start missing ones; return whether one is still ending."""
        manifests = self._read_manifests()
        mirrors = {pod["metadata"]["name"]: pod for pod in self._list_mirrors()}
        ending = False
        for name, pod in mirrors.items():
            is_wanted = name in manifests and _select_programs(manifests[name]) == _select_programs(pod)
            ending |= not is_wanted
            if not is_wanted and "deletionTimestamp" not in pod["metadata"]:
                self._node.client.delete(pod)
        for name, manifest in manifests.items():
            if name not in mirrors:
                self._start(manifest)
        return ending

    def _read_manifests(self) -> dict[str, Object]:
        """Return the manifests by the names of their mirrors."""
        files = self._node.machine.host.files
        found = {}
        for name in files.listdir(FOLDER):
            try:
                pod = yaml.load(files.read(f"{FOLDER}/{name}"), yaml.CSafeLoader)
                pod["metadata"]["name"] += f"-{self._node.name}"
                pod["metadata"].setdefault("namespace", "default")
                found[pod["metadata"]["name"]] = pod
            except (yaml.YAMLError, KeyError, TypeError) as error:
                self._node.log.write_error("file.go:186", "Could not process manifest file", err=str(error))
        return found

    def _list_mirrors(self) -> list[Object]:
        pods = self._node.client.list("pods")
        return [
            pod
            for pod in pods
            if pod["spec"].get("nodeName") == self._node.name
            and "kubernetes.io/config.mirror" in (pod["metadata"].get("annotations") or {})
        ]

    def _start(self, pod: Object) -> None:
        node = self._node.client.get("nodes", "", self._node.name)
        if node is None:
            return
        pod.pop("status", None)
        try:
            self._node.client.create(mirror(pod, node))
        except ApiError as error:
            self._node.log.write_error("file.go:186", "Could not process manifest file", err=str(error))


def _select_programs(pod: Object) -> list[tuple[Any, ...]]:
    """Return what the containers of a pod run."""
    fields = ("name", "image", "command", "args", "env")
    return [tuple(container.get(field) for field in fields) for container in pod["spec"]["containers"]]
