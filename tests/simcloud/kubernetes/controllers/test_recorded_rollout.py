"""A recorded session at a genuine control plane, done again: objects, revisions and events must be the same.

The recording scales a Deployment, rolls it out, back, forth while it is still moving, to an image that
cannot be pulled, and back again. The same changes are made here at the same times.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.store import RevisionLog
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controllers.deployments.sets import REVISION
from tests.simcloud.kubernetes.api.frozen import freeze
from tests.simcloud.kubernetes.controllers.test_cases import World
from tests.simcloud.server.kubernetes import golden
from tests.simcloud.server.kubernetes.golden.normalise import lines, norm

GOLDEN = Path(next(iter(golden.__path__)))
RECORDED = [json.loads(line) for line in (GOLDEN / "control-plane.jsonl").read_text().splitlines()]


def recorded(command: str, number: int = 0) -> str:
    """What a command printed; several times typed, the ``number``-th time."""
    found = [one["stdout"] for one in RECORDED if one["cmd"] == command]
    text: str = found[number]
    return text


class Session:
    """Does what the recording's operator did."""

    def __init__(self) -> None:
        self.world = World(["deployment-controller", "replicaset-controller"])
        self.kubectl = ComponentClient(self.world.api, "kubernetes-admin", "kubectl-client-side-apply")
        applied = yaml.safe_load(recorded("kubectl get deploy web -n demo -o yaml"))
        spec = yaml.safe_load(
            (GOLDEN / "manifests" / "control-plane" / "web.yaml").read_text().partition("---")[0]
        )
        note = "kubectl.kubernetes.io/last-applied-configuration"
        spec["metadata"]["annotations"] = {note: applied["metadata"]["annotations"][note]}
        self.kubectl.create(spec)

    @property
    def deployment(self) -> Object:
        return self.world.named("deployments.apps/web")[0]

    def until(self, seconds: float) -> None:
        """Let time pass until so long after the apply."""
        self.world.kernel.run_until(seconds)

    def patch(self, spec: Object, metadata: Object | None = None) -> None:
        self.kubectl.patch(self.deployment, {"spec": spec, "metadata": metadata or {}})

    def container(self, **fields: Any) -> None:
        self.patch({"template": {"spec": {"containers": [{"name": "nginx", **fields}]}}})

    def undo(self) -> None:
        """Back to the revision before the newest, as kubectl does it."""
        sets = sorted(
            self.world.named("replicasets.apps/web-*"),
            key=lambda one: int(one["metadata"]["annotations"][REVISION]),
        )
        template = copy(sets[-2]["spec"]["template"])
        del template["metadata"]["labels"]["pod-template-hash"]
        operation = {"op": "replace", "path": "/spec/template", "value": template}
        self.kubectl.patch(self.deployment, [operation], kind=PatchType.JSON)


@pytest.fixture(scope="module", autouse=True)
def frozen_objects() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RevisionLog, "seal", staticmethod(freeze))
        yield


@pytest.fixture(scope="module")
def first_look() -> Session:
    """Two seconds after the apply."""
    session = Session()
    session.until(2)
    return session


@pytest.fixture(scope="module")
def whole() -> Session:
    """The session to its end; the numbers are the recorded seconds after the apply."""
    session = Session()
    session.until(5)
    session.patch({"replicas": 4})
    session.until(6)
    session.patch({"replicas": 2})
    session.until(9)
    session.container(image="nginx:1.20")
    session.until(10)
    session.kubectl.patch(
        session.deployment, {"metadata": {"annotations": {"kubernetes.io/change-cause": "image 1.20"}}}
    )
    session.until(11)
    session.undo()
    session.until(14)
    session.container(env=[{"name": "MODE", "value": "debug"}, {"name": "EXTRA", "value": "1"}])
    session.until(15)
    session.container(env=[{"name": "EXTRA", "$patch": "delete"}])
    session.until(15.2)
    session.container(resources={"limits": {"cpu": "200m", "memory": "256Mi"}})
    session.until(17)
    note = {"kubectl.kubernetes.io/restartedAt": "2026-11-15T00:43:39Z"}
    session.patch({"template": {"metadata": {"annotations": note}}})
    session.until(19)
    session.patch({"paused": True})
    session.until(19.3)
    session.patch({"paused": None})
    session.until(19.4)
    session.container(image="nginx:bad")
    session.until(27)
    session.undo()
    session.until(30)
    return session


def parts(obj: Any) -> Any:
    """An object without what differs between any two clusters."""
    if isinstance(obj, dict):
        return {key: parts(value) for key, value in obj.items() if key not in ("uid", "resourceVersion")}
    if isinstance(obj, list):
        return [parts(one) for one in obj]
    return norm(obj) if isinstance(obj, str) else obj


def test_the_deployment_is_the_recorded_one_managers_and_all(first_look: Session) -> None:
    theirs = yaml.safe_load(recorded("kubectl get deploy web -n demo -o yaml --show-managed-fields"))
    assert parts(first_look.deployment) == parts(theirs)


def test_the_replica_set_is_the_recorded_one(first_look: Session) -> None:
    (theirs,) = yaml.safe_load(recorded("kubectl get rs -n demo -o yaml"))["items"]
    (ours,) = copy(first_look.world.named("replicasets.apps/*"))
    del ours["metadata"]["managedFields"]
    assert ours["metadata"]["name"] == theirs["metadata"]["name"] == "web-58899f8dbc"
    assert parts(ours) == parts(theirs)


def test_the_events_are_the_recorded_ones(whole: Session) -> None:
    ours = [
        f"{event['type']} {event['reason']} {event['involvedObject']['kind'].lower()}/"
        f"{event['involvedObject']['name']} {event['message']}"
        for event in whole.world.client.list("events", "demo")
    ]
    theirs = [
        line.partition(" ")[2].strip()
        for line in recorded("kubectl get events -n demo", 1).splitlines()
        if " replicaset/web-" in line or " deployment/web " in line
    ]
    assert lines("\n".join(ours)) == lines("\n".join(theirs))


def test_the_session_ends_where_the_recording_ends(whole: Session) -> None:
    status = whole.deployment["status"]
    assert (status["replicas"], status["updatedReplicas"], status["availableReplicas"]) == (2, 2, 2)
    assert whole.deployment["metadata"]["annotations"][REVISION] == "9"
    # The last template but one, which was restarted at the recorded second, is in use again.
    sizes = {
        one["metadata"]["name"]: one["spec"]["replicas"]
        for one in whole.world.named("replicasets.apps/web-*")
    }
    assert sizes == {
        "web-58899f8dbc": 0,
        "web-5cbd4487d7": 0,
        "web-69bc7d9ff9": 0,
        "web-58bf8b9c99": 0,
        "web-7bc7f4d9cc": 0,
        "web-7c886988c7": 2,
        "web-67bbcb5f87": 0,
    }
