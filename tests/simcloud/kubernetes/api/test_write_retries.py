"""Writes that wait: tried again with the answers there are, drawing nothing twice."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import Conflict
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.write_retries import Pending, ResponsePending, WriteRetry


class Oracle:
    """A network on which answers come when the test says so."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.asked: list[tuple[Pending, Object]] = []

    def call(self, url: str, client_config: Object, review: Object, timeout_s: int) -> Pending:
        pending = Pending(self._api.kernel)
        self.asked.append((pending, review["request"]))
        return pending

    def allow(self) -> None:
        """Answer the last question."""
        pending, request = self.asked[-1]
        pending.give({"response": {"uid": request["uid"], "allowed": True}})


@pytest.fixture
def oracle(api: Api) -> Oracle:
    webhook = {
        "name": "a.example.com",
        "clientConfig": {"url": "https://elsewhere.example.com/ask"},
        "rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    kind = api.catalogue.find("validatingwebhookconfigurations", "admissionregistration.k8s.io")
    api.create(kind, "", {"metadata": {"name": "hooks"}, "webhooks": [webhook]})
    api.webhooks = network = Oracle(api)
    return network


def test_a_creation_keeps_what_webhooks_have_seen(api: Api, oracle: Oracle) -> None:
    configs = api.catalogue.find("configmaps")
    retry = WriteRetry()

    def make() -> Object:
        return api.create(configs, "default", {"metadata": {"generateName": "c-"}})

    for _ in range(2):
        with pytest.raises(ResponsePending):
            retry.attempt(api, make)
        oracle.allow()
        made = retry.attempt(api, make)
        seen = oracle.asked[-1][1]["object"]["metadata"]
        assert (made["metadata"]["name"], made["metadata"]["uid"]) == (seen["name"], seen["uid"])
    assert len(oracle.asked) == 2, "the second of two equal writes asks for itself"
    names = [one["metadata"]["name"] for one in api.log.objects("", "configmaps", "default")]
    assert len(set(names)) == 2


def test_an_object_that_changed_meanwhile_is_asked_about_again(api: Api, oracle: Oracle) -> None:
    configs = api.catalogue.find("configmaps")
    data = {"metadata": {"name": "c"}}
    retry = WriteRetry()
    with pytest.raises(ResponsePending):
        retry.attempt(api, lambda: api.create(configs, "default", data))
    oracle.allow()
    stored = retry.attempt(api, lambda: api.create(configs, "default", data))
    changed = {**stored, "data": {"a": "b"}}
    late = WriteRetry()
    with pytest.raises(ResponsePending):
        late.attempt(api, lambda: api.update(configs, "default", "c", changed))
    first = WriteRetry()
    other = {**stored, "data": {"x": "y"}}
    with pytest.raises(ResponsePending):
        first.attempt(api, lambda: api.update(configs, "default", "c", other))
    oracle.allow()
    first.attempt(api, lambda: api.update(configs, "default", "c", other))
    with pytest.raises(Conflict):
        late.attempt(api, lambda: api.update(configs, "default", "c", changed))
