"""Bodies: Go's sentences for what is no JSON, fields that stand twice, depth, YAML."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import ApiError, BadRequest
from simcloud.kubernetes.api.schema.bodies import MAX_DEPTH, parse_json
from simcloud.kubernetes.api.schema.go_json import find_syntax_error
from simcloud.kubernetes.api.schema.yaml_bodies import parse_yaml

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def refusal(body: bytes) -> str:
    with pytest.raises(BadRequest) as caught:
        parse_json(body)
    return caught.value.message


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b"-", "unexpected end of JSON input"),
        (b"x", "invalid character 'x' looking for beginning of value"),
        (b"'a'", r"invalid character '\'' looking for beginning of value"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b"\xef\xbb\xbf{}", "invalid character 'ï' looking for beginning of value"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b"{1:2}", "invalid character '1' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b":2}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"1 2", "invalid character '2' after top-level value"),
        (b"01", "invalid character '1' after top-level value"),
        (b'{"a":tru}', "invalid character '}' in literal true (expecting 'e')"),
        (b'"a\nb"', r"invalid character '\n' in string literal"),
        (b'"\\q"', "invalid character 'q' in string escape code"),
        (b'"\\u12g4"', r"invalid character 'g' in \u hexadecimal character escape"),
        (b"-a", "invalid character 'a' in numeric literal"),
        (b"1.a", "invalid character 'a' after decimal point in numeric literal"),
        (b"1ea", "invalid character 'a' in exponent of numeric literal"),
        (b"1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"),
    ],
)
def test_malformed_json_is_refused_in_go_s_words(body: bytes, sentence: str) -> None:
    assert refusal(body) == sentence


def test_nesting_is_bounded() -> None:
    assert parse_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)[0]
    assert refusal(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)) == "exceeded max depth"
    assert refusal(b'{"a":' * 100_000) == "exceeded max depth"
    brackets_in_text = json.dumps({"a": "[" * 10_000})
    assert parse_json(brackets_in_text.encode())[0] == {"a": "[" * 10_000}


def test_numbers_that_no_type_holds_are_refused() -> None:
    digits = "1" * 5000
    sentence = f"json: cannot unmarshal number {digits} into Go value of type float64"
    assert refusal(f'{{"a":{digits}}}'.encode()) == sentence
    assert parse_json(f'{{"a":"{digits}"}}'.encode())[0] == {"a": digits}


def test_fields_that_stand_twice_are_named() -> None:
    body = b'{"spec":{"replicas":1,"list":[{"a":1,"a":{"b":1,"b":2}}],"replicas":2}}'
    value, duplicates = parse_json(body)
    assert value["spec"]["replicas"] == 2
    assert duplicates == [
        'duplicate field "spec.list[0].a"',
        'duplicate field "spec.list[0].a.b"',
        'duplicate field "spec.replicas"',
    ]


def test_an_escaped_colon_hides_no_duplicate() -> None:
    assert parse_json(b'{"a":"\\u003A","a":":"}')[1] == ['duplicate field "a"']
    assert parse_json(b'{"a":"\\u003a"}') == ({"a": ":"}, [])


def test_what_go_accepts_is_accepted() -> None:
    assert parse_json(b'"\xff"') == ("\ufffd", [])
    assert parse_json(b'{"a":"\\ud800"}') == ({"a": "\ufffd"}, [])
    assert parse_json(b"123456789012345678901234567890") == (123456789012345678901234567890, [])


@given(JSON)
def test_json_is_read_as_written(value: Any) -> None:
    body = json.dumps(value).encode()
    assert parse_json(body) == (value, [])
    assert find_syntax_error(body) is None


@given(st.binary() | st.text(alphabet='{}[]",:\\u0123456789eE.-+truefalsn ').map(str.encode))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    for parse in (parse_json, parse_yaml):
        try:
            parse(body)
        except ApiError:
            pass


@given(st.text(alphabet='{}[]",:\\u0123456789eE.-+truefalsn ', max_size=12))
def test_go_s_scanner_agrees_on_what_json_is(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        assert find_syntax_error(text.encode()) is not None
    else:
        assert find_syntax_error(text.encode()) is None


def test_yaml_is_read_as_the_json_it_stands_for() -> None:
    body = b"a: 1\nb: [yes, 2020-01-01, 0x10, ~, 'x']\n1: {true: no}\n"
    assert parse_yaml(body) == ({"a": 1, "b": [True, "2020-01-01", 16, None, "x"], "1": {"true": False}}, [])


def test_yaml_names_keys_that_stand_twice() -> None:
    assert parse_yaml(b"a: 1\nb: 2\na: 3\n")[1] == [
        'yaml: unmarshal errors:\n  line 3: key "a" already set in map'
    ]


def test_yaml_that_unfolds_without_end_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(BadRequest, match="excessive aliasing"):
        parse_yaml("\n".join(lines).encode())
    with pytest.raises(BadRequest):
        parse_yaml(b"a: &a [*a]")
    with pytest.raises(BadRequest, match="exceeded max depth"):
        parse_yaml(b"[" * 5_000 + b"]" * 5_000)
