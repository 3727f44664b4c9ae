"""Formats rules of iptables: for ``-S`` and ``iptables-save`` as they are written, for ``-L`` in columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from shlex import split
from typing import Final, NamedTuple

from simcloud.machine.network import RuleLine
from simcloud.userland.commands.net.packet_filter.rules import PROTOCOLS, SERVICES

WORDS: Final = {
    "--ctstate": "ctstate {}", "--mark": "mark match {}", "--dst-type": "ADDRTYPE match dst-type {}",
    "--src-type": "ADDRTYPE match src-type {}", "--comment": "/* {} */", "--mode": "statistic mode {}",
    "--probability": "probability {}", "--to-destination": "to:{}", "--to-source": "to:{}", "--to-ports": "redir ports {}", "--reject-with": "reject-with {}",
    "--nfacct-name": "nfacct-name  {}", "--seconds": "seconds: {}", "--name": "name: {} side: source mask: 255.255.255.255",
}  # fmt: skip
"""How ``-L`` prints the value of an option."""

FLAGS: Final = {"--random-fully": "random-fully", "--rcheck": "recent: CHECK", "--set": "recent: SET", "--reap": "reap"}  # fmt: skip
SILENT: Final = ("-m", "--mask")


class ChainView(NamedTuple):
    """A chain to be listed; one that a person or a program made has no policy."""

    policy: str
    packets: int
    bytes: int
    rules: Sequence[RuleLine]


Chains = Mapping[str, ChainView]


class Columns(NamedTuple):
    """The parts of a rule, as ``-L`` shows them."""

    target: str
    transport: str
    enters: str
    leaves: str
    source: str
    destination: str
    extra: str


def parse_spec(spec: str) -> Columns:
    """Split a rule into columns."""
    found = {"-j": "", "-p": "all", "-i": "*", "-o": "*", "-s": "", "-d": ""}
    extra: list[str] = []
    negation = ""
    words = iter(split(spec))
    for word in words:
        if word == "!":
            negation = "!"
            continue
        if word in found:
            found[word] = negation + next(words, "")
        elif word in FLAGS:
            extra.append(FLAGS[word])
        elif word in ("--dport", "--sport"):
            ports = next(words, "")
            named = "" if extra and extra[-1].startswith(found["-p"]) else f"{found['-p']} "
            extra.append(f"{named}{word[2]}pt{'s' if ':' in ports else ''}:{ports}")
        elif word == "--set-xmark":
            value, _, mask = next(words, "").partition("/")
            extra.append(f"MARK {'or' if mask == value else 'xor'} {value}")
        elif word in WORDS:
            form, value = WORDS[word], next(words, "")
            inside = "match" in form
            extra.append(("! " if negation and not inside else "") + form.format(negation * inside + value))
        elif word in SILENT:
            next(words, "")
            continue
        negation = ""
    transport, enters, leaves = found["-p"], found["-i"], found["-o"]
    return Columns(found["-j"], transport, enters, leaves, found["-s"], found["-d"], " ".join(extra))


def format_rules(chains: Chains) -> str:
    """The output of ``-S``."""
    text = "".join(f"-P {name} {chain.policy}\n" for name, chain in chains.items() if chain.policy)
    text += "".join(f"-N {name}\n" for name, chain in chains.items() if not chain.policy)
    return text + _format_appends(chains, counted=False)


def _format_appends(chains: Chains, counted: bool) -> str:
    return "".join(
        (f"[{rule.packets}:{rule.bytes}] " if counted else "") + f"-A {name} {rule.spec}".rstrip() + "\n"
        for name, chain in chains.items()
        for rule in chain.rules
    )


def format_saved(table: str, chains: Chains, counted: bool) -> str:
    """One table of ``iptables-save``, without its comments."""
    heads = "".join(
        f":{name} {chain.policy or '-'} [{chain.packets}:{chain.bytes}]\n" for name, chain in chains.items()
    )
    return f"*{table}\n{heads}{_format_appends(chains, counted)}COMMIT\n"


def list_chains(chains: Chains, everything: Chains, flags: Sequence[str], anywhere: str) -> str:
    """The output of ``-L``; ``everything`` is the whole table, in which references are counted, and ``anywhere`` all addresses as numbers."""
    detailed, numeric = "-v" in flags, "-n" in flags
    anywhere = anywhere if numeric else "anywhere"
    numbered = any(flag.startswith("--line") for flag in flags)
    shorten = str if "-x" in flags else _short
    head = "target     prot opt "
    if detailed:
        head = f"{'    pkts      bytes' if '-x' in flags else ' pkts bytes'} {head}in     out     "
    parts = []
    specs = (f" {rule.spec}" for chain in everything.values() for rule in chain.rules)
    references = Counter(spec.partition(" -j ")[2].partition(" ")[0] for spec in specs)
    for name, chain in chains.items():
        counts = f" {shorten(chain.packets)} packets, {shorten(chain.bytes)} bytes" if detailed else ""
        about = f"policy {chain.policy}{counts}"
        if not chain.policy:
            about = f"{references[name]} references"
        part = f"Chain {name} ({about})\n{'num  ' if numbered else ''}{head}source               destination         \n"
        for number, rule in enumerate(chain.rules, 1):
            row = _row(rule, detailed, numeric, "-x" in flags, anywhere)
            part += f"{number:<5}{row}\n" if numbered else f"{row}\n"
        parts.append(part)
    return "\n".join(parts)


def _row(rule: RuleLine, detailed: bool, numeric: bool, exact: bool, anywhere: str) -> str:
    columns = parse_spec(rule.spec)
    ends = [end.removesuffix("/32") or anywhere for end in (columns.source, columns.destination)]
    protocol = PROTOCOLS[columns.transport] if numeric else columns.transport
    shorten, width = (str, 8) if exact else (_short, 5)
    counts = f"{shorten(rule.packets):>{width}} {shorten(rule.bytes):>{width}} " if detailed else ""
    where = f"{columns.enters:<7}{columns.leaves:<8}" if detailed else ""
    extra = columns.extra
    if not numeric:
        for name, port in SERVICES.items():
            extra = f"{extra} ".replace(f"pt:{port} ", f"pt:{name} ").rstrip()
    target = f"{columns.target:<9}  "  # the second space has room for the "!" of a protocol
    row = f"{counts}{target}{protocol:<5}--  {where}{ends[0]:<21}{ends[1]:<20}"
    return f"{row} {extra}" if extra else row


def _short(count: int) -> str:
    """Large counts in thousands or more."""
    if count < 100_000:
        return str(count)
    for unit in "KMG":
        count = (count + 500) // 1000
        if count < 10_000:
            return f"{count}{unit}"
    return f"{(count + 500) // 1000}T"
