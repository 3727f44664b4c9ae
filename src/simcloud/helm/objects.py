"""The objects of templates beside values: chart, files and capabilities."""

from __future__ import annotations

import base64
import re
from typing import Any, Final

from simcloud.golang import sprint
from simcloud.golang.template import CallError, Function, GoObject
from simcloud.helm.functions.encoding import to_yaml
from simcloud.helm.functions.values import Strings

HELM_VERSION: Final = "v3.17.3"
OFFLINE_VERSION: Final = "v1.32.0"
_S: Final = ("string",)
_FIELDS: Final = {
    "Name": "name", "Home": "home", "Sources": "sources", "Version": "version", "Description": "description",
    "Keywords": "keywords", "Maintainers": "maintainers", "Icon": "icon", "APIVersion": "apiVersion",
    "Condition": "condition", "Tags": "tags", "AppVersion": "appVersion", "Deprecated": "deprecated",
    "Annotations": "annotations", "KubeVersion": "kubeVersion", "Dependencies": "dependencies", "Type": "type",
}  # fmt: skip
_LISTS: Final = ("Sources", "Keywords", "Maintainers", "Dependencies")


_MOST_STARS: Final = 8
"""More of them could make a search take for ever."""


def _glob_regex(pattern: str) -> re.Pattern[str]:
    """Shell patterns of paths: ``*`` stays within a folder, ``**`` does not, ``{a,b}`` chooses."""
    if pattern.count("*") > _MOST_STARS * 2:
        raise CallError(f"more than {_MOST_STARS} stars in a pattern")
    parts = []
    choosing = 0
    for piece in re.findall(r"\*\*|\[!?[^\]]+\]|\\.|.", pattern, re.DOTALL):
        if piece in ("**", "*", "?"):
            parts.append({"**": ".*", "*": "[^/]*", "?": "[^/]"}[piece])
        elif piece[0] == "[" and len(piece) > 2:
            inside = re.escape(piece[1:-1].removeprefix("!")).replace("\\-", "-")
            parts.append(f"[{'^' if piece[1] == '!' else ''}{inside}]")
        elif piece == "{":
            choosing += 1
            parts.append("(?:")
        elif piece == "}" and choosing:
            choosing -= 1
            parts.append(")")
        elif piece == "," and choosing:
            parts.append("|")
        else:
            parts.append(re.escape(piece[-1]))
    try:
        return re.compile("".join(parts) + ")" * choosing, re.DOTALL)
    except re.error:
        raise CallError("unexpected end of input") from None


class ChartFacts(GoObject):
    """``.Chart``: the metadata by Go's names."""

    go_type = "struct { chart.Metadata; IsRoot bool }"

    def __init__(self, metadata: dict[str, Any], is_root: bool) -> None:
        self._fields: dict[str, Any] = {}
        for name, key in _FIELDS.items():
            unset: Any = [] if name in _LISTS else {} if name == "Annotations" else ""
            self._fields[name] = metadata.get(key, False if name == "Deprecated" else unset)
        self._fields["IsRoot"] = is_root

    def go_fields(self) -> dict[str, Any]:
        """By Go's names."""
        return self._fields

    def go_text(self) -> str:
        """As Go prints a struct."""
        parts = [sprint(self._fields[name]) for name in _FIELDS]
        return "{{" + " ".join(parts) + "} " + sprint(self._fields["IsRoot"]) + "}"


class Files(dict[str, bytes], GoObject):
    """``.Files``: what of a chart is no template."""

    go_type = "engine.files"

    def go_text(self) -> str:
        """As Go prints a map of bytes."""
        return "map[" + " ".join(f"{name}:{sprint(self[name])}" for name in sorted(self)) + "]"

    def go_method(self, name: str) -> Function | None:
        """Those of the genuine type."""
        return {
            "Get": Function(lambda path: _text(self.get(path, b"")), 1, 1, _S),
            "GetBytes": Function(lambda path: self.get(path, b""), 1, 1, _S),
            "Glob": Function(self._glob, 1, 1, _S),
            "Lines": Function(self._lines, 1, 1, _S),
            "AsConfig": Function(lambda: self._as(_text), 0, 0),
            "AsSecrets": Function(lambda: self._as(lambda data: base64.b64encode(data).decode()), 0, 0),
        }.get(name)

    def _glob(self, pattern: str) -> Files:
        matches = _glob_regex(pattern)
        return Files({name: data for name, data in self.items() if matches.fullmatch(name)})

    def _lines(self, path: str) -> Strings:
        text = _text(self.get(path, b""))
        return Strings((text[:-1] if text.endswith("\n") else text).split("\n")) if text else Strings()

    def _as(self, written: Any) -> str:
        held = {name.rpartition("/")[2]: written(self[name]) for name in sorted(self)}
        return to_yaml(held) if held else ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class KubeVersion(GoObject):
    """``.Capabilities.KubeVersion``."""

    go_type = "chartutil.KubeVersion"

    def __init__(self, version: str) -> None:
        self.version = version

    def go_fields(self) -> dict[str, Any]:
        """By Go's names; GitVersion is an older one."""
        major, _, rest = self.version.removeprefix("v").partition(".")
        return {"Version": self.version, "Major": major, "Minor": rest.partition(".")[0]}

    def go_method(self, name: str) -> Function | None:
        """It prints as its version."""
        return Function(lambda: self.version, 0, 0) if name in ("String", "GitVersion") else None

    def go_text(self) -> str:
        """The version."""
        return self.version


class ApiVersions(list[str], GoObject):
    """``.Capabilities.APIVersions``."""

    go_type = "chartutil.VersionSet"

    def go_text(self) -> str:
        """As Go prints a list."""
        return "[" + " ".join(self) + "]"

    def go_method(self, name: str) -> Function | None:
        """Whether one is among them."""
        return Function(lambda wanted: wanted in self, 1, 1, _S) if name == "Has" else None


class Capabilities(GoObject):
    """``.Capabilities``: what the cluster can do."""

    go_type = "*chartutil.Capabilities"

    def __init__(self, version: str, api_versions: list[str]) -> None:
        self.kube_version = KubeVersion(version)
        self._fields = {
            "KubeVersion": self.kube_version,
            "APIVersions": ApiVersions(api_versions),
            "HelmVersion": _Build(),
        }

    def go_fields(self) -> dict[str, Any]:
        """By Go's names."""
        return self._fields

    def go_text(self) -> str:
        """As Go prints a pointer to a struct."""
        version = self.kube_version.go_fields()
        version_text = "{" + " ".join(str(version[name]) for name in ("Version", "Major", "Minor")) + "}"
        apis = self._fields["APIVersions"]
        return f"&{{{version_text} {apis.go_text()} {self._fields['HelmVersion'].go_text()}}}"


class _Build(GoObject):
    go_type = "version.BuildInfo"

    def go_fields(self) -> dict[str, Any]:
        return {
            "Version": HELM_VERSION,
            "GitCommit": "e4da49785aa6e6ee2b86efd5dd9e43400318262b",
            "GitTreeState": "clean",
            "GoVersion": "go1.23.7",
        }

    def go_text(self) -> str:
        return "{" + " ".join(self.go_fields().values()) + "}"
