"""The part of the application that request handlers use.

They take this protocol instead of ``KubernetesApp``, so that their modules stay below it.
"""

from __future__ import annotations

from typing import Protocol

from starlette.requests import HTTPConnection

from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import Api, Pending, Resource
from simcloud.server.kubernetes.live import Pace, Signal
from simcloud.server.kubernetes.paths import Target


class AppContext(Protocol):
    """The served cluster, and how a handler authorizes requests and waits for the simulated world."""

    api: Api
    live: Pace
    address: str

    def signal(self) -> Signal:
        """Return a new signal for a stream to wait on."""

    async def wait_for(self, pending: Pending) -> None:
        """Wait for an answer from inside the simulated world."""

    def authorize(self, request: HTTPConnection, target: Target) -> ApiClient:
        """Return the client of a request's bearer token. Raises ``ApiError`` if it may not do what the path asks."""

    def resource(self, target: Target) -> Resource:
        """Return the resource of a path. Raises ``NoSuchPath`` or ``MethodNotAllowed``."""
