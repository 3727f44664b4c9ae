"""The table of pods, with the status that summarizes their containers."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import (
    Cells,
    age,
    condition,
    containers,
    count,
    items,
    labels,
    name,
    part,
    seconds,
    text,
)
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table, wide

_DONE = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def _conditions(pod: Object) -> list[Object]:
    phase = part(pod, "status").get("phase")
    if phase not in _DONE:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _DONE[phase]}]


@table(
    "",
    "Pod",
    NAME,
    Column("Ready", "The aggregate readiness state of this pod for accepting traffic."),
    Column("Status", "The aggregate status of the containers in this pod."),
    Column(
        "Restarts",
        "The number of times the containers in this pod have been restarted and when the last container"
        " in this pod has restarted.",
    ),
    AGE,
    wide("IP", of="core.v1.PodStatus.podIP"),
    wide("Node", of="core.v1.PodSpec.nodeName"),
    wide("Nominated Node", of="core.v1.PodStatus.nominatedNodeName"),
    wide("Readiness Gates", of="core.v1.PodSpec.readinessGates"),
    conditions=_conditions,
)
def pod(obj: Object, now_s: float) -> Cells:
    """A pod's row."""
    spec, status = part(obj, "spec"), part(obj, "status")
    shown = _Summary(obj, spec, status)
    addresses = items(status, "podIPs")
    return [
        name(obj),
        f"{shown.ready}/{shown.total}",
        shown.reason,
        shown.restarts.format_count(now_s),
        age(obj, now_s),
        (addresses[0].get("ip") if addresses else "") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        _gates(items(spec, "readinessGates"), items(status, "conditions")),
    ]


@table(
    "",
    "PodTemplate",
    NAME,
    Column("Containers", "Names of each container in the template."),
    Column("Images", "Images referenced by each container in the template."),
    Column("Pod Labels", "The labels for the pod template."),
)
def pod_template(obj: Object, now_s: float) -> Cells:
    """A pod template's row."""
    template = part(obj, "template")
    return [name(obj), *containers(template), labels(part(template, "metadata").get("labels"))]


class _Restarts:
    """How often containers were restarted, and when last."""

    def __init__(self) -> None:
        self.count = 0
        self.last_s: float | None = None

    def add(self, status: Object) -> None:
        """Add those of one container."""
        self.count += count(status, "restartCount")
        ended_s = seconds(part(status, "lastState", "terminated").get("finishedAt"))
        if ended_s is not None and (self.last_s is None or ended_s > self.last_s):
            self.last_s = ended_s

    def format_count(self, now_s: float) -> str:
        """``3``, or ``3 (5m ago)`` where the time is known."""
        if not self.count or self.last_s is None:
            return str(self.count)
        return f"{self.count} ({times.human_duration(now_s - self.last_s)} ago)"


class _Summary:
    """Readiness, reason and restarts of a pod, from its init containers and then its containers."""

    def __init__(self, obj: Object, spec: Object, status: Object) -> None:
        init_specs = items(spec, "initContainers")
        self.sidecars = [
            container.get("name") for container in init_specs if container.get("restartPolicy") == "Always"
        ]
        self.steps = len(init_specs)
        self.total = len(items(spec, "containers")) + len(self.sidecars)
        self.ready = 0
        self.restarts = _Restarts()
        self.conditions = items(status, "conditions")
        self.reason = self._first_reason(status)
        of_sidecars = _Restarts()
        initializing = self._initialize(items(status, "initContainerStatuses"), of_sidecars)
        initialized = condition(self.conditions, "Initialized")
        if not initializing or (initialized and initialized.get("status") == "True"):
            self.restarts = of_sidecars
            self._run(items(status, "containerStatuses"))
        if part(obj, "metadata").get("deletionTimestamp"):
            if status.get("reason") == "NodeLost":
                self.reason = "Unknown"
            elif status.get("phase") not in _DONE:
                self.reason = "Terminating"

    def _first_reason(self, status: Object) -> str:
        gated = any(
            condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated"
            for condition in self.conditions
        )
        return "SchedulingGated" if gated else status.get("reason") or text(status, "phase")

    def _initialize(self, statuses: list[Object], of_sidecars: _Restarts) -> bool:
        """Count the init containers; whether one of them is not done yet."""
        for index, status in enumerate(statuses):
            sidecar = status.get("name") in self.sidecars
            self.restarts.add(status)
            if sidecar:
                of_sidecars.add(status)
            state = part(status, "state")
            ended, waiting = state.get("terminated"), part(state, "waiting").get("reason")
            if ended is not None and not ended.get("exitCode"):
                continue
            if sidecar and status.get("started"):
                self.ready += bool(status.get("ready"))
                continue
            if ended is not None:
                self.reason = f"Init:{_termination_reason(ended)}"
            elif waiting and waiting != "PodInitializing":
                self.reason = f"Init:{waiting}"
            else:
                self.reason = f"Init:{index}/{self.steps}"
            return True
        return False

    def _run(self, statuses: list[Object]) -> None:
        """Count the containers; the first one's reason is the pod's."""
        running, failure = False, ""
        for status in reversed(statuses):
            self.restarts.add(status)
            state = part(status, "state")
            ended, waiting = state.get("terminated"), part(state, "waiting").get("reason")
            if waiting:
                self.reason = waiting
            elif ended is not None:
                self.reason = _termination_reason(ended)
                if ended.get("exitCode"):
                    failure = self.reason
            elif status.get("ready") and state.get("running") is not None:
                running = True
                self.ready += 1
        if self.reason == "Completed":
            self.reason = self._still(running, failure)

    def _still(self, running: bool, failure: str) -> str:
        """The reason of a pod of which a container has completed."""
        ready = condition(self.conditions, "Ready")
        if running and ready and ready.get("status") == "True":
            return "Running"
        return failure or ("NotReady" if running else "Completed")


def _termination_reason(state: Object) -> str:
    if state.get("reason"):
        return str(state["reason"])
    if state.get("signal"):
        return f"Signal:{state['signal']}"
    return f"ExitCode:{count(state, 'exitCode')}"


def _gates(gates: list[Any], conditions: list[Object]) -> str:
    if not gates:
        return "<none>"
    met = 0
    for gate in gates:
        found = condition(conditions, text(gate, "conditionType"))
        met += bool(found and found.get("status") == "True")
    return f"{met}/{len(gates)}"
