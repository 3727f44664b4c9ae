"""Interfaces, addresses and routes: ip and ifconfig."""

from __future__ import annotations

from hashlib import sha256

from aiopslab.machine.network import InterfaceInfo
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.registry import command

BOTTOM = {"lo": "00:00:00:00:00:00"}


def _hardware(interface: InterfaceInfo) -> str:
    """An Ethernet address that follows from the interface's first address."""
    if interface.name in BOTTOM:
        return BOTTOM[interface.name]
    digest = sha256(interface.addresses[0].encode() if interface.addresses else b"").hexdigest()
    return "02:42:" + ":".join(digest[i : i + 2] for i in (0, 2, 4, 6))


@command("ip")
async def ip(ctx: Context) -> int:
    """Show addresses, links and routes. Nothing can be changed with it here."""
    words = [word for word in ctx.args[1:] if not word.startswith("-")]
    flags = [word for word in ctx.args[1:] if word.startswith("-")]
    subject = words[0] if words else ""
    action = words[1] if len(words) > 1 else "show"
    if action not in ("show", "list", "ls", "dev", "get") and not action.startswith(("eth", "lo")):
        await ctx.err("RTNETLINK answers: Operation not permitted\n")
        return 2
    only = next((word for word in words[1:] if word.startswith(("eth", "lo"))), None)
    interfaces = [i for i in ctx.container.namespace.interfaces() if only in (None, i.name)]
    if only is not None and not interfaces:
        await ctx.err(f'Device "{only}" does not exist.\n')
        return 1
    if subject and "address".startswith(subject):
        brief = any("br" in flag for flag in flags)
        await ctx.out("".join(_brief(i) if brief else _address(n, i) for n, i in enumerate(interfaces, 1)))
    elif subject and "link".startswith(subject):
        counted = any(flag.startswith("-s") for flag in flags)
        await ctx.out(
            "".join(_link(n, i) + (_counters(i) if counted else "") for n, i in enumerate(interfaces, 1))
        )
    elif subject and ("route".startswith(subject) or subject == "r"):
        address = ctx.container.namespace.address
        gateway = address.rpartition(".")[0] + ".1"
        net = address.rpartition(".")[0] + ".0/24"
        await ctx.out(
            f"default via {gateway} dev eth0 \n{net} dev eth0 proto kernel scope link src {address} \n"
        )
    else:
        await ctx.err(
            f'Object "{subject}" is unknown, try "ip help".\n'
            if subject
            else "Usage: ip [ OPTIONS ] OBJECT\n"
        )
        return 1 if subject else 255
    return 0


def _link(number: int, interface: InterfaceInfo) -> str:
    loop = interface.name == "lo"
    flags = (
        "LOOPBACK,UP,LOWER_UP"
        if loop
        else "BROADCAST,MULTICAST" + (",UP,LOWER_UP" if interface.is_up else "")
    )
    state = "UNKNOWN" if loop else "UP" if interface.is_up else "DOWN"
    mtu, kind, queue = (65536, "loopback", "noqueue") if loop else (1500, "ether", "noqueue")
    broadcast = BOTTOM["lo"] if loop else "ff:ff:ff:ff:ff:ff"
    name = interface.name if loop else f"{interface.name}@if{number + 7}"
    return (
        f"{number}: {name}: <{flags}> mtu {mtu} qdisc {queue} state {state} mode DEFAULT group default qlen 1000\n"
        f"    link/{kind} {_hardware(interface)} brd {broadcast}\n"
    )


def _address(number: int, interface: InterfaceInfo) -> str:
    text = _link(number, interface).replace(" mode DEFAULT", "")
    for address in interface.addresses:
        length, scope = (8, "host lo") if interface.name == "lo" else (24, f"global {interface.name}")
        text += f"    inet {address}/{length} scope {scope}\n       valid_lft forever preferred_lft forever\n"
    return text


def _brief(interface: InterfaceInfo) -> str:
    state = "UNKNOWN" if interface.name == "lo" else "UP" if interface.is_up else "DOWN"
    length = 8 if interface.name == "lo" else 24
    addresses = " ".join(f"{address}/{length}" for address in interface.addresses)
    return f"{interface.name:<16} {state:<14} {addresses} \n"


def _counters(interface: InterfaceInfo) -> str:
    i = interface
    return (
        "    RX:  bytes packets errors dropped  missed   mcast           \n"
        f"    {i.received_bytes:>10} {i.received_packets:>7} {i.receive_errors:>6} {i.receive_dropped:>7}"
        f" {0:>7} {0:>7} \n"
        "    TX:  bytes packets errors dropped carrier collsns           \n"
        f"    {i.sent_bytes:>10} {i.sent_packets:>7} {0:>6} {i.send_dropped:>7} {0:>7} {0:>7} \n"
    )


@command("ifconfig")
async def ifconfig(ctx: Context) -> int:
    """Interfaces, in the older form."""
    for interface in ctx.container.namespace.interfaces():
        flags = "UP,LOOPBACK,RUNNING" if interface.name == "lo" else "UP,BROADCAST,RUNNING,MULTICAST"
        mask = "255.0.0.0" if interface.name == "lo" else "255.255.255.0"
        address = interface.addresses[0] if interface.addresses else ""
        await ctx.out(
            f"{interface.name}: flags=<{flags}>  mtu {65536 if interface.name == 'lo' else 1500}\n"
            f"        inet {address}  netmask {mask}\n"
            f"        RX packets {interface.received_packets}  bytes {interface.received_bytes}\n"
            f"        RX errors {interface.receive_errors}  dropped {interface.receive_dropped}\n"
            f"        TX packets {interface.sent_packets}  bytes {interface.sent_bytes}\n"
            f"        TX errors 0  dropped {interface.send_dropped}\n\n"
        )
    return 0
