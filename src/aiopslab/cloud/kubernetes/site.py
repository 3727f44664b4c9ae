"""A site on a Kubernetes cluster that others run: reached over HTTPS with a kubeconfig, in its own time, and left as it was found.

The application comes from its manifests, its users send HTTP from here, faults are typed in an operator's shell on this host, and the
agent works in a pod. The stores that actions and judges read are copies (``mirror``, ``telemetry``): they grow whenever time
passes in ``run_until``, and only then, so that every reader sees one moment.

Not here: the hardware of nodes, the accounts in databases, and the metrics of the programs themselves.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final, NoReturn

import yaml

from aiopslab.apps import NODE_PORT, Application, Objective
from aiopslab.cloud.apps import SETTLED_S, count_restarts, render_chart
from aiopslab.cloud.declared import Declared, find_changes
from aiopslab.cloud.incident_site import BASELINE_S, Baseline, IncidentSite, Prometheus
from aiopslab.cloud.kubernetes.cleanup import make_labels, remove_everything
from aiopslab.cloud.kubernetes.client import ClusterClient, ClusterFailed, Inbox, Refused
from aiopslab.cloud.kubernetes.clock import ClusterClock
from aiopslab.cloud.kubernetes.http_client import HttpClient
from aiopslab.cloud.kubernetes.kubeconfig import read_access
from aiopslab.cloud.kubernetes.live_users import LiveContext, LiveDoor, QueuedResults, open_proxied_door
from aiopslab.cloud.kubernetes.loki import LokiReader
from aiopslab.cloud.kubernetes.metrics import NodeReader, watch_metrics
from aiopslab.cloud.kubernetes.mirror import Mirror, make_path
from aiopslab.cloud.kubernetes.node_shells import (
    NAME as NODE_SHELL,
    SSH,
    are_ready,
    build_node_shells,
    format_node_line,
)
from aiopslab.cloud.kubernetes.operator_shell import OperatorShell
from aiopslab.cloud.kubernetes.pod_terminal import NAMESPACE as OPERATIONS, PodTerminal, build_account
from aiopslab.cloud.kubernetes.telemetry import LogFollower, TraceReader
from aiopslab.cloud.kubernetes.telemetry_servers import (
    INSTALL,
    RemotePrometheus,
    TelemetryServer,
    list_server_objects,
)
from aiopslab.cloud.node_state import State
from aiopslab.generators import OperationFailed
from aiopslab.generators.fault import Capability
from aiopslab.generators.workload import RATE, TIMEOUT_S, OpenLoop, Users
from aiopslab.utils import ProgressCallback, ignore_progress
from simcloud.kubernetes import Cluster
from simcloud.kubernetes.api import Key, Object, at, times
from simcloud.machine.process import Completed, Program
from simcloud.telemetry import Monitoring
from simcloud.telemetry.stack import NAMESPACE as MONITORING
from simcloud.world import ADMIN, TIMEOUT_S as LINE_TIMEOUT_S, TOOLBOX, Policy, World

STEP_S: Final = 0.2
"""Longest time here between two looks at what has arrived."""
JAEGER_PORT: Final = 16686
SYSTEM: Final = "kube-system"
SYSTEMS: Final = (SYSTEM, "kube-public", "kube-node-lease", "local-path-storage")
"""Namespaces whose pods are part of a cluster."""
ON_NODES: Final[frozenset[Capability]] = frozenset(("node access", "node login", "network tools"))
MERGE: Final = "application/merge-patch+json"
MIN_RIGHT: Final = 0.9
"""Share of users' requests that must succeed in a healthy baseline."""
WORSE: Final = 0.01
SLOWER: Final = 3.0
JITTER_S: Final = 0.2
"""How much worse than in the baseline requests may be: share of those that fail, and factor and addend of latencies."""


class NotHealthy(ClusterFailed):
    """An episode is void, because the cluster or the application was not healthy before the fault."""


@dataclass(frozen=True)
class KubernetesOptions:
    """How to use a cluster."""

    kubeconfig: Path
    context: str | None = None
    front_door: str = ""
    """The URL at which users reach the application, such as a node port's; empty for the API server's proxy of the Service."""
    terminal_image: str = TOOLBOX
    images: Mapping[str, str] = field(default_factory=dict)
    """Images to use instead of those in the manifests."""
    ready_s: float = 600.0
    """Time in which the application must be ready."""
    baseline_s: float = BASELINE_S
    timeout_s: float = TIMEOUT_S
    """Time after which users give up a request."""
    soak_s: float | None = None
    """Time from the fault to the session; None for the problem's own."""
    attach: bool = False
    """Whether the application runs already, and stays: it is not deployed, and its objects are made as they were at the end."""
    privileged: bool = False
    """Whether pods may be privileged: faults of nodes and of their networks are available then."""
    prometheus: str = ""
    """The address of a Prometheus (``TelemetryServer``) that actions ask, or ``install`` for a new one; empty for the harness's own
    collection of metrics."""
    jaeger: str = ""
    """The address of the Jaeger with the application's traces; empty for the application's own."""
    loki: str = ""
    """The address of a Loki that has the lines of containers which are gone, or ``install`` for a new one; empty for none."""
    dedicated: bool = False
    """Whether the cluster serves nothing else although pods run in other namespaces than those of Kubernetes."""


class KubernetesSite(IncidentSite):
    """An application with users on a cluster that others run. Call ``close`` at the end: it removes what was created."""

    is_live: ClassVar[bool] = True

    def __init__(
        self,
        app: Application,
        options: KubernetesOptions,
        seed: int = 0,
        *,
        rate: float = RATE,
        tell: ProgressCallback = ignore_progress,
    ) -> None:
        """Connect to the cluster; raises ``NoAccess`` and ``ClusterFailed``."""
        super().__init__(app, seed, rate, NODE_PORT, tell)
        self.options = options
        self.baseline_s = options.baseline_s
        self.timeout_s = options.timeout_s
        self.soak_s = options.soak_s
        self._objectives = app.objectives
        self.capabilities = list_capabilities(options)
        access = read_access(options.kubeconfig, options.context)
        self.run_id = secrets.token_hex(4)
        self._labels = make_labels(self.run_id)
        self._session: PodTerminal | None = None
        self._found: Declared | None = None
        """The declared objects before anything was deployed."""
        self._is_closed = False
        self._shell = OperatorShell(access)
        self.client = ClusterClient(access)
        try:
            self._connect(seed)
        except BaseException:
            self.client.close()
            self._shell.close()
            raise

    def _connect(self, seed: int) -> None:
        self._tell(f"connecting to {self.client.access.server}")
        self.clock = ClusterClock(self.client)
        self.clock.calibrate()
        epoch_s = self.clock.now_s
        self.world = World(seed, epoch_s)
        self.cluster = Cluster(self.world.kernel, epoch_s=epoch_s)
        self.monitoring = Monitoring(self.cluster, self.world.emitter)
        self._inbox = Inbox()
        self._mirror = Mirror(self.client, self.cluster.api.log, self._post)
        self._logs = LogFollower(self.client, self.world.emitter, self._post)
        self._traces = self._open_traces()
        self._old_logs: LokiReader | None = None
        if self.options.loki:
            loki = TelemetryServer(self.client, "Loki", self.options.loki)
            self._old_logs = LokiReader(loki, self.world.emitter, self._logs, (self.namespace, SYSTEM))
        self._mirror.start()
        self.client.start(self.clock.follow())
        reader = NodeReader(self.client, self.clock, self._post, (self.namespace, SYSTEM))
        watch_metrics(self.monitoring, self.cluster, reader)
        self._check_namespaces()
        if not self.options.dedicated:
            self._refuse_others()
        self._found = self.read_declared()

    def _open_traces(self) -> TraceReader | None:
        """Return a reader of the given Jaeger or the application's own; None if there is neither."""
        own = [part.name for part in self.app.components if part.role == "tracing"]
        address = self.options.jaeger or (f"service:{self.namespace}/{own[0]}:{JAEGER_PORT}" if own else "")
        if not address:
            return None
        jaeger = TelemetryServer(self.client, "Jaeger", address)
        return TraceReader(jaeger, self.app.front_door.service, self.world.emitter, self.world.epoch_s)

    def _check_namespaces(self) -> None:
        """Raise ``ClusterFailed`` if an earlier run left something, or the application to attach to is not there."""
        if self.options.attach and self.find("namespaces", self.namespace, "") is None:
            raise ClusterFailed(
                f"The cluster has no namespace {self.namespace} with the application {self.app.name}. Deploy it there, or leave out "
                "--cluster-option attach=yes."
            )
        new = [OPERATIONS]
        new += [] if self.options.attach else [self.namespace]
        new += [MONITORING] if self._installed else []
        for namespace in new:
            if self.find("namespaces", namespace, "") is not None:
                raise ClusterFailed(
                    f"The cluster has a namespace {namespace} already. Remove what an earlier run left with aiopslab cleanup, "
                    "or use another cluster."
                )

    def _refuse_others(self) -> None:
        """Raise ``ClusterFailed`` if somebody else seems to use the cluster, whose changes a run would undo."""
        pods = (self.client.find(make_path("", "pods")) or {}).get("items") or ()
        own = (self.namespace,) if self.options.attach else ()
        if others := sorted({pod["metadata"]["namespace"] for pod in pods}.difference(SYSTEMS, own)):
            raise ClusterFailed(
                f"Pods run in {', '.join(others)}, and a run undoes every change that is made during it, also those of others. Use a "
                "cluster that serves nothing else; if this one does not, add --cluster-option dedicated=yes."
            )

    def _post(self, handle: Callable[[], None]) -> None:
        self._inbox.post(self.clock.now_s, handle)

    def run_until(self, time_s: float) -> None:
        """Wait until the cluster's clock has reached a time, and take in what has arrived since."""
        while True:
            self.sync()
            left_s = time_s - self.now
            if left_s <= 0:
                return
            time.sleep(min(STEP_S, self.clock.to_wall(left_s)))

    def sync(self) -> float:
        """Take in what has arrived, each thing at its time; return the time."""
        self._shell.advance()
        if self.client.failure is not None:
            raise self.client.failure
        kernel = self.world.kernel
        for arrived_s, handle in self._inbox.take():
            kernel.run_until(max(kernel.now, arrived_s - self.world.epoch_s))
            handle()
        kernel.run_until(max(kernel.now, self.clock.now_s - self.world.epoch_s))
        for namespace in (self.namespace, SYSTEM):
            self._logs.update(self.cluster.api.log.objects("", "pods", namespace))
        return kernel.now

    def refresh(self) -> str:
        """Take in what has arrived, and read new traces; return why there are none, or an empty text."""
        self.sync()
        return "" if self._traces is None else self._traces.read(self.clock.now_s)

    def refresh_logs(self) -> str:
        """Take in what has arrived, and read from Loki what did not; return why some lines are missing, or an empty text."""
        self.sync()
        return "" if self._old_logs is None else self._old_logs.read(self.clock.now_s)

    def wait(self, seconds: int) -> None:
        self.run_for(seconds)

    def admit(self, policy: Policy) -> None:
        for path, obj in build_account(policy, self._labels, self._list_api_servers()):
            try:
                self.client.request("POST", path, obj)
            except Refused as error:
                if error.reason != "AlreadyExists":
                    raise

    def _list_api_servers(self) -> list[str]:
        """Return the addresses behind the Service of the API server."""
        path = make_path("discovery.k8s.io", "endpointslices", "default", "kubernetes")
        found: Object = self.client.find(path) or {}
        return [address for endpoint in found.get("endpoints") or () for address in endpoint["addresses"]]

    def open(self) -> None:
        """Deploy the application unless it runs, and telemetry servers if wanted, wait until they are ready, and start the users."""
        if self._installed:
            self._apply(" and ".join(self._installed), list_server_objects(self._installed))
        if not self.options.attach:
            self._deploy()
        self._wait_until_ready()
        results = QueuedResults(self._post)
        self._users = Users(self.door, self.app.journeys, OpenLoop(self.load), self.timeout_s, results)
        context = LiveContext(self.clock, self.world.epoch_s, self.seed)
        if self.app.journeys:
            self.client.start(_run_users(self._users, context))

    def _deploy(self) -> None:
        """Create the objects of the application; raises ``ClusterFailed``."""
        if self.app.chart_files:
            self._apply(self.app.name, list_chart_objects(self.app), f" -n {self.namespace}")
        else:
            self._apply(self.app.name, self.app.manifests())

    def _apply(self, name: str, objects: Sequence[Object], option: str = "") -> None:
        """Apply manifests with kubectl, as an operator would; raises ``ClusterFailed``."""
        self._tell(f"deploying {name}")
        # JSON, because Go's YAML takes some texts for numbers that PyYAML writes without quotes: a label 12345e67, for instance.
        listed = {"apiVersion": "v1", "kind": "List", "items": [self._prepare(obj) for obj in objects]}
        done = self._shell.run(f"kubectl apply{option} -f -", self.options.ready_s, json.dumps(listed))
        if done.status != 0:
            raise ClusterFailed(f"The cluster refused a manifest of {name}: {done.stderr.decode().strip()}")

    def _prepare(self, manifest: Object) -> Object:
        """Return a manifest with the labels of this run, if it has no namespace, and with the images that are to be used."""
        text = json.dumps(manifest)
        for name, other in self.options.images.items():
            text = text.replace(json.dumps(name), json.dumps(other))
        document: Object = json.loads(text)
        metadata = document["metadata"]
        if "namespace" not in metadata:
            metadata["labels"] = {**(metadata.get("labels") or {}), **self._labels}
        return document

    def _wait_until_ready(self) -> None:
        """Wait until all workloads have their pods and none has restarted for a while; raises ``NotHealthy``."""
        deadline_s, settled_s, restarts = self.now + self.options.ready_s, self.now + SETTLED_S, -1
        while True:
            self.run_for(1.0)
            workloads = [
                *self._list_deployed("apps", "deployments"),
                *self._list_deployed("apps", "daemonsets"),
            ]
            unready = {obj["metadata"]["name"]: why for obj in workloads if (why := _explain_unready(obj))}
            self._tell(
                f"deploying {self.app.name} ({len(workloads) - len(unready)} of {len(workloads)} workloads are ready)"
            )
            counted = sum(map(count_restarts, self._list_deployed("", "pods")))
            if unready or not workloads or counted != restarts:
                settled_s, restarts = self.now + SETTLED_S, counted
            elif self.now >= settled_s:
                return
            if self.now >= deadline_s:
                raise NotHealthy(
                    f"{self.app.name} was not ready within {self.options.ready_s:g} s, so the episode is void: "
                    + (self._explain(unready) or "pods are restarting")
                )

    def _list_deployed(self, group: str, plural: str) -> list[Object]:
        """Return the objects of a kind in the application's namespace, and in that of telemetry servers that are installed."""
        namespaces = (self.namespace, MONITORING) if self._installed else (self.namespace,)
        return [obj for name in namespaces for obj in self.cluster.api.log.objects(group, plural, name)]

    @property
    def _installed(self) -> list[str]:
        """The names of the telemetry servers that this run installs."""
        addresses = {"Prometheus": self.options.prometheus, "Loki": self.options.loki}
        return [name for name, address in addresses.items() if address == INSTALL]

    def _explain(self, unready: Mapping[str, str]) -> str:
        """Return what is known of workloads that are not ready."""
        pods = self._list_deployed("", "pods")
        parts = []
        for name, why in unready.items():
            own = [pod for pod in pods if pod["metadata"]["name"].startswith(f"{name}-")]
            reasons = dict.fromkeys(reason for pod in own if (reason := _explain_pod(pod)))
            parts.append(f"{name} ({', '.join((why, *reasons))})")
        return "; ".join(parts)

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """The application's objectives, or what the baseline shows that this cluster can keep."""
        return self._objectives

    def settle(self) -> Baseline:
        """Open the site; record and return the baseline. Raises ``NotHealthy`` if users' requests failed in it."""
        baseline = super().settle()
        self._objectives = tuple(self._adjust(objective, baseline) for objective in self.app.objectives)
        return baseline

    def _adjust(self, objective: Objective, baseline: Baseline) -> Objective:
        """Return an objective that fits the cluster: latencies depend on where it is and how users reach it."""
        seen = self.users.results.between(baseline.start, baseline.end, objective.journey)
        answered = seen.requests - seen.unfinished
        right = 1 - seen.errors / answered if answered else 0.0
        if right < MIN_RIGHT:
            kind = max(seen.kinds, key=lambda kind: seen.kinds[kind], default="there was no answer")
            raise NotHealthy(
                f"{seen.errors} of {answered} answers to users' requests of {objective.journey} were wrong before any fault "
                f"({kind}), so the episode is void. Check the cluster and run it again."
            )
        return replace(
            objective,
            success=min(objective.success, right - WORSE),
            p99_s=max(objective.p99_s, SLOWER * seen.p99_s + JITTER_S),
        )

    @property
    def door(self) -> LiveDoor:
        """The application's front door: at the given URL, or behind the API server's proxy."""
        if self.options.front_door:
            return LiveDoor(HttpClient(self.options.front_door), self.clock)
        front = self.app.front_door
        return open_proxied_door(self.client, self.clock, self.namespace, front.service, front.port)

    def terminal(self, policy: Policy | None = None) -> PodTerminal:
        """Return the session's terminal; the first call starts its pod."""
        if self._session is None:
            chosen = policy or ADMIN
            self.admit(chosen)
            self._session = PodTerminal(
                self.client,
                self.clock,
                chosen,
                self.sync,
                image=self.options.terminal_image,
                labels=self._labels,
            )
            if self.options.privileged:
                self._open_nodes(self._session)
        if policy not in (None, self._session.policy):
            raise ClusterFailed("A session on a real cluster has one terminal, with one policy.")
        return self._session

    def _open_nodes(self, terminal: PodTerminal) -> None:
        """Start a privileged pod on each node, and give the terminal an ``ssh`` to them; raises ``ClusterFailed``."""
        for path, manifest in build_node_shells(self.options.terminal_image, self._labels):
            self.client.request("POST", path, manifest)
        deadline_s = self.now + self.options.ready_s
        while not are_ready(
            self.client.request("GET", make_path("apps", "daemonsets", OPERATIONS, NODE_SHELL))
        ):
            self.run_for(1.0)
            if self.now >= deadline_s:
                raise ClusterFailed(
                    f"The privileged pods {NODE_SHELL} did not start on all nodes within {self.options.ready_s:g} s. "
                    "Leave out --cluster-option privileged=yes if the cluster does not allow them."
                )
        terminal.install("/usr/local/bin/ssh", SSH)

    @property
    def has_jobs(self) -> bool:
        """Whether a program that was started at the session's terminal still runs."""
        return self._session is not None and self._session.has_jobs

    def attempt(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line in the operators' shell on this host, and return how it ended."""
        done = self._shell.run(line, timeout_s)
        self.sync()
        return done

    def node_shell(self, node: str, line: str) -> str:
        """Run a line on a node as root, in its privileged pod; return its output."""
        if not self.options.privileged:
            raise OperationFailed(f"Nobody can log in to the node {node} of this cluster.")
        return self.run(format_node_line(node, line))

    def hardware(self, node: str) -> NoReturn:
        raise OperationFailed(f"The hardware of the node {node} cannot be changed.")

    def put_file(self, path: str, data: bytes) -> NoReturn:
        raise OperationFailed("Operators of a real cluster have no host to write files on.")

    def start_outside(self, name: str, program: Program) -> NoReturn:
        raise OperationFailed("Other load than that of the users cannot be sent to a real cluster yet.")

    def find(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """Return an object as it is at this moment, of the application's namespace unless another is given, or None."""
        key = self._make_key(resource, name, namespace)
        found: Object | None = self.client.find(make_path(*key))
        self.sync()
        if found is not None:
            self._mirror.add(key, found)
        return found

    def read_declared(self) -> Declared:
        """Return the declared objects as they are at this moment."""
        self.sync()
        self._mirror.refresh()
        return super().read_declared()

    def read_state(self) -> State:
        """Return nothing: what is set on nodes and in databases is not seen here."""
        return {}

    @property
    def prometheus(self) -> Prometheus:
        """The Prometheus that actions ask: one that runs already, or what is collected here."""
        if self.options.prometheus:
            server = TelemetryServer(self.client, "Prometheus", self.options.prometheus)
            return RemotePrometheus(server, lambda: self.cluster.api.now_s)
        return super().prometheus

    def check_prometheus(self) -> str:
        """Return an empty text: a Prometheus that runs already says itself why it does not answer."""
        return ""

    def read_page(self) -> str:
        """Return an empty text: nobody is paged here."""
        return ""

    def is_node_starting(self, since_s: float) -> bool:
        """Whether a node is not ready, or has become ready since then."""
        return any(not _is_ready(node, since_s + self.world.epoch_s) for node in self._list_nodes())

    def find_rebooted_nodes(self, since_s: float) -> list[str]:
        """Return the names of the nodes that have another boot ID than in the baseline, sorted."""
        before = {
            name: _get_boot(obj)
            for (_, plural, _, name), obj in self.baseline.objects.items()
            if plural == "nodes"
        }
        return sorted(
            name
            for node in self._list_nodes()
            if before.get(name := node["metadata"]["name"], _get_boot(node)) != _get_boot(node)
        )

    def _list_nodes(self) -> list[Object]:
        return self.cluster.api.log.objects("", "nodes")

    def close(self) -> None:
        """Remove what this run created, undo what was changed elsewhere, and disconnect. Idempotent."""
        if self._is_closed:
            return
        self._is_closed = True
        self.client.failure = None  # what has failed must not keep this from being done
        try:
            self._tell("removing everything from the cluster")
            self._repair_what_stays()
            self._undo_changes()  # first, because a webhook or a policy may stand in the way of the removal
            remove_everything(self.client, self.run_id, self._tell)
        finally:
            self.client.close()
            self._shell.close()

    def _repair_what_stays(self) -> None:
        """Undo what faults did on nodes, and in the databases of an application that was there before, if nobody has repaired it."""
        for fault in reversed(self.faults):
            if self.options.attach or ON_NODES.intersection(fault.needs):
                with suppress(OperationFailed, ClusterFailed):
                    if fault.remains(self):
                        fault.recover(self)

    def _undo_changes(self) -> None:
        """Make all declared objects as they were when this run began; new namespaces get its label, to be removed with it."""
        if self._found is None:
            return
        changes = find_changes(self._found, self.read_declared())
        new = {key.name for key, what in changes.items() if key.plural == "namespaces" and what == "added"}
        for name in new - {self.namespace, OPERATIONS}:
            label = {"metadata": {"labels": self._labels}}
            self.client.request("PATCH", make_path("", "namespaces", "", name), label, content_type=MERGE)
        for key, what in changes.items():
            if key.namespace not in new and (key.plural, what) != ("nodes", "added"):
                with suppress(Refused):
                    self._undo(key, what, self._found.get(key))

    def _undo(self, key: Key, what: str, original: Object | None) -> None:
        path = make_path(*key)
        if what == "added":
            self.client.request("DELETE", path)
            return
        assert original is not None
        metadata = {
            name: value
            for name, value in original["metadata"].items()
            if name not in ("resourceVersion", "uid", "creationTimestamp", "generation", "managedFields")
        }
        document = {name: value for name, value in original.items() if name != "status"} | {
            "metadata": metadata
        }
        current: Object | None = self.client.find(path)
        if current is None:
            self.client.request("POST", make_path(key.group, key.plural, key.namespace), document)
        else:
            metadata["resourceVersion"] = current["metadata"]["resourceVersion"]
            self.client.request("PUT", path, document)


def list_capabilities(options: KubernetesOptions) -> frozenset[Capability]:
    """Return what faults can do on a cluster besides calls of its API."""
    by_pods = ON_NODES if options.privileged else frozenset()
    return by_pods | ({"node port"} if options.front_door else set())


def list_chart_objects(app: Application) -> list[Object]:
    """Return the namespace of an application, and the objects of its chart."""
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": app.namespace}}
    return [namespace, *filter(None, yaml.safe_load_all(render_chart(app)))]


async def _run_users(users: Users, context: LiveContext) -> None:
    await users.program(context.as_context())


def _explain_unready(workload: Object) -> str:
    """Return how many pods of a workload are ready, or an empty text if all are."""
    status = workload.get("status") or {}
    if workload["kind"] == "DaemonSet":
        if "observedGeneration" not in status:
            return "no pod yet"
        wanted, ready = status["desiredNumberScheduled"], status["numberReady"]
    else:
        wanted, ready = at(workload, "spec", "replicas", default=1), status.get("readyReplicas", 0)
    return "" if ready >= wanted else f"{ready} of {wanted} pods are ready"


def _explain_pod(pod: Object) -> str:
    """Return why a pod is not ready, in Kubernetes' own words; empty if it gives none."""
    for status in at(pod, "status", "containerStatuses", default=[]):
        waiting = at(status, "state", "waiting", default={})
        if waiting.get("reason"):
            return f"{waiting['reason']} {waiting.get('message', '')}".strip()
    for condition in at(pod, "status", "conditions", default=[]):
        if condition["status"] == "False" and condition.get("message"):
            return str(condition["message"])
    return ""


def _get_boot(node: Object) -> str:
    boot: str = at(node, "status", "nodeInfo", "bootID", default="")
    return boot


def _is_ready(node: Object, since_s: float) -> bool:
    """Whether a node has been ready since a time."""
    for condition in at(node, "status", "conditions", default=[]):
        if condition["type"] == "Ready":
            return bool(
                condition["status"] == "True" and times.parse(condition["lastTransitionTime"]) <= since_s
            )
    return False
