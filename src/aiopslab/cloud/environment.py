"""The environment of a problem: an application with users on a monitored cluster.

It is always built in the same order: start the cluster, deploy the application, start the users (who never stop), and record a
baseline of the healthy system. After that, faults may be injected. The first two are weeks ago by then, on days of the site's
history.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.apps import INGRESS, NODE_PORT, Application
from aiopslab.cloud.apps import TIMEOUT_S as DEPLOY_TIMEOUT_S, deploy, issue_certificate, wait_until_ready
from aiopslab.cloud.hardware import MachineHardware
from aiopslab.cloud.history import draw_history, skip_until
from aiopslab.cloud.incident_site import IncidentSite
from aiopslab.cloud.node_state import State, read_accounts, read_node
from aiopslab.cloud.outside import find_front_door, get_outside_machine, start_outside
from aiopslab.generators import at_site
from aiopslab.generators.workload import RATE, HttpDoor, OpenLoop, Users
from aiopslab.utils import ProgressCallback, ignore_progress
from simcloud.kubernetes import INIT_S, node_names
from simcloud.kubernetes.kubelet import NETWORK_S
from simcloud.kubernetes.network import ingress
from simcloud.machine import EPOCH_S, Counters, Machine, age_traffic
from simcloud.machine.process import Completed, Program
from simcloud.telemetry import Monitoring
from simcloud.telemetry.stack import STORES, MonitoringStack
from simcloud.world import (
    ADMIN,
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
COMPLETE_S: Final = 2.0
"""Traces have all their spans that long after they began: a request, and a second until the spans are sent."""
PAST_LOAD: Final = (0.45, 0.9)
"""The average load of the past, nights included, as a share of the present one."""
AUDIT_BYTES: Final = 16 << 20
TRUSTED: Final = "/etc/ssl/certs/ca-certificates.crt"


class Environment(IncidentSite):
    """An application with users on a cluster of the embedded cloud. Call ``open`` or ``settle`` once before using it."""

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
        tell(f"starting a cluster of {nodes} nodes")
        super().__init__(app, seed, rate, entry, tell)
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
        self._operator: Terminal | None = None
        self._session: Terminal | None = None
        self._hardware: dict[str, MachineHardware] = {}

    def admit(self, policy: Policy) -> None:
        policy.admit(self.cluster.api)

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
        # What these seconds show is taken for weeks, in which the data has not grown.
        self._users.only_read = True
        self.run_for(WARM_UP_S / 2 - COMPLETE_S)
        counters.observe()
        self._users.only_read = False
        self.run_for(COMPLETE_S)
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

    def run_until(self, time_s: float) -> None:
        """Let virtual time pass."""
        self.world.kernel.run_until(time_s)

    def is_node_starting(self, since_s: float) -> bool:
        """Whether a node is off or about to be, has booted since then, or is about to restart a service."""
        return any(_is_starting(machine, since_s) for machine in self._nodes)

    def find_rebooted_nodes(self, since_s: float) -> list[str]:
        """Return the names of the nodes that are off or have booted since then, sorted."""
        return sorted(
            machine.name for machine in self._nodes if not machine.running or machine.booted_at > since_s
        )

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

    def attempt(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line on the operators' own host, and return how it ended."""
        return self._operators_host.run(line, timeout_s)

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

    def check_prometheus(self) -> str:
        """Return why Prometheus does not answer the session's queries, or an empty text."""
        source = self.terminal().machine.host.namespace
        return self.stack.check_prometheus(source) if self.stack is not None else ""

    def read_page(self) -> str:
        """Return the page that Alertmanager would send now, as text: all active alerts, empty if there are none."""
        return self.stack.read_page() if self.stack is not None else ""

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


def _is_starting(machine: Machine, since_s: float) -> bool:
    if not machine.running or machine.off_at is not None or machine.booted_at > since_s:
        return True
    return any(unit.state == "activating" for unit in machine.units.values())
