"""Aggregated roles gather the rules of the roles that their selectors find."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.access.rules import aggregate
from simcloud.kubernetes.api.objects import Object
from tests.simcloud.kubernetes.api.access.conftest import rule


def role(name: str, labels: dict[str, str], *rules: Object, **more: object) -> Object:
    return {"metadata": {"name": name, "labels": labels}, "rules": list(rules), **more}


def test_rules_come_by_name_of_role_and_none_twice() -> None:
    pods, nodes, secrets = rule("get", "pods"), rule("get", "nodes"), rule("get", "secrets")
    selector = {"matchLabels": {"to": "all"}}
    whole = role("all", {"to": "all"}, secrets, aggregationRule={"clusterRoleSelectors": [selector]})
    others = [role("z", {"to": "all"}, pods), role("a", {"to": "all"}, nodes, pods), role("no", {}, secrets)]
    assert aggregate(whole, [whole, *others]) == [nodes, pods]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ({}, ["x", "y", "none"]),
        ({"matchLabels": {"tier": "x"}}, ["x"]),
        ({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["x", "y"]}]}, ["x", "y"]),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["x"]}]}, ["y", "none"]),
        ({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}, ["x", "y"]),
        ({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, ["none"]),
        (
            {"matchLabels": {"tier": "x"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
            [],
        ),
    ],
)
def test_selectors(selector: Object, found: list[str]) -> None:
    roles = [
        role(name, {} if name == "none" else {"tier": name}, rule("get", name)) for name in ("x", "y", "none")
    ]
    whole = {"metadata": {"name": "whole"}, "aggregationRule": {"clusterRoleSelectors": [selector]}}
    assert sorted(one["resources"][0] for one in aggregate(whole, roles)) == sorted(found)


def test_the_gathered_rules_are_copies() -> None:
    source = role("a", {"to": "all"}, rule("get", "pods"))
    whole = {"metadata": {"name": "w"}, "aggregationRule": {"clusterRoleSelectors": [{}]}}
    aggregate(whole, [source])[0]["verbs"].append("delete")
    assert source["rules"][0]["verbs"] == ["get"]
