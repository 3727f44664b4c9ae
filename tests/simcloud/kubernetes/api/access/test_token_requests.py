"""The token subresource: defaults, limits and what a token may be bound to."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.access.token_requests import create_token_request
from simcloud.kubernetes.api.access.tokens import DEFAULT_ISSUER, Tokens
from simcloud.kubernetes.api.errors import ApiError
from tests.simcloud.kubernetes.api.access.conftest import Policy
from tests.simcloud.kubernetes.api.access.test_tokens import ACCOUNT, JTI, KEY, NODE, NOW_S, claims

POD = {
    "metadata": {"name": "web", "namespace": "demo", "uid": "u-2"},
    "spec": {"serviceAccountName": "sa1", "nodeName": "n1"},
}


@pytest.fixture
def cluster(policy: Policy) -> Policy:
    policy.put("serviceaccounts", ACCOUNT)
    policy.put("pods", POD)
    policy.put("pods", {"metadata": {"name": "other", "namespace": "demo", "uid": "u-4"}, "spec": {}})
    policy.put("secrets", {"metadata": {"name": "s", "namespace": "demo", "uid": "u-5"}})
    policy.put("nodes", NODE)
    return policy


def ask(cluster: Policy, request: dict) -> dict:
    return create_token_request(
        ACCOUNT, request, tokens=Tokens(KEY, cluster), reader=cluster, now_s=NOW_S, token_id=JTI
    )


def bound_to(kind: str, name: str, **more: str) -> dict:
    return {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name, **more}}}


def test_an_empty_request_gets_the_defaults(cluster: Policy) -> None:
    answer = ask(cluster, {"metadata": {}, "spec": {}})
    token = answer["status"].pop("token")
    assert answer == {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": "sa1", "namespace": "demo", "creationTimestamp": "2026-11-06T21:20:00Z"},
        "spec": {"audiences": [DEFAULT_ISSUER], "expirationSeconds": 3600, "boundObjectRef": None},
        "status": {"expirationTimestamp": "2026-11-06T22:20:00Z"},
    }
    assert Tokens(KEY, cluster).authenticate(token, NOW_S) is not None


def test_audiences_and_lifetime_are_honoured(cluster: Policy) -> None:
    answer = ask(cluster, {"spec": {"audiences": ["vault"], "expirationSeconds": 600}})
    told = claims(answer["status"]["token"])
    assert (told["aud"], told["exp"] - told["iat"]) == (["vault"], 600)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (599, "may not specify a duration less than 10 minutes"),
        (0, "may not specify a duration less than 10 minutes"),
        (2**32 + 1, "may not specify a duration larger than 2^32 seconds"),
    ],
)
def test_a_lifetime_out_of_bounds(cluster: Policy, seconds: int, told: str) -> None:
    with pytest.raises(ApiError) as refused:
        ask(cluster, {"spec": {"expirationSeconds": seconds}})
    assert refused.value.message == (
        f'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: {seconds}: {told}'
    )


@pytest.mark.parametrize("field", ["name", "namespace"])
def test_the_request_may_not_speak_of_another_account(cluster: Policy, field: str) -> None:
    with pytest.raises(ApiError) as refused:
        ask(cluster, {"metadata": {field: "x"}, "spec": {}})
    assert refused.value.message == (
        'TokenRequest.authentication.k8s.io "sa1" is invalid: '
        f'metadata.{field}: Invalid value: "x": must match the service account {field} if specified'
    )


def test_a_mounted_token_lives_a_year_and_tells_its_node(cluster: Policy) -> None:
    request = bound_to("Pod", "web", uid="u-2")
    request["spec"]["expirationSeconds"] = 3607
    answer = ask(cluster, request)
    told = claims(answer["status"]["token"])
    assert told["exp"] - told["iat"] == 31536000
    assert told["kubernetes.io"]["warnafter"] - told["iat"] == 3607
    assert told["kubernetes.io"]["node"] == {"name": "n1", "uid": "u-3"}
    assert answer["status"]["expirationTimestamp"] == "2026-11-06T22:20:07Z"


def test_a_pod_on_a_node_that_is_not_there_tells_its_name(cluster: Policy) -> None:
    cluster.remove("nodes", "", "n1")
    told = claims(ask(cluster, bound_to("Pod", "web"))["status"]["token"])
    assert told["kubernetes.io"]["node"] == {"name": "n1"}
    assert "warnafter" not in told["kubernetes.io"]


@pytest.mark.parametrize(("kind", "name", "part"), [("Secret", "s", "secret"), ("Node", "n1", "node")])
def test_other_objects_to_bind_to(cluster: Policy, kind: str, name: str, part: str) -> None:
    token = ask(cluster, bound_to(kind, name))["status"]["token"]
    assert claims(token)["kubernetes.io"][part]["name"] == name
    assert Tokens(KEY, cluster).authenticate(token, NOW_S) is not None


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        (
            bound_to("Pod", "other"),
            400,
            'cannot bind token for serviceaccount "sa1" to pod running with different serviceaccount name.',
        ),
        (bound_to("Pod", "gone"), 404, 'pods "gone" not found'),
        (
            bound_to("Deployment", "x", apiVersion="apps/v1"),
            400,
            "cannot bind token to object of type apps/v1, Kind=Deployment",
        ),
        (bound_to("Service", "x"), 400, "cannot bind token to object of type /v1, Kind=Service"),
        (
            bound_to("Secret", "s", uid="u-9"),
            409,
            'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (u-9) does not match '
            "the UID in record. The object might have been deleted and then recreated",
        ),
    ],
)
def test_what_a_token_cannot_be_bound_to(cluster: Policy, request_: dict, code: int, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        ask(cluster, request_)
    assert (refused.value.code, refused.value.message) == (code, message)
