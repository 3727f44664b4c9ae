"""``get -w``: prints objects, then their changes, until the command is ended."""

from __future__ import annotations

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.printing.output import Printer
from simcloud.kubectl.printing.table import TablePrinter
from simcloud.kubectl.selection import Wanted
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.tables import look, make_table
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.api.verbs import Watch, WatchOptions
from simcloud.sim import TimedOut

SORTED_ONCE = "warning: --watch requested, --sort-by will be ignored for watch events received\n"


def check(requests: list[Wanted]) -> None:
    """Refuse to watch several kinds."""
    if len({request.resource.key for request in requests}) > 1:
        raise KubectlError("you may only specify a single resource type")


async def watch(
    kubectl: Kubectl, requests: list[Wanted], found: list[Object], printer: Printer | None
) -> None:
    """Show what was found unless only news are asked for, then the news."""
    flags, asked = kubectl.flags, requests[0]
    connection = await kubectl.connect()
    table = TablePrinter(look(kubectl, [asked.resource]))
    events = flags["output-watch-events"]

    async def show(kind: str, *objects: Object) -> None:
        if printer is None:
            shown = make_table(kubectl, connection, asked.resource, list(objects))
            await kubectl.out(table.event(shown, kind if events else ""))
            return
        for obj in objects:
            await kubectl.out(printer.print({"object": obj, "type": kind} if events else obj))

    if flags["sort-by"]:
        await kubectl.err(SORTED_ONCE)
    if not flags["watch-only"]:
        await show("ADDED", *found)
    if len(requests) > 1:
        raise KubectlError("you may only watch a single resource or type of resource at a time")
    news = await _open_watch(kubectl, connection, asked)
    try:
        with kubectl.limit_request():
            while (event := await news.next()) is not None:
                await show(event.type, event.object)
    except TimedOut:
        pass
    finally:
        news.stop()


async def _open_watch(kubectl: Kubectl, connection: ApiClient, asked: Wanted) -> Watch:
    flags = kubectl.flags
    fields = f"metadata.name={asked.name}" if asked.name else flags["field-selector"]
    options = WatchOptions(
        labels=flags["selector"], fields=fields, resource_version=str(connection.api.log.revision)
    )
    return await connection.watch(asked.resource, asked.namespace or None, options, asked.name)
