"""What problems need from a cloud: an application with users on a monitored cluster, its clock, its objects and its terminals.

Two clouds implement it: ``Environment``, the embedded one, and ``KubernetesSite``, a cluster that others run. Actions, judges and
measures read the same stores on both: the revision log of ``cluster``, the telemetry of ``world`` and ``monitoring``, the results of
``users``. The embedded cloud writes these stores itself; of a real cluster they are a copy, which grows whenever time passes here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

from aiopslab.apps import Application, Objective
from aiopslab.cloud.declared import (
    KINDS,
    Declared,
    describe_differences,
    find_changed_words,
    find_changes,
    has_change,
    read_declared,
)
from aiopslab.cloud.node_state import State
from aiopslab.generators import OperationFailed, Site
from aiopslab.generators.fault import CAPABILITIES, Capability, Fault
from aiopslab.generators.workload import TIMEOUT_S, Dial, Summary, Users
from aiopslab.utils import ProgressCallback
from simcloud.kubernetes import Cluster
from simcloud.kubernetes.api import Key, Object
from simcloud.machine.process import Completed
from simcloud.services import FrontDoor
from simcloud.telemetry import Monitoring, Parameters, PrometheusApi
from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.promql import Engine, Limits
from simcloud.world import TIMED_OUT, TIMEOUT_S as LINE_TIMEOUT_S, Policy, World

BASELINE_S: Final = 120.0
QUERY_LIMITS: Final = Limits(samples=2_000_000)
PARTS: Final = 8
"""Portions of a long time of which the progress is reported; a power of two, so that their ends are exact."""


@dataclass(frozen=True)
class Baseline:
    """The healthy system: when it was recorded, the users' results, the declared objects and what the API does not know."""

    start: float
    end: float
    users: Summary
    objects: Declared
    state: State
    """The configuration of each node, and the users and roles of each component's databases."""


class SessionTerminal(Protocol):
    """The host on which a session's commands run: a machine of the embedded cloud, or a pod of a real cluster."""

    policy: Policy
    secrets: tuple[str, ...]
    """Credentials of this host, which records must redact."""
    closes_at_s: float
    """Time at which the session ends: a line that still runs then is killed."""

    @property
    def home(self) -> str:
        """The working directory of every line."""

    @property
    def has_jobs(self) -> bool:
        """Whether a program that was started here still runs, in the background for example."""

    def run(self, line: str, timeout_s: float = ...) -> Completed:
        """Run a line and return its result; after ``timeout_s`` it is killed, with status 124."""

    def read_file(self, path: str, limit_bytes: int) -> bytes:
        """Return the beginning of a file; raises ``FileError``."""

    def write_file(self, path: str, data: bytes) -> None:
        """Write a file; raises ``FileError``."""

    def list_folder(self, path: str) -> list[str] | None:
        """Return the names in a folder, None if it is a file; raises ``FileError``."""

    def close(self) -> None:
        """End the session and kill everything that it left running."""


class Prometheus(Protocol):
    """What actions ask of a Prometheus, with the parameters and documents of its HTTP API."""

    def query(self, parameters: Parameters) -> Any:
        """Return the value of an expression at one time, now by default."""

    def query_range(self, parameters: Parameters) -> Any:
        """Return an expression's values over time."""

    def alerts(self, parameters: Parameters) -> Any:
        """Return the pending and firing alerts."""

    def read(self, selectors: Sequence[str], seconds: float) -> MetricStore:
        """Return a store with the samples of the last seconds of all series that match one of the selectors, at least."""


class OwnPrometheus(PrometheusApi):
    """The API of a site's own monitoring."""

    def __init__(self, monitoring: Monitoring) -> None:
        super().__init__(monitoring.store, monitoring.now_ms, monitoring.rules)
        self.engine = Engine(self.store, QUERY_LIMITS)

    def read(self, selectors: Sequence[str], seconds: float) -> MetricStore:
        """Return the whole store."""
        return self.store


class IncidentSite(Site):
    """A site for faults, with everything that a problem needs. Call ``open`` or ``settle`` once before using it."""

    is_live: ClassVar[bool] = False
    """Whether the site's time passes by itself, also while an agent thinks."""
    capabilities: frozenset[Capability] = CAPABILITIES
    """What faults can do here besides calls of the cluster's API."""
    baseline_s: float = BASELINE_S
    soak_s: float | None = None
    """Time from a fault to the session; None for the problem's own."""

    world: World
    """The clock and the telemetry; in the embedded cloud, also all machines."""
    cluster: Cluster
    monitoring: Monitoring

    def __init__(self, app: Application, seed: int, rate: float, entry: str, tell: ProgressCallback) -> None:
        self._tell = tell
        self.app = app
        self.entry = entry
        self.seed = seed
        self.timeout_s = TIMEOUT_S
        self.load = Dial(rate)
        """The users' load: ``load.share = 0.5`` halves it from now on."""
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
        self.struck_nodes: dict[str, tuple[str, ...]] = {}
        self.faults: Sequence[Fault] = ()
        """Those that are injected here."""

    @abstractmethod
    def admit(self, policy: Policy) -> None:
        """Give a session's account its rights in the cluster, before the baseline. Idempotent."""

    @abstractmethod
    def open(self) -> None:
        """Deploy the application, and start the users and the monitoring."""

    @abstractmethod
    def run_until(self, time_s: float) -> None:
        """Let time pass until ``now`` is at least that."""

    @abstractmethod
    def terminal(self, policy: Policy | None = None) -> SessionTerminal:
        """Return the session's terminal, that of an administrator unless the session has another policy."""

    @property
    @abstractmethod
    def has_jobs(self) -> bool:
        """Whether a program that was started at the session's terminal still runs."""

    @property
    @abstractmethod
    def door(self) -> FrontDoor:
        """The application's front door, as users outside the cluster reach it."""

    @abstractmethod
    def read_state(self) -> State:
        """Return what can be set on nodes and in databases and is not in the API, as far as it can be seen here."""

    @property
    def prometheus(self) -> Prometheus:
        """The Prometheus that actions ask; judges and measures do not use it."""
        return OwnPrometheus(self.monitoring)

    @abstractmethod
    def check_prometheus(self) -> str:
        """Return why Prometheus does not answer the session's queries, or an empty text."""

    @abstractmethod
    def read_page(self) -> str:
        """Return the page that Alertmanager would send now, as text: all active alerts, empty if there are none."""

    @abstractmethod
    def is_node_starting(self, since_s: float) -> bool:
        """Whether a node is off or about to be, has booted since then, or is about to restart a service."""

    @abstractmethod
    def find_rebooted_nodes(self, since_s: float) -> list[str]:
        """Return the names of the nodes that are off or have booted since then, sorted."""

    def refresh(self) -> str:
        """Bring the traces that actions read up to date, as those of the embedded cloud always are; return why they cannot be, or an
        empty text."""
        return ""

    def refresh_logs(self) -> str:
        """Do the same for log lines."""
        return ""

    def close(self) -> None:
        """Remove what this site created in a cluster of others; the embedded cloud ends with its process."""

    @property
    def now(self) -> float:
        """Seconds since the site's clock began."""
        return self.world.kernel.now

    @property
    def _unit(self) -> str:
        return "seconds" if self.is_live else "simulated seconds"

    def run_for(self, seconds: float) -> None:
        """Let time pass."""
        self.run_until(self.now + seconds)

    def run_with_progress(self, seconds: float, what: str, tell: ProgressCallback) -> None:
        """Let time pass in portions, and report each."""
        began_s = self.now
        for part in range(PARTS):
            tell(f"{what} ({seconds * part / PARTS:g} of {seconds:g} {self._unit})")
            self.run_until(began_s + seconds * (part + 1) / PARTS)

    def settle(self) -> Baseline:
        """Open the environment; record and return the baseline."""
        self.open()
        started_s = self.now
        self.run_with_progress(self.baseline_s, "recording a baseline with users", self._tell)
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
    def objectives(self) -> tuple[Objective, ...]:
        """What users may expect of each journey: the application's objectives, or what this cloud can keep of them."""
        return self.app.objectives

    @property
    def users(self) -> Users:
        """The users of the application; raises ``LookupError`` before ``open``."""
        if self._users is None:
            raise LookupError("There are no users yet: call open() or settle() first.")
        return self._users

    def operate(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line on the operators' own host; raises ``OperationFailed`` if it fails or takes more virtual seconds."""
        result = self.attempt(line, timeout_s)
        if result.status == TIMED_OUT:
            raise OperationFailed(
                f"{line}: it did not end within {timeout_s:g} {self._unit}. Use a longer timeout_s, or run it in the "
                "background."
            )
        if result.status != 0:
            raise OperationFailed(f"{line}: {result.stderr.decode(errors='replace').strip()}")
        return result

    def run_in_session(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line on the agent's host, and return how it ended."""
        return self.terminal().run(line, timeout_s)

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
