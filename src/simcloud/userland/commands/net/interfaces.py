"""ip: show interfaces, addresses and routes."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from simcloud.machine.network import InterfaceInfo, is_loopback
from simcloud.machine.process import Context
from simcloud.userland.commands.file.tables import align_columns
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command

NO_HARDWARE: Final = "00:00:00:00:00:00"
BROADCAST: Final = "ff:ff:ff:ff:ff:ff"
LIFETIME: Final = "       valid_lft forever preferred_lft forever"
OBJECTS: Final = ("address", "addr", "link", "route", "neighbour", "neighbor", "rule")
SHOWING: Final = ("show", "list", "ls", "lst")
FAILED: Final = 2
USAGE: Final = """\
Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }
       ip [ -force ] -batch filename
where  OBJECT := { address | link | neighbour | route | rule }
       OPTIONS := { -V[ersion] | -s[tatistics] | -4 | -br[ief] | -o[neline] }"""


def hardware_of(address: str) -> str:
    """The Ethernet address of the interface that has an address: it follows from it."""
    digest = sha256(address.encode()).hexdigest()
    return "02:42:" + ":".join(digest[at : at + 2] for at in (0, 2, 4, 6))


class Interface:
    """An interface as ip shows it."""

    def __init__(self, ctx: Context, number: int, info: InterfaceInfo) -> None:
        self.info = info
        self.number = number
        self.is_loop = info.name == "lo"
        namespace = ctx.container.namespace
        self._is_host = namespace is ctx.machine.host.namespace
        self._queueing = namespace.network.exit_of(ctx.machine.name if self._is_host else namespace).queueing

    @property
    def name(self) -> str:
        """In a container, with the number of its other end on the machine."""
        return self.info.name if self.is_loop or self._is_host else f"{self.info.name}@if{self.number + 5}"

    @property
    def flags(self) -> str:
        if self.is_loop:
            return "LOOPBACK,UP,LOWER_UP"
        return "BROADCAST,MULTICAST" + (",UP,LOWER_UP" if self.info.is_up else "")

    @property
    def state(self) -> str:
        return "UNKNOWN" if self.is_loop else "UP" if self.info.is_up else "DOWN"

    @property
    def hardware(self) -> str:
        """The Ethernet address."""
        if self.is_loop:
            return NO_HARDWARE
        return hardware_of(self.info.address)

    @property
    def mtu(self) -> int:
        return 65_536 if self.is_loop else 1_500

    def head(self, mode: str = "") -> str:
        """The first line."""
        queue = "noqueue" if self.is_loop or not self._is_host else "pfifo_fast"
        queue = queue if self.is_loop or self._queueing is None else self._queueing.kind
        return (
            f"{self.number}: {self.name}: <{self.flags}> mtu {self.mtu} qdisc {queue} state {self.state}{mode} "
            "group default qlen 1000\n"
        )

    def link(self) -> str:
        """The line about the hardware."""
        if self.is_loop:
            return f"    link/loopback {NO_HARDWARE} brd {NO_HARDWARE}\n"
        netns = "" if self._is_host else " link-netnsid 0"
        return f"    link/ether {self.hardware} brd {BROADCAST}{netns}\n"

    def inet(self) -> str:
        """Return the text after ``inet``."""
        address = self.info.address
        if self.is_loop:
            return f"{address}/8 scope host lo"
        return f"{address}/24 brd {network_of(address)}.255 scope global {self.info.name}"

    def counters(self) -> str:
        """Return the counters of received and sent traffic."""
        i = self.info
        rows = [
            ["RX:  bytes", "packets", "errors", "dropped", " missed", "  mcast"],
            [
                str(i.received_bytes),
                str(i.received_packets),
                str(i.receive_errors),
                str(i.receive_dropped),
                "0",
                "0",
            ],
            ["TX:  bytes", "packets", "errors", "dropped", "carrier", "collsns"],
            [str(i.sent_bytes), str(i.sent_packets), "0", str(i.send_dropped), "0", "0"],
        ]
        lines = align_columns(rows, [True] * 6)
        return "".join(
            f"    {line}{' ' * (11 if number % 2 == 0 else 1)}\n" for number, line in enumerate(lines)
        )


def network_of(address: str) -> str:
    """The first three numbers of an address: networks here have 24 bits."""
    return address.rpartition(".")[0]


@command("ip")
async def ip(ctx: Context) -> int:
    """Show addresses, links and routes; on a machine, take its interface down or up."""
    words = [word for word in ctx.args[1:] if not word.startswith("-")]
    flags = [word.lstrip("-") for word in ctx.args[1:] if word.startswith("-")]
    if any("version".startswith(flag.lower()) and flag for flag in flags if flag[:1] == "V"):
        await ctx.out("ip utility, iproute2-6.1.0, libbpf 1.1.0\n")
        return 0
    if not words or words[0] == "help":
        raise UsageError(USAGE, 255)
    subject = next((name for name in OBJECTS if name.startswith(words[0])), None)
    if subject is None:
        raise UsageError(f'Object "{words[0]}" is unknown, try "ip help".')
    rest = words[1:]
    if subject == "link" and rest[:1] == ["set"]:
        return await _set_link(ctx, rest[1:])
    if subject == "route" and rest[:1] == ["get"]:
        await ctx.out(_route_to(ctx, rest[1] if len(rest) > 1 else ""))
        return 0
    if rest and rest[0] in SHOWING:
        rest = rest[1:]
    elif rest and rest[0] in ("add", "del", "delete", "change", "replace", "flush", "append"):
        raise UsageError("RTNETLINK answers: Operation not permitted", FAILED)
    if subject == "route":
        await ctx.out(_routes(ctx))
    elif subject in ("address", "addr", "link"):
        await ctx.out(_interfaces(ctx, subject, rest, flags))
    return 0


def _interfaces(ctx: Context, subject: str, rest: list[str], flags: list[str]) -> str:
    known = [
        Interface(ctx, number, info) for number, info in enumerate(ctx.container.namespace.interfaces(), 1)
    ]
    rest = rest[1:] if rest[:1] == ["dev"] else rest
    if rest and rest[0] not in ("up", "scope", "type"):
        known = [each for each in known if each.info.name == rest[0]]
        if not known:
            raise UsageError(f'Device "{rest[0]}" does not exist.')
    if any(flag and "brief".startswith(flag) and flag != "b" for flag in flags):
        return "".join(_brief(each, subject) for each in known)
    if "o" in flags or "oneline" in flags:
        return "".join(_one_line(each) for each in known)
    counted = any(flag.startswith("s") for flag in flags)
    text = ""
    for each in known:
        text += each.head(" mode DEFAULT" if subject == "link" else "")
        text += "" if "4" in flags else each.link()
        if subject != "link":
            text += f"    inet {each.inet()}\n{LIFETIME}\n"
        text += each.counters() if counted else ""
    return text


def _brief(interface: Interface, subject: str) -> str:
    if subject == "link":
        return f"{interface.name:<16} {interface.state:<14} {interface.hardware} <{interface.flags}> \n"
    length = 8 if interface.is_loop else 24
    return f"{interface.name:<16} {interface.state:<14} {interface.info.address}/{length} \n"


def _one_line(interface: Interface) -> str:
    return f"{interface.number}: {interface.info.name}    inet {interface.inet()}\\{LIFETIME}\n"


async def _set_link(ctx: Context, words: list[str]) -> int:
    words = words[1:] if words[:1] == ["dev"] else words
    names = [info.name for info in ctx.container.namespace.interfaces()]
    if not words or words[0] not in names:
        raise UsageError(
            f'Cannot find device "{words[0]}"'
            if words
            else 'Not enough information: "dev" argument is required.'
        )
    if not ctx.capable("NET_ADMIN"):
        raise UsageError("RTNETLINK answers: Operation not permitted", FAILED)
    if words[0] != "lo" and words[1:2] == ["up"]:
        ctx.container.namespace.up()
    elif words[0] != "lo" and words[1:2] == ["down"]:
        ctx.container.namespace.down()
    elif words[1:2] not in (["up"], ["down"]):
        raise UsageError("RTNETLINK answers: Operation not permitted", FAILED)
    return 0


# -- routes --------------------------------------------------------------------------------------


def _routes(ctx: Context) -> str:
    address = ctx.container.namespace.address
    if not ctx.container.namespace.is_up:
        return ""
    network = network_of(address)
    return (
        f"default via {network}.1 dev eth0 \n{network}.0/24 dev eth0 proto kernel scope link src {address} \n"
    )


def _route_to(ctx: Context, target: str) -> str:
    own = ctx.container.namespace
    if not target:
        raise UsageError("need at least a destination address")
    if is_loopback(target) or target == own.address:
        return f"local {target} dev lo src {target} uid {ctx.files.uid} \n    cache <local> \n"
    if not own.is_up:
        raise UsageError("RTNETLINK answers: Network is unreachable", FAILED)
    via = "" if network_of(target) == network_of(own.address) else f"via {network_of(own.address)}.1 "
    return f"{target} {via}dev eth0 src {own.address} uid {ctx.files.uid} \n    cache \n"
