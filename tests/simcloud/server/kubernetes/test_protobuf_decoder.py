from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import ApiError, BadRequest
from simcloud.kubernetes.api.schema.builtin import kinds
from simcloud.server.kubernetes.protobuf import decode, encode, wire
from simcloud.server.kubernetes.protobuf.tables import Field, Message, message, message_of

POD = ("", "v1", "Pod")
RECORDED = [
    json.loads(line)
    for line in Path(__file__).with_name("test_protobuf_bodies.jsonl").read_text().splitlines()
]
BODIES = [base64.b64decode(one["body"]) for one in RECORDED]


def body(kind: str, raw: bytes, api_version: str = "v1") -> bytes:
    names = wire.write_counted(1, api_version.encode()) + wire.write_counted(2, kind.encode())
    return b"k8s\0" + wire.write_counted(1, names) + wire.write_counted(2, raw)


def nested(*numbers: int, inner: bytes = b"") -> bytes:
    for number in reversed(numbers):
        inner = wire.write_counted(number, inner)
    return inner


def refusal(data: bytes, expected: tuple[str, str, str] | None = None) -> str:
    with pytest.raises(BadRequest) as refused:
        decode(data, expected)
    return refused.value.message


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one["cmd"])
def test_what_kubectl_sends_is_what_it_prints(one):
    """Bodies of kubectl 1.36.4 beside what it prints with ``--dry-run=client -o json``."""
    assert decode(base64.b64decode(one["body"])) == one["object"]


def test_how_drain_deletes_a_pod():
    sent = b'k8s\x00\n\x13\n\x02v1\x12\rDeleteOptions\x12\x02\x08\x05\x1a\x00"\x00'  # --grace-period=5
    assert decode(sent) == {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 5}


def test_keys_stand_in_the_order_in_which_go_prints_them():
    by_command = {one["cmd"]: one for one in RECORDED}
    one = by_command["create deployment web --image=nginx --port=80 -- sh -c 'sleep 1'"]
    assert json.dumps(decode(base64.b64decode(one["body"]))) == json.dumps(one["object"])


def test_zero_values_stand_where_go_prints_them():
    pod = decode(body("Pod", nested(2, inner=nested(2, 6))))
    assert pod == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {},
        "spec": {"containers": [{"name": "", "ports": [{"containerPort": 0}], "resources": {}}]},
        "status": {},
    }
    assert decode(body("Pod", b""))["spec"] == {"containers": None}


def test_a_pointer_to_zero_is_kept():
    spec = wire.write_varint(1, 0)
    deployment = decode(body("Deployment", wire.write_counted(2, spec), "apps/v1"))
    assert deployment["spec"]["replicas"] == 0


def test_a_message_in_two_parts_is_one():
    two = wire.write_counted(1, wire.write_counted(1, b"a")) + wire.write_counted(
        1, wire.write_counted(3, b"n")
    )
    assert decode(body("ConfigMap", two))["metadata"] == {"name": "a", "namespace": "n"}


def test_fields_of_a_younger_client_are_skipped():
    raw = wire.write_counted(900, b"x") + wire.write_varint(901, 1) + nested(1, 1, inner=b"a")
    assert decode(body("ConfigMap", raw))["metadata"] == {"name": "a"}


def test_numbers_in_a_packed_list():
    security = wire.write_counted(4, b"\x01\xd0\x0f")
    pod = decode(body("Pod", nested(2, 14, inner=security)))
    assert pod["spec"]["securityContext"] == {"supplementalGroups": [1, 2000]}


@pytest.mark.parametrize(
    ("seconds", "nanos", "time", "micro_time"),
    [
        (1767225600, 0, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000Z"),
        (1767225600, 1_234_567, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.001234Z"),
        (-1, 0, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000000Z"),
        (-62135596800, 0, None, None),
    ],
)
def test_times(seconds, nanos, time, micro_time):
    moment = wire.write_varint(1, seconds) + wire.write_varint(2, nanos)
    event = decode(body("Event", wire.write_counted(6, moment) + wire.write_counted(10, moment)))
    assert (event["firstTimestamp"], event["eventTime"]) == (time, micro_time)


def test_a_time_of_no_bytes_is_null_and_no_creation_time_is_left_out():
    event = decode(body("Event", nested(1, 8) + nested(6)))
    assert event["firstTimestamp"] is None
    assert event["metadata"] == {}


def test_text_that_is_not_utf8_is_shown_as_go_shows_it():
    assert decode(body("ConfigMap", nested(1, 1, inner=b"a\xe2\x82")))["metadata"] == {
        "name": "a\ufffd\ufffd"
    }


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "empty data"),
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0", "empty body"),
        (b"k8s\0\x0a\x05", "unexpected EOF"),
        (b"k8s\0\x08\x01", "proto: wrong wireType = 0 for field TypeMeta"),
        (body("", b""), "Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:\"v1\", Kind:\"\"}'"),
        (
            body("Pod", b"", ""),
            "Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:\"\", Kind:\"Pod\"}'",
        ),
        (
            body("pod", b""),
            'no kind "pod" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
        (
            body("Pod", b"", "apps/v1"),
            'no kind "Pod" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
        (body("Pod", b"\x08\x01"), "proto: wrong wireType = 0 for field ObjectMeta"),
        (body("Pod", nested(1, inner=b"\x08\x01")), "proto: wrong wireType = 0 for field Name"),
        (body("Pod", nested(1, inner=b"\x0a\x05")), "unexpected EOF"),
        (body("Pod", nested(1, 11, inner=b"\x08\x01")), "proto: wrong wireType = 0 for field Labels"),
        (body("Service", nested(2, 1, 4, inner=b"\x08\x02")), "impossible IntOrString.Type"),
    ],
)
def test_refusals(data, sentence):
    assert refusal(data) == sentence


def test_a_quantity_that_is_none_is_refused():
    entry = wire.write_counted(1, b"cpu") + nested(2, 1, inner=b"one")
    assert refusal(body("ResourceQuota", nested(2, 1, inner=entry))).startswith(
        "quantities must match the regular expression"
    )


def test_a_path_fills_in_what_the_envelope_leaves_out():
    bare = b"k8s\0" + wire.write_counted(2, nested(1, 1, inner=b"a"))
    assert decode(bare, POD)["metadata"] == {"name": "a"}
    assert decode(body("", b"", "v1"), POD)["kind"] == "Pod"
    assert decode(body("Deployment", b"", ""), ("apps", "v1", "Deployment"))["apiVersion"] == "apps/v1"


def test_a_path_words_refusals():
    assert refusal(body("Pod", b"\x08\x01"), POD) == (
        'Pod in version "v1" cannot be handled as a Pod: proto: wrong wireType = 0 for field ObjectMeta'
    )
    assert (
        refusal(b"", POD) == "the object provided is unrecognized (must be of type Pod): empty data (<empty>)"
    )
    assert refusal(b"k8s\0\x0a\x7f" + bytes(40), POD) == (
        f"the object provided is unrecognized (must be of type Pod): unexpected EOF (6b3873000a7f{'00' * 24} ...)"
    )
    assert refusal(b'{"kind": "Pod"}', POD).endswith('expected prefix [107 56 115 0] ({"kind": "Pod"})')


def test_a_deep_body_is_refused():
    deep = nested(*[28] * 3000)  # a schema within `not` within `not` …
    definition = body("CustomResourceDefinition", nested(2, 7, 4, 1, inner=deep), "apiextensions.k8s.io/v1")
    assert refusal(definition) == "exceeded max depth"
    revision = nested(2, 1, inner=b"[" * 5000 + b"]" * 5000)
    assert refusal(body("ControllerRevision", revision, "apps/v1")) == "exceeded max depth"


def test_a_small_body_makes_no_huge_object():
    containers = wire.write_counted(2, b"") * 100_000
    assert refusal(body("Pod", wire.write_counted(2, containers))) == "the object holds too many values"


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded_or_refused(data):
    for attempt in (data, b"k8s\0" + data, body("Pod", data), body("ResourceQuota", data)):
        try:
            decode(attempt, POD)
        except ApiError:
            pass


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """A genuine body with some bytes changed, left out or doubled."""
    data = bytearray(draw(st.sampled_from(BODIES)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data) - 1))
        until = min(len(data), at + draw(st.integers(0, 8)))
        data[at:until] = draw(st.one_of(st.binary(max_size=8), st.just(bytes(data[at:until]) * 2)))
        if not data:
            break
    return bytes(data)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@given(mutations())
def test_a_mutated_body_is_refused_or_gives_an_object_that_encodes_to_itself(data):
    try:
        obj = decode(data)
    except ApiError:
        return
    assert without_nulls(decode(encode(obj))) == without_nulls(obj)


SCALARS = {
    "string": st.binary(max_size=5),
    "bytes": st.binary(max_size=5),
    "double": st.floats(allow_nan=False, allow_infinity=False).map(lambda value: struct.pack("<d", value)),
    "bool": st.integers(0, 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "strings": st.lists(st.binary(max_size=3), max_size=2).map(
        lambda texts: b"".join(wire.write_counted(1, text) for text in texts)
    ),
    "quantity": st.sampled_from(["0", "1500m", "1Gi", "3e3", "0.5", "1024"]).map(
        lambda text: wire.write_counted(1, text.encode())
    ),
    "int_or_string": st.one_of(
        st.integers(-(2**31), 2**31 - 1).map(lambda value: wire.write_varint(2, value)),
        st.binary(max_size=4).map(lambda text: wire.write_varint(1, 1) + wire.write_counted(3, text)),
    ),
    "json": st.sampled_from([b"", b"null", b"1.5", b'{"a":[null,"x"]}']).map(
        lambda text: wire.write_counted(1, text)
    ),
}
SCALARS["time"] = SCALARS["micro_time"] = st.tuples(
    st.integers(-(2**35), 2**37), st.integers(0, 999_999_999)
).map(lambda moment: wire.write_varint(1, moment[0]) + wire.write_varint(2, moment[1]))


def written(draw: st.DrawFn, table: Message, depth: int = 0) -> bytes:
    """Bytes of a message with some of its fields set, whatever they mean."""
    chosen = draw(st.lists(st.sampled_from(table.fields), max_size=4)) if table.fields else []
    return b"".join(written_field(draw, field, depth) for field in chosen)


def written_field(draw: st.DrawFn, field: Field, depth: int) -> bytes:
    value: Any
    if field.shape == "message":
        value = written(draw, message(field.message), depth + 1) if depth < 6 else b""
    else:
        value = draw(SCALARS[field.shape])
    number = 2 if field.mapped else field.number
    if isinstance(value, int):
        return wire.write_varint(number, value)
    if field.shape == "double":
        return wire.write_fixed64(number, value)
    one = wire.write_counted(number, value)
    if not field.mapped:
        return one
    return wire.write_counted(field.number, wire.write_counted(1, draw(st.binary(max_size=3))) + one)


@given(st.data(), st.sampled_from(sorted(kinds())))
def test_every_kind_encodes_to_itself(data, kind):
    group, version, name = kind
    table = message_of(*kind)
    assert table is not None
    raw = data.draw(st.composite(written)(table))
    obj = decode(body(name, raw, f"{group}/{version}" if group else version))
    assert without_nulls(decode(encode(obj))) == without_nulls(obj)
