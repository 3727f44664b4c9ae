"""Options of requests, given as parameters of the URL or as an options body."""

from __future__ import annotations

from msgspec import Struct, field

from simcloud.kubernetes.api.access.users import SYSTEM_MASTERS, User


class Caller(Struct, frozen=True):
    """The user of a write, and the field manager under which it is recorded."""

    user: User = SYSTEM_MASTERS
    manager: str = "unknown"


class WriteOptions(Struct):
    """Of create, update and patch."""

    dry_run: bool = False
    field_validation: str = "Warn"
    """``Strict``, ``Warn`` or ``Ignore``: what becomes of fields that the kind does not have."""
    force: bool = False
    """Of an apply: take over fields that others own."""
    problems: list[str] = field(default_factory=list)
    """What was wrong with the body before it was decoded: fields that stand there twice."""
    warnings: list[str] = field(default_factory=list)
    """Warnings for the caller, filled by the API."""
    created: bool = False
    """Set by the API when the write made an object that was not there."""


class DeleteOptions(Struct, frozen=True):
    """Of delete and deletecollection."""

    grace_s: int | None = None
    propagation: str = ""
    """``Foreground``, ``Background``, ``Orphan``, or empty for the kind's own way."""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


class ListOptions(Struct, frozen=True):
    """Of list and deletecollection."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    token: str = ""
    """Where the page before ended: ``continue`` in Kubernetes."""
    resource_version: str = ""
    match: str = ""
    """``Exact`` or ``NotOlderThan``: resourceVersionMatch in Kubernetes."""
