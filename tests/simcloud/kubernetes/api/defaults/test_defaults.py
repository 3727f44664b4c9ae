"""Defaults that no recording shows."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.defaults.pods import pull_policy
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.resources import Catalogue, Resource
from tests.simcloud.kubernetes.api.defaults.generated import objects

CATALOGUE = Catalogue()


def defaulted(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    resource = CATALOGUE.of_kind(api_version, kind)
    assert resource is not None
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **copy(fields)}
    apply_defaults(resource, obj)
    return obj


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(objects())
def test_defaulting_twice_is_defaulting_once(made: tuple[Resource, dict[str, Any]]) -> None:
    resource, obj = made
    apply_defaults(resource, obj)
    once = copy(obj)
    apply_defaults(resource, obj)
    assert obj == once


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"), ("nginx:latest", "Always"), ("nginx:1.19", "IfNotPresent"),
        ("localhost:5000/a/b", "Always"), ("localhost:5000/a/b:1", "IfNotPresent"),
        ("nginx@sha256:" + "a" * 64, "IfNotPresent"), ("nginx:latest@sha256:" + "a" * 64, "Always"),
        ("Nginx:latest", "IfNotPresent"), ("", "IfNotPresent"), ("a b", "IfNotPresent"), ("[::1]:5000/a", "Always"),
    ],
)  # fmt: skip
def test_an_image_is_always_pulled_if_its_tag_is_latest(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_a_pod_asks_for_what_it_is_limited_to_and_a_template_does_not() -> None:
    container = {"name": "a", "image": "a:1", "resources": {"limits": {"cpu": "0.5", "memory": "1024Mi"}}}
    pod = defaulted("v1", "Pod", spec={"containers": [container]})
    assert pod["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "1Gi"},
        "requests": {"cpu": "500m", "memory": "1Gi"},
    }
    deployment = defaulted("apps/v1", "Deployment", spec={"template": {"spec": {"containers": [container]}}})
    template = deployment["spec"]["template"]
    assert template["metadata"] == {}
    assert template["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "500m", "memory": "1Gi"}}
    assert "enableServiceLinks" not in template["spec"]


def test_amounts_finer_than_a_thousandth_are_rounded_up() -> None:
    container = {"name": "a", "resources": {"requests": {"cpu": "100u", "memory": "1.0001"}}}
    pod = defaulted("v1", "Pod", spec={"containers": [container]})
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1m", "memory": "1001m"}


def test_empty_values_vanish_where_go_cannot_tell_them_from_nothing() -> None:
    spec = defaulted(
        "v1",
        "Pod",
        spec={
            "hostNetwork": False,
            "hostname": "",
            "automountServiceAccountToken": False,
            "activeDeadlineSeconds": 0,
            "containers": [
                {
                    "name": "a",
                    "stdin": False,
                    "livenessProbe": {"initialDelaySeconds": 0, "timeoutSeconds": 0},
                }
            ],
        },
    )["spec"]
    assert "hostNetwork" not in spec
    assert "hostname" not in spec
    assert spec["automountServiceAccountToken"] is False
    assert spec["activeDeadlineSeconds"] == 0
    assert "stdin" not in spec["containers"][0]
    assert spec["containers"][0]["livenessProbe"] == {
        "failureThreshold": 3,
        "periodSeconds": 10,
        "successThreshold": 1,
        "timeoutSeconds": 1,
    }


def test_a_claim_keeps_an_empty_storage_class_and_a_volume_does_not() -> None:
    claim = defaulted("v1", "PersistentVolumeClaim", spec={"storageClassName": ""})
    assert claim["spec"] == {"storageClassName": "", "volumeMode": "Filesystem", "resources": {}}
    assert claim["status"] == {"phase": "Pending"}
    volume = defaulted("v1", "PersistentVolume", spec={"storageClassName": "", "hostPath": {"path": "/a"}})
    assert volume["spec"] == {
        "hostPath": {"path": "/a", "type": ""},
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
    }


def test_volumes_of_a_pod() -> None:
    volumes = [
        {"name": "nothing"},
        {"name": "config", "configMap": {"name": "c"}},
        {"name": "secret", "secret": {"secretName": "s", "defaultMode": 0}},
        {
            "name": "down",
            "downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]},
        },
        {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"name": "image", "image": {"reference": "nginx"}},
        {"name": "claim", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    ]
    assert defaulted("v1", "Pod", spec={"volumes": volumes})["spec"]["volumes"] == [
        {"name": "nothing", "emptyDir": {}},
        {"name": "config", "configMap": {"name": "c", "defaultMode": 420}},
        {"name": "secret", "secret": {"secretName": "s", "defaultMode": 0}},
        {
            "name": "down",
            "downwardAPI": {
                "items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}],
                "defaultMode": 420,
            },
        },
        {
            "name": "token",
            "projected": {
                "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                "defaultMode": 420,
            },
        },
        {"name": "image", "image": {"reference": "nginx", "pullPolicy": "Always"}},
        {
            "name": "claim",
            "ephemeral": {
                "volumeClaimTemplate": {"metadata": {}, "spec": {"volumeMode": "Filesystem", "resources": {}}}
            },
        },
    ]


def test_a_field_of_resources_is_divided_by_nothing_unless_said() -> None:
    env = [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]
    pod = defaulted("v1", "Pod", spec={"containers": [{"name": "a", "env": env}]})
    assert pod["spec"]["containers"][0]["env"][0]["valueFrom"]["resourceFieldRef"] == {
        "resource": "limits.cpu",
        "divisor": "0",
    }


def test_a_pod_on_its_hosts_network_has_host_ports_and_a_service_account_two_names() -> None:
    spec = {
        "hostNetwork": True,
        "serviceAccount": "robot",
        "containers": [{"name": "a", "ports": [{"containerPort": 80}]}],
    }
    pod = defaulted("v1", "Pod", spec=spec)["spec"]
    assert pod["containers"][0]["ports"] == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    assert (pod["serviceAccount"], pod["serviceAccountName"]) == ("robot", "robot")


@pytest.mark.parametrize(
    ("said", "address", "addresses"),
    [
        ({"podIP": "10.0.0.1"}, "10.0.0.1", [{"ip": "10.0.0.1"}]),
        (
            {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]},
            "10.0.0.1",
            [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
        ),
        ({"podIP": "10.0.0.2", "podIPs": [{"ip": "10.0.0.1"}]}, "10.0.0.2", [{"ip": "10.0.0.2"}]),
    ],
)
def test_the_address_of_a_pod_is_the_first_of_its_addresses(
    said: dict[str, Any], address: str, addresses: list[dict[str, str]]
) -> None:
    status = defaulted("v1", "Pod", spec={}, status=said)["status"]
    assert (status["podIP"], status["podIPs"]) == (address, addresses)


def test_the_addresses_of_a_nodes_pods_are_said_twice() -> None:
    assert defaulted("v1", "Node", spec={"podCIDR": "10.244.1.0/24"})["spec"]["podCIDRs"] == ["10.244.1.0/24"]
    assert defaulted("v1", "Node", spec={"podCIDRs": ["10.244.1.0/24"]})["spec"]["podCIDR"] == "10.244.1.0/24"


def test_lists_and_maps_that_hold_nothing_vanish() -> None:
    service = defaulted(
        "v1", "Service", metadata={"name": "x", "labels": {}}, spec={"selector": {}, "ports": []}
    )
    assert service["metadata"] == {"name": "x"}
    assert not {"selector", "ports"} & service["spec"].keys()


def test_a_pod_with_limits_of_its_own_asks_for_its_containers_sum() -> None:
    spec = {
        "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
        "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "900m"}}}],
        "containers": [
            {"name": "a", "resources": {"requests": {"cpu": "250m"}}},
            {"name": "b", "resources": {"requests": {"cpu": "250m"}}},
        ],
    }
    assert defaulted("v1", "Pod", spec=spec)["spec"]["resources"]["requests"] == {
        "cpu": "900m",
        "memory": "1Gi",
    }


def test_a_load_balancer_and_a_service_that_remembers_its_clients() -> None:
    service = defaulted(
        "v1", "Service", spec={"type": "LoadBalancer", "sessionAffinity": "ClientIP", "ports": [{"port": 80}]}
    )
    assert service["spec"] == {
        "type": "LoadBalancer",
        "sessionAffinity": "ClientIP",
        "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}},
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
        "externalTrafficPolicy": "Cluster",
        "internalTrafficPolicy": "Cluster",
        "allocateLoadBalancerNodePorts": True,
    }
    assert service["status"] == {"loadBalancer": {}}


def test_an_external_name_has_no_traffic_policy() -> None:
    service = defaulted("v1", "Service", spec={"type": "ExternalName", "externalName": "example.com"})
    assert service["spec"] == {
        "type": "ExternalName",
        "externalName": "example.com",
        "sessionAffinity": "None",
    }


def test_plain_text_of_a_secret_is_encoded_and_wins() -> None:
    secret = defaulted("v1", "Secret", data={"a": "eA==", "b": "eQ=="}, stringData={"a": "é"})
    assert secret["data"] == {"a": "w6k=", "b": "eQ=="}
    assert "stringData" not in secret
    assert secret["type"] == "Opaque"


def test_a_limit_range_for_containers_fills_its_defaults() -> None:
    item = {"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Mi"}}
    limits = defaulted("v1", "LimitRange", spec={"limits": [item]})["spec"]["limits"]
    assert limits == [{**item, "default": {"cpu": "2"}, "defaultRequest": {"cpu": "2", "memory": "1Mi"}}]


def test_a_stateful_set() -> None:
    stateful_set = defaulted(
        "apps/v1",
        "StatefulSet",
        spec={"serviceName": "db", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}]},
    )
    spec = stateful_set["spec"]
    assert spec["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": 0},
    }
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["podManagementPolicy"]) == (
        1,
        10,
        "OrderedReady",
    )
    assert spec["volumeClaimTemplates"] == [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {"resources": {}, "volumeMode": "Filesystem"},
            "status": {"phase": "Pending"},
        }
    ]
    assert stateful_set["status"] == {"replicas": 0, "availableReplicas": 0}


def test_a_daemon_set() -> None:
    daemon_set = defaulted("apps/v1", "DaemonSet", spec={})
    assert daemon_set["spec"]["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }
    assert daemon_set["status"] == {
        "currentNumberScheduled": 0,
        "desiredNumberScheduled": 0,
        "numberMisscheduled": 0,
        "numberReady": 0,
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {},
            {
                "completions": 1,
                "parallelism": 1,
                "backoffLimit": 6,
                "podReplacementPolicy": "TerminatingOrFailed",
            },
        ),
        ({"parallelism": 3}, {"parallelism": 3}),
        ({"completions": 5}, {"completions": 5, "parallelism": 1}),
        ({"backoffLimitPerIndex": 1}, {"backoffLimit": 2147483647}),
        ({"podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}),
    ],
)
def test_how_often_a_job_runs(given: dict[str, Any], expected: dict[str, Any]) -> None:
    spec = defaulted("batch/v1", "Job", spec=given)["spec"]
    assert {field: spec[field] for field in expected} == expected
    assert ("completions" in spec) == ("parallelism" not in given)


def test_a_job_takes_the_labels_of_its_pods_if_it_has_none() -> None:
    template = {"metadata": {"labels": {"app": "a"}}}
    assert defaulted("batch/v1", "Job", spec={"template": template})["metadata"]["labels"] == {"app": "a"}


def test_a_cron_job_leaves_the_defaults_of_jobs_to_the_job() -> None:
    cron_job = defaulted("batch/v1", "CronJob", spec={"schedule": "* * * * *"})
    assert cron_job["spec"] == {
        "schedule": "* * * * *",
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {
            "metadata": {},
            "spec": {
                "template": {
                    "metadata": {},
                    "spec": {
                        "dnsPolicy": "ClusterFirst",
                        "restartPolicy": "Always",
                        "schedulerName": "default-scheduler",
                        "securityContext": {},
                        "terminationGracePeriodSeconds": 30,
                    },
                }
            },
        },
    }
    assert cron_job["status"] == {}


def test_an_autoscaler_follows_cpu_and_completes_its_behaviour() -> None:
    spec = {"maxReplicas": 3, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}}}
    autoscaler = defaulted("autoscaling/v2", "HorizontalPodAutoscaler", spec=spec)
    assert autoscaler["spec"]["minReplicas"] == 1
    assert autoscaler["spec"]["metrics"] == [
        {
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
        }
    ]
    assert autoscaler["spec"]["behavior"] == {
        "scaleUp": {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 15},
                {"type": "Percent", "value": 100, "periodSeconds": 15},
            ],
        },
        "scaleDown": {
            "stabilizationWindowSeconds": 60,
            "selectPolicy": "Max",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
        },
    }
    assert autoscaler["status"] == {"currentMetrics": None, "desiredReplicas": 0}


def test_an_autoscaler_of_version_1_says_how_many_replicas_there_are() -> None:
    autoscaler = defaulted("autoscaling/v1", "HorizontalPodAutoscaler", spec={"maxReplicas": 3})
    assert autoscaler["spec"] == {
        "maxReplicas": 3,
        "minReplicas": 1,
        "scaleTargetRef": {"kind": "", "name": ""},
    }
    assert autoscaler["status"] == {"currentReplicas": 0, "desiredReplicas": 0}


@pytest.mark.parametrize(
    ("spec", "kinds"),
    [({}, ["Ingress"]), ({"egress": [{}]}, ["Ingress", "Egress"]), ({"policyTypes": ["Egress"]}, ["Egress"])],
)
def test_what_a_network_policy_is_about(spec: dict[str, Any], kinds: list[str]) -> None:
    policy = defaulted("networking.k8s.io/v1", "NetworkPolicy", spec=spec)
    assert policy["spec"]["policyTypes"] == kinds
    assert policy["spec"]["podSelector"] == {}


def test_bindings_name_the_groups_of_their_parts() -> None:
    subjects = [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]
    binding = defaulted(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        roleRef={"kind": "Role", "name": "r"},
        subjects=subjects,
    )
    assert binding["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"
    assert binding["subjects"][0]["apiGroup"] == "rbac.authorization.k8s.io"
    assert "apiGroup" not in binding["subjects"][1]


@pytest.mark.parametrize(
    ("api_version", "kind", "printed"),
    [
        ("rbac.authorization.k8s.io/v1", "ClusterRole", {"rules": None}),
        ("discovery.k8s.io/v1", "EndpointSlice", {"addressType": "", "endpoints": None, "ports": None}),
        ("coordination.k8s.io/v1", "Lease", {"spec": {}}),
        ("scheduling.k8s.io/v1", "PriorityClass", {"value": 0, "preemptionPolicy": "PreemptLowerPriority"}),
        (
            "storage.k8s.io/v1",
            "StorageClass",
            {"provisioner": "", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
        ),
        ("networking.k8s.io/v1", "Ingress", {"spec": {}, "status": {"loadBalancer": {}}}),
        (
            "policy/v1",
            "PodDisruptionBudget",
            {
                "spec": {},
                "status": {
                    "currentHealthy": 0,
                    "desiredHealthy": 0,
                    "disruptionsAllowed": 0,
                    "expectedPods": 0,
                },
            },
        ),
        (
            "v1",
            "Event",
            {
                "involvedObject": {},
                "source": {},
                "firstTimestamp": None,
                "lastTimestamp": None,
                "eventTime": None,
                "reportingComponent": "",
                "reportingInstance": "",
            },
        ),
        ("v1", "Namespace", {"spec": {}, "status": {"phase": "Active"}}),
        ("v1", "ConfigMap", {}),
    ],
)
def test_what_is_printed_of_an_object_that_says_nothing(
    api_version: str, kind: str, printed: dict[str, Any]
) -> None:
    obj = defaulted(api_version, kind)
    assert {
        field: value for field, value in obj.items() if field not in ("apiVersion", "kind", "metadata")
    } == printed


def test_a_definition_completes_its_names() -> None:
    definition = defaulted(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        spec={
            "group": "example.com",
            "names": {"kind": "FooBar", "plural": "foobars"},
            "versions": [{"name": "v1", "served": True, "storage": True}],
            "preserveUnknownFields": False,
        },
    )
    assert definition["spec"]["names"] == {
        "kind": "FooBar",
        "plural": "foobars",
        "singular": "foobar",
        "listKind": "FooBarList",
    }
    assert definition["spec"]["conversion"] == {"strategy": "None"}
    assert "preserveUnknownFields" not in definition["spec"]
    assert definition["status"] == {
        "acceptedNames": {"kind": "", "plural": ""},
        "conditions": None,
        "storedVersions": ["v1"],
    }


def test_webhooks_fail_closed_after_ten_seconds() -> None:
    webhook = {"name": "a.b.c", "clientConfig": {"service": {"name": "s", "namespace": "n"}}, "rules": [{}]}
    configuration = defaulted(
        "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", webhooks=[webhook]
    )
    assert configuration["webhooks"] == [
        {
            "name": "a.b.c",
            "clientConfig": {"service": {"name": "s", "namespace": "n", "port": 443}},
            "rules": [{"scope": "*"}],
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "namespaceSelector": {},
            "objectSelector": {},
            "reinvocationPolicy": "Never",
            "timeoutSeconds": 10,
        }
    ]


def test_a_custom_resource_is_left_alone() -> None:
    resource = Resource("example.com", "v1", "foos", "foo", "Foo", True, ("create",), custom={})
    obj = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {}, "spec": {"name": ""}}
    apply_defaults(resource, obj)
    assert obj == {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {}, "spec": {"name": ""}}
