"""The cluster, user and namespace of a command: from kubeconfig files, flags, or a pod's service account."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import yaml
from msgspec import Struct, field

from simcloud.golang import parse_duration_s
from simcloud.kubectl.errors import KubectlError, PlainError
from simcloud.kubectl.flags import Flags
from simcloud.kubectl.kubeconfig.fields import check
from simcloud.kubernetes.api import copy
from simcloud.machine.files import FileError
from simcloud.machine.process import Context

ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
NOWHERE: Final = "http://localhost:8080"
"""The default server, used without a kubeconfig."""


class ClientConfig(Struct):
    """What a command needs to reach a cluster."""

    server: str = NOWHERE
    namespace: str = "default"
    token: str = ""
    user: str = ""
    timeout_s: float = 0.0
    """How long one request may take; 0 for as long as it takes."""
    impersonate: dict[str, list[str]] = field(default_factory=dict)
    found: bool = False
    """Whether a kubeconfig or an account was there."""


def default_path(ctx: Context) -> str:
    """The kubeconfig of whoever is at the terminal."""
    return f"{ctx.env.get('HOME', '/root').rstrip('/')}/.kube/config"


def paths(ctx: Context, flags: Flags) -> list[str]:
    """The kubeconfig files to read, the first one wins."""
    said = flags.get("kubeconfig", "")
    if said:
        return [said]
    listed = ctx.env.get("KUBECONFIG", "")
    return [path for path in listed.split(":") if path] if listed else [default_path(ctx)]


def read_file(ctx: Context, path: str) -> dict[str, Any]:
    """One kubeconfig file; raises ``FileError`` or ``KubectlError``."""
    try:
        config = copy(parse_file(ctx.files.read(path)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line}: " if mark is not None and mark.line else ""
        why = getattr(error, "problem", None) or str(error)
        raise KubectlError(f'error loading config file "{path}": yaml: {line}{why}') from None
    if config is None:
        return {}
    if not isinstance(config, dict):
        kind = {list: "array", bool: "bool", int: "number", float: "number"}.get(type(config), "string")
        raise KubectlError(
            f'error loading config file "{path}": couldn\'t get version/kind; json parse error: '
            f"json: cannot unmarshal {kind} into Go value of type struct "
            '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
        )
    if config.get("kind", "Config") != "Config" or config.get("apiVersion", "v1") != "v1":
        raise KubectlError(
            f'error loading config file "{path}": no kind "{config.get("kind", "Config")}" is registered for version '
            f'"{config.get("apiVersion", "v1")}" in scheme "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"'
        )
    try:
        check(config)
    except ValueError as error:
        raise KubectlError(f'error loading config file "{path}": {error}') from None
    return config


@lru_cache(maxsize=64)
def parse_file(data: bytes) -> Any:
    """Parse a file. The result is cached, because most commands read the same file: do not change it."""
    return yaml.load(data, yaml.CSafeLoader)


def merge_kubeconfigs(ctx: Context, flags: Flags, needed: bool = False) -> dict[str, Any]:
    """Merge all kubeconfig files; earlier files win. With ``needed`` a file that is named must exist."""
    result: dict[str, Any] = {"clusters": [], "contexts": [], "users": []}
    for path in paths(ctx, flags):
        try:
            config = read_file(ctx, path)
        except FileError as error:
            if needed and flags.get("kubeconfig", ""):
                raise KubectlError(f"stat {path}: {error.strerror.lower()}") from None
            continue
        result["found"] = True
        for part in ("clusters", "contexts", "users"):
            known = {entry["name"] for entry in result[part]}
            result[part].extend(entry for entry in config.get(part) or () if entry.get("name") not in known)
        for part in ("current-context", "preferences"):
            if config.get(part) and not result.get(part):
                result[part] = config[part]
    return result


def load(ctx: Context, flags: Flags) -> ClientConfig:
    """The configuration that a command works by."""
    content = merge_kubeconfigs(ctx, flags, needed=True)
    name = flags.get("context", "") or content.get("current-context", "")
    context = _entry(content, "contexts", name, "context")
    if context is None and name:
        why = f"Error in configuration: context was not found for specified context: {name}"
        raise PlainError(why)
    context = context or {}
    config = ClientConfig(found=bool(content.get("found")))
    _cluster(content, flags.get("cluster", "") or context.get("cluster", ""), config)
    user = flags.get("user", "")
    if isinstance(user, list):  # a flag of the command itself: whom a role is bound to
        user = ""
    _user(ctx, content, user or context.get("user", ""), config)
    if not config.found:
        _own_account(ctx, config)
    config.namespace = flags.get("namespace", "") or context.get("namespace", "") or config.namespace
    config.server = _url(flags.get("server", "")) or config.server
    config.token = flags.get("token", "") or config.token
    config.timeout_s = _timeout_s(flags.get("request-timeout", "0"))
    if not flags.get("as") and (flags.get("as-group") or flags.get("as-uid")):
        why = f"requesting uid, groups or user-extra for {config.user} without impersonating a user"
        raise KubectlError(why)
    for flag, header in (("as", "user"), ("as-group", "group"), ("as-uid", "uid")):
        value = flags.get(flag)
        if value:
            config.impersonate[f"impersonate-{header}"] = value if isinstance(value, list) else [value]
    return config


def _entry(config: dict[str, Any], part: str, name: str, inner: str) -> dict[str, Any] | None:
    for entry in config[part]:
        if entry.get("name") == name:
            found: dict[str, Any] = entry.get(inner) or {}
            return found
    return None


def _cluster(content: dict[str, Any], name: str, config: ClientConfig) -> None:
    if not name:
        return
    cluster = _entry(content, "clusters", name, "cluster")
    if cluster is None:
        raise KubectlError(f'no server found for cluster "{name}"')
    config.server = _url(str(cluster.get("server", ""))) or config.server


def _user(ctx: Context, content: dict[str, Any], name: str, config: ClientConfig) -> None:
    config.user = name
    if not name:
        return
    user = _entry(content, "users", name, "user")
    if user is None:
        raise KubectlError(f'auth info "{name}" does not exist')
    # Traffic is not encrypted in this world: a client's certificate is sent as if it were a token.
    config.token = str(user.get("token", "") or user.get("client-certificate-data", ""))
    if not config.token and user.get("tokenFile"):
        config.token = _token_file(ctx, str(user["tokenFile"]))


def _token_file(ctx: Context, path: str) -> str:
    try:
        return ctx.files.read(path).decode(errors="replace").strip()
    except FileError as error:
        raise KubectlError(
            f'failed to read token file "{path}": open {path}: {error.strerror.lower()}'
        ) from None


def _timeout_s(said: str) -> float:
    """Seconds, or a duration with its unit."""
    try:
        return float(int(said)) if said.isascii() and said.isdigit() else parse_duration_s(said)
    except ValueError:
        raise KubectlError(
            "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a "
            "corresponding time unit (e.g. 1s | 2m | 3h)"
        ) from None


def _own_account(ctx: Context, config: ClientConfig) -> None:
    """In a pod, its service account speaks."""
    host, port = ctx.env.get("KUBERNETES_SERVICE_HOST"), ctx.env.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        return
    try:
        config.token = ctx.files.read(f"{ACCOUNT}/token").decode(errors="replace").strip()
        config.namespace = ctx.files.read(f"{ACCOUNT}/namespace").decode(errors="replace").strip()
    except FileError:
        return
    config.server, config.found = f"https://{host}:{port}", True


def _url(said: str) -> str:
    return said if not said or "://" in said else f"http://{said}"
