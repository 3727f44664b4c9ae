"""Connections inside the world that continue at a port of a pod, like a tunnel.

Messages are passed on unchanged in any protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simcloud.kubernetes.kubelet.streams.forwards import LOOPBACK
from simcloud.machine.network import Closed, Connection, Namespace, NetworkError


class PortSplice:
    """Two connections, back to back. ``words`` makes a sentence of a failure before or after they met."""

    def __init__(
        self,
        namespace: Namespace,
        port: int,
        near: Connection,
        words: Callable[[NetworkError, bool], str],
        on_end: Callable[[str], None],
    ) -> None:
        self._namespace = namespace
        self._port = port
        self._near = near
        self._far: Connection | None = None
        self._words = words
        self._on_end = on_end
        self._ended = self._near_is_lost = False
        # The answering side uses the caller's protocol.
        near.protocol = near.peer.protocol
        self._early: list[tuple[Any, int]] = []
        self._read_bytes = near.bytes_read
        near.on_message = self._keep
        near.on_close = self._on_lost
        namespace.kernel.spawn(self._dial(), f"splice {port}")

    def close(self) -> None:
        """Hang up on both sides."""
        self._end("")

    async def _dial(self) -> None:
        try:
            far = await self._namespace.dial(LOOPBACK, self._port, self._near.protocol, owner=self)
        except NetworkError as error:
            self._end(self._words(error, False))
            return
        self._far = far
        if self._ended or self._near_is_lost:
            far.close()
            self._end("")
            return
        try:
            for message, size_bytes in self._early:
                far.send(message, size_bytes)
        except NetworkError as error:
            self._on_lost(error)
            return
        self._join(self._near, far)
        self._join(far, self._near)

    def _keep(self, message: Any) -> None:
        """What is said before the pod has answered waits here."""
        size_bytes, self._read_bytes = self._near.bytes_read - self._read_bytes, self._near.bytes_read
        self._early.append((message, size_bytes))

    def _join(self, source: Connection, target: Connection) -> None:
        passed_bytes = source.bytes_read

        def take(message: Any) -> None:
            nonlocal passed_bytes
            size_bytes, passed_bytes = source.bytes_read - passed_bytes, source.bytes_read
            try:
                target.send(message, size_bytes)
            except NetworkError as error:
                self._on_lost(error)

        source.on_message = take
        source.on_close = self._on_lost

    def _on_lost(self, error: NetworkError) -> None:
        """One side has gone: so does the other. Only what the pod did to the connection is worth a word."""
        if self._far is None:
            self._near_is_lost = True  # whether the pod takes the connection is still to be reported
            return
        orderly = isinstance(error, Closed) or not self._far.closed
        self._end("" if orderly else self._words(error, True))

    def _end(self, why: str) -> None:
        if self._ended:
            return
        self._ended = True
        for side in (self._near, self._far):
            if side is not None:
                side.close()
        self._on_end(why)
