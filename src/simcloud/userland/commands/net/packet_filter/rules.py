"""Parses and formats the rules of iptables."""

from __future__ import annotations

from ipaddress import IPv4Network
from random import Random
from typing import Final

from simcloud.machine.network import Endpoint, is_address, packet_filter
from simcloud.userland.commands.options import UsageError

VERSION: Final = "v1.8.9 (nf_tables)"
PROTOCOLS: Final = {"all": "0", "icmp": "1", "tcp": "6", "udp": "17"}
SERVICES: Final = {"ssh": 22, "domain": 53, "http": 80, "https": 443}
STATES: Final = ("NEW", "ESTABLISHED", "RELATED", "INVALID", "UNTRACKED")
REJECTIONS: Final = ("icmp-port-unreachable", "icmp-host-unreachable", "icmp-net-unreachable", "tcp-reset")
VERDICTS: Final = (
    "", packet_filter.ACCEPT, packet_filter.DROP, packet_filter.REJECT, packet_filter.DNAT, packet_filter.REDIRECT,
)  # fmt: skip
PROBABILITY_UNITS: Final = 1 << 31
ANYWHERE: Final = "0.0.0.0/0"
SEE_HELP: Final = "Try `iptables -h' or 'iptables --help' for more information."


def mistake(text: str) -> UsageError:
    """A wrong command line, in iptables' words."""
    return UsageError(f"iptables {VERSION}: {text}\n{SEE_HELP}", 2)


def read_rule(words: list[str], chance: Random) -> packet_filter.Rule:
    """The rule that these words describe; one that takes a share of the packets draws from ``chance``."""
    found: dict[str, str] = {}
    names = {"-p": "protocol", "--protocol": "protocol", "-s": "source", "--source": "source", "-d": "destination",
             "--destination": "destination", "-j": "jump", "--jump": "jump", "--dport": "dport", "--sport": "sport",
             "--destination-port": "dport", "--source-port": "sport", "-i": "in", "-o": "out", "-m": "match",
             "--in-interface": "in", "--out-interface": "out", "--state": "state", "--ctstate": "state",
             "--comment": "comment", "--reject-with": "reject", "--mode": "mode", "--probability": "probability",
             "--to-destination": "to", "--to-ports": "to", "--to-port": "to"}  # fmt: skip
    rest = iter(words)
    for word in rest:
        name = names.get(word)
        if name is None:
            raise mistake(f'unknown option "{word}"' if word.startswith("-") else f"Bad argument `{word}'")
        value = next(rest, None)
        if value is None:
            raise mistake(f'option "{word}" requires an argument')
        if name != "match":
            found[name] = value
        elif value not in ("tcp", "udp", "state", "conntrack", "comment", "icmp", "statistic"):
            raise mistake(f"Couldn't load match `{value}':No such file or directory\n")
    return _rule(found, chance)


def _rule(found: dict[str, str], chance: Random) -> packet_filter.Rule:
    transport = found.get("protocol", "all").lower()
    transport = next((name for name, number in PROTOCOLS.items() if number == transport), transport)
    if transport not in PROTOCOLS:
        raise mistake(f'unknown protocol "{transport}" specified')
    for name in ("dport", "sport"):
        if name in found and transport not in ("tcp", "udp"):
            raise mistake(f'unknown option "--{name}"')
    verdict = found.get("jump", "")
    if verdict not in VERDICTS:
        raise UsageError(f"iptables {VERSION}: Chain '{verdict}' does not exist\n{SEE_HELP}", 2)
    states = tuple(found["state"].split(",")) if "state" in found else ()
    if any(state not in STATES for state in states):
        raise mistake(f'Bad state "{found["state"]}"')
    if found.get("reject", REJECTIONS[0]) not in REJECTIONS:
        raise mistake(f'unknown reject type "{found["reject"]}"')
    probability = _probability(found)
    rule = packet_filter.Rule(
        verdict=verdict,
        transport=transport,
        source=_network(found.get("source")),
        target=_network(found.get("destination")),
        source_ports=_ports(found.get("sport")),
        target_ports=_ports(found.get("dport")),
        states=states,
        interface=found.get("in", "") or found.get("out", ""),
        probability=1.0 if probability is None else probability,
        chance=None if probability is None else chance,
        to=_destination(verdict, found),
    )
    rule.spec = _format_rule(rule, found)
    return rule


def _destination(verdict: str, found: dict[str, str]) -> Endpoint | None:
    """Return where DNAT or REDIRECT send packets, None for other verdicts."""
    if verdict not in (packet_filter.DNAT, packet_filter.REDIRECT):
        return None
    word = found.get("to", "")
    address, _, port = word.partition(":") if verdict == packet_filter.DNAT else ("127.0.0.1", "", word)
    if verdict == packet_filter.DNAT and not word:
        raise mistake('DNAT: option "--to-destination" must be specified')
    if not is_address(address):
        raise mistake(f'Bad IP address "{address}"')
    if port and (not port.isdecimal() or not 0 < int(port[:6]) < 65_536):
        raise mistake(f"Port `{port}' not valid")
    return address, int(port or 0)


def _probability(found: dict[str, str]) -> float | None:
    """The share of packets that ``-m statistic`` takes, as precisely as the kernel keeps it; None without one."""
    if "mode" not in found and "probability" not in found:
        return None
    if found.get("mode") != "random":
        raise mistake(
            f'Bad mode "{found["mode"]}"' if "mode" in found else "statistic: --mode must be specified"
        )
    word = found.get("probability")
    if word is None:
        raise mistake("statistic match: you must specify `--probability' in random mode")
    try:
        share = float(word)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise mistake(f'statistic: Bad value for "--probability" option: "{word}", or out of range (0-1)')
    return round(share * PROBABILITY_UNITS) / PROBABILITY_UNITS


def _network(word: str | None) -> IPv4Network | None:
    if word is None or word in (ANYWHERE, "anywhere"):
        return None
    try:
        return IPv4Network(word, strict=False)
    except ValueError:
        raise mistake(f"host/network `{word}' not found") from None


def _ports(word: str | None) -> tuple[int, int] | None:
    if word is None:
        return None
    low, colon, high = word.partition(":")
    ends = []
    for text, default in ((low, 0), (high if colon else low, 65_535)):
        port = SERVICES.get(text, -1) if not text.isdecimal() else int(text[:6])
        port = default if not text and colon else port
        if not 0 <= port < 65_536:
            raise mistake(f"invalid port/service `{word}' specified")
        ends.append(port)
    return ends[0], ends[1]


def _span(ports: tuple[int, int]) -> str:
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}:{ports[1]}"


def _format_rule(rule: packet_filter.Rule, found: dict[str, str]) -> str:
    """As ``iptables -S`` writes it."""
    words = []
    for flag, network in (("-s", rule.source), ("-d", rule.target)):
        words += [flag, str(network)] if network is not None else []
    for flag, name in (("-i", "in"), ("-o", "out")):
        words += [flag, found[name]] if name in found else []
    words += ["-p", rule.transport] if rule.transport != "all" else []
    if rule.source_ports or rule.target_ports:
        words += ["-m", rule.transport]
    for flag, ports in (("--sport", rule.source_ports), ("--dport", rule.target_ports)):
        words += [flag, _span(ports)] if ports is not None else []
    words += ["-m", "conntrack", "--ctstate", ",".join(rule.states)] if rule.states else []
    if rule.chance is not None:
        words += ["-m", "statistic", "--mode", "random", "--probability", f"{rule.probability:.11f}"]
    words += ["-m", "comment", "--comment", _quote(found["comment"])] if "comment" in found else []
    words += ["-j", rule.verdict] if rule.verdict else []
    words += (
        ["--reject-with", found.get("reject", REJECTIONS[0])] if rule.verdict == packet_filter.REJECT else []
    )
    if "to" in found and rule.to is not None:
        words += ["--to-destination" if rule.verdict == packet_filter.DNAT else "--to-ports", found["to"]]
    return " ".join(words)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
