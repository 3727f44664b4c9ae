"""``kubectl get``: objects as tables or in another output format; with ``-w`` also their changes."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl import watch_output
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, UsageError, sentence
from simcloud.kubectl.output import printer_of
from simcloud.kubectl.printing.lists import as_list
from simcloud.kubectl.printing.output import Printer
from simcloud.kubectl.printing.sorting import sort_objects
from simcloud.kubectl.printing.table import TablePrinter
from simcloud.kubectl.raw import raw
from simcloud.kubectl.selection import Wanted, fetch, list_refused, list_requests
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.tables import look, make_table, nothing_found
from simcloud.kubernetes.api import ApiError, NoSuchPath, Object

NO_TYPE: Final = (
    'You must specify the type of resource to get. Use "kubectl api-resources" for a complete list of supported '
    "resources.\n\n"
)
NEEDED: Final = (
    "Required resource not specified.\n"
    'Use "kubectl explain <resource>" for a detailed description of that resource (e.g. kubectl explain pods).'
)
EXAMPLES: Final = (
    "kubectl get pods",
    "kubectl get pods -A -o wide",
    "kubectl get deploy,svc -n shop",
    "kubectl get pod web -o jsonpath='{.status.phase}'",
    "kubectl get events --sort-by=.lastTimestamp",
)

Found = list[tuple[Wanted, list[Object]]]


@command("get", "Display one or many resources", examples=EXAMPLES)
async def get(kubectl: Kubectl) -> None:
    """Show what is asked for."""
    flags = kubectl.flags
    if flags["raw"]:
        await _raw(kubectl)
        return
    watched = flags["watch"] or flags["watch-only"]
    if flags["output-watch-events"] and not watched:
        raise KubectlError("--output-watch-events option can only be used with --watch or --watch-only")
    if not kubectl.args and not flags["filename"] and not flags["kustomize"]:
        await kubectl.err(NO_TYPE)
        raise UsageError(NEEDED, kubectl.command.full)
    printer = printer_of(kubectl)
    requests = await list_requests(kubectl)
    if watched:
        watch_output.check(requests)
    elif flags["subresource"] and any(not request.name for request in requests):
        raise KubectlError("subresource cannot be used when bulk resources are specified")
    found = await _fetch(kubectl, requests)
    if watched:
        if not kubectl.postponed:
            await watch_output.watch(
                kubectl, requests, [item for _, items in found for item in items], printer
            )
    elif printer is None:
        await _tables(kubectl, found)
    else:
        await _objects(kubectl, requests, found, printer)


async def _raw(kubectl: Kubectl) -> None:
    flags = kubectl.flags
    if kubectl.args:
        raise KubectlError("arguments may not be passed when --raw is specified")
    if any(flags[flag] for flag in ("watch", "watch-only", "selector", "label-columns", "sort-by")):
        raise KubectlError(
            "--raw may not be specified with other flags that filter the server request or alter the output"
        )
    if flags["output"]:
        raise KubectlError("--raw and --output are mutually exclusive")
    await kubectl.out(await raw(kubectl, flags["raw"]))


async def _fetch(kubectl: Kubectl, requests: list[Wanted]) -> Found:
    """What each request finds; what cannot be found is complained of."""
    connection = await kubectl.connect()
    flags = kubectl.flags
    found: Found = []
    for request in requests:
        try:
            if request.name:
                items = [await fetch(connection, request, flags["subresource"])]
            else:
                items = await connection.list(
                    request.resource,
                    request.namespace,
                    labels=flags["selector"],
                    fields=flags["field-selector"],
                )
        except ApiError as error:
            if not (flags["ignore-not-found"] and error.reason == "NotFound"):
                kubectl.postponed.append(_format_refusal(kubectl, request, error))
            continue
        found.append((request, items))
    return found


def _format_refusal(kubectl: Kubectl, one: Wanted, error: ApiError) -> str:
    if not one.name:
        return list_refused(error, one, kubectl.flags["selector"], kubectl.flags["field-selector"])
    about = f" (get {one.resource.plural} {one.name})" if isinstance(error, NoSuchPath) else ""
    return sentence(error) + about


async def _tables(kubectl: Kubectl, found: Found) -> None:
    connection = await kubectl.connect()
    tables = [make_table(kubectl, connection, request.resource, items) for request, items in found]
    text = TablePrinter(look(kubectl, [request.resource for request, _ in found])).print(tables)
    if text:
        await kubectl.out(text)
    elif not kubectl.postponed and not kubectl.flags["ignore-not-found"]:
        await kubectl.tell_warnings()
        await kubectl.err(nothing_found(kubectl, [request for request, _ in found]))


async def _objects(kubectl: Kubectl, requests: list[Wanted], found: Found, printer: Printer) -> None:
    """One object by itself, or a List of all."""
    flags = kubectl.flags
    items = [item for _, listed in found for item in listed]
    if not items and kubectl.postponed:
        return
    single = len(requests) == 1 and requests[0].name
    if single and not items:
        return
    if flags["sort-by"] and not single:
        items = sort_objects(items, flags["sort-by"])
    await kubectl.out(printer.print(items[0] if single else as_list(items)))
