"""The environment of a problem: an application with users on a monitored cluster.

It is always built in the same order: start the cluster, deploy the application, start the users (who never stop), and record a
baseline of the healthy system. After that, faults may be injected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aiopslab.apps import Application
from aiopslab.cloud.apps import deploy
from aiopslab.cloud.declared import KINDS, Declared, read_declared
from aiopslab.cloud.outside import find_front_door, get_outside_machine, start_outside
from aiopslab.generators import OperationFailed
from aiopslab.generators.workload import RATE, TIMEOUT_S, Dial, HttpDoor, OpenLoop, Summary, Users
from simcloud.kubernetes.api import Key, Object
from simcloud.machine import EPOCH_S, Machine
from simcloud.machine.network import packet_filter
from simcloud.machine.process import Completed, Program
from simcloud.telemetry import Monitoring
from simcloud.world import ADMIN, TIMED_OUT, TIMEOUT_S as LINE_TIMEOUT_S, Policy, Terminal, World, add_cluster

NODES: Final = 4
SYSTEM_S: Final = 30.0
"""Time until the cluster's system pods are running."""
WARM_UP_S: Final = 15.0
BASELINE_S: Final = 120.0
AUDIT_BYTES: Final = 16 << 20


@dataclass(frozen=True)
class Baseline:
    """The healthy system: when it was recorded, the users' results, the declared objects and the nodes' packet filters."""

    start: float
    end: float
    users: Summary
    objects: Declared
    filters: Mapping[str, tuple[str, ...]]


class Environment:
    """A site for faults, with everything that a problem needs. Call ``open`` or ``settle`` once before using it."""

    def __init__(
        self,
        app: Application,
        seed: int = 0,
        *,
        nodes: int = NODES,
        rate: float = RATE,
        epoch_s: float = EPOCH_S,
    ) -> None:
        """Build the cluster. ``rate`` is the users' requests per second; ``epoch_s`` the Unix time at which the world starts."""
        self.app = app
        self.seed = seed
        self.timeout_s = TIMEOUT_S
        self.world = World(seed, epoch_s)
        self.cluster = add_cluster(self.world, nodes)
        self.cluster.start()
        self.monitoring = Monitoring(self.cluster, self.world.emitter)
        self.monitoring.start()
        self.load = Dial(rate)
        """The users' load: ``load.share = 0.5`` halves it from now on."""
        self._operator: Terminal | None = None
        self._session: Terminal | None = None
        self._users: Users | None = None
        self._baseline: Baseline | None = None
        self._declared: tuple[int, Declared] = (0, {})
        self._written_off: Counter[str] = Counter()

    def open(self) -> None:
        """Deploy the application and start the users."""
        self.run_for(SYSTEM_S)
        deploy(self.world, self.cluster, self.app)
        self._users = Users(self.door, self.app.journeys, OpenLoop(self.load), self.timeout_s)
        start_outside(self.world, "users", self._users.program)
        self.run_for(WARM_UP_S)

    def settle(self) -> Baseline:
        """Open the environment; record and return the baseline."""
        self.open()
        started_s = self.now
        self.run_for(BASELINE_S)
        summary = self.users.results.between(started_s, self.now - self.timeout_s)
        self._baseline = Baseline(started_s, self.now, summary, self.read_declared(), self.read_filters())
        return self._baseline

    @property
    def baseline(self) -> Baseline:
        """The baseline of the healthy system; raises ``LookupError`` before ``settle``."""
        if self._baseline is None:
            raise LookupError("There is no baseline yet: call settle() first.")
        return self._baseline

    @property
    def users(self) -> Users:
        """The users of the application; raises ``LookupError`` before ``open``."""
        if self._users is None:
            raise LookupError("There are no users yet: call open() or settle() first.")
        return self._users

    @property
    def door(self) -> HttpDoor:
        """The application's front door, as users outside the cluster reach it."""
        return find_front_door(self.cluster, self.namespace, self.app.front_door.service)

    @property
    def namespace(self) -> str:
        """The application's namespace."""
        return self.app.namespace

    @property
    def machines(self) -> Mapping[str, Machine]:
        """All machines, by name."""
        return self.world.machines

    @property
    def now(self) -> float:
        """Virtual seconds since the world began."""
        return self.world.kernel.now

    def run_for(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.world.run_for(seconds)

    def terminal(self, policy: Policy = ADMIN) -> Terminal:
        """Return the session's terminal. The first call creates its host; do that before copying the world, to save time."""
        if self._session is None or self._session.policy != policy:
            self._session = Terminal(self.world, self.cluster, policy)
        return self._session

    def operate(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line on the operators' own host; raises ``OperationFailed`` if it fails or takes more virtual seconds."""
        if self._operator is None:
            self._operator = Terminal(
                self.world, self.cluster, name="bastion-operators", shown_bytes=AUDIT_BYTES
            )
        result = self._operator.run(line, timeout_s)
        if result.status == TIMED_OUT:
            raise OperationFailed(
                f"{line}: it did not end within {timeout_s:g} simulated seconds. Use a longer timeout_s, or run it in the "
                "background."
            )
        if result.status != 0:
            raise OperationFailed(f"{line}: {result.stderr.decode(errors='replace').strip()}")
        return result

    def find(self, resource: str, name: str) -> Object | None:
        """Return an object of the application's namespace, or None."""
        plural, _, group = resource.partition(".")
        return self.cluster.api.log.get(Key(group, plural, self.namespace, name))

    def read_declared(self) -> Declared:
        """Return the declared objects; the same mapping object as before if there was no write to them."""
        log = self.cluster.api.log
        if (newest := log.newest(KINDS)) != self._declared[0]:
            self._declared = newest, read_declared(self.cluster.api)
        return self._declared[1]

    def read_filters(self) -> dict[str, tuple[str, ...]]:
        """Return the packet filter rules of every machine, each as its chain and its text."""
        filters = {name: machine.host.namespace.filter for name, machine in self.machines.items()}
        return {
            name: tuple(
                f"{chain} {rule.spec}"
                for chain in packet_filter.CHAINS
                for rule in firewall.chains[chain].rules
            )
            for name, firewall in filters.items()
            if firewall is not None
        }

    def start_outside(self, name: str, program: Program) -> None:
        """Run a program outside the cluster, where the users are. It runs while time passes."""
        containers = get_outside_machine(self.world).containers
        count = sum(container.startswith(f"{name}-") for container in containers)
        start_outside(self.world, f"{name}-{count + 1}", program)

    def empty_caches(self) -> None:
        """Empty all caches of the application that can be reached."""
        for line in self.app.cooling:
            try:
                self.operate(line)
            except OperationFailed:
                pass  # a cache that cannot be reached cannot serve old data either

    def find_missing_writes(self) -> list[str] | None:
        """Return the acknowledged writes that are lost, without those written off; None if the application has no audit."""
        if not self.app.audit:
            return None
        return sorted((self._count_promised() - self._count_kept() - self._written_off).elements())

    def write_off(self) -> None:
        """Ignore the writes that are lost already, because no repair can restore them.

        If the datastore does not answer, all its writes count as lost if its data ends with its pod, and none otherwise.
        """
        if not self.app.audit:
            return
        try:
            self._written_off = self._count_promised() - self._read_kept()
        except OperationFailed:
            is_persistent = self.app.component(self.app.audited).persistent
            self._written_off = Counter() if is_persistent else self._count_promised()

    def _count_promised(self) -> Counter[str]:
        return Counter(self.users.results.promised)

    def _count_kept(self) -> Counter[str]:
        try:
            return self._read_kept()
        except OperationFailed:
            return Counter()

    def _read_kept(self) -> Counter[str]:
        return Counter(self.operate(self.app.audit).stdout.decode().splitlines())
