"""The hostname, /etc/hosts and resolver configuration of a pod."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.network import dns_policy
from simcloud.kubernetes.network.pod_network import DnsSettings


class ClusterDns(Struct, frozen=True):
    """What a node's kubelet is configured with; ``host`` is what the node itself uses."""

    address: str = dns_policy.CLUSTER_DNS
    domain: str = dns_policy.CLUSTER_DOMAIN
    host: DnsSettings = field(default_factory=DnsSettings)


def dns_settings(pod: Object, dns: ClusterDns, address: str) -> DnsSettings:
    """The resolver's settings of a pod that has this address."""
    settings = dns_policy.dns_settings(pod, dns.address, dns.host, dns.domain)
    return replace(settings, hosts={hostname_of(pod): (address,), **settings.hosts})


def hostname_of(pod: Object) -> str:
    """The name a pod's containers have, at most 63 letters of it."""
    name = pod["spec"].get("hostname") or pod["metadata"]["name"]
    return str(name)[:63].rstrip("-.")


def hosts_file(pod: Object, address: str, domain: str) -> str:
    """The text of /etc/hosts."""
    name = hostname_of(pod)
    subdomain = pod["spec"].get("subdomain")
    full = f"{name}.{subdomain}.{pod['metadata']['namespace']}.svc.{domain}\t" if subdomain else ""
    text = (
        "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"
        "::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\n"
        f"fe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n{address}\t{full}{name}\n"
    )
    aliases = pod["spec"].get("hostAliases") or ()
    if aliases:
        text += "\n# Entries added by HostAliases.\n"
        text += "".join(f"{each['ip']}\t" + "\t".join(each.get("hostnames") or ()) + "\n" for each in aliases)
    return text
