"""Commands over files: ls, cp, mv, rm, find, stat and their kin."""

from simcloud.userland.commands.file import (
    batching,
    changing_modes,
    changing_owners,
    copy,
    creation,
    dd,
    disk_free,
    disk_usage,
    find,
    kinds,
    listing,
    paths,
    removal,
    stat,
    touch,
    truncation,
)

__all__ = [
    "batching",
    "changing_modes",
    "changing_owners",
    "copy",
    "creation",
    "dd",
    "disk_free",
    "disk_usage",
    "find",
    "kinds",
    "listing",
    "paths",
    "removal",
    "stat",
    "touch",
    "truncation",
]
