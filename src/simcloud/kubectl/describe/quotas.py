"""Namespaces, ResourceQuotas and LimitRanges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from simcloud.kubectl.describe.page import Page
from simcloud.kubectl.describe.parts import write_dated_conditions, write_metadata, write_name
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubernetes.api import Object, amounts, name_of
from simcloud.kubernetes.api.tables import cells

_SCOPES: Final = {
    "Terminating": "Matches all pods that have an active deadline. These pods have a limited lifespan on a node "
    "before being actively terminated by the system.",
    "NotTerminating": "Matches all pods that do not have an active deadline. These pods usually include long "
    "running pods whose container command is not expected to terminate.",
    "BestEffort": "Matches all pods that do not have resource requirements set. These pods have a best effort "
    "quality of service.",
    "NotBestEffort": "Matches all pods that have at least one resource requirement set. These pods have a "
    "burstable or guaranteed quality of service.",
}
_LIMIT_HEADINGS: Final = (
    "Type",
    "Resource",
    "Min",
    "Max",
    "Default Request",
    "Default Limit",
    "Max Limit/Request Ratio",
)
_BOUNDS: Final = ("min", "max", "defaultRequest", "default", "maxLimitRequestRatio")


@describes("", "Namespace")
async def describe_namespace(reader: Reader, obj: Object, show_events: bool) -> str:
    """A Namespace with its quotas and limits. It has no events."""
    page, status = Page(), cells.part(obj, "status")
    quotas = await reader.list(reader.resource("resourcequotas"), name_of(obj))
    limits = await reader.list(reader.resource("limitranges"), name_of(obj))
    write_name(page, obj, namespace=False)
    write_metadata(page, obj)
    page.field("Status", cells.text(status, "phase"))
    write_dated_conditions(page, cells.items(status, "conditions"))
    page.line()
    _write_quotas(page, quotas)
    page.line()
    _write_limits(page, limits)
    return page.text()


def _write_quotas(page: Page, quotas: Sequence[Object]) -> None:
    page.line("Resource Quotas" if quotas else "No resource quota.")
    for quota in sorted(quotas, key=name_of):
        page.field("Name", name_of(quota), 1)
        _write_scopes(page, quota, 1, "* ")
        hard, used = cells.part(quota, "status", "hard"), cells.part(quota, "status", "used")
        rows = [(key, cells.amount(used.get(key)), cells.amount(hard[key])) for key in sorted(hard)]
        page.table(("Resource", "Used", "Hard"), rows, rules=("--------", "---", "---"))


def _write_scopes(page: Page, quota: Object, level: int, bullet: str) -> None:
    scopes = sorted(cells.items(cells.part(quota, "spec"), "scopes"))
    page.optional("Scopes", ", ".join(scopes), level)
    for scope in scopes:
        if scope in _SCOPES:
            page.line(f"{bullet}{_SCOPES[scope]}", level=level)


def _write_limits(page: Page, ranges: Sequence[Object]) -> None:
    if not ranges:
        page.line("No LimitRange resource.")
        return
    page.line("Resource Limits")
    rows = [(f" {kind}", *rest) for range_item in ranges for kind, *rest in _limits(range_item)]
    headings = (f" {_LIMIT_HEADINGS[0]}", *_LIMIT_HEADINGS[1:])
    page.table(headings, rows, 0, (" ----", *("-" * len(heading) for heading in _LIMIT_HEADINGS[1:])))


def _limits(limit_range: Object) -> Iterator[tuple[str, ...]]:
    for item in cells.items(cells.part(limit_range, "spec"), "limits"):
        bounds = [cells.part(item, key) for key in _BOUNDS]
        for resource in sorted({key for bound in bounds for key in bound}):
            shown = (cells.amount(bound[resource]) if resource in bound else "-" for bound in bounds)
            yield cells.text(item, "type"), resource, *shown


@describes("", "LimitRange")
async def describe_limit_range(reader: Reader, obj: Object, show_events: bool) -> str:
    """A LimitRange. It has no events."""
    page = Page()
    write_name(page, obj)
    page.table(_LIMIT_HEADINGS, _limits(obj), 0)
    return page.text()


@describes("", "ResourceQuota")
async def describe_resource_quota(reader: Reader, obj: Object, show_events: bool) -> str:
    """A ResourceQuota. It has no events."""
    page = Page()
    write_name(page, obj)
    _write_scopes(page, obj, 0, " * ")
    hard, used = cells.part(obj, "status", "hard"), cells.part(obj, "status", "used")
    rows = [(key, _like(used.get(key), hard[key]), cells.amount(hard[key])) for key in sorted(hard)]
    page.table(("Resource", "Used", "Hard"), rows, 0)
    return page.text()


def _like(used: str | None, hard: str) -> str:
    """What is used, in the suffixes that its bound is written in."""
    if used is None:
        return "0"
    mine, bound = amounts.amount(used), amounts.amount(hard)
    return str(mine if mine.family == bound.family else amounts.Amount(mine.value, bound.family))
