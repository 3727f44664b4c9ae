"""What may stand left of an assignment, in a declaration or in a parameter list."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure
from simcloud.datastores.mongodb.shell.javascript.words import Words


def as_pattern(node: js.Node, words: Words) -> js.Node:
    """Read an expression again as the target of an assignment."""
    match node:
        case js.Name() | js.Member() | js.ArrayPattern() | js.ObjectPattern() | js.Default():
            return node
        case js.Assign(at, "=", target, value):
            return js.Default(at, target, value)
        case js.Spread(at, value):
            return js.Spread(at, as_pattern(value, words))
        case js.ArrayLiteral(at, items):
            return js.ArrayPattern(at, [item and as_pattern(item, words) for item in items])
        case js.ObjectLiteral(at, entries):
            return js.ObjectPattern(at, [_entry(entry, words) for entry in entries])
    raise SyntaxFailure(words.bad_target(), node.at)


def _entry(entry: js.Property | js.Spread, words: Words) -> js.Property | js.Spread:
    if isinstance(entry, js.Spread):
        return js.Spread(entry.at, as_pattern(entry.value, words))
    if entry.kind != "value":
        raise SyntaxFailure(words.bad_target(), entry.at)
    return js.Property(entry.at, "value", entry.key, as_pattern(entry.value, words))


def names_in(target: js.Node | None) -> Iterator[str]:
    """The variables a pattern sets."""
    match target:
        case js.Name(_, name):
            yield name
        case js.Default(_, inner, _) | js.Spread(_, inner):
            yield from names_in(inner)
        case js.ArrayPattern(_, items):
            for item in items:
                yield from names_in(item)
        case js.ObjectPattern(_, entries):
            for entry in entries:
                yield from names_in(entry.value)
