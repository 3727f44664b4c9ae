"""Admission webhooks: who is asked, what becomes of the answer, and of no answer."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from simcloud.kubernetes.api.admission.webhooks import CallFailed
from tests.simcloud.kubernetes.api.admission.conftest import World, pod

GROUP = "admissionregistration.k8s.io"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}


class Answering:
    """A network on which every webhook gives an answer made from the request."""

    def __init__(self, answer: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
        self._answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def call(self, url: str, client_config: dict[str, Any], review: dict[str, Any], timeout_s: int) -> Any:
        self.asked.append((url, review))
        return {"response": {"uid": review["request"]["uid"], **self._answer(url, review["request"])}}


def patch(*operations: dict[str, Any]) -> dict[str, Any]:
    encoded = base64.b64encode(msgspec.json.encode(list(operations))).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def hook(world: World, kind: str = "validating", name: str = "hooks", **more: Any) -> None:
    service = {"name": "judge", "namespace": "demo", "path": "/ask"}
    webhook = {
        "name": f"{name}.example.com",
        "clientConfig": {"service": service},
        "rules": [RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
    data = {"metadata": {"name": name}, "webhooks": [webhook]}
    world.create(f"{kind}webhookconfigurations.{GROUP}", data, "")


CONFIG = {"metadata": {"name": "c"}, "data": {"a": "b"}}
POST = 'failed calling webhook "hooks.example.com": failed to call webhook: Post "https://judge.demo.svc:443/ask?timeout=10s": '


@pytest.mark.parametrize("kind", ["validating", "mutating"])
def test_a_configuration_left_behind_breaks_writes(world: World, kind: str) -> None:
    hook(world, kind)
    refused = world.refusal("configmaps", CONFIG)
    assert refused.message == f'Internal error occurred: {POST}service "judge" not found'
    assert (refused.code, refused.reason) == (500, "InternalError")
    made = world.create("services", {"metadata": {"name": "judge"}, "spec": {"ports": [{"port": 443}]}})
    address = made["spec"]["clusterIP"]
    assert world.refusal("configmaps", CONFIG).message == (
        f"Internal error occurred: {POST}dial tcp {address}:443: connect: connection refused"
    )
    world.create("secrets", {"metadata": {"name": "unconcerned"}})


def test_a_failure_may_be_ignored(world: World) -> None:
    hook(world, failurePolicy="Ignore")
    world.create("configmaps", CONFIG)


def test_words_of_the_network_are_told(world: World) -> None:
    class Slow:
        def call(self, *_: Any) -> Any:
            raise CallFailed("context deadline exceeded")

    hook(world, timeoutSeconds=3)
    world.api.webhooks = Slow()
    assert world.refusal("configmaps", CONFIG).message.endswith(
        'Post "https://judge.demo.svc:443/ask?timeout=3s": context deadline exceeded'
    )


def test_a_refusal_is_told(world: World) -> None:
    hook(world)
    world.api.webhooks = Answering(
        lambda *_: {"allowed": False, "status": {"message": "not today", "code": 403}}
    )
    refused = world.refusal("configmaps", CONFIG)
    assert refused.message == 'admission webhook "hooks.example.com" denied the request: not today'
    assert refused.code == 403
    world.api.webhooks = Answering(lambda *_: {"allowed": False})
    refused = world.refusal("configmaps", CONFIG)
    assert refused.message == 'admission webhook "hooks.example.com" denied the request without explanation'
    assert refused.code == 400


def test_the_request_tells_everything(world: World) -> None:
    hook(world)
    world.api.webhooks = network = Answering(lambda *_: {"allowed": True, "warnings": ["beware"]})
    world.create("configmaps", CONFIG)
    assert world.warnings == ["beware"]
    ((_, review),) = network.asked
    request = review["request"]
    assert review["apiVersion"] == "admission.k8s.io/v1"
    assert request["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert request["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert (request["name"], request["namespace"], request["operation"]) == ("c", "demo", "CREATE")
    assert request["object"]["data"] == {"a": "b"}
    assert request["oldObject"] is None
    assert request["userInfo"]["username"] == "kubernetes-admin"
    assert request["dryRun"] is False


def test_patches_are_applied_in_order_and_seen_by_the_next(world: World) -> None:
    hook(world, "mutating", "a")
    hook(world, "mutating", "b")

    def answer(url: str, request: dict[str, Any]) -> dict[str, Any]:
        seen = len(request["object"]["data"])
        return patch({"op": "add", "path": f"/data/k{seen}", "value": "v"})

    world.api.webhooks = Answering(answer)
    assert world.create("configmaps", CONFIG)["data"] == {"a": "b", "k1": "v", "k2": "v"}


def test_who_wants_is_asked_again(world: World) -> None:
    hook(world, "mutating", "a", reinvocationPolicy="IfNeeded")
    hook(world, "mutating", "b")
    world.api.webhooks = network = Answering(lambda *_: patch({"op": "add", "path": "/data/x", "value": "y"}))
    world.create("configmaps", CONFIG)
    assert len(network.asked) == 3


def test_a_dry_run_asks_harmless_webhooks(world: World) -> None:
    hook(world)
    world.api.webhooks = network = Answering(lambda *_: {"allowed": True})
    world.create("configmaps", CONFIG, dry_run=True)
    ((_, review),) = network.asked
    assert review["request"]["dryRun"] is True
    assert review["request"]["options"]["dryRun"] == ["All"]


def test_an_answer_to_another_question_is_none(world: World) -> None:
    hook(world)
    world.api.webhooks = Answering(lambda *_: {"allowed": True, "uid": "other"})
    assert (
        "received invalid webhook response: expected response.uid="
        in world.refusal("configmaps", CONFIG).message
    )


def test_conditions_and_selectors_choose(world: World) -> None:
    hook(world, matchConditions=[{"name": "n", "expression": "object.metadata.name == 'x'"}])
    hook(world, name="other", objectSelector={"matchLabels": {"a": "b"}})
    world.create("configmaps", CONFIG)


def test_an_eviction_is_asked_about_as_such_and_not_as_a_deletion(world: World) -> None:
    everything = {**RULE, "operations": ["CREATE", "DELETE"], "resources": ["pods", "pods/eviction"]}
    hook(world, rules=[everything])
    world.api.webhooks = network = Answering(lambda *_: {"allowed": True})
    pods = world.api.catalogue.find("pods")
    world.create("pods", pod("a"))
    world.create("pods", pod("b"))
    world.api.subresource("create", pods, "demo", "a", "eviction", {"metadata": {"name": "a"}})
    world.api.delete(pods, "demo", "b")
    asked = [review["request"] for _, review in network.asked]
    assert [(one["operation"], one["kind"]["kind"], one["name"]) for one in asked] == [
        ("CREATE", "Pod", "a"),
        ("CREATE", "Pod", "b"),
        ("CREATE", "Eviction", "a"),
        ("DELETE", "Pod", "b"),
    ]
    assert asked[3]["object"] is None
    assert asked[3]["oldObject"]["metadata"]["name"] == "b"
