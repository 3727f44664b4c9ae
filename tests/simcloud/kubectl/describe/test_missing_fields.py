"""What is not checked when it is written (status and metadata) may lack anything: a description still comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from simcloud.kubectl.describe import describer_for
from simcloud.kubectl.describe.registry import DESCRIBERS
from simcloud.kubernetes.api.objects import Object, copy
from tests.simcloud.kubectl.describe.worlds import written
from tests.simcloud.kubectl.genuine import Everything, finished

ALWAYS_THERE = {("metadata", "name"), ("metadata", "namespace"), ("metadata", "uid")}
FEW = 10
Path = tuple[str | int, ...]


def paths(value: Any, above: Path) -> Iterator[Path]:
    """Where something could be left out."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, inside in entries:
        here = (*above, step)
        if isinstance(step, str) and here not in ALWAYS_THERE:
            yield here
        yield from paths(inside, here)


def without(obj: Object, path: Path) -> Object:
    changed: Object = copy(obj)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return changed


@pytest.mark.slow
def test_any_field_may_be_missing() -> None:
    api = written().api
    reader = Everything(api)
    described = 0
    for resource in api.catalogue:
        if (resource.group, resource.kind) not in DESCRIBERS:
            continue
        describer = describer_for(resource)
        for obj in api.list(resource, None)["items"][:FEW]:
            for part in ("metadata", "status"):
                for path in paths(obj.get(part), (part,)):
                    text = finished(describer(reader, without(obj, path), False))
                    assert text.startswith("Name:")
                    described += 1
    assert described > 1000
