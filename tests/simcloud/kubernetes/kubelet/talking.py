"""A machine with a container to talk to, and somebody who listens to a session."""

from __future__ import annotations

from simcloud.kubernetes.api.runtime import Session
from simcloud.machine.computer import Machine
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import Container
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image


def make_container(seed: int = 1) -> Container:
    kernel = Kernel(seed)
    machine = Machine(
        kernel, Network(kernel), "host-1", "10.0.0.1", operator_image(), resolver=HostsResolver({})
    )
    return machine.create_container("ok_web", operator_image(), address="10.244.0.2", hostname="ok")


class Listener:
    """Keeps what a session tells."""

    def __init__(self, session: Session) -> None:
        self.out: dict[int, bytes] = {1: b"", 2: b""}
        self.ended: list[tuple[int, str]] = []
        session.on_output, session.on_end = self._hear, self._end

    def _hear(self, number: int, data: bytes) -> None:
        self.out[number] += data

    def _end(self, code: int, why: str) -> None:
        self.ended.append((code, why))
