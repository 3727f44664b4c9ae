"""The store of log lines by stream, limited in age and bytes.

A stream is what one container wrote to one of its outputs. Its labels are the ones that Promtail gives:
namespace, pod, container, node_name, app, job, filename, stream. ``add`` is one list append, because every
line of every container passes through it; lines are sorted into their streams when they are queried, or in bulk.

Above the limit of bytes the oldest lines of all streams are dropped, a quarter at once. A stream without lines is
removed. The store is in memory only; the files of the machines have another copy.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from simcloud.machine import Labels, LogLine
from simcloud.telemetry.metrics.matchers import Matcher

_PENDING: Final = 8192
_LINE_BYTES: Final = 64
"""What a line costs besides its text."""

_STREAM_BYTES: Final = 2048
SECOND_NS: Final = 1_000_000_000
EARLIEST_NS: Final = -(2**62)
LATEST_NS: Final = 2**62


class LogRetention(Struct, frozen=True):
    """Maximum age and bytes of stored lines."""

    age_s: float = 60 * 24 * 3600.0
    limit_bytes: int = 256 * 1024 * 1024


class LogStream:
    """The lines of one set of labels, in the order of time: three columns.

    ``numbers`` count the lines of all streams as they came: much happens at one instant of virtual time.
    """

    __slots__ = ("labels", "numbers", "texts", "times_ns")

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.times_ns = array("q")
        self.numbers = array("Q")
        self.texts: list[str] = []

    def __len__(self) -> int:
        return len(self.texts)

    def append(self, time_ns: int, number: int, text: str) -> None:
        """One more line. A clock that was set back puts it among older ones."""
        if self.times_ns and time_ns < self.times_ns[-1]:
            place = bisect_right(self.times_ns, time_ns)
            self.times_ns.insert(place, time_ns)
            self.numbers.insert(place, number)
            self.texts.insert(place, text)
        else:
            self.times_ns.append(time_ns)
            self.numbers.append(number)
            self.texts.append(text)

    def between(self, start_ns: int, end_ns: int) -> range:
        """Return the places of the lines from one time on and before another."""
        return range(bisect_left(self.times_ns, start_ns), bisect_left(self.times_ns, end_ns))

    def drop_before(self, time_ns: int) -> int:
        """Forget what is older. Returns how many bytes that were."""
        count = bisect_left(self.times_ns, time_ns)
        freed = sum(map(cost_bytes, self.texts[:count]))
        del self.times_ns[:count]
        del self.numbers[:count]
        del self.texts[:count]
        return freed


class LogStore:
    """Lines of many streams."""

    def __init__(self, retention: LogRetention = LogRetention()) -> None:
        self.retention = retention
        self._pending: list[LogLine] = []
        self._streams: dict[Labels, LogStream] = {}
        self._outputs: dict[tuple[Labels, str, str], LogStream] = {}
        self._bytes = 0
        self._newest_ns = EARLIEST_NS
        self._settled = 0

    def add(self, line: LogLine) -> None:
        """One more line."""
        self._pending.append(line)
        if len(self._pending) >= _PENDING:
            self.settle()

    def __len__(self) -> int:
        """Return the number of lines."""
        self.settle()
        return sum(len(stream) for stream in self._streams.values())

    @property
    def bytes(self) -> int:
        """How much memory the lines take, about."""
        self.settle()
        return self._bytes

    def streams(self) -> list[LogStream]:
        """Return every stream, sorted by its labels."""
        self.settle()
        return [self._streams[labels] for labels in sorted(self._streams)]

    def select(self, matchers: Sequence[Matcher]) -> list[LogStream]:
        """Return the streams that fulfil all conditions, sorted by their labels."""
        tests = [(matcher.name, matcher.accepts) for matcher in matchers]
        labelled = ((stream, dict(stream.labels)) for stream in self.streams())
        return [
            stream
            for stream, labels in labelled
            if all(accepts(labels.get(name, "")) for name, accepts in tests)
        ]

    def records(
        self, start_ns: int = EARLIEST_NS, end_ns: int = LATEST_NS
    ) -> Iterator[tuple[int, Labels, str]]:
        """Yield every line from one time on and before another, stream by stream: time, labels, text."""
        for stream in self.streams():
            for index in stream.between(start_ns, end_ns):
                yield stream.times_ns[index], stream.labels, stream.texts[index]

    def settle(self) -> None:
        """Sort new lines into their streams, and drop what is too old or too much."""
        lines, self._pending = self._pending, []
        if not lines:
            return
        for number, (time, source, output, text, origin) in enumerate(lines, self._settled):
            stream = self._outputs.get((origin, source, output))
            if stream is None:
                stream = self._open(origin, source, output)
            if not text.isascii():  # half a character becomes a mark, as it does in the genuine one
                text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            time_ns = nanoseconds(time)
            stream.append(time_ns, number, text)
            self._bytes += cost_bytes(text)
            self._newest_ns = max(self._newest_ns, time_ns)
        self._settled += len(lines)
        self._drop_before(self._newest_ns - round(self.retention.age_s * SECOND_NS))
        if self._bytes > self.retention.limit_bytes:
            self._drop_before(self._oldest_affordable())

    def _open(self, origin: Labels, source: str, output: str) -> LogStream:
        pairs = origin or (("container", source),)
        labels = tuple(sorted((*pairs, ("stream", output))))
        stream = self._streams.get(labels)
        if stream is None:
            stream = self._streams[labels] = LogStream(labels)
            self._bytes += _STREAM_BYTES
        self._outputs[origin, source, output] = stream
        return stream

    def _oldest_affordable(self) -> int:
        """Return the time from which on all lines take three quarters of what they may."""
        lines = [
            pair
            for stream in self._streams.values()
            for pair in zip(stream.times_ns, stream.texts, strict=True)
        ]
        lines.sort(key=lambda pair: pair[0], reverse=True)
        room = self.retention.limit_bytes * 3 // 4
        for time_ns, text in lines:
            room -= cost_bytes(text)
            if room < 0:
                return time_ns + 1
        return EARLIEST_NS

    def _drop_before(self, time_ns: int) -> None:
        emptied = []
        for stream in self._streams.values():
            if stream.times_ns and stream.times_ns[0] < time_ns:
                self._bytes -= stream.drop_before(time_ns)
                if not stream:
                    emptied.append(stream.labels)
        for labels in emptied:
            del self._streams[labels]
            self._bytes -= _STREAM_BYTES
        if emptied:
            self._outputs = {
                key: stream for key, stream in self._outputs.items() if stream.labels in self._streams
            }


def cost_bytes(text: str) -> int:
    """Estimate the memory of a stored line."""
    return len(text) + _LINE_BYTES


def nanoseconds(time_s: float) -> int:
    """Return a time as whole nanoseconds, rounded as the stamps in log files are."""
    second = int(time_s)
    return second * SECOND_NS + int((time_s - second) * 1e9)
