"""The older commands on interfaces and routes: ifconfig, route and the tables of netstat."""

from __future__ import annotations

from ipaddress import IPv4Network

from simcloud.machine.network import InterfaceInfo, host_tables
from simcloud.machine.process import Context
from simcloud.userland.commands.net.interfaces import Interface
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command


def routing_table(ctx: Context, style: str) -> str:
    """The routes as ``netstat -r`` or ``route`` show them."""
    titles = "Destination     Gateway         Genmask         Flags "
    titles += "  MSS Window  irtt Iface\n" if style == "netstat" else "Metric Ref    Use Iface\n"
    lines = []
    for route in host_tables.routes_of(ctx.container.namespace):
        target, mask = route.target.network_address, route.target.netmask
        flags = "U" + ("G" if route.gateway else "") + ("H" if route.target.prefixlen == 32 else "")
        head = f"{target!s:<15} {route.gateway or '0.0.0.0':<15} {mask!s:<15} "
        if style == "netstat":
            lines.append(f"{head}{flags:<6}    0 0          0 {route.device}\n")
        else:
            lines.append(f"{head}{flags:<5} 0      0        0 {route.device}\n")
    return f"Kernel IP routing table\n{titles}{''.join(lines)}"


@command("arp")
async def arp(ctx: Context) -> int:
    """Show the neighbours' hardware addresses."""
    neighbours = host_tables.neighbours_of(ctx.container.namespace)
    if "-a" in ctx.args[1:]:
        rows = [f"? ({each.address}) at {each.hardware} [ether] on {each.device}\n" for each in neighbours]
    else:
        rows = ["Address                  HWtype  HWaddress           Flags Mask            Iface\n"]
        rows += [
            f"{each.address:<24} {'ether':<7} {each.hardware:<19} {'C':<21} {each.device}\n"
            for each in neighbours
        ]
    await ctx.out("".join(rows))
    return 0


@command("route")
async def route(ctx: Context) -> int:
    """Show the routes."""
    if any(word in ("add", "del") for word in ctx.args[1:]):
        raise UsageError("SIOCADDRT: Operation not permitted", 7)
    await ctx.out(routing_table(ctx, "route"))
    return 0


def _sort_by_name(ctx: Context) -> list[InterfaceInfo]:
    return sorted(ctx.container.namespace.interfaces(), key=lambda info: info.name)


def interface_table(ctx: Context) -> str:
    """Return the output of ``netstat -i``."""
    text = (
        "Kernel Interface table\n"
        "Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
    )
    for i in _sort_by_name(ctx):
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
    infos = [info for info in _sort_by_name(ctx) if not wanted or info.name == wanted[0]]
    if len(wanted) > 1:
        raise UsageError("SIOCSIFFLAGS: Operation not permitted", 255)
    if not infos:
        raise UsageError(f"{wanted[0]}: error fetching interface information: Device not found")
    for info in infos:
        await ctx.out(_older_form(Interface(ctx, info)))
    return 0


def _older_form(interface: Interface) -> str:
    i = interface.info
    if interface.is_loop:
        flags, hardware = "73<UP,LOOPBACK,RUNNING>", "loop  txqueuelen 1000  (Local Loopback)"
        inet = "inet 127.0.0.1  netmask 255.0.0.0"
    else:
        flags = "4163<UP,BROADCAST,RUNNING,MULTICAST>" if i.is_up else "4098<BROADCAST,MULTICAST>"
        hardware = f"ether {interface.hardware}  txqueuelen 1000  (Ethernet)"
        network = IPv4Network(f"{i.address}/{i.prefix_length}", strict=False)
        broadcast = network.broadcast_address if i.prefix_length < 32 else "0.0.0.0"
        inet = f"inet {i.address}  netmask {network.netmask}  broadcast {broadcast}"
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
