"""The kubeconfig file: address, certificate authority and credentials of a cluster."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import yaml

CLUSTER = "aiopslab"
USER = "kubernetes-admin"


TELEMETRY = "aiopslab.telemetry"
"""The extension of a cluster that holds the address of its telemetry."""


def write_kubeconfig(path: Path, server: str, authority: bytes, token: str, telemetry: str = "") -> None:
    """Write the file, whole or not at all, readable by its owner only: it holds a token.

    Where telemetry is served, its address is in an extension, which kubectl ignores.
    """
    extensions = [{"name": TELEMETRY, "extension": {"server": telemetry}}] if telemetry else []
    context = f"{USER}@{CLUSTER}"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": CLUSTER,
                "cluster": {
                    "certificate-authority-data": base64.b64encode(authority).decode(),
                    "server": server,
                    **({"extensions": extensions} if extensions else {}),
                },
            }
        ],
        "contexts": [{"name": context, "context": {"cluster": CLUSTER, "user": USER}}],
        "current-context": context,
        "users": [{"name": USER, "user": {"token": token}}],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        yaml.safe_dump(document, file, sort_keys=False)
    beside.replace(path)
