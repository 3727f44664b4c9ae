"""Queueing disciplines: netem, which simulates a bad network, and tbf, which limits the rate of traffic.

Each is parsed from a command line and printed as in ``tc qdisc show``. The simulated network applies its effect on
packets; duplication, reordering and correlations are stored and printed, but have no effect on connections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from simcloud.machine.network import Impairment
from simcloud.userland.commands.net.traffic_control import units
from simcloud.userland.commands.options import UsageError

NETEM_USAGE: Final = """\
Usage: ... netem [ limit PACKETS ]
                 [ delay TIME [ JITTER [CORRELATION]]]
                 [ distribution {uniform|normal|pareto|paretonormal} ]
                 [ corrupt PERCENT [CORRELATION]]
                 [ duplicate PERCENT [CORRELATION]]
                 [ loss random PERCENT [CORRELATION]]
                 [ loss state P13 [P31 [P32 [P23 P14]]]
                 [ loss gemodel PERCENT [R [1-H [1-K]]]
                 [ ecn ]
                 [ reorder PERCENT [CORRELATION] [ gap DISTANCE ]]
                 [ rate RATE [PACKETOVERHEAD] [CELLSIZE] [CELLOVERHEAD]]
                 [ slot MIN_DELAY [MAX_DELAY] [packets MAX_PACKETS] [bytes MAX_BYTES]]
                 [ slot distribution {uniform|normal|pareto|paretonormal|custom}
                   DELAY JITTER [packets MAX_PACKETS] [bytes MAX_BYTES]]"""
TBF_USAGE: Final = """\
Usage: ... tbf limit BYTES burst BYTES[/BYTES] rate KBPS [ mtu BYTES[/BYTES] ]
\t[ peakrate KBPS ] [ latency TIME ] [ overhead BYTES ] [ linklayer TYPE ]"""
DISTRIBUTIONS: Final = ("uniform", "normal", "pareto", "paretonormal")


class Words:
    """The words of a command line, consumed one by one."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._words)

    def peek(self) -> str:
        """The next word, empty at the end; it stays."""
        return self._words[self._at] if self else ""

    def next(self) -> str:
        """The next word, which must be there."""
        if not self:
            raise UsageError('Command line is not complete. Try option "help"', 255)
        self._at += 1
        return self._words[self._at - 1]

    def next_number(self) -> str:
        """The next word if it begins like a number, else nothing."""
        return self.next() if self.peek()[:1].isdigit() else ""


class Share(Struct, frozen=True):
    """A share of packets, and its correlation with the packet before."""

    share: float = 0.0
    correlation: float = 0.0

    def describe(self, name: str) -> str:
        """Describe the impairment; empty for none."""
        if not self.share:
            return ""
        correlation = f" {units.format_share(self.correlation)}" if self.correlation else ""
        return f" {name} {units.format_share(self.share)}{correlation}"


class Netem(Struct, frozen=True):
    """Simulates a bad network."""

    limit: int = 1000
    delay_s: float = 0.0
    jitter_s: float = 0.0
    delay_correlation: float = 0.0
    loss: Share = field(default=Share())
    duplicate: Share = field(default=Share())
    reorder: Share = field(default=Share())
    corrupt: Share = field(default=Share())
    rate_bytes_s: float = 0.0
    kind: str = "netem"

    def describe(self) -> str:
        """Describe the discipline as ``tc qdisc show`` does."""
        delay = f" delay {units.format_time(self.delay_s)}" if self.delay_s else ""
        if self.delay_s and self.jitter_s:
            delay += f"  {units.format_time(self.jitter_s)}"
            delay += f" {units.format_share(self.delay_correlation)}" if self.delay_correlation else ""
        shares = "".join(
            getattr(self, name).describe(name) for name in ("loss", "duplicate", "reorder", "corrupt")
        )
        rate = f" rate {units.format_rate(self.rate_bytes_s)}" if self.rate_bytes_s else ""
        gap = " gap 1" if self.reorder.share else ""
        return f"limit {self.limit}{delay}{shares}{rate}{gap}"

    def apply(self, place: Impairment) -> None:
        """Do it to the packets that pass a place. Jitter goes both ways from the delay, but never below none."""
        earliest_s = max(0.0, self.delay_s - self.jitter_s)
        place.delay_s = earliest_s
        place.jitter_s = self.delay_s + self.jitter_s - earliest_s if self.jitter_s else 0.0
        place.loss, place.corruption = self.loss.share, self.corrupt.share
        place.bandwidth_bytes_s = self.rate_bytes_s or None


class Tbf(Struct, frozen=True):
    """Limits the rate of traffic."""

    rate_bytes_s: float
    burst_bytes: float
    latency_s: float
    kind: str = "tbf"

    def describe(self) -> str:
        """Describe the discipline as ``tc qdisc show`` does."""
        burst, latency = units.format_size(self.burst_bytes), units.format_time(self.latency_s)
        return f"rate {units.format_rate(self.rate_bytes_s)} burst {burst} lat {latency} "

    def apply(self, place: Impairment) -> None:
        """Hold what passes to the rate."""
        place.bandwidth_bytes_s = self.rate_bytes_s


class Plain(Struct, frozen=True):
    """A queue without effect on packets."""

    kind: str
    settings: str

    def describe(self) -> str:
        """Describe the discipline as ``tc qdisc show`` does."""
        return self.settings

    def apply(self, place: Impairment) -> None:
        """Leave packets unchanged."""


Discipline = Netem | Tbf | Plain

PLAIN: Final = {
    "pfifo": "limit 1000p",
    "pfifo_fast": "bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
    "fq_codel": "limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64 ",
}


def discipline(kind: str, words: Words, before: Netem | None) -> Discipline:
    """Parse the words after a kind; ``before`` is the netem that is being changed."""
    if kind == "netem":
        return _netem(words, before)
    if kind == "tbf":
        return _tbf(words)
    if kind in PLAIN:
        return Plain(kind, PLAIN[kind])
    raise UsageError("Error: Specified qdisc kind is unknown.", 2)


def _netem(words: Words, before: Netem | None) -> Netem:
    # The kernel keeps of these what a change does not mention.
    kept = before or Netem()
    found = Netem(reorder=kept.reorder, corrupt=kept.corrupt, rate_bytes_s=kept.rate_bytes_s)
    while words:
        word = words.next()
        name = next((each for each in _NETEM if each.startswith(word)), None)
        if word == "help":
            raise UsageError(NETEM_USAGE, 1)
        if name is None:
            raise UsageError(f'What is "{word}"?\n{NETEM_USAGE}', 1)
        found = _NETEM[name](found, words)
    if found.reorder.share and not found.delay_s:
        raise UsageError(f"reordering not possible without specifying some delay\n{NETEM_USAGE}", 1)
    return found


def _delay(netem: Netem, words: Words) -> Netem:
    delay_s, jitter_s, correlation = units.time_of(words.next(), "latency"), 0.0, 0.0
    if word := words.next_number():
        jitter_s = units.time_of(word, "latency")
        if word := words.next_number():
            correlation = units.share_of(word, "latency")
    return replace(netem, delay_s=delay_s, jitter_s=jitter_s, delay_correlation=correlation)


def _loss(netem: Netem, words: Words) -> Netem:
    word = words.next()
    word = words.next() if word == "random" else word
    if not word[:1].isdigit():
        raise UsageError(f"Unknown loss parameter: {word}", 1)
    share, more = units.share_of(word, "loss percent"), words.next_number()
    return replace(netem, loss=Share(share, units.share_of(more, "loss correllation") if more else 0.0))


def _some(name: str, words: Words) -> Share:
    share, more = units.share_of(words.next(), name), words.next_number()
    return Share(share, units.share_of(more, name) if more else 0.0)


def _limit(netem: Netem, words: Words) -> Netem:
    word = words.next()
    if not word.isdecimal() or len(word) > 9:
        raise units.illegal("limit")
    return replace(netem, limit=int(word))


def _rate(netem: Netem, words: Words) -> Netem:
    return replace(netem, rate_bytes_s=units.rate_of(words.next(), "rate"))


def _distribution(netem: Netem, words: Words) -> Netem:
    if words.next() not in DISTRIBUTIONS:
        raise UsageError(NETEM_USAGE, 1)
    return netem


_NETEM: Final[dict[str, Callable[[Netem, Words], Netem]]] = {
    "limit": _limit,
    "delay": _delay,
    "latency": _delay,
    "loss": _loss,
    "drop": _loss,
    "reorder": lambda netem, words: replace(netem, reorder=_some("reorder", words)),
    "corrupt": lambda netem, words: replace(netem, corrupt=_some("corrupt", words)),
    "duplicate": lambda netem, words: replace(netem, duplicate=_some("duplicate", words)),
    "distribution": _distribution,
    "rate": _rate,
}


def _tbf(words: Words) -> Tbf:
    rate = burst = limit = latency = 0.0
    while words:
        word = words.next()
        if word == "rate":
            rate = units.rate_of(words.next(), "rate")
        elif word in ("burst", "buffer", "maxburst"):
            burst = units.size_of(words.next().partition("/")[0], "buffer")
        elif word == "limit":
            limit = units.size_of(words.next(), "limit")
        elif word == "latency":
            latency = units.time_of(words.next(), "latency")
        else:
            raise UsageError(f'What is "{word}"?\n{TBF_USAGE}', 1)
    missing = [
        f'tbf: the "{name}" parameter is mandatory.'
        for name, value in (("rate", rate), ("burst", burst))
        if not value
    ]
    if not (limit or latency):
        missing.append('tbf: either "limit" or "latency" is required.')
    if missing:
        raise UsageError("\n".join([*missing, TBF_USAGE]), 1)
    return Tbf(rate, burst, latency or max(0.0, (limit - burst) / rate))
