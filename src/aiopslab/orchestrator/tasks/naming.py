"""Which component is meant: engineers name pods, deployments and addresses where they mean what runs there."""

from __future__ import annotations

import re
from typing import Final

from aiopslab.service.apps.base import Application

KINDS: Final = (
    "node",
    "nodes",
    "no",
    "deployment",
    "deployments",
    "deploy",
    "deployment.apps",
    "pod",
    "pods",
    "po",
    "service",
    "services",
    "svc",
)
OF_A_POD: Final = re.compile(r"-[{0}]{{6,10}}(-[{0}]{{5}})?\Z".format("bcdfghjklmnpqrstvwxz2456789"))
"""What a Deployment's ReplicaSets and pods have after its name; Kubernetes avoids letters that could make words."""


def component_named(app: Application, name: str) -> str:
    """The component that a name belongs to; a name that belongs to none stays as it is, and is a wrong answer."""
    known = {component.name for component in app.components}
    plain = name.strip().strip("`")
    kind, slash, rest = plain.partition("/")
    if slash and kind.lower() in (*KINDS, app.namespace):
        plain = rest
    host, _, domain = plain.partition(".")
    if domain.startswith(app.namespace):
        plain = host
    if plain in known:
        return plain
    workload = OF_A_POD.sub("", plain)
    return workload if workload in known else plain
