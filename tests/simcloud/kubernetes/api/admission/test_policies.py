"""Validating admission policies: what is matched, judged and told."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.access.users import User
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.options import Caller
from tests.simcloud.kubernetes.api.admission.conftest import World

GROUP = "admissionregistration.k8s.io"
CONFIGS = {
    "resourceRules": [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["configmaps"],
        }
    ]
}


def policy(world: World, *validations: dict[str, Any], **spec: Any) -> None:
    data = {"matchConstraints": CONFIGS, "validations": list(validations), **spec}
    world.create(f"validatingadmissionpolicies.{GROUP}", {"metadata": {"name": "rule"}, "spec": data}, "")


def bind(world: World, *actions: str, **spec: Any) -> None:
    data = {"policyName": "rule", "validationActions": list(actions or ("Deny",)), **spec}
    world.create(
        f"validatingadmissionpolicybindings.{GROUP}", {"metadata": {"name": "bound"}, "spec": data}, ""
    )


def config(name: str = "c", **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


DENIED = "ValidatingAdmissionPolicy 'rule' with binding 'bound' denied request: "


def test_a_failed_rule_refuses(world: World) -> None:
    policy(world, {"expression": "has(object.data) && 'a' in object.data"})
    world.create("configmaps", config("before"))
    bind(world)
    refused = world.refusal("configmaps", config())
    told = f"{DENIED}failed expression: has(object.data) && 'a' in object.data"
    assert refused.message == f'configmaps "c" is forbidden: {told}'
    assert (refused.code, refused.reason) == (422, "Invalid")
    assert refused.details == {"name": "c", "kind": "configmaps", "causes": [{"message": told}]}
    world.create("configmaps", config(a="b"))
    world.create("secrets", {"metadata": {"name": "other"}})


@pytest.mark.parametrize(
    ("rule", "message", "code"),
    [
        ({"message": "no", "reason": "Forbidden"}, "no", 403),
        ({"message": "no", "messageExpression": "'not ' + object.metadata.name"}, "not c", 422),
        ({"message": "no", "messageExpression": "object.nothing"}, "no", 422),
    ],
)
def test_messages_and_reasons(world: World, rule: dict[str, Any], message: str, code: int) -> None:
    policy(world, {"expression": "false", **rule})
    bind(world)
    refused = world.refusal("configmaps", config())
    assert refused.message.endswith(f"denied request: {message}")
    assert refused.code == code


def test_warnings_only(world: World) -> None:
    policy(world, {"expression": "false", "message": "no"})
    bind(world, "Warn", "Audit")
    world.create("configmaps", config())
    assert world.warnings == [
        "Validation failed for ValidatingAdmissionPolicy 'rule' with binding 'bound': no"
    ]


def test_a_rule_that_cannot_be_judged_fails_or_is_passed_over(world: World) -> None:
    policy(world, {"expression": "object.data.missing == 'a'"})
    bind(world)
    assert world.refusal("configmaps", config(a="b")).message.endswith(
        "denied request: expression 'object.data.missing == 'a'' resulted in error: no such key: missing"
    )
    lenient = copy(world.get(f"validatingadmissionpolicies.{GROUP}", "rule", ""))
    lenient["spec"]["failurePolicy"] = "Ignore"
    world.update(lenient)
    world.create("configmaps", config(a="b"))


def test_variables_conditions_and_the_old_object(world: World) -> None:
    policy(
        world,
        {"expression": "variables.new >= variables.old", "message": "it may only grow"},
        variables=[
            {"name": "new", "expression": "int(object.data.n)"},
            {"name": "old", "expression": "oldObject == null ? 0 : int(oldObject.data.n)"},
        ],
        matchConditions=[{"name": "counted", "expression": "request.name.startsWith('n')"}],
    )
    bind(world)
    world.create("configmaps", config("other", n="x"))
    made = copy(world.create("configmaps", config("n", n="2")))
    made["data"]["n"] = "1"
    with pytest.raises(Exception, match="it may only grow"):
        world.update(made)
    made["data"]["n"] = "3"
    world.update(made)


def test_params(world: World) -> None:
    policy(
        world,
        {"expression": "size(object.data) <= int(params.data.most)"},
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
    )
    world.create("configmaps", config("limits", most="1"))
    bind(world, paramRef={"name": "limits", "namespace": "demo", "parameterNotFoundAction": "Deny"})
    world.create("configmaps", config(a="1"))
    assert "denied request" in world.refusal("configmaps", config("d", a="1", b="2")).message
    configs = world.api.catalogue.find("configmaps")
    world.api.delete(configs, "demo", "limits")
    assert world.refusal("configmaps", config("e", a="1")).message.endswith(
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    )


def test_a_binding_narrows_by_namespace(world: World) -> None:
    policy(world, {"expression": "namespaceObject.metadata.name != 'demo'"})
    bind(world, matchResources={"namespaceSelector": {"matchLabels": {"strict": "yes"}}})
    world.create("configmaps", config())
    namespace = copy(world.get("namespaces", "demo", ""))
    namespace["metadata"]["labels"]["strict"] = "yes"
    world.update(namespace)
    assert DENIED in world.refusal("configmaps", config("d")).message


def test_the_writer_is_asked_for_more_rights(world: World) -> None:
    policy(
        world,
        {
            "expression": "authorizer.group('').resource('secrets').namespace('demo').check('create').allowed()"
        },
        {"expression": "authorizer.requestResource.check('create').allowed()"},
    )
    bind(world)
    world.create("configmaps", config())
    nobody = Caller(User("jane", groups=("system:authenticated",)), "kubectl")
    assert DENIED in world.refusal("configmaps", config("d"), caller=nobody).message
