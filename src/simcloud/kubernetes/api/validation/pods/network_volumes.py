"""Volumes that come over the network: what they need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import invalid, required, too_long
from simcloud.kubernetes.api.validation.common import Errors, make_errors, text
from simcloud.kubernetes.api.validation.names import dns1123_subdomain, size


def _missing(path: str, source: Mapping[str, Any], *keys: str) -> Errors:
    return [required(f"{path}.{key}") for key in keys if not source.get(key)]


def nfs(path: str, source: Mapping[str, Any]) -> Errors:
    """A directory of an NFS server."""
    errors = _missing(path, source, "server", "path")
    where = text(source, "path")
    if not where.startswith("/"):
        errors.append(invalid(f"{path}.path", where, "must be an absolute path"))
    return errors


def driver_name(path: str, name: str) -> Errors:
    """A CSI driver's name: a domain in any case, at most 63 characters."""
    if not name:
        return [required(path)]
    errors = [too_long(path, 63)] if size(name) > 63 else []
    return errors + make_errors(path, name, dns1123_subdomain(name.lower()))
