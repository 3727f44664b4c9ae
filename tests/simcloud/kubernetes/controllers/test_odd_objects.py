"""What somebody wrote by hand into a status, an annotation or a revision does not bring a controller down."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.conftest import frozen_objects
from tests.simcloud.kubernetes.controllers.test_cases import World

__all__ = ["frozen_objects"]

LABELS = {"app": "web"}
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": LABELS},
    "spec": {"containers": [{"name": "main", "image": "nginx:1.19"}]},
}
CONTROLLERS = [
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "daemonset-controller",
]


def workload(kind: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": LABELS}, "template": TEMPLATE, **spec},
    }


def test_conditions_without_reasons_or_times() -> None:
    world = World(CONTROLLERS)
    world.create(workload("Deployment", replicas=2))
    world.kernel.run_for(2)
    bare = [{"type": "Progressing", "status": "True"}, {"type": "Available", "status": "True"}]
    world.step("status", {"deployments.apps/web": {"conditions": bare}})
    world.step(
        "status", {"replicasets.apps/web-*": {"conditions": [{"type": "ReplicaFailure", "status": "True"}]}}
    )
    world.kernel.run_for(2)
    (deployment,) = world.named("deployments.apps/web")
    assert [one["reason"] for one in deployment["status"]["conditions"] if one["type"] == "Available"]
    assert deployment["status"]["availableReplicas"] == 2


def test_annotations_that_are_no_numbers() -> None:
    world = World(CONTROLLERS)
    world.create(workload("Deployment", replicas=2))
    world.kernel.run_for(2)
    notes = {
        f"deployment.kubernetes.io/{name}": "many"
        for name in ("revision", "desired-replicas", "max-replicas")
    }
    world.step("patch", {"replicasets.apps/web-*": {"metadata": {"annotations": notes}}})
    world.step("patch", {"deployments.apps/web": {"spec": {"replicas": 3}}})
    world.kernel.run_for(3)
    assert world.named("deployments.apps/web")[0]["status"]["availableReplicas"] == 3


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_revisions_of_somebody_else(kind: str) -> None:
    world = World(CONTROLLERS)
    world.create(
        {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {"name": "odd", "labels": LABELS},
            "data": {"other": "things"},
            "revision": 1,
        }
    )
    world.create(workload(kind, **({"serviceName": "web"} if kind == "StatefulSet" else {})))
    world.kernel.run_for(3)
    assert any(pod["status"]["phase"] == "Running" for pod in world.named("pods/web-*"))
    numbers = sorted(one["revision"] for one in world.named("controllerrevisions.apps/web-*"))
    assert numbers == [2]


@pytest.mark.parametrize(
    ("controllers", "obj"),
    [
        (["replicaset-controller"], workload("ReplicaSet", replicas=1_000_000)),
        (
            ["statefulset-controller"],
            workload("StatefulSet", replicas=1_000_000, serviceName="web", podManagementPolicy="Parallel"),
        ),
        (
            ["job-controller"],
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "web"},
                "spec": {
                    "parallelism": 100_000,
                    "template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}},
                },
            },
        ),
    ],
)
def test_a_million_pods_that_no_node_takes_do_not_come_in_one_second(
    controllers: list[str], obj: dict[str, Any]
) -> None:
    world = World(controllers, stand_in=False)
    world.create(obj)
    world.kernel.run_for(5)
    assert 500 < len(world.named("pods/web-*")) <= 500 + 5 * 20


def test_a_pod_that_finds_its_node_makes_room_for_the_next() -> None:
    world = World(["replicaset-controller"])
    world.create(workload("ReplicaSet", replicas=1500))
    world.kernel.run_for(5)
    assert len(world.named("pods/web-*")) == 1500
