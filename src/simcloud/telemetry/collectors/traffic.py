"""What a network interface has carried: the same counters that ``ip -s link`` shows inside."""

from __future__ import annotations

from simcloud.machine.emit import Labels
from simcloud.machine.network import Namespace
from simcloud.telemetry.collectors.rows import Row


def traffic_table(prefix: str, errors: str, dropped: str, of: Labels) -> list[Row[Namespace]]:
    """Rows of one interface; exporters differ in what they call errors and drops."""
    return [
        (f"{prefix}_receive_bytes_total", of, lambda ns: _count_arrivals(ns, "bytes")),
        (f"{prefix}_receive_packets_total", of, lambda ns: _count_arrivals(ns, "packets")),
        (f"{prefix}_receive_{errors}_total", of, lambda ns: float(ns.ingress.corrupted)),
        (f"{prefix}_receive_{dropped}_total", of, lambda ns: float(ns.ingress.dropped)),
        (f"{prefix}_transmit_bytes_total", of, lambda ns: float(ns.sent.total("bytes"))),
        (f"{prefix}_transmit_packets_total", of, lambda ns: float(ns.sent.total("packets"))),
        (f"{prefix}_transmit_{errors}_total", of, 0.0),
        (f"{prefix}_transmit_{dropped}_total", of, lambda ns: float(ns.impairment.dropped)),
    ]


def _count_arrivals(namespace: Namespace, unit: str) -> float:
    received = namespace.received
    return float(received.total(unit) - received.total(f"lost_{unit}"))
