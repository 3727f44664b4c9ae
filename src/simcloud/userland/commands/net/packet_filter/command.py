"""iptables: list and change the filter of the current network namespace.

Only the table ``filter`` with its three chains exists; the rules of Services belong to the cluster and are not
listed.
"""

from __future__ import annotations

from random import Random
from typing import Final

from simcloud.machine.network import PacketFilter, packet_filter
from simcloud.machine.process import Context
from simcloud.userland.commands.net.packet_filter.rules import (
    PROTOCOLS,
    SERVICES,
    VERSION,
    mistake,
    read_rule,
)
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command

TABLES: Final = {
    "filter": packet_filter.CHAINS,
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"),
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "raw": ("PREROUTING", "OUTPUT"),
}
VERBS: Final = {"-A": "add", "--append": "add", "-I": "insert", "--insert": "insert", "-D": "delete",
                "--delete": "delete", "-C": "check", "--check": "check", "-F": "flush", "--flush": "flush",
                "-P": "policy", "--policy": "policy", "-Z": "zero", "--zero": "zero", "-L": "list", "--list": "list",
                "-S": "rules", "--list-rules": "rules"}  # fmt: skip
FLAGS: Final = (
    "-n",
    "--numeric",
    "-v",
    "--verbose",
    "-x",
    "--exact",
    "--line-numbers",
    "--line",
    "-w",
    "--wait",
    "-nv",
    "-vn",
    "-nvx",
)
NO_CHAIN: Final = "iptables: No chain/target/match by that name."
NO_RULE: Final = "iptables: Bad rule (does a matching rule exist in that chain?)."


@command("iptables")
async def iptables(ctx: Context) -> int:
    """List or change the packet filter."""
    words = _split_flags(ctx.args[1:])
    if words in (["-V"], ["--version"]):
        await ctx.out(f"iptables {VERSION}\n")
        return 0
    if not ctx.capable("NET_ADMIN"):
        why = "Could not fetch rule set generation id: Permission denied (you must be root)"
        raise UsageError(f"iptables {VERSION}: {why}", 4)
    table, flags, verb, rest = _parse_words(words)
    if table not in TABLES:
        raise UsageError(
            f"iptables {VERSION}: table '{table}' does not exist\nPerhaps iptables or your kernel needs to be upgraded.",
            3,
        )
    filter_ = ctx.container.namespace.filter or PacketFilter()
    present = filter_.chains if table == "filter" else {name: packet_filter.Chain() for name in TABLES[table]}
    if rest and rest[0] not in present:
        raise UsageError(NO_CHAIN, 1)
    if verb in ("list", "rules"):
        chosen = {rest[0]: present[rest[0]]} if rest else present
        await ctx.out(_list_rules(chosen, flags) if verb == "list" else _format_rules(chosen, flags))
        return 0
    if verb in ("flush", "zero"):
        for name in rest[:1] or present:
            _empty(present[name], verb)
    elif not rest:
        raise mistake("no chain specified")
    else:
        namespace = ctx.container.namespace
        _change(present[rest[0]], verb, rest[1:], ctx.kernel.random(f"packet filter/{namespace.name}"))
    if table != "filter" and verb not in ("flush", "zero"):
        raise UsageError(NO_CHAIN, 1)
    if table == "filter" and verb != "check":
        ctx.container.namespace.use_filter(filter_)
    return 0


def _split_flags(words: list[str]) -> list[str]:
    """``-nvL`` is ``-n -v -L``."""
    found = []
    for word in words:
        if len(word) > 2 and word[0] == "-" and word[1] != "-" and set(word[1:]) <= set("nvxLSF"):
            found += [f"-{letter}" for letter in word[1:]]
        else:
            found.append(word)
    return found


def _parse_words(words: list[str]) -> tuple[str, list[str], str, list[str]]:
    """The table, the flags of listings, what to do, and with what."""
    table, flags, verb, rest = "filter", [], "", []
    left = iter(words)
    for word in left:
        if word in ("-t", "--table"):
            table = next(left, "")
        elif word in FLAGS:
            flags.append(word)
        elif word in VERBS and not verb:
            verb = VERBS[word]
        else:
            rest.append(word)
    if not verb:
        raise mistake("no command specified")
    return table, flags, verb, rest


def _empty(chain: packet_filter.Chain, verb: str) -> None:
    if verb == "flush":
        chain.rules.clear()
        return
    chain.packets = chain.bytes = 0
    for rule in chain.rules:
        rule.packets = rule.bytes = 0


def _change(chain: packet_filter.Chain, verb: str, words: list[str], chance: Random) -> None:
    if verb == "policy":
        if words[:1] not in ([packet_filter.ACCEPT], [packet_filter.DROP]):
            raise UsageError("iptables: Bad policy name. Run `dmesg' for more information.", 1)
        chain.policy = words[0]
        return
    number = int(words[0]) if words and words[0].isdecimal() and len(words[0]) < 9 else None
    if verb == "delete" and number is not None:
        if not 1 <= number <= len(chain.rules):
            raise UsageError("iptables: Index of deletion too big.", 1)
        del chain.rules[number - 1]
        return
    rule = read_rule(words[1:] if number is not None else words, chance)
    if verb in ("delete", "check"):
        found = next((each for each in chain.rules if each.spec == rule.spec), None)
        if found is None:
            raise UsageError(NO_RULE, 1)
        if verb == "delete":
            chain.rules.remove(found)
    elif len(chain.rules) >= packet_filter.MOST_RULES:
        raise UsageError("iptables: Memory allocation problem.", 1)
    elif verb == "insert":
        if number is not None and not 1 <= number <= len(chain.rules) + 1:
            raise UsageError("iptables: Index of insertion too big.", 1)
        chain.rules.insert((number or 1) - 1, rule)
    else:
        chain.rules.append(rule)


# -- showing -------------------------------------------------------------------------------------


def _format_rules(chains: dict[str, packet_filter.Chain], flags: list[str]) -> str:
    text = "".join(f"-P {name} {chain.policy}\n" for name, chain in chains.items())
    for name, chain in chains.items():
        text += "".join(f"-A {name} {rule.spec}".rstrip() + "\n" for rule in chain.rules)
    return text


def _list_rules(chains: dict[str, packet_filter.Chain], flags: list[str]) -> str:
    detailed = any("v" in flag for flag in flags if not flag.startswith("--")) or "--verbose" in flags
    numeric = any("n" in flag for flag in flags if not flag.startswith("--")) or "--numeric" in flags
    numbered = any(flag.startswith("--line") for flag in flags)
    head = " pkts bytes target     prot opt in     out     " if detailed else "target     prot opt "
    parts = []
    for name, chain in chains.items():
        counts = f" {chain.packets} packets, {chain.bytes} bytes" if detailed else ""
        part = f"Chain {name} (policy {chain.policy}{counts})\n"
        part += f"{'num  ' if numbered else ''}{head}source               destination         \n"
        for number, rule in enumerate(chain.rules, 1):
            part += (f"{number:<5}" if numbered else "") + _row(rule, name, detailed, numeric) + "\n"
        parts.append(part)
    return "\n".join(parts)


def _row(rule: packet_filter.Rule, chain: str, detailed: bool, numeric: bool) -> str:
    anywhere = "0.0.0.0/0" if numeric else "anywhere"
    ends = [
        str(end).removesuffix("/32") if end is not None else anywhere for end in (rule.source, rule.target)
    ]
    protocol = PROTOCOLS[rule.transport] if numeric else rule.transport
    counts = f"{_short(rule.packets):>5} {_short(rule.bytes):>5} " if detailed else ""
    enters, leaves = (rule.interface or "*", "*") if chain != "OUTPUT" else ("*", rule.interface or "*")
    where = f"{enters:<7}{leaves:<8}" if detailed else ""
    extra = rule.extra
    if not numeric:
        for name, port in SERVICES.items():
            extra = f"{extra} ".replace(f"pt:{port} ", f"pt:{name} ").rstrip()
    row = f"{counts}{rule.verdict:<11}{protocol:<5}--  {where}{ends[0]:<21}{ends[1]:<20}"
    return f"{row} {extra}" if extra else row


def _short(count: int) -> str:
    """Large counts in thousands or more."""
    for unit in ("", "K", "M", "G"):
        if count < 100_000:
            return f"{count}{unit}"
        count = round(count / 1000)
    return f"{count}T"
