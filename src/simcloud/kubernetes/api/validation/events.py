"""The rules of an Event, in its old group and in its own.

The rules of the events group read an Event in the stored form, that of the core group.
"""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import invalid, required
from simcloud.kubernetes.api.objects import Object, at, namespace_of
from simcloud.kubernetes.api.validation.common import Errors
from simcloud.kubernetes.api.validation.names import dns1123_subdomain, qualified_name, size
from simcloud.kubernetes.api.validation.registry import validates

_ELSEWHERE = "does not match event.namespace"
_FIXED = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count"),
    *("reportingComponent", "reportingInstance", "action", "type", "eventTime"),
)


@validates("", "Event")
def event(new: Object, old: Object | None) -> Errors:
    """The rules of an Event as the core group serves it."""
    return _old_rules(new, "reportingComponent")


@validates("events.k8s.io", "Event")
def new_event(new: Object, old: Object | None) -> Errors:
    """The rules of an Event as the events group serves it."""
    errors = _old_rules(new, "reportingController") + _series(new)
    if old is not None:
        return errors + [
            invalid(_told_name(field), new.get(field, ""), "field is immutable")
            for field in _FIXED
            if new.get(field) != old.get(field)
        ]
    if not new.get("eventTime"):
        errors.append(required("eventTime"))
    if new.get("type") not in ("Normal", "Warning"):
        errors.append(invalid("type", "", f"has invalid value: {new.get('type', '')}"))
    source = new.get("source") or {}
    unset = {
        "firstTimestamp": new.get("firstTimestamp"),
        "lastTimestamp": new.get("lastTimestamp"),
        "count": new.get("count"),
        "source": source.get("component") or source.get("host"),
    }
    return errors + [invalid(field, "", "needs to be unset") for field, given in unset.items() if given]


def _told_name(field: str) -> str:
    return "reportingController" if field == "reportingComponent" else field


def _old_rules(new: Object, controller: str) -> Errors:
    mine, theirs = namespace_of(new), at(new, "involvedObject", "namespace", default="")
    if new.get("eventTime"):
        errors = []
        if not theirs and mine not in ("default", "kube-system"):
            errors.append(invalid("involvedObject.namespace", theirs, _ELSEWHERE))
        errors += _modern_fields(new, controller)
    else:
        fits = mine == theirs if theirs else mine in ("", "default")
        errors = [] if fits else [invalid("involvedObject.namespace", theirs, _ELSEWHERE)]
    return errors + [invalid("namespace", mine, told) for told in dns1123_subdomain(mine)]


def _modern_fields(new: Object, controller: str) -> Errors:
    errors = []
    name = new.get("reportingComponent", "")
    if not name:
        errors.append(required(controller))
    errors += [invalid(controller, name, told) for told in qualified_name(name)]
    for field in ("reportingInstance", "action", "reason"):
        if not new.get(field):
            errors.append(required(field))
        errors += _short(field, new.get(field, ""), 128)
    return errors + _short("message", new.get("message", ""), 1024)


def _short(field: str, value: str, limit: int) -> Errors:
    return [invalid(field, "", f"can have at most {limit} characters")] if size(value) > limit else []


def _series(new: Object) -> Errors:
    series = new.get("series")
    if series is None:
        return []
    errors = []
    if series.get("count", 0) < 2:
        errors.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(required("series.lastObservedTime"))
    return errors
