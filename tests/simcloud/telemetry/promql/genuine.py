"""A genuine Prometheus with our samples in it, asked over HTTP.

Samples go in by remote write, because that is the only way in for a staleness marker.
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simcloud.telemetry.metrics import MetricStore, Series
from tests.genuine import answer

HOME = "/prometheus"
"""The folder of the rules, as it appears in responses."""
PATIENCE_S = 300.0
PER_WRITE_MS = 300_000

Parameters = dict[str, list[str]]


class Prometheus:
    """A server with our samples and rules, that is started when there is no recording of what it answers."""

    def __init__(self, home: Path, rules: str) -> None:
        self._home = home
        self._rules = rules
        self._writes: list[bytes] = []
        self._running: _Running | None = None

    def ask(self, path: str, parameters: Parameters) -> dict[str, Any]:
        """The document that a path below ``/api/v1/`` answers with, errors too."""
        question = f"{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        response = answer(
            urllib.parse.unquote_plus(question),
            [question, self._rules, self._writes],
            lambda: compact(self._server().ask(question)),
        )
        return whole(response)

    def ask_for_rules(self, parameters: Parameters) -> dict[str, Any]:
        """The same of its rules, once they are read."""
        question = f"rules?{urllib.parse.urlencode(parameters, doseq=True)}"

        def ask() -> dict[str, Any]:
            deadline = time.monotonic() + PATIENCE_S
            while not self._server().ask("rules")["data"]["groups"]:
                assert time.monotonic() < deadline, "no rules were read"
                time.sleep(0.05)
            document = json.dumps(self._server().ask(question))
            response: dict[str, Any] = json.loads(document.replace(str(self._home), HOME))
            return response

        response: dict[str, Any] = answer(question, [question, self._rules, "read"], ask)
        return response

    def load(self, store: MetricStore) -> None:
        """Write all samples of a store, the oldest of all series first."""
        series = store.select([])
        first_ms = min(s.base_ms for s in series)
        last_ms = max(s.last_ms for s in series)
        for start_ms in range(first_ms, last_ms + 1, PER_WRITE_MS):
            end_ms = start_ms + PER_WRITE_MS
            self._writes.append(b"".join(_field(1, _timeseries(s, start_ms, end_ms)) for s in series))

    def stop(self) -> None:
        """End the server, if it was started."""
        if self._running is not None:
            self._running.stop()

    def _server(self) -> _Running:
        if self._running is None:
            self._running = _Running(self._home, self._rules)
            for body in self._writes:
                self._running.write(body)
        return self._running


class _Running:
    """The process, on a free port of this machine."""

    def __init__(self, home: Path, rules: str) -> None:
        (home / "rules.yml").write_text(rules)
        (home / "prometheus.yml").write_text("rule_files: [rules.yml]\n")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._address = f"127.0.0.1:{free.getsockname()[1]}"
        with (home / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={home}/prometheus.yml",
                    f"--storage.tsdb.path={home}/data",
                    "--storage.tsdb.retention.time=100y",
                    "--web.enable-remote-write-receiver",
                    f"--web.listen-address={self._address}",
                ],
                stdout=log,
                stderr=log,
            )
        _wait_until_ready(self._process, self._address, home / "log")

    def ask(self, question: str) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(
                f"http://{self._address}/api/v1/{question}", timeout=PATIENCE_S
            ) as reply:
                document: dict[str, Any] = json.load(reply)
        except urllib.error.HTTPError as refusal:
            document = json.load(refusal)
        return document

    def write(self, body: bytes) -> None:
        request = urllib.request.Request(
            f"http://{self._address}/api/v1/write",
            data=_snappy(body),
            headers={"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"},
        )
        urllib.request.urlopen(request, timeout=PATIENCE_S).close()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)


@contextmanager
def prometheus(home: Path, rules: str = "") -> Iterator[Prometheus]:
    """A server for as long as the block runs; ``rules`` is a file of them."""
    server = Prometheus(home, rules)
    try:
        yield server
    finally:
        server.stop()


def compact(document: dict[str, Any]) -> dict[str, Any]:
    """An answer over a range with each series' values in one string: a range has many."""
    data = document.get("data")
    if not isinstance(data, dict) or data.get("resultType") != "matrix":
        return document
    rows = []
    for row in data["result"]:
        times, values = zip(*row["values"], strict=True)
        rows.append({"metric": row["metric"], "times": _as_spans(times), "values": " ".join(values)})
    return {**document, "data": {"resultType": "matrix", "result": rows}}


def whole(document: dict[str, Any]) -> dict[str, Any]:
    """The answer that was made compact."""
    data = document.get("data")
    if not isinstance(data, dict) or data.get("resultType") != "matrix":
        return document
    rows = []
    for row in data["result"]:
        times = [first + step * place for first, step, count in row["times"] for place in range(count)]
        values = row["values"].split(" ")
        rows.append({"metric": row["metric"], "values": [list(at) for at in zip(times, values, strict=True)]})
    return {**document, "data": {"resultType": "matrix", "result": rows}}


def _as_spans(times: Sequence[float]) -> list[list[float]]:
    """Times as spans of equal steps: first, step, how many."""
    spans: list[list[float]] = []
    for at in times:
        if spans and spans[-1][2] == 1:
            spans[-1][1:] = [at - spans[-1][0], 2]
        elif spans and spans[-1][0] + spans[-1][1] * spans[-1][2] == at:
            spans[-1][2] += 1
        else:
            spans.append([at, 0, 1])
    return spans


def _wait_until_ready(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://{address}/-/ready", timeout=PATIENCE_S).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"Prometheus did not start: {log.read_text()}")


def _timeseries(series: Series, start_ms: int, end_ms: int) -> bytes:
    labels = b"".join(
        _field(1, _field(1, name.encode()) + _field(2, value.encode())) for name, value in series.labels
    )
    first, last = series.index_from(start_ms), series.index_from(end_ms)
    samples = zip(series.times[first:last], series.values[first:last], strict=True)
    return labels + b"".join(
        _field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + _varint(series.base_ms + time))
        for time, value in samples
    )


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _snappy(content: bytes) -> bytes:
    """Snappy's format without any compression: literals only."""
    out = bytearray(_varint(len(content)))
    for start in range(0, len(content), 65_536):
        piece = content[start : start + 65_536]
        out += bytes([61 << 2]) + struct.pack("<H", len(piece) - 1) + piece
    return bytes(out)
