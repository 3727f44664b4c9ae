"""The short way of a status leads where the long one leads."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.options import Caller
from simcloud.kubernetes.api.store import RevisionLog
from simcloud.kubernetes.api.verbs.writes import WRITTEN_ALONE
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.api.conftest import demo_cluster

Data = dict[str, Any]

TEMPLATE = {
    "metadata": {"labels": {"app": "x"}},
    "spec": {"containers": [{"name": "main", "image": "nginx:1.19"}]},
}
JOB_TEMPLATE = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
WORKLOAD = {"selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE}
CONDITION = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-05T09:00:00Z"}
KINDS: list[tuple[str, Data, Data]] = [
    ("pods.", {"spec": TEMPLATE["spec"]}, {"phase": "Running", "conditions": [CONDITION], "message": ""}),
    ("nodes.", {"metadata": {"labels": {"a": "b"}}}, {"capacity": {"cpu": "1.5"}, "conditions": [CONDITION]}),
    ("deployments.apps", {"spec": WORKLOAD}, {"replicas": 1, "observedGeneration": 1, "conditions": []}),
    ("replicasets.apps", {"spec": WORKLOAD}, {"replicas": 1, "fullyLabeledReplicas": 1}),
    (
        "statefulsets.apps",
        {"spec": {**WORKLOAD, "serviceName": "x"}},
        {"replicas": 1, "currentRevision": "x-1"},
    ),
    ("daemonsets.apps", {"spec": WORKLOAD}, {"currentNumberScheduled": 1, "numberReady": 0}),
    ("jobs.batch", {"spec": {"template": JOB_TEMPLATE}}, {"active": 1, "startTime": "2026-01-05T09:00:00Z"}),
    (
        "leases.coordination.k8s.io",
        {"spec": {"holderIdentity": "x", "renewTime": "2026-01-05T09:00:00.000000Z"}},
        {"holderIdentity": "y", "renewTime": "2026-01-05T09:00:02.500000Z", "leaseTransitions": 0},
    ),
]


def made(kind: str, body: Data) -> tuple[Api, Any, Data]:
    api = demo_cluster(Kernel(1)).api
    resource = api.catalogue.find(*kind.split(".", 1))
    metadata = {"name": "x", **body.get("metadata", {})}
    return api, resource, api.create(resource, "demo", {**body, "metadata": metadata}, Caller(manager="me"))


@pytest.mark.parametrize(("kind", "body", "written"), KINDS, ids=[kind for kind, _, _ in KINDS])
def test_a_part_alone_is_stored_as_a_whole_object_is(kind: str, body: Data, written: Data) -> None:
    hashes = []
    for whole in (False, True):
        api, resource, live = made(kind, body)
        part = WRITTEN_ALONE[resource.key]
        sent = {**(copy(live) if whole else live), part: copy(written)}
        subresource = "status" if part == "status" else ""
        api.update(resource, "demo", "x", sent, Caller(manager="other"), subresource=subresource)
        hashes.append(api.log.hash())
    assert hashes[0] == hashes[1]


def test_every_kind_of_the_short_way_is_tried_here() -> None:
    tried = {made(kind, body)[1].key for kind, body, _ in KINDS}
    assert tried == set(WRITTEN_ALONE)


def test_all_else_is_shared_with_the_revision_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RevisionLog, "seal", staticmethod(lambda obj: obj))
    api, pods, live = made("pods.", KINDS[0][1])
    stored = api.update(pods, "demo", "x", {**live, "status": KINDS[0][2]}, subresource="status")
    assert stored["spec"] is live["spec"]
    assert stored["metadata"] is not live["metadata"]
