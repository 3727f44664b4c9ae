"""Updates: each operator, what it refuses, and that the old document stays as it was."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.datastores.mongodb.bson import Int64
from simcloud.datastores.mongodb.engine.updates import Update, upsert_base
from simcloud.datastores.mongodb.failures import MongoFailure


def updated(old: Any, change: Any, query: Any = None) -> Any:
    return Update(change).apply(old, query or {})


@pytest.mark.parametrize(
    ("old", "change", "new"),
    [
        ({"a": 1}, {"$set": {"a": 2, "b.c": 3}}, {"a": 2, "b": {"c": 3}}),
        ({"a": [1, 2]}, {"$set": {"a.1": 9, "a.3": 7}}, {"a": [1, 9, None, 7]}),
        ({"a": 1, "b": {"c": 1, "d": 2}}, {"$unset": {"b.c": "", "x": ""}}, {"a": 1, "b": {"d": 2}}),
        ({"a": 1}, {"$inc": {"a": 2, "b": 5}}, {"a": 3, "b": 5}),
        ({"a": 1}, {"$inc": {"a": 0.5}}, {"a": 1.5}),
        ({"a": 1}, {"$rename": {"a": "b.c"}}, {"b": {"c": 1}}),
        ({"a": [1]}, {"$push": {"a": 2, "b": 1}}, {"a": [1, 2], "b": [1]}),
        ({"a": [1]}, {"$push": {"a": {"$each": [2, 3], "$position": 0}}}, {"a": [2, 3, 1]}),
        ({"a": [1, 2]}, {"$push": {"a": {"$each": [3], "$slice": -2}}}, {"a": [2, 3]}),
        ({"a": [3, 1]}, {"$push": {"a": {"$each": [2], "$sort": 1}}}, {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, {"$addToSet": {"a": {"$each": [2.0, 3]}}}, {"a": [1, 2, 3]}),
        ({"a": [1, 5, 9]}, {"$pull": {"a": {"$gt": 4}}}, {"a": [1]}),
        ({"a": [{"x": 1}, {"x": 2}]}, {"$pull": {"a": {"x": 1}}}, {"a": [{"x": 2}]}),
        ({"a": [1, 2, 3]}, {"$pop": {"a": 1}}, {"a": [1, 2]}),
        ({"a": [1, 2, 3]}, {"$pop": {"a": -1}}, {"a": [2, 3]}),
        ({"a": 1}, {"$setOnInsert": {"b": 2}}, {"a": 1}),
        ({"_id": 1, "a": 1}, {"b": 2}, {"_id": 1, "b": 2}),
        ({}, {"$set": {"b": 1, "a": 2}}, {"a": 2, "b": 1}),
    ],
    ids=str,
)
def test_operators(old: Any, change: Any, new: Any) -> None:
    before = deepcopy(old)
    result = updated(old, change)
    assert (result, list(result)) == (new, list(new))
    assert old == before


def test_positions_in_arrays() -> None:
    old = {"a": [{"x": 1, "n": 0}, {"x": 2, "n": 0}]}
    assert updated(old, {"$inc": {"a.$.n": 1}}, {"a.x": 2})["a"][1]["n"] == 1
    assert updated(old, {"$inc": {"a.$[].n": 1}})["a"] == [{"x": 1, "n": 1}, {"x": 2, "n": 1}]


def test_long_stays_long() -> None:
    assert isinstance(updated({"a": Int64(1)}, {"$inc": {"a": 1}})["a"], Int64)


@pytest.mark.parametrize(
    ("old", "change", "code", "message"),
    [
        ({"_id": 1, "a": "x"}, {"$inc": {"a": 1}}, 14, "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of non-numeric type string"),
        ({"_id": 1, "a": 1}, {"$push": {"a": 1}}, 2, "The field 'a' must be an array but is of type int in document {_id: 1}"),
        ({"a": 1}, {"$set": {"a.b": 1}}, 28, "Cannot create field 'b' in element {a: 1}"),
        ({"a": 1}, {"$set": {"a": 1, "a.b": 1}}, 40, "Updating the path 'a.b' would create a conflict at 'a'"),
        ({"_id": 1}, {"$set": {"_id": 2}}, 66, "Performing an update on the path '_id' would modify the immutable field '_id'"),
        ({"_id": 1}, {"_id": 2}, 66, "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2"),
        ({}, {"$foo": {"a": 1}}, 9, "Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update specified as an array"),
        ({}, {"$inc": {"a": "x"}}, 14, 'Cannot increment with non-numeric argument: {a: "x"}'),
        ({"a": []}, {"$set": {"a.2000000": 1}}, 2, "can't backfill more than 1500000 elements"),
    ],
    ids=str,
)  # fmt: skip
def test_refusals(old: Any, change: Any, code: int, message: str) -> None:
    with pytest.raises(MongoFailure) as refusal:
        updated(old, change)
    assert (refusal.value.code, refusal.value.message) == (code, message)


def test_an_upsert_begins_with_what_must_be_equal() -> None:
    query = {"a": 1, "b.c": {"$eq": 2}, "d": {"$gt": 3}, "$and": [{"e": 5}]}
    assert upsert_base(query) == {"a": 1, "b": {"c": 2}, "e": 5}


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(-9, 9)),
    st.dictionaries(st.sampled_from("abc"), st.integers(-9, 9), min_size=1),
)
def test_set_and_inc_do_what_a_dictionary_does(old: dict[str, int], change: dict[str, int]) -> None:
    assert updated(old, {"$set": change}) == {**old, **change}
    assert updated(old, {"$inc": change}) == {
        **old,
        **{key: old.get(key, 0) + value for key, value in change.items()},
    }
    assert updated(old, {"$unset": change}) == {key: value for key, value in old.items() if key not in change}
