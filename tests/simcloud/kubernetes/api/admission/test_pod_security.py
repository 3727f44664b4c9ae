"""The Pod Security Standards, in the genuine server's words."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.errors import Invalid
from tests.simcloud.kubernetes.api.admission.conftest import World, pod

GOOD = {
    "name": "c",
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
}
RESTRICTED = (
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), '
    'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), '
    'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), '
    'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or '
    '"Localhost")'
)


def secured(**context: Any) -> dict[str, Any]:
    return pod("p", {"name": "c", "securityContext": context})


def test_a_plain_pod_is_not_restricted_enough(world: World) -> None:
    world.label("demo", enforce="restricted")
    refused = world.refusal("pods", pod())
    assert refused.message == f'pods "p" is forbidden: violates PodSecurity "restricted:latest": {RESTRICTED}'
    assert refused.code == 403
    world.create("pods", pod("good", GOOD))


BASELINE = [
    (secured(privileged=True), 'privileged (container "c" must not set securityContext.privileged=true)'),
    (pod(hostNetwork=True, hostPID=True), "host namespaces (hostNetwork=true, hostPID=true)"),
    (pod(volumes=[{"name": "a", "hostPath": {"path": "/"}}, {"name": "b", "hostPath": {"path": "/b"}}]),
     'hostPath volumes (volumes "a", "b")'),
    (pod("p", {"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}),
     'hostPort (container "c" uses hostPort 80)'),
    (secured(capabilities={"add": ["NET_ADMIN", "CHOWN"]}),
     'non-default capabilities (container "c" must not include "NET_ADMIN" in securityContext.capabilities.add)'),
    (secured(seccompProfile={"type": "Unconfined"}),
     'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")'),
    (pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
     "forbidden sysctls (kernel.msgmax)"),
    (pod(securityContext={"seLinuxOptions": {"type": "x"}}),
     'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x")'),
    (pod("p", {"name": "c", "livenessProbe": {"httpGet": {"port": 80, "host": "1.2.3.4"}}}),
     'probe or lifecycle host (container "c" uses probe or lifecycle host "1.2.3.4")'),
]  # fmt: skip


@pytest.mark.parametrize(("data", "sentence"), BASELINE)
def test_baseline(world: World, data: dict[str, Any], sentence: str) -> None:
    world.label("demo", enforce="baseline", enforce_version="v1.36")
    assert world.refusal("pods", data).message == (
        f'pods "p" is forbidden: violates PodSecurity "baseline:v1.36": {sentence}'
    )


def test_stricter_checks_take_the_place_of_weaker_ones(world: World) -> None:
    world.label("demo", enforce="restricted")
    told = world.refusal(
        "pods",
        pod("p", {**GOOD, "image": "x"}, volumes=[{"name": "v", "hostPath": {"path": "/"}}]),
    ).message
    assert told.endswith(
        '"restricted:latest": restricted volume types (volume "v" uses restricted volume type "hostPath")'
    )


def test_templates_are_warned_of(world: World) -> None:
    world.label("demo", warn="restricted")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod()["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    world.create("deployments.apps", {"metadata": {"name": "web"}, "spec": spec})
    assert world.warnings == [f'would violate PodSecurity "restricted:latest": {RESTRICTED}']
    world.create("pods", pod())
    assert world.warnings == [f'would violate PodSecurity "restricted:latest": {RESTRICTED}']


def test_a_namespace_that_becomes_stricter_is_told_of_its_pods(world: World) -> None:
    world.create("pods", pod("a", hostNetwork=True))
    world.create("pods", pod("b", hostNetwork=True))
    world.label("demo", enforce="baseline")
    assert world.warnings == [
        'existing pods in namespace "demo" violate the new PodSecurity enforce level "baseline:latest"',
        "a (and 1 other pod): host namespaces",
    ]


def test_labels_must_make_sense(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        world.label("demo", enforce="strict")
    assert "must be one of privileged, baseline, restricted" in refused.value.message
