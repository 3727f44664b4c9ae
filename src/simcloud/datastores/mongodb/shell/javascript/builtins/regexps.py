"""``RegExp``."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import Natives, argument, text_argument
from simcloud.datastores.mongodb.shell.javascript.conversions import number
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import to_integer
from simcloud.datastores.mongodb.shell.javascript.properties import get
from simcloud.datastores.mongodb.shell.javascript.regexes import Found, JsRegExp
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsArray, Value

natives = Natives("RegExp")
MAX_PATTERN_CHARACTERS = 32_764


def install(engine: Engine) -> None:
    """Give an engine ``RegExp``."""
    natives.install(engine, _regexp, _regexp)


async def _regexp(engine: Engine, this: Value, args: list[Value]) -> Value:
    pattern, flags = argument(args, 0), argument(args, 1)
    if isinstance(pattern, JsRegExp):
        flags = pattern.flags if flags is UNDEFINED else flags
        pattern = pattern.pattern
    source = await text_argument(engine, [pattern], 0, "")
    if len(source) > MAX_PATTERN_CHARACTERS:
        raise engine.error("SyntaxError", engine.messages.bad_regex(source[:20], "", "too large"))
    return JsRegExp(engine, source, await text_argument(engine, [flags], 0, ""))


def _regex(engine: Engine, this: Value, method: str) -> JsRegExp:
    if not isinstance(this, JsRegExp):
        raise engine.type_error(engine.messages.bad_this(f"RegExp.prototype.{method}", "RegExp", "object"))
    return this


def match_array(engine: Engine, regex: JsRegExp, found: Found) -> JsArray:
    """Convert a match to the array of its groups, with its index."""
    groups = [found.group(index) for index in range(regex.count + 1)]
    made = engine.array([UNDEFINED if each is None else each for each in groups])
    made.properties["index"] = float(found.spans[0][0])
    made.properties["input"] = found.text
    if regex.group_names:
        named = {name: made.items[index] for name, index in regex.group_names}
        made.properties["groups"] = engine.object(named)
    else:
        made.properties["groups"] = UNDEFINED
    return made


async def next_match(engine: Engine, regex: JsRegExp, subject: str) -> Found | None:
    """Return the next match of an expression that remembers where it was, or the first of another."""
    moving = "g" in regex.flags or "y" in regex.flags
    at = to_integer(await number(engine, await get(engine, regex, "lastIndex"))) if moving else 0.0
    start = int(min(max(at, -1.0), len(subject) + 1))
    found = regex.search(engine, subject, start) if 0 <= start <= len(subject) else None
    if found is not None and "y" in regex.flags and found.spans[0][0] != start:
        found = None
    if moving:
        regex.properties["lastIndex"] = float(found.spans[0][1] if found is not None else 0)
    return found


@natives.method("exec")
async def exec_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the next match, or null."""
    regex = _regex(engine, this, "exec")
    found = await next_match(engine, regex, await text_argument(engine, args, 0))
    return None if found is None else match_array(engine, regex, found)


@natives.method("test")
async def test(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether there is a match."""
    return (
        await next_match(engine, _regex(engine, this, "test"), await text_argument(engine, args, 0))
        is not None
    )


@natives.method("toString")
def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As it was written."""
    regex = _regex(engine, this, "toString")
    return f"/{regex.pattern or '(?:)'}/{regex.flags}"


@natives.getter("source")
def source(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the pattern."""
    return _regex(engine, this, "source").pattern or "(?:)"


@natives.getter("flags")
def flags(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the flags."""
    return _regex(engine, this, "flags").flags
