"""What a description leaves out, says or refuses when its reader may not see everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.kubectl.describe import describer_for
from simcloud.kubernetes.api.access.users import User
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.component_client import ComponentClient
from tests.simcloud.kubectl.describe.worlds import written
from tests.simcloud.kubectl.genuine import Everything, finished, standing
from tests.simcloud.server.kubernetes.served import Served

pytestmark = pytest.mark.differential("kubectl")

NEWCOMER = User("newcomer", groups=("system:authenticated",))
SEEN = [
    ("nodes", "", "kind-bare"),
    ("pods", "rare", "bare"),
    ("replicasets.apps", "rare", "alone"),
    ("deployments.apps", "rare", "recreate"),
    ("services", "rare", "everything"),
    ("ingresses.networking.k8s.io", "rare", "full"),
    ("widgets.example.com", "rare", "gadget"),
    ("jobs.batch", "rare", "indexed"),
    ("roles.rbac.authorization.k8s.io", "rare", "full"),
    ("horizontalpodautoscalers.autoscaling", "rare", "full"),
]
REFUSED = [
    ("configmaps", "rare", "full"),
    ("namespaces", "", "rare"),
    ("statefulsets.apps", "rare", "claims"),
    ("daemonsets.apps", "rare", "some"),
    ("replicationcontrollers", "rare", "old"),
    ("persistentvolumeclaims", "rare", "data"),
]


@pytest.fixture(scope="module")
def api() -> Api:
    """A world whose newcomer may get, by name, what is described here, and list nothing."""
    api = written().api
    client = ComponentClient(api, "kubernetes-admin", "kubectl")
    named = [name.partition(".") for name, *_ in SEEN + REFUSED]
    rules = [{"apiGroups": [group], "resources": [plural], "verbs": ["get"]} for plural, _, group in named]
    rbac = "rbac.authorization.k8s.io"
    client.create(
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": "newcomer"}, "rules": rules}
    )
    client.create(
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "newcomer"},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "newcomer"},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": "newcomer"}],
        }
    )
    return api


@pytest.fixture(scope="module")
def served(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with standing(api, tmp_path_factory.mktemp("rights")) as served:
        yield served


def ours(api: Api, name: str, namespace: str, object_name: str) -> str:
    reader = Everything(api, user=NEWCOMER)
    resource = reader.resource(name)
    obj = finished(reader.get(resource, namespace, object_name))
    return finished(describer_for(resource)(reader, obj, True))


@pytest.mark.parametrize("name, namespace, object_name", SEEN)
def test_what_may_not_be_seen_is_left_out_or_said(
    api: Api, served: Served, name: str, namespace: str, object_name: str
) -> None:
    genuine = served.ok("describe", name, object_name, "-n", namespace, "--as", "newcomer")
    assert ours(api, name, namespace, object_name) == genuine


@pytest.mark.parametrize("name, namespace, object_name", REFUSED)
def test_what_cannot_be_told_without_the_rest_is_refused(
    api: Api, served: Served, name: str, namespace: str, object_name: str
) -> None:
    genuine = served.kubectl("describe", name, object_name, "-n", namespace, "--as", "newcomer")
    with pytest.raises(ApiError) as refusal:
        ours(api, name, namespace, object_name)
    assert genuine.stdout == ""
    assert genuine.stderr == f"Error from server (Forbidden): {refusal.value.message}\n"


def test_events_are_left_out_when_not_asked_for(api: Api, served: Served) -> None:
    reader = Everything(api)
    for name, namespace, object_name in SEEN + REFUSED:
        if name == "nodes":
            continue  # its pods' ages are the host's
        genuine = served.ok("describe", name, object_name, "-n", namespace, "--show-events=false")
        resource = reader.resource(name)
        obj = finished(reader.get(resource, namespace, object_name))
        assert finished(describer_for(resource)(reader, obj, False)) == genuine


def test_an_autoscaler_of_the_first_version_is_told_as_of_the_second(api: Api, served: Served) -> None:
    reader = Everything(api)
    old = api.catalogue.at("autoscaling", "v1", "horizontalpodautoscalers")
    assert old is not None
    obj = finished(reader.get(old, "rare", "full"))
    genuine = served.ok("describe", "horizontalpodautoscalers.v1.autoscaling", "full", "-n", "rare")
    assert finished(describer_for(old)(reader, obj, True)) == genuine
