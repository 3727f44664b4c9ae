"""Parts that descriptions of many kinds share: metadata, selectors, resources, tolerations, conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from simcloud.golang import go_sorted
from simcloud.kubectl.describe.page import Page, long_time
from simcloud.kubernetes.api import LAST_APPLIED, Object, meta, times
from simcloud.kubernetes.api.tables import cells

LONGEST_NOTE: Final = 140
"""Bytes of an annotation that stand on one line."""


def write_name(page: Page, obj: Object, *, namespace: bool = True) -> None:
    """Name and namespace."""
    page.field("Name", meta(obj)["name"])
    if namespace:
        page.field("Namespace", meta(obj).get("namespace", ""))


def write_metadata(page: Page, obj: Object) -> None:
    """Labels and annotations."""
    write_labels(page, "Labels", meta(obj).get("labels"))
    write_annotations(page, meta(obj).get("annotations"))


def write_labels(page: Page, title: str, labels: Object | None, level: int = 0) -> None:
    """Pairs, in the order of their names."""
    page.several(title, label_lines(labels), level)


def label_lines(labels: Object | None) -> list[str]:
    """Pairs, each as a line."""
    return [f"{key}={value}" for key, value in sorted((labels or {}).items())]


def write_annotations(page: Page, annotations: Object | None, level: int = 0) -> None:
    """Annotations but the one that apply writes."""
    page.several("Annotations", annotation_lines(annotations), level)


def annotation_lines(annotations: Object | None) -> list[str]:
    """Annotations; the text of a long one, or of several lines, on lines of its own."""
    lines = []
    for key, value in sorted((annotations or {}).items()):
        if key == LAST_APPLIED:
            continue
        shown = value.removesuffix("\n")
        if "\n" not in shown and len(key.encode()) + len(shown.encode()) + 2 <= LONGEST_NOTE:
            lines.append(f"{key}: {shown}")
        else:
            lines.append("\n".join([f"{key}:", *(f"\t  {shorten_line(line)}" for line in shown.split("\n"))]))
    return lines


def shorten_line(line: str, limit: int = LONGEST_NOTE - 2) -> str:
    """Cut a line that is too long."""
    encoded = line.encode()
    return line if len(encoded) <= limit else encoded[:limit].decode(errors="replace") + "..."


def controller_of(obj: Object) -> Object | None:
    """The reference to an object's controller."""
    return next(
        (reference for reference in cells.items(meta(obj), "ownerReferences") if reference.get("controller")),
        None,
    )


def write_controller(page: Page, obj: Object) -> None:
    """What controls the object, if anything does."""
    owner = controller_of(obj)
    if owner is not None:
        page.field("Controlled By", f"{cells.text(owner, 'kind')}/{cells.text(owner, 'name')}")


def lasts(obj: Object, now_s: float) -> str:
    """How long an object has been going."""
    since = cells.seconds(meta(obj).get("deletionTimestamp"))
    return "<unknown>" if since is None else times.human_duration(now_s - since)


def write_resources(page: Page, resources: Object, level: int) -> None:
    """Limits and requests."""
    for title in ("Limits", "Requests"):
        amounts = resources.get(title.lower())
        if amounts:
            page.line(f"{title}:", level=level)
            write_amounts(page, amounts, level + 1)


def write_amounts(page: Page, amounts: Object, level: int) -> None:
    """Quantities by the name of their resource."""
    for name in sorted(amounts):
        page.field(name, cells.amount(amounts[name]), level)


def write_tolerations(page: Page, tolerations: Iterable[Object], level: int = 0) -> None:
    """Which taints a pod stands."""
    ordered = go_sorted(
        list(tolerations), lambda one, other: cells.text(one, "key") < cells.text(other, "key")
    )
    page.several("Tolerations", map(_toleration, ordered), level)


def _toleration(toleration: Object) -> str:
    key, value, effect = (
        cells.text(toleration, "key"),
        cells.text(toleration, "value"),
        cells.text(toleration, "effect"),
    )
    shown = key + (f"={value}" if value else "") + (f":{effect}" if effect else "")
    if toleration.get("operator") == "Exists" and not value:
        shown += " op=Exists" if shown else "op=Exists"
    if toleration.get("tolerationSeconds") is not None:
        shown += f" for {toleration['tolerationSeconds']}s"
    return shown


def write_taints(page: Page, taints: Iterable[Object]) -> None:
    """What keeps pods away from a node."""
    ordered = sorted(taints, key=lambda one: f"{cells.text(one, 'effect')},{cells.text(one, 'key')}")
    page.several("Taints", map(_taint, ordered))


def _taint(taint: Object) -> str:
    key, value, effect = cells.text(taint, "key"), cells.text(taint, "value"), cells.text(taint, "effect")
    return key + (f"={value}" if value else "") + (f":{effect}" if effect else "")


def write_spread(page: Page, constraints: Sequence[Object], level: int = 0) -> None:
    """How pods are spread, if that is asked for."""
    if constraints:
        ordered = sorted(constraints, key=lambda one: cells.text(one, "topologyKey"))
        page.several("Topology Spread Constraints", map(_spread, ordered), level)


def _spread(constraint: Object) -> str:
    where, otherwise = cells.text(constraint, "topologyKey"), cells.text(constraint, "whenUnsatisfiable")
    shown = f"{where}:{otherwise} when max skew {cells.count(constraint, 'maxSkew')} is exceeded"
    return (
        f"{shown} for selector {cells.selector(constraint['labelSelector'])}"
        if constraint.get("labelSelector")
        else shown
    )


def write_brief_conditions(page: Page, conditions: Sequence[Object]) -> None:
    """Conditions of a workload: type, status and reason."""
    if conditions:
        page.line("Conditions:")
        rows = [
            (
                f"{cells.text(condition, 'type')} ",
                cells.text(condition, "status"),
                cells.text(condition, "reason"),
            )
            for condition in conditions
        ]
        page.table(("Type", "Status", "Reason"), rows)


def write_dated_conditions(page: Page, conditions: Sequence[Object]) -> None:
    """Conditions with the time of their last change."""
    if conditions:
        page.line("Conditions:")
        page.table(
            ("Type", "Status", "LastTransitionTime", "Reason", "Message"),
            (
                (
                    cells.text(condition, "type"),
                    cells.text(condition, "status"),
                    long_time(condition.get("lastTransitionTime")),
                    cells.text(condition, "reason"),
                    cells.text(condition, "message"),
                )
                for condition in conditions
            ),
        )


def write_created(page: Page, obj: Object) -> None:
    """When the object was made."""
    page.field("CreationTimestamp", long_time(meta(obj).get("creationTimestamp")))


def boolean(value: Any) -> str:
    """``True`` or ``False``."""
    return "True" if value else "False"
