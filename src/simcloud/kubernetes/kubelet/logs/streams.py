"""Logs for clients: the last lines, from a time on, followed, with timestamps."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.kubernetes.api.errors import ApiError, BadRequest
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.runtime import LogOptions
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.kubelet.logs.files import Entry, FollowedLog
from simcloud.kubernetes.kubelet.pods.parts import STATUSES
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.sim import Kernel


class ContainerLogStream:
    """One client's reading of a log. The first data comes after the present instant."""

    def __init__(
        self,
        kernel: Kernel,
        options: LogOptions,
        now_s: float,
        record: ContainerRecord | None,
        missing: str = "",
    ) -> None:
        self.on_data: Callable[[bytes], None] | None = None
        self.on_end: Callable[[], None] | None = None
        self._options = options
        self._left = options.limit_bytes
        self._record = record
        self._missing = missing
        self._since_s = _since(options, now_s)
        self._ended = False
        self._stop: Callable[[], None] = lambda: None
        self._kernel = kernel
        kernel.call_later(0.0, self._begin)

    def stop(self) -> None:
        """The reader has gone."""
        self._ended = True
        self._stop()

    def _begin(self, _: object) -> None:
        if self._ended:
            return
        log = self._log()
        if log is None:
            self._give(self._missing.encode())
            self._end()
            return
        entries = log.entries()
        chosen = [each for each in entries if each.time_s >= self._since_s] if self._since_s else entries
        if self._options.tail_lines is not None:
            chosen = chosen[-self._options.tail_lines :] if self._options.tail_lines else []
        self._give(b"".join(self._line(each) for each in chosen))
        if self._ended:
            return
        if not self._options.follow or self._record is None or not self._record.running:
            self._end()
            return
        self._stop = log.follow(self._more)
        if self._record.process is not None:
            self._kernel.spawn(self._wait(self._record), "log follower")

    def _log(self) -> FollowedLog | None:
        container = self._record.container if self._record is not None else None
        found = container.log if container is not None else None
        return found if isinstance(found, FollowedLog) else None

    async def _wait(self, record: ContainerRecord) -> None:
        if record.process is not None:
            await record.process.wait()
        self._end()

    def _more(self, entry: Entry) -> None:
        if not self._ended:
            self._give(self._line(entry))

    def _line(self, entry: Entry) -> bytes:
        stamp = f"{entry.stamp} ".encode() if self._options.timestamps else b""
        return stamp + entry.text + b"\n"

    def _give(self, data: bytes) -> None:
        if self._left is not None:
            data = data[: self._left]
            self._left -= len(data)
        if data and self.on_data is not None:
            self.on_data(data)
        if self._left == 0:
            self._end()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._stop()
            if self.on_end is not None:
                self.on_end()


def _since(options: LogOptions, now_s: float) -> float:
    if options.since_s is not None:
        return now_s - options.since_s
    if options.since_time:
        try:
            return parse(options.since_time)
        except ValueError:
            raise BadRequest(f"unable to parse sinceTime {options.since_time}") from None
    return 0.0


def log_container_id(pod: Object, status: Object, options: LogOptions) -> str:
    """The id of the container whose log is meant. ``BadRequest`` when there is none."""
    name, pod_name = options.container, pod["metadata"]["name"]
    found = None
    for field in STATUSES.values():
        found = next((each for each in status.get(field) or () if each["name"] == name), found)
    if found is None:
        raise BadRequest(f'container "{name}" in pod "{pod_name}" is not available')
    state, last = found["state"], (found.get("lastState") or {}).get("terminated")
    if options.previous:
        if last is None:
            raise BadRequest(f'previous terminated container "{name}" in pod "{pod_name}" not found')
        return str(last["containerID"])
    if "running" in state:
        return str(found["containerID"])
    if "terminated" in state:
        return str(state["terminated"]["containerID"])
    if last is not None:
        return str(last["containerID"])
    reason = state["waiting"]["reason"]
    words = {
        "ErrImagePull": "trying and failing to pull image",
        "ImagePullBackOff": "image can't be pulled",
    }.get(reason, reason)
    raise BadRequest(f'container "{name}" in pod "{pod_name}" is waiting to start: {words}')


class NoBackend(ApiError):
    """The kubelet of the pod's node does not answer."""

    code, reason = 500, ""
