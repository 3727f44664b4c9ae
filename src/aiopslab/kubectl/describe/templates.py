"""Templates of pods, and how the pods made from them fare."""

from __future__ import annotations

from collections import Counter

from aiopslab.cluster.api.objects import Object, meta
from aiopslab.cluster.api.selectors import LabelSelector
from aiopslab.cluster.api.tables.cells import items, part, text
from aiopslab.kubectl.describe.containers import write_containers
from aiopslab.kubectl.describe.parts import (
    controller_of,
    write_annotations,
    write_labels,
    write_spread,
    write_tolerations,
)
from aiopslab.kubectl.describe.pods import write_scheduling_group
from aiopslab.kubectl.describe.volumes import write_volumes
from aiopslab.kubectl.describe.writing import UNSET, Page
from aiopslab.kubectl.reader import Reader


def write_template(page: Page, template: Object | None) -> None:
    """What new pods will be like."""
    page.line("Pod Template:")
    if template is None:
        page.write(f"  {UNSET}")
        return
    metadata, spec = part(template, "metadata"), part(template, "spec")
    write_labels(page, "Labels", metadata.get("labels"), 1)
    if metadata.get("annotations"):
        write_annotations(page, metadata["annotations"], 1)
    page.optional("Service Account", spec.get("serviceAccountName"), 1)
    if items(spec, "initContainers"):
        write_containers(page, "Init Containers", spec["initContainers"])
    write_containers(page, "Containers", items(spec, "containers"))
    write_volumes(page, items(spec, "volumes"), 1)
    write_spread(page, items(spec, "topologySpreadConstraints"), 1)
    page.optional("Priority Class Name", spec.get("priorityClassName"), 1)
    write_labels(page, "Node-Selectors", spec.get("nodeSelector"), 1)
    write_tolerations(page, items(spec, "tolerations"), 1)
    write_scheduling_group(page, spec, 1)


async def pods_status(reader: Reader, owner: Object, selector: LabelSelector) -> str:
    """How many pods of an owner are in which phase."""
    found = await reader.list(reader.resource("pods"), meta(owner)["namespace"], labels=str(selector))
    phases: Counter[str] = Counter()
    for pod in found:
        controller = controller_of(pod)
        if controller is not None and controller.get("uid") == meta(owner)["uid"]:
            phases[text(part(pod, "status"), "phase")] += 1
    return (
        f"{phases['Running']} Running / {phases['Pending']} Waiting / "
        f"{phases['Succeeded']} Succeeded / {phases['Failed']} Failed"
    )
