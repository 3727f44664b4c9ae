"""BSON: what is written comes back, and other people's bytes do no harm."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.datastores.mongodb.bson import (
    Binary,
    Int64,
    ObjectId,
    Regex,
)
from simcloud.datastores.mongodb.encoding import Encoded, NotBson, decode, encode, restore_value

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.one_of(st.integers(-5, 5), st.integers(2**31, 2**32)).map(Int64),
    st.floats(allow_nan=False),
    st.text(max_size=10),
    st.binary(min_size=12, max_size=12).map(ObjectId),
    st.integers(0, 4_000_000_000_000).map(
        lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    ),
    st.sampled_from([Regex("^a", "i"), Binary(b"ab", 4)]),
)
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)
DOCUMENTS = st.dictionaries(
    NAMES,
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
    ),
)


@given(DOCUMENTS)
def test_what_is_written_comes_back(document: dict[str, Any]) -> None:
    again = decode(encode(document))
    assert again == document
    assert [type(value) for value in again.values()] == [
        int if type(value) is Int64 and not -(2**31) <= value < 2**31 else type(value)
        for value in document.values()
    ]


@given(DOCUMENTS)
def test_a_value_is_restored_as_decoding_gives_it(document: dict[str, Any]) -> None:
    assert repr(restore_value(document)) == repr(decode(encode(document)))
    within = {"inner": Encoded(document), "items": [Encoded(document)]}
    assert repr(restore_value(within)) == repr(decode(encode(within)))


def test_it_is_the_bson_of_the_specification() -> None:
    assert encode({"hello": "world"}) == b"\x16\x00\x00\x00\x02hello\x00\x06\x00\x00\x00world\x00\x00"
    awesome = b"1\x00\x00\x00\x04BSON\x00&\x00\x00\x00\x020\x00\x08\x00\x00\x00awesome\x00\x011\x00333333\x14@\x102\x00\xc2\x07\x00\x00\x00\x00"
    assert encode({"BSON": ["awesome", 5.05, 1986]}) == awesome


@pytest.mark.parametrize("count", [512, 513])
def test_a_long_array_comes_back_with_documents_that_were_encoded_before(count: int) -> None:
    items = [{"a": place} for place in range(count)]
    encoded = encode({"items": [Encoded(item) for item in items]})
    assert encoded == encode({"items": items})
    assert decode(encoded) == {"items": items}


@given(st.binary(max_size=60))
def test_foreign_bytes_are_refused_or_read(data: bytes) -> None:
    try:
        decode(data)
    except NotBson:
        pass


def test_half_a_document_is_none() -> None:
    with pytest.raises(NotBson):
        decode(encode({"a": 1})[:-2])
