"""What is done to nodes."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.known import Known
from tests.incidents.lines import RESTARTED
from tests.incidents.scene import metric, shows, slow_spans, users_fail, users_slow

NODES = ("kind-worker2", "kind-worker", "kind-worker3")
NOT_READY = metric('kube_node_status_condition{node="{t}",condition="Ready",status="true"}', most=0)


def breakages(known: Known) -> tuple[Breakage, ...]:
    """Those of an application."""
    silence_s = known.soak_s + (25.0 if known.by_service else 15.0)
    return (
        Breakage(
            "stopped kubelet",
            NODES,
            ("ssh {t} systemctl stop kubelet",),
            (
                # What runs there runs on; but Services leave out the pods of a node that is silent.
                *([users_fail(known.widest)] if known.by_service else []),
                shows("kubectl get nodes", r"^{t} +NotReady"),
                shows(
                    "kubectl describe node {t}",
                    "NodeStatusUnknown +Kubelet stopped posting node status.",
                    "node.kubernetes.io/unreachable:NoExecute",
                ),
                shows("kubectl get events -A", "NodeNotReady +node/{t}|NodeNotReady +pod/"),
                shows("ssh {t} systemctl is-active kubelet", "^inactive$"),
                NOT_READY,
            ),
            ("ssh {t} systemctl start kubelet",),
            soak_s=silence_s,
        ),
        Breakage(
            "node down",
            NODES,
            ("ssh {t} poweroff",),
            (
                users_fail(known.widest),
                shows("kubectl get nodes", r"^{t} +NotReady"),
                shows(
                    "kubectl describe node {t}",
                    "Kubelet stopped posting node status.",
                    "node.kubernetes.io/unreachable:NoExecute",
                ),
                shows("ssh -o ConnectTimeout=5 {t} uptime", "timed out|No route to host|refused"),
                NOT_READY,
                metric('count(up{node="{t}"} == 0)', least=1),
            ),
            (
                "kubectl delete pod -A --field-selector spec.nodeName={t} --force --grace-period=0",
                "sleep 30",
                *known.afterwards,
            ),
            soak_s=silence_s,
            heal_s=1.67 * known.heal_s,
        ),
        Breakage(
            "slow network of a node",
            NODES,
            ("ssh {t} tc qdisc add dev eth0 root netem delay 200ms",),
            (
                users_slow(known.widest, p99_s=0.2),
                shows("ssh {t} tc qdisc show dev eth0", "netem .*delay 200ms"),
                shows("kubectl get nodes", r"^{t} +Ready"),
                slow_spans("{web}", known.widest_span, "200ms"),
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
                shows("kubectl -n {ns} get pods -o wide", RESTARTED + " .* {t} "),
                shows("ssh {t} uptime", "up "),
                metric(
                    'sum(increase(kube_pod_container_status_restarts_total{namespace="{ns}"}[3m]))', least=3
                ),
            ),
            known.afterwards,
            soak_s=known.reboot_s,
            heal_s=1.33 * known.heal_s,
        ),
    )
