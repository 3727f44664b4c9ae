"""conntrack: the connections that a machine tracks; ethtool: what a network card says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from zlib import crc32

from simcloud.machine.network import host_tables
from simcloud.machine.process import Context
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command

VERSION: Final = "v1.4.7 (conntrack-tools)"
STATES: Final = {
    "ESTAB": ("ESTABLISHED", 86_400), "SYN-SENT": ("SYN_SENT", 120), "SYN-RECV": ("SYN_RECV", 60),
    "FIN-WAIT-2": ("FIN_WAIT", 120), "TIME-WAIT": ("TIME_WAIT", 120), "CLOSE-WAIT": ("CLOSE_WAIT", 3_600),
    "LAST-ACK": ("LAST_ACK", 30),
}  # fmt: skip
"""The states of connections as conntrack names them, and how long it remembers a silent one."""

FILTERS: Final = {
    "-s": "source", "--src": "source", "--orig-src": "source", "-d": "target", "--dst": "target",
    "--orig-dst": "target", "-p": "transport", "--proto": "transport", "--sport": "sport",
    "--orig-port-src": "sport", "--dport": "dport", "--orig-port-dst": "dport", "--state": "state",
    "-r": "reply_source", "--reply-src": "reply_source", "-q": "reply_target", "--reply-dst": "reply_target",
}  # fmt: skip
COMMANDS: Final = {
    "-L": "list", "--dump": "list", "-C": "count", "--count": "count", "-S": "stats", "--stats": "stats",
}  # fmt: skip
QUEUE_COUNTERS: Final = {
    "rx": ("xdp_packets", "xdp_bytes", "drops", "xdp_redirect", "xdp_drops", "xdp_tx", "xdp_tx_errors"),
    "tx": ("xdp_xmit", "xdp_xmit_errors"),
}
PACKETS_PER_EVENT: Final = (91_300, 25_700, 402_000)
"""How rare a clash, an invalid packet and a repeated search are."""


@command("conntrack")
async def conntrack(ctx: Context) -> int:
    """List or count the tracked connections."""
    verb, wanted = _parse(ctx.args[1:])
    if verb == "version":
        await ctx.out(f"conntrack {VERSION}\n")
        return 0
    if not ctx.capable("NET_ADMIN"):
        raise UsageError(f"conntrack {VERSION}: Operation failed: Operation not permitted")
    if verb == "stats":
        await ctx.out(_statistics(ctx))
        return 0
    flows = host_tables.flows_on(ctx.container.namespace.network, ctx.machine.name)
    if verb == "count":
        await ctx.out(f"{len(flows)}\n")
        return 0
    shown = [flow for flow in flows if _is_wanted(flow, wanted)]
    await ctx.out("".join(_line(flow) for flow in shown))
    await ctx.err(f"conntrack {VERSION}: {len(shown)} flow entries have been shown.\n")
    return 0


def _parse(words: list[str]) -> tuple[str, dict[str, str]]:
    verb, wanted = "", {}
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if word in COMMANDS:
            verb = COMMANDS[word]
        elif word in ("-V", "--version"):
            verb = "version"
        elif option in FILTERS:
            wanted[FILTERS[option]] = value if equals else next(rest, "")
        elif word in ("-o", "-f", "--family"):
            next(rest, "")
        elif word.startswith("-") and word not in ("-n", "--any-nat", "-j"):
            known = "Operation not supported" if word in ("-E", "-D", "-F", "-I", "-U") else "unknown option"
            raise UsageError(f"conntrack {VERSION}: {known}: `{word}'", 2)
    if not verb:
        raise UsageError(
            f"conntrack {VERSION}: You need to supply a command\n"
            "Try `conntrack -h' or 'conntrack --help' for more information.",
            2,
        )
    return verb, wanted


def _is_wanted(flow: host_tables.Flow, wanted: dict[str, str]) -> bool:
    state = STATES.get(flow.state, (flow.state, 0))[0]
    ends = {name: end[0] for name, end in flow._asdict().items() if isinstance(end, tuple)}
    ports = {"sport": str(flow.source[1]), "dport": str(flow.target[1])}
    facts = {**ends, **ports, "transport": flow.transport, "state": state}
    return all(facts[name] == value for name, value in wanted.items())


def _line(flow: host_tables.Flow) -> str:
    state, timeout_s = STATES.get(flow.state, (flow.state, 10))
    left_s = timeout_s - (flow.source[1] % 29 if flow.state == "ESTAB" else flow.source[1] % 100) - 1
    unreplied = " [UNREPLIED]" if flow.state == "SYN-SENT" else ""
    assured = "" if unreplied else "[ASSURED] "
    ways = [
        f"src={source[0]} dst={target[0]} sport={source[1]} dport={target[1]}"
        for source, target in ((flow.source, flow.target), (flow.reply_source, flow.reply_target))
    ]
    if flow.transport == "udp":
        ways[0] += " [UNREPLIED]" if flow.state == "UNREPLIED" else ""
        ways[1] += " [ASSURED]" if flow.state == "ASSURED" else ""
        return f"udp      17 {flow.left_s} {ways[0]} {ways[1]} mark=0 use=1\n"
    return f"{flow.transport:<8} 6 {max(1, left_s)} {state} {ways[0]}{unreplied} {ways[1]} {assured}mark=0 use=1\n"


def _statistics(ctx: Context) -> str:
    """One line for each core; the rare events grow with the traffic."""
    packets = sum(each.received_packets for each in ctx.container.namespace.interfaces())
    packets //= ctx.machine.cpu.cores
    text = ""
    for core in range(ctx.machine.cpu.cores):
        found, invalid, restarts = (
            packets * (700 + crc32(f"{ctx.machine.name} {core} {rarity}".encode()) % 600) // 1000 // rarity
            for rarity in PACKETS_PER_EVENT
        )
        text += (
            f"cpu={core}   \tfound={found} invalid={invalid} insert=0 insert_failed=0 drop=0 "
            f"early_drop=0 error=0 search_restart={restarts} clash_resolve=0 chaintoolong=0 \n"
        )
    return text


# -- ethtool -------------------------------------------------------------------------------------


@command("ethtool")
async def ethtool(ctx: Context) -> int:
    """Show the driver, the statistics or the settings of an interface."""
    flags = [word for word in ctx.args[1:] if word.startswith("-")]
    names = [word for word in ctx.args[1:] if not word.startswith("-")]
    if flags[:1] == ["--version"]:
        await ctx.out("ethtool version 6.1\n")
        return 0
    if not names:
        raise UsageError("ethtool: bad command line argument(s)\nFor more information run ethtool -h")
    found = [info for info in ctx.container.namespace.interfaces() if info.name == names[0]]
    if not found:
        raise UsageError("netlink error: No such device", 75)
    await ctx.out("".join(_describe_card(ctx, flags[0] if flags else "", found[0].name, found[0].peer)))
    return 0


def _describe_card(ctx: Context, flag: str, name: str, peer: int) -> Iterator[str]:
    if flag in ("-i", "--driver"):
        driver = "veth" if peer else "loopback"
        yield f"driver: {driver}\nversion: {'1.0' if peer else ctx.machine.kernel_release}\nfirmware-version: \n"
        yield "expansion-rom-version: \nbus-info: \n"
        for ability in ("statistics", "test", "eeprom-access", "register-dump", "priv-flags"):
            yield f"supports-{ability}: {'yes' if peer and ability == 'statistics' else 'no'}\n"
    elif flag in ("-S", "--statistics") and peer:
        yield f"NIC statistics:\n     peer_ifindex: {peer}\n"
        for direction, counters in QUEUE_COUNTERS.items():
            for queue in range(ctx.machine.cpu.cores):
                yield from (f"     {direction}_queue_{queue}_{counter}: 0\n" for counter in counters)
    elif flag:
        raise UsageError("netlink error: Operation not supported", 75)
    else:
        speed = "\tSpeed: 10000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: off\n\tPort: Twisted Pair\n"
        yield f"Settings for {name}:\n{speed if peer else ''}\tLink detected: yes\n"
