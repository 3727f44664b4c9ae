"""The /etc/resolv.conf of a pod, from its ``dnsPolicy`` and ``dnsConfig``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from simcloud.kubernetes.api.objects import Object
from simcloud.machine.network import DnsSettings, stub_resolver

CLUSTER_DNS: Final = "10.96.0.10"
CLUSTER_DOMAIN: Final = "cluster.local"
NDOTS: Final = "ndots:5"


def dns_settings(
    pod: Object,
    cluster_dns: str = CLUSTER_DNS,
    host: DnsSettings | None = None,
    cluster_domain: str = CLUSTER_DOMAIN,
) -> DnsSettings:
    """What a pod's programs use to find names; ``host`` is what the node itself uses.

    Names of the pod's ``hostAliases`` are in it; the line of its own name in /etc/hosts is the kubelet's to add.
    """
    spec = pod["spec"]
    of_node = host if host is not None else DnsSettings()
    policy = spec.get("dnsPolicy") or "ClusterFirst"
    if policy == "ClusterFirst" and spec.get("hostNetwork"):
        policy = "Default"
    if policy == "None":
        base = DnsSettings()
    elif policy == "Default":
        base = replace(of_node, hosts={})
    else:
        namespace = pod["metadata"]["namespace"]
        searches = (f"{namespace}.svc.{cluster_domain}", f"svc.{cluster_domain}", cluster_domain)
        base = DnsSettings((cluster_dns,), _merge(searches, of_node.searches), options=(NDOTS,))
    config = spec.get("dnsConfig") or {}
    options = _options(base.options, config.get("options") or ())
    return DnsSettings(
        nameservers=_merge(base.nameservers, config.get("nameservers") or ()),
        searches=_merge(base.searches, config.get("searches") or ()),
        ndots=int(stub_resolver.number_option(options, "ndots", 1)),
        timeout_s=stub_resolver.number_option(options, "timeout", stub_resolver.TIMEOUT_S),
        attempts=int(stub_resolver.number_option(options, "attempts", stub_resolver.ATTEMPTS)),
        options=options,
        hosts=_aliases(spec.get("hostAliases") or ()),
    )


def _merge(first: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *more)))


def _options(base: Iterable[str], given: Iterable[Object]) -> tuple[str, ...]:
    """The options of the policy, overruled by name by those of the pod."""
    options = {option.partition(":")[0]: option for option in base}
    for option in given:
        name, value = option["name"], option.get("value")
        options[name] = f"{name}:{value}" if value else name
    return tuple(options.values())


def _aliases(aliases: Iterable[Object]) -> dict[str, tuple[str, ...]]:
    hosts: dict[str, tuple[str, ...]] = {}
    for alias in aliases:
        for name in alias.get("hostnames") or ():
            hosts[name] = (*hosts.get(name, ()), alias["ip"])
    return hosts
