"""The packet filter of a node as nft lists it; the expected lines are those of nft 1.0.6 after iptables-nft 1.8.9 of Debian 12."""

from __future__ import annotations

import pytest

from tests.simcloud.world.test_node_files import NODE, Lab

WARNING = "# Warning: table ip {} is managed by iptables-nft, do not touch!\n"
RULES = {
    "FORWARD -p tcp -m tcp --dport 80 -j DROP": "tcp dport 80 counter packets 0 bytes 0 drop",
    "FORWARD -s 10.0.0.1/32 -p tcp -m tcp --sport 1:100 --dport 5:7 -j DROP": "ip saddr 10.0.0.1 tcp sport 1-100 tcp dport 5-7 counter packets 0 bytes 0 drop",
    "FORWARD -p udp -m udp --dport 0:53 -j ACCEPT": "udp dport <= 53 counter packets 0 bytes 0 accept",
    "FORWARD -p udp -j REJECT": "meta l4proto udp counter packets 0 bytes 0 reject",
    "FORWARD -p tcp -j REJECT --reject-with tcp-reset": "meta l4proto tcp counter packets 0 bytes 0 reject with tcp reset",
    "FORWARD -p tcp -j REJECT --reject-with icmp-host-unreachable": "meta l4proto tcp counter packets 0 bytes 0 reject with icmp type host-unreachable",
    "FORWARD -s 10.0.0.0/8 -d 10.1.0.0/16": "ip saddr 10.0.0.0/8 ip daddr 10.1.0.0/16 counter packets 0 bytes 0",
    "OUTPUT -o lo -j ACCEPT": 'oifname "lo" counter packets 0 bytes 0 accept',
    "FORWARD -p tcp -m conntrack --ctstate NEW,ESTABLISHED -j ACCEPT": "meta l4proto tcp ct state new,established counter packets 0 bytes 0 accept",
    "FORWARD -p tcp -m statistic --mode random --probability 0.25 -j DROP": "meta l4proto tcp meta random & 2147483647 < 536870912 counter packets 0 bytes 0 drop",
    'FORWARD -p tcp -m tcp --dport 80 -m comment --comment "hi there" -j DROP': "tcp dport 80  counter packets 0 bytes 0 drop",
    "OUTPUT -t nat -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.1:81": "tcp dport 80 counter packets 0 bytes 0 dnat to 10.0.0.1:81",
    "OUTPUT -t nat -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 81": "tcp dport 80 counter packets 0 bytes 0 redirect to :81",
}  # fmt: skip


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


@pytest.mark.parametrize("rule", RULES)
def test_nft_lists_a_persons_rule_as_the_genuine_one(lab: Lab, rule: str) -> None:
    table = "nat" if "-t nat" in rule else "filter"
    lab.on(NODE, f"iptables -A {rule}")
    listed = lab.on(NODE, f"nft list chain ip {table} {rule.split(maxsplit=1)[0]}")
    assert f"\t\t{RULES[rule]}\n" in listed
    lab.on(NODE, f"iptables -D {rule}")
    assert f"\t\t{RULES[rule]}\n" not in lab.on(NODE, f"nft list table {table}")


def test_nft_lists_the_tables_of_iptables_and_of_kindnet(lab: Lab) -> None:
    tables = "table ip nat\ntable ip mangle\ntable ip filter\n"
    others = "table ip6 mangle\ntable ip6 nat\ntable ip6 filter\ntable inet kindnet-network-policies\n"
    assert lab.on(NODE, "nft list tables") == tables + others
    assert lab.on(NODE, "nft list tables ip") == tables
    nat = lab.on(NODE, "nft list table ip nat")
    assert (
        "\t\tmeta l4proto tcp ip daddr 10.96.0.1  tcp dport 443 counter packets " in nat
        and " jump KUBE-SVC-NPX46M4PTMTKRN6Y\n" in nat
    )
    assert "\t\t meta random & 2147483647 < 1073741824 counter packets " in nat
    assert lab.on(NODE, "nft list chain ip nat KUBE-MARK-MASQ 2>&1 | head -4") == WARNING.format("nat") + (
        "table ip nat {\n\tchain KUBE-MARK-MASQ {\n\t\tcounter packets 0 bytes 0 meta mark set mark or 0x4000\n"
    )
    assert WARNING.format("mangle") not in lab.on(NODE, "nft list ruleset")
    assert "type route hook output priority -150; policy accept;" in lab.on(
        NODE, "nft -n list table ip mangle"
    )
    assert "# handle 1\n" in lab.on(NODE, "nft -a list table ip mangle")
    assert lab.type("kubectl get nodes -o name; nft -v", 127).endswith("nft: command not found\n")


def test_pods_that_a_policy_selects_are_in_the_set_of_kindnet(lab: Lab) -> None:
    empty = "\tset podips-v4 {\n\t\ttype ipv4_addr\n\t}\n"
    assert empty in lab.on(NODE, "nft list ruleset inet")
    policy = '{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"all"},"spec":{"podSelector":{}}}'
    lab.type(f"echo '{policy}' | kubectl apply -n kube-system -f -")
    pods = lab.type("kubectl get pods -n kube-system -o wide | grep -o '10.244[0-9.]*' | sort -V").split()
    listed = "".join(
        lab.on(node, "nft list ruleset inet") for node in ("kind-control-plane", NODE, "kind-worker2")
    )
    assert [pod for pod in pods if f" {pod}" in listed] == pods
    lab.type("kubectl delete networkpolicy all -n kube-system")
    assert empty in lab.on(NODE, "nft list ruleset inet")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("list table ip nope", "No such file or directory\nlist table ip nope\n              ^^^^\n"),
        ("list chain ip nat NOPE", "No such file or directory\nlist chain ip nat NOPE\n                  ^^^^\n"),
        ("list table", "syntax error, unexpected newline, expecting string\nlist table\n          ^\n"),
        ("list", "syntax error, unexpected newline\nlist\n    ^\n"),
        ("list foo", "syntax error, unexpected string\nlist foo\n     ^^^\n"),
        ("list table ip filter extra", "syntax error, unexpected string, expecting end of file or newline or semicolon\n"
         "list table ip filter extra\n                     ^^^^^\n"),
    ],
)  # fmt: skip
def test_nft_points_at_a_mistake(lab: Lab, line: str, error: str) -> None:
    assert lab.on(NODE, f"nft {line}", 1) == f"Error: {error}"


def test_the_name_server_of_a_node_is_where_dockers_rules_lead(lab: Lab) -> None:
    server = lab.on(NODE, "grep nameserver /etc/resolv.conf").split()[1]
    rules = lab.on(NODE, "iptables-save -t nat | grep DOCKER").splitlines()
    for chain in ("PREROUTING", "OUTPUT"):
        assert f"-A {chain} -d {server}/32 -j DOCKER_OUTPUT" in rules
    for transport, flag in (("tcp", "-ltn"), ("udp", "-lun")):
        front = f"-A DOCKER_OUTPUT -d {server}/32 -p {transport} -m {transport} --dport 53 -j DNAT --to-destination "
        end = next(rule.removeprefix(front) for rule in rules if rule.startswith(front))
        assert end in lab.on(NODE, f"ss {flag}").split()
        back = f"-A DOCKER_POSTROUTING -s 127.0.0.11/32 -p {transport} -m {transport} --sport {end.partition(':')[2]}"
        assert f"{back} -j SNAT --to-source {server}:53" in rules


def test_ipv6_has_the_rules_that_name_no_address(lab: Lab) -> None:
    saved = lab.on(NODE, "ip6tables-save -t nat")
    assert '-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES\n' in saved
    assert "10." not in saved.partition("\n")[2].rpartition("#")[0] and "KUBE-SVC" not in saved
    assert "0.0.0.0/0" not in lab.on(NODE, "ip6tables -t nat -L -n")
