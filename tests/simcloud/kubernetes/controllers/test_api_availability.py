"""APIServices that name a Service: why they cannot be used, from when on they can, and that they go again."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.aggregation import Unserved
from simcloud.kubernetes.api.computed import metrics_server
from simcloud.kubernetes.api.objects import Object
from tests.simcloud.kubernetes.controllers.test_cases import World, frozen_objects

__all__ = ["frozen_objects"]

PLACE = ("metrics.k8s.io", "v1beta1")
REGISTERED: Object = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1beta1.metrics.k8s.io"},
    "spec": {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"name": "measures", "namespace": "demo", "port": 443},
    },
}


def service(port: int) -> Object:
    ports = [{"name": "https", "port": port}]
    metadata = {"name": "measures", "namespace": "demo"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": ports}}


def endpoints(ready: bool) -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "measures-1",
            "namespace": "demo",
            "labels": {"kubernetes.io/service-name": "measures"},
        },
        "addressType": "IPv4",
        "ports": [{"name": "https", "port": 4443, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["10.244.1.9"], "conditions": {"ready": ready}}],
    }


def available(world: World) -> tuple[str, str]:
    world.kernel.run_for(1)
    found = world.client.get("apiservices.apiregistration.k8s.io", "", "v1beta1.metrics.k8s.io")
    assert found is not None
    condition = found["status"]["conditions"][0]
    return condition["reason"], condition["message"]


def test_why_a_server_cannot_be_used_and_when_it_can() -> None:
    world = World(["apiservice-availability"])
    api = world.api
    world.client.create(REGISTERED)
    assert available(world) == ("ServiceNotFound", 'service/measures in "demo" is not present')
    made = world.client.create(service(80))
    assert available(world) == ("ServicePortError", 'service/measures in "demo" is not listening on port 443')
    world.client.delete(made)
    made = world.client.create(service(443))
    assert available(world) == (
        "EndpointsNotFound",
        'cannot find endpointslices for service/measures in "demo"',
    )
    slices = world.client.create(endpoints(ready=False))
    assert available(world)[0] == "MissingEndpoints"
    slices = world.client.update({**slices, "endpoints": endpoints(ready=True)["endpoints"]})
    reason, told = available(world)
    assert reason == "FailedDiscoveryCheck"
    assert told.endswith(f"dial tcp {made['spec']['clusterIP']}:443: connect: connection refused")
    assert api.catalogue.at(*PLACE, "pods") is None

    api.aggregation.listen("10.244.1.9", 4443, metrics_server(lambda _: [], lambda _: []))
    world.kernel.run_for(31)
    assert available(world) == ("Passed", "all checks passed")
    pods = api.catalogue.at(*PLACE, "pods")
    assert pods is not None
    assert api.list(pods, None)["items"] == []

    api.aggregation.leave("10.244.1.9", 4443)
    with pytest.raises(Unserved):
        api.list(pods, None)
    world.kernel.run_for(31)
    assert available(world)[0] == "FailedDiscoveryCheck"
    assert list(api.catalogue.stale) == [PLACE]
    registered = world.client.get("apiservices.apiregistration.k8s.io", "", "v1beta1.metrics.k8s.io")
    assert registered is not None
    world.client.delete(registered)
    assert api.catalogue.at(*PLACE, "pods") is None
    assert not api.catalogue.stale
