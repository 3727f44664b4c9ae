from __future__ import annotations

import pytest

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import NotFound
from simcloud.kubernetes.api.objects import Object
from tests.simcloud.kubernetes.measuring import serve_metrics


def usage(name: str, namespace: str = "") -> Object:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "Metrics", "metadata": metadata}


def test_the_control_plane_is_well(api: Api) -> None:
    statuses = api.list(api.catalogue.find("componentstatuses"), None)["items"]
    assert [one["metadata"]["name"] for one in statuses] == ["scheduler", "controller-manager", "etcd-0"]


def test_metrics_are_served_once_somebody_measures(api: Api) -> None:
    assert api.catalogue.at("metrics.k8s.io", "v1beta1", "pods") is None
    pods = [usage("a", "demo"), usage("b", "other")]
    serve_metrics(
        api,
        lambda _: [usage("node-1")],
        lambda namespace: [one for one in pods if namespace in (None, one["metadata"]["namespace"])],
    )
    served = api.catalogue.at("metrics.k8s.io", "v1beta1", "pods")
    assert served is not None
    assert [one["metadata"]["name"] for one in api.list(served, "demo")["items"]] == ["a"]
    assert len(api.list(served, None)["items"]) == 2
    assert api.get(served, "other", "b")["metadata"]["name"] == "b"
    with pytest.raises(NotFound):
        api.get(served, "demo", "b")
