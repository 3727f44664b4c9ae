"""Validation of mongod's certificate, with mongod's error messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from simcloud.datastores.mongodb.options import Options
from simcloud.datastores.mongodb.serverlog import ServerLog
from simcloud.machine.files import FileError
from simcloud.machine.process import Context

EXIT_BAD_OPTIONS: Final = 1
EXIT_ABRUPT: Final = 14


def check_certificate(ctx: Context, options: Options, log: ServerLog) -> int:
    """0 when TLS can be set up, else the status mongod exits with; the reason is in the log."""
    path = options.tls_certificate
    try:
        data = ctx.files.read(path)
    except FileError as error:
        return _log_refusal(
            log, "Cannot read certificate file", path, f"error:02001002:system library:fopen:{error}"
        )
    try:
        certificate = x509.load_pem_x509_certificate(data)
    except ValueError:
        return _log_refusal(
            log, "Cannot read certificate file", path, "error:0909006C:PEM routines:get_name:no start line"
        )
    try:
        load_pem_private_key(data, None)
    except (ValueError, TypeError):
        return _log_refusal(
            log, "Cannot read PEM key file", path, "error:0909006C:PEM routines:get_name:no start line"
        )
    now = datetime.fromtimestamp(ctx.now, UTC)
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        log.write("F", "NETWORK", 28652, "main", "The provided SSL certificate is expired or not yet valid")
        log.fatal_assertion("main", 28652, "src/mongo/util/net/ssl_manager_openssl.cpp", 2023, trace=False)
        return EXIT_ABRUPT
    if options.tls_ca and not ctx.files.exists(options.tls_ca):
        reason = "error:02001002:system library:fopen:No such file or directory"
        return _initialization_failed(
            log, f"cannot read certificate authority file: {options.tls_ca} {reason}"
        )
    return 0


def _log_refusal(log: ServerLog, message: str, path: str, error: str) -> int:
    log.write("E", "NETWORK", 23248, "main", message, {"keyFile": path, "error": error})
    return _initialization_failed(log, "Can not set up PEM key file.")


def _initialization_failed(log: ServerLog, reason: str) -> int:
    error = {"code": 140, "codeName": "InvalidSSLConfiguration", "errmsg": reason}
    log.write("F", "CONTROL", 20574, "main", "Error during global initialization", {"error": error})
    return EXIT_BAD_OPTIONS
