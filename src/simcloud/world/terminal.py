"""The operator's host: a machine of its own beside the cluster, where people and agents type.

It has kubectl and the usual tools and reaches the cluster over the network, as a bastion does; with ssh it reaches the
nodes themselves, when no kubelet answers there. Its files last, and
what a line leaves running in the background (``kubectl port-forward … &``) runs on; each line is otherwise a shell of
its own. A line that takes too long is ended, and output beyond a bound is not shown; both are said.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import ClassVar, Final

import yaml

from simcloud.helm.program import helm_program
from simcloud.kubectl.connection import Door
from simcloud.kubectl.kubeconfig.config import parsed
from simcloud.kubectl.program import kubectl_program
from simcloud.kubernetes.api.objects import at
from simcloud.kubernetes.api.store import Key
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.controllers.root_ca import PUBLISHED
from simcloud.kubernetes.shapes import MachineFacts
from simcloud.machine.computer import GIB
from simcloud.machine.image import Image
from simcloud.machine.process import Capture, Completed, Container, Context, Process, Program, Signal
from simcloud.machine.secure_shell import admit, public_key
from simcloud.sim import TimedOut
from simcloud.userland.commands import all_commands
from simcloud.world.permitted import permitted
from simcloud.world.policies import ADMIN, Policy
from simcloud.world.world import World, typable

SMALL: Final = MachineFacts(cores=2, memory_bytes=4 * GIB, disk_bytes=20 * GIB)
NAME: Final = "bastion"
HOME: Final = "/root"
NETWORK: Final = "172.18.0"
FIRST_HOST: Final = 100
"""The last part of the address of a world's first such host; others follow."""
SERVER: Final = "https://172.18.0.2:6443"
CLUSTER: Final = "kubernetes"
TIMEOUT_S: Final = 30.0
SHOWN_BYTES: Final = 64 << 10
TIMED_OUT: Final = 124
STEP_S: Final = 0.25
"""So often somebody who may interrupt is asked."""


class Terminal:
    """A host for one session. ``run`` types a line and waits for its end, in virtual time."""

    home: ClassVar[str] = HOME
    """The folder in which every line begins."""

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
        self.interrupted: Callable[[], bool] | None = None
        """Whether whoever typed wants the line to end; set where a person types."""
        self.closes_at_s = math.inf
        """When nobody may type any more, in the world's time: a line that still runs then is ended."""
        # The smallest clusters have their control plane outside, where no machine of this world is.
        door = Door(cluster.api, dialled=cluster.shape.system_pods)
        programs = {**all_commands(), "kubectl": kubectl_program(door), "helm": helm_program(door)}
        others = sum(one.startswith(NAME) for one in world.machines)
        address = f"{NETWORK}.{FIRST_HOST + others}"
        self.machine = world.add_machine(name, SMALL, address, _image(permitted(programs, policy)))
        policy.admit(cluster.api)
        token = world.kernel.random(f"terminal.token.{name}").randbytes(24).hex()
        cluster.api.tokens.accept(token, policy.user)
        files = self.machine.host.files
        files.mkdir("/root/.kube", 0o700, parents=True)
        config = kubeconfig(token, policy.user.name, _authority(cluster)).encode()
        files.put("/root/.kube/config", config, mode=0o600)
        parsed(config)  # here once, and not in every copy of this world again
        self.secrets: tuple[str, ...] = (token,)
        """What lets somebody in, and must not be kept anywhere else."""
        if "ssh" not in policy.denied:
            key = world.kernel.random(f"terminal.key.{name}").randbytes(32).hex().encode()
            files.put("/root/.ssh/id_ed25519", key, mode=0o600)
            self.secrets = (token, key.decode())
            for kubelet in cluster.kubelets.values():
                admit(kubelet.node.machine, public_key(key, f"root@{name}"))

    def run(self, line: str, timeout_s: float = TIMEOUT_S) -> Completed:
        """Type one line and wait for its end; after so many virtual seconds it is ended, with status 124."""
        timeout_s = max(0.0, min(timeout_s, self.closes_at_s - self._world.kernel.now))
        typed = self.type(line)
        if typed.wait(timeout_s) if self.interrupted is None else self._watched(typed, timeout_s):
            return typed.completed()
        typed.kill()
        return typed.completed(timeout_s)

    def type(self, line: str) -> TypedLine:
        """Type one line, and leave the waiting to the caller."""
        return TypedLine(self._world, self.machine.host, line, self._shown_bytes)

    def _watched(self, typed: TypedLine, timeout_s: float) -> bool:
        """The same as waiting, for somebody who may press Control-C meanwhile."""
        left_s = timeout_s
        while left_s > 0:
            if typed.wait(min(STEP_S, left_s)):
                return True
            left_s -= STEP_S
            if self.interrupted is not None and self.interrupted():
                typed.stop()
                return True
        return False

    def close(self) -> None:
        """The session ends, and with it everything that it left running."""
        self.machine.host.kill_all(Signal.KILL)


class TypedLine:
    """A line that was typed, while it runs and after."""

    def __init__(self, world: World, host: Container, line: str, shown_bytes: int) -> None:
        self._world = world
        self.stdout, self.stderr = Capture(shown_bytes), Capture(shown_bytes)
        argv = ["bash", "-c", typable(line)]
        self._process = host.start(argv, streams={1: self.stdout, 2: self.stderr}, cwd=HOME)

    def wait(self, seconds: float) -> bool:
        """Let at most so many virtual seconds pass; whether the line has ended."""
        kernel = self._world.kernel

        async def ended() -> bool:
            try:
                with kernel.timeout(seconds):
                    await self._process.wait()
            except TimedOut:
                return False
            return True

        return kernel.run_task(kernel.spawn(ended(), "a line at the terminal"), 2 * seconds + 1.0)

    def interrupt(self) -> None:
        """Control-C: told to everything that the line runs."""
        for process in _family(self._process):
            process.send(Signal.INT, outside=True)

    def stop(self) -> None:
        """Control-C, and the end of whatever does not heed it."""
        self.interrupt()
        if not self.wait(1.0):
            self.kill()
            self.wait(1.0)

    def kill(self) -> None:
        """End the line and everything that it runs."""
        for process in _family(self._process):
            process.send(Signal.KILL, outside=True)

    def completed(self, timeout_s: float | None = None) -> Completed:
        """How it ended; ``timeout_s`` is how long it was waited for in vain."""
        stdout, stderr = (_shown(stream) for stream in (self.stdout, self.stderr))
        if timeout_s is None:
            return Completed(self._process.status, stdout, stderr)
        note = (
            f"[ended after {timeout_s:g} s, still running. Give it more time, or let it run on by itself: "
            "COMMAND > /tmp/out 2>&1 &]\n"
        )
        return Completed(TIMED_OUT, stdout, stderr + note.encode())


def _family(process: Process) -> list[Process]:
    """A process and all that it started and that has not been left behind."""
    found = [process]
    for one in found:
        found.extend(one.children.values())
    return found


def _shown(stream: Capture) -> bytes:
    data = bytes(stream.data)
    if not stream.dropped_bytes:
        return data
    total = len(data) + stream.dropped_bytes
    note = (
        f"\n[cut: {len(data)} of {total} bytes are shown. To see the rest, write it to a file (COMMAND > /tmp/out) "
        "and read that in parts with head, tail or grep]\n"
    )
    return data + note.encode()


def _image(programs: dict[str, Program]) -> Image:
    return _files_for(tuple(programs)).running(programs)


@cache
def _files_for(names: tuple[str, ...]) -> Image:
    """A host's files, which are the same for every cluster: making them takes longer than a session's first line."""
    return Image(NAME, dict.fromkeys(names, _absent))


async def _absent(_ctx: Context) -> int:
    raise NotImplementedError("the host has its files but not its programs yet")


def _authority(cluster: Cluster) -> str:
    """The certificate by which the cluster is known."""
    published = cluster.api.log.get(Key("", "configmaps", *PUBLISHED))
    certificate: str = at(published, "data", "client-ca-file", default="")
    return certificate


def kubeconfig(token: str, user: str, authority: str = "") -> str:
    """How kubectl on the host finds the cluster, and proves who it speaks for."""
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
