"""The ConfigMap ``kube-root-ca.crt`` in every namespace, with which pods verify the API server.

The certificate is the one that the API server publishes for extension servers.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.bootstrap import root_ca_config_map
from simcloud.kubernetes.api.errors import AlreadyExists
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

CONFIG_MAP: Final = "kube-root-ca.crt"
PUBLISHED: Final = ("kube-system", "extension-apiserver-authentication")


@controller("root-ca-cert-publisher")
class RootCaPublisher(Controller):
    """Makes the ConfigMap in each namespace, and puts it right when somebody changed it."""

    def watch(self) -> None:
        self.follow("namespaces", self._see_namespace)
        self.follow("configmaps", self._see_config_map)

    def _see_namespace(self, write: Revision) -> None:
        if write.change != "DELETED":
            self.queue.add(NamespacedName("", write.key.name))

    def _see_config_map(self, write: Revision) -> None:
        if write.key.name == CONFIG_MAP and write.change != "ADDED":
            self.queue.add(NamespacedName("", write.key.namespace))

    def sync(self, key: NamespacedName) -> None:
        namespace = self.client.get("namespaces", "", key.name)
        if namespace is None or namespace.get("status", {}).get("phase") != "Active":
            return
        wanted = root_ca_config_map(key.name, self._certificate())
        present = self.client.get("configmaps", key.name, CONFIG_MAP)
        if present is None:
            try:
                self.client.create(wanted)
            except AlreadyExists:
                return
        elif present.get("data") != wanted["data"] or not _is_described(present, wanted):
            self.client.edit(present, lambda changed: _put_right(changed, wanted))

    def _certificate(self) -> str:
        published = self.client.get("configmaps", *PUBLISHED)
        certificate: str = at(published, "data", "client-ca-file", default="")
        return certificate


def _is_described(present: Object, wanted: Object) -> bool:
    annotations = present["metadata"].get("annotations") or {}
    said: dict[str, str] = wanted["metadata"]["annotations"]
    return all(annotations.get(name) == value for name, value in said.items())


def _put_right(changed: Object, wanted: Object) -> None:
    changed["data"] = wanted["data"]
    changed.pop("binaryData", None)
    changed["metadata"].setdefault("annotations", {}).update(wanted["metadata"]["annotations"])
