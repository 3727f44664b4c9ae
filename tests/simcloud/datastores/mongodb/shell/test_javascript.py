"""The interpreter: the same results as the genuine engines, and bounds that no script can pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.simcloud.datastores.mongodb.shell.engines import Scripts, SpiderMonkey

CASES = Path(__file__).with_name("cases") / "expressions.json"
LIMIT_STATUS = 125


def test_expressions_print_as_in_the_genuine_shell() -> None:
    cases: list[tuple[str, str]] = json.loads(CASES.read_text())
    assert len(cases) > 250
    printed = Scripts().run(*[script for script, _ in cases])
    for (script, expected), found in zip(cases, printed, strict=True):
        assert found == expected, script


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("foo", "ReferenceError: foo is not defined"),
        ("var u; u.x", "TypeError: u is undefined"),
        ("var o = {a: null}; o.a.b", "TypeError: o.a is null"),
        ("null.x", "TypeError: null has no properties"),
        ("var o = {}; o.go()", "TypeError: o.go is not a function"),
        ("const c = 1; c = 2", "TypeError: invalid assignment to const `c'"),
        ("x; let x = 1", "ReferenceError: can't access lexical declaration `x' before initialization"),
        ("function r() { return r() } r()", "InternalError: too much recursion"),
        ("[].reduce((a, b) => a)", "TypeError: reduce of empty array with no initial value"),
        ("var a = {}; a.a = a; JSON.stringify(a)", "TypeError: cyclic object value"),
        ("foo bar", "SyntaxError: unexpected token: identifier"),
        ("var = 3", "SyntaxError: missing variable name"),
        ("let x = 1; let x = 2", "SyntaxError: redeclaration of let x"),
        (
            "JSON.parse('{\"a\": x}')",
            "SyntaxError: JSON.parse: unexpected character at line 1 column 7 of the JSON data",
        ),
    ],
)
def test_the_old_shells_engine_has_its_own_words(script: str, expected: str) -> None:
    found = Scripts(SpiderMonkey()).one(script)
    if "JSON.parse" in script or script == "var = 3":
        assert found.split(":")[0] == expected.split(":", maxsplit=1)[0]
    else:
        assert found == expected


def test_a_stack_names_functions_and_places() -> None:
    script = "function inner() {\n  throw new Error('x')\n}\nfunction outer() { inner() }\ntry { outer() } catch (e) { e.stack }"
    assert Scripts(SpiderMonkey()).one(script) == "inner@(shell):2:9\nouter@(shell):4:20\n@(shell):5:7\n"


def test_state_stays_between_scripts() -> None:
    assert Scripts().run("var n = 1; let m = 2; function f() { return n + m }", "n = 10; f()") == [
        "undefined",
        "12",
    ]


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize(
    "script",
    [
        "while (true) {}",
        "for (;;) ;",
        "do { try { throw 1 } catch (e) { continue } } while (true)",
        "try { while (true) {} } catch (e) {} finally { while (true) {} }",
        "var a = []; while (true) a.push(a)",
        "var a = [1]; for (var x of a) a.push(x)",
        "var s = 'ab'; while (true) { try { s += s } catch (e) { s = 'ab' } }",
        "var o = {}; for (var i = 0; ; i++) o['k' + i] = i",
        "[1, 2, 3].map(function f() { while (1); })",
        "(function f() { try { f() } finally { f() } })()",
        "[3, 1, 2].sort(() => { while (true); })",
        "var o = {toString() { while (true); }}; '' + o",
        "var a = []; for (;;) a = a.concat(new Array(100000))",
        "for (;;) JSON.parse(JSON.stringify({a: 'x'.repeat(100000)}))",
        "for (;;) try { /(a+)+$/.test('a'.repeat(30) + 'b') } catch (e) {}",
    ],
)
def test_an_endless_script_ends(script: str) -> None:
    scripts = Scripts()
    scripts.run(script)
    assert scripts.status == LIMIT_STATUS


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("(function r(n) { return 1 + r(n + 1) })(0)", "RangeError: Maximum call stack size exceeded"),
        ("'x'.repeat(1e9)", "RangeError: Invalid string length"),
        ("'x'.padStart(1e12)", "RangeError: Invalid string length"),
        ("new Array(1e9)", "RangeError: Invalid array length"),
        ("var a = []; a[5e8] = 1", "RangeError: Invalid array length"),
        ("var a = []; a.length = 4e9", "RangeError: Invalid array length"),
        ("JSON.parse('['.repeat(5000))", "SyntaxError: Maximum call stack size exceeded"),
        ("(".join(["x"] * 500), "SyntaxError: Maximum call stack size exceeded"),
        ("[" * 500 + "]" * 500, "SyntaxError: Maximum call stack size exceeded"),
        ("!" * 5000 + "1", "SyntaxError: Maximum call stack size exceeded"),
        ("a" + ".b" * 5000, "SyntaxError: Maximum call stack size exceeded"),
        ("x".join(["`${"] * 200), "SyntaxError: Maximum call stack size exceeded"),
        ("+".join(["1"] * 5000), "5000"),
        ("||".join(["0"] * 3000) + "|| 7", "7"),
        ("var a = {}; a.a = a; JSON.stringify(a)", "TypeError: Converting circular structure to JSON"),
        ("var a = []; a.push(a); String(a)", ""),
        ("var a = []; a.push(a); a", "[ [Circular *1] ]"),
        ("var a = {}; a.__proto__ = {__proto__: {}}; a.__proto__.__proto__ === a", "false"),
        ("function r(n) { return n ? 1 + r(n - 1) : 0 } r(1500)", "1500"),
    ],
)
def test_what_is_too_much_is_an_error_or_no_problem(script: str, expected: str) -> None:
    scripts = Scripts()
    assert scripts.one(script) == expected
    assert scripts.status == 0


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            "[].map.constructor('return this')",
            "EvalError: Code generation from strings disallowed for this context",
        ),
        ("({}).__class__", "undefined"),
        ("[].__class__ || ''.__class__ || (1).__class__", "undefined"),
        ("print = [].push.__globals__", "undefined"),
        ("(() => 1).__code__", "undefined"),
        ("[].items", "undefined"),
        ("ObjectId('507f1f77bcf86cd799439011').value", "undefined"),
        ("new Error('x').__traceback__", "undefined"),
        ("/a/._search", "undefined"),
        ("({}).properties", "undefined"),
        ("globalThis.prototypes", "undefined"),
        ("var o = {}; o.__proto__.polluted = 1; ({}).polluted", "1"),
        ("({__proto__: null}).toString", "undefined"),
        ("Object.getOwnPropertyNames(globalThis).filter(n => n.startsWith('__')).length", "0"),
    ],
)
def test_nothing_of_the_host_can_be_reached(script: str, expected: str) -> None:
    assert Scripts().one(script) == expected


def test_time_and_chance_come_from_the_world() -> None:
    script = "[Date.now(), new Date().getTime(), Math.random(), ObjectId().toString()]"
    assert Scripts().one(script) == Scripts().one(script)
    assert Scripts().one("Date.now() === new Date().getTime()") == "true"


def test_an_endless_loop_takes_virtual_time() -> None:
    scripts = Scripts()
    scripts.run("while (true) {}")
    assert scripts.kernel.now > 1.0
