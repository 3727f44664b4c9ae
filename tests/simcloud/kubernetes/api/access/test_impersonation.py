"""The Impersonate headers: who may act as whom, and who they are then."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.impersonation import impersonate
from simcloud.kubernetes.api.access.rbac import Authorizer
from simcloud.kubernetes.api.access.users import SYSTEM_MASTERS, User, service_account_user
from simcloud.kubernetes.api.errors import ApiError, BadRequest, Forbidden
from tests.simcloud.kubernetes.api.access.conftest import Policy, account, rule, user_named

JANE = User("jane", groups=("system:authenticated",))


def acting(headers: dict[str, list[str]], policy: Policy | None = None, user: User = SYSTEM_MASTERS) -> User:
    """Who a request to list the pods of demo acts as."""
    wish = Attributes(user, "list", "", "v1", "pods", namespace="demo")
    return impersonate(wish, headers, Authorizer(policy or Policy()))


def test_without_headers_everybody_is_themselves() -> None:
    assert acting({"Accept": ["*/*"]}, user=JANE) is JANE


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Impersonate-User": ["bob"]}, User("bob", groups=("system:authenticated",))),
        (
            {"Impersonate-User": ["bob"], "Impersonate-Group": ["a", "b"]},
            User("bob", groups=("a", "b", "system:authenticated")),
        ),
        (
            {"Impersonate-User": ["bob"], "Impersonate-Group": ["system:unauthenticated"]},
            User("bob", groups=("system:unauthenticated",)),
        ),
        (
            {"Impersonate-User": ["system:anonymous"]},
            User("system:anonymous", groups=("system:unauthenticated",)),
        ),
        (
            {"impersonate-user": ["system:serviceaccount:demo:sa1"]},
            User(
                "system:serviceaccount:demo:sa1",
                groups=("system:serviceaccounts", "system:serviceaccounts:demo", "system:authenticated"),
            ),
        ),
        (
            {"Impersonate-User": ["system:serviceaccount:demo:sa1"], "Impersonate-Group": ["g"]},
            User("system:serviceaccount:demo:sa1", groups=("g", "system:authenticated")),
        ),
        (
            {"Impersonate-User": ["system:node:n1"]},
            User("system:node:n1", groups=("system:nodes", "system:authenticated")),
        ),
        (
            {"Impersonate-User": ["system:node:N_1"]},
            User("system:node:N_1", groups=("system:authenticated",)),
        ),
        (
            {"Impersonate-User": ["bob"], "Impersonate-Group": ["system:masters"]},
            User("bob", groups=("system:masters", "system:authenticated")),
        ),
        (
            {
                "Impersonate-User": ["bob"],
                "Impersonate-Uid": ["42"],
                "Impersonate-Extra-Acme.com%2fProject": ["x", "y"],
                "Impersonate-Extra-Scopes%zz": ["z"],
            },
            User(
                "bob", "42", ("system:authenticated",), {"acme.com/project": ("x", "y"), "scopes%zz": ("z",)}
            ),
        ),
    ],
)
def test_who_one_becomes(headers: dict[str, list[str]], expected: User) -> None:
    assert acting(headers) == expected


DENIED = 'pods is forbidden: User "jane" cannot impersonate-on:{}:list resource "pods" in API group "" in the namespace "demo"'


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("bob", "user-info"),
        ("system:serviceaccount:demo:sa1", "serviceaccount"),
        ("system:node:n1", "arbitrary-node"),
    ],
)
def test_without_any_right_the_first_way_is_told_of(policy: Policy, name: str, mode: str) -> None:
    with pytest.raises(Forbidden) as refused:
        acting({"Impersonate-User": [name]}, policy, JANE)
    assert refused.value.message == DENIED.format(mode)


def test_a_path_is_told_of_too(policy: Policy) -> None:
    with pytest.raises(ApiError) as refused:
        impersonate(Attributes(JANE, "get", path="/api"), {"Impersonate-User": ["bob"]}, Authorizer(policy))
    assert refused.value.message == 'forbidden: User "jane" cannot impersonate-on:user-info:get path "/api"'


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        (
            {"Impersonate-User": ["bob"]},
            'users.authentication.k8s.io "bob" is forbidden: User "jane" cannot impersonate:user-info resource "users" ',
        ),
        (
            {"Impersonate-User": ["system:serviceaccount:demo:sa1"]},
            'serviceaccounts.authentication.k8s.io "sa1" is forbidden: User "jane" cannot impersonate:serviceaccount '
            'resource "serviceaccounts" in API group "authentication.k8s.io" in the namespace "demo"',
        ),
        (
            {"Impersonate-User": ["alice"], "Impersonate-Group": ["admins"]},
            'groups.authentication.k8s.io "admins" is forbidden: User "jane" cannot impersonate:user-info '
            'resource "groups" in API group "authentication.k8s.io" at the cluster scope',
        ),
        (
            {"Impersonate-User": ["alice"], "Impersonate-Uid": ["7"]},
            'uids.authentication.k8s.io "7" is forbidden: User "jane" cannot impersonate:user-info resource "uids" ',
        ),
        (
            {"Impersonate-User": ["alice"], "Impersonate-Extra-Acme.io%2fscopes": ["all"]},
            'userextras.authentication.k8s.io "all" is forbidden: User "jane" cannot impersonate:user-info '
            'resource "userextras/acme.io/scopes" in API group "authentication.k8s.io" at the cluster scope',
        ),
        (
            {"Impersonate-User": ["alice"], "Impersonate-Extra-Scopes": ["all"]},
            'userextras.authentication.k8s.io is forbidden: User "jane" cannot impersonate:user-info '
            'resource "userextras" in API group "authentication.k8s.io" at the cluster scope: '
            "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "
            '"scopes": must be a domain-prefixed path (such as "acme.io/foo")',
        ),
        (
            {"Impersonate-User": ["alice"], "Impersonate-Group": ["system:masters"]},
            'groups.authentication.k8s.io "system:masters" is forbidden: User "jane" cannot impersonate:user-info '
            'resource "groups" in API group "authentication.k8s.io" at the cluster scope: '
            "impersonating the system:masters group is not allowed",
        ),
    ],
)
def test_each_part_needs_its_own_right(policy: Policy, headers: dict[str, list[str]], message: str) -> None:
    policy.role(
        "r",
        rule("impersonate-on:user-info:list impersonate-on:serviceaccount:list", "pods"),
        rule("impersonate:user-info", "users", "authentication.k8s.io", "alice"),
    )
    policy.bind("b", "r", user_named("jane"))
    with pytest.raises(Forbidden) as refused:
        acting(headers, policy, JANE)
    assert refused.value.message.startswith(message)
    assert acting({"Impersonate-User": ["alice"]}, policy, JANE).name == "alice"


def test_the_plain_verb_is_enough_for_everything(policy: Policy) -> None:
    policy.role("r", rule("impersonate", "users groups"))
    policy.bind("b", "r", user_named("jane"))
    acted = acting({"Impersonate-User": ["bob"], "Impersonate-Group": ["g"]}, policy, JANE)
    assert acted == User("bob", groups=("g", "system:authenticated"))
    node = acting({"Impersonate-User": ["system:node:n1"]}, policy, JANE)
    assert node == User("system:node:n1", groups=("system:authenticated",))


def test_an_agent_may_be_its_own_node(policy: Policy) -> None:
    policy.role(
        "r",
        rule("impersonate-on:associated-node:list", "pods"),
        rule("impersonate:associated-node", "nodes", "authentication.k8s.io"),
    )
    policy.bind("b", "r", account("demo", "agent"))
    agent = service_account_user("demo", "agent", extra={"authentication.kubernetes.io/node-name": ("n1",)})
    assert "system:nodes" in acting({"Impersonate-User": ["system:node:n1"]}, policy, agent).groups
    with pytest.raises(Forbidden, match="cannot impersonate-on:arbitrary-node:list"):
        acting({"Impersonate-User": ["system:node:n2"]}, policy, agent)


def test_groups_without_a_user_make_no_sense() -> None:
    with pytest.raises(BadRequest) as refused:
        acting({"Impersonate-Group": ["developers"], "Impersonate-Extra-A": ["x"]})
    assert refused.value.message == (
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"developers"}, '
        'Extra:map[string][]string{"a":[]string{"x"}}} without impersonating a user name'
    )
    with pytest.raises(BadRequest, match=r"Groups:\[\]string\(nil\), Extra:map\[string\]\[\]string\(nil\)}"):
        acting({"Impersonate-Uid": ["1"]})


names = st.sampled_from(
    ["Impersonate-User", "impersonate-group", "Impersonate-Uid", "Impersonate-Extra-%", "X"]
)


@given(st.dictionaries(names | st.text(max_size=30), st.lists(st.text(max_size=9), max_size=3), max_size=5))
def test_any_headers_give_a_user_or_a_refusal(headers: dict[str, list[str]]) -> None:
    for user in (SYSTEM_MASTERS, JANE):
        try:
            assert isinstance(acting(headers, user=user), User)
        except ApiError as error:
            error.status()
