"""Default FlowSchemas and PriorityLevelConfigurations: whose requests an API server serves first."""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.kubernetes.api.objects import Object, copy

_API_VERSION = "flowcontrol.apiserver.k8s.io/v1"

_LEVELS = (
    ("catch-all", 5, 0, None),
    ("system", 30, 33, (64, 6, 50)),
    ("node-high", 40, 25, (64, 6, 50)),
    ("leader-election", 10, 0, (16, 4, 50)),
    ("workload-high", 40, 50, (128, 6, 50)),
    ("workload-low", 100, 90, (128, 6, 50)),
    ("global-default", 20, 50, (128, 6, 50)),
)
"""Name, shares, what it lends in percent, and its queues: how many, hand size, length."""

_EVERYTHING: Object = {
    "resourceRules": [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}
_PROBES: Object = {
    "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}]
}


def _election(group: str, *resources: str) -> Object:
    return {
        "verbs": ["get", "create", "update"],
        "apiGroups": [group],
        "resources": list(resources),
        "namespaces": ["*"],
    }


_LEASES = _election("coordination.k8s.io", "leases")
_NODE_STATUS: Object = {
    "resourceRules": [
        {
            "verbs": ["*"],
            "apiGroups": [""],
            "resources": ["nodes", "nodes/status"],
            "clusterScope": True,
            "namespaces": ["*"],
        },
        {"verbs": ["*"], "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "namespaces": ["*"]},
    ]
}

_ANYBODY = ("Group system:unauthenticated", "Group system:authenticated")
_MANAGER, _SCHEDULER = "User system:kube-controller-manager", "User system:kube-scheduler"
_SYSTEM_ACCOUNTS = "ServiceAccount *"

_SCHEMAS: tuple[tuple[str, str, int, str, Sequence[str], Object], ...] = (
    ("exempt", "exempt", 1, "", ("Group system:masters",), _EVERYTHING),
    ("catch-all", "catch-all", 10000, "ByUser", _ANYBODY, _EVERYTHING),
    ("system-nodes", "system", 500, "ByUser", ("Group system:nodes",), _EVERYTHING),
    ("system-node-high", "node-high", 400, "ByUser", ("Group system:nodes",), _NODE_STATUS),
    ("probes", "exempt", 2, "", _ANYBODY, _PROBES),
    (
        "system-leader-election",
        "leader-election",
        100,
        "ByUser",
        (_MANAGER, _SCHEDULER, _SYSTEM_ACCOUNTS),
        {"resourceRules": [_LEASES]},
    ),
    (
        "workload-leader-election",
        "leader-election",
        200,
        "ByUser",
        (_SYSTEM_ACCOUNTS,),
        {"resourceRules": [_election("", "endpoints", "configmaps"), _LEASES]},
    ),
    (
        "endpoint-controller",
        "workload-high",
        150,
        "ByUser",
        (_MANAGER, "ServiceAccount endpoint-controller", "ServiceAccount endpointslicemirroring-controller"),
        {"resourceRules": [_election("", "endpoints")]},
    ),
    ("kube-controller-manager", "workload-high", 800, "ByNamespace", (_MANAGER,), _EVERYTHING),
    ("kube-scheduler", "workload-high", 800, "ByNamespace", (_SCHEDULER,), _EVERYTHING),
    ("kube-system-service-accounts", "workload-high", 900, "ByNamespace", (_SYSTEM_ACCOUNTS,), _EVERYTHING),
    ("service-accounts", "workload-low", 9000, "ByUser", ("Group system:serviceaccounts",), _EVERYTHING),
    ("global-default", "global-default", 9900, "ByUser", _ANYBODY, _EVERYTHING),
)
"""Name, priority level, precedence, what tells flows apart, subjects (accounts of kube-system), rules."""


def priority_levels() -> list[Object]:
    """The default PriorityLevelConfigurations."""
    exempt = {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}}
    levels = [_object("PriorityLevelConfiguration", "exempt", exempt)]
    for name, shares, lends, queues in _LEVELS:
        response: Object = {"type": "Reject"}
        if queues is not None:
            queuing = dict(zip(("queues", "handSize", "queueLengthLimit"), queues, strict=True))
            response = {"type": "Queue", "queuing": queuing}
        limited = {"nominalConcurrencyShares": shares, "limitResponse": response, "lendablePercent": lends}
        levels.append(_object("PriorityLevelConfiguration", name, {"type": "Limited", "limited": limited}))
    return levels


def flow_schemas(time: str) -> list[Object]:
    """The default FlowSchemas, found to lead somewhere at the given time."""
    return [_flow_schema(time, *entry) for entry in _SCHEMAS]


def _flow_schema(
    time: str, name: str, level: str, precedence: int, flows: str, subjects: Sequence[str], rules: Object
) -> Object:
    spec: Object = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence}
    if flows:
        spec["distinguisherMethod"] = {"type": flows}
    spec["rules"] = [{"subjects": [_subject(subject) for subject in subjects], **copy(rules)}]
    schema = _object("FlowSchema", name, spec)
    found = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" and it exists'
    schema["status"] = {
        "conditions": [
            {
                "type": "Dangling",
                "status": "False",
                "lastTransitionTime": time,
                "reason": "Found",
                "message": found,
            }
        ]
    }
    return schema


def _subject(text: str) -> Object:
    kind, _, name = text.partition(" ")
    if kind == "ServiceAccount":
        return {"kind": kind, "serviceAccount": {"namespace": "kube-system", "name": name}}
    return {"kind": kind, kind.lower(): {"name": name}}


def _object(kind: str, name: str, spec: Object) -> Object:
    annotations = {"apf.kubernetes.io/autoupdate-spec": "true"}
    return {
        "kind": kind,
        "apiVersion": _API_VERSION,
        "metadata": {"name": name, "annotations": annotations},
        "spec": spec,
        "status": {},
    }
