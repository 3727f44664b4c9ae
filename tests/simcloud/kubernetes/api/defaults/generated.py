"""Any object that could come out of decoding: right types, anything else."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.schema import Schema

WRITABLE = [resource for resource in Catalogue() if "update" in resource.verbs and resource.schema.fields]

_WORDS = [
    "",
    "None",
    "ClientIP",
    "ClusterIP",
    "LoadBalancer",
    "RollingUpdate",
    "a",
    "a:latest",
    "v1",
    "Container",
]
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(_WORDS),
    "integer": st.sampled_from([0, 1, 80]),
    "number": st.sampled_from([0.0, 0.5]),
    "boolean": st.booleans(),
    "bytes": st.sampled_from(["", "YQ=="]),
    "time": st.just("2026-01-01T00:00:00Z"),
    "micro_time": st.just("2026-01-01T00:00:00.000000Z"),
    "quantity": st.sampled_from(["0", "1", "500m", "1Gi", "100u"]),
    "int_or_string": st.sampled_from([0, 8080, "http", "25%"]),
    "any": st.sampled_from([{"a": 1}, [1], "x", True]),
}


@st.composite
def values(draw: st.DrawFn, schema: Schema, depth: int = 9) -> Any:
    """A value of a schema, with few fields and items."""
    if schema.shape == "list":
        return draw(st.lists(values(schema.items, depth - 1), min_size=1, max_size=2))
    if schema.shape == "map":
        return draw(
            st.dictionaries(
                st.sampled_from(["cpu", "memory", "a"]), values(schema.items, depth - 1), min_size=1
            )
        )
    if schema.shape != "object":
        return draw(_SCALARS[schema.shape])
    if depth <= 0 or not schema.fields:
        return {}
    names = draw(st.lists(st.sampled_from(sorted(schema.fields)), max_size=4, unique=True))
    return {name: draw(values(schema.fields[name], depth - 1)) for name in names}


@st.composite
def objects(draw: st.DrawFn) -> tuple[Resource, dict[str, Any]]:
    """A resource and an object of its kind."""
    resource = draw(st.sampled_from(WRITABLE))
    obj = {
        name: draw(values(schema))
        for name, schema in resource.schema.fields.items()
        if name in ("spec", "status")
    }
    others = [name for name in resource.schema.fields if name not in ("apiVersion", "kind", "metadata")]
    for name in draw(st.lists(st.sampled_from(others), max_size=3, unique=True)) if others else ():
        obj[name] = draw(values(resource.schema.fields[name]))
    metadata = {"name": "x", "uid": "u-1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    if draw(st.booleans()):
        metadata |= {"labels": {"app": "x"}, "annotations": {"a": "b"}}
    return resource, {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **obj}
