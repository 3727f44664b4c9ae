"""URL parameters as options. Invalid ones raise errors with the genuine server's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from simcloud.kubernetes.api import (
    BadRequest,
    DeleteOptions,
    FieldError,
    Invalid,
    ListOptions,
    LogOptions,
    WriteOptions,
    field_errors,
)
from simcloud.kubernetes.api.verbs import WatchOptions, read_options
from simcloud.server.kubernetes.negotiation import Form
from simcloud.server.kubernetes.paths import is_true

Query: TypeAlias = Mapping[str, str]
IncludeObject: TypeAlias = Literal["None", "Metadata", "Object"]

_VALIDATIONS: Final = ("Ignore", "Warn", "Strict")
LONGEST_WATCH_S: Final = 86_400


def list_options(query: Query) -> ListOptions:
    """Parse the options of list and deletecollection."""
    if "sendInitialEvents" in query:
        why = "sendInitialEvents is forbidden for list"
        raise Invalid("meta.k8s.io", "ListOptions", "", [field_errors.forbidden("sendInitialEvents", why)])
    return ListOptions(
        labels=query.get("labelSelector", ""),
        fields=query.get("fieldSelector", ""),
        limit=max(0, _integer(query, "limit") or 0),
        token=query.get("continue", ""),
        resource_version=query.get("resourceVersion", ""),
        match=query.get("resourceVersionMatch", ""),
    )


def watch_options(query: Query, name: str = "") -> WatchOptions:
    """Parse the options of a watch; a watch of one object selects by its name."""
    fields = query.get("fieldSelector", "")
    if name:
        fields = f"metadata.name={name}" + (f",{fields}" if fields else "")
    timeout_s = _integer(query, "timeoutSeconds")
    return WatchOptions(
        labels=query.get("labelSelector", ""),
        fields=fields,
        resource_version=query.get("resourceVersion", ""),
        match=query.get("resourceVersionMatch", ""),
        bookmarks=is_true(query.get("allowWatchBookmarks")),
        initial_events=_boolean(query, "sendInitialEvents"),
        timeout_s=min(LONGEST_WATCH_S, timeout_s) if timeout_s and timeout_s > 0 else None,
    )


def write_options(query: Query, kind: str, duplicates: list[str] | None = None) -> WriteOptions:
    """Parse the options of create, update and patch; ``kind`` is their name in error messages."""
    problems: list[FieldError] = []
    validation = query.get("fieldValidation", "") or "Warn"
    if validation not in _VALIDATIONS:
        problems.append(
            field_errors.not_supported("fieldValidation", validation, ("Ignore", "Strict", "Warn"))
        )
    dry_run = _dry_run(query, problems)
    force = _boolean(query, "force")
    if problems:
        raise Invalid("meta.k8s.io", kind, "", problems)
    return WriteOptions(
        dry_run=dry_run,
        field_validation=validation,
        force=bool(force),
        problems=duplicates if duplicates is not None else [],
    )


def delete_options(query: Query) -> DeleteOptions:
    """Parse the options of delete and deletecollection if there is no body."""
    said = {
        "gracePeriodSeconds": _integer(query, "gracePeriodSeconds"),
        "orphanDependents": _boolean(query, "orphanDependents"),
        "propagationPolicy": query.get("propagationPolicy", ""),
        "dryRun": [query["dryRun"]] if query.get("dryRun") else [],
    }
    return read_options(said)


def include_object(query: Query, form: Form) -> IncludeObject:
    """Parse how much of each object a row of a Table includes."""
    said = query.get("includeObject", "") or "Metadata"
    if form.transform != "Table":
        return "Metadata"
    if said == "Metadata":
        return "Metadata"
    if said == "Object":
        return "Object"
    if said == "None":
        return "None"
    why = field_errors.invalid("includeObject", said, "must be 'Metadata', 'Object', 'None', or empty")
    raise BadRequest(f"Unable to convert to Table as requested: {why}")


def _dry_run(query: Query, problems: list[FieldError]) -> bool:
    said = query.get("dryRun", "")
    if said not in ("", "All"):
        problems.append(field_errors.not_supported("dryRun", [said], ("All",)))
    return said == "All"


def _integer(query: Query, name: str) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    digits = text[1:] if text[0] in "+-" else text
    if not (digits.isascii() and digits.isdigit()):
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(digits) > 18:
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


def _boolean(query: Query, name: str) -> bool | None:
    return is_true(query[name]) if name in query else None


def log_options(query: Query) -> LogOptions:
    """Parse the options of a container's log."""
    return LogOptions(
        container=query.get("container", ""),
        follow=bool(_boolean(query, "follow")),
        previous=bool(_boolean(query, "previous")),
        since_s=_integer(query, "sinceSeconds"),
        since_time=query.get("sinceTime", ""),
        timestamps=bool(_boolean(query, "timestamps")),
        tail_lines=_integer(query, "tailLines"),
        limit_bytes=_integer(query, "limitBytes"),
    )
