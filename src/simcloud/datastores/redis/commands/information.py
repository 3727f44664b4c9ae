"""The INFO command, section by section."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.datastores.redis.commands.table import command
from simcloud.datastores.redis.resp import Reply, SyntaxMistake, Words
from simcloud.datastores.redis.state import BASE_BYTES, CLIENT_BYTES, Client, ServerState
from simcloud.datastores.redis.version import VERSION

Facts = dict[str, object]
DEFAULT: Final = (
    "server", "clients", "memory", "persistence", "stats", "replication", "cpu", "modules", "errorstats", "cluster",
    "keyspace",
)  # fmt: skip
TITLES: Final = {"cpu": "CPU", "errorstats": "Errorstats", "commandstats": "Commandstats"}


@command("info", -1, "random")
def _run_info(client: Client, words: Words) -> Reply:
    if len(words) > 2:
        raise SyntaxMistake
    wanted = words[1].decode("utf-8", "replace").lower() if len(words) == 2 else "default"
    names: tuple[str, ...] = DEFAULT
    if wanted in ("all", "everything"):
        names = (*DEFAULT[:8], "commandstats", *DEFAULT[8:])
    elif wanted != "default":
        names = (wanted,) if wanted in SECTIONS else ()
    sections = []
    for name in names:
        facts = SECTIONS[name](client.server)
        lines = [
            f"# {TITLES.get(name, name.capitalize())}",
            *[f"{key}:{fact}" for key, fact in facts.items()],
        ]
        sections.append("".join([f"{line}\r\n" for line in lines]))
    return "\r\n".join(sections).encode()


def report_facts(server: ServerState) -> Facts:
    """Return the facts of all default sections."""
    return {key: fact for name in DEFAULT for key, fact in SECTIONS[name](server).items()}


def human(size_bytes: int) -> str:
    """Format a number of bytes for people: ``1.50M``."""
    if size_bytes < 1024:
        return f"{size_bytes}B"
    for unit, power in (("K", 1), ("M", 2), ("G", 3), ("T", 4)):
        if size_bytes < 1024 ** (power + 1):
            return f"{size_bytes / 1024**power:.2f}{unit}"
    return f"{size_bytes}B"


def _server(server: ServerState) -> Facts:
    up_s = int(server.clock() - server.started)
    return {
        "redis_version": VERSION,
        "redis_git_sha1": "00000000",
        "redis_git_dirty": 0,
        "redis_build_id": "62dc85a2d8e8cfea",
        "redis_mode": "standalone",
        "os": f"Linux {server.kernel_release} x86_64",
        "arch_bits": 64,
        "multiplexing_api": "epoll",
        "atomicvar_api": "c11-builtin",
        "gcc_version": "8.3.0",
        "process_id": server.pid,
        "process_supervised": "no",
        "run_id": server.run_id,
        "tcp_port": server.config.number("port"),
        "server_time_usec": int(server.clock() * 1_000_000),
        "uptime_in_seconds": up_s,
        "uptime_in_days": up_s // 86400,
        "hz": server.config.number("hz"),
        "configured_hz": server.config.number("hz"),
        "lru_clock": int(server.clock()) & 0xFFFFFF,
        "executable": server.executable,
        "config_file": server.config_file,
        "io_threads_active": 0,
    }


def _clients(server: ServerState) -> Facts:
    return {
        "connected_clients": len(server.clients),
        "cluster_connections": 0,
        "maxclients": server.config.number("maxclients"),
        "client_recent_max_input_buffer": 16,
        "client_recent_max_output_buffer": 0,
        "blocked_clients": 0,
        "tracking_clients": 0,
        "clients_in_timeout_table": 0,
    }


def _memory(server: ServerState) -> Facts:
    used, peak, limit = server.used_bytes, max(server.peak_bytes, server.used_bytes), server.config.maxmemory
    resident = server.resident_bytes()
    clients = CLIENT_BYTES * len(server.clients)
    return {
        "used_memory": used,
        "used_memory_human": human(used),
        "used_memory_rss": resident,
        "used_memory_rss_human": human(resident),
        "used_memory_peak": peak,
        "used_memory_peak_human": human(peak),
        "used_memory_peak_perc": f"{100 * used / peak:.2f}%",
        "used_memory_overhead": BASE_BYTES + clients,
        "used_memory_startup": BASE_BYTES,
        "used_memory_dataset": server.account.bytes,
        "used_memory_dataset_perc": f"{100 * server.account.bytes / max(1, used - BASE_BYTES):.2f}%",
        "total_system_memory": server.system_bytes,
        "total_system_memory_human": human(server.system_bytes),
        "used_memory_lua": 37888,
        "used_memory_lua_human": "37.00K",
        "used_memory_scripts": 0,
        "used_memory_scripts_human": "0B",
        "number_of_cached_scripts": 0,
        "maxmemory": limit,
        "maxmemory_human": human(limit),
        "maxmemory_policy": server.config.policy,
        "mem_fragmentation_ratio": f"{resident / used:.2f}",
        "mem_fragmentation_bytes": resident - used,
        "mem_clients_slaves": 0,
        "mem_clients_normal": clients,
        "mem_aof_buffer": 0,
        "mem_allocator": "jemalloc-5.1.0",
        "active_defrag_running": 0,
        "lazyfree_pending_objects": 0,
        "lazyfreed_objects": 0,
    }


def _persistence(server: ServerState) -> Facts:
    disk = server.disk
    facts: Facts = {
        "loading": int(server.loading),
        "rdb_changes_since_last_save": disk.unsaved_changes,
        "rdb_bgsave_in_progress": int(disk.saving),
        "rdb_last_save_time": int(disk.saved_at),
        "rdb_last_bgsave_status": "ok" if disk.save_ok else "err",
        "rdb_last_bgsave_time_sec": disk.last_save_s,
        "rdb_current_bgsave_time_sec": 0 if disk.saving else -1,
        "rdb_last_cow_size": 0,
        "aof_enabled": int(disk.append_only),
        "aof_rewrite_in_progress": int(disk.rewriting),
        "aof_rewrite_scheduled": 0,
        "aof_last_rewrite_time_sec": -1,
        "aof_current_rewrite_time_sec": -1,
        "aof_last_bgrewrite_status": "ok",
        "aof_last_write_status": "ok" if disk.append_error is None else "err",
        "aof_last_cow_size": 0,
    }
    if disk.append_only:
        facts |= {"aof_current_size": disk.append_bytes, "aof_base_size": 0, "aof_pending_rewrite": 0}
    return facts


def _stats(server: ServerState) -> Facts:
    account = server.account
    return {
        "total_connections_received": server.connections,
        "total_commands_processed": server.commands,
        "instantaneous_ops_per_sec": server.operations_per_s,
        "total_net_input_bytes": server.bytes_in,
        "total_net_output_bytes": server.bytes_out,
        "instantaneous_input_kbps": "0.00",
        "instantaneous_output_kbps": "0.00",
        "rejected_connections": server.rejected,
        "sync_full": 0,
        "sync_partial_ok": 0,
        "sync_partial_err": 0,
        "expired_keys": account.expired,
        "expired_stale_perc": "0.00",
        "expired_time_cap_reached_count": 0,
        "evicted_keys": server.evicted,
        "keyspace_hits": account.hits,
        "keyspace_misses": account.misses,
        "pubsub_channels": len(server.channels),
        "pubsub_patterns": len(server.patterns),
        "latest_fork_usec": 0,
        "total_forks": 0,
        "total_error_replies": sum(server.errors.values()),
        "dump_payload_sanitizations": 0,
    }


def _replication(server: ServerState) -> Facts:
    return {
        "role": "master",
        "connected_slaves": 0,
        "master_failover_state": "no-failover",
        "master_replid": server.run_id[::-1],
        "master_replid2": "0" * 40,
        "master_repl_offset": 0,
        "second_repl_offset": -1,
        "repl_backlog_active": 0,
        "repl_backlog_size": server.config.number("repl-backlog-size"),
        "repl_backlog_first_byte_offset": 0,
        "repl_backlog_histlen": 0,
    }


def _cpu(server: ServerState) -> Facts:
    used = server.cpu_s()
    return {
        "used_cpu_sys": f"{used * 0.4:.6f}",
        "used_cpu_user": f"{used * 0.6:.6f}",
        "used_cpu_sys_children": "0.000000",
        "used_cpu_user_children": "0.000000",
        "used_cpu_sys_main_thread": f"{used * 0.4:.6f}",
        "used_cpu_user_main_thread": f"{used * 0.6:.6f}",
    }


def _command_stats(server: ServerState) -> Facts:
    return {
        f"cmdstat_{name}": f"calls={calls},usec={server.call_us[name]},usec_per_call={server.call_us[name] / calls:.2f},"
        f"rejected_calls={server.rejected_calls[name]},failed_calls={server.failed_calls[name]}"
        for name, calls in server.calls.items()
    }


def _error_stats(server: ServerState) -> Facts:
    return {f"errorstat_{name}": f"count={count}" for name, count in server.errors.items()}


def _keyspace(server: ServerState) -> Facts:
    now_ms = server.now_ms()
    return {
        f"db{db.number}": f"keys={len(db.values)},expires={len(db.expires)},avg_ttl={_average_ttl(db.expires, now_ms)}"
        for db in server.databases
        if db.values
    }


def _average_ttl(expires: dict[bytes, int], now_ms: int) -> int:
    return sum([max(0, when_ms - now_ms) for when_ms in expires.values()]) // len(expires) if expires else 0


SECTIONS: Final[dict[str, Callable[[ServerState], Facts]]] = {
    "server": _server,
    "clients": _clients,
    "memory": _memory,
    "persistence": _persistence,
    "stats": _stats,
    "replication": _replication,
    "cpu": _cpu,
    "modules": lambda server: {},
    "commandstats": _command_stats,
    "errorstats": _error_stats,
    "cluster": lambda server: {"cluster_enabled": 0},
    "keyspace": _keyspace,
}
