"""The methods of strings that search: split, match, replace."""

from __future__ import annotations

import re

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    argument,
    number_argument,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.builtins.regexps import match_array, next_match
from simcloud.datastores.mongodb.shell.javascript.builtins.strings import natives, subject
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.convert import text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import to_integer
from simcloud.datastores.mongodb.shell.javascript.regexes import Found, JsRegExp
from simcloud.datastores.mongodb.shell.javascript.values import (
    MAX_ARRAY_LENGTH,
    UNDEFINED,
    JsFunction,
    Value,
)

_MARK = re.compile(r"\$(?:(\$)|(&)|(`)|(')|(\d\d?)|<([^>]*)>)")


@natives.method("split")
async def split(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The parts between separators."""
    whole, between = await subject(engine, this), argument(args, 0)
    limit = await number_argument(engine, args, 1, float(MAX_ARRAY_LENGTH))
    engine.work(len(whole))
    if between is UNDEFINED:
        parts: list[Value] = [whole]
    elif isinstance(between, JsRegExp):
        parts = _split_by_regex(engine, whole, between)
    else:
        separator = await text(engine, between)
        parts = list(whole.split(separator)) if separator else list(whole)
    engine.made_items(len(parts))
    return engine.array(parts[: int(min(max(0.0, to_integer(limit)), MAX_ARRAY_LENGTH))])


def _split_by_regex(engine: Engine, whole: str, regex: JsRegExp) -> list[Value]:
    parts: list[Value] = []
    begin = at = 0
    while at < len(whole) and (found := regex.search(engine, whole, at)) is not None:
        start, end = found.spans[0]
        if start >= len(whole):
            break
        if end == begin:
            at += 1
            continue
        parts.append(whole[begin:start])
        parts.extend(_group(found, index) for index in range(1, regex.count + 1))
        begin = at = end
    parts.append(whole[begin:])
    return parts if whole or regex.search(engine, "", 0) is None else []


def _group(found: Found, index: int) -> Value:
    value = found.group(index)
    return UNDEFINED if value is None else value


def all_matches(engine: Engine, regex: JsRegExp, whole: str) -> list[Found]:
    """Every match in a text."""
    found: list[Found] = []
    at = 0
    while at <= len(whole) and (match := regex.search(engine, whole, at)) is not None:
        found.append(match)
        engine.work(64)
        start, end = match.spans[0]
        at = end + 1 if start == end else end
    engine.made_items(len(found))
    return found


async def _as_regex(engine: Engine, value: Value, flags: str = "") -> JsRegExp:
    if isinstance(value, JsRegExp):
        return value
    return JsRegExp(engine, await text_argument(engine, [value], 0, "(?:)"), flags)


@natives.method("match")
async def match(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The first match with its groups, or all matches, or null."""
    whole = await subject(engine, this)
    regex = await _as_regex(engine, argument(args, 0))
    if "g" not in regex.flags:
        found = await next_match(engine, regex, whole)
        return None if found is None else match_array(engine, regex, found)
    matches = all_matches(engine, regex, whole)
    return engine.array([each.group(0) for each in matches]) if matches else None


@natives.method("search")
async def search(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Where the first match stands."""
    whole = await subject(engine, this)
    found = (await _as_regex(engine, argument(args, 0))).search(engine, whole, 0)
    return -1.0 if found is None else float(found.spans[0][0])


@natives.method("replace")
async def replace(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The first match, or all of them, replaced."""
    return await _replace_matches(engine, this, args, every=False)


@natives.method("replaceAll")
async def replace_all(engine: Engine, this: Value, args: list[Value]) -> Value:
    """All matches replaced."""
    return await _replace_matches(engine, this, args, every=True)


async def _replace_matches(engine: Engine, this: Value, args: list[Value], *, every: bool) -> str:
    whole, wanted, new = await subject(engine, this), argument(args, 0), argument(args, 1)
    names: list[tuple[str, int]] = []
    if isinstance(wanted, JsRegExp):
        names = wanted.group_names
        if "g" in wanted.flags:
            found = all_matches(engine, wanted, whole)
        else:
            first = await next_match(engine, wanted, whole)
            found = [] if first is None else [first]
    else:
        found = _plain_matches(whole, await text(engine, wanted), every)
        engine.made_items(len(found))
    template = None if isinstance(new, JsFunction) else await text(engine, new)
    pieces: list[str] = []
    at = length = 0
    for each in found:
        start, end = each.spans[0]
        if template is None:
            groups = [_group(each, index) for index in range(len(each.spans))]
            made = await text(engine, await call(engine, new, UNDEFINED, [*groups, float(start), whole]))
        else:
            made = _fill_template(template, each, names)
        pieces += [whole[at:start], made]
        length += len(made) + start - at
        engine.check_text(length)
        at = end
    return engine.made_text("".join(pieces) + whole[at:])


def _plain_matches(whole: str, wanted: str, every: bool) -> list[Found]:
    found: list[Found] = []
    at = whole.find(wanted)
    while at >= 0:
        found.append(Found(whole, [(at, at + len(wanted))]))
        at = whole.find(wanted, at + max(1, len(wanted))) if every else -1
    return found


def _fill_template(template: str, found: Found, names: list[tuple[str, int]]) -> str:
    if "$" not in template:
        return template
    start, end = found.spans[0]

    def fill(mark: re.Match[str]) -> str:
        if mark[1]:
            return "$"
        if mark[2]:
            return found.group(0) or ""
        if mark[3]:
            return found.text[:start]
        if mark[4]:
            return found.text[end:]
        if mark[5]:
            index = int(mark[5])
            return (found.group(index) or "") if 0 < index < len(found.spans) else mark[0]
        place = next((index for name, index in names if name == mark[6]), 0)
        return (found.group(place) or "") if place else mark[0]

    return _MARK.sub(fill, template)
