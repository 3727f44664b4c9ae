"""Gives an application at a site its past: what ran before, what helm remembers, and what was changed by hand.

Of the earlier release only what stays behind is made: the ReplicaSets that an undo goes back to, without a pod, and helm's
record. They are as old as the cluster, as all of it is that came from a backup; helm's records tell their own dates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import yaml

from aiopslab.apps.base import Application
from aiopslab.apps.past import Past
from simcloud.helm.releases import as_secret, from_secret, kept_as
from simcloud.helm.values import merged
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.options import WriteOptions
from simcloud.kubernetes.api.times import micro
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import Client
from simcloud.kubernetes.controller import owner_reference
from simcloud.kubernetes.controllers.deployments.sets import empty_set, note_revision, note_sizes

DAY_S: Final = 86_400.0
CONTROLLER: Final = ("system:serviceaccount:kube-system:deployment-controller", "kube-controller-manager")


def leave_earlier_release(cluster: Cluster, app: Application, past: Past) -> None:
    """Let an application that was deployed just now have been so for the second time."""
    if app.chart_files:
        texts = [_recorded(cluster, app, past)]
    else:
        texts = [past.earlier(text) for text in app.manifest_files.values()]
    client = Client(cluster.api, *CONTROLLER)
    for deployment in _deployments(texts):
        client.create(_left_behind(client, app.namespace, deployment))


def _deployments(texts: list[str]) -> Iterator[Object]:
    for document in (one for text in texts for one in text.split("\n---\n")):
        if "kind: Deployment\n" in document:
            yield yaml.load(document, yaml.CSafeLoader)


def _left_behind(client: Client, namespace: str, earlier: Object) -> Object:
    """The ReplicaSet of a Deployment's first revision; the controller gives the present one the second."""
    present = client.get("deployments.apps", namespace, earlier["metadata"]["name"])
    assert present is not None, "it was deployed just now"
    wanted: Object = copy(present)
    wanted["metadata"]["annotations"].update(earlier["metadata"].get("annotations") or {})
    wanted["spec"]["template"] = earlier["spec"]["template"]
    # The server says what it would make of it, with all that it fills in, and makes nothing.
    resource = client.resource("deployments.apps")
    name, dry = present["metadata"]["name"], WriteOptions(dry_run=True)
    was = client.api.update(resource, namespace, name, wanted, client.caller, dry)
    left = empty_set(was)
    left["metadata"]["ownerReferences"] = [owner_reference(present)]
    note_revision(left, was, 1)
    note_sizes(left, was)
    return left


def _recorded(cluster: Cluster, app: Application, past: Past) -> str:
    """Have helm remember two releases where it made one; the manifest of the first."""
    client = Client(cluster.api, "kubernetes-admin", "helm")
    stored = client.get("secrets", app.namespace, kept_as(app.name, 1))
    assert stored is not None, "it was installed just now"
    made = from_secret(stored)
    first_s = cluster.api.epoch_s - past.earlier_days * DAY_S
    second_s = cluster.api.epoch_s - past.present_days * DAY_S
    first = replace(
        made,
        config=merged(made.config, dict(past.values)),
        manifest=past.earlier(made.manifest),
        status="superseded",
        first_deployed=micro(first_s),
        last_deployed=micro(first_s),
    )
    second = replace(
        made,
        version=2,
        description="Upgrade complete",
        first_deployed=micro(first_s),
        last_deployed=micro(second_s),
    )
    superseded: Object = copy(stored)
    kept = as_secret(first, {"modifiedAt": str(int(second_s))})
    superseded["data"], superseded["metadata"]["labels"] = kept["data"], kept["metadata"]["labels"]
    client.update(superseded)
    newest = as_secret(second, {"modifiedAt": str(int(second_s))})
    newest["metadata"]["namespace"] = app.namespace
    client.create(newest)
    return first.manifest
