"""The embedded cloud: one kernel, one network, and machines with everything that runs on them."""

from __future__ import annotations

from hashlib import sha256
from zlib import crc32

from msgspec.structs import asdict

from simcloud.kubernetes import MachineFacts
from simcloud.machine import EPOCH_S, Background, Emitter, Image, Machine, NullEmitter, draw_noise
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import Completed
from simcloud.sim import Invariants, Kernel
from simcloud.telemetry import Telemetry
from simcloud.userland import operator_image

SYSTEM_BYTES = 1_683_492_864
"""The space that the files of the operating system take; only some of them are modelled."""
SYSTEM_INODES = 43_817


class World:
    """A simulated cloud that is fully determined by its seed. Drive it with ``run_for`` and ``shell``."""

    def __init__(
        self, seed: int = 0, epoch_s: float = EPOCH_S, telemetry: bool = True, varies: bool = False
    ) -> None:
        """Create an empty world. ``epoch_s`` is the Unix time at which virtual time starts.

        Without ``telemetry`` all logs, metrics and spans are dropped; the world behaves the same. If it ``varies``, equal
        work takes different times, and programs use CPU time and memory of their own accord.
        """
        self.kernel = Kernel(seed)
        self.epoch_s = epoch_s
        self.kernel.on_skip(self._shift_epoch)
        self.network = Network(self.kernel)
        self.resolver = HostsResolver({})
        self.emitter = Telemetry(epoch_s)
        self.kernel.on_skip(self.emitter.traces.shift_epoch)
        self._sink: Emitter = self.emitter if telemetry else NullEmitter()
        self.invariants = Invariants(self.kernel)
        self.machines: dict[str, Machine] = {}
        if varies:
            self.network.noise = draw_noise(self.kernel.random("noise"))

    def add_machine(
        self,
        name: str,
        facts: MachineFacts | None = None,
        address: str | None = None,
        image: Image | None = None,
    ) -> Machine:
        """Add a machine with the commands of an image, by default those of an operator's machine."""
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
        if self.network.noise:
            machine.cpu.noise = self.network.noise
            Background(machine, self.kernel.random(f"{name}/background"))
        machine.disk.occupy(SYSTEM_BYTES + crc32(name.encode()) // 4096 % 20_000 * 4096, SYSTEM_INODES)
        self.resolver.table[name] = address
        self.machines[name] = machine
        self.invariants.add(f"{name}: memory adds up", machine.memory_mismatch)
        return machine

    def run_for(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.kernel.run_for(seconds)

    def skip(self, seconds: float) -> None:
        """Make the world older without simulating that time: see ``Kernel.skip``."""
        self.kernel.skip(seconds)

    def _shift_epoch(self, seconds: float) -> None:
        self.epoch_s += seconds

    def shell(self, machine: str, line: str) -> Completed:
        """Run a line in a machine's own shell and return its result, in virtual time."""
        return self.machines[machine].host.run(["bash", "-c", replace_surrogates(line)])

    def fingerprint(self) -> str:
        """Return a hash of everything observable so far: log lines, spans, metrics and the time."""
        return sha256(f"{self.kernel.now!r} {self.emitter.fingerprint()}".encode()).hexdigest()


def replace_surrogates(line: str) -> str:
    """Replace lone surrogates, which JSON can carry, with the replacement character."""
    return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
