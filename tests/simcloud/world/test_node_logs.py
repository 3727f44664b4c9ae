"""What the services and the kernel of a node log, read on the node as an operator does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.world import World, add_cluster

NODE = "kind-worker"


class Lab:
    """A cluster of four nodes and an operator's shell on one of them."""

    def __init__(self) -> None:
        self.world = World(seed=3)
        self.cluster = add_cluster(self.world, 4)
        self.cluster.start()
        self.world.run_for(40)
        self.machine = self.cluster.kubelets[NODE].node.machine

    def find(self, node: str, name: str) -> ContainerRecord:
        pods = self.cluster.kubelets[node].node.runtime.pods.values()
        return next(record for pod in pods for record in pod.containers if record.name == name)

    def type(self, line: str, status: int = 0) -> str:
        done = self.machine.host.run(["bash", "-c", line])
        assert done.status == status, (line, done)
        return done.stdout.decode()


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    yield Lab()


def test_the_units_of_a_node(lab: Lab) -> None:
    assert lab.type("systemctl is-active kubelet containerd systemd-journald") == "active\n" * 3
    shown = lab.type("systemctl list-units --type=service --state=running --no-legend").split()
    assert {"containerd.service", "kubelet.service", "systemd-journald.service"} <= set(shown)
    assert lab.type("systemctl --failed") == "  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed.\n"
    status = lab.type("systemctl status kubelet")
    assert (
        "Drop-In: /etc/systemd/system/kubelet.service.d\n             └─10-kubeadm.conf, 11-kind.conf\n"
        in status
    )
    assert "--node-ip=172.18.0.3" in status
    before = [int(number) for number in re.findall(r"Process: (\d+) ExecStartPre=/bin/sh -euc if ", status)]
    assert len(before) == 2 and before == sorted(before)
    assert "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf" in lab.type("systemctl cat kubelet")
    properties = lab.type("systemctl show kubelet -p MainPID,NRestarts,MemoryCurrent").splitlines()
    assert [line.partition("=")[0] for line in properties] == ["MainPID", "NRestarts", "MemoryCurrent"]
    assert properties[0] == f"MainPID={lab.type('pgrep -x kubelet').strip()}"
    shims = int(lab.type("pgrep -c containerd-shim"))
    assert shims == len(lab.cluster.kubelets[NODE].node.runtime.pods)


def test_the_kubelet_and_containerd_log_what_they_do(lab: Lab) -> None:
    pid = lab.type("pgrep -x kubelet").strip()
    line = lab.type("journalctl -u kubelet -g 'SyncLoop ADD' -n 1")
    assert f" {NODE} kubelet[{pid}]: I0105 09:00:" in line
    assert f'{pid:>7} kubelet.go:2709] "SyncLoop ADD" source="api" pods=["' in line
    assert 'level=info msg="StartContainer for' in lab.type("journalctl -u containerd")
    assert lab.type("journalctl -u kubelet -p warning") == "-- No entries --\n"
    entry = json.loads(lab.type("journalctl -u kubelet _COMM=kubelet -n1 -o json"))
    assert (entry["_PID"], entry["PRIORITY"], entry["_SYSTEMD_UNIT"]) == (pid, "6", "kubelet.service")


@pytest.mark.parametrize(
    ("limit", "finds"),
    [
        ("--since today", True),
        ("--since '1 hour ago'", True),
        ("--since -1h", True),
        ("-S '2026-01-05 09:00'", True),
        ("--until 2026-01-05", False),
        ("-S tomorrow", False),
        ("--since @1767600000", True),
        ("-U yesterday", False),
        ("-b 0", True),
    ],
)
def test_times_and_boots(lab: Lab, limit: str, finds: bool) -> None:
    assert (lab.type(f"journalctl -u kubelet -q {limit}") != "") is finds
    lab.type("journalctl --since yesteryear", 1)
    lab.type("journalctl -b -1", 1)


def test_lines_are_received_after_they_were_written(lab: Lab) -> None:
    for line in lab.type("journalctl -u kubelet _COMM=kubelet -o short-iso-precise").splitlines():
        received, written = line.split()[0], line.split()[4]
        assert received[11:26] >= written, line
    machine = lab.cluster.kubelets["kind-control-plane"].node.machine
    record = lab.find(machine.name, "kube-proxy")
    log = machine.host.run(["crictl", "logs", "-t", record.id]).stdout.decode().splitlines()
    stamps = [(line.split()[0][11:26], line.split()[2]) for line in log]
    assert all(received >= written for received, written in stamps), log
    synced = next(number for number, line in enumerate(log) if 'synced" controller="serviceCIDR' in line)
    assert float(stamps[synced][1][6:]) - float(stamps[synced - 1][1][6:]) > 0.1


def test_a_restarted_kubelet_lists_its_pods_at_once(lab: Lab) -> None:
    lab.type("systemctl restart kubelet")
    lab.world.run_for(3)
    stopped, started, *lines = lab.type(
        "journalctl -u kubelet -n 60 -o cat | sed -n '/^Stopped/,$p'"
    ).splitlines()
    assert started.startswith("Started kubelet.service") or "Consumed" in started, (stopped, started)
    (added,) = [line for line in lines if "SyncLoop ADD" in line]
    assert "kube-system/kindnet-" in added
    assert "kube-system/kube-proxy-" in added
    assert any("VerifyControllerAttachedVolume" in line for line in lines[lines.index(added) :])


def test_programs_of_a_node_tell_their_versions(lab: Lab) -> None:
    versions = lab.type("kubelet --version; runc --version; containerd --version")
    assert versions.startswith("Kubernetes v1.36.4\nrunc version 1.")
    assert "containerd github.com/containerd/containerd/v2 v2.1.9 " in versions
    status = lab.type("systemctl status containerd")
    assert "ExecStartPre=/sbin/modprobe overlay (code=exited, status=0/SUCCESS)" in status
    assert "(limit: " not in status


def test_the_kernel_logs_its_boot_and_what_happens(lab: Lab) -> None:
    boot = lab.type("dmesg")
    assert boot.startswith("[    0.000000] Linux version 6.1.0-28-amd64")
    sectors = int(lab.type("lsblk -bdno SIZE /dev/sda")) // 512
    assert f"sd 2:0:0:0: [sda] {sectors} 512-byte logical blocks" in boot
    assert lab.type("dmesg --level=err") == lab.type("journalctl -k -q -p err") == ""
    lab.machine.disk.fail_writes = True
    lab.type("echo lost > /root/file", 1)
    lab.machine.disk.fail_writes = False
    assert "kern  :err   : [" in lab.type("dmesg -x | grep 'I/O error, dev sda, sector'")
    assert f" {NODE} kernel: Buffer I/O error on dev sda1" in lab.type("journalctl -k -p err")
    assert lab.type("dmesg | grep -c 'I/O error, dev sda'") == "2\n"  # a block, and the journal's first one
    assert lab.type("dmesg | grep -c 'EXT4-fs error'; cat /sys/fs/ext4/sda1/errors_count") == "1\n1\n"
    lab.type("dmesg -C")
    assert lab.type("dmesg") == ""
    assert "Linux version" in lab.type("journalctl -k")


def test_an_oom_kill_names_the_cgroup_of_the_pod(lab: Lab) -> None:
    record = lab.find(NODE, "kindnet-cni")
    container, process = record.container, record.process
    assert container is not None
    assert process is not None
    process.memory.use((container.memory_limit_bytes or 0) + 4096)
    log = lab.type("dmesg")
    assert "kindnetd invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=-997\n" in log
    assert f".slice/cri-containerd-{record.id}.scope,task=kindnetd,pid={process.host_pid}," in log
    assert f"Killed process {process.host_pid} (kindnetd) total-vm:" in log.splitlines()[-1]


def test_without_containerd_a_node_is_not_ready_and_its_pods_run_on(lab: Lab) -> None:
    lab.type("systemctl stop containerd")
    lab.world.run_for(12)
    node = lab.cluster.kubelets[NODE].node.client.get("nodes", "", NODE)
    assert node is not None
    (ready,) = [each for each in node["status"]["conditions"] if each["type"] == "Ready"]
    assert (ready["status"], ready["message"]) == ("False", "container runtime is down")
    assert lab.type("pgrep -c kube-proxy") == "1\n"
    lab.type("systemctl start containerd")
    assert "Consumed" in lab.type("journalctl -u containerd -t systemd")


def test_a_reboot_starts_another_boot_of_the_journal(lab: Lab) -> None:
    lab.machine.lose()
    lab.machine.boot()
    lab.world.run_for(20)
    boots = lab.type("journalctl --list-boots").splitlines()
    assert [line.split()[0] for line in boots] == ["IDX", "-1", "0"]
    assert "oom-killer" in lab.type("journalctl -k -b -1 -g oom-killer")
    assert lab.type("journalctl -k -q -g oom-killer") == ""


def test_programs_of_the_control_plane_log_what_happens(lab: Lab) -> None:
    def read(name: str) -> str:
        machine = lab.cluster.kubelets["kind-control-plane"].node.machine
        return machine.host.run(["crictl", "logs", lab.find(machine.name, name).id]).stdout.decode()

    api, caller = lab.cluster.api, lab.cluster.kubelets[NODE].node.client.caller
    web = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"ports": [{"port": 80}]},
    }
    api.create(api.catalogue.find("services"), "default", web, caller)
    lab.world.run_for(400)
    line = 'alloc.go:329] "allocated clusterIPs" service="default/web" clusterIPs={"IPv4":"10.96.'
    assert line in read("kube-apiserver")
    assert '"msg":"finished scheduled compaction","compact-revision":' in read("etcd")
    assert 'logger="replicaset-controller" name="replicaset"' in read("kube-controller-manager")


def test_a_stack_that_overflows_is_a_segfault_in_the_kernel_log(lab: Lab) -> None:
    assert lab.type("bash -c 'f() { f; }; f'; echo $?") == "139\n"
    fault, code = lab.type("dmesg -t | tail -2").splitlines()
    pattern = r"bash\[\d+\]: segfault at 7ff[cd]\w{8} ip 0{4}5\w{11} sp 0{4}7ff[cd]\w{8} error 6 in bash\[5\w{11}\+d7000\] .*"
    assert re.fullmatch(pattern, fault), fault
    assert code.startswith("Code: ") and "<e8>" in code
    assert lab.type("sleep 60 & kill -SEGV $!; wait $!; echo $?; dmesg -t | tail -1") == f"139\n{code}\n"


def test_kmsg_has_the_kernel_log_and_takes_lines(lab: Lab) -> None:
    assert lab.type("ls -l /dev/kmsg").startswith("crw-r--r-- 1 root root 1, 11 ")
    assert lab.type("head -1 /dev/kmsg").startswith("5,0,0,-;Linux version 6.1.")
    assert lab.type("cat /dev/kmsg | wc -l") == lab.type("dmesg | wc -l")
    lab.type("echo '<3>look here' > /dev/kmsg; echo plain > /dev/kmsg")
    assert lab.type("dmesg -t --level=err | tail -1; dmesg -t --level=warn | tail -1") == "look here\nplain\n"
    assert lab.type("tail -1 /dev/kmsg").startswith("4,")
    lab.type("printf %2000d 1 > /dev/kmsg", status=1)
    lab.type("dd if=/dev/kmsg bs=8 count=1", status=1)
