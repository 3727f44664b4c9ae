"""Events at the end of a description, found by their involved object, oldest first."""

from __future__ import annotations

from simcloud.golang import go_sorted
from simcloud.kubectl.describe.page import NONE, Page
from simcloud.kubectl.describe.registry import Reader
from simcloud.kubernetes.api import ApiError, Object, meta
from simcloud.kubernetes.api.tables import cells


async def events_about(
    reader: Reader, obj: Object, *, any_kind: bool = False, any_uid: bool = False, uid: str = ""
) -> list[Object]:
    """The events about an object: those that name its kind and its uid, or another uid, or any."""
    metadata = meta(obj)
    namespace = metadata.get("namespace", "")
    wanted = {"name": metadata["name"], "namespace": namespace}
    if not any_kind:
        wanted["kind"] = obj["kind"]
    uid = uid or metadata.get("uid", "")
    if uid and not any_uid:
        wanted["uid"] = uid
    fields = ",".join(f"involvedObject.{key}={value}" for key, value in wanted.items())
    return await reader.list(reader.resource("events"), namespace or None, fields=fields)


async def write_events(page: Page, reader: Reader, obj: Object, show: bool) -> None:
    """The object's events, if they are to be shown. Events that may not be read are as good as none."""
    if not show:
        return
    try:
        found = await events_about(reader, obj)
    except ApiError:
        found = []
    write_found(page, found, reader.now_s)


def write_found(page: Page, found: list[Object], now_s: float) -> None:
    """A table of events."""
    if not found:
        page.field("Events", NONE)
        return
    page.line("Events:")
    page.table(
        ("Type", "Reason", "Age", "From", "Message"),
        (_row(event, now_s) for event in go_sorted(found, _earlier)),
        rules=("----", "------", "----", "----", "-------"),
    )


def _earlier(one: Object, other: Object) -> bool:
    return cells.text(one, "lastTimestamp") < cells.text(other, "lastTimestamp")


def _row(event: Object, now_s: float) -> tuple[str, ...]:
    field_path = cells.part(event, "involvedObject").get("fieldPath")
    message = cells.text(event, "message").strip()
    return (
        cells.text(event, "type"),
        cells.text(event, "reason"),
        _age(event, now_s),
        cells.part(event, "source").get("component") or cells.text(event, "reportingComponent"),
        f"{field_path}: {message}" if field_path else message,
    )


def _age(event: Object, now_s: float) -> str:
    first = cells.since(event.get("eventTime") or event.get("firstTimestamp"), now_s)
    series = event.get("series")
    if series is not None:
        return f"{cells.since(series.get('lastObservedTime'), now_s)} (x{cells.count(series, 'count')} over {first})"
    if cells.count(event, "count") > 1:
        return f"{cells.since(event.get('lastTimestamp'), now_s)} (x{event['count']} over {first})"
    return first
