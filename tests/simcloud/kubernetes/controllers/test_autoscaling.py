"""Autoscalers: without metrics as recorded; with them up at once, down after five minutes, and by their policies."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.controllers.autoscaling.behavior import History, normalize
from simcloud.kubernetes.controllers.autoscaling.metrics import Calculator, NoReading, Tolerance
from tests.simcloud.kubernetes.controllers.test_cases import World, frozen_objects
from tests.simcloud.kubernetes.measuring import serve_metrics

__all__ = ["frozen_objects"]

RUNNING = ["horizontal-pod-autoscaler", "deployment-controller", "replicaset-controller"]
MISSING = (
    "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from "
    "resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)"
)


class Load:
    """A metrics server in whose view every pod uses the same."""

    def __init__(self, world: World, cpu_milli: int) -> None:
        self.world = world
        self.cpu_milli = cpu_milli
        serve_metrics(world.api, lambda _: [], self.pods)

    def pods(self, namespace: str | None) -> list[Object]:
        return [
            {
                "metadata": {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]},
                "timestamp": self.world.api.timestamp(),
                "window": "15s",
                "containers": [{"name": "a", "usage": {"cpu": f"{self.cpu_milli}m", "memory": "64Mi"}}],
            }
            for pod in self.world.client.list("pods", namespace)
            if at(pod, "status", "phase") == "Running"
        ]


def web(replicas: int = 2) -> Object:
    container = {"name": "a", "image": "a", "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def autoscaler(**spec: Any) -> Object:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    wanted = {"type": "Utilization", "averageUtilization": 50}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": wanted}}]
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 10, "metrics": metrics, **spec}
    metadata = {"name": "web"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata,
        "spec": spec,
    }


def status(world: World) -> Object:
    found: Object = world.some("horizontalpodautoscalers.autoscaling/web")[0]["status"]
    return found


def conditions(world: World) -> dict[str, tuple[str, str]]:
    return {one["type"]: (one["status"], one["reason"]) for one in status(world)["conditions"]}


def told(world: World) -> list[str]:
    return [line for line in world.events() if "HorizontalPodAutoscaler" in line]


def replicas(world: World) -> int:
    count: int = world.some("deployments.apps/web")[0]["spec"]["replicas"]
    return count


def test_without_metrics_it_says_what_was_recorded() -> None:
    world = World(RUNNING)
    world.create([web(), autoscaler(maxReplicas=5)])
    world.kernel.run_for(14)
    assert at(status(world), "conditions") is None
    world.kernel.run_for(6)
    seen = status(world)
    assert (seen["currentReplicas"], seen.get("desiredReplicas", 0)) == (2, 0)
    able, active = seen["conditions"]
    assert (able["type"], able["status"], able["reason"]) == ("AbleToScale", "True", "SucceededGetScale")
    assert able["message"] == "the HPA controller was able to get the target's current scale"
    assert (active["type"], active["reason"]) == ("ScalingActive", "FailedGetResourceMetric")
    assert active["message"] == f"the HPA was unable to compute the replica count: {MISSING}"
    assert told(world) == [
        f"Warning FailedGetResourceMetric HorizontalPodAutoscaler/web: {MISSING}",
        "Warning FailedComputeMetricsReplicas HorizontalPodAutoscaler/web: invalid metrics (1 invalid out of 1), "
        f"first error is: failed to get cpu resource metric value: {MISSING}",
    ]


def test_it_scales_up_at_once_and_down_after_five_minutes() -> None:
    world = World(RUNNING)
    world.create(web())
    world.kernel.run_for(30)
    load = Load(world, 100)
    world.create(autoscaler())
    world.kernel.run_for(16)
    assert replicas(world) == 4
    assert told(world) == [
        "Normal SuccessfulRescale HorizontalPodAutoscaler/web: "
        "New size: 4; reason: cpu resource utilization (percentage of request) above target"
    ]
    assert conditions(world)["AbleToScale"] == ("True", "SucceededRescale")
    assert conditions(world)["ScalingActive"] == ("True", "ValidMetricFound")
    load.cpu_milli = 5
    world.kernel.run_for(250)
    assert replicas(world) >= 4
    assert conditions(world)["AbleToScale"] == ("True", "ScaleDownStabilized")
    world.kernel.run_for(400)
    assert replicas(world) == 1
    assert told(world)[-1] == (
        "Normal SuccessfulRescale HorizontalPodAutoscaler/web: New size: 1; reason: All metrics below target"
    )
    current = {"averageUtilization": 5, "averageValue": "5m"}
    assert status(world)["currentMetrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "current": current}}
    ]


def test_limits_are_said() -> None:
    world = World(RUNNING)
    world.create(web())
    world.kernel.run_for(30)
    Load(world, 1000)
    world.create(autoscaler(maxReplicas=3))
    world.kernel.run_for(16)
    assert replicas(world) == 3
    assert conditions(world)["ScalingLimited"] == ("True", "TooManyReplicas")


def test_a_missing_target_and_a_stopped_one() -> None:
    world = World(RUNNING)
    world.create(autoscaler())
    world.kernel.run_for(16)
    assert conditions(world) == {"AbleToScale": ("False", "FailedGetScale")}
    assert told(world) == [
        'Warning FailedGetScale HorizontalPodAutoscaler/web: deployments.apps "web" not found'
    ]
    world.create(web(0))
    world.kernel.run_for(15)
    assert conditions(world)["ScalingActive"] == ("False", "ScalingDisabled")


def test_too_many_replicas_are_brought_down_without_metrics() -> None:
    world = World(RUNNING)
    world.create([web(5), autoscaler(maxReplicas=3)])
    world.kernel.run_for(16)
    assert replicas(world) == 3
    assert told(world) == [
        "Normal SuccessfulRescale HorizontalPodAutoscaler/web: "
        "New size: 3; reason: Current number of replicas above Spec.MaxReplicas"
    ]


def test_a_pod_without_a_request_has_no_utilization() -> None:
    world = World(RUNNING)
    wanted = web()
    wanted["spec"]["template"]["spec"]["containers"][0]["resources"] = {}
    world.create([wanted, autoscaler()])
    Load(world, 10)
    world.kernel.run_for(16)
    assert told(world)[0].startswith(
        "Warning FailedGetResourceMetric HorizontalPodAutoscaler/web: "
        "failed to get cpu utilization: missing request for cpu in container a of Pod web-"
    )


def pod_of(name: str, phase: str = "Running") -> Object:
    container = {"name": "a", "resources": {"requests": {"memory": "100"}}}
    metadata = {"name": name, "namespace": "demo"}
    return {"metadata": metadata, "spec": {"containers": [container]}, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("used", "pods", "wanted"),
    [
        ([100, 100], ["Running", "Running"], 4),
        ([52, 52], ["Running", "Running"], 2),
        ([20, 20], ["Running", "Running"], 1),
        # One without a reading counts as idle on the way up, as busy on the way down.
        ([100, None], ["Running", "Running"], 2),
        ([10, None], ["Running", "Running"], 2),
        # One that is pending counts as idle on the way up.
        ([200, None], ["Running", "Pending"], 4),
    ],
)
def test_the_number_that_readings_ask_for(used: list[int | None], pods: list[str], wanted: int) -> None:
    world = World([], stand_in=False)
    readings = [
        {
            "metadata": {"name": f"p{number}"},
            "timestamp": world.api.timestamp(),
            "window": "15s",
            "containers": [{"name": "a", "usage": {"memory": str(amount)}}],
        }
        for number, amount in enumerate(used)
        if amount is not None
    ]
    serve_metrics(world.api, lambda _: [], lambda _: readings)
    members = [pod_of(f"p{number}", phase) for number, phase in enumerate(pods)]
    found = Calculator(world.api).by_utilization(members, "memory", "", 50, len(pods), Tolerance())
    assert found.replicas == wanted


@pytest.mark.parametrize(
    ("age_s", "ready", "ready_for_s", "trusted"),
    [
        (60, "True", 10, False),  # the window of the reading began before it was ready
        (60, "True", 30, True),
        (60, "False", 30, False),
        (600, "False", 30, True),  # it was ready once: its work is part of the whole
        (600, "False", 590, False),  # it never was
    ],
)
def test_the_start_of_a_pod_is_not_its_work(age_s: int, ready: str, ready_for_s: int, trusted: bool) -> None:
    world = World([], stand_in=False)
    world.kernel.run_for(1000)
    now_s = world.api.now_s
    container = {"name": "a", "usage": {"cpu": "100m"}}
    reading = {
        "metadata": {"name": "p"},
        "timestamp": rfc3339(now_s),
        "window": "15s",
        "containers": [container],
    }
    serve_metrics(world.api, lambda _: [], lambda _: [reading])
    pod = pod_of("p")
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": rfc3339(now_s - ready_for_s)}
    pod["status"] |= {"startTime": rfc3339(now_s - age_s), "conditions": [condition]}
    calculator = Calculator(world.api)
    if trusted:
        assert calculator.by_utilization([pod], "cpu", "", 50, 1, Tolerance()).replicas == 2
    else:
        with pytest.raises(NoReading, match="pods might be unready"):
            calculator.by_utilization([pod], "cpu", "", 50, 1, Tolerance())


def test_no_pods_give_no_reading() -> None:
    world = World([], stand_in=False)
    serve_metrics(world.api, lambda _: [], lambda _: [])
    with pytest.raises(NoReading, match="no metrics returned from resource metrics API"):
        Calculator(world.api).by_utilization([], "cpu", "", 50, 1, Tolerance())


def behaving(**parts: Object) -> Object:
    up = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": []}
    down = {"selectPolicy": "Max", "policies": []}
    behavior = {"scaleUp": {**up, **parts.get("up", {})}, "scaleDown": {**down, **parts.get("down", {})}}
    return {"minReplicas": 1, "maxReplicas": 100, "behavior": behavior}


def test_policies_limit_the_rate() -> None:
    pods = {"type": "Pods", "value": 3, "periodSeconds": 60}
    percent = {"type": "Percent", "value": 50, "periodSeconds": 60}
    spec = behaving(
        up={"policies": [pods, percent]}, down={"policies": [pods], "stabilizationWindowSeconds": 0}
    )
    history = History()
    first = normalize(spec, history, 10, 50, 1000.0)
    assert (first.replicas, first.limit[0]) == (15, "ScaleUpLimit")
    history.record_scaling(1000.0, 10, 15, spec)
    assert normalize(spec, history, 15, 50, 1015.0).replicas == 15
    assert normalize(spec, history, 15, 50, 1061.0).replicas == 23
    down = normalize(spec, History(), 10, 1, 2000.0)
    assert (down.replicas, down.limit[0]) == (7, "ScaleDownLimit")


def test_the_most_cautious_policy_can_be_chosen_and_a_direction_forbidden() -> None:
    pods = {"type": "Pods", "value": 3, "periodSeconds": 60}
    percent = {"type": "Percent", "value": 50, "periodSeconds": 60}
    spec = behaving(
        up={"policies": [pods, percent], "selectPolicy": "Min"}, down={"selectPolicy": "Disabled"}
    )
    assert normalize(spec, History(), 10, 50, 0.0).replicas == 13
    assert normalize(spec, History(), 10, 1, 0.0).replicas == 10


def test_a_window_on_the_way_up_takes_the_lowest() -> None:
    pods = {"type": "Pods", "value": 100, "periodSeconds": 60}
    spec = behaving(up={"policies": [pods], "stabilizationWindowSeconds": 60})
    history = History(recommended=[(100.0, 4)])
    told_of = normalize(spec, history, 4, 9, 130.0)
    assert (told_of.replicas, told_of.able[0]) == (4, "ScaleUpStabilized")
    assert normalize(spec, history, 4, 9, 191.0).replicas == 9


def test_two_autoscalers_of_the_same_pods_do_nothing() -> None:
    world = World(RUNNING)
    world.create(web())
    world.kernel.run_for(30)
    Load(world, 100)
    second = autoscaler()
    second["metadata"]["name"] = "other"
    world.create([autoscaler(minReplicas=2), second])
    world.kernel.run_for(40)
    words = "pods by selector app=web are controlled by multiple HPAs: [demo/other demo/web]"
    assert conditions(world)["ScalingActive"] == ("False", "AmbiguousSelector")
    assert any(
        line.startswith(f"Warning AmbiguousSelector HorizontalPodAutoscaler/web: {words}")
        for line in told(world)
    )
    world.delete("horizontalpodautoscalers.autoscaling/other")
    world.kernel.run_for(16)
    assert conditions(world)["ScalingActive"] == ("True", "ValidMetricFound")
