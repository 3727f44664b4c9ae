"""What an operator does on nodes, from the terminal alone: the ways in, and the breakages made and healed there."""

from __future__ import annotations

import re

import pytest

from aiopslab.apps.base import Journey
from aiopslab.cloud.outside import find_front_door, start_outside
from aiopslab.generators.workload.arrivals import OpenLoop
from aiopslab.generators.workload.outcomes import Summary
from aiopslab.generators.workload.shapes import Steady
from aiopslab.generators.workload.users import Users
from simcloud.machine.network.http import HttpRequest
from simcloud.world.clusters import add_cluster
from simcloud.world.policies import READ_ONLY
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

NODE = "kind-worker"


class Lab:
    """nginx on one worker, with users on it."""

    def __init__(self) -> None:
        self.world = World(3)
        self.cluster = add_cluster(self.world, 3)
        self.cluster.start()
        self.world.run_for(30)
        self.terminal = Terminal(self.world, self.cluster)
        self.type("kubectl cordon kind-worker2; kubectl create deployment web --image nginx:1.19 --port 80")
        self.type("kubectl expose deployment web --type NodePort --port 80")
        self.world.run_for(30)
        self.type("kubectl uncordon kind-worker2")
        page = Journey("page", 1.0, lambda _: HttpRequest("GET", "/"), lambda answer: answer.status == 200)
        self.users = Users(find_front_door(self.cluster, "default", "web"), [page], OpenLoop(Steady(20.0)))
        start_outside(self.world, "users", self.users.program)
        self.world.run_for(5)

    def type(self, line: str, status: int = 0) -> str:
        done = self.terminal.run(line, timeout_s=300)
        assert done.status == status, (done.stdout, done.stderr)
        return (done.stdout + done.stderr).decode()

    def requests(self, seconds: float) -> Summary:
        begun = self.world.kernel.now
        self.world.run_for(seconds + 3)
        return self.users.results.between(begun, begun + seconds)


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


# -- the ways in ---------------------------------------------------------------------------------


def logs(lab: Lab, options: str, command: str) -> str:
    """What a debugging pod on the node has to say at its end."""
    made = lab.type(f"kubectl debug node/{NODE} --image=busybox {options} -- {command}")
    pod = made.split()[3]
    lab.world.run_for(6)
    said = lab.type(f"kubectl logs {pod}")
    lab.type(f"kubectl delete pod {pod}")
    return said


def test_a_debugging_pod_is_let_into_its_node(lab: Lab) -> None:
    shown = logs(lab, "", "chroot /host sh -c 'ps -eo pid,args; hostname; jq --version; cat /etc/hostname'")
    assert " /usr/bin/kubelet --bootstrap-kubeconfig=" in shown
    assert shown.endswith(f"{NODE}\njq-1.6\n{NODE}\n")
    assert "nginx" in logs(lab, "", "ps")  # the numbers of the machine, by busybox's own ps
    assert logs(lab, "", "chroot /nothing sh").endswith("No such file or directory\n")


def test_rights_are_those_of_the_profile(lab: Lab) -> None:
    tc = "chroot /host sh -c 'tc qdisc add dev eth0 root netem delay 1ms && tc qdisc del dev eth0 root && echo done'"
    assert logs(lab, "", tc) == "RTNETLINK answers: Operation not permitted\n"
    assert logs(lab, "--profile=sysadmin", tc) == "done\n"
    into = "nsenter -t 1 -a -- sh -c 'echo in $(hostname)'"
    assert logs(lab, "--profile=general", into).endswith("failed: Operation not permitted\n")
    assert logs(lab, "--profile=sysadmin", into) == f"in {NODE}\n"


def test_the_process_that_holds_a_pod_has_the_network_of_the_pod(lab: Lab) -> None:
    pod, node, address = lab.type(
        "kubectl get pods -A -o json | jq -r '[.items[] | select(.spec.hostNetwork | not)][0] | .metadata.name, .spec.nodeName, .status.podIP'"
    ).split()
    pid = f"$(crictl inspectp $(crictl pods --name {pod} -q) | jq .info.pid)"
    assert address in lab.type(f"ssh {node} 'nsenter -t {pid} -n ip -br addr show eth0'")
    change = 'sh -c "tc qdisc add dev eth0 root netem delay 1ms && tc qdisc del dev eth0 root"'
    lab.type(f"ssh {node} 'nsenter -t {pid} -n {change}'")


def test_nodes_are_logged_in_to_over_the_network(lab: Lab) -> None:
    assert lab.type(f"ssh {NODE} 'hostname; echo told >&2; exit 3'", 3) == f"{NODE}\ntold\n"
    assert lab.type(f"echo 'echo $((6*7))' | ssh -T {NODE}") == "42\n"
    assert lab.type(f"ssh nobody@{NODE} true", 255) == f"nobody@{NODE}: Permission denied (publickey).\n"
    assert lab.type("ssh nowhere true", 255).startswith("ssh: Could not resolve hostname nowhere: ")
    assert lab.type(f"nc -w 2 {NODE} 22 < /dev/null; ssh {NODE} hostname", 0).endswith(f"{NODE}\n")
    lab.type(f"mv .ssh/id_ed25519 /tmp; ssh {NODE} true", 255)
    lab.type(f"mv /tmp/id_ed25519 .ssh; ssh {NODE} true")


def test_who_may_only_look_does_not_log_in(lab: Lab) -> None:
    done = Terminal(lab.world, lab.cluster, READ_ONLY, name="bastion-looking").run(f"ssh {NODE} true")
    assert (done.status, done.stderr) == (255, f"root@{NODE}: Permission denied (publickey).\n".encode())


# -- a bad network -------------------------------------------------------------------------------


def test_lost_packets_make_requests_slow_and_some_fail_until_the_queue_is_taken_away(lab: Lab) -> None:
    assert lab.requests(20).errors == 0
    lab.type(f"ssh {NODE} tc qdisc add dev eth0 root netem loss 50%")
    bad = lab.requests(30)
    assert bad.p99_s > 0.15
    assert 0.01 < bad.error_rate < 0.9
    shown = lab.type(f"ssh {NODE} tc -s qdisc show dev eth0")
    assert re.match(r"qdisc netem 800\d: root refcnt 2 limit 1000 loss 50%\n Sent ", shown)
    assert "(dropped 0," not in shown
    lab.type(f"ssh {NODE} tc qdisc del dev eth0 root")
    lab.world.run_for(10)
    good = lab.requests(20)
    assert good.errors == 0
    assert good.p99_s < 0.05


def test_a_slow_exit_is_one_way_only(lab: Lab) -> None:
    lab.type(f"ssh {NODE} tc qdisc replace dev eth0 root netem delay 200ms 20ms")
    slow = lab.requests(20)
    assert slow.errors == 0
    assert 0.17 < slow.p50_s < 0.47
    lab.type(f"ssh {NODE} tc qdisc del dev eth0 root")


def test_a_pod_has_an_exit_of_its_own(lab: Lab) -> None:
    pod = lab.type("kubectl get pod -l app=web -o name").strip()
    debug = f"kubectl debug {pod} -q -it --image=nicolaka/netshoot --profile=netadmin --"
    lab.type(f"{debug} tc qdisc add dev eth0 root netem delay 300ms")
    assert lab.requests(10).p50_s > 0.3
    before = lab.type(f"ping -c 1 {NODE}")
    assert float(before.partition("time=")[2].split()[0]) < 10  # the machine itself is as fast as ever
    lab.type(f"{debug} tc qdisc del dev eth0 root")
    assert lab.requests(10).p50_s < 0.05


# -- services and power --------------------------------------------------------------------------


def ready(lab: Lab, node: str = NODE) -> str:
    return lab.type(f"kubectl get node {node} --no-headers").split()[1]


def test_a_stopped_kubelet_is_missed_while_its_containers_run_on(lab: Lab) -> None:
    lab.type(f"ssh {NODE} systemctl stop kubelet")
    assert lab.type(f"ssh {NODE} systemctl is-active kubelet", 3) == "inactive\n"
    assert "Active: inactive (dead) since" in lab.type(f"ssh {NODE} systemctl status kubelet", 3)
    lab.world.run_for(60)
    assert ready(lab) == "NotReady"
    address = lab.type("kubectl get pod -l app=web -o jsonpath='{.items[0].status.podIP}'")
    assert "Welcome to nginx!" in lab.type(f"ssh kind-worker2 curl -s http://{address}/")
    assert "connection refused" in lab.type("kubectl logs -l app=web", 1)
    lab.type(f"ssh {NODE} systemctl start kubelet")
    lab.world.run_for(20)
    assert ready(lab) == "Ready"
    told = lab.type(f"ssh {NODE} journalctl -u kubelet -t systemd")
    assert "Stopped kubelet.service - kubelet: The Kubernetes Node Agent." in told


def test_the_runtime_tells_what_it_holds_while_no_kubelet_runs(lab: Lab) -> None:
    lab.type(f"ssh {NODE} systemctl stop kubelet")
    row = next(line for line in lab.type(f"ssh {NODE} crictl ps").splitlines() if " nginx " in line)
    assert row.split()[-1] == "default"
    assert "Running" in row
    name = row.split()[0]
    assert lab.type(f"ssh {NODE} crictl ps -q --name nginx").startswith(name)
    assert lab.type(f"ssh {NODE} crictl ps -q --name nobody") == ""
    assert "GET / HTTP/1.1" in lab.type(f"ssh {NODE} crictl logs --tail 2 {name}")
    assert '"state": "CONTAINER_RUNNING"' in lab.type(f"ssh {NODE} crictl inspect {name}")
    assert "Ready" in lab.type(f"ssh {NODE} crictl pods")
    assert "docker.io/library/nginx" in lab.type(f"ssh {NODE} crictl images")
    assert lab.type(f"ssh {NODE} crictl stop {name}").startswith(name)
    assert name not in lab.type(f"ssh {NODE} crictl ps")
    lab.type(f"ssh {NODE} crictl inspect 0000", 1)
    lab.type(f"ssh {NODE} systemctl start kubelet")
    lab.world.run_for(20)
    assert lab.requests(5).errors == 0


def test_a_killed_kubelet_is_started_again_by_its_machine(lab: Lab) -> None:
    lab.type(f"ssh {NODE} pkill -9 kubelet")
    assert lab.type(f"ssh {NODE} systemctl is-active kubelet", 3) == "activating\n"
    lab.world.run_for(15)
    assert lab.type(f"ssh {NODE} systemctl is-active kubelet") == "active\n"
    assert "Scheduled restart job, restart counter is at 1." in lab.type(
        f"ssh {NODE} journalctl -u kubelet -t systemd -n 3"
    )


def test_a_reboot_brings_everything_back(lab: Lab) -> None:
    lab.type(
        f"ssh {NODE} tc qdisc add dev eth0 root netem delay 1ms; ssh {NODE} 'echo kept > /root/note; reboot'; true"
    )
    lab.world.run_for(92)  # this image's server is deaf to SIGTERM, and killed only then
    assert lab.requests(10).error_rate > 0.2
    lab.world.run_for(90)
    assert ready(lab) == "Ready"
    assert lab.type(f"ssh {NODE} 'cat note; uptime -p; tc qdisc show dev eth0'").startswith(
        "kept\nup 1 minute\nqdisc noqueue"
    )
    assert lab.type("kubectl get pod -l app=web --no-headers").split()[1:4] == ["1/1", "Running", "2"]
    assert lab.requests(10).errors == 0


def test_a_machine_that_is_turned_off_is_gone(lab: Lab) -> None:
    assert "scheduled for" in lab.type("ssh kind-worker2 shutdown -h +1")
    lab.type("ssh kind-worker2 shutdown -c")
    lab.world.run_for(120)
    assert ready(lab, "kind-worker2") == "Ready"
    lab.type("ssh kind-worker2 poweroff; true")
    lab.world.run_for(150)
    assert ready(lab, "kind-worker2") == "NotReady"
    assert "timed out" in lab.type("ssh -o ConnectTimeout=2 kind-worker2 true", 255)
    assert "has not been booted with systemd" in lab.type(
        "kubectl run off --image=debian:12 --restart=Never --rm -i -q -- sh -c 'sleep 2; systemctl poweroff'",
        1,
    )
    lab.world.machines["kind-worker2"].boot()
    lab.world.run_for(30)


# -- hogs ----------------------------------------------------------------------------------------


def test_a_hog_of_memory_dies_of_its_limit(lab: Lab) -> None:
    lab.type(
        "kubectl run hog --image=polinux/stress --restart=Never --overrides "
        """'{"spec":{"containers":[{"name":"hog","image":"polinux/stress","command":["stress"],"""
        """"args":["--vm","1","--vm-bytes","150M"],"resources":{"limits":{"memory":"100Mi"}}}]}}'"""
    )
    lab.world.run_for(15)
    assert lab.type("kubectl get pod hog --no-headers").split()[2] == "OOMKilled"
    assert lab.type("kubectl logs hog") == "stress: info: [1] dispatching hogs: 0 cpu, 0 io, 1 vm, 0 hdd\n"
    lab.type("kubectl delete pod hog")


@pytest.mark.slow
def test_neighbours_of_hogs_wait_for_the_cores(lab: Lab) -> None:
    work = f"ssh {NODE} 'date +%s.%N; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; date +%s.%N'"

    def took_s() -> float:
        begun, ended = map(float, lab.type(work).split())
        return ended - begun

    alone = took_s()
    lab.type(
        "for n in 1 2 3; do kubectl run hog-$n --image=alexeiled/stress-ng --restart=Never --overrides "
        f"""'{{"spec":{{"nodeName":"{NODE}"}}}}' -- stress-ng --cpu 4 --timeout 60s; done"""
    )
    lab.world.run_for(20)
    assert took_s() > 2.5 * alone
    assert float(lab.type(f"ssh {NODE} cat /proc/loadavg").split()[0]) > 2
    lab.world.run_for(70)
    assert "successful run completed in 60.00s" in lab.type("kubectl logs hog-2")
    assert took_s() < 1.2 * alone
    lab.type("kubectl delete pod hog-1 hog-2 hog-3")


# -- filtered ports ------------------------------------------------------------------------------


def test_a_dropped_port_is_silent_and_a_rejected_one_refuses(lab: Lab) -> None:
    def ask() -> str:
        return lab.type("ssh kind-worker2 'echo | nc -w 3 -v kind-worker 10250; true'")

    listed = f"ssh {NODE} iptables -L INPUT -n --line-numbers"
    lab.type(f"ssh {NODE} iptables -A INPUT -p tcp --dport 10250 -j DROP")
    assert "timed out" in ask()
    assert lab.type(listed).startswith(
        "Chain INPUT (policy ACCEPT)\nnum  target     prot opt source               destination         \n"
        "1    DROP       6    --  0.0.0.0/0            0.0.0.0/0            tcp dpt:10250\n"
    )
    lab.type(f"ssh {NODE} iptables -I INPUT -p tcp --dport 10250 -s 172.18.0.0/24 -j REJECT")
    assert "refused" in ask()
    assert "-A INPUT -s 172.18.0.0/24 -p tcp -m tcp --dport 10250 -j REJECT" in lab.type(
        f"ssh {NODE} iptables -S"
    )
    lab.type(f"ssh {NODE} 'iptables -D INPUT 1; iptables -D INPUT -p tcp --dport 10250 -j DROP'")
    assert "succeeded" in ask()
    assert "Bad rule" in lab.type(f"ssh {NODE} iptables -D INPUT -p tcp --dport 10250 -j DROP", 1)


def test_a_filter_stops_conversations_that_have_begun_and_its_end_lets_them_go_on(lab: Lab) -> None:
    lab.type("kubectl uncordon kind-worker2")
    assert lab.requests(10).errors == 0
    address = lab.type("kubectl get pod -l app=web -o jsonpath='{.items[0].status.podIP}'")
    node = lab.type("kubectl get pod -l app=web -o jsonpath='{.items[0].spec.nodeName}'")
    lab.type(f"ssh {node} iptables -A FORWARD -d {address} -p tcp --dport 80 -j DROP")
    assert lab.requests(10).error_rate == 1
    lab.type(f"ssh {node} iptables -F")
    lab.world.run_for(10)
    assert lab.requests(10).errors == 0


def test_a_filter_may_take_a_share_of_the_packets(lab: Lab) -> None:
    rule = "FORWARD -p tcp --dport 80 -m statistic --mode random --probability"
    told = (
        "-A FORWARD -p tcp -m tcp --dport 80 -m statistic --mode random --probability 0.20000000019 -j DROP"
    )
    node = lab.type("kubectl get pod -l app=web -o jsonpath='{.items[0].spec.nodeName}'")
    lab.type(f"ssh {node} iptables -A {rule} 0.2 -j DROP")
    assert told in lab.type(f"ssh {node} iptables -S FORWARD").splitlines()
    assert "tcp dpt:80 statistic mode random probability 0.20000000019" in lab.type(
        f"ssh {node} iptables -L FORWARD -n"
    )
    slowed = lab.requests(20)
    assert 0.0 <= slowed.error_rate < 0.5
    assert slowed.p99_s > 0.2, "what is lost is sent again, and that takes time"
    lab.type(f"ssh {node} iptables -D {rule} 0.2 -j DROP")
    lab.world.run_for(10)
    well = lab.requests(10)
    assert (well.errors, well.p99_s < 0.1) == (0, True)


@pytest.mark.parametrize(
    ("match", "told"),
    [
        ("--probability 0.5", "--mode must be specified"),
        ("--mode random", "you must specify `--probability' in random mode"),
        ("--mode random --probability 2", "out of range (0-1)"),
        ("--mode sometimes --probability 0.5", 'Bad mode "sometimes"'),
    ],
)
def test_a_share_that_is_none_is_refused(lab: Lab, match: str, told: str) -> None:
    said = lab.type(f"ssh {NODE} iptables -A FORWARD -m statistic {match} -j DROP", 2)
    assert told in said


def test_a_container_without_the_right_may_not_filter(lab: Lab) -> None:
    said = lab.type(
        "kubectl run f --image=debian:12 --restart=Never --rm -i -q -- sh -c 'sleep 2; iptables -L'", 4
    )
    assert "Permission denied (you must be root)" in said
