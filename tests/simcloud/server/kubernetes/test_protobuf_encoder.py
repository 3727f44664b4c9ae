from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from simcloud.kubernetes.api.errors import NotAcceptable
from simcloud.server.kubernetes.protobuf import decode, encode, encode_watch_event


def recorded(name: str) -> list[dict]:
    return [json.loads(line) for line in Path(__file__).with_name(name).read_text().splitlines()]


@pytest.mark.parametrize("one", recorded("test_protobuf_bodies.jsonl"), ids=lambda one: one["cmd"])
def test_an_object_is_written_as_kubectl_writes_it(one):
    assert encode(one["object"]) == base64.b64decode(one["body"])


@pytest.mark.parametrize("obj", recorded("test_protobuf_objects.jsonl"), ids=lambda obj: obj["kind"])
def test_objects_of_a_real_cluster_come_back_equal(obj):
    """As a genuine server printed them; nothing may be lost or added."""
    assert decode(encode(obj)) == obj


def test_schemas_of_custom_resources_come_back_equal():
    schema = {
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "integer", "minimum": 0, "maximum": 1.5, "default": {"deep": [1, None, "x"]}},
            "b": {"type": "array", "items": {"type": "string"}, "enum": ["x", 1, None, False]},
            "c": {"additionalProperties": False, "not": {}, "nullable": True},
            "d": {"additionalProperties": {"type": "string"}, "x-kubernetes-int-or-string": True},
            "e": {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": True},
            "f": {"dependencies": {"x": ["y", "z"], "w": {"type": "object"}}},
            "g": {"x-kubernetes-validations": [{"rule": "self > 0", "message": "no"}]},
        },
    }
    obj = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "widgets", "kind": "Widget"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
        "status": {
            "conditions": None,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": None,
            "observedGeneration": 3,
        },
    }
    assert decode(encode(obj)) == obj


def test_maps_are_written_in_the_order_of_their_keys():
    one = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {}, "data": {"b": "1", "a": "2"}}
    other = {**one, "data": {"a": "2", "b": "1"}}
    assert encode(one) == encode(other)


def test_a_custom_resource_has_no_protobuf_form():
    with pytest.raises(NotAcceptable) as refused:
        encode({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {}})
    assert refused.value.message == (
        "object *unstructured.Unstructured does not implement the protobuf marshalling interface"
        " and cannot be encoded to a protobuf message"
    )


def test_a_watch_event_is_a_counted_frame_around_a_body():
    obj = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "a"}}
    frame = encode_watch_event("ADDED", obj)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame[4:].startswith(b"\x0a\x05ADDED\x12")
    assert frame.endswith(encode(obj))
