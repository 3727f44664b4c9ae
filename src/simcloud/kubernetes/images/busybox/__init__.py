"""The busybox image: a shell and small commands with busybox's output."""

from __future__ import annotations

from functools import cache
from typing import Final

from simcloud.kubernetes.images.busybox.commands import nc_of, ping, ps
from simcloud.kubernetes.images.busybox.listing import ls
from simcloud.kubernetes.images.busybox.messages import VERSION, in_busybox_words, with_usage
from simcloud.kubernetes.images.busybox.wget import wget
from simcloud.machine import BASE_FILES, Image
from simcloud.machine.process import Program
from simcloud.userland.commands import all_commands
from simcloud.userland.commands.net.names import busybox_nslookup

NOT_IN_BUSYBOX: Final = (
    "bash", "curl", "jq", "ss", "dig", "host", "tc", "iptables", "iptables-save", "stress", "stress-ng", "systemctl", "service",
    "journalctl", "shutdown", "crictl", "ssh",
)  # fmt: skip


@cache
def busybox_commands(version: str = VERSION) -> dict[str, Program]:
    """Everything that busybox can do; ``version`` is the banner over a command's usage."""
    known = {name: program for name, program in all_commands().items() if name not in NOT_IN_BUSYBOX}
    own = {
        "nslookup": busybox_nslookup,
        "wget": with_usage(wget, version),
        "ping": with_usage(ping, version),
        "ps": ps,
        "ls": in_busybox_words(with_usage(ls, version)),
        "nc": with_usage(nc_of(known["nc"]), version),
    }
    return {**{name: in_busybox_words(program) for name, program in known.items()}, **own}


@cache
def busybox_image() -> Image:
    """A shell and small commands."""
    accounts = {name: BASE_FILES[name] for name in ("/etc/passwd", "/etc/group", "/etc/nsswitch.conf")}
    return Image("busybox", busybox_commands(), system_files=accounts)
