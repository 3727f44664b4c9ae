"""The older commands on interfaces and routes: ifconfig, route and the tables of netstat."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.net.interfaces import Interface, network_of
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command


def routing_table(ctx: Context, style: str) -> str:
    """The routes as ``netstat -r`` or ``route`` show them."""
    network = network_of(ctx.container.namespace.address)
    rows = [("0.0.0.0", f"{network}.1", "0.0.0.0", "UG"), (f"{network}.0", "0.0.0.0", "255.255.255.0", "U")]
    if not ctx.container.namespace.is_up:
        rows = []
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


def interface_table(ctx: Context) -> str:
    """Return the output of ``netstat -i``."""
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
        await ctx.out(_older_form(Interface(ctx, number, info)))
    return 0


def _older_form(interface: Interface) -> str:
    i = interface.info
    if interface.is_loop:
        flags, hardware = "73<UP,LOOPBACK,RUNNING>", "loop  txqueuelen 1000  (Local Loopback)"
        inet = "inet 127.0.0.1  netmask 255.0.0.0"
    else:
        flags = "4163<UP,BROADCAST,RUNNING,MULTICAST>" if i.is_up else "4098<BROADCAST,MULTICAST>"
        hardware = f"ether {interface.hardware}  txqueuelen 1000  (Ethernet)"
        inet = f"inet {i.address}  netmask 255.255.255.0  broadcast {network_of(i.address)}.255"
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
