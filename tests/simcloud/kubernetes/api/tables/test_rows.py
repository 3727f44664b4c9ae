"""Rows of every kind: first what a recorded cluster printed, then what the other kinds' columns say."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.tables import make_table
from tests.simcloud.kubernetes.api.tables.kubectl_table import printed

CATALOGUE = Catalogue()
NOW_S = times.parse("2026-11-15T12:00:00Z")
Object = dict[str, Any]


def made(name: str, ago_s: float = 10, **parts: Any) -> Object:
    metadata = {"name": name, "creationTimestamp": times.rfc3339(NOW_S - ago_s), **parts.pop("metadata", {})}
    return {"metadata": metadata, **parts}


def ago(seconds: float) -> str:
    return times.rfc3339(NOW_S - seconds)


def claim(name: str, ago_s: float, phase: str, volume: str = "", size: str = "", **spec: Any) -> Object:
    bound = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"]} if volume else {}
    return made(name, ago_s, spec={"volumeName": volume, **spec}, status={"phase": phase, **bound})


def endpoints(name: str, port: int, *addresses: str) -> Object:
    if not addresses:
        return made(name, 55)
    return made(
        name, 55, subsets=[{"addresses": [{"ip": ip} for ip in addresses], "ports": [{"port": port}]}]
    )


def endpoint_slice(name: str, ports: list[Object], *addresses: str) -> Object:
    found = [{"addresses": [address]} for address in addresses]
    return made(name, 55, addressType="IPv4", ports=ports, endpoints=found)


def job(name: str, ago_s: float, condition: str, done: int, wanted: int, took_s: float | None) -> Object:
    status: Object = {"startTime": ago(ago_s), "conditions": [{"type": condition, "status": "True"}]}
    if done:
        status["succeeded"] = done
    if took_s is not None:
        status["completionTime"] = ago(ago_s - took_s)
    return made(name, ago_s, spec={"completions": wanted, "parallelism": 1}, status=status)


def service(name: str, kind: str, address: str, **port: Any) -> Object:
    ports = [{"port": 80, "protocol": "TCP", **port}]
    return made(name, 55, spec={"type": kind, "clusterIPs": [address], "ports": ports})


def node(
    name: str, ready: str, ago_s: float, *, cordoned: bool = False, roles: tuple[str, ...] = ()
) -> Object:
    return made(
        name,
        ago_s,
        metadata={"labels": {f"node-role.kubernetes.io/{role}": "" for role in roles}},
        spec={"unschedulable": True} if cordoned else {},
        status={
            "conditions": [{"type": "Ready", "status": ready}],
            "nodeInfo": {"kubeletVersion": "v1.36.4"},
        },
    )


def autoscaler(*metrics: Object, found: tuple[Object, ...] = (), **spec: Any) -> Object:
    return made(
        "web",
        20,
        spec={
            "scaleTargetRef": {"kind": "Deployment", "name": "web"},
            "minReplicas": 1,
            "maxReplicas": 5,
            "metrics": list(metrics),
            **spec,
        },
        status={"currentReplicas": 2, "currentMetrics": list(found)},
    )


def resource_metric(name: str, **target: Any) -> Object:
    return {"type": "Resource", "resource": {"name": name, "target": target}}


IPS = ("10.244.0.50", "10.244.0.51", "10.244.0.56", "10.244.0.57")

RECORDED = {
    "nodes": (
        [
            node("kind-control-plane", "True", 55, roles=("control-plane",)),
            node("kind-worker", "True", 55, cordoned=True),
            node("lost", "Unknown", 11 * 60),
        ],
        """\
NAME                 STATUS                     ROLES           AGE   VERSION
kind-control-plane   Ready                      control-plane   55s   v1.36.4
kind-worker          Ready,SchedulingDisabled   <none>          55s   v1.36.4
lost                 NotReady                   <none>          11m   v1.36.4
""",
    ),
    "services": (
        [
            service("web", "ClusterIP", "10.96.125.250"),
            service("web-lb", "LoadBalancer", "10.96.192.219", nodePort=32607),
            service("web-np", "NodePort", "10.96.75.204", nodePort=30080),
        ],
        """\
NAME     TYPE           CLUSTER-IP      EXTERNAL-IP   PORT(S)        AGE
web      ClusterIP      10.96.125.250   <none>        80/TCP         55s
web-lb   LoadBalancer   10.96.192.219   <pending>     80:32607/TCP   55s
web-np   NodePort       10.96.75.204    <none>        80:30080/TCP   55s
""",
    ),
    "endpoints": (
        [
            endpoints("web", 80, *IPS[2:]),
            endpoints("web-noendpoints", 80),
            endpoints("web-wrongport", 8080, *IPS[2:]),
        ],
        """\
NAME              ENDPOINTS                           AGE
web               10.244.0.56:80,10.244.0.57:80       55s
web-noendpoints   <none>                              55s
web-wrongport     10.244.0.56:8080,10.244.0.57:8080   55s
""",
    ),
    "endpointslices.discovery.k8s.io": (
        [
            endpoint_slice("web-4nqj4", [{"port": 80}], *IPS),
            endpoint_slice("web-noendpoints-lx572", []),
            endpoint_slice("web-wrongport-n7p2t", [{"port": 8080}], *IPS),
        ],
        """\
NAME                    ADDRESSTYPE   PORTS     ENDPOINTS                                         AGE
web-4nqj4               IPv4          80        10.244.0.50,10.244.0.51,10.244.0.56 + 1 more...   55s
web-noendpoints-lx572   IPv4          <unset>   <unset>                                           55s
web-wrongport-n7p2t     IPv4          8080      10.244.0.50,10.244.0.51,10.244.0.56 + 1 more...   55s
""",
    ),
    "networkpolicies.networking.k8s.io": (
        [
            made("allow-web", 0, spec={"podSelector": {"matchLabels": {"app": "web"}}}),
            made("deny-all", 0, spec={"podSelector": {}}),
        ],
        """\
NAME        POD-SELECTOR   AGE
allow-web   app=web        0s
deny-all    <none>         0s
""",
    ),
    "ingresses.networking.k8s.io": (
        [made("web", 0, spec={"rules": [{"host": "web.example.com"}]}, status={"loadBalancer": {}})],
        """\
NAME   CLASS    HOSTS             ADDRESS   PORTS   AGE
web    <none>   web.example.com             80      0s
""",
    ),
    "horizontalpodautoscalers.autoscaling": (
        [autoscaler(resource_metric("cpu", type="Utilization", averageUtilization=50))],
        """\
NAME   REFERENCE        TARGETS              MINPODS   MAXPODS   REPLICAS   AGE
web    Deployment/web   cpu: <unknown>/50%   1         5         2          20s
""",
    ),
    "statefulsets.apps": (
        [
            made("db", 12, spec={"replicas": 3}, status={"replicas": 3, "readyReplicas": 3}),
            made("pg", 12, spec={"replicas": 2}, status={"replicas": 1}),
        ],
        """\
NAME   READY   AGE
db     3/3     12s
pg     0/2     12s
""",
    ),
    "daemonsets.apps": (
        [
            made(
                "agent",
                22,
                spec={"template": {"spec": {"containers": [{"name": "agent"}]}}},
                status={
                    "desiredNumberScheduled": 1,
                    "currentNumberScheduled": 1,
                    "numberReady": 1,
                    "updatedNumberScheduled": 1,
                    "numberAvailable": 1,
                },
            )
        ],
        """\
NAME    DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
agent   1         1         1       1            1           <none>          22s
""",
    ),
    "jobs.batch": (
        [
            job("bad-job", 25, "Failed", 0, 1, None),
            job("ok-job", 25, "Complete", 2, 2, 9),
            job("tick-29911736", 7, "Complete", 1, 1, 3),
        ],
        """\
NAME            STATUS     COMPLETIONS   DURATION   AGE
bad-job         Failed     0/1           25s        25s
ok-job          Complete   2/2           9s         25s
tick-29911736   Complete   1/1           3s         7s
""",
    ),
    "cronjobs.batch": (
        [
            made(
                "tick",
                48,
                spec={"schedule": "*/1 * * * *", "suspend": False},
                status={"lastScheduleTime": ago(30)},
            )
        ],
        """\
NAME   SCHEDULE      TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE
tick   */1 * * * *   <none>     False     0        30s             48s
""",
    ),
    "persistentvolumes": (
        [
            made(
                "pv1",
                12 * 60,
                spec={
                    "capacity": {"storage": "2Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "claimRef": {"namespace": "lab", "name": "data"},
                },
                status={"phase": "Released"},
            ),
            made(
                "pv2",
                4,
                spec={
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "claimRef": {"namespace": "lab2", "name": "c"},
                    "storageClassName": "manual",
                },
                status={"phase": "Bound"},
            ),
        ],
        """\
NAME   CAPACITY   ACCESS MODES   RECLAIM POLICY   STATUS     CLAIM      STORAGECLASS   VOLUMEATTRIBUTESCLASS   REASON   AGE
pv1    2Gi        RWO            Retain           Released   lab/data                  <unset>                          12m
pv2    1Gi        RWO            Retain           Bound      lab2/c     manual         <unset>                          4s
""",
    ),
    "persistentvolumeclaims": (
        [
            claim("data", 5 * 60 + 18, "Bound", "pv1", "2Gi"),
            claim("data-pg-0", 22, "Pending"),
            claim("data-sc", 5 * 60 + 18, "Pending", storageClassName="nosuch-sc"),
            {
                **claim("going", 9, "Bound", "pv2", "1Gi", storageClassName="manual"),
                "metadata": {"name": "going", "creationTimestamp": ago(9), "deletionTimestamp": ago(1)},
            },
        ],
        """\
NAME        STATUS        VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   VOLUMEATTRIBUTESCLASS   AGE
data        Bound         pv1      2Gi        RWO                           <unset>                 5m18s
data-pg-0   Pending                                                         <unset>                 22s
data-sc     Pending                                          nosuch-sc      <unset>                 5m18s
going       Terminating   pv2      1Gi        RWO            manual         <unset>                 9s
""",
    ),
    "poddisruptionbudgets.policy": (
        [made("web", 3, spec={"minAvailable": 2}, status={"disruptionsAllowed": 0})],
        """\
NAME   MIN AVAILABLE   MAX UNAVAILABLE   ALLOWED DISRUPTIONS   AGE
web    2               N/A               0                     3s
""",
    ),
    "priorityclasses.scheduling.k8s.io": (
        [
            made("high", 0, value=100000, preemptionPolicy="PreemptLowerPriority"),
            made(
                "system-cluster-critical", 14 * 60, value=2000000000, preemptionPolicy="PreemptLowerPriority"
            ),
        ],
        """\
NAME                      VALUE        GLOBAL-DEFAULT   AGE   PREEMPTIONPOLICY
high                      100000       false            0s    PreemptLowerPriority
system-cluster-critical   2000000000   false            14m   PreemptLowerPriority
""",
    ),
    "storageclasses.storage.k8s.io": (
        [
            made(
                "standard",
                0,
                metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
                provisioner="rancher.io/local-path",
                reclaimPolicy="Delete",
                volumeBindingMode="WaitForFirstConsumer",
            )
        ],
        """\
NAME                 PROVISIONER             RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE
standard (default)   rancher.io/local-path   Delete          WaitForFirstConsumer   false                  0s
""",
    ),
    "configmaps": (
        [made("app-config", 5, data={"a": "1"}), made("kube-root-ca.crt", 36, binaryData={"b": ""})],
        """\
NAME               DATA   AGE
app-config         1      5s
kube-root-ca.crt   1      36s
""",
    ),
    "secrets": (
        [made("s1", 0, type="Opaque", data={"k": "dg=="})],
        """\
NAME   TYPE     DATA   AGE
s1     Opaque   1      0s
""",
    ),
    "namespaces": (
        [made("default", 20, status={"phase": "Active"})],
        """\
NAME      STATUS   AGE
default   Active   20s
""",
    ),
    "clusterroles.rbac.authorization.k8s.io": (
        [made("view", 20)],
        """\
NAME   CREATED AT
view   2026-11-15T11:59:40Z
""",
    ),
}


def rows(resource: str, objects: list[Object]) -> Any:
    plural, _, group = resource.partition(".")
    return make_table(CATALOGUE.find(plural, group), objects, now_s=NOW_S, list_metadata={})


@pytest.mark.parametrize(("resource", "case"), RECORDED.items(), ids=RECORDED.keys())
def test_as_recorded(resource: str, case: tuple[list[Object], str]) -> None:
    objects, expected = case
    assert printed(rows(resource, objects)) == expected


def test_all_namespaces_and_wide() -> None:
    def deployment(name: str, ago_s: float, image: str, ready: int) -> Object:
        return made(
            name,
            ago_s,
            metadata={"namespace": "demo"},
            spec={
                "replicas": max(ready, 1),
                "selector": {"matchLabels": {"app": name}},
                "template": {"spec": {"containers": [{"name": "nginx", "image": image}]}},
            },
            status={
                "updatedReplicas": max(ready, 1),
                **({"readyReplicas": ready, "availableReplicas": ready} if ready else {}),
            },
        )

    objects = [deployment("tmp", 9, "nginx:bad", 0), deployment("web", 41, "nginx:1.19", 2)]
    assert (
        printed(rows("deployments.apps", objects), namespace=True, wide=True)
        == """\
NAMESPACE   NAME   READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES       SELECTOR
demo        tmp    0/1     1            0           9s    nginx        nginx:bad    app=tmp
demo        web    2/2     2            2           41s   nginx        nginx:1.19   app=web
"""
    )


TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y"}]}}
SELECTOR = {"matchLabels": {"app": "web"}}

CELLS = {
    "deployments.apps": (
        made(
            "d",
            spec={"replicas": 3, "template": TEMPLATE, "selector": SELECTOR},
            status={"updatedReplicas": 1},
        ),
        ["d", "0/3", 1, 0, "10s", "a,b", "x:1,y", "app=web"],
    ),
    "replicasets.apps": (
        made("r", spec={"replicas": 1, "template": TEMPLATE, "selector": SELECTOR}, status={"replicas": 2}),
        ["r", 1, 2, 0, "10s", "a,b", "x:1,y", "app=web"],
    ),
    "replicationcontrollers": (
        made("r", spec={"replicas": 1, "template": TEMPLATE, "selector": {"b": "2", "a": "1"}}),
        ["r", 1, 0, 0, "10s", "a,b", "x:1,y", "a=1,b=2"],
    ),
    "controllerrevisions.apps": (
        made(
            "c",
            metadata={
                "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "controller": True}
                ]
            },
            revision=3,
        ),
        ["c", "daemonset.apps/agent", 3, "10s"],
    ),
    "podtemplates": (made("t", template=TEMPLATE), ["t", "a,b", "x:1,y", "<none>"]),
    "cronjobs.batch": (
        made(
            "c",
            spec={
                "schedule": "@daily",
                "timeZone": "Europe/Paris",
                "jobTemplate": {"spec": {"template": TEMPLATE, "selector": SELECTOR}},
            },
            status={"active": [{}, {}]},
        ),
        ["c", "@daily", "Europe/Paris", "<unset>", 2, "<none>", "10s", "a,b", "x:1,y", "app=web"],
    ),
    "resourcequotas": (
        made(
            "q",
            status={
                "hard": {"pods": "10", "limits.cpu": "2", "requests.cpu": "1"},
                "used": {"pods": "3", "limits.cpu": "500m"},
            },
        ),
        ["q", "pods: 3/10, requests.cpu: 0/1", "limits.cpu: 500m/2", "10s"],
    ),
    "serviceaccounts": (made("default"), ["default", "10s"]),
    "limitranges": (made("l"), ["l", "2026-11-15T11:59:50Z"]),
    "componentstatuses": (
        made("etcd-0", conditions=[{"type": "Healthy", "status": "True", "message": "ok"}]),
        ["etcd-0", "Healthy", "ok", ""],
    ),
    "ingressclasses.networking.k8s.io": (
        made(
            "nginx",
            metadata={"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
            spec={
                "controller": "k8s.io/nginx",
                "parameters": {"apiGroup": "k8s.example.com", "kind": "Parameters", "name": "lb"},
            },
        ),
        ["nginx (default)", "k8s.io/nginx", "Parameters.k8s.example.com/lb", "10s"],
    ),
    "ingresses.networking.k8s.io": (
        made(
            "i",
            spec={
                "ingressClassName": "nginx",
                "rules": [{"host": host} for host in "abcd"],
                "tls": [{}],
            },
            status={"loadBalancer": {"ingress": [{"hostname": "lb.example.com"}, {"ip": "1.2.3.4"}]}},
        ),
        ["i", "nginx", "a,b,c + 1 more...", "1.2.3.4,lb.example.com", "80, 443", "10s"],
    ),
    "rolebindings.rbac.authorization.k8s.io": (
        made(
            "b",
            roleRef={"kind": "Role", "name": "r"},
            subjects=[
                {"kind": "User", "name": "ann"},
                {"kind": "User", "name": "bob"},
                {"kind": "Group", "name": "ops"},
                {"kind": "ServiceAccount", "namespace": "demo", "name": "sa1"},
            ],
        ),
        ["b", "Role/r", "10s", "ann, bob", "ops", "demo/sa1"],
    ),
    "leases.coordination.k8s.io": (made("l", spec={"holderIdentity": "node-1"}), ["l", "node-1", "10s"]),
    "validatingwebhookconfigurations.admissionregistration.k8s.io": (
        made("w", webhooks=[{}]),
        ["w", 1, "10s"],
    ),
    "validatingadmissionpolicies.admissionregistration.k8s.io": (
        made("p", spec={"validations": [{}, {}], "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}),
        ["p", 2, "v1/ConfigMap", "10s"],
    ),
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": (
        made("b", spec={"policyName": "p", "paramRef": {"selector": {"matchLabels": {"a": "1"}}}}),
        [
            "b",
            "p",
            "&LabelSelector{MatchLabels:map[string]string{a: 1,},MatchExpressions:[]LabelSelectorRequirement{},}",
            "10s",
        ],
    ),
    "apiservices.apiregistration.k8s.io": (
        made(
            "v1beta1.metrics.k8s.io",
            spec={"service": {"namespace": "kube-system", "name": "metrics-server"}},
            status={"conditions": [{"type": "Available", "status": "False", "reason": "MissingEndpoints"}]},
        ),
        ["v1beta1.metrics.k8s.io", "kube-system/metrics-server", "False (MissingEndpoints)", "10s"],
    ),
}


@pytest.mark.parametrize(("resource", "case"), CELLS.items(), ids=CELLS.keys())
def test_cells(resource: str, case: tuple[Object, list[Any]]) -> None:
    obj, expected = case
    assert rows(resource, [obj])["rows"][0]["cells"] == expected


CPU = resource_metric("cpu", averageUtilization=80)


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (autoscaler(), "<none>"),
        (
            autoscaler(CPU, found=({"resource": {"name": "cpu", "current": {"averageUtilization": 12}}},)),
            "cpu: 12%/80%",
        ),
        (autoscaler(resource_metric("memory", averageValue="100Mi")), "memory: <unknown>/100Mi"),
        (
            autoscaler(
                {"type": "Pods", "pods": {"target": {"averageValue": "1k"}}},
                found=({"pods": {"current": {"averageValue": "10m"}}},),
            ),
            "10m/1k",
        ),
        (
            autoscaler({"type": "Object", "object": {"target": {"value": "5"}}}, CPU, CPU),
            "<unknown>/5, cpu: <unknown>/80% + 1 more...",
        ),
        (
            autoscaler({"type": "External", "external": {"target": {"averageValue": "5"}}}),
            "<unknown>/5 (avg)",
        ),
        (
            autoscaler({"type": "Pods", "pods": {"target": {"averageValue": "1"}}}, found=({"pods": {}},)),
            "<nil>/1",
        ),
        (autoscaler({"type": "New"}), "<unknown type>"),
        (autoscaler(targetCPUUtilizationPercentage=50), "cpu: <unknown>/50%"),
    ],
)
def test_targets_of_an_autoscaler(obj: Object, expected: str) -> None:
    assert rows("horizontalpodautoscalers.autoscaling", [obj])["rows"][0]["cells"][2] == expected


@pytest.mark.parametrize(
    ("status", "metadata", "expected"),
    [
        ({}, {}, "Running"),
        ({"conditions": [{"type": "Suspended", "status": "True"}]}, {}, "Suspended"),
        ({"conditions": [{"type": "Suspended", "status": "False"}]}, {}, "Running"),
        ({"conditions": [{"type": "FailureTarget", "status": "True"}]}, {}, "FailureTarget"),
        ({"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}, {}, "SuccessCriteriaMet"),
        ({}, {"deletionTimestamp": "2026-11-15T12:00:00Z"}, "Terminating"),
        ({"conditions": [{"type": "Complete", "status": "True"}]}, {"deletionTimestamp": "x"}, "Complete"),
    ],
)
def test_status_of_a_job(status: Object, metadata: Object, expected: str) -> None:
    assert (
        rows("jobs.batch", [made("j", metadata=metadata, status=status)])["rows"][0]["cells"][1] == expected
    )


def test_completions_of_a_job_without_a_count() -> None:
    several, one = (made("j", spec={"parallelism": parallelism}) for parallelism in (3, 1))
    assert [row["cells"][2] for row in rows("jobs.batch", [several, one])["rows"]] == ["0/1 of 3", "0/1"]


EVENT = {
    "type": "Warning",
    "reason": "BackOff",
    "involvedObject": {"kind": "Pod", "name": "web", "fieldPath": "spec.containers{web}"},
    "source": {"component": "kubelet", "host": "n1"},
    "message": " Back-off \n",
    "firstTimestamp": "2026-11-15T11:00:00Z",
    "lastTimestamp": "2026-11-15T11:58:00Z",
    "count": 7,
}
OWN_EVENT = {
    "type": "Warning",
    "reason": "BackOff",
    "regarding": EVENT["involvedObject"],
    "deprecatedSource": EVENT["source"],
    "note": EVENT["message"],
    "deprecatedFirstTimestamp": EVENT["firstTimestamp"],
    "deprecatedLastTimestamp": EVENT["lastTimestamp"],
    "deprecatedCount": 7,
}


@pytest.mark.parametrize(("resource", "event"), [("events", EVENT), ("events.events.k8s.io", OWN_EVENT)])
def test_events_in_both_forms(resource: str, event: Object) -> None:
    cells = rows(resource, [made("e", **event)])["rows"][0]["cells"]
    assert cells[:5] == ["2m", "Warning", "BackOff", "pod/web", "spec.containers{web}"]
    assert cells[5:] == ["kubelet, n1", "Back-off", "60m", 7, "e"]


def test_events_of_the_newer_api() -> None:
    single = {"eventTime": "2026-11-15T11:59:00.250000Z", "reportingComponent": "scheduler"}
    repeated = {**single, "series": {"count": 4, "lastObservedTime": "2026-11-15T11:59:30.000000Z"}}
    first, second = (
        row["cells"] for row in rows("events", [made("a", **single), made("b", **repeated)])["rows"]
    )
    assert [first[0], first[5], first[7], first[8]] == ["59s", "scheduler", "59s", 1]
    assert [second[0], second[7], second[8]] == ["30s", "59s", 4]


@pytest.mark.parametrize(
    ("spec", "balancer", "expected"),
    [
        ({"type": "ExternalName", "externalName": "example.com"}, [], "example.com"),
        ({"type": "ClusterIP", "externalIPs": ["1.1.1.1", "2.2.2.2"]}, [], "1.1.1.1,2.2.2.2"),
        ({"type": "LoadBalancer"}, [{"ip": "9.9.9.9"}, {"hostname": "lb"}], "9.9.9.9,lb"),
        ({"type": "LoadBalancer", "externalIPs": ["1.1.1.1"]}, [{"ip": "9.9.9.9"}], "9.9.9.9,1.1.1.1"),
        ({"type": "LoadBalancer", "externalIPs": ["1.1.1.1"]}, [], "1.1.1.1"),
    ],
)
def test_external_address_of_a_service(spec: Object, balancer: list[Object], expected: str) -> None:
    obj = made("s", spec=spec, status={"loadBalancer": {"ingress": balancer}})
    cells = rows("services", [obj])["rows"][0]["cells"]
    assert cells[2:5] == ["<none>", expected, "<none>"]
