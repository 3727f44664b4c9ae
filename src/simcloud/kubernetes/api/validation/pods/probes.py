"""Probes and lifecycle hooks: what is done, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import Errors, items, make_errors, non_negative, number, text
from simcloud.kubernetes.api.validation.names import http_header_name, port_name, port_number

_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")


def liveness(path: str, probe: Mapping[str, Any] | None, grace_s: int | None) -> Errors:
    """A liveness or startup probe: one success is enough."""
    if probe is None:
        return []
    errors = _probe(path, probe, grace_s)
    if number(probe, "successThreshold") != 1:
        errors.append(invalid(f"{path}.successThreshold", number(probe, "successThreshold"), "must be 1"))
    return errors


def readiness(path: str, probe: Mapping[str, Any] | None, grace_s: int | None) -> Errors:
    """A readiness probe: it ends nothing, so it has no grace period."""
    if probe is None:
        return []
    errors = _probe(path, probe, grace_s)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None:
        message = "must not be set for readinessProbes"
        errors.append(invalid(f"{path}.terminationGracePeriodSeconds", grace, message))
    return errors


def _probe(path: str, probe: Mapping[str, Any], grace_s: int | None) -> Errors:
    errors = _handler(path, probe, _PROBE_HANDLERS, grace_s)
    for key in _COUNTS:
        errors += non_negative(f"{path}.{key}", number(probe, key))
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        errors.append(invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
    return errors


def lifecycle(path: str, given: Mapping[str, Any], grace_s: int | None) -> Errors:
    """What is done after a container's start and before its end."""
    errors: Errors = []
    for key in ("postStart", "preStop"):
        if given.get(key) is not None:
            errors += _handler(f"{path}.{key}", given[key], _HOOK_HANDLERS, grace_s)
    return errors


def _handler(path: str, given: Mapping[str, Any], kinds: tuple[str, ...], grace_s: int | None) -> Errors:
    errors: Errors = []
    found = 0
    for kind in kinds:
        action = given.get(kind)
        if action is None:
            continue
        found += 1
        if found > 1:
            errors.append(forbidden(f"{path}.{kind}", "may not specify more than 1 handler type"))
        else:
            errors += _action(f"{path}.{kind}", kind, action, grace_s)
    return errors if found else [required(path, "must specify a handler type")]


def _action(path: str, kind: str, action: Mapping[str, Any], grace_s: int | None) -> Errors:
    match kind:
        case "exec":
            return [] if items(action, "command") else [required(f"{path}.command")]
        case "httpGet":
            return _http(path, action)
        case "sleep":
            seconds = number(action, "seconds")
            if grace_s is None or 0 <= seconds <= grace_s:
                return []
            message = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_s})"
            return [invalid(path, seconds, message)]
        case _:
            return port(f"{path}.port", action.get("port", 0))


def _http(path: str, action: Mapping[str, Any]) -> Errors:
    errors = [] if text(action, "path") else [required(f"{path}.path")]
    errors += port(f"{path}.port", action.get("port", 0))
    scheme = text(action, "scheme")
    if scheme not in ("HTTP", "HTTPS"):
        errors.append(not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS")))
    for header in items(action, "httpHeaders"):
        name = text(header, "name")
        errors += make_errors(f"{path}.httpHeaders", name, http_header_name(name))
    return errors


def port(path: str, value: int | str) -> Errors:
    """A port by number or by name."""
    sentences = port_name(value) if isinstance(value, str) else port_number(value)
    return make_errors(path, value, sentences)
