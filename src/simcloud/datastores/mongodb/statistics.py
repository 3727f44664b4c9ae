"""The parts of ``serverStatus`` about the process, the network and the storage engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simcloud.datastores.mongodb.bson import Document, Int64
from simcloud.datastores.mongodb.wire import COMMAND_BYTES, REPLY_BYTES

if TYPE_CHECKING:
    from simcloud.datastores.mongodb.server import Server

PAGE_BYTES: Final = 32_768
STATUS_BYTES: Final = 33_120
"""Size of a genuine answer to ``serverStatus``, which has many more fields."""


def describe_activity(server: Server, uptime_s: float, requests: int) -> Document:
    """Return the sections ``extra_info`` to ``wiredTiger``, by name. Figures follow from the data and the requests."""
    resident, cpu_us = server.ctx.memory.resident_bytes, int(server.ctx.process.cpu_s * 1e6)
    received = Int64(requests * COMMAND_BYTES)
    sent = Int64(requests * REPLY_BYTES * 3 + server.status_requests * STATUS_BYTES)
    return {
        "extra_info": {
            "note": "fields vary by platform", "user_time_us": Int64(cpu_us * 3 // 5), "system_time_us": Int64(cpu_us * 2 // 5),
            "maximum_resident_set_kb": Int64(resident // 1024), "input_blocks": Int64(0), "output_blocks": Int64(8 * int(uptime_s)),
            "page_reclaims": Int64(resident // 4096), "page_faults": Int64(0),
            "voluntary_context_switches": Int64(int(uptime_s * 34)), "involuntary_context_switches": Int64(int(uptime_s / 3)),
        },
        "network": {
            "bytesIn": received, "bytesOut": sent, "physicalBytesIn": received, "physicalBytesOut": sent,
            "numSlowDNSOperations": Int64(0), "numSlowSSLOperations": Int64(0), "numRequests": Int64(requests),
            "serviceExecutorTaskStats": {"executor": "passthrough", "threadsRunning": len(server.sessions)},
        },
        "tcmalloc": {"generic": {"current_allocated_bytes": Int64(resident * 4 // 5), "heap_size": Int64(resident + 2**22)}},
        "transportSecurity": {name: Int64(0) for name in ("1.0", "1.1", "1.2", "1.3", "unknown")},
        "wiredTiger": _describe_engine(server, uptime_s, requests),
    }  # fmt: skip


def _describe_engine(server: Server, uptime_s: float, requests: int) -> dict[str, Any]:
    collections, storage = server.catalog.collections.values(), server.storage
    cached, dirty, checkpoints = (
        sum(each.size_bytes for each in collections),
        storage.journal_bytes,
        int(uptime_s / 60),
    )
    limit = server.ctx.container.memory_limit_bytes or server.ctx.machine.memory_bytes
    tickets = {
        kind: {"out": out, "available": 128 - out, "totalTickets": 128}
        for kind, out in (("write", 0), ("read", 1))
    }
    return {
        "uri": "statistics:",
        "block-manager": {
            "blocks read": 12 + len(collections), "blocks written": checkpoints * 3 + storage.transactions,
            "bytes read": cached + PAGE_BYTES, "bytes written": checkpoints * 12_288 + cached,
        },
        "cache": {
            "bytes allocated for updates": 2 * cached + 21_340, "bytes currently in the cache": 2 * cached + 41_870,
            "bytes read into cache": cached // 2 + 8_192, "bytes written from cache": Int64(cached + checkpoints * 4_261),
            "maximum bytes configured": Int64(max(256 * 2**20, (limit - 2**30) // 2)), "modified pages evicted": 0,
            "pages currently held in the cache": 9 + 3 * len(collections) + cached // PAGE_BYTES,
            "pages read into cache": 5 + len(collections), "pages requested from the cache": Int64(requests * 3 + checkpoints * 40),
            "pages written from cache": checkpoints * 2 + len(collections), "tracked dirty bytes in the cache": dirty,
            "tracked dirty pages in the cache": -(-dirty // PAGE_BYTES), "unmodified pages evicted": 0,
        },
        "concurrentTransactions": tickets,
        "connection": {
            "files currently open": 8 + sum(1 + len(each.indexes) for each in collections),
            "total fsync I/Os": checkpoints * 6 + storage.transactions // 3,
        },
        "log": {"log bytes written": Int64(storage.transactions * 182), "maximum log file size": 104_857_600},
        "transaction": {
            "transaction begins": requests + checkpoints * 60, "transaction checkpoints": checkpoints,
            "transactions committed": storage.transactions, "transactions rolled back": requests + checkpoints * 60,
        },
    }  # fmt: skip
