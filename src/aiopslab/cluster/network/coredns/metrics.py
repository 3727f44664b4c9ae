"""What CoreDNS counts, and how Prometheus reads it on port 9153."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

VERSION: Final = "1.12.1"
GO_VERSION: Final = "go1.24.1"
REVISION: Final = "707c7c1"
BUCKETS: Final = (0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192)  # fmt: skip


class Metrics:
    """Counters of one CoreDNS."""

    def __init__(self) -> None:
        self.panics = 0
        self._requests: dict[tuple[str, str, str], int] = {}
        self._responses: dict[tuple[str, str], int] = {}
        self._buckets: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}
        self._reloads_failed = 0

    def count(self, zone: str, kind: str, transport: str, code: str, duration_s: float) -> None:
        """One question and its answer."""
        zone = f"{zone}."
        request, response = (zone, kind, transport), (zone, code)
        self._requests[request] = self._requests.get(request, 0) + 1
        self._responses[response] = self._responses.get(response, 0) + 1
        buckets = self._buckets.setdefault(zone, [0] * (len(BUCKETS) + 1))
        place = next((number for number, top in enumerate(BUCKETS) if duration_s <= top), len(BUCKETS))
        buckets[place] += 1
        self._sums[zone] = self._sums.get(zone, 0.0) + duration_s

    def reload_failed(self) -> None:
        """A changed Corefile could not be used."""
        self._reloads_failed += 1

    def text(self, cache_entries: int, hits: int, misses: int) -> str:
        """All of it, in the text format."""
        return "".join(f"{line}\n" for line in self._lines(cache_entries, hits, misses))

    def _lines(self, cache_entries: int, hits: int, misses: int) -> Iterator[str]:
        yield "# TYPE coredns_build_info gauge"
        yield f'coredns_build_info{{goversion="{GO_VERSION}",revision="{REVISION}",version="{VERSION}"}} 1'
        server = 'server="dns://:53"'
        yield "# TYPE coredns_cache_entries gauge"
        yield f'coredns_cache_entries{{{server},type="success",view="",zones="."}} {cache_entries}'
        yield "# TYPE coredns_cache_hits_total counter"
        yield f'coredns_cache_hits_total{{{server},type="success",view="",zones="."}} {hits}'
        yield "# TYPE coredns_cache_misses_total counter"
        yield f'coredns_cache_misses_total{{{server},view="",zones="."}} {misses}'
        yield "# TYPE coredns_dns_request_duration_seconds histogram"
        for zone, counts in sorted(self._buckets.items()):
            total = 0
            for top, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += count
                labels = f'{server},view="",zone="{zone}",le="{top}"'
                yield f"coredns_dns_request_duration_seconds_bucket{{{labels}}} {total}"
            labels = f'{server},view="",zone="{zone}"'
            yield f"coredns_dns_request_duration_seconds_sum{{{labels}}} {self._sums[zone]:.9g}"
            yield f"coredns_dns_request_duration_seconds_count{{{labels}}} {total}"
        yield "# TYPE coredns_dns_requests_total counter"
        for (zone, kind, transport), count in sorted(self._requests.items()):
            labels = f'family="1",proto="{transport}",{server},type="{kind}",view="",zone="{zone}"'
            yield f"coredns_dns_requests_total{{{labels}}} {count}"
        yield "# TYPE coredns_dns_responses_total counter"
        for (zone, code), count in sorted(self._responses.items()):
            labels = f'plugin="",rcode="{code}",{server},view="",zone="{zone}"'
            yield f"coredns_dns_responses_total{{{labels}}} {count}"
        yield "# TYPE coredns_panics_total counter"
        yield f"coredns_panics_total {self.panics}"
        yield "# TYPE coredns_reload_failed_total counter"
        yield f"coredns_reload_failed_total {self._reloads_failed}"
