"""What is done to nodes."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.cases.registry import RESTART_ALL
from tests.incidents.scene import metric, shows, slow_spans, users_fail, users_fine, users_slow

EVERY = ("search", "recommend", "user", "reserve")
NODES = ("kind-worker2", "kind-worker", "kind-worker3")

BREAKAGES = (
    Breakage(
        "stopped kubelet",
        NODES,
        ("ssh {t} systemctl stop kubelet",),
        (
            users_fine(*EVERY),
            shows("kubectl get nodes", r"^{t} +NotReady"),
            shows(
                "kubectl describe node {t}",
                "NodeStatusUnknown +Kubelet stopped posting node status.",
                "node.kubernetes.io/unreachable:NoExecute",
            ),
            shows("kubectl get events -A", "NodeNotReady +node/{t}|NodeNotReady +pod/"),
            shows("ssh {t} systemctl is-active kubelet", "^inactive$"),
            metric('kube_node_status_condition{node="{t}",condition="Ready",status="true"}', most=0),
        ),
        ("ssh {t} systemctl start kubelet",),
    ),
    Breakage(
        "node down",
        NODES,
        ("ssh {t} poweroff",),
        (
            users_fail("search"),
            shows("kubectl get nodes", r"^{t} +NotReady"),
            shows(
                "kubectl describe node {t}",
                "Kubelet stopped posting node status.",
                "node.kubernetes.io/unreachable:NoExecute",
            ),
            shows("ssh -o ConnectTimeout=5 {t} uptime", "timed out|No route to host"),
            metric('kube_node_status_condition{node="{t}",condition="Ready",status="true"}', most=0),
            metric('count(up{node="{t}"} == 0)', least=1),
        ),
        (
            "kubectl delete pod -A --field-selector spec.nodeName={t} --force --grace-period=0",
            "sleep 30",
            RESTART_ALL,
        ),
        heal_s=150.0,
    ),
    Breakage(
        "busy node",
        NODES,
        (
            "kubectl -n default create deployment batch --image=busybox --replicas=12 -- sh -c "
            "'for i in 1 2 3 4; do yes >/dev/null & done; wait'",
            """kubectl -n default patch deployment batch -p '{"spec": {"template": {"spec": {"nodeName": "{t}"}}}}'""",
        ),
        (
            shows("kubectl top nodes", r"^{t} +\d+m +(9\d|100)%"),
            shows("kubectl top pods -A --sort-by=cpu", r"^default +batch-\S+ +\d\d\d+m"),
            users_slow("search", p99_s=0.008),
            metric('sum(rate(container_cpu_usage_seconds_total{pod=~"batch-.*"}[30s]))', least=3),
        ),
        ("kubectl -n default delete deployment batch --grace-period=1",),
    ),
    Breakage(
        "slow network of a node",
        NODES,
        ("ssh {t} tc qdisc add dev eth0 root netem delay 200ms",),
        (
            users_slow("search", p99_s=0.2),
            shows("ssh {t} tc qdisc show dev eth0", "netem .*delay 200ms"),
            shows("kubectl get nodes", r"^{t} +Ready"),
            slow_spans("frontend", "HTTP GET /hotels", "200ms"),
        ),
        ("ssh {t} tc qdisc del dev eth0 root",),
    ),
    Breakage(
        "rebooted node",
        NODES,
        ("ssh {t} reboot",),
        (
            shows("kubectl get nodes", r"^{t} +Ready"),
            shows("kubectl get events -A", "Rebooted +node/{t} +Node {t} has been rebooted, boot id: "),
            shows("kubectl -n {ns} get pods -o wide", r"1/1 +Running +1 .* {t} "),
            shows("ssh {t} uptime", "up "),
            metric('sum(increase(kube_pod_container_status_restarts_total{namespace="{ns}"}[3m]))', least=3),
        ),
        (RESTART_ALL,),
        soak_s=120.0,
        heal_s=120.0,
    ),
)
