"""Pods: recorded refusals, and one sentence for each way to break a sound one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.samples import (
    GONE,
    changed,
    container,
    on_create,
    on_update,
    sound,
    warnings,
)
from tests.simcloud.kubernetes.api.validation.test_names import KEY, LABEL

POD = sound("Pod")
RECORDED = json.loads((Path(__file__).parent / "data" / "recorded.json").read_text())
APP = "spec.containers[0]"
PROBE = {
    "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def with_container(path: str, value: Any) -> Any:
    return changed(POD, f"spec/containers/0/{path}", value)


@pytest.mark.parametrize("obj", RECORDED, ids=lambda obj: f"{obj['kind']}-{obj['metadata']['name']}")
def test_what_a_genuine_server_accepted_is_sound(obj: Any) -> None:
    assert on_create(obj) == on_update(obj, obj) == warnings(obj) == []


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            "resources",
            {"requests": {"memory": "64Mi"}, "limits": {"memory": "32Mi"}},
            f'{APP}.resources.requests: Invalid value: "64Mi": must be less than or equal to memory limit of 32Mi',
        ),
        ("name", GONE, f"{APP}.name: Required value"),
        (
            "volumeMounts",
            [{"name": "nosuch", "mountPath": "/x"}],
            f'{APP}.volumeMounts[0].name: Not found: "nosuch"',
        ),
        (
            "ports",
            [{"containerPort": 99999, "protocol": "TCP"}],
            f"{APP}.ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive",
        ),
        (
            "imagePullPolicy",
            "Sometimes",
            f'{APP}.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", '
            '"Never"',
        ),
        ("name", "Bad_Name", f'{APP}.name: Invalid value: "Bad_Name": {LABEL}'),
    ],
)
def test_containers_as_recorded(path: str, value: Any, told: str) -> None:
    assert on_create(with_container(path, value)) == [told]


def test_two_containers_of_one_name_as_recorded() -> None:
    twice = changed(POD, "spec/containers", [container(), container()])
    assert on_create(twice) == ['spec.containers[1].name: Duplicate value: "app"']


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("image", "", ["image: Required value"]),
        ("image", " nginx", ['image: Invalid value: " nginx": must not have leading or trailing whitespace']),
        ("ports", [{"containerPort": 80, "protocol": "ICMP"}], [
            'ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'
        ]),
        ("ports", [{"name": "p", "containerPort": 1, "protocol": "TCP"}] * 2, ['ports[1].name: Duplicate value: "p"']),
        ("ports", [{"containerPort": 1, "hostPort": 8, "protocol": "TCP"}] * 2, [
            'ports[1].hostPort: Duplicate value: "TCP//8"'
        ]),
        ("env", [{"name": ""}], ["env[0].name: Required value"]),
        ("env", [{"name": "A=B"}], [
            'env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable '
            "ASCII characters other than '='"
        ]),
        ("env", [{"name": "A", "value": "x", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}], [
            'env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'
        ]),
        ("env", [{"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.foo"}}}], [
            'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.foo": error converting fieldPath: field '
            "label not supported: spec.foo"
        ]),
        ("env", [{"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels"}}}], [
            'env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: '
            '"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", '
            '"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"'
        ]),
        ("env", [{"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels['a']"}}}],
         []),
        ("envFrom", [{}], ['envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`']),
        ("envFrom", [{"configMapRef": {}}], ["envFrom[0].configMapRef.name: Required value"]),
        ("resources", {"limits": {"foo": "1"}}, [
            'resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
            'resources.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
        ]),
        ("resources", {"limits": {"cpu": "-1"}}, [
            'resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'
        ]),
        ("resources", {"requests": {"example.com/gpu": "1"}}, [
            "resources.limits: Required value: Limit must be set for non overcommitable resources"
        ]),
        ("resources", {"limits": {"example.com/gpu": "500m"}}, [
            'resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer'
        ]),
        ("resources", {"limits": {"hugepages-2Mi": "3Mi"}}, [
            'resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of '
            "hugepages-2Mi",
            "resources: Forbidden: HugePages require cpu or memory",
        ]),
        ("livenessProbe", {**PROBE, "successThreshold": 2}, [
            "livenessProbe.successThreshold: Invalid value: 2: must be 1"
        ]),
        ("readinessProbe", {"successThreshold": 1}, ["readinessProbe: Required value: must specify a handler type"]),
        ("readinessProbe", {**PROBE, "exec": {"command": ["a"]}}, [
            "readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type"
        ]),
        ("startupProbe", {**PROBE, "httpGet": {"path": "/", "port": "http_x", "scheme": "HTTP"}}, [
            'startupProbe.httpGet.port: Invalid value: "http_x": must contain only alpha-numeric characters (a-z, '
            "0-9), and hyphens (-)"
        ]),
        ("lifecycle", {"preStop": {"sleep": {"seconds": 60}}}, [
            "lifecycle.preStop.sleep: Invalid value: 60: must be non-negative and less than "
            "terminationGracePeriodSeconds (30)"
        ]),
        ("terminationMessagePolicy", "Log", [
            'terminationMessagePolicy: Unsupported value: "Log": supported values: "File", "FallbackToLogsOnError"'
        ]),
        ("securityContext", {"runAsUser": -1}, [
            "securityContext.runAsUser: Invalid value: -1: must be between 0 and 4294967295, inclusive"
        ]),
        ("securityContext", {"seccompProfile": {"type": "Localhost"}}, [
            "securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is "
            "Localhost"
        ]),
        ("restartPolicy", "Sometimes", [
            'restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"'
        ]),
    ],
)  # fmt: skip
def test_containers(path: str, value: Any, told: list[str]) -> None:
    assert on_create(with_container(path, value)) == [f"{APP}.{one}" for one in told]


def test_privileged_containers_cannot_refuse_escalation() -> None:
    told = on_create(
        with_container("securityContext", {"privileged": True, "allowPrivilegeEscalation": False})
    )
    assert told == [
        f'{APP}.securityContext: Invalid value: {{"Capabilities":null,"Privileged":true,"SELinuxOptions":null,'
        '"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,'
        '"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,'
        '"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true'
    ]


def volume(**source: Any) -> list[Any]:
    return [{"name": "v", **source}]


@pytest.mark.parametrize(
    ("volumes", "told"),
    [
        (volume(), ["volumes[0]: Required value: must specify a volume type"]),
        (volume(emptyDir={}, hostPath={"path": "/x"}), [
            "volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"
        ]),
        (volume(emptyDir={}) * 2, ['volumes[1].name: Duplicate value: "v"']),
        ([{"name": "V", "emptyDir": {}}], [f'volumes[0].name: Invalid value: "V": {LABEL}']),
        (volume(hostPath={"path": "/a/../b"}), [
            "volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"
        ]),
        (volume(hostPath={"path": "/a", "type": "Pipe"}), [
            'volumes[0].hostPath.type: Unsupported value: "Pipe": supported values: "", "BlockDevice", '
            '"CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"'
        ]),
        (volume(secret={"defaultMode": 512}), [
            "volumes[0].secret.secretName: Required value",
            "volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both "
            "inclusive",
        ]),
        (volume(configMap={"name": "c", "items": [{"key": "k", "path": "/abs"}]}), [
            'volumes[0].configMap.items[0].path: Invalid value: "/abs": must be a relative path'
        ]),
        (volume(persistentVolumeClaim={}), ["volumes[0].persistentVolumeClaim.claimName: Required value"]),
        (volume(nfs={"server": "s", "path": "p"}), [
            'volumes[0].nfs.path: Invalid value: "p": must be an absolute path'
        ]),
        (volume(projected={"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 1}}]}), [
            "volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not "
            "specify a duration less than 10 minutes",
            "volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when "
            "serviceAccountName is not set",
        ]),
        (volume(ephemeral={"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}), [
            "volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value"
        ]),
        (volume(image={"reference": "r", "pullPolicy": "Always"}), []),
        (volume(csi={"driver": "ebs.csi.aws.com"}), []),
    ],
)  # fmt: skip
def test_volumes(volumes: list[Any], told: list[str]) -> None:
    assert on_create(changed(POD, "spec/volumes", volumes)) == [f"spec.{one}" for one in told]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("containers", [], ["containers: Required value"]),
        ("restartPolicy", "x", [
            'restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"'
        ]),
        ("dnsPolicy", "x", [
            'dnsPolicy: Unsupported value: "x": supported values: "ClusterFirstWithHostNet", "ClusterFirst", '
            '"Default", "None"'
        ]),
        ("dnsPolicy", "None", ["dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"]),
        ("dnsConfig", {"nameservers": ["x"]}, [
            'dnsConfig.nameservers[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or '
            "2001:db8::ffff)"
        ]),
        ("nodeSelector", {"bad key!": "x"}, [f'nodeSelector: Invalid value: "bad key!": {KEY}']),
        ("activeDeadlineSeconds", 0, [
            "activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"
        ]),
        ("hostname", "A", [f'hostname: Invalid value: "A": {LABEL}']),
        ("tolerations", [{"operator": "Equal", "value": "x"}], [
            'tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which '
            'means "match all values and all keys"'
        ]),
        ("tolerations", [{"key": "a", "operator": "Exists", "effect": "NoRun"}], [
            'tolerations[0].effect: Unsupported value: "NoRun": supported values: "NoSchedule", '
            '"PreferNoSchedule", "NoExecute"'
        ]),
        ("tolerations", [{"key": "a", "operator": "Exists", "tolerationSeconds": 1}], [
            "tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set"
        ]),
        ("affinity", {"nodeAffinity": {REQUIRED: {}}}, [
            f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: Required value: must have at least one node "
            "selector term"
        ]),
        ("affinity", {"podAntiAffinity": {REQUIRED: [{**TERM, "topologyKey": ""}]}}, [
            f"affinity.podAntiAffinity.{REQUIRED}[0].topologyKey: Required value: can not be empty",
            f'affinity.podAntiAffinity.{REQUIRED}[0].topologyKey: Invalid value: "": name part must be non-empty',
            f'affinity.podAntiAffinity.{REQUIRED}[0].topologyKey: Invalid value: "": {KEY}',
        ]),
        ("topologySpreadConstraints", [{**TERM, "maxSkew": 0, "whenUnsatisfiable": "Maybe"}], [
            "topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
            'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Maybe": supported values: '
            '"DoNotSchedule", "ScheduleAnyway"',
        ]),
        ("topologySpreadConstraints", [{**TERM, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}] * 2, [
            "topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "
            '"{zone, DoNotSchedule}"'
        ]),
        ("hostAliases", [{"ip": "x", "hostnames": ["a"]}], [
            'hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
        ]),
        ("readinessGates", [{"conditionType": "a/b/c"}], [
            'readinessGates[0].conditionType: Invalid value: "a/b/c": a valid label key '
            + KEY.removeprefix("name part ")
            + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]),
        ("schedulingGates", [{"name": "g"}] * 2, ['schedulingGates[1]: Duplicate value: "g"']),
        ("preemptionPolicy", "x", [
            'preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"'
        ]),
        ("initContainers", [container(name="app")], ['initContainers[0].name: Duplicate value: "app"']),
        ("initContainers", [container(name="i", livenessProbe=PROBE)], [
            "initContainers[0].livenessProbe: Forbidden: may not be set for init containers without "
            "restartPolicy=Always"
        ]),
        ("initContainers", [container(name="i", livenessProbe=PROBE, restartPolicy="Always")], []),
        ("ephemeralContainers", [container(name="e")], ["ephemeralContainers: Forbidden: cannot be set on create"]),
        ("hostUsers", False, []),
        ("resources", {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}, []),
    ],
)  # fmt: skip
def test_specs(path: str, value: Any, told: list[str]) -> None:
    assert on_create(changed(POD, f"spec/{path}", value)) == [f"spec.{one}" for one in told]


def test_a_pod_of_the_host_opens_the_ports_it_has() -> None:
    shared = changed(
        with_container("ports", [{"containerPort": 80, "protocol": "TCP"}]), "spec/hostNetwork", True
    )
    assert on_create(shared) == [
        f"{APP}.ports[0].hostPort: Invalid value: 0: must match `containerPort` when `hostNetwork` is true"
    ]
    assert on_create(changed(shared, "spec/containers/0/ports/0/hostPort", 80)) == []


def test_containers_fit_into_their_pod() -> None:
    pod = changed(
        with_container("resources", {"requests": {"cpu": "2"}}), "spec/resources", {"requests": {"cpu": "1"}}
    )
    assert on_create(pod) == [
        'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container '
        "requests of 2"
    ]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("spec/containers/0/env", [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}], [
            'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'
        ]),
        ("spec/containers/0/env", [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}], []),
        ("spec/containers/0/ports", [{"containerPort": 80, "protocol": "TCP"}] * 2, [
            "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"
        ]),
        ("metadata/name", "a.b", [
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS "
            "label is recommended: [must not contain dots]"
        ]),
        ("spec/topologySpreadConstraints", [{"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}], [
            "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod"
        ]),
        ("spec/containers/0/resources", {"limits": {"memory": "100m"}}, [
            'spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer'
        ]),
        ("spec/imagePullSecrets", [{"name": "a"}, {"name": "a"}, {}], [
            'spec.imagePullSecrets[1].name: duplicate name "a"',
            'spec.imagePullSecrets[2].name: invalid empty name ""',
        ]),
    ],
)  # fmt: skip
def test_warnings(path: str, value: Any, told: list[str]) -> None:
    assert warnings(changed(POD, path, value)) == told
    assert warnings(changed(POD, path, value), POD) == []


MANY = 9000


@pytest.mark.parametrize(
    ("path", "item", "count"),
    [
        ("spec/containers/0/env", {"name": "A"}, 0),
        (
            "spec/containers/0/ports",
            {"name": "p", "containerPort": 80, "hostPort": 80, "protocol": "TCP"},
            MANY - 1,
        ),
        ("spec/containers/0/volumeMounts", {"name": "v", "mountPath": "/x"}, 2 * MANY - 1),
        ("spec/volumes", {"name": "v", "emptyDir": {}}, 0),
        ("spec/tolerations", {"key": "a", "operator": "Exists"}, 0),
        (
            "spec/topologySpreadConstraints",
            {**TERM, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
            MANY - 1,
        ),
        ("spec/schedulingGates", {"name": "g"}, 0),
        ("spec/imagePullSecrets", {"name": "a"}, 0),
        (
            "metadata/ownerReferences",
            {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True},
            5,
        ),
    ],
)
def test_long_lists(path: str, item: Any, count: int) -> None:
    numbered = [
        {**item, "name": f"{item['name']}{index}"} if "name" in item else item for index in range(MANY)
    ]
    long = changed(POD, path, numbered)
    assert len(on_create(long)) == count
    assert on_update(long, long) == on_create(long)
