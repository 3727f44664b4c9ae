"""Interfaces, addresses and routes: ip, ifconfig and route."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from aiopslab.machine.network import InterfaceInfo, is_loopback
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.file.tables import aligned
from aiopslab.machine.shell.commands.options import UsageError
from aiopslab.machine.shell.commands.registry import command

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


class _Interface:
    """An interface as ip shows it."""

    def __init__(self, ctx: Context, number: int, info: InterfaceInfo) -> None:
        self.info = info
        self.number = number
        self.is_loop = info.name == "lo"
        self._is_host = ctx.container.is_host

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
        """An Ethernet address that follows from the first address."""
        if self.is_loop:
            return NO_HARDWARE
        digest = sha256(self.info.addresses[0].encode()).hexdigest()
        return "02:42:" + ":".join(digest[at : at + 2] for at in (0, 2, 4, 6))

    @property
    def mtu(self) -> int:
        return 65_536 if self.is_loop else 1_500

    def head(self, mode: str = "") -> str:
        """The first line."""
        queue = "noqueue" if self.is_loop or not self._is_host else "pfifo_fast"
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

    def inet(self, address: str) -> str:
        """What stands behind ``inet``."""
        if self.is_loop:
            return f"{address}/8 scope host lo"
        return f"{address}/24 brd {_network(address)}.255 scope global {self.info.name}"

    def counters(self) -> str:
        """What came in and went out."""
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
        lines = aligned(rows, [True] * 6)
        return "".join(
            f"    {line}{' ' * (11 if number % 2 == 0 else 1)}\n" for number, line in enumerate(lines)
        )


def _network(address: str) -> str:
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
        _Interface(ctx, number, info) for number, info in enumerate(ctx.container.namespace.interfaces(), 1)
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
            text += "".join(f"    inet {each.inet(address)}\n{LIFETIME}\n" for address in each.info.addresses)
        text += each.counters() if counted else ""
    return text


def _brief(interface: _Interface, subject: str) -> str:
    if subject == "link":
        return f"{interface.name:<16} {interface.state:<14} {interface.hardware} <{interface.flags}> \n"
    length = 8 if interface.is_loop else 24
    addresses = "".join(f"{address}/{length} " for address in interface.info.addresses)
    return f"{interface.name:<16} {interface.state:<14} {addresses}\n"


def _one_line(interface: _Interface) -> str:
    return "".join(
        f"{interface.number}: {interface.info.name}    inet {interface.inet(address)}\\{LIFETIME}\n"
        for address in interface.info.addresses
    )


async def _set_link(ctx: Context, words: list[str]) -> int:
    words = words[1:] if words[:1] == ["dev"] else words
    names = [info.name for info in ctx.container.namespace.interfaces()]
    if not words or words[0] not in names:
        raise UsageError(
            f'Cannot find device "{words[0]}"'
            if words
            else 'Not enough information: "dev" argument is required.'
        )
    if not ctx.container.is_host or ctx.files.uid != 0:
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
    network = _network(address)
    return (
        f"default via {network}.1 dev eth0 \n{network}.0/24 dev eth0 proto kernel scope link src {address} \n"
    )


def _route_to(ctx: Context, target: str) -> str:
    own = ctx.container.namespace
    if not target:
        raise UsageError("need at least a destination address")
    if is_loopback(target) or target in own.addresses:
        return f"local {target} dev lo src {target} uid {ctx.files.uid} \n    cache <local> \n"
    if not own.is_up:
        raise UsageError("RTNETLINK answers: Network is unreachable", FAILED)
    via = "" if _network(target) == _network(own.address) else f"via {_network(own.address)}.1 "
    return f"{target} {via}dev eth0 src {own.address} uid {ctx.files.uid} \n    cache \n"


def routing_table(ctx: Context, style: str) -> str:
    """The routes as ``netstat -r`` or ``route`` show them."""
    network = _network(ctx.container.namespace.address)
    rows: tuple[tuple[str, str, str, str], ...] = ()
    if ctx.container.namespace.is_up:
        rows = (
            ("0.0.0.0", f"{network}.1", "0.0.0.0", "UG"),
            (f"{network}.0", "0.0.0.0", "255.255.255.0", "U"),
        )
    if style == "netstat":
        titles = "Destination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n"
        lines = [f"{a:<15} {b:<15} {c:<15} {d:<6}    0 0          0 eth0\n" for a, b, c, d in rows]
    else:
        titles = "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
        lines = [f"{a:<15} {b:<15} {c:<15} {d:<5} 0      0        0 eth0\n" for a, b, c, d in rows]
    return f"Kernel IP routing table\n{titles}{''.join(lines)}"


@command("route")
async def route(ctx: Context) -> int:
    """Show the routes."""
    if any(word in ("add", "del") for word in ctx.args[1:]):
        raise UsageError("SIOCADDRT: Operation not permitted", 7)
    await ctx.out(routing_table(ctx, "route"))
    return 0


# -- the older forms -----------------------------------------------------------------------------


def interface_table(ctx: Context) -> str:
    """What ``netstat -i`` shows."""
    text = (
        "Kernel Interface table\n"
        "Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
    )
    for i in reversed(ctx.container.namespace.interfaces()):
        mtu, flags = (65_536, "LRU") if i.name == "lo" else (1_500, "BMRU" if i.is_up else "BM")
        text += (
            f"{i.name:<15} {mtu:5d} {i.received_packets:8d} {i.receive_errors:6d} {i.receive_dropped:6d} {0:<6d} "
            f"{i.sent_packets:8d} {0:6d} {i.send_dropped:6d} {0:6d} {flags}\n"
        )
    return text


@command("ifconfig")
async def ifconfig(ctx: Context) -> int:
    """Show interfaces."""
    wanted = [word for word in ctx.args[1:] if not word.startswith("-")]
    infos = [
        info
        for info in reversed(ctx.container.namespace.interfaces())
        if not wanted or info.name == wanted[0]
    ]
    if len(wanted) > 1:
        raise UsageError("SIOCSIFFLAGS: Operation not permitted", 255)
    if not infos:
        raise UsageError(f"{wanted[0]}: error fetching interface information: Device not found")
    for number, info in enumerate(infos):
        await ctx.out(_older_form(_Interface(ctx, number, info)))
    return 0


def _older_form(interface: _Interface) -> str:
    i = interface.info
    if interface.is_loop:
        flags, hardware = "73<UP,LOOPBACK,RUNNING>", "loop  txqueuelen 1000  (Local Loopback)"
        inet = "inet 127.0.0.1  netmask 255.0.0.0"
    else:
        flags = "4163<UP,BROADCAST,RUNNING,MULTICAST>" if i.is_up else "4098<BROADCAST,MULTICAST>"
        hardware = f"ether {interface.hardware}  txqueuelen 1000  (Ethernet)"
        inet = f"inet {i.addresses[0]}  netmask 255.255.255.0  broadcast {_network(i.addresses[0])}.255"
    return (
        f"{i.name}: flags={flags}  mtu {interface.mtu}\n        {inet}\n        {hardware}\n"
        f"        RX packets {i.received_packets}  bytes {i.received_bytes} ({_decimal(i.received_bytes)})\n"
        f"        RX errors {i.receive_errors}  dropped {i.receive_dropped}  overruns 0  frame 0\n"
        f"        TX packets {i.sent_packets}  bytes {i.sent_bytes} ({_decimal(i.sent_bytes)})\n"
        f"        TX errors 0  dropped {i.send_dropped} overruns 0  carrier 0  collisions 0\n\n"
    )


def _decimal(size_bytes: int) -> str:
    size, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{int(size * 10) / 10:.1f} {unit}"
