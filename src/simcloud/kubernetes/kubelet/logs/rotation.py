"""Log rotation: the kubelet checks the log files of its containers every ten seconds."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from simcloud.kubernetes.kubelet.containerd import ContainerRuntime
from simcloud.kubernetes.kubelet.logs.files import FollowedLog
from simcloud.machine.files import FileError
from simcloud.sim import Task

LOOK_S: Final = 10.0


class LogRotation:
    """Watches over the sizes of a node's logs."""

    def __init__(self, runtime: ContainerRuntime) -> None:
        self._runtime = runtime

    def begin(self, spawn: Callable[[Coroutine[Any, Any, Any], str], Task[Any]]) -> None:
        """The kubelet starts."""
        spawn(self._watch(), "log rotation")

    async def _watch(self) -> None:
        while True:
            await self._runtime.machine.kernel.sleep(LOOK_S)
            for log in self._logs():
                try:
                    log.look_after()
                except FileError:
                    continue  # a disk that is full or broken: it is tried again

    def _logs(self) -> list[FollowedLog]:
        running = (
            each.container for pod in self._runtime.pods.values() for each in pod.containers if each.running
        )
        logs = (container.log for container in running if container is not None)
        return [log for log in logs if isinstance(log, FollowedLog)]
