"""tcpdump: the packets that pass while it runs.

Acknowledgements without data are not simulated as packets; they are shown as if they had been sent at once. Captures
cannot be written to files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import Final
from zlib import crc32

from simcloud.machine.network import (
    Endpoint,
    NetworkError,
    Sighting,
    dns,
    is_address,
    is_host,
    is_loopback,
    pair_name,
)
from simcloud.machine.process import Context, Signal
from simcloud.sim import Closed, Queue
from simcloud.userland.commands.options import UsageError, parse
from simcloud.userland.commands.registry import report_usage_errors
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of

NODE_PORTS: Final = range(30_000, 32_768)
ACK_DELAY_S: Final = 30e-6
ROUND_TRIP_S: Final = 350e-6
BETWEEN_S: Final = 17e-6
"""Two packets are at least this far apart."""
FLAG_LETTERS: Final = {"tcp-syn": "S", "tcp-fin": "F", "tcp-rst": "R", "tcp-push": "P", "tcp-ack": "."}
TOKENS: Final = re.compile(r"tcp\[(?:tcpflags|13)\]\s*&\s*\(?[a-z|\s-]+\)?\s*!=\s*0|[()!]|[^\s()!]+")
CODES: Final = {dns.NXDOMAIN: " NXDomain", dns.SERVFAIL: " ServFail", dns.REFUSED: " Refused"}
Filter = Callable[[Sighting], bool]
Addresses = dict[str, list[str]]


def _parse_filter(words: list[str], addresses: Addresses) -> Filter:
    """Take an expression such as ``tcp port 80 and not host 10.0.0.1`` off the words, up to a closing parenthesis."""
    alternatives: list[list[Filter]] = [[]]
    while words and words[0] != ")":
        word = words.pop(0)
        if word in ("or", "||"):
            alternatives.append([])
        elif word not in ("and", "&&"):
            alternatives[-1].append(_parse_term(word, words, addresses))
    return lambda seen: any(all(part(seen) for part in parts) for parts in alternatives)


def _parse_term(word: str, words: list[str], addresses: Addresses) -> Filter:
    try:
        if word in ("not", "!"):
            negated = _parse_term(words.pop(0), words, addresses)
            return lambda seen: not negated(seen)
        if word == "(":
            inner = _parse_filter(words, addresses)
            words.remove(")")
            return inner
        if word in ("tcp", "udp", "icmp", "arp", "ip", "ip6"):
            return lambda seen: word in ("ip", "tcp" if seen.flags else "udp")
        if word.startswith("tcp["):
            letters = [FLAG_LETTERS[name] for name in re.findall(r"tcp-\w+", word)]
            return lambda seen: any(letter in seen.flags for letter in letters)
        side, word = (word, words.pop(0)) if word in ("src", "dst") else ("", word)
        if word in ("port", "portrange"):
            bounds = words.pop(0).split("-")
            wanted: Container[object] = range(int(bounds[0]), int(bounds[-1]) + 1)
        else:
            wanted = addresses[words.pop(0) if word == "host" else word]
    except (LookupError, ValueError):
        raise UsageError("tcpdump: can't parse filter expression: syntax error") from None
    field, sides = int(isinstance(wanted, range)), {"src": (0,), "dst": (1,)}.get(side, (0, 1))
    return lambda seen: any(seen.ends[side][field] in wanted for side in sides)


class _Capture:
    """The packets of an interface, formatted, in order."""

    def __init__(self, ctx: Context, device: str, form: str, accepts: Filter) -> None:
        self._ctx = ctx
        self._host = ctx.container.namespace
        self._device = device
        self._form = form
        self._accepts = accepts
        self._bases: dict[tuple[Endpoint, ...], int] = {}
        self._last_s = 0.0
        self.lines: Queue[str] = Queue(ctx.kernel)
        self.count = 0

    def see(self, seen: Sighting) -> None:
        """Keep a packet, and the acknowledgement that follows it, if they pass here."""
        device, leaves = self._find_place(seen)
        if device and self._device in ("any", device):
            self._keep(seen, device, leaves)
            if seen.flags in ("P.", "F."):
                counts = seen.counts[1], seen.counts[0] + seen.length + (seen.flags == "F.")
                back = seen._replace(ends=seen.ends[::-1], flags=".", length=0, counts=counts)
                delay_s = ROUND_TRIP_S if seen.is_outgoing and device != "lo" else ACK_DELAY_S
                self._ctx.kernel.call_later(delay_s, lambda _: self._keep(back, device, not leaves))

    def _find_place(self, seen: Sighting) -> tuple[str, bool]:
        """The interface that a packet passes here, if any, and whether it leaves."""
        if seen.namespace is self._host:
            is_local = is_loopback(seen.ends[0][0])
            return (("lo" if seen.is_outgoing else ""), False) if is_local else ("eth0", seen.is_outgoing)
        if not is_host(self._host):
            return "", False
        if seen.namespace.machine == self._host.machine:
            return pair_name(seen.namespace), not seen.is_outgoing
        address, port = seen.ends[seen.is_outgoing]
        is_forwarded = address == self._host.address and port in NODE_PORTS
        return "eth0" if is_forwarded else "", not seen.is_outgoing

    def _keep(self, seen: Sighting, device: str, leaves: bool) -> None:
        if not self._accepts(seen) or self.lines.closed:
            return
        self.count += 1
        now = self._last_s = max(self._ctx.now, self._last_s + BETWEEN_S)
        time = f"{format_moment(Moment.of(now), self._form, zone_of(self._ctx.env))}.{int(now % 1 * 1e6):06d}"
        where = f" {device:<5} {'Out' if leaves else 'In '}" if self._device == "any" else ""
        ends = " > ".join(f"{address}.{port}" for address, port in seen.ends)
        body = self._describe_segment(seen) if seen.flags else _describe_datagram(seen)
        self.lines.put_nowait(f"{time}{where} IP {ends}: {body}\n")

    def _describe_segment(self, seen: Sighting) -> str:
        """Sequence numbers are absolute in the first packet of a connection, and relative to it later."""
        flags, ends, back = seen.flags, seen.ends, seen.ends[::-1]
        sent, received = seen.counts[0] + 1, seen.counts[1] + 1
        if "S" in flags or flags == "R.":
            sent = 0
        if "S" in flags or ends not in self._bases:
            self._bases |= {ends: sent, back: received - 1}
            sent, received = sent + crc32(repr(ends).encode()), received + crc32(repr(back).encode())
        else:
            sent, received = sent - self._bases[ends], received - self._bases[back]
        parts = [f"Flags [{flags}]"]
        if flags != ".":
            parts.append(f"seq {sent}:{sent + seen.length}" if seen.length else f"seq {sent}")
        if "." in flags:
            parts.append(f"ack {received}")
        parts.append(
            f"win {0 if 'R' in flags else 64240 if flags == 'S' else 65160 if flags == 'S.' else 502}"
        )
        own, other = (int(self._ctx.now * 1000 + crc32(end[0].encode())) % 2**32 for end in ends)
        if "S" in flags:
            echo = other if flags == "S." else 0
            parts.append(f"options [mss 1460,sackOK,TS val {own} ecr {echo},nop,wscale 7]")
        elif "R" not in flags:
            parts.append(f"options [nop,nop,TS val {own} ecr {other}]")
        return ", ".join([*parts, f"length {seen.length}"])


def _describe_datagram(seen: Sighting) -> str:
    """A question to a name server and its answer are decoded."""
    message = seen.message
    question = message.question if isinstance(message, dns.Reply) else message
    if not isinstance(question, dns.Question):
        return f"UDP, length {seen.length}"
    number = crc32(f"{question.kind} {question.name}".encode()) % 65_536
    if not isinstance(message, dns.Reply):
        return f"{number}+ {question.kind}? {question.name}. ({question.size_bytes})"
    answers = ", ".join(f"{record.kind} {record.data}" for record in message.answers)
    counts = f"{len(message.answers)}/{len(message.authority)}/{len(message.additional)}"
    head = f"{number}{CODES.get(message.code, '')}{'*' * message.authoritative}"
    return f"{head} {counts} {answers} ({message.size_bytes})".replace("  ", " ")


@report_usage_errors
async def tcpdump(ctx: Context) -> int:
    """Print packets until there were enough of them, or it is interrupted."""
    options = parse(ctx.args, "AB:c:eG:i:KlnNpqs:StUvw:r:xXZ:#")
    namespace, device = ctx.container.namespace, options.last("i", default="eth0")
    if options.any("w", "r"):
        raise UsageError("tcpdump: capture files are not supported")
    if device not in ("any", *(info.name for info in namespace.interfaces())):
        raise UsageError(f"tcpdump: {device}: No such device exists\n(No such device exists)")
    if not ctx.capable("NET_RAW"):
        denied = f"tcpdump: {device}: You don't have permission to perform this capture on that device"
        raise UsageError(f"{denied}\n(socket: Operation not permitted)")
    words = TOKENS.findall(" ".join(options.operands))
    form = "%Y-%m-%d %H:%M:%S" if len(options.all("t")) == 4 else "%H:%M:%S"
    capture = _Capture(ctx, device, form, _parse_filter(words, await _resolve(ctx, words)))
    first, link = "", "EN10MB (Ethernet)"
    if device == "any":
        first, link = "tcpdump: data link type LINUX_SLL2\n", "LINUX_SLL2 (Linux cooked v2)"
    await ctx.err(
        f"{first}tcpdump: verbose output suppressed, use -v[v]... for full protocol decode\n"
        f"listening on {device}, link-type {link}, snapshot length 262144 bytes\n"
    )
    for signal in (Signal.INT, Signal.TERM):
        ctx.signals.on(signal, lambda _signal: capture.lines.close())
    limit, shown = int(options.last("c", default="0")), 0
    namespace.network.set_tap(capture.see, True)
    try:
        while not limit or shown < limit:
            await ctx.out(await capture.lines.get())
            shown += 1
    except Closed:
        pass
    finally:
        namespace.network.set_tap(capture.see, False)
    counts = (
        f"{shown} packet{'s' * (shown != 1)} captured\n{capture.count} packet{'s' * (capture.count != 1)}"
    )
    await ctx.err(f"{counts} received by filter\n0 packets dropped by kernel\n")
    return 0


async def _resolve(ctx: Context, words: list[str]) -> Addresses:
    """The addresses of the hosts in an expression."""
    found: Addresses = {}
    for before, word in zip(["", *words], words, strict=False):
        if is_address(word) or (
            before in ("host", "src", "dst") and word not in ("host", "port", "portrange")
        ):
            try:
                found[word] = await ctx.container.namespace.resolve(word)
            except NetworkError:
                raise UsageError(f"tcpdump: unknown host '{word}'") from None
    return found
