"""Which lines can change a container or a machine, and which only read there."""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.evaluation.reads import can_change_elsewhere

EXEC = "kubectl -n shop exec deploy/geo --"


@pytest.mark.parametrize(
    "line",
    [
        "which ssh",
        "echo 'kubectl exec, ssh and curl -X POST'",
        f"{EXEC} ls -la /",
        f"{EXEC} sh -c 'cat /etc/hosts | grep geo 2>/dev/null'",
        f"{EXEC} mongo admin -u root -p root --quiet --eval 'db.getUsers()'",
        f"{EXEC} redis-cli -h cache info",
        f"{EXEC} curl -s http://localhost:8080/health",
        "kubectl exec $(kubectl get pods -o name | head -1) -- env",
        "ssh kind-worker 'iptables -L -n; sysctl -a | grep conntrack; systemctl status kubelet'",
        "for node in $(kubectl get nodes -o name); do ssh ${node#node/} df -h; done",
        "ssh -o ConnectTimeout=3 kind-worker journalctl -u kubelet > kubelet.log",
        "timeout 5 ssh kind-worker tc qdisc show dev eth0",
        "kubectl cp shop/geo-1:/var/log/geo.log ./geo.log",
        "curl -s 'http://prometheus:9090/api/v1/query?query=up'",
    ],
)
def test_reading_changes_nothing(line: str) -> None:
    assert not can_change_elsewhere(line)


@pytest.mark.parametrize(
    "line",
    [
        f"{EXEC} rm -rf /data",
        f"{EXEC} sh -c 'echo nameserver 1.1.1.1 > /etc/resolv.conf'",
        f"{EXEC} mongo --eval 'db.dropDatabase()'",
        f"{EXEC} redis-cli flushall",
        f"{EXEC} sed -i s/a/b/ /etc/config",
        "kubectl exec -it geo-1 -- bash",
        "kubectl cp ./hosts shop/geo-1:/etc/hosts",
        "ssh kind-worker reboot",
        "echo reboot | ssh kind-worker",
        "ssh kind-worker iptables -F FORWARD",
        "ssh kind-worker sysctl -w net.ipv4.ip_forward=0",
        "ssh kind-worker 'systemctl restart kubelet'",
        "curl -XDELETE http://shop:5000/cart",
        "ssh kind-worker 'unfinished",
    ],
)
def test_what_is_not_known_to_read_may_change_something(line: str) -> None:
    assert can_change_elsewhere(line)
