"""The kubeconfig file: address, certificate authority and credentials of a cluster."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from simcloud.kubernetes.host import format_kubeconfig

CLUSTER = "aiopslab"
"""The name of the cluster in every file that is written here."""
TELEMETRY = "aiopslab.telemetry"
"""The extension of a cluster that holds the address of its telemetry."""
SESSION = "aiopslab.session"
"""The extension that holds the address of the session that the cluster is served for."""


def write_kubeconfig(
    path: Path,
    server: str,
    authority: bytes,
    token: str,
    user: str,
    addresses: Mapping[str, str],
) -> None:
    """Write the file, whole or not at all, readable by its owner only: it holds a token.

    ``addresses`` of what else is served are in extensions, which kubectl ignores; empty ones are left out.
    """
    extensions = [
        {"name": name, "extension": {"server": address}} for name, address in addresses.items() if address
    ]
    text = format_kubeconfig(CLUSTER, server, authority, user, {"token": token}, extensions)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    beside.replace(path)
