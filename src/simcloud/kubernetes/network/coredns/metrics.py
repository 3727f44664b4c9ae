"""The metrics of CoreDNS, which Prometheus reads on port 9153."""

from __future__ import annotations

from typing import Final

from simcloud.machine import Counter, Histogram, Labels, Metrics

VERSION: Final = "1.14.2"
GO_VERSION: Final = "go1.26.1"
REVISION: Final = "dd1df4f"
BUILD: Final = f"CoreDNS-{VERSION}\nlinux/amd64, {GO_VERSION}, {REVISION}"
BUCKETS: Final = (0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192)  # fmt: skip
_SERVER: Final = ("server", "dns://:53")
_CACHE: Final[Labels] = (_SERVER, ("type", "success"), ("view", ""), ("zones", "."))


class DnsMetrics:
    """Counters of one CoreDNS, which are its process's."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        about = (("goversion", GO_VERSION), ("revision", REVISION), ("version", VERSION))
        metrics.gauge("coredns_build_info", about).set(1.0)
        metrics.counter("coredns_panics_total")
        self._reloads_failed = metrics.counter("coredns_reload_failed_total")
        self._entries = metrics.gauge("coredns_cache_entries", _CACHE)
        self._hits = metrics.counter("coredns_cache_hits_total", _CACHE)
        misses = (_SERVER, ("view", ""), ("zones", "."))
        self._misses = metrics.counter("coredns_cache_misses_total", misses)
        self._handles: dict[tuple[str, str, str, str], tuple[Counter, Counter, Histogram]] = {}

    def count(self, zone: str, kind: str, transport: str, code: str, duration_s: float) -> None:
        """One question and its answer."""
        handles = self._handles.get((zone, kind, transport, code))
        if handles is None:
            handles = self._handles[zone, kind, transport, code] = self._new(zone, kind, transport, code)
        requests, responses, duration = handles
        requests.value += 1.0
        responses.value += 1.0
        duration.observe(duration_s)

    def set_cache(self, entries: int, hits: int, misses: int) -> None:
        """How the cache stands."""
        self._entries.value, self._hits.value, self._misses.value = float(entries), float(hits), float(misses)

    def reload_failed(self) -> None:
        """A changed Corefile could not be used."""
        self._reloads_failed.add()

    def _new(self, zone: str, kind: str, transport: str, code: str) -> tuple[Counter, Counter, Histogram]:
        of: Labels = (_SERVER, ("view", ""), ("zone", f"{zone}."))
        asked = (("family", "1"), ("proto", transport), _SERVER, ("type", kind), *of[1:])
        return (
            self._metrics.counter("coredns_dns_requests_total", asked),
            self._metrics.counter("coredns_dns_responses_total", (("plugin", ""), ("rcode", code), *of)),
            self._metrics.histogram("coredns_dns_request_duration_seconds", of, BUCKETS),
        )
