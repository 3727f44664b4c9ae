"""The operator's host: a bastion machine beside the cluster, where people and agents run commands.

It has kubectl and the usual tools and reaches the cluster over the network; with ssh it reaches the nodes themselves, even if
their kubelet does not answer. Files and background processes (``kubectl port-forward … &``) persist. An agent's lines run in a new
shell each; a person's are typed into one interactive shell (``open_shell``). A line that takes too long is killed and long output is cut; a note says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import ClassVar, Final

from simcloud.helm import helm_program
from simcloud.kubectl import Door, kubectl_program
from simcloud.kubectl.kubeconfig import parse_file
from simcloud.kubernetes import Cluster, MachineFacts, find_administrator
from simcloud.kubernetes.api import Key, at
from simcloud.kubernetes.api.access import CLUSTER_ADMINISTRATOR
from simcloud.kubernetes.controllers import PUBLISHED
from simcloud.kubernetes.host import format_kubeconfig
from simcloud.machine import Image, secure_shell, system_services
from simcloud.machine.network import EPHEMERAL_PORTS, SocketInfo
from simcloud.machine.process import BINARY, SIZE, TERMINAL, Completed, Context, Process, Program, Signal
from simcloud.userland.commands import all_commands
from simcloud.world.policies import ADMIN, Policy
from simcloud.world.typed_lines import HOME, InteractiveShell, TypedLine
from simcloud.world.world import World

SMALL: Final = MachineFacts(cores=2, memory_bytes=4_009_148 * 1024, disk_bytes=20_509_264 * 1024)
NAME: Final = "bastion"
NETWORK: Final = "172.18.0"
OPERATOR: Final = "172.18.0.1"
FIRST_HOST: Final = 100
"""Last number of the address of a world's first such host; the others follow."""
SERVER: Final = "https://172.18.0.2:6443"
CLUSTER: Final = "kubernetes"
ADMIN_CONFIG: Final = "/etc/kubernetes/admin.conf"
TOOLBOX: Final = "docker.io/alpine/k8s:1.36.4"
TIMEOUT_S: Final = 30.0
PATIENCE_S: Final = 600.0
"""What a line may take at a person's terminal: they press Ctrl-C themselves."""
SHOWN_BYTES: Final = 64 << 10
HISTORY: Final = """\
mkdir -p ~/.kube
scp kind-control-plane:/etc/kubernetes/admin.conf ~/.kube/config
kubectl get nodes -o wide
kubectl get pods -A
helm list -A
df -h
exit
"""
STEP_S: Final = 0.25
"""Virtual time between two checks for an interrupt."""


def _install_kubectl(cluster: Cluster, program: Program) -> None:
    """Give the control plane's node a kubectl, which uses the administrator's kubeconfig there."""
    for kubelet in cluster.kubelets.values():
        host = kubelet.node.machine.host
        if host.files.exists(ADMIN_CONFIG):
            host.programs = {**host.programs, "kubectl": program}
            host.env["KUBECONFIG"] = ADMIN_CONFIG
            host.files.put("/usr/bin/kubectl", BINARY + b"kubectl", mode=0o755)


class Terminal:
    """A host for one session. ``run`` runs a line and waits for its end, in virtual time."""

    home: ClassVar[str] = HOME
    """The working directory of every line."""

    def __init__(
        self,
        world: World,
        cluster: Cluster,
        policy: Policy = ADMIN,
        *,
        name: str = NAME,
        shown_bytes: int = SHOWN_BYTES,
    ) -> None:
        self._world = world
        self.api = cluster.api
        self.policy = policy
        self._shown_bytes = shown_bytes
        self.is_interrupted: Callable[[], bool] | None = None
        """Returns whether the running line should be stopped; set for an interactive session."""
        self.shell: InteractiveShell | None = None
        """The shell that all lines are typed into; None if each line has its own."""
        self.closes_at_s = math.inf
        """Virtual time at which the session ends: a line that still runs then is killed."""
        # The control plane of the smallest clusters is not on a machine of this world.
        door = Door(cluster.api, dialled=cluster.shape.system_pods)
        programs = {**all_commands(), "kubectl": kubectl_program(door), "helm": helm_program(door)}
        others = sum(machine.startswith(NAME) for machine in world.machines)
        address = f"{NETWORK}.{FIRST_HOST + others}"
        image = _build_image(programs)
        self.machine = world.add_machine(name, SMALL, address, image)
        system_services.install_services(self.machine)
        secure_shell.start_server(self.machine)
        self._login: Process | None = None
        if policy is ADMIN:
            _install_kubectl(cluster, programs["kubectl"])
        policy.admit(cluster.api)
        files = self.machine.host.files
        config = self._make_kubeconfig(cluster).encode()
        files.put("/root/.kube/config", config, mode=0o600)
        for part in ("discovery/172.18.0.2_6443", "http"):
            files.mkdir(f"/root/.kube/cache/{part}", 0o750, parents=True)
        files.put("/root/.bash_history", HISTORY.encode(), mode=0o600)
        parsed = parse_file(config)  # also fills the parser's cache, once for all copies of this world
        self.secrets: tuple[str, ...] = tuple(parsed["users"][0]["user"].values())
        """Credentials of this host, which records must redact."""
        if policy.has_ssh_key:
            self._install_ssh_key(cluster)
        self._services = frozenset(self.machine.host.processes)

    def _make_kubeconfig(self, cluster: Cluster) -> str:
        """Return a copy of the administrator's kubeconfig from the control plane, or one with a token for another user."""
        user, administrator = self.policy.user, find_administrator(cluster.api)
        if user == administrator == CLUSTER_ADMINISTRATOR:
            return cluster.pki.kubeconfig("admin.conf", cluster.pki.accounts()["admin.conf"], SERVER)
        token = self._world.kernel.random(f"terminal.token.{self.machine.name}").randbytes(24).hex()
        cluster.api.tokens.accept(token, administrator if user == CLUSTER_ADMINISTRATOR else user)
        return format_kubeconfig(CLUSTER, SERVER, _read_authority(cluster), user.name, {"token": token})

    def _install_ssh_key(self, cluster: Cluster) -> None:
        """Make a key that the nodes accept, and know the nodes by their own."""
        files, name = self.machine.host.files, self.machine.name
        key = self._world.kernel.random(f"terminal.key.{name}").randbytes(32).hex().encode()
        public = secure_shell.public_key(key, f"root@{name}")
        self.secrets += (key.decode(),)
        nodes = [kubelet.node.machine for kubelet in cluster.kubelets.values()]
        for node in nodes:
            secure_shell.admit(node, public)
        known = "".join(secure_shell.describe_host(node) for node in nodes)
        files.mkdir("/root/.ssh", 0o700)
        files.put("/root/.ssh/id_ed25519", key, mode=0o600)
        files.put("/root/.ssh/id_ed25519.pub", f"{public}\n".encode())
        files.put("/root/.ssh/known_hosts", known.encode(), mode=0o600)

    @property
    def has_jobs(self) -> bool:
        """Whether a program that was started here still runs, in the background for example."""
        processes = self.machine.host.processes.items()
        return any(pid not in self._services and process is not self._login for pid, process in processes)

    def run(self, line: str, timeout_s: float = TIMEOUT_S) -> Completed:
        """Run a line and return its result; after ``timeout_s`` virtual seconds it is killed, with status 124."""
        if self.shell is not None and self.shell.tty.isatty:
            timeout_s = PATIENCE_S
        timeout_s = max(0.0, min(timeout_s, self.closes_at_s - self._world.kernel.now))
        typed = self.type(line)
        if typed.wait(timeout_s) if self.is_interrupted is None else self._wait(typed, timeout_s):
            return typed.get_result()
        typed.kill()
        return typed.get_result(timeout_s)

    def type(self, line: str) -> TypedLine:
        """Start a line and return it without waiting."""
        if self.shell is None:
            return TypedLine(self._world, self.machine.host, self._log_in(), line, self._shown_bytes)
        if not self.shell.process.alive:
            self.shell = self.shell.reopen()
        return self.shell.type(line)

    def open_shell(
        self,
        *,
        isatty: bool = False,
        size: tuple[int, int] = SIZE,
        on_output: Callable[[bytes], None] | None = None,
    ) -> InteractiveShell:
        """Run all further lines in one shell, which keeps directory, variables, functions and jobs from line to line."""
        session = self._log_in()
        session.argv = [f"sshd: root@{TERMINAL}"]
        self.shell = InteractiveShell(
            self._world, self.machine.host, session, self._shown_bytes, isatty, size, on_output
        )
        return self.shell

    def _log_in(self) -> Process:
        """Return the process of the operator's SSH session, whose connection comes from outside the simulated network."""
        if self._login is None or not self._login.alive:
            host, server = self.machine.host, self.machine.units[secure_shell.UNIT].process
            self._login = secure_shell.start_session(host, server, has_terminal=False)
            port = EPHEMERAL_PORTS[self._login.pid % len(EPHEMERAL_PORTS)]
            ends = (host.namespace.address, secure_shell.PORT), (OPERATOR, port)
            host.namespace.outside.append(SocketInfo("tcp", "ESTAB", 0, 0, *ends, owner=self._login))
        return self._login

    def _wait(self, typed: TypedLine, timeout_s: float) -> bool:
        """Wait for a line, and stop it on Ctrl-C; return whether it has ended."""
        left_s = timeout_s
        while left_s > 0:
            if typed.wait(min(STEP_S, left_s)):
                return True
            left_s -= STEP_S
            if self.is_interrupted is not None and self.is_interrupted():
                typed.stop()
                return True
        return False

    def read_file(self, path: str, limit_bytes: int) -> bytes:
        """Return the beginning of a file of this host; raises ``FileError``."""
        file = self.machine.host.files.open(path)
        try:
            return file.read(limit_bytes)
        finally:
            file.close()

    def write_file(self, path: str, data: bytes) -> None:
        """Write a file of this host; raises ``FileError``."""
        self.machine.host.files.put(path, data)

    def list_folder(self, path: str) -> list[str] | None:
        """Return the names in a folder of this host, None if it is a file; raises ``FileError``."""
        files = self.machine.host.files
        return files.listdir(path) if files.is_dir(path) else None

    def close(self) -> None:
        """End the session and kill everything that it left running."""
        self.machine.host.kill_all(Signal.KILL)


def publish_toolbox(cluster: Cluster) -> None:
    """Publish the public image with kubectl, helm and common tools that operators run in pods."""
    door = Door(cluster.api, dialled=cluster.shape.system_pods)
    programs = {**all_commands(), "kubectl": kubectl_program(door), "helm": helm_program(door)}
    cluster.registry.add(TOOLBOX, _build_image(programs), args=("bash",), workdir="/apps")


def _build_image(programs: dict[str, Program]) -> Image:
    return _build_files(tuple(programs)).running(programs)


@cache
def _build_files(names: tuple[str, ...]) -> Image:
    """Build a host's files. Cached because they are the same for every cluster and slow to build."""
    return Image(NAME, dict.fromkeys(names, _run_placeholder))


async def _run_placeholder(_ctx: Context) -> int:
    raise NotImplementedError("the image has its files, but its programs are not set yet")


def _read_authority(cluster: Cluster) -> bytes:
    """Return the cluster's CA certificate, or nothing if it publishes none."""
    published = cluster.api.log.get(Key("", "configmaps", *PUBLISHED))
    return str(at(published, "data", "client-ca-file", default="")).encode()
