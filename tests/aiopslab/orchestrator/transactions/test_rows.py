"""Rows are restored with their types: the shell itself reads integers as doubles."""

from __future__ import annotations

from typing import Any, cast

from aiopslab.apps import Component
from aiopslab.generators import Site
from aiopslab.orchestrator.transactions.rows import StoreRecord, read_content
from tests.simcloud.datastores.mongodb.shell.shells import ShellWorld

INSERT = (
    "db.t.insertMany([{_id: NumberInt(1), a: NumberInt(5), b: 5, c: [NumberInt(1), NumberInt(2)], d: {e: NumberInt(7), f: 1.5}}, "
    '{_id: "x", g: NumberLong(3), h: ISODate("2020-01-02"), i: null, j: "1, 2 "}])'
)
TYPES = '[["a", "int"], ["b", "double"], ["c", "int"], ["d.e", "int"], ["g", "long"], ["h", "date"]]'
COUNT = f"print({TYPES}.map(function (pair) {{ var q = {{}}; q[pair[0]] = {{$type: pair[1]}}; return db.t.find(q).count(); }}))"


class Shop:
    """A site with one database, which asks nobody who connects."""

    def __init__(self) -> None:
        self.world = ShellWorld()
        self.app = self

    def component(self, name: str) -> Component:
        return Component(name, "team", role="mongodb")

    def database(self, store: str, script: str) -> str:
        return self.world.evaluated(script, "admin")

    def wait(self, seconds: int) -> None:
        assert seconds == 0

    def do(self, script: str) -> str:
        return self.world.evaluated(script, "shop").strip()


def test_rows_are_restored_with_their_types() -> None:
    shop: Any = Shop()
    site = cast(Site, shop)
    shop.do(INSERT)
    shop.do("db.t.createIndex({a: 1})")
    before, types = read_content(site, "store"), shop.do(COUNT)
    assert types == "1,1,1,1,1,1"
    record = StoreRecord(site, "store")
    for script in (
        "db.t.updateMany({}, {$set: {a: 'x'}, $unset: {d: 1}})",
        "db.t.drop(); db.other.insertOne({})",
    ):
        record.record()
        shop.do(script)
        record.finish()
    shop.do("db.third.insertOne({_id: 'of a user'})")
    assert record.restore() == []
    assert shop.do("db.third.count()") == "1", "what users write stays"
    shop.do("db.third.drop()")
    after = read_content(site, "store")
    assert (after.rows, after.indexes) == (before.rows, before.indexes)
    assert shop.do(COUNT) == types
