"""The ``stats`` commands, and the dump of all keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote_from_bytes

from msgspec import Struct

from simcloud.datastores.memcached.cache import Cache
from simcloud.datastores.memcached.settings import Settings
from simcloud.datastores.memcached.slabs import PAGE_BYTES, Item, SlabClass

END: Final = b"END\r\n"
DUMP_BYTES: Final = 2 << 20
"""What a dump of keys shows at most."""

SLAB_COUNTS: Final = ("delete_hits", "incr_hits", "decr_hits", "cas_hits", "cas_badval", "touch_hits")

Figure = tuple[str, object]


class Connections(Struct):
    """Counters of the server and its connections."""

    pid: int = 1
    cpu_s: float = 0.0
    current: int = 0
    total: int = 1  # the listening socket counts as one
    rejected: int = 0
    bytes_read: int = 0
    bytes_written: int = 0


def statistics(cache: Cache, settings: Settings, connections: Connections, words: list[bytes]) -> bytes:
    """Return the answer to ``stats`` with these words behind it."""
    kind = words[0] if words else b""
    if kind == b"":
        return _lines(report_figures(cache, settings, connections).items())
    if kind == b"items":
        return _lines(_item_figures(cache))
    if kind == b"slabs":
        return _lines(_slab_figures(cache))
    if kind == b"settings":
        return _lines(_settings(settings))
    if kind == b"reset":
        cache.reset_counts()
        connections.bytes_read = connections.bytes_written = connections.rejected = 0
        return b"RESET\r\n"
    if kind == b"cachedump":
        return _dump_class(cache, words[1:])
    return b"ERROR\r\n"


def report_figures(cache: Cache, settings: Settings, connections: Connections) -> dict[str, object]:
    """Return the figures of plain ``stats`` by name."""
    of_server = _server(cache, settings, connections)
    return dict(
        [*_process(cache, settings, connections), *_commands(cache), *of_server, *_items_of_all(cache)]
    )


def _lines(figures: Iterable[Figure]) -> bytes:
    return "".join(f"STAT {name} {value}\r\n" for name, value in figures).encode() + END


def _process(cache: Cache, settings: Settings, connections: Connections) -> list[Figure]:
    return [
        ("pid", connections.pid), ("uptime", cache.uptime), ("time", cache.wall_time), ("version", settings.version),
        ("libevent", "2.1.12-stable"), ("pointer_size", 64),
        ("rusage_user", f"{connections.cpu_s * 0.4:.6f}"), ("rusage_system", f"{connections.cpu_s * 0.6:.6f}"),
        ("max_connections", settings.max_connections), ("curr_connections", connections.current),
        ("total_connections", connections.total), ("rejected_connections", connections.rejected),
        ("connection_structures", connections.current + 1), ("response_obj_oom", 0), ("response_obj_count", 1),
        ("response_obj_bytes", 16384), ("read_buf_count", 2), ("read_buf_bytes", 32768),
        ("read_buf_bytes_free", 0), ("read_buf_oom", 0), ("reserved_fds", 5 * settings.threads),
    ]  # fmt: skip


def _commands(cache: Cache) -> list[Figure]:
    hits, misses = cache.get_hits, cache.get_misses
    names = (
        "get_expired", "get_flushed", "delete_misses", "delete_hits", "incr_misses", "incr_hits", "decr_misses", "decr_hits", "cas_misses",
        "cas_hits", "cas_badval", "touch_hits", "touch_misses", "store_too_large", "store_no_memory",
        "auth_cmds", "auth_errors",
    )  # fmt: skip
    return [
        ("cmd_get", hits + misses),
        *((name, cache.counts[name]) for name in ("cmd_set", "cmd_flush", "cmd_touch", "cmd_meta")),
        ("get_hits", hits),
        ("get_misses", misses),
        *((name, cache.counts[name]) for name in names),
    ]


def _server(cache: Cache, settings: Settings, connections: Connections) -> list[Figure]:
    idle = (
        "hash_is_expanding", "slab_reassign_rescues", "slab_reassign_chunk_rescues",
        "slab_reassign_evictions_nomem", "slab_reassign_inline_reclaim", "slab_reassign_busy_items",
        "slab_reassign_busy_deletes", "slab_reassign_running", "slabs_moved", "lru_crawler_running",
    )  # fmt: skip
    logs = ("worker_dropped", "worker_written", "watcher_skipped", "watcher_sent", "watchers")
    return [
        ("bytes_read", connections.bytes_read), ("bytes_written", connections.bytes_written),
        ("limit_maxbytes", cache.slabs.limit_bytes), ("accepting_conns", 1), ("listen_disabled_num", 0),
        ("time_in_listen_disabled_us", 0), ("threads", settings.threads), ("conn_yields", 0),
        ("hash_power_level", 16), ("hash_bytes", 524288), *((name, 0) for name in idle),
        ("lru_crawler_starts", 1), ("lru_maintainer_juggles", cache.uptime * 20), ("malloc_fails", 0),
        *((f"log_{name}", 0) for name in logs), ("unexpected_napi_ids", 0), ("round_robin_fallback", 0),
    ]  # fmt: skip


def _items_of_all(cache: Cache) -> list[Figure]:
    return [
        ("bytes", cache.bytes), ("curr_items", len(cache.items)), ("total_items", cache.total_items),
        ("slab_global_page_pool", 0), ("expired_unfetched", cache.expired_unfetched),
        ("evicted_unfetched", cache.evicted_unfetched), ("evicted_active", 0), ("evictions", cache.evictions),
        ("reclaimed", cache.reclaimed), ("crawler_reclaimed", 0), ("crawler_items_checked", 0),
        ("lrutail_reflocked", 0), ("moves_to_cold", 0), ("moves_to_warm", 0), ("moves_within_lru", 0),
        ("direct_reclaims", 0), ("lru_bumps_dropped", 0),
    ]  # fmt: skip


def _item_figures(cache: Cache) -> Iterable[Figure]:
    for slab in cache.slabs.classes:
        if slab.items:
            yield from ((f"items:{slab.number}:{name}", value) for name, value in _figures_of(cache, slab))


def _figures_of(cache: Cache, slab: SlabClass) -> list[Figure]:
    items = slab.items.values()
    oldest = next(iter(items))
    still = (
        "crawler_reclaimed", "crawler_items_checked", "lrutail_reflocked", "moves_to_cold", "moves_to_warm",
        "moves_within_lru", "direct_reclaims",
    )  # fmt: skip
    return [
        ("number", len(items)), ("number_hot", len(items)), ("number_warm", 0), ("number_cold", 0),
        ("age_hot", cache.now - oldest.accessed), ("age_warm", 0), ("age", 0),
        ("mem_requested", sum(item.size_bytes for item in items)), ("evicted", slab.evicted),
        ("evicted_nonzero", 0), ("evicted_time", 0), ("outofmemory", 0), ("tailrepairs", 0),
        ("reclaimed", slab.expired), ("expired_unfetched", 0), ("evicted_unfetched", 0), ("evicted_active", 0),
        *((name, 0) for name in still), ("hits_to_hot", slab.hits), ("hits_to_warm", 0), ("hits_to_cold", 0),
        ("hits_to_temp", 0),
    ]  # fmt: skip


def _slab_figures(cache: Cache) -> Iterable[Figure]:
    active = [slab for slab in cache.slabs.classes if slab.pages]
    for slab in active:
        chunks = slab.pages * slab.chunks_per_page
        figures: list[Figure] = [
            ("chunk_size", slab.chunk_bytes), ("chunks_per_page", slab.chunks_per_page),
            ("total_pages", slab.pages), ("total_chunks", chunks), ("used_chunks", slab.used),
            ("free_chunks", chunks - slab.used), ("free_chunks_end", 0), ("get_hits", slab.hits),
            ("cmd_set", slab.sets), *((name, slab.counts[name]) for name in SLAB_COUNTS),
        ]  # fmt: skip
        yield from ((f"{slab.number}:{name}", value) for name, value in figures)
    yield "active_slabs", len(active)
    yield "total_malloced", sum(slab.pages for slab in active) * PAGE_BYTES


def _settings(settings: Settings) -> list[Figure]:
    given: dict[str, object] = {
        "maxbytes": settings.limit_bytes, "maxconns": settings.max_connections, "tcpport": settings.port,
        "inter": settings.listen or "NULL", "verbosity": settings.verbosity,
        "evictions": "on" if settings.evicts else "off", "num_threads": settings.threads,
        "num_threads_per_udp": settings.threads, "item_size_max": settings.item_max_bytes,
    }  # fmt: skip
    hidden = NEWER_SETTINGS if settings.version == "1.6.7" else ()
    return [(name, given.get(name, value)) for name, value in DEFAULTS if name not in hidden]


def key_dump(cache: Cache) -> bytes:
    """``lru_crawler metadump all``: a line for each item, up to a limit."""
    lines: list[bytes] = []
    size = 0
    for item in cache.items.values():
        lines.append(_dump_item(cache, item))
        size += len(lines[-1])
        if size > DUMP_BYTES:
            break
    return b"".join(lines) + END


def _dump_item(cache: Cache, item: Item) -> bytes:
    expiry = -1 if item.expires == 0 else cache.moment(item.expires)
    return (
        f"key={quote_from_bytes(item.key, safe='')} exp={expiry} la={cache.moment(item.accessed)} cas={item.cas} "
        f"fetch={'yes' if item.fetched else 'no'} cls={item.slab.number} size={item.size_bytes} "
        f"flags={item.flags}\n"
    ).encode()


def _dump_class(cache: Cache, words: list[bytes]) -> bytes:
    if len(words) < 2:
        return b"CLIENT_ERROR bad command line\r\n"
    if not (words[0].isdigit() and words[1].isdigit()):
        return b"CLIENT_ERROR bad command line format\r\n"
    number, limit = int(words[0][:9]), int(words[1][:9])
    if number > 63:
        return b"CLIENT_ERROR Illegal slab id\r\n"
    slab = next((each for each in cache.slabs.classes if each.number == number), None)
    lines: list[bytes] = []
    size = 0
    # Shown is what has left the hottest part of the list, which takes the maintainer about a second.
    settled = [item for item in (slab.items.values() if slab else ()) if item.stored < cache.now]
    for item in reversed(settled):
        if (limit and len(lines) == limit) or size > DUMP_BYTES:
            break
        until = 0 if item.expires == 0 else cache.moment(item.expires)
        lines.append(b"ITEM %s [%d b; %d s]\r\n" % (item.key, len(item.value), until))
        size += len(lines[-1])
    return b"".join(lines) + END


NEWER_SETTINGS: Final = ("ssl_kernel_tls", "ssl_min_version", "num_napi_ids")
"""Settings that came after version 1.6.7."""

_DEFAULTS: Final = (
    "maxbytes 67108864, maxconns 1024, tcpport 11211, udpport 0, inter NULL, verbosity 0, oldest 0, evictions on, "
    "domain_socket NULL, umask 700, shutdown_command no, growth_factor 1.25, chunk_size 48, num_threads 4, "
    "num_threads_per_udp 4, stat_key_prefix :, detail_enabled no, reqs_per_event 20, cas_enabled yes, tcp_backlog 1024, "
    "binding_protocol auto-negotiate, auth_enabled_sasl no, auth_enabled_ascii no, item_size_max 1048576, maxconns_fast "
    "yes, hashpower_init 0, slab_reassign yes, slab_automove 1, slab_automove_ratio 0.80, slab_automove_window 30, "
    "slab_chunk_max 524288, lru_crawler yes, lru_crawler_sleep 100, lru_crawler_tocrawl 0, tail_repair_time 0, "
    "flush_enabled yes, dump_enabled yes, hash_algorithm murmur3, lru_maintainer_thread yes, lru_segmented yes, hot_lru_pct "
    "20, warm_lru_pct 40, hot_max_factor 0.20, warm_max_factor 2.00, temp_lru no, temporary_ttl 61, idle_timeout 0, "
    "watcher_logbuf_size 262144, worker_logbuf_size 65536, read_buf_mem_limit 0, track_sizes no, inline_ascii_response no, "
    "ext_item_size 512, ext_item_age 4294967295, ext_low_ttl 0, ext_recache_rate 2000, ext_wbuf_size 4194304, "
    "ext_compact_under 0, ext_drop_under 0, ext_max_sleep 1000000, ext_max_frag 0.80, slab_automove_freeratio 0.010, "
    "ext_drop_unread no, ssl_enabled no, ssl_chain_cert (null), ssl_key (null), ssl_verify_mode 0, ssl_keyformat 1, "
    "ssl_ciphers NULL, ssl_ca_cert NULL, ssl_wbuf_size 16384, ssl_session_cache no, ssl_kernel_tls no, ssl_min_version "
    "tlsv1.2, num_napi_ids (null), memory_file (null)"
)
DEFAULTS: Final[tuple[Figure, ...]] = tuple(
    (line.partition(" ")[0], line.partition(" ")[2]) for line in _DEFAULTS.split(", ")
)
"""What ``stats settings`` shows where nothing else is said."""
