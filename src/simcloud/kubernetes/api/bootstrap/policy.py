"""Default roles and bindings, read from ``data/default_policy.txt``, whose head explains its notation."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from simcloud.kubernetes.api.access.rbac import GROUP
from simcloud.kubernetes.api.access.rules import aggregate
from simcloud.kubernetes.api.objects import Object, name_of

_API_VERSION = f"{GROUP}/v1"
_AGGREGATE_LABEL = f"{GROUP}/aggregate-to-"
_CONTROLLER_PREFIX = "system:controller:"
_KINDS = {
    "clusterrole": "ClusterRole",
    "clusterbinding": "ClusterRoleBinding",
    "role": "Role",
    "rolebinding": "RoleBinding",
}

Entry = tuple[list[str], list[list[str]]]
"""The words of an entry's head, and those of each line under it."""


def default_policy() -> list[Object]:
    """Every default ClusterRole, ClusterRoleBinding, Role and RoleBinding, in the order of creation."""
    made: list[Object] = []
    for head, lines in _entries():
        kind = _KINDS[head[0]]
        if kind == "ClusterRole":
            made.append(_cluster_role(head[1:], lines))
        elif kind == "Role":
            made.append(_object(kind, head[2], head[1], rules=[_rule(words) for words in lines]))
        elif kind == "ClusterRoleBinding":
            made.append(_binding(kind, head[1], "", "ClusterRole", head[1], lines))
        else:
            made.append(
                _binding(kind, head[2], head[1], "Role", head[4] if len(head) > 3 else head[2], lines)
            )
    _fill_aggregated([obj for obj in made if obj["kind"] == "ClusterRole"])
    return _with_controllers(made)


def _entries() -> Iterator[Entry]:
    entry: Entry | None = None
    text = (files("simcloud.kubernetes.api") / "data" / "default_policy.txt").read_text("utf-8")
    for line in text.splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if line.startswith(" ") and entry is not None:
            entry[1].append(words)
            continue
        if entry is not None:
            yield entry
        entry = (words, [])
    if entry is not None:
        yield entry


def _object(kind: str, name: str, namespace: str = "", **parts: object) -> Object:
    metadata: Object = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    metadata["annotations"] = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
    return {"kind": kind, "apiVersion": _API_VERSION, "metadata": metadata, **parts}


def _cluster_role(head: list[str], lines: list[list[str]]) -> Object:
    name, options = head[0], dict(zip(head[1::2], head[2::2], strict=True))
    role = _object("ClusterRole", name, rules=[_rule(words) for words in lines])
    if "joins" in options:
        role["metadata"]["labels"][_AGGREGATE_LABEL + options["joins"]] = "true"
    if "gathers" in options:
        selector = {"matchLabels": {_AGGREGATE_LABEL + options["gathers"]: "true"}}
        role["aggregationRule"] = {"clusterRoleSelectors": [selector]}
    return role


def _rule(words: list[str]) -> Object:
    verbs, rest = _cut(words, "of")
    things, rest = _cut(rest, "in")
    if not rest:
        return {"verbs": verbs, "nonResourceURLs": things}
    groups, names = _cut(rest, "named")
    rule: Object = {"verbs": verbs, "apiGroups": ["" if group == "core" else group for group in groups]}
    rule["resources"] = things
    if names:
        rule["resourceNames"] = names
    return rule


def _cut(words: list[str], mark: str) -> tuple[list[str], list[str]]:
    """The words before a mark and those after it."""
    place = words.index(mark) if mark in words else len(words)
    return words[:place], words[place + 1 :]


def _binding(
    kind: str, name: str, namespace: str, role_kind: str, role: str, lines: list[list[str]]
) -> Object:
    parts: Object = {"subjects": [_subject(words) for words in lines]} if lines else {}
    parts["roleRef"] = {"apiGroup": GROUP, "kind": role_kind, "name": role}
    return _object(kind, name, namespace, **parts)


def _subject(words: list[str]) -> Object:
    if words[0] == "ServiceAccount":
        return {"kind": "ServiceAccount", "name": words[2], "namespace": words[1]}
    return {"kind": words[0], "apiGroup": GROUP, "name": words[1]}


def _fill_aggregated(roles: list[Object]) -> None:
    """Give the aggregated roles their rules; view is in edit and edit in admin, so from the inside out."""
    gathering = {name_of(role): role for role in roles if "aggregationRule" in role}
    for name in ("view", "edit", "admin"):
        gathering[name]["rules"] = aggregate(gathering[name], roles)


def _with_controllers(made: list[Object]) -> list[Object]:
    """The same, with the bindings of the controllers' roles after the other cluster-wide ones."""
    controllers = [
        name_of(role)
        for role in made
        if role["kind"] == "ClusterRole" and name_of(role).startswith(_CONTROLLER_PREFIX)
    ]
    bindings = [
        _binding(
            "ClusterRoleBinding",
            name,
            "",
            "ClusterRole",
            name,
            [["ServiceAccount", "kube-system", name.removeprefix(_CONTROLLER_PREFIX)]],
        )
        for name in controllers
    ]
    place = next(place for place, obj in enumerate(made) if obj["kind"] == "Role")
    return [*made[:place], *bindings, *made[place:]]
