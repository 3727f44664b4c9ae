"""``apply --prune``: deletes objects that were applied before and are no longer in the manifests."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import LAST_APPLIED, DeleteOptions, Resource, at

KINDS: Final = (
    ("v1", "ConfigMap"), ("v1", "Endpoints"), ("v1", "Namespace"), ("v1", "PersistentVolumeClaim"),
    ("v1", "PersistentVolume"), ("v1", "Pod"), ("v1", "ReplicationController"), ("v1", "Secret"),
    ("v1", "Service"), ("batch/v1", "Job"), ("batch/v1", "CronJob"), ("networking.k8s.io/v1", "Ingress"),
    ("apps/v1", "DaemonSet"), ("apps/v1", "Deployment"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"),
)  # fmt: skip
DEPRECATED: Final = (
    "Deprecated: kubectl apply will no longer prune non-namespaced resources by default when used with the "
    "--namespace flag in a future release. To preserve the current behaviour, list the resources you want to target "
    "explicitly in the --prune-allowlist flag."
)


def check_prune(kubectl: Kubectl) -> None:
    """Refuse to prune everything by mistake."""
    flags = kubectl.flags
    if flags["prune"] and not flags["all"] and not flags["selector"]:
        raise KubectlError(
            "all resources selected for prune without explicitly passing --all. To prune all resources, pass the "
            "--all flag. If you did not mean to prune all resources, specify a label selector"
        )


async def prune(kubectl: Kubectl, teller: Teller, kept: list[str], namespaces: list[str]) -> None:
    """Delete what was applied once, is selected, and was not applied now."""
    if not kubectl.flags["prune-allowlist"]:
        await kubectl.log("W", "prune.go:71", DEPRECATED)
    resources = await _resources(kubectl)
    places: list[tuple[str | None, Resource]] = [
        (namespace, kind) for namespace in sorted(namespaces) for kind in resources if kind.namespaced
    ]
    places += [(None, kind) for kind in resources if not kind.namespaced]
    for namespace, resource in places:
        await _prune_kind(kubectl, teller, resource, namespace, kept)


async def _resources(kubectl: Kubectl) -> list[Resource]:
    connection = await kubectl.connect()
    said = kubectl.flags["prune-allowlist"]
    kinds = [_kind(word) for word in said] if said else list(KINDS)
    found = []
    for version, kind in kinds:
        resource = connection.catalogue.of_kind(version, kind)
        if resource is None:
            raise KubectlError(f'no matches for kind "{kind}" in version "{version}"')
        found.append(resource)
    return found


def _kind(said: str) -> tuple[str, str]:
    parts = said.split("/")
    if len(parts) != 3:
        raise KubectlError(f"invalid GroupVersionKind format: {said}, please follow <group/version/kind>")
    group, version, kind = parts
    return (version if group in ("", "core") else f"{group}/{version}"), kind


async def _prune_kind(
    kubectl: Kubectl, teller: Teller, resource: Resource, namespace: str | None, kept: list[str]
) -> None:
    connection = await kubectl.connect()
    for obj in await connection.list(resource, namespace, labels=kubectl.flags["selector"]):
        metadata = obj["metadata"]
        if at(metadata, "annotations", LAST_APPLIED) is None or metadata["uid"] in kept:
            continue
        if dry_run(kubectl) is not DryRun.CLIENT:
            options = DeleteOptions(propagation="Background", dry_run=dry_run(kubectl) is DryRun.SERVER)
            await connection.delete(resource, metadata.get("namespace", ""), metadata["name"], options)
        await teller.tell(resource, obj, "pruned")
