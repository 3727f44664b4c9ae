"""Repairs of faults of nodes, their operating systems, their hardware and the control plane."""

from __future__ import annotations

from tests.repairs.table import Repairs

MOVE = "kubectl -n {ns} delete pods --field-selector spec.nodeName={node} --force --grace-period=0"
REGISTER = (
    "sleep 30; kubectl -n {ns} get deployments -o name | grep -v -E 'mongo|memcached|redis|consul|jaeger'"
    " | xargs kubectl -n {ns} rollout restart"
)
"""Restarts what keeps no data: connections to a node that has gone hang, and a registry that has moved forgets who had registered."""
TAKE_OUT = f"kubectl cordon {{node}}; {MOVE}; {REGISTER}"
DRAIN = f"kubectl drain {{node}} --ignore-daemonsets --delete-emptydir-data --force --timeout=60s; {REGISTER}"
TAINT = f"kubectl taint node {{node}} broken=true:NoExecute; sleep 20; {MOVE} --ignore-not-found; {REGISTER}"
RESTART = 'kubectl -n {ns} delete pod -l $(kubectl -n {ns} get deploy {t} -o json | jq -r \'.spec.selector.matchLabels | to_entries | map(.key+"="+.value) | join(",")\')'
ELSEWHERE = (
    "kubectl -n {ns} patch deployment {t} -p '"
    '{"spec": {"template": {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": '
    '{"nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["{node}"]}]}]}}}}}}}'
    "'"
)
REBOOT = "ssh {node} reboot; sleep 60"
HARDWARE = Repairs(
    right=(DRAIN, TAKE_OUT, TAINT),
    wrong=(RESTART, REBOOT, ELSEWHERE, "kubectl cordon {node}"),
)
"""Hardware that no command repairs."""
CONTROL_PLANE = "ssh kind-control-plane"
WRONG_SERVICE = (
    RESTART,
    ELSEWHERE,
    "kubectl cordon {node}",
    "kubectl taint node {node} slow=true:PreferNoSchedule",
)


def at_each_node(line: str) -> str:
    """Return a loop of a line over the faulty nodes."""
    return f"for node in {{nodes}}; do {line.replace('{node}', '$node')}; done" if "{node}" in line else line


TABLE = {
    "lost_node": Repairs(
        right=(
            f"{MOVE}; {REGISTER}",
            f"{TAKE_OUT}; kubectl taint node {{node}} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
            f"kubectl delete node {{node}}; sleep 60; {REGISTER}",
        ),
        wrong=("kubectl cordon {node}", RESTART, "kubectl uncordon {node}", ELSEWHERE),
    ),
    "flapping_node": HARDWARE,
    "stolen_cpu": HARDWARE,
    "failing_nic": HARDWARE,
    "read_only_disk": HARDWARE,
    "stopped_kubelet": Repairs(
        right=(
            "ssh {node} 'systemctl unmask kubelet; systemctl start kubelet'",
            "ssh {node} 'systemctl unmask kubelet; systemctl enable kubelet; systemctl restart kubelet'",
            "ssh {node} 'systemctl unmask kubelet'; ssh {node} systemctl enable --now kubelet",
        ),
        wrong=(*WRONG_SERVICE, "ssh {node} systemctl restart containerd"),
    ),
    "hung_kubelet": Repairs(
        right=(
            "ssh {node} 'kill -CONT $(pgrep -x kubelet)'",
            "ssh {node} 'kill -9 $(pgrep -x kubelet)'",
            "ssh {node} systemctl restart kubelet",
        ),
        wrong=(*WRONG_SERVICE, "ssh {node} systemctl start kubelet"),
    ),
    "stopped_container_runtime": Repairs(
        right=(
            "ssh {node} 'systemctl unmask containerd; systemctl start containerd'",
            "ssh {node} 'systemctl unmask containerd; systemctl enable --now containerd; systemctl restart kubelet'",
            "ssh {node} 'systemctl unmask containerd'; ssh {node} systemctl enable --now containerd",
        ),
        wrong=(*WRONG_SERVICE, "ssh {node} systemctl restart kubelet"),
    ),
    "hung_container_runtime": Repairs(
        right=(
            "ssh {node} 'kill -CONT $(pgrep -x containerd)'",
            "ssh {node} 'kill -9 $(pgrep -x containerd)'",
            "ssh {node} systemctl restart containerd",
        ),
        wrong=(*WRONG_SERVICE, "ssh {node} systemctl restart kubelet"),
    ),
    "wrong_kubelet_configuration": Repairs(
        right=(
            "ssh $(kubectl get nodes -o name | grep worker | cut -d/ -f2 | grep -vx {node} | head -1) cat "
            "/var/lib/kubelet/config.yaml > config; ssh {node} 'cat > /var/lib/kubelet/config.yaml' < config; "
            "ssh {node} systemctl restart kubelet",
            "kubectl -n kube-system get configmap kubelet-config -o jsonpath='{.data.kubelet}' > config; "
            "ssh {node} 'cat > /var/lib/kubelet/config.yaml' < config; ssh {node} systemctl restart kubelet",
            "kubectl -n kube-system get configmap kubelet-config -o json | jq -r .data.kubelet | "
            "ssh {node} 'cat > /var/lib/kubelet/config.yaml; systemctl stop kubelet; systemctl start kubelet'",
        ),
        wrong=(*WRONG_SERVICE, "ssh {node} systemctl restart kubelet"),
    ),
    "missing_kubelet_credentials": Repairs(
        right=(
            "ssh {node} 'cp -a {path}.{ending} {path}; systemctl restart kubelet'",
            "ssh {node} 'mv {path}.{ending} {path}'",
            "ssh {node} 'mv {path}.{ending} {path}; systemctl restart containerd kubelet'",
        ),
        wrong=(*WRONG_SERVICE, "ssh {node} systemctl restart kubelet"),
    ),
    "disabled_node_service": Repairs(
        right=(
            f"ssh {{node}} 'systemctl enable {{unit}}; systemctl start {{unit}}'; {REGISTER}",
            f"ssh {{node}} systemctl enable {{unit}}; ssh {{node}} reboot; sleep 60; {REGISTER}",
            f"ssh {{node}} systemctl enable --now {{unit}}; {REGISTER}",
        ),
        wrong=(*WRONG_SERVICE, "ssh {node} systemctl start {unit}"),
    ),
    "dropped_cni_configuration": Repairs(
        right=(
            "ssh {node} cp {put_at} /etc/cni/net.d/10-kindnet.conflist",
            "kubectl -n kube-system delete pod -l app=kindnet --field-selector spec.nodeName={node}",
            "ssh {node} 'mv {put_at} /etc/cni/net.d/10-kindnet.conflist; systemctl restart kubelet'",
        ),
        wrong=(
            RESTART,
            ELSEWHERE,
            "ssh {node} systemctl restart containerd kubelet",
            "kubectl cordon {node}",
        ),
    ),
    "forwarding_off": Repairs(
        right=(
            "ssh {node} 'echo 1 > /proc/sys/net/ipv4/ip_forward'",
            "ssh {node} sysctl -w net.ipv4.conf.all.forwarding=1",
            "ssh {node} sysctl -w net.ipv4.ip_forward=1",
        ),
        wrong=(RESTART, ELSEWHERE, "ssh {node} iptables -P FORWARD ACCEPT", "kubectl cordon {node}"),
    ),
    "slow_node_link": Repairs(
        right=(
            "ssh {node} tc qdisc del dev eth0 root",
            "ssh {node} tc qdisc replace dev eth0 root pfifo_fast",
            "ssh {node} tc qdisc replace dev eth0 root fq_codel",
        ),
        wrong=(
            RESTART,
            ELSEWHERE,
            "ssh {node} tc qdisc change dev eth0 root netem delay 60ms",
            "kubectl cordon {node}",
        ),
    ),
    "noisy_neighbour": Repairs(
        right=(
            "kubectl -n {team} delete deployment {job}",
            "kubectl -n {team} set resources deployment/{job} --limits=cpu=50m",
            "kubectl delete namespace {team}",
        ),
        wrong=(
            RESTART,
            "kubectl -n {team} rollout restart deployment/{job}",
            "kubectl -n {team} set resources deployment/{job} --limits=cpu=3 --requests=cpu=10m",
            "kubectl -n {team} scale deployment/{job} --replicas=12",
        ),
    ),
    "full_node_disks": Repairs(
        right=(
            "for node in $(kubectl get nodes -o name | grep worker); do ssh ${node#node/} rm {path}; done",
            "for node in $(kubectl get nodes -o name | grep worker); do ssh ${node#node/} 'truncate -s 0 {path}; systemctl restart kubelet'; done",
            "for node in $(kubectl get nodes -o name | grep worker); do ssh ${node#node/} 'find / -xdev -type f -size +5G -delete; systemctl restart kubelet'; done",
        ),
        wrong=(
            "ssh {node} rm {path}",
            RESTART,
            "for node in $(kubectl get nodes -o name | grep worker); do ssh ${node#node/} systemctl restart kubelet; done",
            "for node in $(kubectl get nodes -o name | grep worker); do kubectl taint $node node.kubernetes.io/disk-pressure-; done",
        ),
    ),
    "moved_scheduler_manifest": Repairs(
        right=(
            f"{CONTROL_PLANE} mv {{folder}}/kube-scheduler.yaml /etc/kubernetes/manifests/; sleep 45",
            f"{CONTROL_PLANE} cp {{folder}}/kube-scheduler.yaml /etc/kubernetes/manifests/",
            f"{CONTROL_PLANE} 'mv {{folder}}/kube-scheduler.yaml /etc/kubernetes/manifests/ && systemctl restart kubelet'",
        ),
        wrong=(
            RESTART,
            "kubectl -n {ns} rollout restart deployment/{t}",
            f"{CONTROL_PLANE} systemctl restart kubelet",
            "kubectl -n {ns} patch deployment {t} -p '"
            '{"spec": {"template": {"spec": {"nodeName": "kind-worker2"}}}}'
            "'",
        ),
    ),
    "crashing_scheduler": Repairs(
        right=(
            f"{CONTROL_PLANE} \"sed -i 's|{{path}}|/etc/kubernetes/scheduler.conf|' /etc/kubernetes/manifests/kube-scheduler.yaml\"",
            f"{CONTROL_PLANE} \"sed -i 's|--kubeconfig=.*|--kubeconfig=/etc/kubernetes/scheduler.conf|' /etc/kubernetes/manifests/kube-scheduler.yaml\"; sleep 60",
            f"{CONTROL_PLANE} \"sed -e 's|--kubeconfig=.*|--kubeconfig=/etc/kubernetes/scheduler.conf|' /etc/kubernetes/manifests/kube-scheduler.yaml > /root/s.yaml && mv /root/s.yaml /etc/kubernetes/manifests/kube-scheduler.yaml\"",
        ),
        wrong=(
            RESTART,
            "kubectl -n kube-system delete pod kube-scheduler-kind-control-plane",
            f"{CONTROL_PLANE} systemctl restart kubelet",
            f"{CONTROL_PLANE} mv /etc/kubernetes/manifests/kube-scheduler.yaml /root/",
        ),
    ),
    "stopped_controller_manager": Repairs(
        right=(
            f"{CONTROL_PLANE} mv {{folder}}/kube-controller-manager.yaml /etc/kubernetes/manifests/; sleep 45",
            f"{CONTROL_PLANE} cp {{folder}}/kube-controller-manager.yaml /etc/kubernetes/manifests/",
            f"{CONTROL_PLANE} 'mv {{folder}}/kube-controller-manager.yaml /etc/kubernetes/manifests/ && systemctl restart kubelet'",
        ),
        wrong=(
            RESTART,
            "kubectl -n {ns} rollout restart deployment/{t}",
            f"{CONTROL_PLANE} systemctl restart kubelet",
            "kubectl -n {ns} scale deployment/{t} --replicas=2",
        ),
    ),
}
REPAIRS = {
    name: Repairs(right=tuple(map(at_each_node, table.right)), wrong=table.wrong)
    for name, table in TABLE.items()
}
