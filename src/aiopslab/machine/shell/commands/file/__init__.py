"""Commands over files: ls, cp, mv, rm, find, stat and their kin."""

from aiopslab.machine.shell.commands.file import (
    batching,
    changing_modes,
    changing_owners,
    copying,
    dd,
    describing,
    disk_free,
    disk_usage,
    finding,
    kinds,
    listing,
    making,
    paths,
    removing,
    resizing,
    touching,
)

__all__ = [
    "batching",
    "changing_modes",
    "changing_owners",
    "copying",
    "dd",
    "describing",
    "disk_free",
    "disk_usage",
    "finding",
    "kinds",
    "listing",
    "making",
    "paths",
    "removing",
    "resizing",
    "touching",
]
