"""Who may do what, by roles and bindings, and how a refusal is worded."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.rbac import Authorizer, Decision, forbidden
from simcloud.kubernetes.api.access.users import (
    ANONYMOUS,
    SYSTEM_MASTERS,
    User,
    service_account_user,
)
from simcloud.kubernetes.api.errors import ApiError
from tests.simcloud.kubernetes.api.access.conftest import Policy, account, group_named, rule, user_named
from tests.simcloud.kubernetes.api.conftest import node_user

JANE = User("jane", groups=("dev", "system:authenticated"))


def wish(verb: str, what: str, user: User = JANE, namespace: str = "", name: str = "") -> Attributes:
    """``get pods``, ``get pods/log``, ``list deployments.apps``."""
    resource, _, subresource = what.partition("/")
    plural, _, group = resource.partition(".")
    return Attributes(user, verb, group, "v1", plural, subresource, namespace, name)


@pytest.mark.parametrize(
    ("told", "asked", "allowed"),
    [
        (rule("get", "pods"), wish("get", "pods"), True),
        (rule("get", "pods"), wish("list", "pods"), False),
        (rule("get", "pods"), wish("get", "pods/log"), False),
        (rule("get", "pods/log"), wish("get", "pods/log"), True),
        (rule("get", "pods/log"), wish("get", "pods"), False),
        (rule("*", "pods"), wish("explode", "pods"), True),
        (rule("get", "*"), wish("get", "pods/log"), True),
        (rule("get", "*/scale", "*"), wish("get", "deployments.apps/scale"), True),
        (rule("get", "*/scale", "*"), wish("get", "deployments.apps"), False),
        (rule("get", "*/scale", "*"), wish("get", "deployments.apps/status"), False),
        (rule("get", "deployments", "apps"), wish("get", "deployments.apps"), True),
        (rule("get", "deployments", "core"), wish("get", "deployments.apps"), False),
        (rule("get", "pods", "core", "a b"), wish("get", "pods", name="b"), True),
        (rule("get", "pods", "core", "a b"), wish("get", "pods", name="c"), False),
        (rule("list", "pods", "core", "a"), wish("list", "pods"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["/healthz"]}, Attributes(JANE, "get", path="/healthz"), True),
        (
            {"verbs": ["get"], "nonResourceURLs": ["/healthz"]},
            Attributes(JANE, "get", path="/healthz/x"),
            False,
        ),
        (
            {"verbs": ["get"], "nonResourceURLs": ["/apis/*"]},
            Attributes(JANE, "get", path="/apis/apps"),
            True,
        ),
        ({"verbs": ["get"], "nonResourceURLs": ["/apis/*"]}, Attributes(JANE, "get", path="/apis"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, Attributes(JANE, "get", path="/metrics"), True),
        (rule("*", "*", "*"), Attributes(JANE, "get", path="/metrics"), False),
        ({"verbs": ["*"], "nonResourceURLs": ["*"]}, wish("get", "pods"), False),
    ],
)
def test_a_rule_allows_what_it_says(policy: Policy, told: dict, asked: Attributes, allowed: bool) -> None:
    policy.role("r", told)
    policy.bind("b", "r", user_named("jane"))
    assert Authorizer(policy).authorize(asked).allowed is allowed


@pytest.mark.parametrize(
    ("subject", "user", "told"),
    [
        (user_named("jane"), JANE, 'User "jane"'),
        (group_named("dev"), JANE, 'Group "dev"'),
        (account("demo", "sa1"), service_account_user("demo", "sa1"), 'ServiceAccount "sa1/demo"'),
        (
            group_named("system:serviceaccounts:demo"),
            service_account_user("demo", "x"),
            'Group "system:serviceaccounts:demo"',
        ),
    ],
)
def test_a_cluster_binding_names_its_subject(policy: Policy, subject: dict, user: User, told: str) -> None:
    policy.role("reader", rule("get", "pods"))
    policy.bind("readers", "reader", user_named("somebody"), subject)
    decision = Authorizer(policy).authorize(wish("get", "pods", user, "demo"))
    expected = f'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to {told}'
    assert decision == Decision(True, expected)


def test_a_role_binding_counts_in_its_namespace_only(policy: Policy) -> None:
    policy.role("reader", rule("get", "pods"), namespace="demo")
    policy.role("lister", rule("list", "pods"))
    policy.bind("b", "reader", account("", "sa1"), namespace="demo")
    policy.bind("c", "lister", account("", "sa1"), namespace="demo", kind="ClusterRole")
    authorizer, user = Authorizer(policy), service_account_user("demo", "sa1")
    assert authorizer.authorize(wish("get", "pods", user, "demo")) == Decision(
        True, 'RBAC: allowed by RoleBinding "b/demo" of Role "reader" to ServiceAccount "sa1/demo"'
    )
    assert authorizer.authorize(wish("list", "pods", user, "demo")).allowed
    assert not authorizer.authorize(wish("get", "pods", user, "other")).allowed
    assert not authorizer.authorize(wish("get", "pods", user)).allowed
    assert not authorizer.authorize(wish("get", "pods", service_account_user("other", "sa1"), "demo")).allowed


def test_the_first_subject_that_fits_is_told_of(policy: Policy) -> None:
    policy.role("r", rule("get", "pods"))
    policy.bind("b", "r", group_named("dev"), user_named("jane"))
    assert Authorizer(policy).authorize(wish("get", "pods")).reason.endswith('to Group "dev"')


def test_masters_may_do_everything_without_any_policy(policy: Policy) -> None:
    authorizer = Authorizer(policy)
    assert authorizer.authorize(wish("delete", "nodes", SYSTEM_MASTERS)) == Decision(True)
    assert not authorizer.authorize(wish("get", "pods", ANONYMOUS)).allowed


def test_missing_roles_are_told(policy: Policy) -> None:
    policy.bind("a", "gone", user_named("jane"))
    authorizer = Authorizer(policy)
    one = 'clusterrole.rbac.authorization.k8s.io "gone" not found'
    assert authorizer.authorize(wish("get", "pods")) == Decision(False, f"RBAC: {one}")
    policy.bind("b", "gone", user_named("jane"), namespace="demo")
    decision = authorizer.authorize(wish("get", "pods", namespace="demo"))
    assert decision.reason == f'RBAC: [{one}, role.rbac.authorization.k8s.io "gone" not found]'


def test_a_change_of_policy_counts_at_once_and_nothing_is_read_twice(policy: Policy) -> None:
    authorizer = Authorizer(policy)
    asked = wish("get", "pods", namespace="demo")
    assert not authorizer.authorize(asked).allowed
    policy.role("r", rule("get", "pods"))
    policy.bind("b", "r", user_named("jane"))
    assert authorizer.authorize(asked).allowed
    reads = policy.lists
    for _ in range(3):
        authorizer.authorize(asked)
    assert policy.lists == reads
    policy.remove("clusterrolebindings", "", "b")
    assert not authorizer.authorize(asked).allowed


@pytest.mark.parametrize(
    ("asked", "message", "details"),
    [
        (
            wish("list", "pods", service_account_user("demo", "sa1"), "demo"),
            'pods is forbidden: User "system:serviceaccount:demo:sa1" cannot list resource "pods" '
            'in API group "" in the namespace "demo"',
            {"kind": "pods"},
        ),
        (
            wish("list", "nodes"),
            'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
            {"kind": "nodes"},
        ),
        (
            wish("get", "pods/log", namespace="demo", name="web"),
            'pods "web" is forbidden: User "jane" cannot get resource "pods/log" '
            'in API group "" in the namespace "demo"',
            {"name": "web", "kind": "pods"},
        ),
        (
            wish("delete", "deployments.apps", namespace="demo", name="web"),
            'deployments.apps "web" is forbidden: User "jane" cannot delete resource "deployments" '
            'in API group "apps" in the namespace "demo"',
            {"name": "web", "group": "apps", "kind": "deployments"},
        ),
        (
            Attributes(ANONYMOUS, "get", path="/metrics"),
            'forbidden: User "system:anonymous" cannot get path "/metrics"',
            {},
        ),
    ],
)
def test_refusals_are_worded_as_the_genuine_ones(
    policy: Policy, asked: Attributes, message: str, details: dict
) -> None:
    with pytest.raises(ApiError) as refused:
        Authorizer(policy).check(asked)
    status = refused.value.status()
    assert (status["message"], status["reason"], status["code"]) == (message, "Forbidden", 403)
    assert status["details"] == details


def test_a_refusal_tells_the_reason(policy: Policy) -> None:
    policy.bind("a", "gone", user_named("jane"))
    told = ': RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'
    for asked in (wish("get", "pods"), Attributes(JANE, "get", path="/x")):
        with pytest.raises(ApiError) as refused:
            Authorizer(policy).check(asked)
        assert refused.value.message.endswith(told)


@pytest.mark.parametrize(
    ("asked", "allowed", "reason"),
    [
        (wish("get", "nodes", node_user("n1"), name="n1"), True, ""),
        (
            wish("get", "nodes", node_user("n1"), name="n2"),
            False,
            "node 'n1' cannot read 'n2', only its own Node object",
        ),
        (
            wish("list", "nodes", node_user("n1")),
            False,
            "node 'n1' cannot read all nodes, only its own Node object",
        ),
        (wish("update", "leases.coordination.k8s.io", node_user("n1"), "kube-node-lease", "n1"), True, ""),
        (
            wish("update", "leases.coordination.k8s.io", node_user("n1"), "kube-node-lease", "n2"),
            False,
            "can only access node lease with the same name as the requesting node",
        ),
        (
            wish("get", "leases.coordination.k8s.io", node_user("n1"), "kube-system", "n1"),
            False,
            'can only access leases in the "kube-node-lease" system namespace',
        ),
        (wish("list", "secrets", node_user("n1")), False, "No Object name found"),
        (wish("get", "secrets", node_user("n1"), "demo", "s"), True, ""),
        (wish("delete", "deployments.apps", node_user("n1"), "demo", "d"), False, ""),
        (
            wish("get", "pods", User("system:node:", groups=("system:nodes",)), "demo"),
            False,
            'unknown node for user "system:node:"',
        ),
        (wish("get", "pods", User("system:node:n1"), "demo"), False, ""),
    ],
)
def test_nodes_have_their_own_rules(policy: Policy, asked: Attributes, allowed: bool, reason: str) -> None:
    policy.role("system:node", rule("get list watch", "pods nodes secrets configmaps"))
    assert Authorizer(policy).authorize(asked) == Decision(allowed, reason)


texts = st.sampled_from(
    ["", "*", "pods", "pods/log", "*/log", "get", "/x*", "jane", "dev", "demo"]
) | st.text(max_size=5)
told_rules = st.dictionaries(
    st.sampled_from(["verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"]),
    st.lists(texts, max_size=3) | st.none(),
)
subjects = st.fixed_dictionaries(
    {"kind": st.sampled_from(["User", "Group", "ServiceAccount", "Other"]), "name": texts},
    optional={"namespace": texts},
)
wishes = st.builds(
    Attributes,
    st.builds(User, texts, groups=st.tuples(texts, texts)),
    *[texts] * 7,
    path=texts | st.none(),
)


@given(st.lists(told_rules, max_size=3), st.lists(subjects, max_size=3), wishes)
def test_any_policy_gives_an_answer(told: list, named: list, asked: Attributes) -> None:
    policy = Policy()
    policy.role("r", *told)
    policy.bind("b", "r", *named)
    policy.bind("b", "r", *named, namespace="demo", kind="ClusterRole")
    authorizer = Authorizer(policy)
    decision = authorizer.authorize(asked)
    assert decision == authorizer.authorize(asked) == Authorizer(policy).authorize(asked)
    if decision.allowed and "system:masters" not in asked.user.groups:
        assert decision.reason.startswith("RBAC: allowed by ")
    forbidden(asked, decision.reason).status()
