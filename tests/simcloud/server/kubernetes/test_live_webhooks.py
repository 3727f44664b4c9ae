"""Admission webhooks in pods, by genuine kubectl: refused, changed, and what a webhook that is down does to writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from simcloud.kubernetes.images import standard_registry
from simcloud.server.kubernetes.certificates import make_certificates
from tests.simcloud.kubernetes.judge import (
    JUDGE,
    configuration,
    judge_image,
    judge_pod,
    judge_secret,
    judge_service,
)
from tests.simcloud.server.kubernetes.served import Served
from tests.simcloud.server.kubernetes.threaded import threaded_cluster

pytestmark = pytest.mark.differential("kubectl")

CERTIFICATES = make_certificates("judge.default.svc")


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    registry = standard_registry()
    registry.add(JUDGE, judge_image())
    with threaded_cluster(tmp_path_factory.mktemp("court"), registry) as served:
        apply(served, judge_secret(CERTIFICATES.certificate), judge_pod(), judge_service())
        served.ok("wait", "--for=condition=Ready", "pod/judge", "--timeout=240s")
        for kind in ("Validating", "Mutating"):
            apply(served, configuration(kind, CERTIFICATES.authority, ["configmaps", "pods"]))
        yield served


def apply(served: Served, *objects: dict[str, Any]) -> None:
    served.ok("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def test_a_pod_is_refused_in_the_webhooks_words(court: Served) -> None:
    refused = court.kubectl("run", "bad", "--image=nginx:1.19", "--labels=forbidden=yes")
    assert (refused.exit, refused.stderr) == (
        1,
        'Error from server: admission webhook "validating.example.com" denied the request: '
        "the label forbidden=yes is not liked\n",
    )


def test_pods_of_a_deployment_are_changed(court: Served) -> None:
    court.ok("create", "deployment", "web", "--image=nginx:1.19", "--replicas=2")
    court.ok("rollout", "status", "deploy/web", "--timeout=240s")
    labels = court.ok("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.labels.judged}")
    assert labels == "yes yes"
    assert "/mutate?timeout=10s CREATE Pod" in court.ok("logs", "judge")
    dry = court.ok("create", "configmap", "c", "--dry-run=server", "-o", "jsonpath={.metadata.labels}")
    assert dry == '{"judged":"yes"}'


def test_a_webhook_that_is_down(court: Served) -> None:
    court.ok("delete", "pod", "judge", "--now")
    address = court.ok("get", "service", "judge", "-o", "jsonpath={.spec.clusterIP}")
    court.ok("delete", "mutatingwebhookconfiguration", "mutating")
    refused = court.kubectl("create", "configmap", "c")
    assert (refused.exit, refused.stderr) == (
        1,
        "error: failed to create configmap: Internal error occurred: failed calling webhook "
        '"validating.example.com": failed to call webhook: Post "https://judge.default.svc:443/validate?timeout=10s": '
        f"dial tcp {address}:443: connect: connection refused\n",
    )
    court.ok("scale", "deploy/web", "--replicas=3")
    court.ok("wait", "--for=condition=ReplicaFailure", "rs", "-l", "app=web", "--timeout=240s")
    assert "failed calling webhook" in court.ok("describe", "rs", "-l", "app=web")
    change = [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]
    court.ok("patch", "validatingwebhookconfiguration", "validating", "--type=json", "-p", json.dumps(change))
    assert court.ok("create", "configmap", "c") == "configmap/c created\n"
