"""Tables of events, of the core group and of events.k8s.io."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, count, name, part, since, text
from simcloud.kubernetes.api.tables.registry import Column, table, wide

_COLUMNS = (
    Column("Last Seen", of="core.v1.Event.lastTimestamp"),
    Column("Type", of="core.v1.Event.type"),
    Column("Reason", of="core.v1.Event.reason"),
    Column("Object", of="core.v1.Event.involvedObject"),
    wide("Subobject", of="core.v1.ObjectReference.fieldPath"),
    wide("Source", of="core.v1.Event.source"),
    Column("Message", of="core.v1.Event.message"),
    wide("First Seen", of="core.v1.Event.firstTimestamp"),
    wide("Count", of="core.v1.Event.count"),
    Column("Name", of="io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.name", format="name", priority=1),
)
_OWN_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
    "reportingInstance": "reportingInstance",
}


@table("", "Event", *_COLUMNS)
@table("events.k8s.io", "Event", *_COLUMNS)
def event(obj: Object, now_s: float) -> Cells:
    """An event's row."""
    fields = {field: obj.get(field) or obj.get(own) for field, own in _OWN_NAMES.items()}
    involved, series = part(fields, "involvedObject"), part(obj, "series")
    kind, about = text(involved, "kind").lower(), involved.get("name")
    first = since(fields["firstTimestamp"] or obj.get("eventTime"), now_s)
    last = since(fields["lastTimestamp"], now_s) if fields["lastTimestamp"] else first
    times = fields["count"] or 1
    if obj.get("series") is not None:
        last, times = since(series.get("lastObservedTime"), now_s), count(series, "count")
    return [
        last,
        text(obj, "type"),
        text(obj, "reason"),
        f"{kind}/{about}" if about else kind,
        text(involved, "fieldPath"),
        _source(fields),
        (fields["message"] or "").strip(),
        first,
        times,
        name(obj),
    ]


def _source(fields: Object) -> str:
    source = part(fields, "source")
    component = source.get("component") or fields["reportingComponent"] or ""
    instance = source.get("host") or fields["reportingInstance"]
    return f"{component}, {instance}" if instance else component
