"""Commands on files: ls, cp, mv, rm, find, stat and others."""

from simcloud.userland.commands.file import (
    chmod,
    chown,
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
    xargs,
)

__all__ = [
    "chmod",
    "chown",
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
    "xargs",
]
