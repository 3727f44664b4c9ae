"""System components as processes of the nodes, for clusters without system pods: kube-proxy and DNS.

DNS runs on the first node and is reached at its usual address through a Service without a selector, whose endpoint is
that node. Names outside the cluster are forwarded to the gateway.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from simcloud.kubernetes.addons.programs import kube_proxy
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.network.coredns import coredns_on_host
from simcloud.kubernetes.network.dns_policy import CLUSTER_DNS
from simcloud.kubernetes.network.gateway import ADDRESS as GATEWAY
from simcloud.kubernetes.network.rules import SERVICE_NAME
from simcloud.kubernetes.network.services import ServiceProxies
from simcloud.machine import Machine, Unit

COREFILE_PATH: Final = "/etc/coredns/Corefile"
COREFILE: Final = """\
cluster.local in-addr.arpa ip6.arpa {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        ttl 30
    }
    loadbalance
}
. {
    forward . GATEWAY
}
""".replace("GATEWAY", GATEWAY)
NAMESPACE: Final = "kube-system"
NAME: Final = "kube-dns"
PORTS: Final = (("dns", "UDP"), ("dns-tcp", "TCP"))
PORT: Final = 53


def start_on_hosts(api: Api, machines: Sequence[Machine], services: ServiceProxies) -> None:
    """Start kube-proxy on every machine, and DNS on the first."""
    for machine in machines:
        proxy = partial(machine.host.start, ["/usr/local/bin/kube-proxy"], program=kube_proxy(api, services))
        Unit(machine, "kube-proxy.service", "Kubernetes Kube Proxy", proxy).start()
    first = machines[0].host
    first.files.mkdir("/etc/coredns", 0o755, parents=True)
    first.files.put(COREFILE_PATH, COREFILE.encode())
    dns = partial(
        first.start, ["/usr/local/bin/coredns", "-conf", COREFILE_PATH], program=coredns_on_host(api)
    )
    Unit(machines[0], "coredns.service", "CoreDNS DNS server", dns).start()


def dns_objects(address: str) -> list[Object]:
    """The Service of DNS, and its endpoint at a node's address."""
    metadata: Object = {"name": NAME, "namespace": NAMESPACE}
    ports = [{"name": name, "port": PORT, "protocol": protocol} for name, protocol in PORTS]
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata,
            "spec": {"clusterIP": CLUSTER_DNS, "ports": ports},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**metadata, "labels": {SERVICE_NAME: NAME}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
            "ports": ports,
        },
    ]
