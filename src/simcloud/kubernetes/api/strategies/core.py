"""Namespaces and service accounts."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.strategies.metadata import keep_system_metadata
from simcloud.kubernetes.api.strategies.registry import on_create, on_update, take

_FINALIZER = "kubernetes"


@on_create("", "Namespace")
def create_namespace(namespace: Object) -> None:
    """Active, deleted only after its contents, and found by its name."""
    namespace["status"] = {"phase": "Active"}
    finalizers = namespace.setdefault("spec", {}).setdefault("finalizers", [])
    if _FINALIZER not in finalizers:
        finalizers.append(_FINALIZER)
    metadata = namespace["metadata"]
    metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = metadata.get("name", "")


@on_update("", "Namespace")
def update_namespace(new: Object, old: Object) -> None:
    """What holds up the deletion is written by ``finalize`` only."""
    take(new.setdefault("spec", {}), old.get("spec", {}), "finalizers")


def prepare_finalize(new: Object, old: Object) -> None:
    """Make a namespace ready for its ``finalize`` subresource, which writes the finalizers in spec."""
    keep_system_metadata(new, old)
    take(new, old, "status")


@on_create("", "ServiceAccount")
def create_service_account(account: Object) -> None:
    """Of the secrets of an account only names are kept."""
    _keep_names(account)


@on_update("", "ServiceAccount")
def update_service_account(new: Object, _old: Object) -> None:
    """As on creation."""
    _keep_names(new)


def _keep_names(account: Object) -> None:
    if account.get("secrets"):
        account["secrets"] = [
            {"name": secret["name"]} if secret.get("name") else {} for secret in account["secrets"]
        ]
