"""A node seen from its own shell: files, certificates, block devices, memory, tools; and its kubelet's pages through the API."""

from __future__ import annotations

import json
import re

import pytest

from simcloud.world import Terminal, World
from simcloud.world.clusters import add_cluster

NODE = "kind-worker"
CERTIFICATES = "--cacert /etc/kubernetes/pki/etcd/ca.crt --cert /etc/kubernetes/pki/etcd/server.crt --key /etc/kubernetes/pki/etcd/server.key"


class Lab:
    def __init__(self) -> None:
        self.world = World(5)
        self.cluster = add_cluster(self.world, 3)
        self.cluster.start()
        self.world.run_for(60.0)
        self.terminal = Terminal(self.world, self.cluster)

    def type(self, line: str, status: int = 0) -> str:
        done = self.terminal.run(line)
        assert done.status == status, done.stderr
        return (done.stdout + done.stderr).decode()

    def on(self, node: str, line: str, status: int = 0) -> str:
        return self.type(f"ssh {node} '{line}'", status)


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


def test_a_pod_shows_in_the_folders_of_kubelet_containerd_and_cgroups(lab: Lab) -> None:
    pod = json.loads(lab.type("kubectl get pod -n kube-system -l k8s-app=kube-proxy -o json"))["items"][0]
    node, uid = pod["spec"]["nodeName"], pod["metadata"]["uid"]
    container = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    assert uid in lab.on(node, "ls /var/lib/kubelet/pods")
    assert "kind: KubeProxyConfiguration" in lab.on(
        node, f"cat /var/lib/kubelet/pods/{uid}/volumes/*configmap/kube-proxy/config.conf"
    )
    assert f"/{container}/rootfs type overlay" in lab.on(node, "mount")
    group = lab.on(node, f"find /sys/fs/cgroup/kubelet.slice -name *{container}.scope").strip()
    pid = lab.on(node, f"cat {group}/cgroup.procs").strip()
    assert lab.on(node, f"cat /proc/{pid}/comm") == "kube-proxy\n"
    assert uid.replace("-", "_") in group


def test_a_computed_file_can_be_changed_moved_and_removed(lab: Lab) -> None:
    lab.on(
        NODE,
        "sed -i s/10.96.0.10/10.96.0.11/ /var/lib/kubelet/config.yaml; mv /etc/cni/net.d/10-kindnet.conflist /root",
    )
    assert "- 10.96.0.11" in lab.on(NODE, "grep -A1 clusterDNS: /var/lib/kubelet/config.yaml")
    assert (
        lab.on(NODE, "ls /etc/cni/net.d; mv /root/10-kindnet.conflist /etc/cni/net.d; ls /etc/cni/net.d")
        == "10-kindnet.conflist\n"
    )


def test_certificates_are_signed_by_the_cluster_and_can_be_renewed(lab: Lab) -> None:
    shown = lab.on(
        NODE, "openssl x509 -in /var/lib/kubelet/pki/kubelet-client-current.pem -noout -subject -issuer"
    )
    assert shown == f"subject=O = system:nodes, CN = system:node:{NODE}\nissuer=CN = kubernetes\n"
    end = "openssl x509 -noout -enddate -in /etc/kubernetes/pki/apiserver.crt"
    before = lab.on("kind-control-plane", end)
    assert re.search(
        r"apiserver +Jan 05, 2027 08:59 UTC +364d +ca +no",
        lab.on("kind-control-plane", "kubeadm certs check-expiration"),
    )
    lab.on("kind-control-plane", "kubeadm certs renew apiserver")
    assert lab.on("kind-control-plane", end) != before
    assert f"{NODE}2" in lab.on("kind-control-plane", "kubectl get nodes")  # by the certificate in admin.conf


def test_the_disk_accounts_for_images_and_reports_its_errors(lab: Lab) -> None:
    free = int(lab.on(NODE, "df --output=avail / | tail -1"))
    lab.type(f"kubectl run web --image=nginx --overrides='{json.dumps({'spec': {'nodeName': NODE}})}'")
    lab.world.run_for(20.0)
    assert int(lab.on(NODE, "df --output=avail / | tail -1")) < free
    assert lab.on(NODE, "lsblk -no NAME,TYPE,MOUNTPOINTS") == "sda    disk \n└─sda1 part /\n"
    disk = lab.world.machines[NODE].disk
    disk.fail_reads = lambda path: path == "/dev/sda"
    assert "Input/output error" in lab.on(NODE, "dd if=/dev/sda of=/dev/null bs=1M count=100", 1)
    disk.fail_reads = False
    assert "clean, " in lab.on(NODE, "fsck -n /dev/sda1")
    status = lab.on(NODE, "badblocks -s /dev/sda 1000000 2>&1").replace("\b", "")
    assert re.findall(r"([0-9.]+)% done, (0:0\d) elapsed. \(0/0/0 errors\)", status) == [
        ("0.00", "0:00"),
        ("40.04", "0:01"),
        ("80.08", "0:02"),
    ]
    disk.fail_writes = True
    assert "Read-only file system" in lab.on(NODE, "touch /root/new", 1)
    assert lab.on(NODE, "grep ^/dev/sda1 /proc/mounts").startswith("/dev/sda1 / ext4 ro,")
    disk.fail_writes = False
    blocks = re.findall(r"Block count: +(\d+)\n|Free blocks: +(\d+)\n", lab.on(NODE, "dumpe2fs -h /dev/sda1"))
    count, free = int(blocks[0][0]), int(blocks[1][1])
    checked = lab.on(NODE, "fsck -n /dev/sda1", 4)
    assert (
        "WARNING: Filesystem still has errors" in checked and f", {count - free}/{count} blocks\n" in checked
    )
    known, folder = (
        disk.file_system_errors,
        "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots",
    )
    inode = int(lab.on(NODE, f"stat -c %i {folder}"))
    disk.lose_directory(folder, inode)
    assert "Input/output error" in lab.on(NODE, f"mkdir {folder}/new", 1)
    assert f"inode #{inode}: comm " in lab.on(NODE, "dmesg | tail -1") and inode < disk.inodes
    lab.on(NODE, "touch /root/new && rm /root/new")
    assert disk.file_system_errors == known + 1
    disk.lost_directory, disk.fail_reads, disk.fail_writes = None, False, False


def test_memory_figures_agree(lab: Lab) -> None:
    facts = {
        line.split(":")[0]: int(line.split()[1]) for line in lab.on(NODE, "cat /proc/meminfo").splitlines()
    }
    assert facts["MemTotal"] % 1024 and not any(
        facts[name] % 4 for name in ("MemFree", "Cached", "AnonPages")
    )
    before = lab.on(NODE, "free -k").split()
    assert int(before[7]) == facts["MemTotal"]
    after = lab.on(NODE, "echo 3 > /proc/sys/vm/drop_caches; free -k").split()
    assert int(after[11]) < int(before[11]) and int(after[9]) > int(before[9])
    assert (
        lab.on(NODE, "sysctl -w vm.swappiness=10; cat /proc/sys/vm/swappiness") == "vm.swappiness = 10\n10\n"
    )


def test_crictl_filters_formats_and_refuses(lab: Lab) -> None:
    table = lab.on(NODE, "crictl ps --name kube-proxy")
    assert re.match(
        "CONTAINER {11}IMAGE {15}CREATED +STATE {15}NAME {16}ATTEMPT {13}POD ID {14}POD {17}NAMESPACE\n",
        table,
    )
    pid = lab.on(
        NODE,
        "crictl inspect -o go-template --template {{.info.pid}} $(crictl ps -q --name coredns | head -1)",
    ).strip()
    assert lab.on(NODE, f'ctr -n k8s.io tasks ls | grep -c " {pid} "') == "1\n"
    assert lab.on(NODE, f"ps -o uid=,gid= -p {pid}").split() == ["65532", "65532"]
    assert lab.on(NODE, "crictl pods --state NotReady").count("\n") == 1
    missing = r'an error occurred when try to find container \"0123\": not found"'
    assert lab.on(NODE, "crictl inspect 0123", 1).endswith(
        'level=fatal msg="get the status of containers: get container status: '
        f"rpc error: code = NotFound desc = {missing}\n"
    )
    images = [row.split() for row in lab.on(NODE, "crictl images --digests | tail -n +2").splitlines()]
    assert "38667dd9be96c" in {number for *_, number, _ in images}
    assert all(digest != number for _, _, digest, number, _ in images)
    proxies = [row for row in images if "/kube-proxy" in row[0]]
    assert [row[0] for row in proxies] == [f"registry.k8s.io/kube-proxy{arch}" for arch in ("-amd64", "")]
    assert proxies[0][1:] == proxies[1][1:]


def test_etcdctl_needs_a_certificate(lab: Lab) -> None:
    etcdctl = "kubectl -n kube-system exec etcd-kind-control-plane -- etcdctl"
    assert "/registry/namespaces/default\n" in lab.type(
        f"{etcdctl} {CERTIFICATES} get /registry/namespaces --prefix --keys-only"
    )
    assert "is unhealthy" in lab.type(f"{etcdctl} endpoint health", 1)


def test_the_api_server_proxies_to_kubelets(lab: Lab) -> None:
    base = f"kubectl get --raw /api/v1/nodes/{NODE}/proxy"
    summary = json.loads(lab.type(f"{base}/stats/summary"))
    assert summary["node"]["fs"]["availableBytes"] == int(lab.on(NODE, "df -B1 --output=avail / | tail -1"))
    metrics = lab.type(f"{base}/metrics")
    assert 'kubelet_runtime_operations_total{operation_type="start_container"}' in metrics
    assert "_errors_total" not in metrics
    usage = lab.type(
        f"{base}/metrics/cadvisor | grep '^container_cpu_usage_seconds_total{{container=\"\",cpu='"
    )
    assert '.slice",image="",name="",namespace="kube-system",pod="kindnet-' in usage
    assert '<a href="containers/">containers/</a>' in lab.type(f"{base}/logs/")
    page = "kubectl get --raw /metrics"
    assert lab.type(f"{page} | grep -c 'apiserver_storage_objects{{resource=\"nodes\"}} 3'") == "1\n"
    assert lab.type(f"{page} | awk '/^workqueue_depth/{{s+=$2}} END{{print (NR > 5000), s}}'") == "1 0\n"
    assert lab.type(f"{page} | grep -v '^#' | sed 's/ [^ ]*$//' | sort | uniq -d") == ""
    lab.on(NODE, "systemctl stop kubelet")
    assert "connection refused" in lab.type(f"{base}/healthz", 1)
    lab.on(NODE, "systemctl start kubelet")
