"""What is done to names and networks."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.cases.registry import NEEDS
from tests.incidents.scene import (
    for_target,
    logged,
    metric,
    shows,
    slow_spans,
    users_fail,
    users_slow,
)

EVERY = ("search", "recommend", "user", "reserve")
RESTART = "kubectl -n {ns} delete pod -l io.kompose.service={t}"
POD = "$(kubectl -n {ns} get pod -l io.kompose.service={t} -o name | head -1)"
NETEM = f"kubectl -n {{ns}} debug {POD} --image=nicolaka/netshoot --profile=netadmin -q -- tc qdisc "
DENY = """cat <<'END' | kubectl apply -f -
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: quarantine, namespace: {ns}}
spec:
  podSelector: {matchLabels: {io.kompose.service: {t}}}
  policyTypes: [Ingress]
END"""
LOAD_COREFILE = "kubectl -n kube-system get configmap coredns -o json > coredns.json"

BREAKAGES = (
    Breakage(
        "DNS gone",
        ("geo", "rate", "profile", "recommendation", "reservation", "user", "search"),
        ("kubectl -n kube-system scale deployment/coredns --replicas=0", "sleep 60", RESTART),
        (
            *(
                for_target(service, users_fail(*journeys, kind="HTTP 500"))
                for service, journeys in NEEDS.items()
            ),
            shows("kubectl -n kube-system get deployment coredns", "^coredns +0/0"),
            for_target(
                "search",
                logged(
                    'pod=~"search-.*"',
                    r"lookup jaeger on 10.96.0.10:53: read udp .*: read: connection refused",
                ),
            ),
            for_target(
                "geo",
                shows("kubectl -n {ns} logs deploy/geo", r"PNC cmd/geo/db.go:\d+ > no reachable servers"),
            ),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            metric('kube_deployment_status_replicas_available{deployment="coredns"}', most=0),
        ),
        ("kubectl -n kube-system scale deployment/coredns --replicas=2", "sleep 20", RESTART),
    ),
    Breakage(
        "broken Corefile",
        ("recommendation", "user", "geo", "rate", "profile", "reservation"),
        (
            LOAD_COREFILE,
            """jq '.data.Corefile |= sub("kubernetes cluster.local"; "kuberntes cluster.local")' coredns.json | kubectl apply -f -""",
            "kubectl -n kube-system rollout restart deployment/coredns",
            "kubectl -n kube-system delete pod -l k8s-app=kube-dns",
            RESTART,
        ),
        (
            shows("kubectl -n kube-system get pods", r"^coredns-\S+ +0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            shows("kubectl -n kube-system logs -l k8s-app=kube-dns", "Unknown directive 'kuberntes'"),
            *(
                for_target(service, users_fail(*journeys, kind="HTTP 500"))
                for service, journeys in NEEDS.items()
            ),
            shows("kubectl -n {ns} logs deploy/{t}", "no reachable servers"),
            metric('sum(kube_deployment_status_replicas_available{deployment="coredns"})', most=0),
        ),
        (
            """jq 'del(.metadata.resourceVersion)' coredns.json | kubectl replace -f -""",
            "kubectl -n kube-system delete pod -l k8s-app=kube-dns",
            "sleep 20",
            RESTART,
        ),
    ),
    Breakage(
        "network policy that lets nobody in",
        ("geo", "rate", "profile", "recommendation", "reservation", "user", "search"),
        (DENY, RESTART),
        (
            *(for_target(service, users_fail(*journeys)) for service, journeys in NEEDS.items()),
            shows("kubectl -n {ns} get networkpolicy", r"^quarantine +io.kompose.service={t}"),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +1/1 +Running +0 "),
            metric('sum(rate(container_network_receive_packets_total{pod=~"{t}-.*"}[30s])) / 100', most=0.05),
        ),
        ("kubectl -n {ns} delete networkpolicy quarantine",),
        heal_s=120.0,
    ),
    Breakage(
        "delay at a pod",
        ("user", "geo", "rate", "profile", "recommendation", "search"),
        (NETEM + "add dev eth0 root netem delay 300ms 20ms",),
        (
            *(
                for_target(service, users_slow(*journeys, median_s=0.25))
                for service, journeys in NEEDS.items()
            ),
            for_target("user", slow_spans("frontend", "/user.User/CheckUser", "250ms")),
            for_target("geo", slow_spans("search", "/geo.Geo/Nearby", "250ms")),
            shows("kubectl -n {ns} exec deploy/{t} -- tc qdisc show dev eth0", r"netem .*delay 300ms +20ms"),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +1/1 +Running +0 "),
        ),
        (NETEM + "del dev eth0 root",),
    ),
    Breakage(
        "filtered port",
        ("geo", "user", "recommendation", "rate", "profile", "search"),
        (
            "kubectl -n {ns} get pod -l io.kompose.service={t} -o jsonpath='{.items[0].spec.nodeName} {.items[0].status.podIP}' > where",
            "ssh $(cut -d' ' -f1 where) iptables -I FORWARD -d $(cut -d' ' -f2 where) -p tcp -j DROP",
        ),
        (
            *(
                for_target(service, users_fail(*journeys, kind="timeout"))
                for service, journeys in NEEDS.items()
            ),
            shows("ssh $(cut -d' ' -f1 where) iptables -L FORWARD -n", r"^DROP +(tcp|6) .*10\.244\."),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +1/1 +Running +0 "),
        ),
        ("ssh $(cut -d' ' -f1 where) iptables -D FORWARD -d $(cut -d' ' -f2 where) -p tcp -j DROP",),
        heal_s=120.0,
    ),
    Breakage(
        "lost packets at a pod",
        ("search", "user", "geo", "rate", "profile", "recommendation"),
        (NETEM + "add dev eth0 root netem loss 30%",),
        (
            *(for_target(service, users_slow(*journeys, p99_s=0.2)) for service, journeys in NEEDS.items()),
            shows("kubectl -n {ns} exec deploy/{t} -- tc qdisc show dev eth0", r"netem .*loss 30%"),
            *(
                for_target(service, shows("kubectl -n {ns} get pods", r"^{t}-\S+ +1/1 +Running +0 "))
                for service in ("search", "user", "geo", "recommendation")
            ),
            *(
                for_target(service, logged('pod=~"{t}-.*"', "PNC .*memcache: .*timeout"))
                for service in ("rate", "profile")
            ),
        ),
        (NETEM + "del dev eth0 root", RESTART),
    ),
)
