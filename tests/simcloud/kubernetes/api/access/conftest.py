"""A policy in memory: roles and bindings a test writes down in a line each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from simcloud.kubernetes.api.access.rbac import GROUP
from simcloud.kubernetes.api.objects import Object


class Policy:
    """A reader of roles and bindings that counts its changes; also of any other object put into it."""

    def __init__(self) -> None:
        self.revision = 0
        self.lists = 0
        self.objects: dict[tuple[str, str, str], Object] = {}

    def get(self, plural: str, namespace: str, name: str) -> Object | None:
        return self.objects.get((plural, namespace, name))

    def list(self, plural: str, namespace: str) -> Iterable[Object]:
        self.lists += 1
        return [obj for key, obj in sorted(self.objects.items()) if key[:2] == (plural, namespace)]

    def put(self, plural: str, obj: Object) -> Object:
        metadata = obj["metadata"]
        self.objects[plural, metadata.get("namespace", ""), metadata["name"]] = obj
        self.revision += 1
        return obj

    def remove(self, plural: str, namespace: str, name: str) -> None:
        del self.objects[plural, namespace, name]
        self.revision += 1

    def role(self, name: str, *rules: Object, namespace: str = "") -> Object:
        kind = "Role" if namespace else "ClusterRole"
        obj = {"kind": kind, "metadata": meta(name, namespace), "rules": list(rules)}
        return self.put(kind.lower() + "s", obj)

    def bind(self, name: str, role: str, *subjects: Object, namespace: str = "", kind: str = "") -> Object:
        own = "RoleBinding" if namespace else "ClusterRoleBinding"
        ref = {"apiGroup": GROUP, "kind": kind or own.removesuffix("Binding"), "name": role}
        obj = {"kind": own, "metadata": meta(name, namespace), "roleRef": ref, "subjects": list(subjects)}
        return self.put(own.lower() + "s", obj)


def meta(name: str, namespace: str = "") -> Object:
    return {"name": name, "namespace": namespace} if namespace else {"name": name}


def rule(verbs: str, resources: str, groups: str = "core", names: str = "") -> Object:
    told: dict[str, Any] = {
        "verbs": verbs.split(),
        "apiGroups": ["" if group == "core" else group for group in groups.split()],
        "resources": resources.split(),
    }
    return {**told, "resourceNames": names.split()} if names else told


def user_named(name: str) -> Object:
    return {"kind": "User", "apiGroup": GROUP, "name": name}


def group_named(name: str) -> Object:
    return {"kind": "Group", "apiGroup": GROUP, "name": name}


def account(namespace: str, name: str) -> Object:
    told = {"kind": "ServiceAccount", "name": name}
    return {**told, "namespace": namespace} if namespace else told


@pytest.fixture
def policy() -> Policy:
    return Policy()
