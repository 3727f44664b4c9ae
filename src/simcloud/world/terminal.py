"""The operator's host: a bastion machine beside the cluster, where people and agents run commands.

It has kubectl and the usual tools and reaches the cluster over the network; with ssh it reaches the nodes themselves, even if
their kubelet does not answer. Each line runs in a new shell, but files persist and background processes
(``kubectl port-forward … &``) keep running. A line that takes too long is killed and long output is cut; a note says so.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import ClassVar, Final

import yaml

from simcloud.helm import helm_program
from simcloud.kubectl import Door, kubectl_program
from simcloud.kubectl.kubeconfig import parse_file
from simcloud.kubernetes import Cluster, MachineFacts
from simcloud.kubernetes.api import Key, at
from simcloud.kubernetes.controllers import PUBLISHED
from simcloud.machine import GIB, Image, secure_shell
from simcloud.machine.process import Capture, Completed, Container, Context, Process, Program, Signal
from simcloud.sim import TimedOut
from simcloud.userland.commands import all_commands
from simcloud.world.policies import ADMIN, Policy
from simcloud.world.restrictions import restrict_programs
from simcloud.world.world import World, replace_surrogates

SMALL: Final = MachineFacts(cores=2, memory_bytes=4 * GIB, disk_bytes=20 * GIB)
NAME: Final = "bastion"
HOME: Final = "/root"
NETWORK: Final = "172.18.0"
FIRST_HOST: Final = 100
"""Last number of the address of a world's first such host; the others follow."""
SERVER: Final = "https://172.18.0.2:6443"
CLUSTER: Final = "kubernetes"
TIMEOUT_S: Final = 30.0
SHOWN_BYTES: Final = 64 << 10
TIMED_OUT: Final = 124
STEP_S: Final = 0.25
"""Virtual time between two checks for an interrupt."""


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
        self.closes_at_s = math.inf
        """Virtual time at which the session ends: a line that still runs then is killed."""
        # The control plane of the smallest clusters is not on a machine of this world.
        door = Door(cluster.api, dialled=cluster.shape.system_pods)
        programs = {**all_commands(), "kubectl": kubectl_program(door), "helm": helm_program(door)}
        others = sum(machine.startswith(NAME) for machine in world.machines)
        address = f"{NETWORK}.{FIRST_HOST + others}"
        image = _build_image(restrict_programs(programs, policy))
        self.machine = world.add_machine(name, SMALL, address, image)
        policy.admit(cluster.api)
        token = world.kernel.random(f"terminal.token.{name}").randbytes(24).hex()
        cluster.api.tokens.accept(token, policy.user)
        files = self.machine.host.files
        files.mkdir("/root/.kube", 0o700, parents=True)
        config = format_kubeconfig(token, policy.user.name, _read_authority(cluster)).encode()
        files.put("/root/.kube/config", config, mode=0o600)
        parse_file(config)  # fill the parser's cache once, not in every copy of this world
        self.secrets: tuple[str, ...] = (token,)
        """Credentials of this host, which records must redact."""
        if "ssh" not in policy.denied:
            key = world.kernel.random(f"terminal.key.{name}").randbytes(32).hex().encode()
            files.put("/root/.ssh/id_ed25519", key, mode=0o600)
            self.secrets = (token, key.decode())
            for kubelet in cluster.kubelets.values():
                secure_shell.admit(kubelet.node.machine, secure_shell.public_key(key, f"root@{name}"))

    def run(self, line: str, timeout_s: float = TIMEOUT_S) -> Completed:
        """Run a line and return its result; after ``timeout_s`` virtual seconds it is killed, with status 124."""
        timeout_s = max(0.0, min(timeout_s, self.closes_at_s - self._world.kernel.now))
        typed = self.type(line)
        if typed.wait(timeout_s) if self.is_interrupted is None else self._wait(typed, timeout_s):
            return typed.get_result()
        typed.kill()
        return typed.get_result(timeout_s)

    def type(self, line: str) -> TypedLine:
        """Start a line and return it without waiting."""
        return TypedLine(self._world, self.machine.host, line, self._shown_bytes)

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

    def close(self) -> None:
        """End the session and kill everything that it left running."""
        self.machine.host.kill_all(Signal.KILL)


class TypedLine:
    """A line at the terminal, while it runs and afterwards."""

    def __init__(self, world: World, host: Container, line: str, shown_bytes: int) -> None:
        self._world = world
        self.stdout, self.stderr = Capture(shown_bytes), Capture(shown_bytes)
        argv = ["bash", "-c", replace_surrogates(line)]
        self._process = host.start(argv, streams={1: self.stdout, 2: self.stderr}, cwd=HOME)

    def wait(self, seconds: float) -> bool:
        """Let at most this much virtual time pass; return whether the line has ended."""
        kernel = self._world.kernel

        async def wait_for_end() -> bool:
            try:
                with kernel.timeout(seconds):
                    await self._process.wait()
            except TimedOut:
                return False
            return True

        return kernel.run_task(kernel.spawn(wait_for_end(), "a line at the terminal"), 2 * seconds + 1.0)

    def interrupt(self) -> None:
        """Send SIGINT to all processes of the line, as Ctrl-C does."""
        for process in _collect_family(self._process):
            process.send(Signal.INT, outside=True)

    def stop(self) -> None:
        """Send SIGINT, and kill the line if it does not end."""
        self.interrupt()
        if not self.wait(1.0):
            self.kill()
            self.wait(1.0)

    def kill(self) -> None:
        """Kill all processes of the line."""
        for process in _collect_family(self._process):
            process.send(Signal.KILL, outside=True)

    def get_result(self, timeout_s: float | None = None) -> Completed:
        """Return status and output; with ``timeout_s``, the result of a line that was killed after that time."""
        stdout, stderr = (_read_output(stream) for stream in (self.stdout, self.stderr))
        if timeout_s is None:
            return Completed(self._process.status, stdout, stderr)
        note = (
            f"[killed after {timeout_s:g} s, because it was still running. Use a longer timeout, or run it in the background: "
            "COMMAND > /tmp/out 2>&1 &]\n"
        )
        return Completed(TIMED_OUT, stdout, stderr + note.encode())


def _collect_family(process: Process) -> list[Process]:
    """Return a process and its descendants, without those it has left in the background."""
    family = [process]
    for member in family:
        family.extend(member.children.values())
    return family


def _read_output(stream: Capture) -> bytes:
    data = bytes(stream.data)
    if not stream.dropped_bytes:
        return data
    total = len(data) + stream.dropped_bytes
    note = (
        f"\n[cut: {len(data)} of {total} bytes are shown. To see the rest, write the output to a file (COMMAND > /tmp/out) "
        "and read the file in parts with head, tail or grep]\n"
    )
    return data + note.encode()


def _build_image(programs: dict[str, Program]) -> Image:
    return _build_files(tuple(programs)).running(programs)


@cache
def _build_files(names: tuple[str, ...]) -> Image:
    """Build a host's files. Cached because they are the same for every cluster and slow to build."""
    return Image(NAME, dict.fromkeys(names, _run_placeholder))


async def _run_placeholder(_ctx: Context) -> int:
    raise NotImplementedError("the image has its files, but its programs are not set yet")


def _read_authority(cluster: Cluster) -> str:
    """Return the cluster's CA certificate, or "" if it publishes none."""
    published = cluster.api.log.get(Key("", "configmaps", *PUBLISHED))
    certificate: str = at(published, "data", "client-ca-file", default="")
    return certificate


def format_kubeconfig(token: str, user: str, authority: str = "") -> str:
    """Return the kubeconfig of the host, with the cluster's address and the user's token."""
    context = f"{user}@{CLUSTER}"
    place = {"certificate-authority-data": b64encode(authority.encode()).decode()} if authority else {}
    return yaml.dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": CLUSTER, "cluster": {**place, "server": SERVER}}],
            "contexts": [{"name": context, "context": {"cluster": CLUSTER, "user": user}}],
            "current-context": context,
            "users": [{"name": user, "user": {"token": token}}],
        },
        Dumper=yaml.CSafeDumper,
        sort_keys=False,
    )
