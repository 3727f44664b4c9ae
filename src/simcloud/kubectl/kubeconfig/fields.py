"""The fields of kubeconfig files: which there are, what a dotted path names, and what a file may not hold."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from simcloud.golang.quoting import quote
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.flags import BOOLEANS

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
SWITCHES: Final = ("insecure-skip-tls-verify", "disable-compression", "colors")
IGNORED: Final = ("kind", "apiVersion")
"""What can be set and is always written as it must be."""
ROOTS: Final = (*INNER, "current-context", "preferences", "extensions", *IGNORED)


def check(told: Config) -> None:
    """Refuse what is of the wrong type; raises ``ValueError`` in the words of Go's JSON."""
    for part, inner in INNER.items():
        kind, listed = TYPES[part], told.get(part)
        _typed(listed, list, f"Config.{part} of type []v1.Named{kind}")
        for one in listed or ():
            _typed(one, dict, f"Config.{part} of type v1.Named{kind}", empty=False)
            _typed(one.get("name"), str, f"Named{kind}.{part}.name of type string")
            _typed(one.get(inner), dict, f"Named{kind}.{part}.{inner} of type v1.{kind}")
            one.setdefault("name", "")
    _typed(told.get("current-context"), str, "Config.current-context of type string")
    _typed(told.get("preferences"), dict, "Config.preferences of type v1.Preferences")


def _typed(value: Any, wanted: type, place: str, empty: bool = True) -> None:
    if isinstance(value, wanted) or (empty and value is None):
        return
    names = {dict: "object", list: "array", bool: "bool", int: "number", float: "number"}
    raise ValueError(
        f"json: cannot unmarshal {names.get(type(value), 'string')} into Go struct field {place}"
    )


def ordered(told: Config) -> Config:
    """A kubeconfig in the order of its structs."""
    result: Config = {"kind": "Config", "apiVersion": "v1"}
    if told.get("preferences"):
        result["preferences"] = told["preferences"]
    for part in ("clusters", "users", "contexts"):
        result[part] = [_entry(part, one) for one in told.get(part) or ()] or None
    return {**result, "current-context": told.get("current-context") or ""}


def _entry(part: str, one: Config) -> Config:
    inner = one.get(INNER[part]) or {}
    fields = {key: inner[key] for key in ORDER[part] if inner.get(key) not in (None, "", False)}
    if part == "contexts":
        fields = {"cluster": inner.get("cluster", ""), "user": inner.get("user", ""), **fields}
    elif part == "clusters":
        fields = {"server": inner.get("server", ""), **fields}
    return {"name": one["name"], INNER[part]: fields}


def split(told: Config, path: str) -> tuple[str, str, str]:
    """Part, entry and field that a dotted path names, as far as it names them; names of entries may have dots."""
    if not path:
        raise KubectlError("you must specify a property")
    head, _, rest = path.partition(".")
    if head not in ROOTS:
        raise KubectlError(f"unable to parse {path} after [] at api.Config")
    if head not in INNER:
        return head, "", rest
    names = [one["name"] for one in told.get(head) or ()]
    known = [name for name in names if rest == name or rest.startswith(f"{name}.")]
    if known:
        name = max(known, key=len)
    else:
        name = rest.rpartition(".")[0] if rest.rpartition(".")[2] in ORDER[head] else rest.partition(".")[0]
    return head, name, rest[len(name) + 1 :]


def checked(told: Config, path: str, head: str, field: str) -> None:
    """Refuse to set what is no single value."""
    if head not in INNER:
        return
    if field.partition(".")[0] not in ORDER[head]:
        names = " ".join(sorted(one["name"] for one in told.get(head) or ()))
        raise KubectlError(f"can't set a map to a value: map[{names}]")
    if "." in field:
        raise KubectlError(f"unable to parse one or more field values of {path}")


def read(field: str, value: str, raw: bool) -> Any:
    """A text as the value of a field."""
    if field in SWITCHES:
        if value not in BOOLEANS:
            raise KubectlError(f"strconv.ParseBool: parsing {quote(value)}: invalid syntax")
        return BOOLEANS[value]
    if field.endswith("-data"):
        if raw:
            return base64.b64encode(value.encode()).decode()
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise KubectlError("error decoding input value: illegal base64 data at input byte 0") from None
    return value
