"""Binding of a pod to its node, after its claims are bound to volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.events import SeriesRecorder
from simcloud.kubernetes.scheduler.filters import claims
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.queue import Waiting
from simcloud.kubernetes.scheduler.volumes import Plan, carry_out, is_bound, plan, undone

VOLUME_WAIT_S: Final = 600.0
VOLUME_POLL_S: Final = 1.0
_VOLUMES: Final = 'running PreBind plugin "VolumeBinding": '
_BINDING: Final = 'binding rejected: running Bind plugin "DefaultBinder": '


class Binder:
    """Binds the pods of one scheduler. ``failed`` is called for those that could not be bound, with the reason."""

    def __init__(
        self,
        client: ComponentClient,
        cache: Cache,
        recorder: SeriesRecorder,
        failed: Callable[[Waiting, str], None],
    ) -> None:
        self._client = client
        self._cache = cache
        self._recorder = recorder
        self._failed = failed
        self._pods = client.resource("pods")

    def bind(self, waiting: Waiting, node: NodeInfo) -> None:
        """Count a pod on its node and bind it there; if its claims have no volumes yet, later."""
        pod = waiting.pod
        unbound = (
            [claim for claim in claims.of_pod(pod, self._cache) if not is_bound(claim)] if pod.claims else []
        )
        planned = plan(unbound, node, self._cache) if unbound else None
        self._cache.place(pod, node.name)
        if planned is None:
            self._bind(waiting, node.name)
            return
        self._announce(pod, node.name)
        try:
            carry_out(planned, node.name, self._client)
        except ApiError as error:
            self._failed(waiting, f"{_VOLUMES}{error}")
            return
        task = f"kube-scheduler.bind.{pod.uid}"
        self._client.api.kernel.spawn(self._await_volumes(waiting, planned, node), task)

    def _announce(self, pod: PodInfo, node: str) -> None:
        """Tell where the pod is going to be, for as long as its volumes take."""
        try:
            self._client.edit(pod.pod, lambda obj: obj["status"].update(nominatedNodeName=node), "status")
        except ApiError:
            # It only informs; the binding itself tells what is wrong.
            return

    async def _await_volumes(self, waiting: Waiting, planned: Plan, node: NodeInfo) -> None:
        kernel, pod = self._client.api.kernel, waiting.pod
        deadline = kernel.now + VOLUME_WAIT_S
        while True:
            await kernel.sleep(VOLUME_POLL_S)
            problem = self._check_gone(pod) or undone(planned, node, self._client)
            if not problem and planned.is_done(self._client):
                break
            if not problem and kernel.now >= deadline:
                problem = "context deadline exceeded"
            if problem:
                self._failed(waiting, f"{_VOLUMES}binding volumes: {problem}")
                return
        self._bind(waiting, node.name)

    def _check_gone(self, pod: PodInfo) -> str:
        if self._client.refresh(pod.pod) is not None:
            return ""
        return f'pod does not exist any more: pod "{pod.name}" not found'

    def _bind(self, waiting: Waiting, node: str) -> None:
        pod = waiting.pod
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "target": {"kind": "Node", "name": node},
        }
        try:
            self._client.api.subresource(
                "create", self._pods, pod.namespace, pod.name, "binding", binding, self._client.caller
            )
        except ApiError as error:
            self._failed(waiting, f"{_BINDING}{error}")
            return
        message = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        self._recorder.event(pod.pod, "Normal", "Scheduled", "Binding", message)
