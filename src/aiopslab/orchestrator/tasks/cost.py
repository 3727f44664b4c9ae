"""The cost task (FinOps): the bill rose for no reason; bring it down without harm."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from aiopslab.orchestrator.tasks.mitigation import MitigationTask
from simcloud.kubernetes.api import Key, Object, at, quantity

if TYPE_CHECKING:
    from aiopslab.cloud import Declared
    from aiopslab.orchestrator.oracles import Verdict

CPU_USD: Final = 0.04
"""Price of a requested CPU for an hour."""
GIB_USD: Final = 0.005
"""Price of a requested GiB of memory for an hour."""
NODE_USD: Final = 0.05
"""Price of a node for an hour, besides what is requested on it."""
TOLERANCE: Final = 0.10
"""A cost that is higher than the baseline's by at most this share is back to normal."""


def compute_cost(declared: Declared) -> float:
    """Return the cost per hour in USD of all nodes, and of what all workloads request."""
    nodes = sum(key.plural == "nodes" for key in declared)
    costs = (_count_pods(key, obj, nodes) * _compute_pod_cost(obj) for key, obj in declared.items())
    return nodes * NODE_USD + sum(costs)


def _count_pods(key: Key, obj: Object, nodes: int) -> int:
    """Return the number of pods of a workload, 0 for other objects."""
    if key.plural in ("deployments", "statefulsets"):
        return int(at(obj, "spec", "replicas", default=1))
    return nodes if key.plural == "daemonsets" else 0


def _compute_pod_cost(workload: Object) -> float:
    requests = [
        at(container, "resources", "requests", default={})
        for container in at(workload, "spec", "template", "spec", "containers", default=[])
    ]
    cpus = sum(float(quantity.parse(each.get("cpu", 0))) for each in requests)
    gibs = sum(float(quantity.parse(each.get("memory", 0))) for each in requests) / 2**30
    return cpus * CPU_USD + gibs * GIB_USD


class CostTask(MitigationTask):
    """The agent removes the cause of a cost anomaly."""

    task_type: ClassVar[str] = "finops"
    goal: ClassVar[str] = (
        "the cluster costs more than it did, although the application serves the same users. Find what is idle or oversized "
        f"and bring the cost down to at most {TOLERANCE:.0%} above what it was. The prices per hour: {CPU_USD} USD for each CPU "
        f"and {GIB_USD} USD for each GiB of memory that Deployments, StatefulSets and DaemonSets request for their pods, and "
        f"{NODE_USD} USD for each node. Users must be served as well as before; change nothing else. When you are done, submit "
        "without an answer; the state of the system is then judged."
    )

    def get_task_description(self) -> str:
        """Return the description with the costs."""
        return f"{super().get_task_description()}{self.bill}"

    @cached_property
    def bill(self) -> str:
        """The costs at the time of the first use, which is the beginning of the session; empty before the problem is staged."""
        if not hasattr(self, "environment"):
            return ""
        before, now = map(compute_cost, (self.environment.wanted, self.environment.read_declared()))
        return f"\nThe cost was {before:.2f} USD per hour, and is {now:.2f} USD per hour now.\n"

    def judge(self) -> Verdict:
        """Judge the whole system, and its cost."""
        from aiopslab.orchestrator.oracles import Finding, Verdict  # loads the cloud

        verdict = super().judge()
        before = compute_cost(self.environment.wanted)
        now = compute_cost(self.environment.read_declared())
        why = f"{now:.3f} USD per hour; it was {before:.3f}"
        cost = Finding("the cost is back to normal", now <= before * (1 + TOLERANCE), why)
        return Verdict((*verdict.findings, cost))
