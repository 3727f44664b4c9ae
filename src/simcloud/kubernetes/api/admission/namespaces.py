"""NamespaceLifecycle: refuse creations in missing or terminating namespaces, and deletions of system namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.admission.plugin import Quiet, make_refusal, namespace_of
from simcloud.kubernetes.api.errors import NotFound
from simcloud.kubernetes.api.objects import at

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

PROTECTED_NAMESPACES: Final = ("default", "kube-system", "kube-public")


class NamespaceLifecycle(Quiet):
    """Keeps what is created and the life of its namespace together."""

    def admit(self, write: Write) -> None:
        resource, key = write.resource, write.key
        if write.operation == "DELETE":
            if resource.key == ("", "namespaces") and key.name in PROTECTED_NAMESPACES:
                raise make_refusal(write, "this namespace may not be deleted")
            return
        if not resource.namespaced or write.operation != "CREATE":
            return
        namespace = namespace_of(write)
        if namespace is None:
            raise NotFound(write.api.catalogue.find("namespaces"), key.namespace)
        if at(namespace, "status", "phase") == "Terminating":
            self._refuse(write)

    def _refuse(self, write: Write) -> None:
        namespace = write.key.namespace
        refusal = make_refusal(
            write, f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        refusal.details = {**(refusal.details or {}), "causes": [cause]}
        raise refusal
