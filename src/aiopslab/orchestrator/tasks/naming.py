"""Which component is meant: engineers name pods, deployments and addresses where they mean what runs there."""

from __future__ import annotations

import re
from typing import Final

from aiopslab.apps.base import Application

KINDS: Final = (
    "cm", "configmap", "configmaps", "deploy", "deployment", "deployments", "endpoints", "endpointslice", "ep", "no", "node",
    "nodes", "po", "pod", "pods", "replicaset", "replicasets", "rs", "service", "services", "statefulset", "statefulsets", "sts",
    "svc",
)  # fmt: skip
"""What may stand before a slash; after a dot it may name its group, as in ``deployment.apps``."""
SCHEME: Final = re.compile(r"\A[a-z][a-z0-9+]*://(?:[^@/]*@)?([^/]*).*")
PORT: Final = re.compile(r":[0-9]+\Z")
OF_A_POD: Final = re.compile(r"-[{0}]{{6,10}}(-[{0}]{{5}})?\Z".format("bcdfghjklmnpqrstvwxz2456789"))
"""What a Deployment's ReplicaSets and pods have after its name; Kubernetes avoids letters that could make words."""


def component_named(app: Application, name: str) -> str:
    """The component that a name belongs to; a name that belongs to none is a wrong answer, and stays as plain as it is."""
    known = {component.name for component in app.components}
    plain = PORT.sub("", _last_part(app, name.strip().strip("`'\"").lower()))
    host, _, domain = plain.partition(".")
    if f"{domain}.".startswith(f"{app.namespace}."):
        plain = host
    if plain in known:
        return plain
    workload = OF_A_POD.sub("", plain)
    return workload if workload in known else plain


def _last_part(app: Application, name: str) -> str:
    """A name without what it is and where: its scheme, kind and namespace. Of another namespace it is another name."""
    *before, last = SCHEME.sub(r"\1", name).split("/")
    told = all(part.partition(".")[0] in KINDS or part == app.namespace for part in before)
    return last if told else name
