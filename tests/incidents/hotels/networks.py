"""What is done to names and networks."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import RESTART, RUNNING
from tests.incidents.needs import its_users_fail
from tests.incidents.scene import for_target, logged, metric, shows
from tests.incidents.shared.networks import lost_packets

LOAD_COREFILE = "kubectl -n kube-system get configmap coredns -o json > coredns.json"

BREAKAGES = (
    Breakage(
        "DNS gone",
        ("geo", "rate", "profile", "recommendation", "reservation", "user", "search"),
        ("kubectl -n kube-system scale deployment/coredns --replicas=0", "sleep 60", RESTART),
        (
            its_users_fail(),
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
            its_users_fail(),
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
    lost_packets(
        ("search", "user", "geo", "rate", "profile", "recommendation"),
        *(for_target(service, RUNNING) for service in ("search", "user", "geo", "recommendation")),
        *(
            for_target(service, logged('pod=~"{t}-.*"', "PNC .*memcache: .*timeout"))
            for service in ("rate", "profile")
        ),
    ),
)
