"""The embedded cloud: one kernel, one network, some machines, and what runs on them."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256

from simcloud.kubernetes.shapes import MachineFacts
from simcloud.machine.computer import EPOCH_S, Machine
from simcloud.machine.emit import Emitter, NullEmitter
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import Completed
from simcloud.sim import Invariants, Kernel
from simcloud.telemetry.sink import Telemetry
from simcloud.userland.images import operator_image


class World:
    """Everything that a seed determines. Drive it from outside by ``run_for`` and ``shell``."""

    def __init__(self, seed: int = 0, epoch_s: float = EPOCH_S, telemetry: bool = True) -> None:
        """``epoch_s`` is the time of day at which virtual time begins, in seconds since 1970.

        Without ``telemetry`` what software emits is forgotten; the world goes the same way.
        """
        self.kernel = Kernel(seed)
        self.epoch_s = epoch_s
        self.network = Network(self.kernel)
        self.resolver = HostsResolver({})
        self.emitter = Telemetry(epoch_s)
        self._sink: Emitter = self.emitter if telemetry else NullEmitter()
        self.invariants = Invariants(self.kernel)
        self.machines: dict[str, Machine] = {}

    def add_machine(
        self,
        name: str,
        facts: MachineFacts | None = None,
        address: str | None = None,
        image: Image | None = None,
    ) -> Machine:
        """A machine with all of an operator's commands on it, or with an image's."""
        facts = facts or MachineFacts()
        address = address if address is not None else f"172.18.0.{len(self.machines) + 2}"
        machine = Machine(
            self.kernel,
            self.network,
            name,
            address,
            image if image is not None else operator_image(),
            **asdict(facts),
            emitter=self._sink,
            resolver=self.resolver,
            epoch_s=self.epoch_s,
        )
        self.resolver.table[name] = address
        self.machines[name] = machine
        self.invariants.add(f"{name}: memory adds up", machine.memory_mismatch)
        return machine

    def run_for(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.kernel.run_for(seconds)

    def shell(self, machine: str, line: str) -> Completed:
        """Type one line in a machine's own shell and wait for its end, in virtual time."""
        return self.machines[machine].host.run(["bash", "-c", typable(line)])

    def fingerprint(self) -> str:
        """A hash of what has been observable so far: log lines, spans, metrics and the time."""
        return sha256(f"{self.kernel.now!r} {self.emitter.fingerprint()}".encode()).hexdigest()


def typable(line: str) -> str:
    """A line as text. Half a character, as JSON can carry it, is none: it is typed as a replacement mark."""
    return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
