"""Services: the sentences of each rule, what may not change, and the warnings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import (
    EXAMPLES,
    GONE,
    edited,
    on_create,
    on_update,
    warnings,
)

SERVICE = EXAMPLES["Service"]
HEADLESS = {"spec/clusterIP": "None", "spec/clusterIPs": ["None"]}
BALANCED = {
    "spec/type": "LoadBalancer",
    "spec/allocateLoadBalancerNodePorts": True,
    "spec/externalTrafficPolicy": "Cluster",
}
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SECOND = {"port": 81, "targetPort": 81, "protocol": "TCP"}
FIRST: dict[str, Any] = {"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({"spec/ports": GONE}, ["spec.ports: Required value"]),
        (
            {"spec/ports/0/port": 0},
            ["spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
        ),
        (
            {"spec/ports/0/targetPort": 70000},
            ["spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
        ),
        (
            {"spec/ports/0/targetPort": "123"},
            ['spec.ports[0].targetPort: Invalid value: "123": must contain at least one letter (a-z)'],
        ),
        (
            {"spec/ports/0/protocol": "HTTP"},
            ['spec.ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
        ),
        ({"spec/ports/0/name": "Http"}, [f'spec.ports[0].name: Invalid value: "Http": {LABEL}']),
        ({"spec/ports": [FIRST, SECOND]}, ["spec.ports[1].name: Required value"]),
        (
            {"spec/ports": [FIRST, {**SECOND, "name": "http"}]},
            ['spec.ports[1].name: Duplicate value: "http"'],
        ),
        (
            {"spec/ports": [FIRST, {**FIRST, "name": "other"}]},
            [
                'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,'
                '"TargetPort":0,"NodePort":0}'
            ],
        ),
        (
            {"spec/ports/0/nodePort": 30080},
            ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
        ),
        (
            {"spec/type": "Internal", "spec/internalTrafficPolicy": GONE},
            [
                'spec.type: Unsupported value: "Internal": supported values: "ClusterIP", "ExternalName", '
                '"LoadBalancer", "NodePort"'
            ],
        ),
        (
            {"spec/type": "NodePort", **HEADLESS, "spec/externalTrafficPolicy": "Cluster"},
            ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
        ),
        (
            {"spec/type": "NodePort", "spec/externalTrafficPolicy": "Cluster", "spec/ports/0/nodePort": 80},
            [
                "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. "
                "The range of valid ports is 30000-32767"
            ],
        ),
        (
            {
                "spec/type": "ExternalName",
                "spec/clusterIP": GONE,
                "spec/clusterIPs": GONE,
                "spec/internalTrafficPolicy": GONE,
            },
            [
                "spec.ipFamilies: Forbidden: may not be set for ExternalName services",
                "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services",
                "spec.externalName: Required value",
            ],
        ),
        (
            {"spec/sessionAffinity": "Cookie"},
            ['spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"'],
        ),
        (
            {"spec/sessionAffinity": "ClientIP"},
            ["spec.sessionAffinityConfig: Required value: when session affinity type is ClientIP"],
        ),
        (
            {
                "spec/sessionAffinity": "ClientIP",
                "spec/sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 86401}},
            },
            [
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: "
                "must be greater than 0 and less than 86400"
            ],
        ),
        (
            {"spec/clusterIP": "10.96.0.21"},
            ['spec.clusterIPs: Invalid value: ["10.96.0.20"]: first value must match `clusterIP`'],
        ),
        (
            {"spec/clusterIP": "nowhere", "spec/clusterIPs": ["nowhere"]},
            [
                'spec.clusterIPs[0]: Invalid value: "nowhere": must be a valid IP address, '
                "(e.g. 10.9.8.7 or 2001:db8::ffff)"
            ],
        ),
        (
            {"spec/ipFamilies": ["IPv5"]},
            ['spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"'],
        ),
        (
            {"spec/ipFamilyPolicy": "RequireDualStack"},
            [
                'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": '
                "this cluster is not configured for dual-stack services"
            ],
        ),
        (
            {"spec/ipFamilies": ["IPv6"], "spec/clusterIP": GONE, "spec/clusterIPs": GONE},
            ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
        ),
        (
            {"spec/clusterIP": "10.96.0.21", "spec/ports": GONE},
            ['spec.clusterIPs: Invalid value: ["10.96.0.20"]: first value must match `clusterIP`'],
        ),
        (
            {"spec/externalIPs": ["127.0.0.1"], "spec/externalTrafficPolicy": "Cluster"},
            [
                'spec.externalIPs[0]: Invalid value: "127.0.0.1": '
                "may not be in the loopback range (127.0.0.0/8, ::1/128)"
            ],
        ),
        (
            {"spec/externalTrafficPolicy": "Local"},
            [
                'spec.externalTrafficPolicy: Invalid value: "Local": '
                "may only be set for externally-accessible services"
            ],
        ),
        (
            {"spec/internalTrafficPolicy": "Node"},
            ['spec.internalTrafficPolicy: Unsupported value: "Node": supported values: "Cluster", "Local"'],
        ),
        (
            {"spec/trafficDistribution": "Near"},
            [
                'spec.trafficDistribution: Unsupported value: "Near": supported values: "PreferClose", '
                '"PreferSameNode", "PreferSameZone"'
            ],
        ),
        (
            {"spec/loadBalancerClass": "internal"},
            ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
        ),
        (
            {"spec/loadBalancerSourceRanges": ["10.0.0.0"], **BALANCED},
            [
                'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0": must be a valid CIDR value, '
                "(e.g. 10.9.8.0/24 or 2001:db8::/64)"
            ],
        ),
        ({**BALANCED, "spec/externalTrafficPolicy": "Local"}, ["spec.healthCheckNodePort: Required value"]),
    ],
)
def test_a_broken_service(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(SERVICE, edits)) == told


@pytest.mark.parametrize("edits", [HEADLESS, BALANCED, {**HEADLESS, "spec/ports": GONE}])
def test_a_service_of_another_sort(edits: dict[str, Any]) -> None:
    assert on_create(edited(SERVICE, edits)) == []


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            {"spec/clusterIP": "10.96.0.21", "spec/clusterIPs": ["10.96.0.21"]},
            ['spec.clusterIPs[0]: Invalid value: ["10.96.0.21"]: may not change once set'],
        ),
        (HEADLESS, ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set']),
        (
            {"spec/clusterIP": GONE, "spec/clusterIPs": GONE},
            ["spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset"],
        ),
    ],
)
def test_what_may_not_change(edits: dict[str, Any], told: list[str]) -> None:
    assert on_update(edited(SERVICE, edits), SERVICE) == told


def test_a_load_balancer_class_stays() -> None:
    old = edited(SERVICE, {**BALANCED, "spec/loadBalancerClass": "example.com/a"})
    new = edited(old, {"spec/loadBalancerClass": "example.com/b"})
    assert on_update(new, old) == [
        'spec.loadBalancerClass: Invalid value: "example.com/b": may not change once set'
    ]


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            {"spec/externalIPs": ["1.2.3.4"]},
            ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"],
        ),
        (
            {**HEADLESS, "spec/externalIPs": ["1.2.3.4"]},
            ["spec.externalIPs is ignored for headless services"],
        ),
        (
            {"spec/externalName": "example.com"},
            ['spec.externalName is ignored when spec.type is not "ExternalName"'],
        ),
        (
            {"spec/trafficDistribution": "PreferClose"},
            ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
        ),
    ],
)
def test_what_is_warned_of(edits: dict[str, Any], told: list[str]) -> None:
    assert warnings(edited(SERVICE, edits)) == told
