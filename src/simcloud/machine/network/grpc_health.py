"""gRPC's health check as typed messages: what a kubelet's probe asks, and what a server answers."""

from __future__ import annotations

from msgspec import Struct


class HealthCheckRequest(Struct, frozen=True):
    """What a gRPC server that can tell of its health is asked."""

    service: str


class HealthCheckResponse(Struct, frozen=True):
    """And what it answers: ``SERVING`` is well."""

    status: str
