"""nft: list the packet filter of a node as nftables sees it.

The rules are those of iptables, in whose tables iptables-nft keeps them, and the table of kindnet's network policies.
They can be changed with iptables only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from simcloud.machine.process import Context
from simcloud.userland.commands.net.packet_filter.command import view_table
from simcloud.userland.commands.net.packet_filter.translation import translate_rule
from simcloud.userland.commands.options import UsageError, parse
from simcloud.userland.commands.registry import report_usage_errors

VERSION: Final = "nftables v1.0.6 (Lester Gooch #5)\n"
FAMILIES: Final = ("ip", "ip6", "inet", "arp", "bridge", "netdev")
TABLES: Final = {"ip": ("nat", "mangle", "filter"), "ip6": ("mangle", "nat", "filter")}
"""Docker's rules, which are for IPv4 only, came first, then the kubelet's hint."""

PRIORITIES: Final = {
    "mangle": "-150",
    "dstnat": "-100",
    "filter": "0",
    "srcnat": "100",
    "srcnat - 5": "95",
    "dstnat + 5": "-95",
}
NAT_HOOKS: Final = {"PREROUTING": "dstnat", "INPUT": "100", "OUTPUT": "-100", "POSTROUTING": "srcnat"}
POLICY_TABLE: Final = "kindnet-network-policies"
QUEUED: Final = tuple(
    f"{family} {side} @podips-v{version} queue flags bypass to 101"
    for family, version in (("ip", 4), ("ip6", 6))
    for side in ("saddr", "daddr")
)
POLICY_CHAINS: Final = {
    "postrouting": ("srcnat - 5", ("udp dport 53 accept", "meta l4proto ipv6-icmp accept", "meta skuid 0 accept",
                                   "ct state established,related accept", *QUEUED)),
    "prerouting": ("dstnat + 5", ("meta l4proto != udp accept", "udp dport != 53 accept", *QUEUED)),
}  # fmt: skip
NO_SUCH: Final = "No such file or directory"
EXPECTED: Final = {"table": 1, "chain": 2, "tables": 0, "chains": 0, "ruleset": 0}
"""What can be listed, and how many names it takes after the family."""

LONG: Final = ("version", "handle", "numeric", "stateless", "numeric-priority")


class Format(NamedTuple):
    """The options of the output."""

    numeric: bool
    priorities: bool
    stateless: bool
    handles: bool

    def mark(self, handle: int) -> str:
        """The comment with a number that ``-a`` asks for."""
        return f" # handle {handle}" if self.handles else ""


class Table(NamedTuple):
    """A table: its sets by name, the hook of each chain, its rules, and whether iptables has made it."""

    family: str
    name: str
    sets: dict[str, str]
    hooks: dict[str, str]
    rules: dict[str, list[str]]
    is_foreign: bool = False


@report_usage_errors
async def nft(ctx: Context) -> int:
    """List tables, chains and rules."""
    options = parse(ctx.args, "vansyj", LONG)
    if options.any("v", "version"):
        await ctx.out(VERSION)
        return 0
    words = " ".join(options.operands).split()
    if not words:
        raise UsageError(f"{ctx.args[0]}: no command specified")
    if "j" in options:
        raise UsageError("JSON support not compiled-in")
    if words[0] in ("add", "create", "insert", "replace", "delete", "destroy", "flush", "rename", "reset"):
        raise UsageError(
            _point(words, 0, "Could not process rule: Operation not supported", len(" ".join(words)))
        )
    if words[0] != "list":
        raise UsageError(_point(words, len(words), "syntax error, unexpected newline"))
    kind, family, names = _parse_words(words)
    if not ctx.capable("NET_ADMIN"):
        raise UsageError("Operation not permitted (you must be root)\nnetlink: Error: cache initialization failed: Operation not permitted")  # fmt: skip
    numeric = options.any("n", "numeric")
    priorities = numeric or options.any("y", "numeric-priority")
    form = Format(numeric, priorities, options.any("s", "stateless"), options.any("a", "handle"))
    tables = list(_list_tables(ctx, form))
    family = family or ("ip" if names else "")
    chosen = [table for table in tables if family in ("", table.family) and names[:1] in ([], [table.name])]
    if names and (not chosen or (len(names) == 2 and names[1] not in chosen[0].rules)):
        place = len(words) - len(names) + (len(names) == 2 and bool(chosen))
        raise UsageError(_point(words, place, NO_SUCH))
    for table in chosen:
        head = f"table {table.family} {table.name}"
        if table.is_foreign and kind not in ("tables", "chains"):
            await ctx.err(f"# Warning: {head} is managed by iptables-nft, do not touch!\n")
        handle = form.mark(tables.index(table) + 1)
        body = _format_table(table, kind, names[1:], form)
        await ctx.out(f"{head}\n" if kind == "tables" else f"{head} {{{handle}\n{body}\n}}\n")
    return 0


def _parse_words(words: Sequence[str]) -> tuple[str, str, list[str]]:
    """What to list, of which family, and the names of a table and a chain."""
    kind = words[1] if len(words) > 1 else ""
    if kind not in EXPECTED:
        raise UsageError(_point(words, 1, "syntax error, unexpected " + ("string" if kind else "newline")))
    family = words[2] if words[2:3] and words[2] in FAMILIES else ""
    names = list(words[3 if family else 2 :])
    count = EXPECTED[kind]
    if len(names) < count:
        raise UsageError(_point(words, len(words), "syntax error, unexpected newline, expecting string"))
    if len(names) > count:
        what = "syntax error, unexpected string, expecting end of file or newline or semicolon"
        raise UsageError(_point(words, len(words) - len(names) + count, what))
    return kind, family, names


def _point(words: Sequence[str], place: int, message: str, width: int = 0) -> str:
    """An error with the command below it, and a mark below a word or the end."""
    line = " ".join(words)
    before = " ".join(words[:place])
    column = len(before) + (0 < place < len(words))
    width = width or (len(words[place]) if place < len(words) else 1)
    return f"Error: {message}\n{line}\n{' ' * column}{'^' * width}"


def _list_tables(ctx: Context, form: Format) -> Iterator[Table]:
    for family, name in ((family, name) for family, names in TABLES.items() for name in names):
        view = view_table(ctx, name, family == "ip6")
        if not any(chain.rules or not chain.policy for chain in view.values()):
            continue
        hooks = {
            chain: _describe_hook(name, chain, content.policy, form.priorities)
            for chain, content in view.items()
            if content.policy
        }
        rules = {
            chain: [translate_rule(rule, form.numeric, form.stateless) for rule in content.rules]
            for chain, content in view.items()
        }
        is_foreign = any(foreign for found in rules.values() for _, foreign in found)
        texts = {chain: [text for text, _ in found] for chain, found in rules.items()}
        yield Table(family, name, {}, hooks, texts, is_foreign)
    namespace = ctx.container.namespace
    cluster = namespace.network.cluster
    if cluster is not None and cluster.is_node(namespace.machine):
        yield _show_policies(cluster.list_isolated(namespace.machine), form)


def _describe_hook(table: str, chain: str, policy: str, numeric: bool) -> str:
    kind = "nat" if table == "nat" else "route" if (table, chain) == ("mangle", "OUTPUT") else "filter"
    priority = NAT_HOOKS[chain] if table == "nat" else table
    shown = PRIORITIES.get(priority, priority) if numeric else priority
    return f"type {kind} hook {chain.lower()} priority {shown}; policy {policy.lower()};"


def _show_policies(pods: Sequence[str], form: Format) -> Table:
    """The table of kindnet, which hands packets of selected pods to its own program."""
    addresses = sorted(pods, key=lambda address: [int(part) for part in address.split(".")])
    pairs = [", ".join(addresses[place : place + 2]) for place in range(0, len(addresses), 2)]
    elements = ",\n\t\t\t     ".join(pairs)
    sets = {
        "podips-v4": "\t\ttype ipv4_addr" + (f"\n\t\telements = {{ {elements} }}" if pods else ""),
        "podips-v6": "\t\ttype ipv6_addr",
    }
    hooks = {
        name: f"type filter hook {name} priority {PRIORITIES[priority] if form.priorities else priority}; policy accept;"
        for name, (priority, _) in POLICY_CHAINS.items()
    }
    rules = {name: list(found) for name, (_, found) in POLICY_CHAINS.items()}
    return Table("inet", POLICY_TABLE, sets, hooks, rules)


def _format_table(table: Table, kind: str, names: Sequence[str], form: Format) -> str:
    """The sets and chains of a table: only those chains that have names, if there are any."""
    blocks = []
    handle = len(table.rules)
    for name, content in table.sets.items():
        handle += 1
        if not names and kind != "chains":
            blocks.append(f"\tset {name} {{{form.mark(handle)}\n{content}\n\t}}")
    for place, (name, rules) in enumerate(table.rules.items(), 1):
        lines = [f"\tchain {name} {{{form.mark(place)}"]
        lines += [f"\t\t{table.hooks[name]}"] if name in table.hooks else []
        for rule in rules:
            handle += 1
            lines += [f"\t\t{rule}{form.mark(handle)}"] if kind != "chains" else []
        if not names or name in names:
            blocks.append("\n".join([*lines, "\t}"]))
    return ("\n" if kind == "chains" else "\n\n").join(blocks)
