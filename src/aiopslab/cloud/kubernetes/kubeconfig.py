"""How to reach a cluster, from a kubeconfig file: its address, its certificate authority and the user's credentials.

The same credentials serve the HTTP client of this package and kubectl, which gets a copy of the file with the chosen context.
"""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from aiopslab.utils import AIOpsLabError

PLUGIN_TIMEOUT_S: Final = 60.0


class NoAccess(AIOpsLabError):
    """A cluster cannot be reached with a kubeconfig; the message says why."""


@dataclass(frozen=True)
class Access:
    """How to reach a cluster: the address of its API, the TLS settings, the headers with credentials, and a kubeconfig."""

    server: str
    context: str
    tls: ssl.SSLContext | None
    headers: Mapping[str, str]
    kubeconfig: str
    """The text of a kubeconfig with this context as the current one."""


def read_access(path: Path, context: str | None = None) -> Access:
    """Read a kubeconfig and return the access of one of its contexts, the current one by default; raises ``NoAccess``."""
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise NoAccess(
            f"The kubeconfig {path} cannot be read ({error.strerror}). Name another with --kubeconfig."
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        document = None
    if not isinstance(document, dict):
        raise NoAccess(f"{path} is not a kubeconfig. Name another file with --kubeconfig.")
    name = context or document.get("current-context") or ""
    chosen = _find(document, "contexts", name)
    if chosen is None:
        known = ", ".join(entry["name"] for entry in document.get("contexts") or ()) or "none"
        raise NoAccess(f"{path} has no context '{name}'. Choose one with --context; it has: {known}.")
    cluster = _find(document, "clusters", chosen["context"].get("cluster", ""))
    user = _find(document, "users", chosen["context"].get("user", "")) or {"user": {}}
    if cluster is None or not cluster["cluster"].get("server"):
        raise NoAccess(f"The context '{name}' of {path} names a cluster without an address.")
    server = str(cluster["cluster"]["server"]).rstrip("/")
    credentials = user["user"] or {}
    if "exec" in credentials:
        credentials = {**credentials, **_run_plugin(credentials["exec"])}
    folder = path.resolve().parent
    try:
        tls = _make_tls(cluster["cluster"], credentials, folder) if server.startswith("https") else None
        headers = _make_headers(credentials, folder)
        text = json.dumps(_inline(document, name, folder))
    except (OSError, ValueError) as error:
        raise NoAccess(f"A certificate or token that {path} names cannot be used ({error}).") from None
    return Access(server, name, tls, headers, text)


def _find(document: Mapping[str, Any], kind: str, name: str) -> dict[str, Any] | None:
    return next((entry for entry in document.get(kind) or () if entry.get("name") == name), None)


def _make_tls(cluster: Mapping[str, Any], user: Mapping[str, Any], folder: Path) -> ssl.SSLContext:
    authority = _read(cluster, "certificate-authority", folder)
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    # Clusters sign their own certificates, some without the extensions that the strict mode of newer Pythons asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    certificate, key = _read(user, "client-certificate", folder), _read(user, "client-key", folder)
    if certificate and key:
        with tempfile.NamedTemporaryFile(prefix="aiopslab-") as file:  # mode 0600
            file.write(certificate + b"\n" + key)
            file.flush()
            context.load_cert_chain(file.name)
    return context


def _make_headers(user: Mapping[str, Any], folder: Path) -> dict[str, str]:
    token = user.get("token") or ""
    if not token and user.get("tokenFile"):
        token = (folder / user["tokenFile"]).read_text().strip()
    if token:
        return {"Authorization": f"Bearer {token}"}
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}"
        return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    return {}


def _read(entry: Mapping[str, Any], name: str, folder: Path) -> bytes:
    """Return a certificate or key from the file or the data of an entry; empty if there is none."""
    if entry.get(f"{name}-data"):
        return b64decode(entry[f"{name}-data"])
    return (folder / entry[name]).read_bytes() if entry.get(name) else b""


def _inline(document: Mapping[str, Any], context: str, folder: Path) -> dict[str, Any]:
    """Return a kubeconfig that works from any folder: with absolute paths, and this context as the current one."""
    copied: dict[str, Any] = json.loads(json.dumps(document, default=str))
    copied["current-context"] = context
    names = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
    for kind, part in (("clusters", "cluster"), ("users", "user")):
        for entry in copied.get(kind) or ():
            for name in names:
                if (entry.get(part) or {}).get(name):
                    entry[part][name] = str(folder / entry[part][name])
    return copied


def _run_plugin(plugin: Mapping[str, Any]) -> dict[str, Any]:
    """Run a credential plugin, as clusters of cloud providers need it; return a token, or a certificate and key."""
    version = plugin.get("apiVersion", "client.authentication.k8s.io/v1")
    request = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
    own = {entry["name"]: entry["value"] for entry in plugin.get("env") or ()}
    try:
        done = subprocess.run(
            [plugin["command"], *(plugin.get("args") or ())],
            env={**os.environ, **own, "KUBERNETES_EXEC_INFO": json.dumps(request)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PLUGIN_TIMEOUT_S,
            check=True,
        )
        status = json.loads(done.stdout)["status"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise NoAccess(
            f"The credential plugin {plugin.get('command')} of the kubeconfig failed ({error})."
        ) from None
    found = {"token": status.get("token")}
    for name, key in (
        ("client-certificate-data", "clientCertificateData"),
        ("client-key-data", "clientKeyData"),
    ):
        if status.get(key):
            found[name] = b64encode(status[key].encode()).decode()
    return {name: value for name, value in found.items() if value}
