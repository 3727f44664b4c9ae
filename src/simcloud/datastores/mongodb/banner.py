"""The log lines that mongod writes when it starts and stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.datastores.mongodb.options import Options
from simcloud.datastores.mongodb.serverlog import ServerLog
from simcloud.datastores.mongodb.version import BUILD_INFO

if TYPE_CHECKING:
    from simcloud.machine.process import Context

INIT: Final = "initandlisten"
KERNEL_SHARE: Final = 35
"""The kernel keeps this fraction of a machine's memory to itself: one part in 35."""

STOP_LINES: Final[tuple[tuple[str, int, str], ...]] = (
    ("COMMAND", 4784901, "Shutting down the MirrorMaestro"),
    ("SHARDING", 4784902, "Shutting down the WaitForMajorityService"),
    ("NETWORK", 20562, "Shutdown: going to close listening sockets"),
    ("NETWORK", 4784905, "Shutting down the global connection pool"),
    ("STORAGE", 4784906, "Shutting down the FlowControlTicketholder"),
    ("-", 20520, "Stopping further Flow Control ticket acquisitions."),
    ("STORAGE", 4784908, "Shutting down the PeriodicThreadToAbortExpiredTransactions"),
    ("STORAGE", 4784934, "Shutting down the PeriodicThreadToDecreaseSnapshotHistoryCachePressure"),
    ("REPL", 4784909, "Shutting down the ReplicationCoordinator"),
    ("SHARDING", 4784910, "Shutting down the ShardingInitializationMongoD"),
    ("REPL", 4784911, "Enqueuing the ReplicationStateTransitionLock for shutdown"),
    ("-", 4784912, "Killing all operations for shutdown"),
    ("COMMAND", 4784913, "Shutting down all open transactions"),
    ("REPL", 4784914, "Acquiring the ReplicationStateTransitionLock for shutdown"),
    ("INDEX", 4784915, "Shutting down the IndexBuildsCoordinator"),
    ("REPL", 4784916, "Reacquiring the ReplicationStateTransitionLock for shutdown"),
    ("REPL", 4784917, "Attempting to mark clean shutdown"),
    ("NETWORK", 4784918, "Shutting down the ReplicaSetMonitor"),
    ("SHARDING", 4784921, "Shutting down the MigrationUtilExecutor"),
    ("CONTROL", 4784925, "Shutting down free monitoring"),
    ("CONTROL", 20609, "Shutting down free monitoring"),
    ("STORAGE", 4784927, "Shutting down the HealthLog"),
    ("STORAGE", 4784929, "Acquiring the global lock for shutdown"),
    ("STORAGE", 4784930, "Shutting down the storage engine"),
    ("STORAGE", 22320, "Shutting down journal flusher thread"),
    ("STORAGE", 22321, "Finished shutting down journal flusher thread"),
    ("STORAGE", 22322, "Shutting down checkpoint thread"),
    ("STORAGE", 22323, "Finished shutting down checkpoint thread"),
    ("STORAGE", 22261, "Timestamp monitor shutting down"),
    ("STORAGE", 20282, "Deregistering all the collections"),
)


def log_start(ctx: Context, options: Options, log: ServerLog) -> None:
    """Log the first lines, up to the opening of the storage."""
    log.say(
        "STORAGE", 4615611, INIT, "MongoDB starting",
        pid=ctx.process.pid, port=options.port, dbPath=options.db_path, architecture="64-bit", host=ctx.container.hostname,
    )  # fmt: skip
    log.say("CONTROL", 23403, INIT, "Build Info", buildInfo=BUILD_INFO)
    log.say("CONTROL", 51765, INIT, "Operating System", os={"name": "Ubuntu", "version": "18.04"})
    log.say("CONTROL", 21951, INIT, "Options set by command line", options=options.given)


def log_preparation(log: ServerLog) -> None:
    """The lines before anything else is known."""
    disabled = (
        "Automatically disabling TLS 1.0, to force-enable TLS 1.0 specify --sslDisabledProtocols 'none'"
    )
    log.say("CONTROL", 23285, "main", disabled)
    log.write("W", "ASIO", 22601, "main", "No TransportLayer configured during NetworkInterface startup")
    settings = "set tcpFastOpenServer, tcpFastOpenClient, and tcpFastOpenQueueSize."
    unavailable = f"Implicit TCP FastOpen unavailable. If TCP FastOpen is required, {settings}"
    log.say("NETWORK", 4648601, "main", unavailable)


def _warn(log: ServerLog, severity: str, component: str, id: int, text: str) -> None:
    log.write(severity, component, id, INIT, text, startup_warning=True)


def log_opening(ctx: Context, log: ServerLog, *, found_data: bool, unclean: bool, path: str) -> None:
    """Log what precedes the opening of the storage."""
    if unclean:
        text = "Detected unclean shutdown - Lock file is not empty"
        log.write("W", "STORAGE", 22271, INIT, text, {"lockFile": path})
    if found_data:
        text, folder = "Storage engine to use detected by data files", path.rpartition("/")[0]
        log.say("STORAGE", 22270, INIT, text, dbpath=folder, storageEngine="wiredTiger")
    if ctx.files.find(path)[0].fstype == "ext4":
        link = "See http://dochub.mongodb.org/core/prodnotes-filesystem"
        text = f"Using the XFS filesystem is strongly recommended with the WiredTiger storage engine. {link}"
        _warn(log, "I", "STORAGE", 22297, text)
    limit = ctx.container.memory_limit_bytes or ctx.machine.memory_bytes
    if limit == ctx.machine.memory_bytes:
        limit -= limit // KERNEL_SHARE
    cache_mib = max(256, (limit - 2**30) // 2 // 2**20)
    config = (
        f"create,cache_size={cache_mib}M,session_max=33000,eviction=(threads_min=4,threads_max=4),config_base=false,"
        "statistics=(fast),log=(enabled=true,archive=true,path=journal,compressor=snappy),file_manager="
        "(close_idle_time=100000,close_scan_interval=10,close_handle_minimum=250),statistics_log=(wait=0),"
        "verbose=[recovery_progress,checkpoint_progress,compact_progress],"
    )
    log.say("STORAGE", 22315, INIT, "Opening WiredTiger", config=config)
    progress = "WT_VERB_RECOVERY_PROGRESS"
    if found_data:
        recovering = ("Recovering log 1 through 2", "Recovering log 2 through 2")
        loop = "Main recovery loop: starting at 1/26112 to 2/256"
        for text in (*recovering, loop, *recovering):
            category = f"WT_VERB_RECOVERY | {progress}" if text == loop else progress
            log.wiredtiger_progress(INIT, "txn-recover", category, text)
    for name in ("recovery", "oldest"):
        text = f"Set global {name} timestamp: (0, 0)"
        log.wiredtiger_progress(INIT, "txn-recover", f"WT_VERB_RECOVERY | {progress}", text)


def log_opened(ctx: Context, options: Options, log: ServerLog, duration_ms: int) -> None:
    """Log that the storage is open."""
    never = {"$timestamp": {"t": 0, "i": 0}}
    log.say("STORAGE", 4795906, INIT, "WiredTiger opened", durationMillis=duration_ms)
    log.say("RECOVERY", 23987, INIT, "WiredTiger recoveryTimestamp", recoveryTimestamp=never)
    text = "No table logging settings modifications are required for existing WiredTiger tables"
    log.say("STORAGE", 4366408, INIT, text, loggingEnabled=True)
    log.say("STORAGE", 22262, INIT, "Timestamp monitor starting")
    if not options.auth:
        text = "Read and write access to data and configuration is unrestricted"
        _warn(log, "W", "CONTROL", 22120, f"Access control is not enabled for the database. {text}")
    if options.tls_mode != "disabled" and not options.tls_ca:
        text = "No client certificate validation can be performed since no CA file has been provided."
        _warn(log, "W", "CONTROL", 22132, f"{text} Please specify an sslCAFile parameter")
    if options.bind_ip in ("127.0.0.1", "localhost"):
        text = (
            "This server is bound to localhost. Remote systems will be unable to connect to this server. Start the "
            "server with --bind_ip <address> to specify which IP addresses it should serve responses from, or with "
            "--bind_ip_all to bind to all interfaces. If this behavior is desired, start the server with --bind_ip "
            "127.0.0.1 to disable this warning"
        )
        _warn(log, "W", "CONTROL", 22140, text)


def log_listening(options: Options, log: ServerLog) -> None:
    """The port is open."""
    folder = f"{options.db_path.rstrip('/')}/diagnostic.data"
    log.say("FTDC", 20625, INIT, "Initializing full-time diagnostic data capture", dataDirectory=folder)
    addresses = ("0.0.0.0" if address == "*" else address for address in options.bind_ip.split(","))
    for address in (f"/tmp/mongodb-{options.port}.sock", *addresses):
        log.say("NETWORK", 23015, "listener", "Listening on", address=address)
    ssl = "off" if options.tls_mode == "disabled" else "on"
    log.say("NETWORK", 23016, "listener", "Waiting for connections", port=options.port, ssl=ssl)


def log_stopping(log: ServerLog, who: str) -> None:
    """Everything up to the closing of the storage."""
    log.say(
        "REPL", 4784900, who, "Stepping down the ReplicationCoordinator for shutdown", waitTimeMillis=10000
    )
    for component, id, message in STOP_LINES:
        log.say(component, id, who, message)
    log.say("STORAGE", 22317, who, "WiredTigerKVEngine shutting down")
    log.say("STORAGE", 22318, who, "Shutting down session sweeper thread")
    log.say("STORAGE", 22319, who, "Finished shutting down session sweeper thread")
    log.say("STORAGE", 4795902, who, "Closing WiredTiger", closeConfig="leak_memory=true,")


def log_stopped(log: ServerLog, who: str, duration_ms: int) -> None:
    """The last lines."""
    log.say("STORAGE", 4795901, who, "WiredTiger closed", durationMillis=duration_ms)
    log.say("STORAGE", 22279, who, "shutdown: removing fs lock...")
    log.say("-", 4784931, who, "Dropping the scope cache for shutdown")
    log.say("FTDC", 4784926, who, "Shutting down full-time data capture")
    log.say("FTDC", 20626, who, "Shutting down full-time diagnostic data capture")
    log.say("CONTROL", 20565, who, "Now exiting")
    log.say("CONTROL", 23138, who, "Shutting down", exitCode=0)
