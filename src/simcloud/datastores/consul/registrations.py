"""Registering and deregistering services with the agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.consul.log import ConsulLog
from simcloud.datastores.consul.request import ApiRequest, Refused, UnknownService
from simcloud.datastores.consul.state import Full, Service, State

MAX_NAME: Final = 256
MAX_WORDS: Final = 16


class Writer:
    """Changes the state of one agent."""

    def __init__(self, state: State, log: ConsulLog) -> None:
        self._state = state
        self._log = log

    def apply(self, request: ApiRequest, rest: str, action: Action) -> None:
        """Run one write. Raise ``Refused`` if the state store is full."""
        try:
            action(self, request, rest)
        except Full:
            raise Refused(500, "rpc error making call: state store is full") from None

    def register(self, request: ApiRequest, rest: str) -> None:
        """Register a service with this agent; a service with checks is refused."""
        document = request.json()
        name = _text(document, "name")
        if not name:
            raise Refused(400, "Missing service name")
        address, port = _text(document, "address"), document.get("port") or 0
        if not isinstance(port, int) or not 0 <= port <= 65535:
            raise Refused(400, "Request decode failed: json: cannot unmarshal string into Go struct field")
        if address in ("0.0.0.0", "::", "[::]"):
            raise Refused(400, "Invalid service address")
        id = _text(document, "id") or name
        service = Service(
            id, name, address, port, _strings(document.get("tags")), _pairs(document.get("meta"))
        )
        if document.get("check") or document.get("checks"):
            raise Refused(400, "Invalid check: TTL must be > 0 for TTL checks")
        self._state.put_service(service)
        self._log.info("agent", f"Synced service: service={id}")

    def deregister(self, request: ApiRequest, rest: str) -> None:
        """Deregister a service of this agent."""
        if not self._state.remove_service(rest):
            raise UnknownService(rest)
        self._log.info("agent", f"Deregistered service: service={rest}")


Action = Callable[[Writer, ApiRequest, str], None]
WRITES: Final[dict[str, Action]] = {
    "/v1/agent/service/register": Writer.register,
    "/v1/agent/service/deregister/": Writer.deregister,
}
"""The writes, which use PUT, by path."""


def _text(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    return value[:MAX_NAME] if isinstance(value, str) else ""


def _strings(value: object) -> list[str]:
    return [str(each)[:MAX_NAME] for each in value[:MAX_WORDS]] if isinstance(value, list) else []


def _pairs(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(key)[:128]: str(each)[:MAX_NAME] for key, each in list(value.items())[:MAX_WORDS]}
