"""mongod's settings, from its command line and its YAML configuration file.

``Options.given`` holds the given settings, nested as in the log line "Options set by command line".
"""

from __future__ import annotations

from typing import Any, Final

import yaml
from msgspec import Struct

from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.wire import PORT
from simcloud.machine.files import FileError, Files

FLAGS: Final[dict[str, tuple[str, Any]]] = {
    "--auth": ("security.authorization", "enabled"),
    "--noauth": ("security.authorization", "disabled"),
    "--bind_ip_all": ("net.bindIp", "*"),
    "--ipv6": ("net.ipv6", True),
    "--fork": ("processManagement.fork", True),
    "--journal": ("storage.journal.enabled", True),
    "--nojournal": ("storage.journal.enabled", False),
    "--directoryperdb": ("storage.directoryPerDB", True),
    "--logappend": ("systemLog.logAppend", True),
    "--quiet": ("systemLog.quiet", True),
    "--tlsAllowInvalidCertificates": ("net.tls.allowInvalidCertificates", True),
    "--tlsAllowConnectionsWithoutCertificates": ("net.tls.allowConnectionsWithoutCertificates", True),
    "--notablescan": ("setParameter.notablescan", True),
}

VALUES: Final[dict[str, str]] = {
    "--port": "net.port",
    "--bind_ip": "net.bindIp",
    "--maxConns": "net.maxIncomingConnections",
    "--dbpath": "storage.dbPath",
    "--logpath": "systemLog.path",
    "--pidfilepath": "processManagement.pidFilePath",
    "--tlsMode": "net.tls.mode",
    "--sslMode": "net.tls.mode",
    "--tlsCertificateKeyFile": "net.tls.certificateKeyFile",
    "--sslPEMKeyFile": "net.tls.certificateKeyFile",
    "--tlsCAFile": "net.tls.CAFile",
    "--sslCAFile": "net.tls.CAFile",
    "--wiredTigerCacheSizeGB": "storage.wiredTiger.engineConfig.cacheSizeGB",
    "--storageEngine": "storage.engine",
    "--slowms": "operationProfiling.slowOpThresholdMs",
    "--profile": "operationProfiling.mode",
    "--replSet": "replication.replSet",
    "--setParameter": "setParameter",
    "--keyFile": "security.keyFile",
    "--oplogSize": "replication.oplogSizeMB",
}

SHORT: Final = {"-f": "--config", "-v": "--verbose", "-h": "--help"}
NUMBERS: Final = ("net.port", "net.maxIncomingConnections", "operationProfiling.slowOpThresholdMs")
SECTIONS: Final = (
    "systemLog", "net", "storage", "security", "processManagement", "operationProfiling", "replication",
    "sharding", "setParameter", "cloud", "auditLog", "snmp",
)  # fmt: skip
KNOWN: Final = frozenset(VALUES.values()) | {path for path, _ in FLAGS.values()}
"""Settings of the configuration file that the command line has too."""

KNOWN_BELOW: Final = (
    "systemLog.", "net.bindIpAll", "net.unixDomainSocket.", "net.compression.", "net.serviceExecutor",
    "net.wireObjectCheck", "net.tls.", "security.", "storage.wiredTiger.", "storage.journal.", "storage.syncPeriodSecs",
    "storage.indexBuildRetry", "processManagement.", "operationProfiling.", "replication.", "setParameter", "cloud.",
    "sharding.", "auditLog.", "snmp.",
)  # fmt: skip
"""Others it knows, which change nothing here."""

MAX_SETTINGS: Final = 1_000
TLS_MODES: Final = ("disabled", "allowTLS", "preferTLS", "requireTLS")
SSL_MODES: Final = {
    "disabled": "disabled",
    "allowSSL": "allowTLS",
    "preferSSL": "preferTLS",
    "requireSSL": "requireTLS",
}


class BadOptions(Exception):
    """Invalid settings; the text is what mongod prints."""


class Options(Struct):
    """The settings of a server."""

    port: int = PORT
    bind_ip: str = "127.0.0.1"
    db_path: str = "/data/db"
    auth: bool = False
    log_path: str = ""
    pid_path: str = ""
    tls_mode: str = "disabled"
    tls_certificate: str = ""
    tls_ca: str = ""
    slow_ms: int = 100
    max_connections: int = 51_200
    replica_set: str = ""
    shutdown: bool = False
    version: bool = False
    help: bool = False
    given: Document = {}


def usage() -> str:
    """Return the text of ``--help``."""
    words = [
        "-h [ --help ]",
        "--version",
        "-f [ --config ] arg",
        "--shutdown",
        *FLAGS,
        *(f"{name} arg" for name in VALUES),
    ]
    return "Options:\n" + "".join(f"  {word}\n" for word in words)


def parse_options(args: list[str], files: Files) -> Options:
    """Parse a command line and its configuration file. Raise ``BadOptions``."""
    options = Options()
    flat: dict[str, Any] = {}
    rest = list(args)
    while rest:
        word = rest.pop(0)
        name, has_value, value = word.partition("=")
        name = SHORT.get(name, name)
        if name in FLAGS:
            path, setting = FLAGS[name]
            flat[path] = setting
        elif name in ("--shutdown", "--version", "--help"):
            setattr(options, name[2:], True)
        elif name == "--verbose" or (name.startswith("-v") and set(name[1:]) == {"v"}):
            continue
        elif name in VALUES or name == "--config":
            if not has_value:
                if not rest:
                    raise BadOptions(
                        f"Error parsing command line: the required argument for option '{name}' is missing"
                    )
                value = rest.pop(0)
            if name == "--config":
                flat = {**_from_file(value, files), "config": value, **flat}
            else:
                flat[VALUES[name]] = _convert(VALUES[name], value)
        elif word.startswith("-"):
            raise BadOptions(f"Error parsing command line: unrecognised option '{name}'")
        else:
            raise BadOptions(
                "Error parsing command line: too many positional options have been specified on the command line"
            )
    _fill(options, flat)
    return options


def _convert(path: str, value: Any) -> Any:
    if path not in NUMBERS:
        return value
    try:
        return int(value)
    except (TypeError, ValueError):
        raise BadOptions(
            f"Error parsing command line: the argument ('{value}') for option '{path.rpartition('.')[2]}' is invalid"
        ) from None


def _from_file(path: str, files: Files) -> dict[str, Any]:
    try:
        text = files.read(path).decode("utf-8", "replace")
    except FileError as error:
        raise BadOptions(f"Error reading config file: {error}") from None
    try:
        document = yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadOptions(f"Error parsing YAML config file: {error}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise BadOptions("Error parsing YAML config file: configuration must be a map")
    flat: dict[str, Any] = {}
    for section, content in document.items():
        if section not in SECTIONS:
            raise BadOptions(f"Unrecognized option: {section}")
        _flatten(str(section), content, flat, [MAX_SETTINGS])
    return flat


def _flatten(path: str, content: Any, flat: dict[str, Any], left: list[int]) -> None:
    left[0] -= 1
    if left[0] < 0:  # aliases can make a small file a tree without end
        raise BadOptions("Error parsing YAML config file: too many settings")
    if isinstance(content, dict) and path != "setParameter":
        for name, value in content.items():
            _flatten(f"{path}.{name}", value, flat, left)
    elif content is not None:
        path = path.replace("net.ssl.", "net.tls.").replace("PEMKeyFile", "certificateKeyFile")
        if path not in KNOWN and not path.startswith(KNOWN_BELOW):
            raise BadOptions(f"Unrecognized option: {path}")
        flat[path] = _convert(path, content)


def _fill(options: Options, flat: dict[str, Any]) -> None:
    options.port = flat.get("net.port", PORT)
    if not 0 < options.port < 65_536:
        raise BadOptions("BadValue: bad --port number")
    options.bind_ip = str(flat.get("net.bindIp", options.bind_ip))
    if flat.get("net.bindIpAll"):
        options.bind_ip = "*"
    options.db_path = str(flat.get("storage.dbPath", options.db_path))
    authorization = flat.get("security.authorization", "disabled")
    if authorization not in ("enabled", "disabled"):
        raise BadOptions(
            f'security.authorization value must be "enabled" or "disabled", not "{authorization}"'
        )
    options.auth = authorization == "enabled" or "security.keyFile" in flat
    options.log_path = str(flat.get("systemLog.path", ""))
    options.pid_path = str(flat.get("processManagement.pidFilePath", ""))
    options.replica_set = str(flat.get("replication.replSet", flat.get("replication.replSetName", "")))
    options.slow_ms = int(flat.get("operationProfiling.slowOpThresholdMs", options.slow_ms))
    options.max_connections = int(flat.get("net.maxIncomingConnections", options.max_connections))
    _fill_tls(options, flat)
    for path, value in flat.items():
        _nest(options.given, path.split("."), value)


def _fill_tls(options: Options, flat: dict[str, Any]) -> None:
    mode = str(flat.get("net.tls.mode", "disabled"))
    mode = SSL_MODES.get(mode, mode)
    if mode not in TLS_MODES:
        raise BadOptions(f"BadValue: unsupported value for sslMode {mode}")
    options.tls_mode = mode
    options.tls_certificate = str(flat.get("net.tls.certificateKeyFile", ""))
    options.tls_ca = str(flat.get("net.tls.CAFile", ""))
    if mode != "disabled" and not options.tls_certificate:
        raise BadOptions("BadValue: need tlsCertificateKeyFile or certificateSelector when TLS is enabled")


def _nest(tree: Document, parts: list[str], value: Any) -> None:
    for part in parts[:-1]:
        tree = tree.setdefault(part, {})
    tree[parts[-1]] = value
