"""Nobody grants what they do not hold."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.escalation import check_escalation
from simcloud.kubernetes.api.access.rbac import GROUP, Authorizer
from simcloud.kubernetes.api.access.rules import Rule, missing
from simcloud.kubernetes.api.access.users import SYSTEM_MASTERS, User
from simcloud.kubernetes.api.errors import ApiError, Forbidden, NotFound
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Catalogue
from tests.simcloud.kubernetes.api.access.conftest import Policy, meta, rule, user_named

CATALOGUE = Catalogue()
JANE = User("jane", groups=("dev", "system:authenticated"))


def resource(plural: str) -> object:
    return CATALOGUE.find(plural, GROUP)


def role(*rules: Object, namespace: str = "demo", **more: object) -> Object:
    return {"kind": "Role", "metadata": meta("new", namespace), "rules": list(rules), **more}


def binding(kind: str, name: str, namespace: str = "demo") -> Object:
    ref = {"apiGroup": GROUP, "kind": kind, "name": name}
    return {"metadata": meta("new", namespace), "roleRef": ref, "subjects": [user_named("bob")]}


def check(policy: Policy, plural: str, obj: Object, old: Object | None = None, user: User = JANE) -> None:
    check_escalation(Authorizer(policy), user, resource(plural), obj, old)


@pytest.fixture
def reader(policy: Policy) -> Policy:
    policy.role("reader", rule("get list", "pods"))
    policy.bind("readers", "reader", user_named("jane"))
    return policy


def test_what_is_held_may_be_granted(reader: Policy) -> None:
    check(reader, "roles", role(rule("get", "pods"), rule("list", "pods", "core", "a")))
    check(reader, "rolebindings", binding("ClusterRole", "reader"))


def test_what_is_not_held_is_named(reader: Policy) -> None:
    wanted = role(rule("get delete watch", "pods"), rule("get", "secrets", "core", "s"))
    with pytest.raises(Forbidden) as refused:
        check(reader, "roles", wanted)
    assert refused.value.message == (
        'roles.rbac.authorization.k8s.io "new" is forbidden: user "jane" (groups=["dev" "system:authenticated"]) '
        "is attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}\n'
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["s"], Verbs:["get"]}'
    )


def test_paths_and_unresolved_bindings_are_told(reader: Policy) -> None:
    reader.bind("broken", "gone", user_named("jane"))
    wanted = role({"verbs": ["get"], "nonResourceURLs": ["/metrics"]}, namespace="")
    with pytest.raises(Forbidden) as refused:
        check(reader, "clusterroles", wanted)
    assert refused.value.message.endswith(
        '\n{NonResourceURLs:["/metrics"], Verbs:["get"]}; resolution errors: '
        '[clusterrole.rbac.authorization.k8s.io "gone" not found]'
    )


def test_binding_needs_the_rules_or_the_verb_bind(reader: Policy) -> None:
    reader.role("writer", rule("update", "pods"))
    with pytest.raises(Forbidden, match="is attempting to grant RBAC permissions not currently held"):
        check(reader, "clusterrolebindings", binding("ClusterRole", "writer", ""))
    reader.role("binder", rule("bind", "clusterroles", GROUP, "writer"))
    reader.bind("binders", "binder", user_named("jane"))
    check(reader, "clusterrolebindings", binding("ClusterRole", "writer", ""))
    check(reader, "rolebindings", binding("ClusterRole", "writer"))


def test_a_binding_to_a_role_that_is_not_there(reader: Policy) -> None:
    with pytest.raises(NotFound, match=r'clusterrole\.rbac.authorization.k8s.io "gone" not found'):
        check(reader, "rolebindings", binding("ClusterRole", "gone"))
    with pytest.raises(NotFound, match=r'^role\.rbac.authorization.k8s.io "gone" not found'):
        check(reader, "rolebindings", binding("Role", "gone"))


def test_the_verb_escalate_and_masters_pass(reader: Policy) -> None:
    wanted = role(rule("*", "*", "*"))
    check(reader, "roles", wanted, user=SYSTEM_MASTERS)
    reader.role("escalator", rule("escalate", "roles", GROUP))
    reader.bind("escalators", "escalator", user_named("jane"))
    check(reader, "roles", wanted)


def test_the_verb_escalate_on_one_role_counts_once_it_is_there(reader: Policy) -> None:
    wanted = role(rule("*", "*", "*"))
    reader.role("escalator", rule("escalate", "roles", GROUP, "new"))
    reader.bind("escalators", "escalator", user_named("jane"))
    with pytest.raises(Forbidden):
        check(reader, "roles", wanted)
    check(reader, "roles", wanted, old=role())


def test_an_aggregation_rule_needs_everything(reader: Policy) -> None:
    gathering = role(namespace="", aggregationRule={"clusterRoleSelectors": [{}]})
    told = "must have cluster-admin privileges to use the aggregationRule"
    with pytest.raises(Forbidden, match=told):
        check(reader, "clusterroles", gathering)
    with pytest.raises(Forbidden, match=told):
        check(reader, "clusterroles", role(namespace=""), old=gathering)
    reader.role("cluster-admin", rule("*", "*", "*"), {"verbs": ["*"], "nonResourceURLs": ["*"]})
    reader.bind("cluster-admin", "cluster-admin", user_named("jane"))
    check(reader, "clusterroles", gathering)


def test_garbage_collection_may_touch_any_role(reader: Policy) -> None:
    old = role(rule("*", "*", "*"))
    new = {**old, "metadata": {**old["metadata"], "ownerReferences": [{"name": "x"}]}}
    check(reader, "roles", new, old)
    with pytest.raises(Forbidden):
        check(reader, "roles", {**new, "rules": [rule("get", "*", "*")]}, old)


def test_other_kinds_pass(policy: Policy) -> None:
    check_escalation(Authorizer(policy), JANE, CATALOGUE.find("pods"), {"metadata": {"name": "p"}})


words = st.lists(st.sampled_from(["", "*", "a", "b", "a/x", "*/x"]), max_size=3).map(tuple)
rules = st.builds(Rule, words, words, words, words, words)


@given(st.lists(rules, max_size=3), rules)
def test_what_is_covered_is_allowed(owned: list[Rule], wanted: Rule) -> None:
    if missing(owned, [wanted]):
        return
    for single in wanted.singles():
        resource_name, _, subresource = "".join(single.resources).partition("/")
        path = single.paths[0] if single.paths else None
        if "*" in (*single.verbs, *single.groups, resource_name, *single.names, path):
            continue
        asked = Attributes(
            JANE,
            single.verbs[0],
            "".join(single.groups),
            "",
            resource_name,
            subresource,
            "",
            "".join(single.names),
            path,
        )
        assert any(own.allows(asked) for own in owned)


def test_an_enormous_rule_is_judged_without_taking_it_apart() -> None:
    many = tuple(f"x{number}" for number in range(2000))
    enormous = Rule(many, many, many, many)
    assert missing([Rule(("*",), ("*",), ("*",))], [enormous]) == []
    assert missing([Rule(("get",), ("",), ("pods",))], [enormous]) == [enormous]


def test_an_unknown_kind_of_role_is_refused(policy: Policy) -> None:
    with pytest.raises(ApiError, match='unsupported role reference kind: "Wish"'):
        Authorizer(policy).role_rules({"kind": "Wish", "name": "x"}, "demo")
