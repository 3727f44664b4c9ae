"""What changes the state: registrations with the agent and the catalogue, checks, keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.consul.asking import Ask, Refused, UnknownCheck, UnknownService
from simcloud.datastores.consul.health import Checks
from simcloud.datastores.consul.log import ConsulLog
from simcloud.datastores.consul.state import (
    CRITICAL,
    PASSING,
    STATES,
    WARNING,
    Check,
    Full,
    Node,
    Pair,
    Service,
    State,
)

MAX_VALUE_BYTES: Final = 512 * 1024
MAX_NAME: Final = 256
MAX_KEY: Final = 512
MAX_WORDS: Final = 16
CHECK_FIELDS: Final = (
    "ttl",
    "http",
    "tcp",
    "method",
    "interval",
    "timeout",
    "deregistercriticalserviceafter",
)
"""What is kept of a check's definition."""

DONE: Final = b""


class Writer:
    """Carries out what changes the state of one agent."""

    def __init__(self, state: State, checks: Checks, log: ConsulLog) -> None:
        self._state = state
        self._checks = checks
        self._log = log

    def carry_out(self, ask: Ask, rest: str, action: Action) -> Any:
        """One write; ``Refused`` when there is no room for it."""
        try:
            return action(self, ask, rest)
        except Full:
            raise Refused(500, "rpc error making call: state store is full") from None

    # -- the agent -----------------------------------------------------------------------------

    def register(self, ask: Ask, rest: str) -> bytes:
        """Register a service with this agent, and its checks."""
        document = ask.json()
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
            self._state.local,
            id,
            name,
            address,
            port,
            _strings(document.get("tags")),
            _pairs(document.get("meta")),
        )
        checks = _definitions(document)
        self._state.put_service(service)
        try:
            for number, definition in enumerate(checks, 1):
                suffix = f":{number}" if len(checks) > 1 else ""
                self._add_check(definition, f"service:{id}{suffix}", f"Service '{name}' check", service)
        except (Refused, Full):
            self._remove(service)
            raise
        self._log.info("agent", f"Synced service: service={id}")
        return DONE

    def deregister(self, ask: Ask, rest: str) -> bytes:
        """Take a service of this agent back."""
        state = self._state
        service = state.services.get((state.local, rest))
        if service is None:
            raise UnknownService(rest)
        self._remove(service)
        self._log.info("agent", f"Deregistered service: service={rest}")
        return DONE

    def register_check(self, ask: Ask, rest: str) -> bytes:
        """Register a check, of a service or of the node."""
        definition = ask.json()
        name = _text(definition, "name")
        if not name:
            raise Refused(400, "Missing check name")
        service_id = _text(definition, "serviceid")
        service = self._state.services.get((self._state.local, service_id))
        if service_id and service is None:
            raise Refused(400, f'ServiceID "{service_id}" does not exist')
        self._add_check(definition, _text(definition, "id") or name, name, service)
        return DONE

    def deregister_check(self, ask: Ask, rest: str) -> bytes:
        """Take a check back."""
        self._checks.stop(rest)
        if not self._state.remove_check(self._state.local, rest):
            raise UnknownCheck(rest)
        self._log.info("agent", f"Deregistered check: check={rest}")
        return DONE

    def update_check(self, ask: Ask, rest: str) -> bytes:
        """Tell how a TTL check stands: the last part of the path names the check, the one before its state."""
        told, _, id = rest.partition("/")
        status, output = TOLD.get(told, ""), ask.params.get("note", "")[:MAX_NAME]
        if told == "update":
            document = ask.json()
            status, output = _text(document, "status"), _text(document, "output")
        if status not in STATES:
            raise Refused(400, f"Invalid check status: '{status}'")
        check = self._state.checks.get((self._state.local, id))
        if check is None:
            raise UnknownCheck(id)
        if check.kind != "ttl":
            raise Refused(500, f'CheckID "{id}" does not have associated TTL')
        self._checks.beat(check, status, output)
        return DONE

    def _remove(self, service: Service) -> None:
        for check in list(self._state.checks.values()):
            if (check.node, check.service_id) == (service.node, service.id):
                self._checks.stop(check.id)
        self._state.remove_service(service.node, service.id)

    def _add_check(self, definition: dict[str, Any], id: str, name: str, service: Service | None) -> None:
        status = _text(definition, "status") or CRITICAL
        if status not in STATES:
            raise Refused(400, f"Bad check status: '{status}'")
        check = Check(
            self._state.local,
            _text(definition, "checkid") or _text(definition, "id") or id,
            _text(definition, "name") or name,
            status,
            notes=_text(definition, "notes"),
            service_id=service.id if service else "",
            service_name=service.name if service else "",
            definition={name: _text(definition, name) for name in CHECK_FIELDS},
        )
        self._checks.add(check)
        self._log.info("agent", f"Synced check: check={check.id}")

    # -- the catalogue -------------------------------------------------------------------------

    def catalog_register(self, ask: Ask, rest: str) -> bool:
        """Write down a node, and a service or a check on it, without any agent."""
        document = ask.json()
        name, address = _text(document, "node"), _text(document, "address")
        if not name or not address:
            raise Refused(400, "Must provide node and address")
        self._state.put_node(Node(name, _text(document, "id"), address, _pairs(document.get("nodemeta"))))
        service = document.get("service")
        if isinstance(service, dict):
            fields = {str(key).lower(): value for key, value in service.items()}
            called = _text(fields, "service")
            port = fields.get("port") if isinstance(fields.get("port"), int) else 0
            self._state.put_service(
                Service(
                    name, _text(fields, "id") or called, called, _text(fields, "address"), port or 0,
                    _strings(fields.get("tags")), _pairs(fields.get("meta")),
                )
            )  # fmt: skip
        return True

    def catalog_deregister(self, ask: Ask, rest: str) -> bool:
        """Take a node back, or a service or a check on it."""
        document = ask.json()
        name = _text(document, "node")
        if not name:
            raise Refused(400, "Must provide node")
        if _text(document, "serviceid"):
            self._state.remove_service(name, _text(document, "serviceid"))
        elif _text(document, "checkid"):
            self._state.remove_check(name, _text(document, "checkid"))
        else:
            self._state.remove_node(name)
        return True

    # -- keys ----------------------------------------------------------------------------------

    def put_key(self, ask: Ask, rest: str) -> bool:
        """Write a key; with ``cas`` only if it still has that index."""
        if not rest:
            raise Refused(400, "Missing key name")
        if len(ask.body) > MAX_VALUE_BYTES:
            raise Refused(413, f"Request body(value) too large, max size: {MAX_VALUE_BYTES} bytes. See https://developer.hashicorp.com/docs/agent/config/config-files#kv_max_value_size.")  # fmt: skip
        if not self._still(rest, ask):
            return False
        if len(rest) > MAX_KEY:
            raise Refused(400, "Key is too long")
        self._state.put_pair(Pair(rest, ask.body, _natural(ask.params.get("flags", "0"))))
        return True

    def delete_key(self, ask: Ask, rest: str) -> bool:
        """Delete a key, or all below a prefix."""
        if ask.flag("recurse"):
            self._state.remove_pairs([name for name in self._state.pairs if name.startswith(rest)])
            return True
        if not rest:
            raise Refused(400, "Missing key name")
        if not self._still(rest, ask):
            return False
        self._state.remove_pairs([rest] if rest in self._state.pairs else [])
        return True

    def _still(self, key: str, ask: Ask) -> bool:
        if not ask.flag("cas"):
            return True
        pair = self._state.pairs.get(key)
        return _natural(ask.params["cas"]) == (pair.modified if pair else 0)


Action = Callable[[Writer, Ask, str], Any]
TOLD: Final = {"pass": PASSING, "warn": WARNING, "fail": CRITICAL}
WRITES: Final[dict[tuple[str, str], Action]] = {
    ("PUT", "/v1/agent/service/register"): Writer.register,
    ("PUT", "/v1/agent/service/deregister/"): Writer.deregister,
    ("PUT", "/v1/agent/check/register"): Writer.register_check,
    ("PUT", "/v1/agent/check/deregister/"): Writer.deregister_check,
    ("PUT", "/v1/agent/check/"): Writer.update_check,
    ("PUT", "/v1/catalog/register"): Writer.catalog_register,
    ("PUT", "/v1/catalog/deregister"): Writer.catalog_deregister,
    ("PUT", "/v1/kv/"): Writer.put_key,
    ("DELETE", "/v1/kv/"): Writer.delete_key,
}


def _text(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    return value[:MAX_NAME] if isinstance(value, str) else ""


def _strings(value: object) -> list[str]:
    return [str(each)[:MAX_NAME] for each in value[:MAX_WORDS]] if isinstance(value, list) else []


def _pairs(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(key)[:128]: str(each)[:MAX_NAME] for key, each in list(value.items())[:MAX_WORDS]}


def _definitions(document: dict[str, Any]) -> list[dict[str, Any]]:
    many = document.get("checks")
    given = [document.get("check"), *(many[:MAX_WORDS] if isinstance(many, list) else [])]
    return [
        {str(key).lower(): value for key, value in each.items()} for each in given if isinstance(each, dict)
    ]


def _natural(text: str) -> int:
    return int(text[:18]) if text.isascii() and text.isdigit() else 0
