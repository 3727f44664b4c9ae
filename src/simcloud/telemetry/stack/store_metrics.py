"""The exporters of datastores: which metrics they make from what a server reports about itself.

One exporter serves all servers of its kind, as ``/scrape?target=…``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from simcloud.machine import Labels

Sample = tuple[str, Labels, float]
Facts = Mapping[str, Any]

_REDIS: Final = {
    "blocked_clients": "blocked_clients", "connected_clients": "connected_clients", "connected_slaves": "connected_slaves",
    "evicted_keys": "evicted_keys_total", "expired_keys": "expired_keys_total", "keyspace_hits": "keyspace_hits_total",
    "keyspace_misses": "keyspace_misses_total", "maxclients": "config_maxclients", "maxmemory": "memory_max_bytes",
    "rejected_connections": "rejected_connections_total", "total_commands_processed": "commands_processed_total",
    "total_connections_received": "connections_received_total", "uptime_in_seconds": "uptime_in_seconds",
    "used_memory": "memory_used_bytes", "used_memory_rss": "memory_used_rss_bytes",
}  # fmt: skip
_MEMCACHED: Final = {
    "bytes": "current_bytes", "bytes_read": "read_bytes_total", "bytes_written": "written_bytes_total",
    "curr_connections": "current_connections", "curr_items": "current_items", "evictions": "items_evicted_total",
    "limit_maxbytes": "limit_bytes", "max_connections": "max_connections", "total_connections": "connections_total",
    "total_items": "items_total", "uptime": "uptime_seconds",
}  # fmt: skip
_MEMCACHED_COMMANDS: Final = (
    ("get", "hit", "get_hits"), ("get", "miss", "get_misses"), ("set", "hit", "cmd_set"),
    ("delete", "hit", "delete_hits"), ("delete", "miss", "delete_misses"), ("flush", "hit", "cmd_flush"),
)  # fmt: skip


def _list_redis(facts: Facts) -> Iterator[Sample]:
    if "redis_version" not in facts:
        raise LookupError("this is no Redis")
    for fact, name in _REDIS.items():
        if fact in facts:
            yield f"redis_{name}", (), float(facts[fact])
    for database, keys in facts.items():
        if database.startswith("db") and database[2:].isdigit():
            counts = dict(pair.split("=") for pair in str(keys).split(","))
            yield "redis_db_keys", (("db", database),), float(counts["keys"])


def _list_memcached(facts: Facts) -> Iterator[Sample]:
    for fact, name in _MEMCACHED.items():
        yield f"memcached_{name}", (), float(facts[fact])
    for command, status, fact in _MEMCACHED_COMMANDS:
        yield "memcached_commands_total", (("command", command), ("status", status)), float(facts[fact])


def _list_mongodb(facts: Facts) -> Iterator[Sample]:
    for kind, count in facts["connections"].items():
        yield "mongodb_ss_connections", (("conn_type", kind),), float(count)
    for operation, count in facts["opcounters"].items():
        yield "mongodb_ss_opcounters", (("legacy_op_type", operation),), float(count)
    for kind in ("resident", "virtual"):
        yield f"mongodb_ss_mem_{kind}", (), float(facts["mem"][kind])
    yield "mongodb_ss_uptime", (), float(facts["uptime"])
    yield "mongodb_ss_network_numRequests", (), float(facts["network"]["numRequests"])
    yield "mongodb_ss_metrics_cursor_open", (("csr_type", "total"),), float(facts["metrics"]["cursor"]["open"]["total"])  # fmt: skip


def _list_consul(facts: Facts) -> Iterator[Sample]:
    for name in ("raft_leader", "raft_peers", "serf_lan_members", "catalog_services"):
        yield f"consul_{name}", (), float(facts[name])
    for service, count in facts["instances"].items():
        yield "consul_catalog_service_instances", (("service_name", service),), float(count)


@dataclass(frozen=True)
class StoreKind:
    """A kind of datastore and its exporter."""

    name: str
    store_port: int
    port: int
    image: str
    scheme: str
    args: str
    list_samples: Callable[[Facts], Iterator[Sample]]

    @property
    def exporter(self) -> str:
        """The name of the exporter's workload, Service and job."""
        return f"{self.name}-exporter"

    @property
    def has_targets(self) -> bool:
        """Whether the exporter serves many servers; one of Consul serves the server that its arguments name."""
        return self.name != "consul"


STORES: Final = {
    kind.name: kind
    for kind in (
        StoreKind("mongodb", 27017, 9216, "percona/mongodb_exporter:0.40.0", "mongodb", "[--collector.diagnosticdata, --compatible-mode]", _list_mongodb),
        StoreKind("redis", 6379, 9121, "oliver006/redis_exporter:v1.58.0", "redis", "[]", _list_redis),
        StoreKind("memcached", 11211, 9150, "quay.io/prometheus/memcached-exporter:v0.14.2", "", "[--web.listen-address=:9150]", _list_memcached),
        StoreKind("consul", 8500, 9107, "quay.io/prometheus/consul-exporter:v0.11.0", "http", "[--consul.server=http://consul.$application.svc:8500]", _list_consul),
    )
}  # fmt: skip
"""The kinds of datastores with exporters, by name."""
