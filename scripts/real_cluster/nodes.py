"""Nodes: each is a set of Linux namespaces with containerd and kubelet in them, joined to a cluster by kubeadm.

A node's processes share a PID namespace and its mounts a mount namespace, so killing its first process ends all of it. What
remains on the machine while nodes run is a bridge, a cgroup and the cluster's folder.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scripts.real_cluster.registry import PORT

HERE = Path(__file__).parent
BRIDGE = "aiopslab0"
NETWORK = "172.30.99"
PODS = "10.244.0.0/16"

INITTAB = """\
::respawn:/bin/sh -c 'exec containerd >>/var/log/containerd.log 2>&1'
::respawn:/bin/sh /etc/start-kubelet
"""
START_REGISTRY = """\
::respawn:/bin/sh -c 'exec python3 /etc/registry.py /images >>/var/log/registry.log 2>&1'
"""
START_KUBELET = """\
until [ -e /var/lib/kubelet/kubeadm-flags.env ]; do sleep 1; done
. /var/lib/kubelet/kubeadm-flags.env
exec /usr/local/bin/kubelet --config=/var/lib/kubelet/config.yaml --kubeconfig=/etc/kubernetes/kubelet.conf \\
    --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf $KUBELET_KUBEADM_ARGS >>/var/log/kubelet.log 2>&1
"""
CONTAINERD = """\
version = 2
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "/etc/cni/net.d"
conf_template = "/etc/containerd/pod-network.json"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "/etc/containerd/certs.d"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
"""
REGISTRIES = f"""\
server = "http://{NETWORK}.2:{PORT}"
[host."http://{NETWORK}.2:{PORT}"]
capabilities = ["pull", "resolve"]
"""
POD_NETWORK = """\
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "ptp", "mtu": 1500,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "{{.PodCIDR}}"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
"""


@dataclass(frozen=True)
class Node:
    """A node of the cluster below a folder, by its number from 1."""

    cluster: Path
    number: int

    @property
    def name(self) -> str:
        return f"node-{self.number}"

    @property
    def address(self) -> str:
        return f"{NETWORK}.{self.number + 1}"

    @property
    def folder(self) -> Path:
        return self.cluster / "nodes" / self.name

    def read_pid(self) -> int | None:
        """Return the machine's id of the node's first process, or None if it does not run."""
        try:
            pid = int((self.folder / "pid").read_text())
            names = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return pid if names == b"/bin/busybox\0init\0" else None

    def start(self, pause_image: str, files: Mapping[str, str]) -> None:
        """Start init with containerd, and with ``files`` in /etc, in new namespaces and connect it to the bridge."""
        self._write_files(pause_image, files)
        (self.folder / "cgroups").write_text("".join(f"{group}\n" for group in make_cgroups(self.name)))
        with (self.folder / "node.log").open("ab") as log:
            command: list[str | Path] = ["sh", HERE / "node.sh", self.folder, self.name]
            parent = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        wait_until(lambda: parent.poll() is not None or children.read_text() != "", f"{self.name} to start")
        (self.folder / "pid").write_text(children.read_text().strip())
        wait_until(lambda: parent.poll() is not None or self.read_pid() is not None, f"init of {self.name}")
        if parent.poll() is not None:
            raise SystemExit(f"{self.name} did not start: {(self.folder / 'node.log').read_text().strip()}")
        link, pid = f"{BRIDGE}-{self.number}", str(self.read_pid())
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", pid)
        run("ip", "link", "set", link, "master", BRIDGE, "up")
        for line in (
            "link set lo up",
            "link set eth0 up",
            f"address add {self.address}/24 dev eth0",
            f"route add default via {NETWORK}.1",
        ):
            self.run("ip", *line.split())
        wait_until(lambda: self.run("ctr", "version", check=False) != "", f"containerd on {self.name}")
        wait_until(lambda: _can_connect(f"{NETWORK}.2", PORT), "the registry on node-1")

    def run(self, *command: str, check: bool = True) -> str:
        """Run a command inside the node and return its output."""
        return run("nsenter", "--target", str(self.read_pid()), "--all", *command, check=check)

    def stop(self) -> None:
        """Kill everything that runs on the node. Idempotent."""
        pid = self.read_pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not Path(f"/proc/{pid}").exists(), f"the end of {self.name}")
        record = self.folder / "cgroups"
        for group in record.read_text().splitlines() if record.exists() else []:
            remove_cgroup(Path(group))

    def _write_files(self, pause_image: str, files: Mapping[str, str]) -> None:
        for name in ("changes", "work", "root", "data"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for path, text in {
            "inittab": INITTAB + (START_REGISTRY if self.number == 1 else ""),
            "registry.py": (HERE / "registry.py").read_text(),
            "start-kubelet": START_KUBELET,
            "hostname": f"{self.name}\n",
            "machine-id": f"{self.number:032x}\n",
            "hosts": f"127.0.0.1 localhost\n{self.address} {self.name}\n",
            "containerd/config.toml": CONTAINERD.format(pause=pause_image),
            "containerd/certs.d/_default/hosts.toml": REGISTRIES,
            "containerd/pod-network.json": POD_NETWORK,
            "crictl.yaml": "runtime-endpoint: unix:///run/containerd/containerd.sock\n",
            **files,
        }.items():
            file = self.folder / "changes" / "etc" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def find_nodes(cluster: Path) -> list[Node]:
    """Return the nodes of a cluster, running or not."""
    numbers = [int(folder.name.removeprefix("node-")) for folder in (cluster / "nodes").glob("node-*")]
    return [Node(cluster, number) for number in sorted(numbers)]


def make_bridge() -> None:
    """Make the bridge between the machine and its nodes."""
    if not Path(f"/sys/class/net/{BRIDGE}").exists():
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "address", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")


def remove_bridge() -> None:
    """Remove the bridge. Idempotent."""
    if Path(f"/sys/class/net/{BRIDGE}").exists():
        run("ip", "link", "delete", BRIDGE)


def make_cgroups(name: str) -> list[Path]:
    """Make the cgroups of a node and return them: one with cgroup v2, one in each hierarchy with v1."""
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").exists():
        for controller in (root / "cgroup.controllers").read_text().split():
            (root / "cgroup.subtree_control").write_text(f"+{controller}")
        groups = [root / f"aiopslab-{name}"]
    else:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        own = [
            (controllers, path)
            for _, controllers, path in (line.split(":", 2) for line in lines)
            if controllers
        ]
        groups = [root / kind.removeprefix("name=") / path[1:] / f"aiopslab-{name}" for kind, path in own]
    for group in groups:
        group.mkdir(exist_ok=True)
        for setting in ("cpuset.cpus", "cpuset.mems"):  # of v1, which leaves them empty
            if (group.parent / setting).exists():
                (group / setting).write_text((group.parent / setting).read_text())
    return groups


def remove_cgroup(group: Path) -> None:
    """Remove a cgroup, whose processes are ending, with all below it. Idempotent."""
    for folder in (*sorted((each for each in group.rglob("*") if each.is_dir()), reverse=True), group):
        wait_until(partial(_is_removed, folder), f"the end of the processes in {folder}")


def _can_connect(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=5).close()
    except OSError:
        return False
    return True


def _is_removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def wait_until(condition: Callable[[], bool], name: str, limit_s: float = 120.0) -> None:
    """Wait until a condition holds; end the program with one sentence if it does not in time."""
    deadline_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline_s:
            raise SystemExit(f"Waited {limit_s:.0f} s for {name}.")
        time.sleep(0.2)


def run(
    *command: str | Path, check: bool = True, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run a command and return its output; a failed command ends the program with what it printed."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd, env=env)
    if check and done.returncode:
        raise SystemExit(
            f"{' '.join(map(str, command))} failed: {(done.stderr or done.stdout).strip()[-2000:]}"
        )
    return done.stdout


def connect_pods(nodes: list[Node], kubectl: Callable[..., str]) -> None:
    """Add the routes between the pods of all nodes."""
    listed = json.loads(kubectl("get", "nodes", "-o", "json"))["items"]
    ranges = {item["metadata"]["name"]: item["spec"].get("podCIDR") for item in listed}
    for node in nodes:
        for other in nodes:
            if other is not node and ranges.get(other.name):
                node.run("ip", "route", "replace", ranges[other.name], "via", other.address)
