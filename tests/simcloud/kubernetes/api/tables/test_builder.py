"""The Table around the rows, custom resources, measurements, and that no object breaks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.errors import BadRequest
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.tables import make_table
from simcloud.kubernetes.api.tables.jsonpath import find, parse_path
from simcloud.kubernetes.api.tables.registry import KINDS
from tests.simcloud.kubernetes.api.tables.kubectl_table import printed
from tests.simcloud.kubernetes.api.tables.test_pods import CASES
from tests.simcloud.kubernetes.api.tables.test_rows import CELLS, RECORDED

CATALOGUE = Catalogue()
NOW_S = times.parse("2026-11-15T12:00:00Z")
CONFIG_MAP = {
    "kind": "ConfigMap",
    "apiVersion": "v1",
    "metadata": {
        "name": "c",
        "namespace": "demo",
        "resourceVersion": "7",
        "creationTimestamp": "2026-11-15T11:00:00Z",
    },
    "data": {"a": "1"},
}
CONFIG_MAPS = CATALOGUE.find("configmaps")


def test_the_table_of_one_object() -> None:
    table = make_table(CONFIG_MAPS, [CONFIG_MAP], now_s=NOW_S)
    assert list(table) == ["kind", "apiVersion", "metadata", "columnDefinitions", "rows"]
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert table["metadata"] == {"resourceVersion": "7"}
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    name = table["columnDefinitions"][0]
    assert list(name) == ["name", "type", "format", "description", "priority"]
    assert name["type"], name["format"] == ("string", "name")
    assert name["description"].startswith("Name must be unique within a namespace.")
    assert table["rows"] == [
        {
            "cells": ["c", 1, "60m"],
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": CONFIG_MAP["metadata"],
            },
        }
    ]


def test_the_table_of_a_list() -> None:
    metadata = {"resourceVersion": "9", "continue": "x", "remainingItemCount": 3}
    table = make_table(CONFIG_MAPS, [], now_s=NOW_S, list_metadata=metadata)
    assert table["metadata"] == metadata
    assert table["rows"] == []


def test_what_a_row_includes() -> None:
    whole = make_table(CONFIG_MAPS, [CONFIG_MAP], now_s=NOW_S, include_object="Object")
    nothing = make_table(CONFIG_MAPS, [CONFIG_MAP], now_s=NOW_S, include_object="None")
    assert whole["rows"][0]["object"] == CONFIG_MAP
    assert nothing["rows"][0]["object"] is None
    with pytest.raises(BadRequest) as caught:
        make_table(CONFIG_MAPS, [], now_s=NOW_S, include_object="All")
    assert caught.value.message == (
        'Unable to convert to Table as requested: includeObject: Invalid value: "All": '
        "must be 'Metadata', 'Object', 'None', or empty"
    )


def test_a_watch_says_its_columns_once() -> None:
    assert make_table(CONFIG_MAPS, [CONFIG_MAP], now_s=NOW_S, headers=False)["columnDefinitions"] is None


def test_every_column_is_described() -> None:
    for (group, kind), shown in KINDS.items():
        for column in shown.definitions():
            assert column["description"], (group, kind, column)


def test_only_what_is_served_has_columns() -> None:
    served = {(resource.group, resource.kind) for resource in CATALOGUE} | {("autoscaling", "Scale")}
    assert set(KINDS) <= served


def definition(*columns: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"versions": [{"name": "v1", "additionalPrinterColumns": list(columns)}]}}


def shirts(*columns: dict[str, Any]) -> Resource:
    return Resource(
        "example.com", "v1", "shirts", "shirt", "Shirt", True, ("list",), custom=definition(*columns)
    )


SHIRT = {
    "metadata": {"name": "s", "creationTimestamp": "2026-11-15T11:00:00Z", "labels": {"a.b/c": "d"}},
    "spec": {
        "color": "blue",
        "size": 5,
        "price": 9.5,
        "whole": 3.0,
        "sold": False,
        "tags": ["x", "y"],
        "at": "soon",
        "html": {"z": 1, "a": "<b>"},
    },
    "status": {"conditions": [{"type": "Made", "status": "False"}, {"type": "Ready", "status": "True"}]},
}


def test_custom_resources_without_columns_have_an_age() -> None:
    table = make_table(shirts(), [SHIRT], now_s=NOW_S)
    assert [(one["name"], one["type"]) for one in table["columnDefinitions"]] == [
        ("Name", "string"),
        ("Age", "date"),
    ]
    assert table["columnDefinitions"][1]["description"].startswith("CreationTimestamp is a timestamp")
    assert table["rows"][0]["cells"] == ["s", "60m"]


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        ("string", ".spec.color", "blue"),
        ("string", ".spec.size", "5"),
        ("string", ".spec.sold", "false"),
        ("string", ".spec.tags", '["x","y"]'),
        ("string", ".spec.html", r'{"a":"\u003cb\u003e","z":1}'),
        ("string", ".spec.price", "9.5"),
        ("string", ".spec.whole", "3"),
        ("number", ".spec.whole", 3),
        ("string", ".spec.tags[*]", "x"),
        ("string", ".spec.tags[1]", "y"),
        ("string", ".spec.tags[-1]", "y"),
        ("string", ".spec.tags[5]", None),
        ("string", ".spec.tags[1:]", "y"),
        ("string", ".spec.nosuch.deeper", None),
        ("string", r".metadata.labels.a\.b/c", "d"),
        ("string", ".metadata.labels['a.b/c']", "d"),
        ("string", '.status.conditions[?(@.type=="Ready")].status', "True"),
        ("string", ".status.conditions[?(@.type=='Made')].status", "False"),
        ("string", '.status.conditions[?(@.type=="Other")].status', None),
        ("string", '.status.conditions[?(@.type!="Made")].type', "Ready"),
        ("string", ".status.conditions[?(@.status)].type", "Made"),
        ("integer", ".spec.size", 5),
        ("integer", ".spec.price", 9),
        ("integer", ".spec.color", None),
        ("integer", ".spec.sold", None),
        ("number", ".spec.price", 9.5),
        ("boolean", ".spec.sold", False),
        ("boolean", ".spec.size", None),
        ("date", ".metadata.creationTimestamp", "60m"),
        ("date", ".spec.at", "<invalid>"),
        ("date", ".spec.size", None),
    ],
)
def test_columns_of_custom_resources(kind: str, path: str, expected: Any) -> None:
    resource = shirts({"name": "Shown", "type": kind, "jsonPath": path, "priority": 1})
    table = make_table(resource, [SHIRT], now_s=NOW_S)
    column = table["columnDefinitions"][1]
    assert (column["name"], column["type"], column["priority"]) == ("Shown", kind, 1)
    assert column["description"] == f"Custom resource definition column (in JSONPath format): {path}"
    cell = table["rows"][0]["cells"][1]
    assert (cell, type(cell)) == (expected, type(expected))


@given(st.text(".[]?(@)'\"=ab*\\:0-1 ", max_size=16) | st.text())
def test_any_path_is_read_or_not(text: str) -> None:
    path = parse_path(text)
    if path is not None:
        find({"a": {"b": [1, {"a": "b"}]}}, path)


def test_measurements() -> None:
    def served(plural: str, kind: str) -> Resource:
        return Resource("metrics.k8s.io", "v1beta1", plural, "", kind, True, ("get", "list"))

    pod = {
        "metadata": {"name": "web"},
        "window": "15s",
        "containers": [
            {"usage": {"cpu": "1500000n", "memory": "1Mi"}},
            {"usage": {"cpu": "3m", "memory": "512Ki"}},
        ],
    }
    table = make_table(served("pods", "PodMetrics"), [pod], now_s=NOW_S)
    assert printed(table) == "NAME   CPU     MEMORY   WINDOW\nweb    4500u   1536Ki   15s\n"
    node = {"metadata": {"name": "n"}, "window": "10s", "usage": {"cpu": "250m", "memory": "2Gi"}}
    table = make_table(served("nodes", "NodeMetrics"), [node], now_s=NOW_S)
    assert table["rows"][0]["cells"] == ["n", "250m", "2Gi", "10s"]
    assert make_table(served("nodes", "NodeMetrics"), [], now_s=NOW_S)["rows"] == []


RECORDINGS = json.loads((Path(__file__).parent / "data" / "recorded.json").read_text())
SAMPLES: list[tuple[Resource, dict[str, Any]]] = [
    *(
        (CATALOGUE.find(*case["resource"]), obj)
        for case in RECORDINGS["cases"]
        for obj in RECORDINGS["objects"][case["objects"]][:6]
    ),
    *((CATALOGUE.find("pods"), obj) for obj, _, _ in CASES.values()),
    *(
        (CATALOGUE.find(key.partition(".")[0], key.partition(".")[2]), obj)
        for cases in (CELLS.items(), ((key, (objs[0], text)) for key, (objs, text) in RECORDED.items()))
        for key, (obj, _) in cases
    ),
    (
        shirts({"name": "R", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'}),
        SHIRT,
    ),
]


def damaged(value: Any, draw: Any) -> None:
    """Take fields away, or set them to null, somewhere inside."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = draw(st.sampled_from(keys))
    inner = value[key]
    if isinstance(inner, dict | list) and draw(st.booleans()):
        damaged(inner, draw)
    elif isinstance(value, dict) and draw(st.booleans()):
        value[key] = None
    else:
        del value[key]


@settings(max_examples=400)
@given(st.data())
def test_a_table_is_made_of_whatever_is_left_of_an_object(data: st.DataObject) -> None:
    resource, sample = data.draw(st.sampled_from(SAMPLES))
    obj = copy(sample)
    for _ in range(data.draw(st.integers(1, 6))):
        damaged(obj, data.draw)
    table = make_table(resource, [obj], now_s=NOW_S)
    assert len(table["rows"][0]["cells"]) >= len(table["columnDefinitions"])


def test_tables_change_nothing() -> None:
    for resource, sample in SAMPLES:
        before = json.dumps(sample)
        make_table(resource, [sample], now_s=NOW_S, include_object="Object")
        assert json.dumps(sample) == before
