"""ip: show interfaces, addresses, routes, neighbours and namespaces."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Final

from simcloud.machine.network import InterfaceInfo, host_tables, is_host, is_loopback
from simcloud.machine.process import Context
from simcloud.userland.commands.file.tables import align_columns
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.chroot import run_inside

hardware_of = host_tables.hardware_of
NO_HARDWARE: Final = "00:00:00:00:00:00"
BROADCAST: Final = "ff:ff:ff:ff:ff:ff"
LIFETIME: Final = "       valid_lft forever preferred_lft forever"
SITE_PREFIX: Final = "fc00:f853:ccd:e793::"
"""The IPv6 network that kind gives to its machines."""
OBJECTS: Final = ("address", "addr", "link", "route", "neighbour", "neighbor", "rule", "netns")
SHOWING: Final = ("show", "list", "ls", "lst")
CHANGING: Final = ("add", "del", "delete", "change", "replace", "flush", "append", "set")
FAILED: Final = 2
RULES: Final = "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n"
USAGE: Final = """\
Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }
       ip [ -force ] -batch filename
where  OBJECT := { address | link | neighbour | netns | route | rule }
       OPTIONS := { -V[ersion] | -s[tatistics] | -4 | -6 | -br[ief] | -d[etails] | -o[neline] }"""


class Interface:
    """An interface as ip shows it."""

    def __init__(self, ctx: Context, info: InterfaceInfo) -> None:
        self.info = info
        self.is_loop = info.name == "lo"
        namespace = ctx.container.namespace
        self._is_pair = info.name.startswith("veth")
        where = ctx.machine.name if namespace is ctx.machine.host.namespace else namespace
        self._queueing = namespace.network.exit_of(where).queueing if info.name == "eth0" else None

    @property
    def name(self) -> str:
        """With the number of its other end."""
        return f"{self.info.name}@if{self.info.peer}" if self.info.peer else self.info.name

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
        return host_tables.draw_hardware(self.info.name) if self._is_pair else hardware_of(self.info.address)

    @property
    def mtu(self) -> int:
        return 65_536 if self.is_loop else 1_500

    @property
    def _peer_namespace(self) -> str:
        """Where the other end of a pair is."""
        if self.is_loop:
            return ""
        return f" link-netns {self.info.netns}" if self.info.netns else " link-netnsid 0"

    def head(self, mode: str = "", alone: bool = False) -> str:
        """The first line; ``alone`` is without a line about the hardware."""
        queue = self._queueing.kind if self._queueing is not None else "noqueue"
        length = "qlen 1000" if self.is_loop or queue != "noqueue" else ""
        return (
            f"{self.info.number}: {self.name}: <{self.flags}> mtu {self.mtu} qdisc {queue} state {self.state}{mode} "
            f"group default {length}{self._peer_namespace if alone else ''}\n"
        )

    def link(self, detailed: bool = False) -> str:
        """The lines about the hardware."""
        limits = " promiscuity 0  allmulti 0 minmtu {} maxmtu {} "
        queues = "addrgenmode eui64 numtxqueues {0} numrxqueues {0} gso_max_size 65536 gso_max_segs 65535 tso_max_size 524280 tso_max_segs 65535 gro_max_size 65536 "
        if self.is_loop:
            more = limits.format(0, 0) + queues.format(1) if detailed else ""
            return f"    link/loopback {NO_HARDWARE} brd {NO_HARDWARE}{more}\n"
        more = limits.format(68, 65535) + f"\n    veth {queues.format(4)}" if detailed else ""
        return f"    link/ether {self.hardware} brd {BROADCAST}{self._peer_namespace}{more}\n"

    def inet(self) -> str:
        """Return the text after ``inet``."""
        address, length = self.info.address, self.info.prefix_length
        if self.is_loop:
            return f"{address}/8 scope host lo"
        broadcast = f" brd {host_tables.network_of(address).broadcast_address}" if length < 32 else ""
        return f"{address}/{length}{broadcast} scope global {self.info.name}"

    def inet6(self) -> list[tuple[str, str]]:
        """The IPv6 addresses, each with its scope."""
        if self.is_loop:
            return [("::1/128", "host")]
        if not self.info.is_up:
            return []
        first, *rest = (int(byte, 16) for byte in self.hardware.split(":"))
        words = [(first ^ 2) << 8 | rest[0], rest[1] << 8 | 0xFF, 0xFE00 | rest[2], rest[3] << 8 | rest[4]]
        link = f"fe80::{':'.join(f'{word:x}' for word in words)}/64"
        if not self.info.address.startswith("172."):
            return [(link, "link")]
        last = self.info.address.rpartition(".")[2]
        return [(f"{SITE_PREFIX}{int(last):x}/64", "global nodad"), (link, "link")]

    def counters(self) -> str:
        """Return the counters of received and sent traffic."""
        i = self.info
        received = (i.received_bytes, i.received_packets, i.receive_errors, i.receive_dropped, 0, 0)
        sent = (i.sent_bytes, i.sent_packets, 0, i.send_dropped, 0, 0)
        width = max(7, len(str(max(received[0], sent[0]))) - 3)
        rows = [
            [f"RX:{'bytes':>{width}}", "packets", "errors", "dropped", " missed", "  mcast"],
            [str(count) for count in received],
            [f"TX:{'bytes':>{width}}", "packets", "errors", "dropped", "carrier", "collsns"],
            [str(count) for count in sent],
        ]
        lines = align_columns(rows, [True] * 6)
        return "".join(
            f"    {line}{' ' * (11 if number % 2 == 0 else 1)}\n" for number, line in enumerate(lines)
        )


@command("ip")
async def ip(ctx: Context) -> int:
    """Show addresses, links, routes and neighbours; on a machine, take its interface down or up."""
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
    if subject == "netns" and rest[:1] == ["exec"]:
        return await _run_in_namespace(ctx, ctx.args[ctx.args.index("exec") + 1 :])
    if rest and rest[0] in SHOWING:
        rest = rest[1:]
    elif rest and rest[0] in CHANGING:
        raise UsageError("RTNETLINK answers: Operation not permitted", FAILED)
    await ctx.out(_show(ctx, subject, rest, flags))
    return 0


def _show(ctx: Context, subject: str, rest: list[str], flags: list[str]) -> str:
    device = rest[rest.index("dev") + 1] if "dev" in rest[:-1] else ""
    if subject == "route":
        return "" if "6" in flags else _routes(ctx, device)
    if subject == "rule":
        return RULES
    if subject == "netns":
        return _namespaces(ctx)
    if subject.startswith("neigh"):
        return "".join(
            f"{each.address} dev {each.device} lladdr {each.hardware} {each.state} \n"
            for each in host_tables.neighbours_of(ctx.container.namespace)
            if device in ("", each.device)
        )
    return _interfaces(ctx, subject, rest, flags)


def _interfaces(ctx: Context, subject: str, rest: list[str], flags: list[str]) -> str:
    known = [Interface(ctx, info) for info in ctx.container.namespace.interfaces()]
    rest = rest[1:] if rest[:1] == ["dev"] else rest
    if "type" in rest[:-1]:
        kind = rest[rest.index("type") + 1]
        known = [each for each in known if kind == "veth" and each.info.peer]
    elif rest and rest[0] not in ("up", "scope"):
        known = [each for each in known if each.info.name == rest[0].partition("@")[0]]
        if not known:
            raise UsageError(f'Device "{rest[0]}" does not exist.')
    if any(flag and "brief".startswith(flag) and flag != "b" for flag in flags):
        return "".join(_brief(each, subject, flags) for each in known)
    if "o" in flags or "oneline" in flags:
        return "".join(_one_line(each, subject, flags) for each in known)
    counted = any(flag.startswith("s") for flag in flags)
    detailed = any(flag and "details".startswith(flag) for flag in flags)
    text = ""
    for each in known:
        alone = "4" in flags or "6" in flags
        text += each.head(" mode DEFAULT" if subject == "link" else "", alone)
        text += "" if alone else each.link(detailed)
        if subject != "link":
            text += "" if "6" in flags else f"    inet {each.inet()}\n{LIFETIME}\n"
            for address, scope in each.inet6() if "4" not in flags else ():
                text += f"    inet6 {address} scope {scope} \n{LIFETIME}\n"
        text += each.counters() if counted else ""
    return text


def _brief(interface: Interface, subject: str, flags: list[str]) -> str:
    if subject == "link":
        return f"{interface.name:<16} {interface.state:<14} {interface.hardware} <{interface.flags}> \n"
    addresses = [] if "6" in flags else [f"{interface.info.address}/{interface.info.prefix_length}"]
    addresses += [address for address, _ in interface.inet6()] if "4" not in flags else []
    return f"{interface.name:<16} {interface.state:<14} {' '.join(addresses)} \n"


def _one_line(interface: Interface, subject: str, flags: list[str]) -> str:
    if subject == "link":
        return interface.head(" mode DEFAULT").rstrip("\n") + "\\" + interface.link()
    lines = [] if "6" in flags else [f"inet {interface.inet()}"]
    lines += [f"inet6 {address} scope {scope} " for address, scope in interface.inet6() if "4" not in flags]
    return "".join(
        f"{interface.info.number}: {interface.info.name}    {line}\\{LIFETIME}\n" for line in lines
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
    if not ctx.capable("NET_ADMIN"):
        raise UsageError("RTNETLINK answers: Operation not permitted", FAILED)
    if words[1:2] not in (["up"], ["down"]) or words[0].startswith("veth"):
        raise UsageError("RTNETLINK answers: Operation not permitted", FAILED)
    if words[0] != "lo" and words[1] == "up":
        ctx.container.namespace.up()
    elif words[0] != "lo":
        ctx.container.namespace.down()
    return 0


# -- namespaces ----------------------------------------------------------------------------------


def _namespaces(ctx: Context) -> str:
    """The named namespaces of the machine, the newest first."""
    here = ctx.container.namespace
    if not is_host(here):
        return ""
    names = [each.netns for each in here.network.interfaces_on(ctx.machine.name) if each.netns]
    rows = [f"{name} (id: {number})\n" for number, name in enumerate(names, 1)]
    return "".join(reversed(rows))


async def _run_in_namespace(ctx: Context, words: list[str]) -> int:
    if not words:
        raise UsageError("No netns name specified", 255)
    if len(words) < 2:
        raise UsageError("No command specified", 255)
    inside = next(
        (each for each in ctx.machine.containers.values() if each.namespace.netns == words[0]), None
    )
    if inside is None:
        raise UsageError(f'Cannot open network namespace "{words[0]}": No such file or directory', 255)
    return await run_inside(ctx, inside, words[1:])


# -- routes --------------------------------------------------------------------------------------


def _routes(ctx: Context, device: str) -> str:
    routes = host_tables.routes_of(ctx.container.namespace)
    return "".join(_format_route(route) for route in routes if device in ("", route.device))


def _format_route(route: host_tables.RouteEntry) -> str:
    target = str(route.target).removesuffix("/32") if route.target != host_tables.DEFAULT else "default"
    via = f"via {route.gateway} " if route.gateway else ""
    automatic = "proto kernel " if route.is_automatic else ""
    scope = f"scope {route.scope} " if route.scope else ""
    source = f"src {route.source} " if route.source else ""
    return f"{target} {via}dev {route.device} {automatic}{scope}{source}\n"


def _route_to(ctx: Context, target: str) -> str:
    own = ctx.container.namespace
    if not target:
        raise UsageError("need at least a destination address")
    try:
        address = IPv4Address(target)
    except ValueError:
        raise UsageError(f'Error: any valid prefix is expected rather than "{target}".', 1) from None
    if is_loopback(target) or target == own.address:
        return f"local {target} dev lo src {target} uid {ctx.files.uid} \n    cache <local> \n"
    matching = [route for route in host_tables.routes_of(own) if address in route.target]
    if not matching:
        raise UsageError("RTNETLINK answers: Network is unreachable", FAILED)
    route = max(matching, key=lambda each: each.target.prefixlen)
    via = f"via {route.gateway} " if route.gateway else ""
    source = own.address
    if route.device.startswith("veth"):
        source = str(IPv4Network(f"{target}/24", strict=False).network_address + 1)
    return f"{target} {via}dev {route.device} src {source} uid {ctx.files.uid} \n    cache \n"
