"""A cluster of nodes: images, kubeadm, and the wait until it is ready."""

from __future__ import annotations

import shutil
from pathlib import Path

from scripts.real_cluster.applications import make_busybox
from scripts.real_cluster.debian import make_root
from scripts.real_cluster.images import Image, add_image
from scripts.real_cluster.nodes import (
    NETWORK,
    PODS,
    Node,
    connect_pods,
    find_nodes,
    make_bridge,
    remove_bridge,
    run,
)
from scripts.real_cluster.programs import COREDNS, ETCD, KUBERNETES, build_programs, find_kubectl

REGISTRY = "registry.k8s.io"
PAUSE = f"{REGISTRY}/pause:3.10.2"
CONFIGURATION = f"""\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {{advertiseAddress: {NETWORK}.2}}
nodeRegistration:
  name: node-1
  taints: []
  kubeletExtraArgs: [{{name: node-ip, value: {NETWORK}.2}}]
timeouts: {{controlPlaneComponentHealthCheck: 8m0s, kubeletHealthCheck: 8m0s}}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: {KUBERNETES}
networking: {{podSubnet: {PODS}}}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
imageGCHighThresholdPercent: 100
evictionHard: {{memory.available: 100Mi, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%}}
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
conntrack: {{maxPerCore: 0}}
"""
"""cgroup v1 works if it is allowed, the disk is the machine's and may be full, and a namespace cannot limit connections."""


def list_images(programs: Path, root: Path) -> list[Image]:
    """Return the images that the cluster itself needs."""
    static = {
        "kube-apiserver": KUBERNETES,
        "kube-controller-manager": KUBERNETES,
        "kube-scheduler": KUBERNETES,
    }
    static["etcd"] = f"{ETCD.removeprefix('v')}-0"
    images = [
        Image((f"{REGISTRY}/{name}:{version}",), files={f"/usr/local/bin/{name}": programs / name})
        for name, version in static.items()
    ]
    proxy = {"/usr/local/bin/kube-proxy": programs / "kube-proxy"}
    coredns = {"/coredns": programs / "coredns"}
    return [
        *images,
        Image((f"{REGISTRY}/kube-proxy:{KUBERNETES}",), files=proxy, root=root, taken=("/usr/sbin/nft",)),
        Image((f"{REGISTRY}/coredns/coredns:{COREDNS}",), ("/coredns",), files=coredns),
        Image((PAUSE,), ("/bin/busybox", "sleep", "2147483647"), root=root, taken=("/bin/busybox",)),
    ]


class Cluster:
    """A real cluster below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.kubeconfig = self.folder / "kubeconfig"

    def start(self, nodes: int) -> None:
        """Build what is missing, start the nodes and wait until the cluster is ready."""
        programs = build_programs(self.folder)
        root = make_root(self.folder)
        for image in (*list_images(programs, root), make_busybox(root)):
            add_image(image, self.folder / "images")
        if find_nodes(self.folder) and not self.kubeconfig.exists():
            raise SystemExit("An earlier start failed. Run: python -m scripts.real_cluster down")
        make_bridge()
        for number in range(1, nodes + 1):
            self._add(Node(self.folder, number))
        connect_pods(find_nodes(self.folder), self.kubectl)
        self._wait()

    def _add(self, node: Node) -> None:
        """Start a node that does not run yet, and let it form or join the cluster."""
        if node.read_pid() is not None:
            return
        print(f"Starting {node.name} ...", flush=True)
        node.start(PAUSE, {"kubeadm.yaml": CONFIGURATION})
        options = (
            "--ignore-preflight-errors=all",
        )  # about systemd and the kernel's modules, which nodes do without
        if node.number == 1:
            print("Running kubeadm init ...", flush=True)
            node.run("kubeadm", "init", "--config=/etc/kubeadm.yaml", *options)
            self.kubeconfig.write_text(node.run("cat", "/etc/kubernetes/admin.conf"))
        else:
            print("Running kubeadm join ...", flush=True)
            command = Node(self.folder, 1).run("kubeadm", "token", "create", "--print-join-command").split()
            node.run(*command, f"--node-name={node.name}", *options)

    def _wait(self) -> None:
        print("Waiting for nodes and DNS ...", flush=True)
        self.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=300s")
        self.kubectl("-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=300s")
        self.kubectl("-n", "kube-system", "rollout", "status", "daemonset/kube-proxy", "--timeout=300s")

    def stop(self) -> None:
        """Stop all nodes and remove what they wrote; keep programs, Debian and images. Idempotent."""
        for node in find_nodes(self.folder):
            print(f"Stopping {node.name} ...", flush=True)
            node.stop()
            shutil.rmtree(node.folder)
        remove_bridge()
        self.kubeconfig.unlink(missing_ok=True)

    def kubectl(self, *arguments: str) -> str:
        """Run kubectl as the cluster's administrator and return its output."""
        return run(*self.make_command(*arguments))

    def make_command(self, *arguments: str) -> list[str | Path]:
        """Return a command line of kubectl as the cluster's administrator."""
        return [find_kubectl(), f"--kubeconfig={self.kubeconfig}", *arguments]


def describe(cluster: Cluster) -> str:
    """Return the state of nodes and system pods as kubectl shows it."""
    nodes = find_nodes(cluster.folder)
    if not any(node.read_pid() for node in nodes):
        return "No node runs; start some with: python -m scripts.real_cluster up"
    lines = [f"{node.name} {node.address} pid {node.read_pid() or '(stopped)'}" for node in nodes]
    return "\n".join([*lines, cluster.kubectl("get", "nodes,pods", "--all-namespaces", "-o", "wide")])
