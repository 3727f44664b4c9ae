"""The program ``mongod``: reads its settings, opens its data, serves, and stops on request.

Exit codes are genuine: 0 after SIGTERM, SIGINT or ``shutdown``; 2 for invalid settings; 100 if the data cannot be
opened; 48 if the port is taken; 14 or SIGABRT for fatal errors of the storage or the certificate.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Final

from simcloud.datastores.mongodb import banner
from simcloud.datastores.mongodb.commands.diagnostics import report_status
from simcloud.datastores.mongodb.engine.catalog import Catalog
from simcloud.datastores.mongodb.listener import MongoListener
from simcloud.datastores.mongodb.maintenance import Maintenance
from simcloud.datastores.mongodb.options import BadOptions, Options, parse_options, usage
from simcloud.datastores.mongodb.server import STORAGE_FAILED, WIREDTIGER_SOURCE, Server
from simcloud.datastores.mongodb.serverlog import ServerLog
from simcloud.datastores.mongodb.storage import CannotOpen, Storage, StorageFailed
from simcloud.datastores.mongodb.storage.errors import Corrupt
from simcloud.datastores.mongodb.storage.layout import LOCK
from simcloud.datastores.mongodb.version import BUILD_INFO, VERSION
from simcloud.machine.files import FileError
from simcloud.machine.network import AddressInUse, AddressNotAvailable, NetworkError
from simcloud.machine.process import Context, KilledBySignal, Signal

EXIT_BAD_OPTIONS: Final = 2
EXIT_ABRUPT: Final = 14
EXIT_NET_ERROR: Final = 48
EXIT_UNCAUGHT: Final = 100

IDLE_BYTES: Final = 90 * 1024 * 1024
START_CPU_S: Final = 0.35
THREADS: Final = 31
IDLE_SHARE: Final = 0.004_6
"""Share of a core for diagnostic data, journal, eviction and the other threads of an idle server."""
OPEN_FRESH_S: Final = 0.25
INIT: Final = banner.INIT
ENGINE_SOURCE: Final = "src/mongo/db/storage/wiredtiger/wiredtiger_kv_engine.cpp"


async def mongod(ctx: Context) -> int:
    """Serve until stopped."""
    try:
        options = parse_options(ctx.args[1:], ctx.files)
    except BadOptions as error:
        await ctx.err(f"{error}\ntry '{ctx.args[0]} --help' for more information\n")
        return EXIT_BAD_OPTIONS
    if options.help or options.version:
        version = f"db version v{VERSION}\nBuild Info: {json.dumps(BUILD_INFO, indent=4)}\n"
        await ctx.out(usage() if options.help else version)
        return 0
    if options.shutdown:
        return await shut_down(ctx, options.db_path)
    log = ServerLog(ctx, options.log_path)
    banner.log_preparation(log)
    ctx.memory.use(int(IDLE_BYTES * ctx.random("mongod memory").uniform(0.72, 1.02)))
    ctx.process.threads = THREADS
    ctx.use_background_cpu(IDLE_SHARE)
    await ctx.cpu(START_CPU_S)
    if options.tls_mode != "disabled":
        # Reading certificates takes a library of eight megabytes; TLS is off by default.
        from simcloud.datastores.mongodb.tls import check_certificate

        status = check_certificate(ctx, options, log)
        if status:
            return status
    banner.log_start(ctx, options, log)
    if not _clear_socket(ctx, options, log):
        return EXIT_ABRUPT
    catalog = Catalog(ctx.random("mongod catalog"))
    storage = Storage(ctx, options.db_path, catalog)
    status = await _open(ctx, options, log, storage)
    if status:
        return status
    server = Server(ctx, options, log, catalog, storage)
    ctx.process.report = partial(report_status, server)
    ctx.process.accounts = server.users.describe_all
    ctx.process.counted = server.list_counters()
    return await _serve(server)


def _clear_socket(ctx: Context, options: Options, log: ServerLog) -> bool:
    """Remove what an earlier server left of its local socket; False, with the reason in the log, if that is not allowed."""
    path = f"/tmp/mongodb-{options.port}.sock"
    try:
        ctx.files.remove(path)
    except FileError as error:
        if error.code == "ENOENT":
            return True
        attributes = {"path": path, "error": error.strerror}
        log.write("E", "NETWORK", 23024, INIT, "Failed to unlink socket file", attributes)
        log.fatal_assertion(INIT, 40486, "src/mongo/transport/transport_layer_asio.cpp", 919, trace=False)
        return False
    return True


async def _open(ctx: Context, options: Options, log: ServerLog, storage: Storage) -> int:
    """Open the data; 0, or the status to exit with."""
    started_at = ctx.now
    try:
        storage.lock()
        banner.log_opening(
            ctx, log, found_data=not storage.was_empty, unclean=storage.unclean, path=storage.lock_path
        )
        storage.open()
    except CannotOpen as failure:
        error = f"{failure.name}: {failure.message}"
        log.write("E", "STORAGE", 20557, INIT, "DBException in initAndListen, terminating", {"error": error})
        _farewell(log, EXIT_UNCAUGHT)
        return EXIT_UNCAUGHT
    except Corrupt as damage:
        _log_damage(log, damage)
        return EXIT_ABRUPT
    except StorageFailed as failure:
        _log_refusal(log, failure)
        return EXIT_ABRUPT
    await ctx.sleep(OPEN_FRESH_S)
    banner.log_opened(ctx, options, log, int((ctx.now - started_at) * 1000))
    return 0


async def shut_down(ctx: Context, folder: str) -> int:
    """``mongod --shutdown``: stop the server whose data this is, and wait for its end."""
    try:
        holder = ctx.files.read(f"{folder}/{LOCK}").decode("ascii", "replace").strip()
    except FileError:
        holder = ""
    server = ctx.container.processes.get(int(holder)) if holder.isdigit() else None
    if server is None or server.name != "mongod":
        await ctx.err(f"There doesn't seem to be a server running with dbpath: {folder}\n")
        return 1
    await ctx.out(f"killing process with pid: {server.pid}\n")
    server.send(Signal.TERM)
    await server.wait()
    return 0


def _farewell(log: ServerLog, status: int) -> None:
    log.say("NETWORK", 20562, INIT, "Shutdown: going to close listening sockets")
    log.say("-", 4784931, INIT, "Dropping the scope cache for shutdown")
    log.say("CONTROL", 20565, INIT, "Now exiting")
    log.say("CONTROL", 23138, INIT, "Shutting down", exitCode=status)


def _log_refusal(log: ServerLog, failure: StorageFailed) -> None:
    log.wiredtiger(
        INIT, failure.number, f"{failure.operation}: __posix_file_write, 579: {failure.write_message}"
    )
    text = "Failed to start up WiredTiger under any compatibility version."
    log.write("W", "STORAGE", 22347, INIT, f"{text} This may be due to an unsupported upgrade or downgrade.")
    log.write("F", "STORAGE", 28595, INIT, "Terminating.", {"reason": f"{failure.number}: {failure.words}"})
    log.fatal_assertion(INIT, 28595, ENGINE_SOURCE, 1101, trace=False)


def _log_damage(log: ServerLog, damage: Corrupt) -> None:
    name = damage.path.rpartition("/")[2]
    where = f"file:{name}, WT_SESSION.open_cursor"
    error = "WT_ERROR: non-specific WiredTiger error"
    log.wiredtiger(INIT, -31802, f"{where}: __wt_block_read_off, 320: {name}: {damage.message}: {error}")
    panic = "the process must exit and restart: WT_PANIC: WiredTiger library panic"
    log.wiredtiger(INIT, -31804, f"{where}: __wt_panic, 490: {panic}")
    log.fatal_assertion(INIT, 50853, WIREDTIGER_SOURCE, 522)


async def _serve(server: Server) -> int:
    ctx, options, log = server.ctx, server.options, server.log
    maintenance = Maintenance(server)
    maintenance.first_collections()
    try:
        listener = MongoListener(server)
    except (AddressInUse, AddressNotAvailable, NetworkError) as error:
        details = {"code": 9001, "codeName": "SocketException", "errmsg": str(error)}
        log.write("E", "STORAGE", 20568, INIT, "Error setting up listener", {"error": details})
        server.storage.close()
        _farewell(log, EXIT_NET_ERROR)
        return EXIT_NET_ERROR
    if options.pid_path:
        try:
            ctx.files.write(options.pid_path, f"{ctx.process.pid}\n".encode())
        except FileError:
            pass
    banner.log_listening(options, log)
    for signal, word in ((Signal.TERM, "Terminated"), (Signal.INT, "Interrupt")):
        ctx.signals.on(signal, partial(_handle_signal, server, word=word))
    maintenance.start()
    reason = await server.stopping.wait()
    listener.close()
    return await _stop(server, reason)


def _handle_signal(server: Server, signal: Signal, word: str) -> None:
    if not server.stopping.is_set:
        who = "SignalHandler"
        server.log.say("CONTROL", 23377, who, "Received signal", signal=int(signal), error=word)
        server.log.say("CONTROL", 23378, who, "Signal was sent by kill(2)", pid=0, uid=0)
        server.log.say("CONTROL", 23381, who, "will terminate after current cmd ends")
        server.stopping.set("SignalHandler")


async def _stop(server: Server, reason: str) -> int:
    """End in an orderly way, or abort when the storage has failed. The reason names the thread that said so."""
    if reason == STORAGE_FAILED:
        raise KilledBySignal(Signal.ABRT)
    banner.log_stopping(server.log, reason)
    for session in list(server.sessions.values()):
        session.end()
    started_at = server.ctx.now
    try:
        await server.ctx.sleep(0.02 + server.storage.close())
    except StorageFailed as failure:
        server.storage_failed(failure, reason)
        raise KilledBySignal(Signal.ABRT) from None
    banner.log_stopped(server.log, reason, int((server.ctx.now - started_at) * 1000))
    return 0
