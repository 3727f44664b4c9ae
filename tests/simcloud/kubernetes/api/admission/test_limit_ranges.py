"""What LimitRanges give and refuse, in the genuine server's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.admission.conftest import World, pod


def limit(world: World, **item: Any) -> None:
    world.create("limitranges", {"metadata": {"name": "limits"}, "spec": {"limits": [item]}})


def container(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    resources = {"requests": requests or {}, "limits": limits or {}}
    return {"name": "c", "resources": {kind: value for kind, value in resources.items() if value}}


def test_defaults_are_given_and_told(world: World) -> None:
    limit(world, type="Container", default={"cpu": "500m", "memory": "1Gi"}, defaultRequest={"cpu": "100m"})
    made = world.create("pods", pod("p", container()))
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "1Gi"},
        "requests": {"cpu": "100m", "memory": "1Gi"},
    }
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c"
    )
    assert made["status"]["qosClass"] == "Burstable"


CASES = [
    ({"type": "Container", "max": {"cpu": "1"}}, container(limits={"cpu": "2"}),
     "maximum cpu usage per Container is 1, but limit is 2"),
    ({"type": "Pod", "max": {"cpu": "1"}}, container(),
     "maximum cpu usage per Pod is 1.  No limit is specified"),
    ({"type": "Pod", "max": {"memory": "1Gi"}}, container(limits={"memory": "2Gi"}),
     "maximum memory usage per Pod is 1Gi, but limit is 2Gi"),
    ({"type": "Container", "min": {"cpu": "200m"}}, container({"cpu": "100m"}),
     "minimum cpu usage per Container is 200m, but request is 100m"),
    ({"type": "Pod", "min": {"cpu": "200m"}}, container(),
     "minimum cpu usage per Pod is 200m.  No request is specified"),
    ({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}, container({"cpu": "1"}, {"cpu": "3"}),
     "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"),
    ({"type": "Pod", "maxLimitRequestRatio": {"cpu": "2"}}, container(),
     "cpu max limit to request ratio per Pod is 2, but no request is specified or request is 0"),
    ({"type": "Container", "min": {"cpu": "2", "memory": "2Gi"}}, container({"cpu": "1", "memory": "1Gi"}),
     "[minimum cpu usage per Container is 2, but request is 1, "
     "minimum memory usage per Container is 2Gi, but request is 1Gi]"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "one", "sentence"), CASES)
def test_sentences(world: World, item: dict[str, Any], one: dict[str, Any], sentence: str) -> None:
    limit(world, **item)
    assert world.refusal("pods", pod("p", one)).message == f'pods "p" is forbidden: {sentence}'


def test_claims_have_limits_of_their_own(world: World) -> None:
    limit(world, type="PersistentVolumeClaim", max={"storage": "2Gi"}, min={"storage": "1Gi"})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Gi"}}}
    refused = world.refusal("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": spec})
    assert refused.message == (
        'persistentvolumeclaims "data" is forbidden: '
        "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"
    )
