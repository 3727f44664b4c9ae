from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.network.dns_policy import dns_settings
from simcloud.kubernetes.network.pod_network import DnsSettings
from simcloud.machine.network.stub_resolver import read_resolv_conf

HOST = read_resolv_conf("search lan\nnameserver 172.18.0.1\noptions edns0 trust-ad\n")


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", "namespace": "lab"}, "spec": spec}


def test_cluster_first_is_what_was_recorded() -> None:
    settings = dns_settings(pod(dnsPolicy="ClusterFirst"))
    assert settings.resolv_conf() == (
        "search lab.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"
    )
    assert settings.ndots == 5


@pytest.mark.parametrize(
    "spec", [{"dnsPolicy": "Default"}, {"dnsPolicy": "ClusterFirst", "hostNetwork": True}]
)
def test_default_and_host_network_take_the_nodes(spec: dict[str, Any]) -> None:
    assert dns_settings(pod(**spec), host=HOST).resolv_conf() == (
        "search lan\nnameserver 172.18.0.1\noptions edns0 trust-ad\n"
    )


def test_cluster_first_with_host_net_uses_the_cluster_and_adds_the_nodes_searches() -> None:
    settings = dns_settings(pod(dnsPolicy="ClusterFirstWithHostNet", hostNetwork=True), "10.0.0.53", HOST)
    assert settings.nameservers == ("10.0.0.53",)
    assert settings.searches[-2:] == ("cluster.local", "lan")


def test_the_pods_own_configuration_is_added_and_overrules_options() -> None:
    config = {
        "nameservers": ["1.1.1.1", "10.96.0.10"],
        "searches": ["corp", "cluster.local"],
        "options": [{"name": "ndots", "value": "2"}, {"name": "rotate"}, {"name": "timeout", "value": "1"}],
    }
    settings = dns_settings(pod(dnsPolicy="ClusterFirst", dnsConfig=config))
    assert settings.nameservers == ("10.96.0.10", "1.1.1.1")
    assert settings.searches == ("lab.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp")
    assert (settings.options, settings.ndots, settings.timeout_s) == (
        ("ndots:2", "rotate", "timeout:1"),
        2,
        1.0,
    )
    alone = dns_settings(pod(dnsPolicy="None", dnsConfig=config))
    assert alone.nameservers == ("1.1.1.1", "10.96.0.10")
    assert dns_settings(pod(dnsPolicy="None")) == DnsSettings()


def test_host_aliases_are_hosts() -> None:
    aliases = [{"ip": "10.1.2.3", "hostnames": ["foo", "bar"]}, {"ip": "10.1.2.4", "hostnames": ["foo"]}]
    assert dns_settings(pod(hostAliases=aliases)).hosts == {
        "foo": ("10.1.2.3", "10.1.2.4"),
        "bar": ("10.1.2.3",),
    }


def test_what_is_written_is_read_again() -> None:
    settings = dns_settings(pod())
    assert read_resolv_conf(settings.resolv_conf()) == settings
