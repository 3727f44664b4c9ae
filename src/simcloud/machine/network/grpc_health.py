"""gRPC's health check as typed messages: what a kubelet's probe asks, and what a server answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthCheckRequest:
    """What a gRPC server that can tell of its health is asked."""

    service: str


@dataclass(frozen=True, slots=True)
class HealthCheckResponse:
    """And what it answers: ``SERVING`` is well."""

    status: str
