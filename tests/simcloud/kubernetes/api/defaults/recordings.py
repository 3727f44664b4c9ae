"""Objects recorded from a genuine v1.36.4 server, with the manifest that made them where it is known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True)
class Recording:
    manifest: Object | None
    recorded: Object

    def __str__(self) -> str:
        return f"{self.recorded['kind']}/{self.recorded['metadata']['name']}"


@cache
def recordings() -> tuple[Recording, ...]:
    lines = (Path(__file__).parent / "recorded.jsonl").read_text().splitlines()
    return tuple(Recording(**json.loads(line)) for line in lines)


def without_nulls(value: Any) -> Any:
    """As an object comes out of decoding, which drops nulls."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def wanted(obj: Object) -> Object:
    """What was wanted of a recorded object: without what admission, allocation and scheduling wrote into it."""
    spec = json.loads(json.dumps(obj["spec"]))
    for field in (
        "nodeName",
        "priority",
        "preemptionPolicy",
        "serviceAccount",
        "serviceAccountName",
        "tolerations",
    ):
        spec.pop(field, None)
    for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        spec.pop(field, None)
    for container in [*spec.get("initContainers", []), *spec.get("containers", [])]:
        _without_token(container, "volumeMounts")
    _without_token(spec, "volumes")
    return spec


def _without_token(holder: Object, field: str) -> None:
    holder[field] = [one for one in holder.get(field, []) if not one["name"].startswith("kube-api-access-")]
    if not holder[field]:
        del holder[field]
