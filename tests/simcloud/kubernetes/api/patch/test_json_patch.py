import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.patch import apply_json_patch
from simcloud.kubernetes.api.patch.json_patch import MAX_COPIED_BYTES

DOCUMENT: dict[str, Any] = {
    "spec": {"ports": [{"port": 80, "targetPort": 8080}], "type": "ClusterIP"},
    "metadata": {"labels": {"a/b": "1", "c~d": "2"}},
    "nothing": None,
}


@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        (
            {"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9090},
            "spec.ports.0.targetPort",
            9090,
        ),
        ({"op": "add", "path": "/spec/ports/-", "value": 1}, "spec.ports.1", 1),
        ({"op": "add", "path": "/spec/ports/0", "value": 1}, "spec.ports.0", 1),
        ({"op": "add", "path": "/spec/ports/-1", "value": 1}, "spec.ports.1", 1),
        ({"op": "add", "path": "/spec/type", "value": None}, "spec.type", None),
        ({"op": "replace", "path": "/metadata/labels/a~1b", "value": "x"}, "metadata.labels.a/b", "x"),
        ({"op": "replace", "path": "/metadata/labels/c~0d", "value": "x"}, "metadata.labels.c~d", "x"),
        ({"op": "replace", "path": "ignored/spec/type", "value": "x"}, "spec.type", "x"),
        ({"op": "copy", "from": "/spec/type", "path": "/spec/ports/0"}, "spec.ports.0", "ClusterIP"),
        ({"op": "move", "from": "/spec/ports/0", "path": "/port"}, "port.port", 80),
        ({"op": "replace", "path": "", "value": {"new": 1}}, "new", 1),
        ({"op": "replace", "path": "/spec/absent", "value": 1}, "spec.absent", 1),
        ({"op": "copy", "from": "/absent", "path": "/spec/type"}, "spec.type", None),
        ({"op": "test", "path": "/spec/type", "value": "ClusterIP"}, "spec.type", "ClusterIP"),
        ({"op": "test", "path": "/absent", "value": None}, "spec.type", "ClusterIP"),
        ({"op": "test", "path": "", "value": DOCUMENT}, "spec.type", "ClusterIP"),
    ],
)
def test_operations(operation: Any, path: str, expected: Any) -> None:
    before = copy.deepcopy(DOCUMENT)
    found = apply_json_patch(DOCUMENT, [operation])
    assert before == DOCUMENT
    for step in path.split("."):
        found = found[int(step) if isinstance(found, list) else step]
    assert found == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/spec/ports/7/targetPort", "value": 9090},
        {"op": "remove", "path": "/spec/absent"},
        {"op": "remove", "path": "/spec/ports/1"},
        {"op": "remove", "path": "/spec/ports/-2"},
        {"op": "remove", "path": ""},
        {"op": "add", "path": "/spec/ports/2", "value": 1},
        {"op": "add", "path": "/spec/ports/x", "value": 1},
        {"op": "add", "path": "/spec/ports/1_0", "value": 1},
        {"op": "add", "path": "/spec/type/x", "value": 1},
        {"op": "add", "path": "/nothing/x", "value": 1},
        {"op": "add", "path": "", "value": {}},
        {"op": "add", "value": {}},
        {"op": "test", "path": "/spec/ports/0/port", "value": 80.0},
        {"op": "test", "path": "/spec/ports/0/port", "value": "80"},
        {"op": "copy", "from": "/absent/key", "path": "/x"},
        {"op": "copy", "from": "/spec/ports/1", "path": "/x"},
        {"op": "move", "from": "/absent", "path": "/x"},
        {"op": "increment", "path": "/spec"},
        {"path": "/spec"},
        None,
    ],
)
def test_what_does_not_apply_names_no_reason(operation: Any) -> None:
    with pytest.raises(ApiError) as refused:
        apply_json_patch(DOCUMENT, [operation])
    # Behind kubectl's "The request is invalid: the server rejected our request due to an error in our request".
    assert refused.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the server rejected our request due to an error in our request",
        "reason": "Invalid",
        "details": {},
        "code": 422,
    }


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ({}, "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ("x", "json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp"),
        ([1], "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        ([{"op": 1}], "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
    ],
)
def test_what_is_no_patch_is_a_bad_request(operations: Any, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        apply_json_patch(DOCUMENT, operations)
    assert (refused.value.code, refused.value.message) == (400, f"error decoding patch: {message}")


def test_null_is_a_patch_without_operations() -> None:
    assert apply_json_patch(DOCUMENT, None) == DOCUMENT


def test_too_many_operations() -> None:
    with pytest.raises(ApiError) as refused:
        apply_json_patch({}, [{"op": "add", "path": "/a", "value": 1}] * 10_001)
    assert refused.value.code == 413
    assert refused.value.message == (
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    )


def test_copies_of_copies_end_before_memory_does() -> None:
    text = "x" * (MAX_COPIED_BYTES // 1000)
    doubling = [{"op": "copy", "from": "/list", "path": "/list/-"}] * 100
    with pytest.raises(ApiError) as refused:
        apply_json_patch({"list": [text]}, doubling)
    assert refused.value.code == 422


def test_depth_is_limited() -> None:
    deeper = [{"op": "add", "path": "/a" * depth, "value": {}} for depth in range(1, 2000)]
    with pytest.raises(ApiError, match="exceeded max depth"):
        apply_json_patch({}, deeper)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, width=16)
    | st.text("ab/~", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
POINTERS = st.lists(st.sampled_from(["a", "b", "0", "1", "-", "-1", "~0", "~1", ""]), max_size=3).map(
    lambda parts: "".join(f"/{part}" for part in parts)
)
OPERATIONS = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x"]),
        "path": POINTERS,
        "from": POINTERS,
        "value": JSON,
    },
)


@given(JSON, st.lists(OPERATIONS, max_size=6) | JSON)
def test_nothing_but_api_errors(document: Any, operations: Any) -> None:
    before = copy.deepcopy((document, operations))
    try:
        apply_json_patch(document, operations)
    except ApiError as refused:
        assert refused.code in (400, 422)
    assert (document, operations) == before


def _pointers(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    """Every place in a document that a pointer leads to, with what is there."""
    found = [(pointer, value)]
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        escaped = str(step).replace("~", "~0").replace("/", "~1")
        found += _pointers(inner, f"{pointer}/{escaped}")
    return found


@given(st.dictionaries(st.text("ab/~", max_size=2), JSON, min_size=1, max_size=3), JSON, st.data())
def test_a_patch_and_its_inverse_cancel(document: Any, value: Any, data: st.DataObject) -> None:
    path, there = data.draw(st.sampled_from(_pointers(document)[1:]))
    replaced = apply_json_patch(document, [{"op": "replace", "path": path, "value": value}])
    assert apply_json_patch(replaced, [{"op": "replace", "path": path, "value": there}]) == document
    removed = apply_json_patch(document, [{"op": "remove", "path": path}])
    assert apply_json_patch(removed, [{"op": "add", "path": path, "value": there}]) == document
