"""An application with users on it, in a cluster that is watched: what problems are posed in.

The way there is always the same: the cluster comes up, the application is deployed and gets ready, users come and do
not stop, and for a while it is recorded what all is like when all is well. Then faults may come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aiopslab.apps.base import Application
from aiopslab.cloud.apps import deploy
from aiopslab.cloud.declared import KINDS, Declared, declared
from aiopslab.cloud.outside import front_door, outside_machine, start_outside
from aiopslab.generators.site import OperationFailed
from aiopslab.generators.workload.arrivals import OpenLoop
from aiopslab.generators.workload.outcomes import Summary
from aiopslab.generators.workload.shapes import RATE, Dial
from aiopslab.generators.workload.users import TIMEOUT_S, Users
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key
from simcloud.machine.computer import EPOCH_S, Machine
from simcloud.machine.network.packet_filter import CHAINS
from simcloud.machine.process import Completed, Program
from simcloud.services.front_doors import HttpDoor
from simcloud.telemetry.monitoring import Monitoring
from simcloud.world.clusters import add_cluster
from simcloud.world.policies import ADMIN, Policy
from simcloud.world.terminal import TIMED_OUT, Terminal
from simcloud.world.terminal import TIMEOUT_S as LINE_TIMEOUT_S
from simcloud.world.world import World

NODES: Final = 4
SYSTEM_S: Final = 30.0
"""Until the cluster's own pods are up."""
WARM_UP_S: Final = 15.0
BASELINE_S: Final = 120.0
AUDIT_BYTES: Final = 16 << 20


@dataclass(frozen=True)
class Baseline:
    """What it was like when all was well: when that was, how users fared, what was declared, what nodes let pass."""

    start: float
    end: float
    users: Summary
    objects: Declared
    filters: Mapping[str, tuple[str, ...]]


class Environment:
    """A site for faults, and all that a problem needs. ``open`` or ``settle`` it once, then it is ready."""

    def __init__(
        self,
        app: Application,
        seed: int = 0,
        *,
        nodes: int = NODES,
        rate: float = RATE,
        epoch_s: float = EPOCH_S,
    ) -> None:
        """``rate`` is how many requests users send a second; ``epoch_s`` the time of day at which the world begins."""
        self.app = app
        self.seed = seed
        self.timeout_s = TIMEOUT_S
        self.world = World(seed, epoch_s)
        self.cluster = add_cluster(self.world, nodes)
        self.cluster.start()
        self.monitoring = Monitoring(self.cluster, self.world.emitter)
        self.monitoring.start()
        self.load = Dial(rate)
        """How much of the users' load there is: ``load.share = 0.5`` halves it from now on."""
        self._operator: Terminal | None = None
        self._session: Terminal | None = None
        self._users: Users | None = None
        self._baseline: Baseline | None = None
        self._declared: tuple[int, Declared] = (0, {})
        self._written_off: Counter[str] = Counter()

    def open(self) -> None:
        """Deploy the application and let users in."""
        self.run_for(SYSTEM_S)
        deploy(self.world, self.cluster, self.app)
        self._users = Users(self.door, self.app.journeys, OpenLoop(self.load), self.timeout_s)
        start_outside(self.world, "users", self._users.program)
        self.run_for(WARM_UP_S)

    def settle(self) -> Baseline:
        """Open it, and record what it is like when all is well."""
        self.open()
        begun = self.now
        self.run_for(BASELINE_S)
        fared = self.users.results.between(begun, self.now - self.timeout_s)
        self._baseline = Baseline(begun, self.now, fared, self.declared(), self.filters())
        return self._baseline

    @property
    def baseline(self) -> Baseline:
        """The time when all was well."""
        if self._baseline is None:
            raise LookupError("This environment has not settled yet: call settle() first.")
        return self._baseline

    @property
    def users(self) -> Users:
        """Those who use the application."""
        if self._users is None:
            raise LookupError("There are no users yet: call open() or settle() first.")
        return self._users

    @property
    def door(self) -> HttpDoor:
        """The way in for users, from outside the cluster."""
        return front_door(self.cluster, self.namespace, self.app.front_door.service)

    @property
    def namespace(self) -> str:
        """The application's."""
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
        """The session's host. The first call makes it: made before the world is copied, every copy has it at once."""
        if self._session is None or self._session.policy != policy:
            self._session = Terminal(self.world, self.cluster, policy)
        return self._session

    def operate(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Type a line at the operators' own host; raises ``OperationFailed`` when it fails, or takes longer in virtual time."""
        if self._operator is None:
            self._operator = Terminal(
                self.world, self.cluster, name="bastion-operators", shown_bytes=AUDIT_BYTES
            )
        done = self._operator.run(line, timeout_s)
        if done.status == TIMED_OUT:
            raise OperationFailed(
                f"{line}: it did not end within {timeout_s:g} simulated seconds. Give it more (timeout_s=…), or let it "
                "run on in the background."
            )
        if done.status != 0:
            raise OperationFailed(f"{line}: {done.stderr.decode(errors='replace').strip()}")
        return done

    def find(self, resource: str, name: str) -> Object | None:
        """An object of the application's namespace, as it is now."""
        plural, _, group = resource.partition(".")
        return self.cluster.api.log.get(Key(group, plural, self.namespace, name))

    def declared(self) -> Declared:
        """What is declared now; the very same mapping as before, as long as nobody has written there."""
        log = self.cluster.api.log
        if (newest := log.newest(KINDS)) != self._declared[0]:
            self._declared = newest, declared(self.cluster.api)
        return self._declared[1]

    def filters(self) -> dict[str, tuple[str, ...]]:
        """The rules of every machine's packet filter: the chain, and how the rule is written."""
        found = {name: machine.host.namespace.filter for name, machine in self.machines.items()}
        return {
            name: tuple(f"{chain} {rule.told}" for chain in CHAINS for rule in one.chains[chain].rules)
            for name, one in found.items()
            if one is not None
        }

    def start_outside(self, name: str, program: Program) -> None:
        """Run a program where users are, outside the cluster. It runs on while time passes."""
        others = sum(one.startswith(f"{name}-") for one in outside_machine(self.world).containers)
        start_outside(self.world, f"{name}-{others + 1}", program)

    def empty_caches(self) -> None:
        """Make every cache of the application forget what it has, as far as it can be reached."""
        for line in self.app.cooling:
            try:
                self.operate(line)
            except OperationFailed:
                pass  # a cache that is not there hides nothing

    def missing_writes(self) -> list[str] | None:
        """What users were told has been written and is not there; None when the application keeps no such account.

        What was written off does not count.
        """
        if not self.app.audit:
            return None
        return sorted((self._promised() - self._kept() - self._written_off).elements())

    def write_off(self) -> None:
        """From now on only what is lost later counts: what is missing by now, nobody can bring back.

        A store that does not answer has lost everything if that dies with its pod, and nothing if it does not.
        """
        if not self.app.audit:
            return
        try:
            self._written_off = self._promised() - self._read_kept()
        except OperationFailed:
            outlives = self.app.component(self.app.audited).persistent
            self._written_off = Counter() if outlives else self._promised()

    def _promised(self) -> Counter[str]:
        return Counter(self.users.results.promised)

    def _kept(self) -> Counter[str]:
        try:
            return self._read_kept()
        except OperationFailed:
            return Counter()

    def _read_kept(self) -> Counter[str]:
        return Counter(self.operate(self.app.audit).stdout.decode().splitlines())
