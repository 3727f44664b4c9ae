"""The kubeconfig file: address, certificate authority and credentials of a cluster."""

from __future__ import annotations

import os
from pathlib import Path

from simcloud.kubernetes.host import format_kubeconfig

CLUSTER = "aiopslab"
USER = "kubernetes-admin"


TELEMETRY = "aiopslab.telemetry"
"""The extension of a cluster that holds the address of its telemetry."""


def write_kubeconfig(path: Path, server: str, authority: bytes, token: str, telemetry: str = "") -> None:
    """Write the file, whole or not at all, readable by its owner only: it holds a token.

    Where telemetry is served, its address is in an extension, which kubectl ignores.
    """
    extensions = [{"name": TELEMETRY, "extension": {"server": telemetry}}] if telemetry else []
    text = format_kubeconfig(CLUSTER, server, authority, USER, {"token": token}, extensions)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    beside.replace(path)
