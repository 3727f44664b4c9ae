"""Give a deployed application an earlier release.

Only what a real upgrade leaves behind is created: the old ReplicaSets without pods, which ``rollout undo`` returns to, and
helm's record of the first release. The objects are as old as the cluster, as if restored from a backup; helm's records have
their own dates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import yaml

from aiopslab.apps import Application, Past
from simcloud.helm import merge_maps, releases
from simcloud.kubernetes import Cluster, ComponentClient, owner_reference
from simcloud.kubernetes.api import Object, WriteOptions, copy, times
from simcloud.kubernetes.controllers.deployments import empty_set, note_revision, note_sizes

DAY_S: Final = 86_400.0
CONTROLLER: Final = ("system:serviceaccount:kube-system:deployment-controller", "kube-controller-manager")


def leave_earlier_release(cluster: Cluster, app: Application, past: Past) -> None:
    """Make the current release of a newly deployed application look like its second one."""
    if app.chart_files:
        texts = [_record_releases(cluster, app, past)]
    else:
        texts = [past.revert(text) for text in app.manifest_files.values()]
    client = ComponentClient(cluster.api, *CONTROLLER)
    for deployment in _parse_deployments(texts):
        client.create(_build_old_set(client, app.namespace, deployment))


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


def _record_releases(cluster: Cluster, app: Application, past: Past) -> str:
    """Replace helm's record of one release with records of two; return the manifest of the first."""
    client = ComponentClient(cluster.api, "kubernetes-admin", "helm")
    stored = client.get("secrets", app.namespace, releases.secret_name(app.name, 1))
    assert stored is not None, "the chart must be installed"
    release = releases.from_secret(stored)
    first_s = cluster.api.epoch_s - past.earlier_days * DAY_S
    second_s = cluster.api.epoch_s - past.present_days * DAY_S
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
