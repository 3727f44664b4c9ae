"""Custom objects against their declared schemas, with the server's sentences; defaults and pruning."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.schema.crd_validation import validate_custom
from simcloud.kubernetes.api.schema.structural import apply_crd_defaults, schema_from


def field(declared: dict[str, Any], value: Any, old: Any = None) -> list[str]:
    """What is said of ``spec.x`` being a value."""
    openapi = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": declared}}}}
    before = None if old is None else {"spec": {"x": old}}
    return [str(error) for error in validate_custom({"spec": {"x": value}}, openapi, before)]


@pytest.mark.parametrize(
    ("declared", "value", "sentences"),
    [
        (
            {"type": "integer"},
            "string",
            ['spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"'],
        ),
        (
            {"type": "integer", "format": "int32"},
            True,
            ['spec.x: Invalid value: "": spec.x in body must be of type int32: ""'],
        ),
        ({"type": "string"}, None, ['spec.x: Invalid value: "null": spec.x in body must be of type string: "null"']),
        ({"type": "string", "nullable": True}, None, []),
        (
            {"x-kubernetes-int-or-string": True},
            True,
            ['spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"'],
        ),
        ({"type": "integer"}, 1.0, []),
        ({"type": "number"}, 1, []),
        (
            {"type": "integer", "minimum": 1},
            0,
            ["spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1"],
        ),
        (
            {"type": "integer", "maximum": 10, "exclusiveMaximum": True},
            10,
            ["spec.x: Invalid value: 10: spec.x in body should be less than 10"],
        ),
        ({"type": "number", "multipleOf": 0.5}, 1.25, ["spec.x: Invalid value: 1.25: spec.x in body should be a multiple of 0.5"]),
        ({"type": "string", "pattern": "^a+$"}, "b", ["spec.x: Invalid value: \"b\": spec.x in body should match '^a+$'"]),
        ({"type": "string", "pattern": "^(a+)+$"}, "a" * 5000 + "b", None),
        ({"type": "string", "enum": ["a", "b"]}, "c", ['spec.x: Unsupported value: "c": supported values: "a", "b"']),
        ({"type": "string", "maxLength": 2}, "abc", ["spec.x: Too long: may not be more than 2 bytes"]),
        (
            {"type": "string", "minLength": 2},
            "a",
            ['spec.x: Invalid value: "a": spec.x in body should be at least 2 chars long'],
        ),
        (
            {"type": "array", "maxItems": 1, "items": {"type": "integer"}},
            [1, "a"],
            [
                'spec.x[1]: Invalid value: "string": spec.x[1] in body must be of type integer: "string"',
                "spec.x: Too many: 2: must have at most 1 item",
            ],
        ),
        ({"type": "array", "minItems": 1}, [], ["spec.x: Invalid value: 0: spec.x in body should have at least 1 items"]),
        ({"type": "object", "required": ["a"]}, {}, ["spec.x.a: Required value"]),
        (
            {"type": "object", "minProperties": 1},
            {},
            ["spec.x: Invalid value: 0: spec.x in body should have at least 1 properties"],
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"k": 1},
            ['spec.x.k: Invalid value: "integer": spec.x.k in body must be of type string: "integer"'],
        ),
        (
            {"type": "string", "format": "date-time"},
            "soon",
            ['spec.x: Invalid value: "soon": spec.x in body must be of type date-time: "soon"'],
        ),
        ({"type": "string", "format": "ipv4"}, "10.0.0.1", []),
        ({"type": "string", "format": "no-such-format"}, "x", []),
        (
            {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {},
            [
                '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
                "spec.x.a: Required value",
            ],
        ),
        (
            {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"a": 1, "b": 1},
            ['<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
        ),
        (
            {"type": "object", "not": {"required": ["a"]}},
            {"a": 1},
            ['<nil>: Invalid value: "": "spec.x" must not validate the schema (not)'],
        ),
        (
            {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            ["a", "b", "a"],
            ['spec.x[2]: Duplicate value: "a"'],
        ),
        (
            {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            [{"name": "a", "v": 1}, {"name": "a", "v": 2}],
            ['spec.x[1]: Duplicate value: {"name":"a"}'],
        ),
    ],
)  # fmt: skip
def test_broken_rules_are_named(declared: dict[str, Any], value: Any, sentences: list[str] | None) -> None:
    said = field(declared, value)
    assert len(said) == 1 if sentences is None else said == sentences


def test_what_did_not_change_is_not_judged_again() -> None:
    declared = {
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": 1}, "b": {"type": "string"}},
    }
    assert field(declared, {"a": "long", "b": "new"}, old={"a": "long", "b": "old"}) == []
    assert len(field(declared, {"a": "longer"}, old={"a": "long"})) == 1


def test_defaults_are_filled_in_where_nothing_is_said() -> None:
    openapi = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "default": {},
                "properties": {
                    "a": {"type": "string", "default": "x"},
                    "b": {"type": "string", "nullable": True, "default": "y"},
                    "c": {"type": "string"},
                    "l": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}},
                },
            },
        },
    }  # fmt: skip
    empty: dict[str, Any] = {}
    apply_crd_defaults(empty, openapi)
    assert empty == {"spec": {"a": "x", "b": "y"}}
    said: dict[str, Any] = {"spec": {"a": None, "b": None, "c": None, "l": [{}, {"n": 2}]}}
    apply_crd_defaults(said, openapi)
    assert said == {"spec": {"a": "x", "b": None, "l": [{"n": 1}, {"n": 2}]}}


def test_a_default_is_not_shared_between_objects() -> None:
    openapi = {"type": "object", "properties": {"spec": {"type": "object", "default": {"l": []}}}}
    one: dict[str, Any] = {}
    other: dict[str, Any] = {}
    apply_crd_defaults(one, openapi)
    apply_crd_defaults(other, openapi)
    one["spec"]["l"].append(1)
    assert other == {"spec": {"l": []}}


def test_a_declared_schema_says_how_its_lists_merge() -> None:
    schema = schema_from(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "ports": {
                            "type": "array",
                            "x-kubernetes-list-type": "map",
                            "x-kubernetes-list-map-keys": ["port"],
                            "items": {"type": "object", "properties": {"port": {"type": "integer"}}},
                        },
                        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                        "size": {"x-kubernetes-int-or-string": True},
                    },
                }
            },
        }
    )
    ports = schema.fields["spec"].fields["ports"]
    assert (ports.shape, ports.list_type, ports.keys) == ("list", "map", ("port",))
    assert ports.items.fields["port"].shape == "integer"
    assert schema.fields["spec"].fields["labels"].shape == "map"
    assert schema.fields["spec"].fields["size"].shape == "int_or_string"
    assert schema.fields["metadata"].fields["labels"].shape == "map"


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=15,
)
DECLARED: st.SearchStrategy[Any] = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "number", "boolean", "array", "object"])},
        optional={
            "minimum": st.integers(-5, 5),
            "multipleOf": st.sampled_from([2, 0.5]),
            "maxLength": st.integers(0, 3),
            "pattern": st.sampled_from(["^a", "(", "b+$"]),
            "enum": st.lists(st.integers(0, 3) | st.text(max_size=2), min_size=1, max_size=3),
            "format": st.sampled_from(["int32", "date-time", "uuid", "cidr", "byte", "uri", "duration"]),
            "nullable": st.booleans(),
            "default": VALUES,
            "required": st.lists(st.sampled_from("abc"), max_size=2),
            "x-kubernetes-list-type": st.sampled_from(["set", "atomic"]),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["array", "object"]),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "items": inner,
            "additionalProperties": inner | st.booleans(),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(DECLARED, st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
def test_any_value_is_judged(declared: Any, value: Any) -> None:
    apply_crd_defaults(value, declared)
    for error in validate_custom(value, declared):
        assert str(error)
    assert validate_custom(value, declared, value) == []


RULES = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["replicas"],
            "x-kubernetes-validations": [
                {"rule": "self.replicas <= self.max", "message": "replicas must not exceed max"},
                {"rule": "self.max >= oldSelf.max", "messageExpression": "'max was ' + string(oldSelf.max)"},
            ],
            "properties": {
                "replicas": {"type": "integer", "x-kubernetes-validations": [{"rule": "self % 2 == 0"}]},
                "max": {"type": "integer"},
                "host": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "reason": "FieldValueForbidden", "message": "host is immutable"}]},
            },
        }
    },
}  # fmt: skip


def judged(spec: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    before = None if old is None else {"spec": old}
    return [str(error) for error in validate_custom({"spec": spec}, RULES, before)]


def test_rules_in_cel() -> None:
    assert judged({"replicas": 2, "max": 4}) == []
    assert judged({"replicas": 6, "max": 4}) == [
        'spec: Invalid value: "object": replicas must not exceed max'
    ]
    assert judged({"replicas": 3, "max": 4}) == [
        'spec.replicas: Invalid value: "integer": failed rule: self % 2 == 0'
    ]
    assert judged({"replicas": 2}) == [
        'spec: Invalid value: "object": no such key: max evaluating rule: replicas must not exceed max'
    ]


def test_rules_about_a_change() -> None:
    assert judged({"replicas": 2, "max": 4, "host": "a"}, {"replicas": 2, "max": 5, "host": "b"}) == [
        'spec: Invalid value: "object": max was 5',
        "spec.host: Forbidden: host is immutable",
    ]
    assert judged({"replicas": 3, "max": 5, "host": "b"}, {"replicas": 3, "max": 5, "host": "b"}) == []


def test_rules_are_left_out_where_the_schema_is_broken_already() -> None:
    assert judged({"max": 4}) == [
        "spec.replicas: Required value",
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the"
        " existing errors to complete validation",
    ]
