"""The environment of a problem: an application with users on a monitored cluster.

It is always built in the same order: start the cluster, deploy the application, start the users (who never stop), and record a
baseline of the healthy system. After that, faults may be injected. The first two are weeks ago by then, on days of the site's
history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from aiopslab.apps import INGRESS, NODE_PORT, Application
from aiopslab.cloud.apps import TIMEOUT_S as DEPLOY_TIMEOUT_S, deploy, issue_certificate, wait_until_ready
from aiopslab.cloud.declared import (
    KINDS,
    Declared,
    describe_differences,
    find_changed_words,
    find_changes,
    has_change,
    read_declared,
)
from aiopslab.cloud.hardware import MachineHardware
from aiopslab.cloud.history import draw_history, skip_until
from aiopslab.cloud.node_state import State, read_accounts, read_node
from aiopslab.cloud.outside import find_front_door, get_outside_machine, start_outside
from aiopslab.generators import OperationFailed, Site, at_site
from aiopslab.generators.workload import RATE, TIMEOUT_S, Dial, HttpDoor, OpenLoop, Summary, Users
from aiopslab.utils import ProgressCallback, ignore_progress
from simcloud.kubernetes import INIT_S, node_names
from simcloud.kubernetes.api import Key, Object
from simcloud.kubernetes.kubelet import NETWORK_S
from simcloud.kubernetes.network import ingress
from simcloud.machine import EPOCH_S, Counters, Machine, age_traffic
from simcloud.machine.network import Namespace
from simcloud.machine.process import Completed, Program
from simcloud.telemetry import Monitoring
from simcloud.telemetry.stack import STORES, MonitoringStack
from simcloud.world import (
    ADMIN,
    TIMED_OUT,
    TIMEOUT_S as LINE_TIMEOUT_S,
    Policy,
    Terminal,
    World,
    add_cluster,
    join_cluster,
)

NODES: Final = 4
SYSTEM_S: Final = 30.0
"""Time until the cluster's system pods are running."""
JOIN_S: Final = 15.0
"""The same for a node that joins."""
READY_S: Final = 14.0
"""What the first pods of a new node need longer than is simulated."""
WARM_UP_S: Final = 15.0
PAST_LOAD: Final = (0.45, 0.9)
"""The average load of the past, nights included, as a share of the present one."""
BASELINE_S: Final = 120.0
PARTS: Final = 8
"""Portions of a long time of which the progress is reported; a power of two, so that their ends are exact."""
AUDIT_BYTES: Final = 16 << 20
TRUSTED: Final = "/etc/ssl/certs/ca-certificates.crt"


@dataclass(frozen=True)
class Baseline:
    """The healthy system: when it was recorded, the users' results, the declared objects and what the API does not know."""

    start: float
    end: float
    users: Summary
    objects: Declared
    state: State
    """The configuration of each node, and the users and roles of each component's databases."""


class Environment(Site):
    """A site for faults, with everything that a problem needs. Call ``open`` or ``settle`` once before using it."""

    def __init__(
        self,
        app: Application,
        seed: int = 0,
        *,
        nodes: int = NODES,
        rate: float = RATE,
        epoch_s: float = EPOCH_S,
        entry: str = NODE_PORT,
        scrape_s: float = 15.0,
        tell: ProgressCallback = ignore_progress,
    ) -> None:
        """Build the cluster. ``rate`` is the users' requests per second; ``epoch_s`` the Unix time at which the world starts.

        With the ``entry`` "ingress", users reach the application over TLS by an ingress controller. ``scrape_s`` is the time
        between two samples of a metric. ``tell`` receives the progress.
        """
        self._tell = tell
        tell(f"starting a cluster of {nodes} nodes")
        self.app = app
        self.entry = entry
        self.seed = seed
        self.timeout_s = TIMEOUT_S
        self.world = World(seed, epoch_s, varies=True)
        chance = self.world.kernel.random("history")
        self.history = draw_history(chance, epoch_s)
        skip_until(self.world, self.history.built_s)
        self._late_node = chance.choice(node_names(nodes)[1:]) if nodes >= NODES else ""
        self.cluster = add_cluster(self.world, nodes, without=(self._late_node,))
        self.cluster.start()
        self.cluster.machines[0].date_back(INIT_S)
        self.monitoring = Monitoring(self.cluster, self.world.emitter)
        self.monitoring.scraper.interval_s = scrape_s
        self.monitoring.hold()
        self.stack: MonitoringStack | None = None
        """The pods of the monitoring; None on clusters without system pods, where ``monitoring`` reads everything itself."""
        if self.cluster.shape.system_pods:
            self.stack = MonitoringStack(self.cluster, self.monitoring, self.world.emitter)
            names = [component.name for component in app.components]
            self.stack.install(
                app.namespace, [kind for kind in STORES if any(kind in name for name in names)]
            )
        else:
            self.monitoring.start()
        if entry == INGRESS:
            ingress.install_ingress(self.cluster.api, self.cluster.registry)
        self.load = Dial(rate)
        """The users' load: ``load.share = 0.5`` halves it from now on."""
        self._operator: Terminal | None = None
        self._session: Terminal | None = None
        self._users: Users | None = None
        self._baseline: Baseline | None = None
        self._declared: tuple[int, Declared] = (0, {})
        self._innocent: dict[Key, Object] = {}
        self._injected: Declared = {}
        self._broken: dict[Key, Object | None] = {}
        """What the fault has changed, as other teams have left it since."""
        self.injected_s: float | None = None
        """When the fault was injected; None before."""
        self._written_off: Counter[str] = Counter()
        self._handed_over_s: float | None = None
        self._hardware: dict[str, MachineHardware] = {}
        self.struck_nodes: dict[str, tuple[str, ...]] = {}

    def open(self) -> None:
        """Deploy the application, let weeks pass, and start the users and the monitoring."""
        self._start_nodes(SYSTEM_S)
        if self._late_node:
            skip_until(self.world, self.history.joined_s)
            join_cluster(self.world, self.cluster, self._late_node)
            self._start_nodes(JOIN_S)
        self._deploy()
        door = self.door if self.app.journeys else HttpDoor([], 0)
        self._users = Users(door, self.app.journeys, OpenLoop(self.load), self.timeout_s)
        if self.app.journeys:
            start_outside(self.world, "users", self._users.program)
        self.run_for(WARM_UP_S / 2)  # caches and connection pools are filled in the past
        skip_until(self.world, self.history.begins_s + self.now)
        counters = Counters(
            self._nodes, self.world.emitter.exposed | {self.cluster.api.requests.metrics: None}
        )
        self.run_for(WARM_UP_S / 2)
        counters.grow(self.world.kernel.random("history").uniform(*PAST_LOAD))
        self.monitoring.release()

    def _deploy(self) -> None:
        if not self.app.deploys_itself:
            deploy(
                self.world, self.cluster, self.app, history=self.history, entry=self.entry, tell=self._tell
            )
            return
        self.app.publish(self.cluster.registry)
        skip_until(self.world, self.history.upgraded_s)
        with at_site(self):
            self.app.deploy()
            self.app.find_parts()
        wait_until_ready(self.world, self.cluster, self.app, self.now + DEPLOY_TIMEOUT_S, self._tell)

    def _start_nodes(self, seconds: float) -> None:
        """Let new nodes start their pods; those on the pod network follow when the nodes have been ready for a moment."""
        before_s = NETWORK_S - 0.05
        self.run_for(before_s)
        self.world.skip(READY_S)
        self.run_for(seconds - before_s)

    def settle(self) -> Baseline:
        """Open the environment; record and return the baseline."""
        self.open()
        started_s = self.now
        self.run_with_progress(BASELINE_S, "recording a baseline with users", self._tell)
        summary = self.users.results.between(started_s, self.now - self.timeout_s)
        self._baseline = Baseline(started_s, self.now, summary, self.read_declared(), self.read_state())
        return self._baseline

    @property
    def baseline(self) -> Baseline:
        """The baseline of the healthy system; raises ``LookupError`` before ``settle``."""
        if self._baseline is None:
            raise LookupError("There is no baseline yet: call settle() first.")
        return self._baseline

    @property
    def handed_over_s(self) -> float:
        """When the agent got the system: at ``write_off``, or at the end of the baseline."""
        return self.baseline.end if self._handed_over_s is None else self._handed_over_s

    @property
    def users(self) -> Users:
        """The users of the application; raises ``LookupError`` before ``open``."""
        if self._users is None:
            raise LookupError("There are no users yet: call open() or settle() first.")
        return self._users

    @property
    def door(self) -> HttpDoor:
        """The application's front door, as users outside the cluster reach it."""
        if self.entry == INGRESS:
            return find_front_door(self.cluster, ingress.NAMESPACE, ingress.SERVICE, self.app.host)
        return find_front_door(self.cluster, self.namespace, self.app.front_door.service)

    @property
    def machines(self) -> Mapping[str, Machine]:
        """All machines, by name."""
        return self.world.machines

    def hardware(self, node: str) -> MachineHardware:
        """Return the hardware of a node; always the same object."""
        if node not in self._hardware:
            self._hardware[node] = MachineHardware(self.machines[node])
        return self._hardware[node]

    @property
    def now(self) -> float:
        """Virtual seconds since the world began."""
        return self.world.kernel.now

    def run_for(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.world.run_for(seconds)

    def run_with_progress(self, seconds: float, what: str, tell: ProgressCallback) -> None:
        """Let virtual time pass in portions, and report each."""
        began_s = self.now
        for part in range(PARTS):
            tell(f"{what} ({seconds * part / PARTS:g} of {seconds:g} simulated seconds)")
            self.world.kernel.run_until(began_s + seconds * (part + 1) / PARTS)

    def terminal(self, policy: Policy | None = None) -> Terminal:
        """Return the session's terminal, that of an administrator unless the session has another policy.

        The first call creates its host; do that before copying the world, to save time.
        """
        if self._session is None or policy not in (None, self._session.policy):
            self._session = Terminal(self.world, self.cluster, policy or ADMIN)
            self._date_back(self._session.machine)
        return self._session

    @property
    def has_jobs(self) -> bool:
        """Whether a program that was started at the session's terminal still runs."""
        return self._session is not None and self._session.has_jobs

    def operate(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line on the operators' own host; raises ``OperationFailed`` if it fails or takes more virtual seconds."""
        result = self.attempt(line, timeout_s)
        if result.status == TIMED_OUT:
            raise OperationFailed(
                f"{line}: it did not end within {timeout_s:g} simulated seconds. Use a longer timeout_s, or run it in the "
                "background."
            )
        if result.status != 0:
            raise OperationFailed(f"{line}: {result.stderr.decode(errors='replace').strip()}")
        return result

    def attempt(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line on the operators' own host, and return how it ended."""
        return self._operators_host.run(line, timeout_s)

    def run_in_session(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line on the agent's host, and return how it ended."""
        return self.terminal().run(line, timeout_s)

    @property
    def _operators_host(self) -> Terminal:
        if self._operator is None:
            self._operator = Terminal(
                self.world, self.cluster, name="bastion-operators", shown_bytes=AUDIT_BYTES
            )
            self._date_back(self._operator.machine)
        return self._operator

    @property
    def _nodes(self) -> list[Machine]:
        return [kubelet.node.machine for kubelet in self.cluster.kubelets.values()]

    def _date_back(self, machine: Machine) -> None:
        """Make a host that was added only now as old as the cluster."""
        age_s = self.cluster.api.now_s - self.history.built_s
        machine.date_back(age_s)
        age_traffic(machine, age_s)
        if self.entry == INGRESS:
            authority = self.cluster.pki.sign("ca").certificate
            machine.host.files.mkdir(TRUSTED.rpartition("/")[0], parents=True)
            machine.host.files.put(TRUSTED, authority)

    def issue_certificate(self, host: str, begins_s: float, ends_s: float) -> tuple[bytes, bytes]:
        """Return a certificate of the cluster's authority for a host, and its key; times are Unix seconds."""
        return issue_certificate(self.cluster.pki, host, begins_s, ends_s)

    def check_prometheus(self, source: Namespace) -> str:
        """Return why Prometheus does not answer a host's queries, or an empty text."""
        return self.stack.check_prometheus(source) if self.stack is not None else ""

    def read_page(self) -> str:
        """Return the page that Alertmanager would send now, as text: all active alerts, empty if there are none."""
        return self.stack.read_page() if self.stack is not None else ""

    def find(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """Return an object, of the application's namespace unless another is given, or None."""
        return self.cluster.api.log.get(self._make_key(resource, name, namespace))

    def find_original(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """Return a declared object as it should be, or None: as in the baseline, or as an innocent change left it."""
        return self.wanted.get(self._make_key(resource, name, namespace))

    def is_as_injected(self, resource: str, name: str, namespace: str | None = None) -> bool:
        """Return whether a declared object still has everything that the fault did to it."""
        key = self._make_key(resource, name, namespace)
        changed = self._injected.get(key)
        left = self._broken.get(key, changed)
        return has_change(self.wanted.get(key), changed, left, self.read_declared().get(key))

    def _make_key(self, resource: str, name: str, namespace: str | None) -> Key:
        plural, _, group = resource.partition(".")
        return Key(group, plural, self.namespace if namespace is None else namespace, name)

    @property
    def wanted(self) -> Declared:
        """The declared objects as they should be: those of the baseline, with the innocent changes since."""
        return {**self.baseline.objects, **self._innocent}

    @contextmanager
    def innocently(self) -> Iterator[None]:
        """Count what changes inside the ``with`` block as wanted, except objects that the fault has broken."""
        before = self.read_declared()
        yield
        after = self.read_declared()
        for key in find_changes(before, after):
            if key in after:
                (self._broken if key in self._broken else self._innocent)[key] = after[key]

    def mark_injected(self) -> None:
        """Remember the time, and the declared objects as the fault has left them."""
        self.injected_s = self.now
        self._injected = self.read_declared()
        self._broken = {key: self._injected.get(key) for key in find_changes(self.wanted, self._injected)}

    def describe_injected(self) -> list[str]:
        """Return what the fault changed in declared objects, a line for each field: ``services/geo: spec.ports[0].port: 80 -> 81``."""
        lines: list[str] = []
        for key, broken in self._broken.items():
            before, name = self.wanted.get(key), f"{key.plural}/{key.name}"
            if before is None or broken is None:
                lines.append(f"{name}: {'deleted' if broken is None else 'added'}")
                continue
            lines += [f"{name}: {difference}" for difference in describe_differences(before, broken)]
        return lines

    def find_injected_words(self) -> tuple[str, ...]:
        """Return the words of what the fault changed in declared objects: names, fields and values, in lower case."""
        wanted = self.wanted
        return tuple(
            word for key, obj in self._broken.items() for word in find_changed_words(wanted.get(key), obj)
        )

    def read_declared(self) -> Declared:
        """Return the declared objects; the same mapping object as before if there was no write to them."""
        log = self.cluster.api.log
        if (newest := log.newest(KINDS)) != self._declared[0]:
            self._declared = newest, read_declared(self.cluster.api)
        return self._declared[1]

    def read_state(self) -> State:
        """Return the configuration of every node that is on, and the users and roles of each component's databases that run."""
        names = [component.name for component in self.app.components]
        nodes = {machine.name: read_node(machine) for machine in self._nodes if machine.running}
        return {**nodes, **read_accounts(self._nodes, names)}

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
        """Return the acknowledged writes that are lost, without those written off; None if the application has no audit.

        Raises ``OperationFailed`` if the datastore does not answer.
        """
        if not self.app.audit:
            return None
        promised = self.count_promised()
        return sorted((promised - self._read_kept()).elements()) if promised else []

    def count_promised(self) -> Counter[str]:
        """Return the acknowledged writes, without those written off."""
        return Counter(self.users.results.promised) - self._written_off

    def hand_over(self) -> None:
        """Count what happens from now on as the agent's."""
        self._handed_over_s = self.now

    def write_off(self) -> None:
        """Ignore the writes that are lost already, because no repair can restore them.

        If the datastore does not answer, all its writes count as lost if its data ends with its pod, and none otherwise.
        """
        if not self.app.audit:
            return
        promised = Counter(self.users.results.promised)
        try:
            self._written_off = promised - self._read_kept()
        except OperationFailed:
            is_persistent = self.app.component(self.app.audited).persistent
            self._written_off = Counter() if is_persistent else promised

    def _read_kept(self) -> Counter[str]:
        return Counter(self.operate(self.app.audit).stdout.decode().splitlines())
