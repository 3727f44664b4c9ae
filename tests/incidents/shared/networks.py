"""What is done to the network of a pod."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.known import Known
from tests.incidents.lines import RESTART, RUNNING, UNDO, netem, queueing, template
from tests.incidents.needs import its_users_fail, its_users_slow
from tests.incidents.scene import Sign, metric, shows

DENY = """cat <<'END' | kubectl apply -f -
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: quarantine, namespace: {ns}}
spec:
  podSelector: {matchLabels: {{label}: {t}}}
  policyTypes: [Ingress]
END"""
DIALLING_S = 50.0
"""Who dials in vain sends its first packet again after ever longer pauses, and learns late that somebody is there."""
FILTER = "-d $(cut -d' ' -f2 where) -p tcp -j DROP"


def lost_packets(targets: tuple[str, ...], *also: Sign) -> Breakage:
    """Three in ten of what a pod sends are lost; ``also`` is what those who wait for it do about that."""
    return Breakage(
        "lost packets at a pod",
        targets,
        (netem("add dev eth0 root netem loss 30%"),),
        (
            its_users_slow(p99_s=0.2),
            shows(queueing(), r"netem .*loss 30%"),
            *also,
        ),
        # A service leaves its registry when it ends, if its packets arrive.
        (netem("del dev eth0 root"), "sleep 25", RESTART),
    )


def names_of_the_wrong_server(targets: tuple[str, ...], *also: Sign) -> Breakage:
    """A pod asks a server of names that is not there; ``also`` is how its program takes that."""
    return Breakage(
        "names of the wrong server",
        targets,
        (template('{"dnsPolicy":"None","dnsConfig":{"nameservers":["10.96.0.99"]}}'),),
        (its_users_fail(), *also),
        (UNDO,),
    )


def breakages(known: Known) -> tuple[Breakage, ...]:
    """Those of an application."""
    return (
        Breakage(
            "network policy that lets nobody in",
            known.services,
            (DENY, RESTART),
            (
                its_users_fail(""),
                shows("kubectl -n {ns} get networkpolicy", r"^quarantine +{label}={t}"),
                RUNNING,
                metric(
                    'sum(rate(container_network_receive_packets_total{pod=~"{t}-.*"}[30s])) / 100', most=0.05
                ),
            ),
            ("kubectl -n {ns} delete networkpolicy quarantine",),
            heal_s=known.heal_s + DIALLING_S,
        ),
        Breakage(
            "delay at a pod",
            known.services,
            (netem("add dev eth0 root netem delay 300ms 20ms"),),
            (
                its_users_slow(median_s=0.25),
                shows(queueing(), r"netem .*delay 300ms +20ms"),
                RUNNING,
            ),
            (netem("del dev eth0 root"),),
        ),
        Breakage(
            "filtered port",
            known.services,
            (
                "kubectl -n {ns} get pod -l {label}={t} -o jsonpath='{.items[0].spec.nodeName} {.items[0].status.podIP}' > where",
                f"ssh $(cut -d' ' -f1 where) iptables -I FORWARD {FILTER}",
            ),
            (
                its_users_fail("timeout"),
                shows("ssh $(cut -d' ' -f1 where) iptables -L FORWARD -n", r"^DROP +(tcp|6) .*10\.244\."),
                RUNNING,
            ),
            (f"ssh $(cut -d' ' -f1 where) iptables -D FORWARD {FILTER}",),
            heal_s=known.heal_s + DIALLING_S,
        ),
    )
