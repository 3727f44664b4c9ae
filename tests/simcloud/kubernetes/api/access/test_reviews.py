"""Reviews answer who may do what, who one is, and whose a token is."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.access.rbac import Authorizer
from simcloud.kubernetes.api.access.reviews import Desk, review
from simcloud.kubernetes.api.access.tokens import DEFAULT_ISSUER, Tokens
from simcloud.kubernetes.api.access.users import SYSTEM_MASTERS, User
from simcloud.kubernetes.api.errors import ApiError
from tests.simcloud.kubernetes.api.access.conftest import Policy, group_named, rule, user_named
from tests.simcloud.kubernetes.api.access.test_tokens import ACCOUNT, JTI, KEY, NOW_S
from tests.simcloud.kubernetes.api.conftest import node_user

JANE = User("jane", "7", ("dev", "system:authenticated"))
ALLOWED = 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "jane"'


@pytest.fixture
def cluster(policy: Policy) -> Policy:
    policy.role("r", rule("get list", "pods"), {"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*"]})
    policy.bind("b", "r", user_named("jane"))
    policy.put("serviceaccounts", ACCOUNT)
    return policy


def answered(
    cluster: Policy, kind: str, spec: dict, user: User = JANE, namespace: str = "", **more: object
) -> dict:
    desk = Desk(user, Authorizer(cluster), Tokens(KEY, cluster, {"t": SYSTEM_MASTERS}), NOW_S, namespace)
    return review(kind, {"metadata": {}, "spec": spec, **more}, desk)


def refusal(cluster: Policy, kind: str, spec: dict, namespace: str = "", **more: object) -> tuple[int, str]:
    with pytest.raises(ApiError) as refused:
        answered(cluster, kind, spec, JANE, namespace, **more)
    return refused.value.code, refused.value.message


def on(verb: str, resource: str, **more: str) -> dict:
    return {"verb": verb, "resource": resource, **more}


def test_may_i(cluster: Policy) -> None:
    spec = {"resourceAttributes": on("list", "pods", namespace="demo")}
    assert answered(cluster, "SelfSubjectAccessReview", spec) == {
        "metadata": {},
        "spec": spec,
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "status": {"allowed": True, "reason": ALLOWED},
    }
    spec = {"resourceAttributes": on("get", "pods", subresource="log")}
    assert answered(cluster, "SelfSubjectAccessReview", spec)["status"] == {"allowed": False}
    spec = {"nonResourceAttributes": {"verb": "get", "path": "/api/v1"}}
    assert answered(cluster, "SelfSubjectAccessReview", spec)["status"]["allowed"]


def test_may_somebody(cluster: Policy) -> None:
    question = {"resourceAttributes": on("get", "pods")}
    assert answered(cluster, "SubjectAccessReview", {**question, "user": "jane"})["status"]["allowed"]
    assert not answered(cluster, "SubjectAccessReview", {**question, "user": "bob"})["status"]["allowed"]
    cluster.bind("c", "r", group_named("ops"))
    spec = {**question, "groups": ["ops"], "extra": {"Scopes": ["x"]}, "uid": "1"}
    assert answered(cluster, "SubjectAccessReview", spec)["status"]["allowed"]


def test_an_unresolved_binding_is_the_reason(cluster: Policy) -> None:
    cluster.bind("broken", "gone", user_named("bob"))
    spec = {"user": "bob", "resourceAttributes": on("get", "pods")}
    assert answered(cluster, "SubjectAccessReview", spec)["status"] == {
        "allowed": False,
        "reason": 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    }


def test_may_somebody_here(cluster: Policy) -> None:
    spec = {"user": "jane", "resourceAttributes": on("get", "pods", namespace="demo")}
    answer = answered(cluster, "LocalSubjectAccessReview", spec, namespace="demo")
    assert (answer["status"]["allowed"], answer["metadata"]) == (True, {"namespace": "demo"})


INVALID = '.authorization.k8s.io "" is invalid: '


@pytest.mark.parametrize(
    ("kind", "spec", "told"),
    [
        (
            "SelfSubjectAccessReview",
            {},
            "spec.resourceAttributes: Invalid value: null: "
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        (
            "SelfSubjectAccessReview",
            {"resourceAttributes": {}, "nonResourceAttributes": {"path": "/x"}},
            'spec.nonResourceAttributes: Invalid value: {"path":"/x"}: '
            "cannot be specified in combination with resourceAttributes",
        ),
        (
            "SubjectAccessReview",
            {"resourceAttributes": {}},
            'spec.user: Invalid value: "": at least one of user or group must be specified',
        ),
        (
            "LocalSubjectAccessReview",
            {"user": "u", "resourceAttributes": {"namespace": "other"}},
            'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
        ),
        (
            "LocalSubjectAccessReview",
            {"user": "u", "nonResourceAttributes": {"path": "/x"}},
            'spec.nonResourceAttributes: Invalid value: {"path":"/x"}: disallowed on this kind of request',
        ),
    ],
)
def test_questions_that_make_no_sense(cluster: Policy, kind: str, spec: dict, told: str) -> None:
    namespace = "demo" if kind.startswith("Local") else ""
    assert refusal(cluster, kind, spec, namespace) == (422, f"{kind}{INVALID}{told}")


def test_reviews_have_no_names(cluster: Policy) -> None:
    spec = {"user": "u", "resourceAttributes": {"namespace": "demo"}}
    code, message = refusal(cluster, "SubjectAccessReview", spec, metadata={"name": "x"})
    assert (code, message) == (
        422,
        f'SubjectAccessReview{INVALID}metadata: Invalid value: {{"name":"x"}}: must be empty',
    )
    code, message = refusal(cluster, "LocalSubjectAccessReview", spec, "demo", metadata={"name": "x"})
    assert message.endswith("must be empty except for namespace")
    code, message = refusal(cluster, "LocalSubjectAccessReview", spec, "demo", metadata={"namespace": "x"})
    assert (code, message) == (
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    )


def test_what_may_i(cluster: Policy) -> None:
    cluster.role("named", rule("update", "pods", "core", "web"), namespace="demo")
    cluster.bind("named", "named", user_named("jane"), namespace="demo")
    answer = answered(cluster, "SelfSubjectRulesReview", {"namespace": "demo"})
    assert answer == {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {},
        "status": {
            "resourceRules": [
                {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]},
                {"verbs": ["update"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["web"]},
            ],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*"]}],
            "incomplete": False,
        },
    }
    assert refusal(cluster, "SelfSubjectRulesReview", {}) == (400, "no namespace on request")


def test_what_may_i_with_gaps(cluster: Policy) -> None:
    cluster.bind("broken", "gone", user_named("jane"))
    status = answered(cluster, "SelfSubjectRulesReview", {"namespace": "demo"})["status"]
    gone = 'clusterrole.rbac.authorization.k8s.io "gone" not found'
    assert (status["incomplete"], status["evaluationError"]) == (False, gone)
    status = answered(cluster, "SelfSubjectRulesReview", {"namespace": "demo"}, node_user("n"))["status"]
    assert status["incomplete"]
    assert status["evaluationError"] == "node authorizer does not support user rule resolution"


def test_who_am_i(cluster: Policy) -> None:
    assert answered(cluster, "SelfSubjectReview", {}) == {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": "2026-11-06T21:20:00Z"},
        "status": {"userInfo": {"username": "jane", "uid": "7", "groups": ["dev", "system:authenticated"]}},
    }


def test_whose_token_is_this(cluster: Policy) -> None:
    token = Tokens(KEY, cluster).issue(ACCOUNT, now_s=NOW_S, expires_s=600, token_id=JTI)
    answer = answered(cluster, "TokenReview", {"token": token})
    assert answer["status"] == {
        "authenticated": True,
        "user": {
            "username": "system:serviceaccount:demo:sa1",
            "uid": "u-1",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:demo", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={JTI}"]},
        },
        "audiences": [DEFAULT_ISSUER],
    }
    assert (
        answered(cluster, "TokenReview", {"token": "t"})["status"]["user"]["username"] == "kubernetes-admin"
    )


def test_nobodys_token(cluster: Policy) -> None:
    status = answered(cluster, "TokenReview", {"token": "x"})["status"]
    assert status == {"user": {}, "error": "invalid bearer token"}
    assert refusal(cluster, "TokenReview", {}) == (400, "token is required for TokenReview in authentication")


def test_the_question_is_left_as_it_was(cluster: Policy) -> None:
    asked = {"metadata": {}, "spec": {"resourceAttributes": on("get", "pods")}}
    desk = Desk(JANE, Authorizer(cluster), Tokens(KEY, cluster), NOW_S)
    review("SelfSubjectAccessReview", asked, desk)
    assert asked == {"metadata": {}, "spec": {"resourceAttributes": on("get", "pods")}}
