"""Roles and their bindings. None of them has events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from simcloud.golang import sprint
from simcloud.kubectl.describe.page import Page
from simcloud.kubectl.describe.parts import write_metadata, write_name
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.api.tables import cells

_GROUP: Final = "rbac.authorization.k8s.io"


class _Subject(NamedTuple):
    """What one verb is allowed on: a resource of a group, maybe one object of it; or a path."""

    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@describes(_GROUP, "Role")
@describes(_GROUP, "ClusterRole")
async def describe_role(reader: Reader, obj: Object, show_events: bool) -> str:
    """A role, one line for each resource and each path."""
    page = Page()
    write_name(page, obj, namespace=False)
    write_metadata(page, obj)
    page.line("PolicyRule:")
    page.table(("Resources", "Non-Resource URLs", "Resource Names", "Verbs"), rule_rows(obj))
    return page.text()


def rule_rows(role: Object) -> list[tuple[str, str, str, str]]:
    """A row for each resource and each path that a role's rules speak of."""
    return [
        (_resource(about), sprint([*about.paths]), sprint([*about.names]), sprint(verbs))
        for about, verbs in sorted(_rules(role), key=_order)
    ]


def _rules(role: Object) -> list[tuple[_Subject, list[str]]]:
    """What is allowed, taken apart; the verbs of one resource are put together, those of a path are not."""
    together: dict[_Subject, list[str]] = {}
    alone: list[tuple[_Subject, list[str]]] = []
    for rule in cells.items(role, "rules"):
        for about, verb in _parts(rule):
            if about.paths:
                alone.append((about, [verb]))
            elif verb not in together.setdefault(about, []):
                together[about].append(verb)
    return [*alone, *together.items()]


def _parts(rule: Object) -> Iterator[tuple[_Subject, str]]:
    verbs = cells.items(rule, "verbs")
    names: list[tuple[str, ...]] = [(name,) for name in cells.items(rule, "resourceNames")] or [()]
    for group in cells.items(rule, "apiGroups"):
        for resource in cells.items(rule, "resources"):
            for verb in verbs:
                for name in names:
                    yield _Subject((group,), (resource,), name), verb
    for path in cells.items(rule, "nonResourceURLs"):
        for verb in verbs:
            yield _Subject(paths=(path,)), verb


def _order(rule: tuple[_Subject, list[str]]) -> tuple[str, ...]:
    about, verbs = rule
    values = (verbs, [*about.groups], [*about.resources], [*about.names], [*about.paths])
    return tuple(f"{sprint(name)}," for name in values)


def _resource(about: _Subject) -> str:
    if not about.resources:
        return ""
    plural, slash, subresource = about.resources[0].partition("/")
    group = f".{about.groups[0]}" if about.groups[0] else ""
    return f"{plural}{group}{slash}{subresource}"


@describes(_GROUP, "RoleBinding")
@describes(_GROUP, "ClusterRoleBinding")
async def describe_binding(reader: Reader, obj: Object, show_events: bool) -> str:
    """A binding and whom it binds."""
    page, role = Page(), cells.part(obj, "roleRef")
    write_name(page, obj, namespace=False)
    write_metadata(page, obj)
    page.line("Role:")
    page.field("Kind", cells.text(role, "kind"), 1)
    page.field("Name", cells.text(role, "name"), 1)
    page.line("Subjects:")
    rows = [
        (cells.text(subject, "kind"), cells.text(subject, "name"), cells.text(subject, "namespace"))
        for subject in cells.items(obj, "subjects")
    ]
    page.table(("Kind", "Name", "Namespace"), rows)
    return page.text()
