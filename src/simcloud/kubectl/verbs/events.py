"""``kubectl events``: recent events, oldest first."""

from __future__ import annotations

from typing import Final

from simcloud.golang import TabWriter, go_sorted
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, PlainError
from simcloud.kubectl.output import printer_of
from simcloud.kubectl.printing.output import OBJECT_FORMATS, Printer
from simcloud.kubectl.selection import find_resource
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import Object, times
from simcloud.kubernetes.api.schema import in_struct_order
from simcloud.kubernetes.api.verbs import WatchOptions

TYPES: Final = ("Normal", "Warning")
EXAMPLES: Final = (
    "kubectl events -n shop",
    "kubectl events --for pod/web-1 --watch",
    "kubectl events -A --types=Warning",
)


@command("events", "List events", aliases=("event", "ev"), examples=EXAMPLES)
async def events(kubectl: Kubectl) -> None:
    """A table of them, or ``-w`` as they come."""
    flags = kubectl.flags
    wanted = [name.capitalize() for name in flags["types"]]
    if any(name not in TYPES for name in wanted):
        raise KubectlError("valid --types are Normal or Warning")
    printer = printer_of(kubectl, OBJECT_FORMATS, keep_order=True)
    connection = await kubectl.connect(discoveries=2 if flags["for"] else 0)
    about = _about(kubectl, connection)
    namespace = None if flags["all-namespaces"] else kubectl.namespace
    resource = connection.resource("events")
    listed = await connection.get_list(resource, namespace)
    chosen = [event for event in listed["items"] if _fits(event, about, wanted)]
    if flags["watch"]:
        await _follow(kubectl, connection, namespace, chosen, about, wanted, printer)
        return
    if not chosen:
        where = "" if namespace is None else f" in {namespace} namespace"
        await kubectl.err(f"No events found{where}.\n")
        return
    chosen = go_sorted(chosen, lambda one, other: last_seen_s(one) < last_seen_s(other))
    if printer is not None:
        whole = {"kind": "EventList", "apiVersion": "v1", "metadata": {}}
        items = [
            in_struct_order({"kind": "Event", "apiVersion": "v1", **event}, resource.schema)
            for event in chosen
        ]
        if flags["output"] != "name":
            await kubectl.out(printer.print({**whole, "items": items}))
        return
    writer = TabWriter()
    if not flags["no-headers"]:
        writer.write(_headers(namespace is None))
    for event in chosen:
        writer.write(_row(event, connection.now_s, namespace is None))
    await kubectl.out(writer.flush())


def _about(kubectl: Kubectl, connection: ApiClient) -> tuple[str, str] | None:
    """Kind and name of the object whose events are wanted."""
    said = kubectl.flags["for"]
    if not said:
        return None
    said = said[0] if isinstance(said, list) else said
    kind, slash, name = said.partition("/")
    if not slash:
        raise KubectlError("--for must be in resource/name form")
    if "/" in name:
        raise KubectlError("arguments in resource/name form may not have more than one slash")
    try:
        return find_resource(connection.catalogue, kind).kind, name
    except KubectlError as error:
        raise PlainError(error.message) from None


def _fits(event: Object, about: tuple[str, str] | None, types: list[str]) -> bool:
    if types and event.get("type") not in types:
        return False
    regarding = event["involvedObject"]
    return about is None or about == (regarding.get("kind"), regarding.get("name"))


def last_seen_s(event: Object) -> float:
    """Return when an event was last seen, in seconds since 1970."""
    series = event.get("series")
    if series:
        said = series.get("lastObservedTime")
    else:
        said = event.get("lastTimestamp") or event.get("eventTime")
    return times.parse(said) if said else 0.0


def _headers(everywhere: bool) -> str:
    columns = ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    return "\t".join(["NAMESPACE", *columns] if everywhere else columns) + "\n"


def _row(event: Object, now_s: float, everywhere: bool) -> str:
    regarding = event["involvedObject"]
    cells = [
        _interval(event, now_s),
        event.get("type", ""),
        event.get("reason", ""),
        f"{regarding.get('kind', '')}/{regarding.get('name', '')}",
        event.get("message", "").strip().replace("\n", " "),
    ]
    return "\t".join([event["metadata"].get("namespace", ""), *cells] if everywhere else cells) + "\n"


def _interval(event: Object, now_s: float) -> str:
    last = times.human_duration(now_s - last_seen_s(event))
    series = event.get("series") or {}
    count = series.get("count") or event.get("count") or 1
    first_at = event.get("firstTimestamp") or event.get("eventTime")
    if count > 1 and first_at:
        return f"{last} (x{count} over {times.human_duration(now_s - times.parse(first_at))})"
    return last


async def _follow(
    kubectl: Kubectl,
    connection: ApiClient,
    namespace: str | None,
    known: list[Object],
    about: tuple[str, str] | None,
    types: list[str],
    printer: Printer | None,
) -> None:
    """Print what is there, then what comes, until the command is ended."""
    options = WatchOptions(resource_version=str(connection.api.log.revision))
    watch = await connection.watch(connection.resource("events"), namespace, options)
    writer = TabWriter()
    if printer is None and not kubectl.flags["no-headers"]:
        writer.write(_headers(namespace is None))

    async def show(event: Object) -> None:
        if printer is not None:
            await kubectl.out(printer.print(event))
            return
        writer.write(_row(event, connection.now_s, namespace is None))
        await kubectl.out(writer.flush())

    try:
        for event in known:
            await show(event)
        while (news := await watch.next()) is not None:
            if news.type != "DELETED" and _fits(news.object, about, types):
                await show(news.object)
    finally:
        watch.stop()
