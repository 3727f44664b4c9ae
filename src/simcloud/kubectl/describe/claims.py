"""What a claim to storage says, as an object of its own or inside a pod's volume."""

from __future__ import annotations

from simcloud.golang.formatting import sprint
from simcloud.kubectl.describe.page import INDENT, NONE, Page
from simcloud.kubectl.describe.parts import annotation_lines, label_lines
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import amount, items, part, text
from simcloud.kubernetes.api.tables.storage import access_modes, class_of


def write_claim(page: Page, claim: Object, level: int = 0, phase: str | None = None) -> None:
    """A claim; ``phase`` is None for a template, which has no name, no state and no finalizers to show."""
    metadata, spec, status = part(claim, "metadata"), part(claim, "spec"), part(claim, "status")
    if phase is not None:
        page.field("Name", metadata["name"], level)
        page.field("Namespace", metadata.get("namespace", ""), level)
    page.field("StorageClass", class_of(claim), level)
    if phase is not None:
        page.field("Status", phase, level)
    page.field("Volume", text(spec, "volumeName"), level)
    for title, lines in (
        ("Labels", label_lines(metadata.get("labels"))),
        ("Annotations", annotation_lines(metadata.get("annotations"))),
    ):
        # Inside a pod these values are indented once more, which is how kubectl happens to print them.
        page.several(title, (f"{INDENT * level}{line}" for line in lines or [NONE]), level)
    if phase is not None:
        page.field("Finalizers", sprint(items(metadata, "finalizers")), level)
    bound = bool(spec.get("volumeName"))
    page.field("Capacity", amount(part(status, "capacity").get("storage")) if bound else "", level)
    page.field("Access Modes", access_modes(items(status, "accessModes")) if bound else "", level)
    page.optional("VolumeMode", spec.get("volumeMode"), level)
    source = spec.get("dataSource")
    if source is not None:
        page.line("DataSource:", level=level)
        page.optional("APIGroup", source.get("apiGroup"), level + 1)
        page.field("Kind", text(source, "kind"), level + 1)
        page.field("Name", text(source, "name"), level + 1)
