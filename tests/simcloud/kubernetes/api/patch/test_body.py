import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.patch import PatchType, patch_type_of, read_patch
from simcloud.kubernetes.api.schema.go_json import find_syntax_error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b"  ", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b'{"a":[1', "unexpected end of JSON input"),
        (b"not json", "invalid character 'o' in literal null (expecting 'u')"),
        (b"x", "invalid character 'x' looking for beginning of value"),
        (b"'", "invalid character '\\'' looking for beginning of value"),
        (b"{a:1}", "invalid character 'a' looking for beginning of object key string"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b":2}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b'"\n"', "invalid character '\\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"-x", "invalid character 'x' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1e+x", "invalid character 'x' in exponent of numeric literal"),
        (b"01", "invalid character '1' after top-level value"),
    ],
)
def test_what_is_not_json(text: bytes, message: str) -> None:
    for kind, prefix in ((PatchType.STRATEGIC, ""), (PatchType.MERGE, "error decoding patch: ")):
        with pytest.raises(ApiError) as refused:
            read_patch(text, kind)
        assert (refused.value.code, refused.value.message) == (400, prefix + message)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**60), 2**60)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_json_is_read_and_has_no_error(value: Any) -> None:
    text = json.dumps(value).encode()
    assert find_syntax_error(text) is None
    assert read_patch(text, PatchType.JSON) == value


@given(st.binary(max_size=30))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    try:
        read_patch(text, PatchType.MERGE)
    except ApiError as refused:
        assert refused.code == 400


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ApiError, match="exceeded max depth"):
        read_patch(b"[" * 100_000 + b"]" * 100_000, PatchType.JSON)


def test_types() -> None:
    assert patch_type_of("application/merge-patch+json; charset=utf-8", custom=True) is PatchType.MERGE
    assert patch_type_of("application/strategic-merge-patch+json", custom=False) is PatchType.STRATEGIC


def test_custom_resources_have_no_strategic_merge_patch() -> None:
    with pytest.raises(ApiError) as refused:
        patch_type_of("application/strategic-merge-patch+json", custom=True)
    assert (refused.value.code, refused.value.reason) == (415, "UnsupportedMediaType")
    assert refused.value.message == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )
