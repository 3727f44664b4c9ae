"""The records of a container runtime about its pods: sandboxes and containers, newest first.

Records change while containers run; a ``PodState`` is a copy at one moment. The rest of the kubelet only uses copies,
so that it acts on what it has observed.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.images import Published
from simcloud.kubernetes.kubelet.streams.console import Console
from simcloud.kubernetes.network.pod_network import DnsSettings
from simcloud.machine.network import Namespace
from simcloud.machine.process import Container, Process


class State(Enum):
    """What a container is doing."""

    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"


class ContainerRecord(Struct):
    """One container there is or was. Times are seconds since 1970; 0 means never."""

    id: str
    name: str
    attempt: int
    image: Published
    spec_hash: str
    created_s: float
    uid: int = 0
    gid: int = 0
    groups: tuple[int, ...] = (0,)
    resources: Object = field(default_factory=dict)
    state: State = State.CREATED
    started_s: float = 0.0
    finished_s: float = 0.0
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    heard: bool = False
    """Whether its last words were asked for."""
    container: Container | None = None
    process: Process | None = None
    console: Console | None = None

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self.state is State.RUNNING

    @property
    def exited(self) -> bool:
        """Whether its process has ended."""
        return self.state is State.EXITED

    @property
    def full_id(self) -> str:
        """The id as statuses write it."""
        return f"containerd://{self.id}"


class Sandbox(Struct):
    """What the containers of a pod share: a network namespace, held by a pause process."""

    id: str
    attempt: int
    namespace: Namespace
    netns: str
    holder: Process
    shim: Process
    ready: bool = True
    dns: DnsSettings | None = None


class PodRecord(Struct):
    """Everything a runtime has of one pod."""

    uid: str
    name: str = ""
    namespace: str = ""
    sandbox: Sandbox | None = None
    containers: list[ContainerRecord] = field(default_factory=list)
    """The newest first."""


class PodState(Struct, frozen=True):
    """A pod's records as they were at one moment."""

    sandbox_id: str = ""
    sandbox_ready: bool = False
    address: str = ""
    containers: tuple[ContainerRecord, ...] = ()

    def newest(self, name: str) -> ContainerRecord | None:
        """The latest container of a name."""
        return next((each for each in self.containers if each.name == name), None)

    def last_exited(self, name: str) -> ContainerRecord | None:
        """The latest of a name that has ended."""
        return next((each for each in self.containers if each.name == name and each.exited), None)


NOTHING = PodState()


def state_of(record: PodRecord | None) -> PodState:
    """A copy of a pod's records."""
    if record is None:
        return NOTHING
    sandbox = record.sandbox
    return PodState(
        sandbox_id=sandbox.id if sandbox else "",
        sandbox_ready=sandbox is not None and sandbox.ready,
        address=sandbox.namespace.address if sandbox is not None and sandbox.ready else "",
        containers=tuple(replace(each) for each in record.containers),
    )
