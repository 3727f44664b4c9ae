"""Whatever is done to a Deployment, in whatever order, it settles; and a rollout keeps its promises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controller import controller_of
from simcloud.kubernetes.controllers.deployments.sets import max_surge, max_unavailable
from simcloud.kubernetes.controllers.pods import is_active, is_ready
from tests.simcloud.kubernetes.api.conftest import frozen_objects
from tests.simcloud.kubernetes.controllers.test_cases import World

__all__ = ["frozen_objects"]

SETTLED_S = 40.0

limits = st.sampled_from([0, 1, 2, "25%", "50%", "100%"])
rolling = st.tuples(limits, limits).filter(lambda both: both != (0, 0))
operations = st.one_of(
    st.tuples(st.just("scale"), st.integers(0, 6)),
    st.tuples(st.just("image"), st.sampled_from(["nginx:1.19", "nginx:1.20", "nginx:bad"])),
    st.tuples(st.just("paused"), st.booleans()),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("fail"), st.integers(0, 9)),
    st.tuples(st.just("wait"), st.sampled_from([0.01, 0.1, 0.3, 0.5, 2.0])),
)


class Shop:
    """A Deployment ``web``, and what may be done to it."""

    def __init__(self, strategy: Object, replicas: int = 3, min_ready_s: int = 0) -> None:
        self.world = World(["deployment-controller", "replicaset-controller"])
        labels = {"app": "web"}
        self.world.create(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": replicas,
                    "minReadySeconds": min_ready_s,
                    "strategy": strategy,
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"containers": [{"name": "main", "image": "nginx:1.19"}]},
                    },
                },
            }
        )

    @property
    def deployment(self) -> Object:
        return self.world.named("deployments.apps/web")[0]

    def pods(self) -> list[Object]:
        return [pod for pod in self.world.named("pods/*") if is_active(pod)]

    def do(self, verb: str, what: Any) -> None:
        if verb == "wait":
            self.world.kernel.run_for(what)
        elif verb in ("delete", "fail"):
            pods = self.pods()
            if pods:
                name = f"pods/{pods[what % len(pods)]['metadata']['name']}"
                self.world.step(verb, name)
        else:
            self.patch(verb, what)

    def patch(self, verb: str, what: Any) -> None:
        containers = [{"name": "main", "image": what}]
        spec = {
            "scale": {"replicas": what},
            "paused": {"paused": what},
            "image": {"template": {"spec": {"containers": containers}}},
        }[verb]
        self.world.patch({"deployments.apps/web": {"spec": spec}}, "")

    def settle(self) -> None:
        self.world.kernel.run_for(SETTLED_S)

    def check_settled(self) -> None:
        deployment, pods = self.deployment, self.pods()
        wanted = deployment["spec"]["replicas"]
        image = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
        assert [pod["spec"]["containers"][0]["image"] for pod in pods] == [image] * wanted
        status = deployment["status"]
        assert status["observedGeneration"] == deployment["metadata"]["generation"]
        for field in ("replicas", "updatedReplicas", "availableReplicas", "readyReplicas"):
            assert status.get(field, 0) == wanted
        assert status["terminatingReplicas"] == 0

    def check_owners(self) -> None:
        for child, parents in (
            ("pods/*", "replicasets.apps/*"),
            ("replicasets.apps/*", "deployments.apps/*"),
        ):
            uids = {one["metadata"]["uid"] for one in self.world.named(parents)}
            assert all((controller_of(one) or {})["uid"] in uids for one in self.world.named(child))


def strategy(surge: Any, missing: Any) -> Object:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": missing}}


few = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@few
@given(steps=st.lists(operations, max_size=12), rolling=rolling, recreate=st.booleans())
def test_a_deployment_settles_whatever_was_done_to_it(
    steps: list[tuple[str, Any]], rolling: tuple[Any, Any], recreate: bool
) -> None:
    shop = Shop({"type": "Recreate"} if recreate else strategy(*rolling))
    for verb, what in steps:
        shop.do(verb, what)
        shop.check_owners()
    shop.do("paused", False)
    shop.do("image", "nginx:1.21")
    shop.settle()
    shop.check_settled()
    shop.check_owners()


@pytest.mark.slow
@few
@given(rolling=rolling, replicas=st.integers(1, 8), min_ready_s=st.sampled_from([0, 0, 3]))
def test_a_rollout_has_never_too_many_pods_nor_too_few(
    rolling: tuple[Any, Any], replicas: int, min_ready_s: int
) -> None:
    shop = Shop(strategy(*rolling), replicas, min_ready_s)
    shop.settle()
    most = replicas + max_surge(shop.deployment)
    least = replicas - max_unavailable(shop.deployment)
    shop.do("image", "nginx:1.20")
    end_s = shop.world.kernel.now + SETTLED_S
    while (next_s := shop.world.kernel.next_event_at()) is not None and next_s < end_s:
        shop.world.kernel.run_until(next_s)
        pods = shop.pods()
        assert sum(one["spec"]["replicas"] for one in shop.world.named("replicasets.apps/*")) <= most
        assert len(pods) <= most
        assert sum(map(is_ready, pods)) >= least
    shop.check_settled()
