"""Who calls whom, and how every workload fares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aiopslab.orchestrator.actions.base import ActionsBase, check_minutes, in_words, stamp
from aiopslab.orchestrator.actions.bounds import head
from aiopslab.orchestrator.actions.registry import action
from aiopslab.orchestrator.actions.tables import aligned
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.tables.pods import pod as pod_row
from simcloud.telemetry.call_tree import AGAIN, call_tree
from simcloud.telemetry.workloads import pods_by_workload, workloads

LISTED: Final = {
    "deployments": "apps", "statefulsets": "apps", "daemonsets": "apps", "replicasets": "apps", "pods": "",
}  # fmt: skip
LOOKBACK_MINUTES: Final = 2


class TopologyActions(ActionsBase):
    """Looking at the whole."""

    @action
    def get_topology(self, namespace: str, minutes: float = LOOKBACK_MINUTES) -> str:
        """
        Shows who calls whom in a namespace, from the front door down: requests per second, the share that failed, and
        latencies, seen in traces; then the state of every workload, and Services that nobody stands behind.

        Args:
            namespace (str): The namespace that the problem names, or another one such as "kube-system".
            minutes (float): Over how many minutes up to now the calls are counted.

        Returns:
            str: A tree of calls and a table of workloads.
        """
        self._check_namespace(namespace)
        check_minutes(minutes, "minutes")
        lines = (
            self._calls(namespace, minutes) + self._workloads(namespace) + self._without_endpoints(namespace)
        )
        return head(lines, f'The rest: exec_shell("kubectl get deploy,sts,ds,svc,endpoints -n {namespace}")')

    def _calls(self, namespace: str, minutes: float) -> list[str]:
        own = self.environment.namespace
        if namespace != own:
            return [f"No service of {namespace!r} sends traces; those of the application are in {own!r}."]
        found = self.environment.monitoring.topology.document(minutes * 60)
        if not found["services"]:
            return [f"No request was traced in the last {in_words(minutes)}: none reached a service."]
        table = [["SERVICE", "REQUESTS/S", "FAILED", "P50", "P99"]]
        for guide, service, figures, is_again in call_tree(found["services"], found["calls"]):
            table.append(
                [
                    f"{guide}{service}{AGAIN if is_again else ''}",
                    f"{figures['rate']:.2f}",
                    f"{figures['error_share']:.1%}",
                    *(f"{figures[name] * 1000:.1f}ms" for name in ("p50_s", "p99_s")),
                ]
            )
        return [f"Calls of the last {in_words(minutes)} up to {stamp(self._now_s())}:", *aligned(table)]

    def _workloads(self, namespace: str) -> list[str]:
        items = {plural: self._log.objects(group, plural, namespace) for plural, group in LISTED.items()}
        table = [["WORKLOAD", "KIND", "READY", "RESTARTS", "STATE"]]
        pods = pods_by_workload(items)
        for one in workloads(items):
            troubles = self._troubles(pods.get((namespace, one["kind"], one["name"]), ()))
            told = "; ".join(troubles) or ("ok" if one["desired"] else "scaled to 0")
            if one["ready"] < one["desired"] and not troubles:
                told = "not all ready"
            ready = f"{one['ready']}/{one['desired']}"
            table.append([one["name"], one["kind"], ready, str(one["restarts"]), told])
        return ["", "Workloads:", *aligned(table)] if len(table) > 1 else ["", "There are no workloads."]

    def _troubles(self, pods: Sequence[Object]) -> list[str]:
        """What is wrong with pods, in the words that kubectl has for it."""
        found: dict[str, None] = {}
        for one in pods:
            _, ready, status, *_ = pod_row(one, self._now_s())
            has, _, wants = str(ready).partition("/")
            if status not in ("Running", "Completed") or (status == "Running" and has != wants):
                found[f"{status}, not ready" if status == "Running" else str(status)] = None
        return list(found)

    def _without_endpoints(self, namespace: str) -> list[str]:
        """Services whose selector finds no pod that is ready."""
        behind: dict[str, bool] = {}
        for piece in self._log.objects("discovery.k8s.io", "endpointslices", namespace):
            service = at(piece, "metadata", "labels", "kubernetes.io/service-name", default="")
            ready = any(at(one, "conditions", "ready", default=True) for one in piece.get("endpoints") or ())
            behind[service] = behind.get(service, False) or ready
        empty = [name for name, ready in sorted(behind.items()) if name and not ready]
        return ["", f"Services without a ready pod behind them: {', '.join(empty)}"] if empty else []
