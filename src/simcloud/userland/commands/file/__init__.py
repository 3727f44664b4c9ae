"""Commands on files: ls, cp, mv, rm, find, stat and others."""

from simcloud.userland.commands.file import (
    chmod as chmod,
    chown as chown,
    copy as copy,
    creation as creation,
    dd as dd,
    disk_free as disk_free,
    disk_usage as disk_usage,
    find as find,
    kinds as kinds,
    listing as listing,
    paths as paths,
    removal as removal,
    stat as stat,
    touch as touch,
    truncation as truncation,
    xargs as xargs,
)
