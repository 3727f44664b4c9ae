"""All default objects, including those without a module of their own."""

from __future__ import annotations

from ipaddress import ip_network

from msgspec import Struct

from simcloud.kubernetes.api.bootstrap.api_services import api_services
from simcloud.kubernetes.api.bootstrap.flow_control import flow_schemas, priority_levels
from simcloud.kubernetes.api.bootstrap.policy import default_policy
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.times import rfc3339

_PRIORITY_CLASSES = (
    (
        "system-node-critical",
        2000001000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2000000000,
        "Used for system critical pods that must run in the cluster, "
        "but can be moved to another node if necessary.",
    ),
)
_ROOT_CA_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such "
    "as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across "
    "distributions of Kubernetes clusters."
)


class ClusterFacts(Struct, frozen=True):
    """What the default objects tell of a cluster: its birth, its addresses, its certificates.

    The front proxy's certificate authority is published only where there is one.
    """

    now_s: float = 0.0
    address: str = "172.18.0.2"
    port: int = 6443
    service_cidr: str = "10.96.0.0/16"
    client_ca: str = ""
    front_proxy_ca: str = ""


def default_objects(catalogue: Catalogue, facts: ClusterFacts | None = None) -> list[Object]:
    """Every default object in the order of creation, without what the server sets."""
    facts = facts or ClusterFacts()
    time = rfc3339(facts.now_s)
    return [
        namespace("kube-system"),
        namespace("kube-public"),
        service_cidr(facts, time),
        namespace("default"),
        *api_services(catalogue, time),
        namespace("kube-node-lease"),
        *priority_levels(),
        *flow_schemas(time),
        *(priority_class(*entry) for entry in _PRIORITY_CLASSES),
        *default_policy(),
        authentication_config_map(facts),
        _config_map("kube-apiserver-legacy-service-account-token-tracking", {"since": time[:10]}),
        *kubernetes_service(facts),
    ]


def manager_of(obj: Object) -> str:
    """The field manager that makes a default object."""
    if obj["apiVersion"].startswith("flowcontrol."):
        return "api-priority-and-fairness-config-producer-v1"
    return "kube-apiserver"


def namespace(name: str) -> Object:
    """A namespace as it stands once it is made."""
    return {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def priority_class(name: str, value: int, description: str) -> Object:
    """A PriorityClass that preempts."""
    return {
        "kind": "PriorityClass",
        "apiVersion": "scheduling.k8s.io/v1",
        "metadata": {"name": name},
        "value": value,
        "description": description,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def service_cidr(facts: ClusterFacts, time: str) -> Object:
    """The range of the Services' addresses."""
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": time,
        "reason": "",
        "message": "Kubernetes Service CIDR is ready",
    }
    return {
        "kind": "ServiceCIDR",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": "kubernetes", "finalizers": ["networking.k8s.io/service-cidr-finalizer"]},
        "spec": {"cidrs": [facts.service_cidr]},
        "status": {"conditions": [ready]},
    }


def kubernetes_service(facts: ClusterFacts) -> list[Object]:
    """The API server as a Service, with its address and its endpoints."""
    address = str(ip_network(facts.service_cidr)[1])
    home = {"name": "kubernetes", "namespace": "default"}
    port = {"name": "https", "port": facts.port, "protocol": "TCP"}
    return [
        {
            "kind": "Service",
            "apiVersion": "v1",
            "metadata": {**home, "labels": {"component": "apiserver", "provider": "kubernetes"}},
            "spec": {
                "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": facts.port}],
                "clusterIP": address,
                "clusterIPs": [address],
                "type": "ClusterIP",
                "sessionAffinity": "None",
                "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack",
                "internalTrafficPolicy": "Cluster",
            },
            "status": {"loadBalancer": {}},
        },
        ip_address(address, "kubernetes", "default"),
        {
            "kind": "Endpoints",
            "apiVersion": "v1",
            "metadata": {**home, "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
            "subsets": [{"addresses": [{"ip": facts.address}], "ports": [port]}],
        },
        {
            "kind": "EndpointSlice",
            "apiVersion": "discovery.k8s.io/v1",
            "metadata": {**home, "labels": {"kubernetes.io/service-name": "kubernetes"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [facts.address], "conditions": {"ready": True}}],
            "ports": [{"name": "https", "protocol": "TCP", "port": facts.port}],
        },
    ]


def ip_address(address: str, service: str, namespace: str) -> Object:
    """The IPAddress that a Service's address is taken by."""
    return {
        "kind": "IPAddress",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {
            "name": address,
            "labels": {
                "ipaddress.kubernetes.io/ip-family": "IPv4",
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            },
        },
        "spec": {"parentRef": {"resource": "services", "namespace": namespace, "name": service}},
    }


def authentication_config_map(facts: ClusterFacts) -> Object:
    """How extension API servers tell who is asking."""
    data = {"client-ca-file": facts.client_ca}
    if facts.front_proxy_ca:
        data |= {
            "requestheader-allowed-names": '["front-proxy-client"]',
            "requestheader-client-ca-file": facts.front_proxy_ca,
            "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
            "requestheader-group-headers": '["X-Remote-Group"]',
            "requestheader-username-headers": '["X-Remote-User"]',
        }
    return _config_map("extension-apiserver-authentication", data)


def root_ca_config_map(namespace: str, certificate: str) -> Object:
    """The ``kube-root-ca.crt`` that every namespace gets from the root CA publisher."""
    made = _config_map("kube-root-ca.crt", {"ca.crt": certificate}, namespace)
    made["metadata"]["annotations"] = {"kubernetes.io/description": _ROOT_CA_DESCRIPTION}
    return made


def default_service_account(namespace: str) -> Object:
    """The ServiceAccount that every namespace gets from the service account controller."""
    return {
        "kind": "ServiceAccount",
        "apiVersion": "v1",
        "metadata": {"name": "default", "namespace": namespace},
    }


def _config_map(name: str, data: dict[str, str], namespace: str = "kube-system") -> Object:
    return {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }
