"""The fields of kubeconfig files, and their validation."""

from __future__ import annotations

from typing import Any, Final

Config = dict[str, Any]
INNER: Final = {"clusters": "cluster", "contexts": "context", "users": "user"}
TYPES: Final = {"clusters": "Cluster", "contexts": "Context", "users": "AuthInfo"}
ORDER: Final = {
    "clusters": (
        "server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority",
        "certificate-authority-data", "proxy-url", "disable-compression",
    ),
    "contexts": ("cluster", "user", "namespace"),
    "users": (
        "client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile", "as",
        "username", "password", "auth-provider", "exec",
    ),
}  # fmt: skip
"""The fields of each part, as their structs have them."""


def check(config: Config) -> None:
    """Raise ``ValueError`` in the words of Go's JSON if a field has the wrong type."""
    for part, inner in INNER.items():
        kind, listed = TYPES[part], config.get(part)
        _check_type(listed, list, f"Config.{part} of type []v1.Named{kind}")
        for entry in listed or ():
            _check_type(entry, dict, f"Config.{part} of type v1.Named{kind}", empty=False)
            _check_type(entry.get("name"), str, f"Named{kind}.{part}.name of type string")
            _check_type(entry.get(inner), dict, f"Named{kind}.{part}.{inner} of type v1.{kind}")
            entry.setdefault("name", "")
    _check_type(config.get("current-context"), str, "Config.current-context of type string")
    _check_type(config.get("preferences"), dict, "Config.preferences of type v1.Preferences")


def _check_type(value: Any, wanted: type, place: str, empty: bool = True) -> None:
    if isinstance(value, wanted) or (empty and value is None):
        return
    names = {dict: "object", list: "array", bool: "bool", int: "number", float: "number"}
    raise ValueError(
        f"json: cannot unmarshal {names.get(type(value), 'string')} into Go struct field {place}"
    )


def order_kubeconfig(config: Config) -> Config:
    """Return a kubeconfig in the field order of its structs."""
    result: Config = {"kind": "Config", "apiVersion": "v1"}
    if config.get("preferences"):
        result["preferences"] = config["preferences"]
    for part in ("clusters", "users", "contexts"):
        result[part] = [_entry(part, entry) for entry in config.get(part) or ()] or None
    return {**result, "current-context": config.get("current-context") or ""}


def _entry(part: str, one: Config) -> Config:
    inner = one.get(INNER[part]) or {}
    fields = {key: inner[key] for key in ORDER[part] if inner.get(key) not in (None, "", False)}
    if part == "contexts":
        fields = {"cluster": inner.get("cluster", ""), "user": inner.get("user", ""), **fields}
    elif part == "clusters":
        fields = {"server": inner.get("server", ""), **fields}
    return {"name": one["name"], INNER[part]: fields}
