"""Queries: every query gives the same by scan, by index and by a second opinion; and the finer points."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.datastores.mongodb.bson import Int64, ObjectId, Regex
from simcloud.datastores.mongodb.engine.catalog import Catalog
from simcloud.datastores.mongodb.engine.filters import compile_query
from simcloud.datastores.mongodb.failures import MongoFailure
from tests.simcloud.datastores.mongodb.engine.oracle import matches

FIELDS = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, -1.5, 2.0]), st.sampled_from(["", "x", "yy"]))
VALUES = st.one_of(SCALARS, st.none(), st.lists(st.integers(-3, 3), max_size=3))
DOCUMENTS = st.dictionaries(FIELDS, VALUES, max_size=3)
CONDITIONS = st.one_of(
    st.one_of(SCALARS, st.none()),
    st.dictionaries(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), SCALARS, min_size=1, max_size=2),
    st.fixed_dictionaries({"$eq": st.one_of(SCALARS, st.none())}),
    st.fixed_dictionaries({"$ne": st.one_of(SCALARS, st.none())}),
    st.fixed_dictionaries({"$in": st.lists(st.one_of(SCALARS, st.none()), max_size=3)}),
    st.fixed_dictionaries({"$nin": st.lists(SCALARS, max_size=3)}),
    st.fixed_dictionaries({"$exists": st.booleans()}),
    st.fixed_dictionaries({"$size": st.integers(0, 3)}),
    st.fixed_dictionaries({"$not": st.fixed_dictionaries({"$gt": SCALARS})}),
)
FLAT = st.dictionaries(FIELDS, CONDITIONS, max_size=2)
QUERIES = st.one_of(
    FLAT,
    st.fixed_dictionaries({"$or": st.lists(FLAT, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"$and": st.lists(FLAT, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"$nor": st.lists(FLAT, min_size=1, max_size=2), "a": CONDITIONS}),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(DOCUMENTS, max_size=8), QUERIES)
def test_scan_index_and_second_opinion_agree(documents: list[dict[str, Any]], query: dict[str, Any]) -> None:
    catalog = Catalog(Random(1))
    plain, indexed = catalog.need("db.plain"), catalog.need("db.indexed")
    for field in ("a", "b"):
        indexed.add_index({"v": 2, "key": {field: 1}, "name": f"{field}_1"})
    for id, document in enumerate(documents):
        plain.insert({"_id": id, **document})
        indexed.insert({"_id": id, **document})
    expected = [id for id, document in enumerate(documents) if matches(document, query)]
    assert [document["_id"] for _, document in plain.find(query)] == expected
    assert sorted(document["_id"] for _, document in indexed.find(query)) == expected


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), DOCUMENTS, st.booleans()), max_size=20), QUERIES)
def test_indexes_follow_every_change(
    steps: list[tuple[int, dict[str, Any], bool]], query: dict[str, Any]
) -> None:
    collection = Catalog(Random(1)).need("db.c")
    collection.add_index({"v": 2, "key": {"a": 1, "b": -1}, "name": "a_1_b_-1"})
    model: dict[int, dict[str, Any]] = {}
    for id, document, gone in steps:
        row = next((row for row, old in collection.rows.items() if old["_id"] == id), None)
        if gone:
            model.pop(id, None)
            if row is not None:
                collection.delete(row)
            continue
        try:
            if row is None:
                collection.insert({"_id": id, **document})
            else:
                collection.replace(row, {"_id": id, **document})
            model[id] = document
        except MongoFailure as refusal:
            assert refusal.code == 171 and isinstance(document["a"], list) and isinstance(document["b"], list)
    expected = sorted(id for id, document in model.items() if matches(document, query))
    assert sorted(document["_id"] for _, document in collection.find(query)) == expected


DOCUMENT = {
    "_id": ObjectId("0123456789ab0123456789ab"),
    "name": "Clift Hotel",
    "address": {"city": "San Francisco", "lines": [{"no": 1}, {"no": 2, "kind": "x"}]},
    "tags": ["a", "b"],
    "scores": [3, 8],
    "since": datetime(2015, 4, 9, tzinfo=UTC),
    "big": Int64(5),
    "flag": True,
    "nothing": None,
    "grid": [[1, 2], [3]],
}


@pytest.mark.parametrize(
    "query",
    [
        {"address.city": "San Francisco"},
        {"address.lines.no": 2},
        {"address.lines.0.no": 1},
        {"address.lines": {"$elemMatch": {"no": 2, "kind": "x"}}},
        {"scores": {"$elemMatch": {"$gt": 5, "$lt": 9}}},
        {"scores": {"$gt": 5, "$lt": 5}},
        {"tags": {"$all": ["b", "a"]}},
        {"tags": ["a", "b"]},
        {"tags.1": "b"},
        {"name": Regex("^clift", "i")},
        {"name": {"$regex": "HOTEL$", "$options": "i"}},
        {"name": {"$in": [Regex("tel$")]}},
        {"since": {"$gte": datetime(2015, 1, 1, tzinfo=UTC)}},
        {"big": 5.0},
        {"flag": {"$ne": 1}},
        {"missing": None},
        {"nothing": {"$exists": True}},
        {"big": {"$type": "long"}},
        {"scores": {"$type": "array"}},
        {"scores": {"$type": "number"}},
        {"grid": [3]},
        {"$expr": {"$gt": [{"$size": "$tags"}, 1]}},
        {"address.lines.kind": None},
        {"name": {"$not": Regex("^X")}},
    ],
    ids=str,
)
def test_it_matches(query: dict[str, Any]) -> None:
    assert compile_query(query)(DOCUMENT)


@pytest.mark.parametrize(
    "query",
    [
        {"address": {"city": "San Francisco"}},
        {"flag": 1},
        {"scores": {"$gt": "1"}},
        {"tags": ["b", "a"]},
        {"tags": {"$size": 1}},
        {"name": {"$gt": 5}},
        {"nothing": {"$type": "string"}},
        {"address.lines": {"$elemMatch": {"no": 1, "kind": "x"}}},
        {"missing": {"$exists": True}},
        {"tags": {"$all": []}},
    ],
    ids=str,
)
def test_it_does_not_match(query: dict[str, Any]) -> None:
    assert not compile_query(query)(DOCUMENT)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"a": {"$in": 1}}, "$in needs an array"),
        ({"$or": []}, "$and/$or/$nor must be a nonempty array"),
        ({"$or": 1}, "$or must be an array"),
        ({"$and": [1]}, "$or/$and/$nor entries need to be full objects"),
        ({"a": {"$size": "x"}}, "$size needs a number"),
        ({"a": {"$type": "frog"}}, "Unknown type name alias: frog"),
        ({"a": {"$not": 1}}, "$not needs a regex or a document"),
        ({"a": {"$options": "i"}}, "$options needs a $regex"),
    ],
    ids=str,
)
def test_nonsense_is_refused(query: dict[str, Any], message: str) -> None:
    with pytest.raises(MongoFailure) as refusal:
        compile_query(query)
    assert refusal.value.message == message
