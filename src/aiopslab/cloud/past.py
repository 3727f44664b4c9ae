"""Give a deployed application an earlier release.

Only what a real upgrade leaves behind is created: the old ReplicaSets without pods, which ``rollout undo`` returns to, and
helm's record of the first release. ``date_back`` makes everything else as old as the first release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from zlib import crc32

import yaml
from msgspec.structs import replace

from aiopslab.apps import Application, Past
from aiopslab.cloud.declared import KINDS
from simcloud.helm import merge_maps, releases
from simcloud.kubernetes import Cluster, ComponentClient, owner_reference
from simcloud.kubernetes.api import Api, Key, Object, WriteOptions, at, copy, times
from simcloud.kubernetes.controllers.deployments import empty_set, note_revision, note_sizes

CURRENT_RECORD: Final = ".v2"
"""How the name of helm's record of the current release ends."""
SLICE_CHANGES: Final = 4
"""A new endpoint appears and becomes ready, the old one terminates and disappears."""
MOST_REPLACED_PODS: Final = 5
CONTROLLER: Final = ("system:serviceaccount:kube-system:deployment-controller", "kube-controller-manager")


_REWRITTEN: Final = frozenset(
    {"daemonsets", "deployments", "endpoints", "endpointslices", "replicasets", "statefulsets"}
)
"""What an upgrade changes of the objects that it keeps."""
_DERIVED_KINDS: Final = (("", "endpoints"), ("discovery.k8s.io", "endpointslices"), ("apps", "replicasets"))


def leave_earlier_release(cluster: Cluster, app: Application, past: Past, released_s: float) -> None:
    """Make the current release of a newly deployed application look like its second one, after one of ``released_s``."""
    if app.chart_files:
        texts = [_record_releases(cluster, app, past, released_s)]
    else:
        texts = [past.revert(text) for text in app.manifest_files.values()]
    client = ComponentClient(cluster.api, *CONTROLLER)
    for deployment in _parse_deployments(texts):
        client.create(_build_old_set(client, app.namespace, deployment))


def date_back(api: Api, namespace: str, time_s: float) -> None:
    """Date all that an upgrade keeps: every object of the application except its pods and their ReplicaSets."""
    time = times.rfc3339(time_s)
    for group, plural in (*KINDS, *_DERIVED_KINDS):
        age_s = 0.0 if plural in _REWRITTEN else api.now_s - time_s
        for obj in api.log.objects(group, plural):
            metadata = obj["metadata"]
            owner = metadata.get("namespace") or at(obj, "spec", "claimRef", "namespace") or metadata["name"]
            is_current = plural == "replicasets" and obj["spec"]["replicas"]
            if owner != namespace or is_current or metadata["name"].endswith(CURRENT_RECORD):
                continue
            dated: Object = {**obj, "metadata": {**metadata, "creationTimestamp": time}}
            if plural not in _REWRITTEN:
                fields = metadata.get("managedFields", ())
                dated["metadata"]["managedFields"] = [{**entry, "time": time} for entry in fields]
            if "status" in obj:
                dated["status"] = copy(obj["status"])
            _count_generations(dated)
            for condition in at(dated, "status", "conditions", default=()):
                condition["lastTransitionTime"] = time
            key = Key(group, plural, metadata.get("namespace", ""), metadata["name"])
            api.log.put(key, dated, CONTROLLER[0], age_s)


def _count_generations(obj: Object) -> None:
    """Add the changes of the upgrade to an object's generation."""
    changes = {
        "Deployment": 1,
        "ReplicaSet": 1,
        "EndpointSlice": SLICE_CHANGES * len(obj.get("endpoints") or ()),
    }
    count = changes.get(obj["kind"], 0)
    if "generation" in obj["metadata"]:
        obj["metadata"]["generation"] += count
    if "observedGeneration" in obj.get("status", {}):
        obj["status"]["observedGeneration"] += count


def use_addresses(cluster: Cluster, app: Application) -> None:
    """Let the earlier release have had its pods: their addresses are not given out again for a while."""
    nodes = [kubelet.node for kubelet in cluster.kubelets.values()]
    workers = [node for node in nodes if node.machine is not cluster.machines[0]] or nodes
    for node in workers:
        more = crc32(f"{app.name} {node.machine.name}".encode()) % MOST_REPLACED_PODS
        node.network.skip_addresses(node.machine, len(app.components) // len(workers) + more)


def _parse_deployments(texts: list[str]) -> Iterator[Object]:
    for text in texts:
        for document in text.split("\n---\n"):
            if "kind: Deployment\n" in document:
                yield yaml.load(document, yaml.CSafeLoader)


def _build_old_set(client: ComponentClient, namespace: str, earlier: Object) -> Object:
    """Return the ReplicaSet of a Deployment's first revision; the controller then makes the current one the second."""
    present = client.get("deployments.apps", namespace, earlier["metadata"]["name"])
    assert present is not None, "the application must be deployed"
    wanted: Object = copy(present)
    wanted["metadata"]["annotations"].update(earlier["metadata"].get("annotations") or {})
    wanted["spec"]["template"] = earlier["spec"]["template"]
    # A dry run returns the object with all defaults filled in.
    resource = client.resource("deployments.apps")
    name, dry = present["metadata"]["name"], WriteOptions(dry_run=True)
    old = client.api.update(resource, namespace, name, wanted, client.caller, dry)
    old_set = empty_set(old)
    old_set["metadata"]["ownerReferences"] = [owner_reference(present)]
    note_revision(old_set, old, 1)
    note_sizes(old_set, old)
    return old_set


def _record_releases(cluster: Cluster, app: Application, past: Past, first_s: float) -> str:
    """Replace helm's record of one release with records of two; return the manifest of the first."""
    client = ComponentClient(cluster.api, "kubernetes-admin", "helm")
    stored = client.get("secrets", app.namespace, releases.secret_name(app.name, 1))
    assert stored is not None, "the chart must be installed"
    release = releases.from_secret(stored)
    second_s = cluster.api.now_s
    first = replace(
        release,
        config=merge_maps(release.config, dict(past.values)),
        manifest=past.revert(release.manifest),
        status="superseded",
        first_deployed=times.micro(first_s),
        last_deployed=times.micro(first_s),
    )
    second = replace(
        release,
        version=2,
        description="Upgrade complete",
        first_deployed=times.micro(first_s),
        last_deployed=times.micro(second_s),
    )
    superseded: Object = copy(stored)
    kept = releases.as_secret(first, {"modifiedAt": str(int(second_s))})
    superseded["data"], superseded["metadata"]["labels"] = kept["data"], kept["metadata"]["labels"]
    client.update(superseded)
    newest = releases.as_secret(second, {"modifiedAt": str(int(second_s))})
    newest["metadata"]["namespace"] = app.namespace
    client.create(newest)
    return first.manifest
