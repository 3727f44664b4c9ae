"""Pipelines, projections and sorting."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.datastores.mongodb.engine.pipeline import run_stages
from simcloud.datastores.mongodb.engine.projections import project
from simcloud.datastores.mongodb.engine.sort import sort_documents
from simcloud.datastores.mongodb.failures import MongoFailure

ORDERS = [
    {"_id": 1, "user": "ann", "total": 10, "items": ["x", "y"]},
    {"_id": 2, "user": "bob", "total": 5, "items": []},
    {"_id": 3, "user": "ann", "total": 7, "items": ["x"]},
]
USERS = [{"_id": "ann", "age": 30}, {"_id": "bob", "age": 40}]


@pytest.mark.parametrize(
    ("stages", "result"),
    [
        ([{"$match": {"user": "ann"}}, {"$count": "n"}], [{"n": 2}]),
        ([{"$group": {"_id": "$user", "sum": {"$sum": "$total"}, "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}], [{"_id": "ann", "sum": 17, "n": 2}, {"_id": "bob", "sum": 5, "n": 1}]),
        ([{"$group": {"_id": None, "avg": {"$avg": "$total"}, "max": {"$max": "$total"}, "all": {"$push": "$_id"}}}], [{"_id": None, "avg": 22 / 3, "max": 10, "all": [1, 2, 3]}]),
        ([{"$sort": {"total": -1}}, {"$skip": 1}, {"$limit": 1}, {"$project": {"total": 1, "_id": 0}}], [{"total": 7}]),
        ([{"$unwind": "$items"}, {"$project": {"items": 1}}], [{"_id": 1, "items": "x"}, {"_id": 1, "items": "y"}, {"_id": 3, "items": "x"}]),
        ([{"$unwind": {"path": "$items", "preserveNullAndEmptyArrays": True}}, {"$count": "n"}], [{"n": 4}]),
        ([{"$match": {"_id": 2}}, {"$lookup": {"from": "users", "localField": "user", "foreignField": "_id", "as": "who"}}, {"$project": {"who": 1, "_id": 0}}], [{"who": [{"_id": "bob", "age": 40}]}]),
        ([{"$match": {"_id": 1}}, {"$addFields": {"double": {"$multiply": ["$total", 2]}, "n": {"$size": "$items"}}}, {"$project": {"double": 1, "n": 1}}], [{"_id": 1, "double": 20, "n": 2}]),
        ([{"$match": {"_id": 1}}, {"$project": {"_id": 0, "text": {"$concat": ["$user", "-", {"$toString": "$total"}]}}}], [{"text": "ann-10"}]),
        ([{"$match": {"_id": 1}}, {"$project": {"_id": 0, "big": {"$cond": [{"$gt": ["$total", 9]}, "yes", "no"]}}}], [{"big": "yes"}]),
        ([{"$match": {"_id": 1}}, {"$project": {"_id": 0, "f": {"$filter": {"input": "$items", "as": "i", "cond": {"$eq": ["$$i", "y"]}}}}}], [{"f": ["y"]}]),
    ],
    ids=str,
)  # fmt: skip
def test_stages(stages: Any, result: Any) -> None:
    assert run_stages(ORDERS, stages, lambda name: USERS if name == "users" else []) == result


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([{"$nope": 1}], "Unrecognized pipeline stage name: '$nope'"),
        ([{"$group": {}}], "a group specification must include an _id"),
        ([{"$project": {"a": {"$nope": 1}}}], "Unrecognized expression '$nope'"),
        ([{"$a": 1, "$b": 2}], "A pipeline stage specification object must contain exactly one field."),
        ([{"$project": {"a": {"$divide": [1, 0]}}}], "can't $divide by zero"),
    ],
)
def test_refusals(stages: Any, message: str) -> None:
    with pytest.raises(MongoFailure) as refusal:
        run_stages(ORDERS, stages, lambda name: [])
    assert refusal.value.message == message


@pytest.mark.parametrize(
    ("projection", "shown"),
    [
        ({"a": 1}, {"_id": 1, "a": 1}),
        ({"a": 1, "_id": 0}, {"a": 1}),
        ({"a": 0}, {"_id": 1, "b": {"c": 2, "d": 3}, "l": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}),
        ({"b.c": 1, "_id": 0}, {"b": {"c": 2}}),
        ({"l.x": 1, "_id": 0}, {"l": [{"x": 1}, {"x": 3}]}),
        ({"l": {"$slice": 1}, "a": 1, "_id": 0}, {"a": 1, "l": [{"x": 1, "y": 2}]}),
        ({"l": {"$elemMatch": {"x": 3}}, "_id": 0}, {"l": [{"x": 3, "y": 4}]}),
        ({"_id": 0}, {"a": 1, "b": {"c": 2, "d": 3}, "l": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}),
        ({"_id": 1}, {"_id": 1}),
    ],
    ids=str,
)
def test_projections(projection: Any, shown: Any) -> None:
    document = {"_id": 1, "a": 1, "b": {"c": 2, "d": 3}, "l": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}
    assert project([document], projection) == [shown]


def test_inclusion_and_exclusion_do_not_mix() -> None:
    with pytest.raises(MongoFailure) as refusal:
        project([{}], {"a": 1, "b": 0})
    assert refusal.value.message == "Cannot do exclusion on field b in inclusion projection"


def test_values_of_all_types_have_one_order() -> None:
    values: list[Any] = [True, "b", None, 3, {"a": 1}, [1], "a", 2.5, [], False]
    ordered = sort_documents([{"v": value} for value in values], {"v": 1})
    assert [each["v"] for each in ordered] == [[], None, [1], 2.5, 3, "a", "b", {"a": 1}, False, True]
