"""The call graph of services, and the state of every workload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aiopslab.orchestrator.actions.environment_actions import (
    ActionsBase,
    check_minutes,
    format_minutes,
    format_time,
)
from aiopslab.orchestrator.actions.observations import align_rows, format_head
from aiopslab.orchestrator.actions.registry import action
from simcloud.kubernetes.api import Object, at
from simcloud.kubernetes.api.tables import pod as pod_row
from simcloud.telemetry import AGAIN, build_call_tree, list_workloads, pods_by_workload

LISTED: Final = {
    "deployments": "apps", "statefulsets": "apps", "daemonsets": "apps", "replicasets": "apps", "pods": "",
}  # fmt: skip
LOOKBACK_MINUTES: Final = 2


class TopologyActions(ActionsBase):
    """Actions on the whole application."""

    @action
    def get_topology(self, namespace: str, minutes: float = LOOKBACK_MINUTES) -> str:
        """
        Shows the call tree of the services in a namespace, from the entry point down, with requests per second, share of
        failures and latencies from traces; then the state of every workload, and Services without ready pods.

        Args:
            namespace (str): The namespace given in the problem, or another such as "kube-system".
            minutes (float): Number of minutes up to now in which calls are counted.

        Returns:
            str: A tree of calls and a table of workloads.
        """
        self._check_namespace(namespace)
        check_minutes(minutes, "minutes")
        lines = (
            self._format_calls(namespace, minutes)
            + self._format_workloads(namespace)
            + self._format_empty_services(namespace)
        )
        return format_head(
            lines, f'The rest: exec_shell("kubectl get deploy,sts,ds,svc,endpoints -n {namespace}")'
        )

    def _format_calls(self, namespace: str, minutes: float) -> list[str]:
        own = self.environment.namespace
        if namespace != own:
            return [f"No service of {namespace!r} sends traces; those of the application are in {own!r}."]
        missing = self.environment.refresh()
        found = self.environment.monitoring.topology.document(minutes * 60)
        if not found["services"]:
            why = missing or "none reached a service."
            return [f"No request was traced in the last {format_minutes(minutes)}: {why}"]
        table = [["SERVICE", "REQUESTS/S", "FAILED", "P50", "P99"]]
        for guide, service, figures, is_again in build_call_tree(found["services"], found["calls"]):
            table.append(
                [
                    f"{guide}{service}{AGAIN if is_again else ''}",
                    f"{figures['rate']:.2f}",
                    f"{figures['error_share']:.1%}",
                    *(f"{figures[name] * 1000:.1f}ms" for name in ("p50_s", "p99_s")),
                ]
            )
        title = f"Calls of the last {format_minutes(minutes)} up to {format_time(self._get_now_s())}:"
        return [title, *align_rows(table), *([f"Newer calls are missing: {missing}"] if missing else [])]

    def _format_workloads(self, namespace: str) -> list[str]:
        items = {plural: self._log.objects(group, plural, namespace) for plural, group in LISTED.items()}
        table = [["WORKLOAD", "KIND", "READY", "RESTARTS", "STATE"]]
        pods = pods_by_workload(items)
        for workload in list_workloads(items):
            name, kind = workload["name"], workload["kind"]
            problems = self._find_pod_problems(pods.get((namespace, kind, name), ()))
            state = "; ".join(problems) or ("ok" if workload["desired"] else "scaled to 0")
            if workload["ready"] < workload["desired"] and not problems:
                state = "not all ready"
            ready = f"{workload['ready']}/{workload['desired']}"
            table.append([name, kind, ready, str(workload["restarts"]), state])
        return ["", "Workloads:", *align_rows(table)] if len(table) > 1 else ["", "There are no workloads."]

    def _find_pod_problems(self, pods: Sequence[Object]) -> list[str]:
        """Return the distinct problems of pods, in kubectl's words."""
        found: dict[str, None] = {}
        for pod in pods:
            _, ready, status, *_ = pod_row(pod, self._get_now_s())
            ready_count, _, total = str(ready).partition("/")
            if status not in ("Running", "Completed") or (status == "Running" and ready_count != total):
                found[f"{status}, not ready" if status == "Running" else str(status)] = None
        return list(found)

    def _format_empty_services(self, namespace: str) -> list[str]:
        """Return a line on the Services without ready pods, if any."""
        has_ready: dict[str, bool] = {}
        for endpoint_slice in self._log.objects("discovery.k8s.io", "endpointslices", namespace):
            service = at(endpoint_slice, "metadata", "labels", "kubernetes.io/service-name", default="")
            endpoints = endpoint_slice.get("endpoints") or ()
            ready = any(at(endpoint, "conditions", "ready", default=True) for endpoint in endpoints)
            has_ready[service] = has_ready.get(service, False) or ready
        empty = [name for name, ready in sorted(has_ready.items()) if name and not ready]
        return ["", f"Services without ready pods: {', '.join(empty)}"] if empty else []
