"""The version of mongod and its limits."""

from __future__ import annotations

from typing import Any, Final

VERSION: Final = "4.4.6"
VERSION_ARRAY: Final = [4, 4, 6, 0]
GIT_VERSION: Final = "72e66213c2c3eab37d9358d5e78ad7f5c1d0d0d7"
MAX_WIRE_VERSION: Final = 9
MAX_DOCUMENT_BYTES: Final = 16_777_216
MAX_MESSAGE_BYTES: Final = 48_000_000
MAX_WRITE_BATCH: Final = 100_000

BUILD_INFO: Final[dict[str, Any]] = {
    "version": VERSION,
    "gitVersion": GIT_VERSION,
    "openSSLVersion": "OpenSSL 1.1.1  11 Sep 2018",
    "modules": [],
    "allocator": "tcmalloc",
    "environment": {"distmod": "ubuntu1804", "distarch": "x86_64", "target_arch": "x86_64"},
}
"""As the log and ``--version`` show it."""
