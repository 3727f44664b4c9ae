"""Every built-in function with every odd value: a script may get an error, the process never breaks."""

from __future__ import annotations

import pytest

from simcloud.machine.process.limits import Limits
from tests.simcloud.datastores.mongodb.shell.engines import Scripts

ODD = """
var odd = [undefined, null, true, NaN, Infinity, -1, 1.5, 2 ** 53, "", "a", "(", [], [1, , 3], {}, {length: Infinity},
    {toString: null, valueOf: null}, {toString() { throw 1 }}, x => NaN, /a/gy, new Date(NaN),
    Object.create(null), ObjectId("507f1f77bcf86cd799439011"), NumberLong(5)];
var holders = [Object, Function, Array, String, Number, Boolean, Math, JSON, Date, RegExp, Error, TypeError, ObjectId,
    NumberLong, NumberInt, BinData];
var functions = [Object, Function, Array, String, Number, Boolean, Date, RegExp, Error, TypeError, ObjectId, NumberLong,
    NumberInt, BinData, UUID, ISODate, parseInt, parseFloat, isNaN, isFinite];
holders.forEach(holder => {
    [holder, holder.prototype].forEach(owner => {
        if (!owner) return;
        Object.getOwnPropertyNames(owner).forEach(name => {
            var found;
            try { found = owner[name] } catch (e) { return }
            if (typeof found === "function" && name !== "constructor") functions.push(found);
        });
    });
});
var calls = 0;
function attempt(work) { calls++; try { work() } catch (e) { try { String(e) } catch (f) {} } }
"""


GENEROUS = Limits(turns=100_000_000, data_bytes=1 << 40)


@pytest.mark.slow
def test_no_function_breaks_the_process() -> None:
    calls = [
        "f.call(a)", "f(a)", "new f(a)", "f.call([3, 1, 2], a, a)", "f.call('text', a, a, a)", "f('a1b', a)",
        "f(/a(b)?/g, a)", "f.call(/a(b)?/g, a, a)",
    ]  # fmt: skip
    attempts = "; ".join(f"attempt(() => {call})" for call in calls)
    scripts = Scripts(limits=GENEROUS)
    found = scripts.run(ODD, f"functions.forEach(f => odd.forEach(a => {{ {attempts} }}))", "calls > 29000")
    assert (scripts.status, found[-1]) == (0, "true")


def test_operators_on_odd_values() -> None:
    operators = [
        "+",
        "-",
        "*",
        "/",
        "%",
        "**",
        "&",
        "|",
        "^",
        "<<",
        ">>",
        ">>>",
        "<",
        ">",
        "<=",
        ">=",
        "==",
        "===",
        "!=",
        "in",
        "instanceof",
        "&&",
        "||",
        "??",
    ]
    for operator in operators:
        script = f"odd.forEach(a => odd.forEach(b => attempt(() => a {operator} b)))"
        scripts = Scripts()
        scripts.run(ODD, script)
        assert scripts.status == 0, operator
    scripts = Scripts()
    properties = "odd.forEach(a => odd.forEach(b => { attempt(() => a[b]); attempt(() => { a[b] = 1 }); attempt(() => a[b]()) }))"
    spreads = "odd.forEach(a => { attempt(() => [...a]); attempt(() => ({...a})); attempt(() => { for (var x in a); for (x of a); }) })"
    updates = "odd.forEach(a => { attempt(() => a++); attempt(() => -a); attempt(() => `${a}`); attempt(() => { var [q] = a; var {r} = a }) })"
    scripts.run(ODD, properties, spreads, updates)
    assert scripts.status == 0
