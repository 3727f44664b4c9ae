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

PATIENCE_S = 300.0
PER_WRITE_MS = 300_000

Parameters = dict[str, list[str]]


class Prometheus:
    """A running server."""

    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, path: str, parameters: Parameters) -> dict[str, Any]:
        """The document that a path below ``/api/v1/`` answers with, errors too."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                document: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as refusal:
            document = json.load(refusal)
        return document

    def load(self, store: MetricStore) -> None:
        """Write all samples of a store, the oldest of all series first."""
        series = store.select([])
        first_ms = min(s.base_ms for s in series)
        last_ms = max(s.last_ms for s in series)
        for start_ms in range(first_ms, last_ms + 1, PER_WRITE_MS):
            self._write(series, start_ms, start_ms + PER_WRITE_MS)

    def _write(self, series: Sequence[Series], start_ms: int, end_ms: int) -> None:
        body = b"".join(_field(1, _timeseries(s, start_ms, end_ms)) for s in series)
        request = urllib.request.Request(
            f"http://{self.address}/api/v1/write",
            data=_snappy(body),
            headers={"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"},
        )
        urllib.request.urlopen(request, timeout=PATIENCE_S).close()


@contextmanager
def prometheus(home: Path, rules: str = "") -> Iterator[Prometheus]:
    """A server on a free port of this machine, for as long as the block runs; ``rules`` is a file of them."""
    (home / "rules.yml").write_text(rules)
    (home / "prometheus.yml").write_text("rule_files: [rules.yml]\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={home}/prometheus.yml",
                f"--storage.tsdb.path={home}/data",
                "--storage.tsdb.retention.time=100y",
                "--web.enable-remote-write-receiver",
                f"--web.listen-address={address}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_ready(process, address, home / "log")
        yield Prometheus(address)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


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
