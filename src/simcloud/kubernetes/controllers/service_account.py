"""The service account ``default`` in every namespace."""

from __future__ import annotations

from simcloud.kubernetes.api.bootstrap import default_service_account
from simcloud.kubernetes.api.errors import AlreadyExists
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

ACCOUNT = "default"


@controller("service-account-controller")
class ServiceAccounts(Controller):
    """Makes the account in each namespace, and again when somebody deleted it."""

    def watch(self) -> None:
        self.follow("namespaces", self._see_namespace)
        self.follow("serviceaccounts", self._see_account)

    def _see_namespace(self, write: Revision) -> None:
        if write.change != "DELETED":
            self.queue.add(NamespacedName("", write.key.name))

    def _see_account(self, write: Revision) -> None:
        if write.change == "DELETED" and write.key.name == ACCOUNT:
            self.queue.add(NamespacedName("", write.key.namespace))

    def sync(self, key: NamespacedName) -> None:
        namespace = self.client.get("namespaces", "", key.name)
        if namespace is None or namespace.get("status", {}).get("phase") != "Active":
            return
        if self.client.get("serviceaccounts", key.name, ACCOUNT) is not None:
            return
        try:
            self.client.create(default_service_account(key.name))
        except AlreadyExists:
            return
