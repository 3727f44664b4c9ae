"""Commands that look up names: dig, nslookup, host, getent."""

from simcloud.exports import export_lazily
from simcloud.userland.commands.net.names import dig as dig, nslookup as nslookup

with export_lazily(globals()):
    from simcloud.userland.commands.net.names.busybox import busybox_nslookup as busybox_nslookup
