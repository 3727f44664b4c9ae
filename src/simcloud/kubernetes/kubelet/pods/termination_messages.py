"""Termination messages of containers: from their file, or the end of their log."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.logs.files import FollowedLog
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.pods.container_start import TERMINATION_LOG
from simcloud.kubernetes.kubelet.pods.parts import Part, find_part
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.machine.files import FileError

MESSAGE_BYTES: Final = 4096
LOG_BYTES: Final = 2048
LOG_LINES: Final = 80


def hear_last_words(node: Node, pod: Object) -> None:
    """Fill in the messages of containers that ended since the last time."""
    live = node.runtime.pods.get(pod["metadata"]["uid"])
    for record in live.containers if live is not None else ():
        if record.exited and not record.heard:
            record.heard = True
            part = find_part(pod, record.name)
            if part is not None and not record.message:
                record.message = _words(part, record)


def _words(part: Part, record: ContainerRecord) -> str:
    container = record.container
    if container is None:
        return ""
    try:
        data = container.files.read(part.spec.get("terminationMessagePath") or TERMINATION_LOG)
    except FileError:
        data = b""
    text = data[:MESSAGE_BYTES].decode("utf-8", "replace")
    fallback = part.spec.get("terminationMessagePolicy") == "FallbackToLogsOnError"
    if text or not fallback or record.exit_code == 0 or not isinstance(container.log, FollowedLog):
        return text
    lines = [entry.text + b"\n" for entry in container.log.entries()[-LOG_LINES:]]
    return b"".join(lines)[-LOG_BYTES:].decode("utf-8", "replace")
