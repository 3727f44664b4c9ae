"""Rules of iptables in nft's words, as nft 1.0.6 prints those that iptables-nft 1.8.9 has made."""

from __future__ import annotations

from collections import deque
from shlex import split
from typing import Final

from simcloud.machine.network import RuleLine
from simcloud.userland.commands.net.packet_filter.rules import PROBABILITY_UNITS, PROTOCOLS

HEADS: Final = {
    "-i": 'iifname {}"{}"', "-o": 'oifname {}"{}"', "-p": "meta l4proto {}{}", "-s": "ip saddr {}{}", "-d": "ip daddr {}{}",
}  # fmt: skip
"""Conditions in the order in which nft prints them; the first blank is for a negation."""

ADDRESS_TYPES: Final = {"--src-type": "fib saddr type", "--dst-type": "fib daddr type"}
PORTS: Final = ("--sport", "--dport")
WITHOUT_WORDS: Final = ("comment", *PROTOCOLS)
"""Matches that are not printed; their place in the line stays empty."""

UNTRANSLATED: Final = ("recent", "nfacct")
FLAGS: Final = ("--random-fully", "--rcheck", "--reap", "--set", "--rsource")
TARGETS: Final = {
    "MASQUERADE": "masquerade",
    "REDIRECT": "redirect",
    "REJECT": "reject",
    "MARK": "meta mark set mark",
}
VERDICTS: Final = ("ACCEPT", "DROP", "RETURN")
NATIVE: Final = ("tcp", "udp", "mark")
"""Matches that iptables-nft expresses in nftables' own terms if they have options."""


def translate_rule(rule: RuleLine, numeric: bool, stateless: bool) -> tuple[str, bool]:
    """Return a rule as nft prints it, and whether parts of it are extensions of iptables."""
    heads: dict[str, str] = {}
    matches: list[str] = []
    target: list[str] = []
    transport = negation = ""
    is_foreign = False
    words = deque(split(rule.spec))
    while words:
        word = words.popleft()
        if word == "!":
            negation = "!= "
            continue
        if word in FLAGS:
            target += ["fully-random"] if word == "--random-fully" else []
            continue
        value = words.popleft() if words else ""
        if word in HEADS:
            transport = value if word == "-p" else transport
            shown = PROTOCOLS.get(value, value) if word == "-p" and numeric else value.removesuffix("/32")
            heads[word] = HEADS[word].format(negation, shown)
        elif word == "-m":
            has_options = value in NATIVE and bool(words) and words[0].startswith(("--", "!"))
            is_foreign = is_foreign or not has_options
            if value in UNTRANSLATED:
                matches.append(f"xt match {value}")
            elif value in WITHOUT_WORDS and not has_options:
                matches.append("")
        elif word in PORTS:
            low, _, high = value.partition(":")
            span = f"<= {high}" if high and low == "0" else f"{low}-{high}" if high else low
            matches.append(f"{transport} {word[2:]} {negation}{span}")
        elif word == "-j":
            target.append(value.lower() if value in VERDICTS else TARGETS.get(value, f"jump {value}"))
            is_foreign = is_foreign or value in TARGETS
            if value in ("DNAT", "SNAT"):
                target, is_foreign = [f"{value.lower()} to"], True
        else:
            _translate_option(word, value, negation, matches, target)
        negation = ""
    if matches and matches[0].startswith(f"{transport} "):
        heads.pop("-p", None)  # the ports imply the protocol
    counter = "counter" if stateless else f"counter packets {rule.packets} bytes {rule.bytes}"
    return " ".join(
        [*(heads[flag] for flag in HEADS if flag in heads), *matches, counter, *target]
    ), is_foreign


def _translate_option(word: str, value: str, negation: str, matches: list[str], target: list[str]) -> None:
    first, _, mask = value.partition("/")
    if word == "--ctstate":
        matches.append("ct status dnat" if "DNAT" in value else f"ct state {negation}{value.lower()}")
    elif word == "--mark":
        matches.append(f"meta mark & {int(mask, 16):#010x} {negation or '== '}{int(first, 16):#010x}")
    elif word in ADDRESS_TYPES:
        matches.append(f"{ADDRESS_TYPES[word]} {negation}{value.lower()}")
    elif word == "--probability":
        matches.append(f"meta random & {PROBABILITY_UNITS - 1} < {round(float(value) * PROBABILITY_UNITS)}")
    elif word == "--set-xmark":
        target.append(f"{'or' if mask == first else 'xor'} {first}")
    elif word in ("--to-destination", "--to-source"):
        target.append(value)
    elif word == "--to-ports":
        target.append(f"to :{value}")
    elif word == "--reject-with" and value != "icmp-port-unreachable":
        target.append(
            "with tcp reset" if value == "tcp-reset" else f"with icmp type {value.removeprefix('icmp-')}"
        )
