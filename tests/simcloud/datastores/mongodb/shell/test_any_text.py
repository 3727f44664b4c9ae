"""Whatever is typed into a shell, it answers and goes on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from tests.simcloud.datastores.mongodb.shell.engines import Scripts
from tests.simcloud.datastores.mongodb.shell.shells import ShellWorld

PIECES = [
    "a",
    "b",
    "x",
    "1",
    "2.5",
    "'q'",
    '"w"',
    "`t${1}`",
    "/r/g",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ".",
    "...",
    "?.",
    "=>",
    "=",
    "==",
    "===",
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "++",
    "--",
    "!",
    "~",
    "&&",
    "||",
    "??",
    "?",
    ":",
    "<",
    ">",
    "in",
    "of",
    "instanceof",
    "typeof",
    "void",
    "delete",
    "new",
    "var",
    "let",
    "const",
    "function",
    "class",
    "extends",
    "super",
    "this",
    "return",
    "if",
    "else",
    "for",
    "while",
    "do",
    "break",
    "continue",
    "switch",
    "case",
    "default",
    "try",
    "catch",
    "finally",
    "throw",
    "async",
    "await",
    "get",
    "set",
    "static",
    "null",
    "true",
    "undefined",
    "`",
]


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_any_words_are_a_script_or_an_error(pieces: list[str]) -> None:
    scripts = Scripts()
    found = scripts.run(" ".join(pieces), "1 + 1")
    assert scripts.status == 125 or found[-1] == "2"


@pytest.mark.slow
def test_odd_arguments_to_the_shells_own_functions() -> None:
    world = ShellWorld()
    script = """
        var odd = [undefined, null, NaN, -1, 1e300, "", "$x", [], [null], {}, {$bad: 1}, {a: undefined}, x => x, "(", db, db.c,
                   new Date(NaN), ObjectId(), NumberLong(5), {_id: {}}, {user: 1, pwd: 2, roles: 3}, {roles: [{}]}, {toString: null}];
        var count = 0;
        [DB.prototype, DBCollection.prototype, Mongo.prototype].forEach((prototype, at) => {
            Object.getOwnPropertyNames(prototype).forEach(name => {
                if (typeof prototype[name] !== "function" || /constructor|shutdown|help|fsync|shellPrint/.test(name)) return;
                odd.forEach(a => {
                    var target = [db, db.c, db.getMongo()][at];
                    try { count++; var found = target[name](a, a); if (found && found.hasNext) found.hasNext(); } catch (e) { try { String(e) } catch (f) {} }
                });
            });
        });
        quit(count > 1000 ? 0 : 1);
    """
    for shell in ("mongo", "mongosh"):
        world.machine.containers["store"].files.put("/tmp/odd.js", script.encode())
        assert world.shell(shell, "--quiet", "/tmp/odd.js").status == 0, shell
