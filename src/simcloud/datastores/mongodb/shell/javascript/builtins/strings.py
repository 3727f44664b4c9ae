"""``String``.

The length of a string is in code points, not in UTF-16 units.
"""

from __future__ import annotations

import re

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    argument,
    number_argument,
    position_argument,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.builtins.regexps import match_array, next_match
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.conversions import text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import number_text, to_integer
from simcloud.datastores.mongodb.shell.javascript.regexes import Found, JsRegExp
from simcloud.datastores.mongodb.shell.javascript.values import MAX_ARRAY_LENGTH, UNDEFINED, JsFunction, Value

natives = Natives("String")


def install(engine: Engine) -> None:
    """Give an engine ``String``."""
    natives.install(engine, _string)


async def _string(engine: Engine, this: Value, args: list[Value]) -> Value:
    return await text_argument(engine, args, 0, "") if args else ""


async def subject(engine: Engine, this: Value) -> str:
    """The string a method is called on."""
    if type(this) is str:
        return this
    if this is UNDEFINED or this is None:
        raise engine.type_error(engine.messages.bad_this("String.prototype", "String", "undefined"))
    return await text(engine, this)


@natives.method("toString", "valueOf")
async def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the string."""
    if type(this) is not str:
        raise engine.type_error(engine.messages.bad_this("String.prototype.toString", "String", "object"))
    return this


def whole_characters(made: str) -> str:
    """Halves of characters joined; what stays half is replaced, because nothing could print it."""
    if made.isascii() or not any("\ud800" <= each <= "\udfff" for each in made):
        return made
    return made.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@natives.method("charAt")
async def char_at(engine: Engine, this: Value, args: list[Value]) -> Value:
    """One character, or nothing."""
    whole = await subject(engine, this)
    at = to_integer(await number_argument(engine, args, 0, 0.0))
    return whole[int(at)] if 0 <= at < len(whole) else ""


@natives.method("charCodeAt")
async def code_at(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a character's number."""
    whole = await subject(engine, this)
    place = to_integer(await number_argument(engine, args, 0, 0.0))
    return float(ord(whole[int(place)])) if 0 <= place < len(whole) else float("nan")


@natives.method("indexOf")
async def index_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the first position of a text."""
    whole = await subject(engine, this)
    start = max(0.0, to_integer(await number_argument(engine, args, 1, 0.0)))
    engine.work(len(whole))
    return float(whole.find(await text_argument(engine, args, 0), int(min(start, len(whole)))))


@natives.method("lastIndexOf")
async def last_index_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the last position of a text."""
    whole = await subject(engine, this)
    engine.work(len(whole))
    return float(whole.rfind(await text_argument(engine, args, 0)))


@natives.method("includes")
async def includes(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether a text is contained."""
    whole = await subject(engine, this)
    engine.work(len(whole))
    return await text_argument(engine, args, 0) in whole


@natives.method("startsWith")
async def starts_with(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether it begins with a text."""
    whole = await subject(engine, this)
    start = await position_argument(engine, args, 1, len(whole), 0)
    return whole.startswith(await text_argument(engine, args, 0), start)


@natives.method("endsWith")
async def ends_with(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether it ends with a text."""
    whole = await subject(engine, this)
    end = await position_argument(engine, args, 1, len(whole), len(whole))
    return whole.endswith(await text_argument(engine, args, 0), 0, end)


@natives.method("slice")
async def slice_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a part; negative places count from the end."""
    whole = await subject(engine, this)
    start = await position_argument(engine, args, 0, len(whole), 0)
    end = await position_argument(engine, args, 1, len(whole), len(whole))
    return engine.charge_text(whole[start:end])


@natives.method("substring")
async def substring(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a part between two places in any order."""
    whole = await subject(engine, this)
    length = float(len(whole))
    first = to_integer(await number_argument(engine, args, 0, 0.0))
    second = to_integer(await number_argument(engine, args, 1, length))
    start, end = sorted((int(min(max(0.0, first), length)), int(min(max(0.0, second), length))))
    return engine.charge_text(whole[start:end])


@natives.method("substr")
async def substr(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a part from a place on, of a given length."""
    whole = await subject(engine, this)
    start = await position_argument(engine, args, 0, len(whole), 0)
    count = await number_argument(engine, args, 1, float(len(whole)))
    return engine.charge_text(whole[start : start + int(min(max(0.0, count), len(whole)))])


@natives.method("toUpperCase")
async def upper(engine: Engine, this: Value, args: list[Value]) -> Value:
    """In capitals."""
    return engine.charge_text((await subject(engine, this)).upper())


@natives.method("toLowerCase")
async def lower(engine: Engine, this: Value, args: list[Value]) -> Value:
    """In small letters."""
    return engine.charge_text((await subject(engine, this)).lower())


@natives.method("trim")
async def trim(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Without blanks around."""
    return (await subject(engine, this)).strip()


@natives.method("trimStart")
async def trim_start(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Without blanks before."""
    return (await subject(engine, this)).lstrip()


@natives.method("trimEnd")
async def trim_end(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Without blanks behind."""
    return (await subject(engine, this)).rstrip()


@natives.method("repeat")
async def repeat(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Repeat the text."""
    whole = await subject(engine, this)
    count = to_integer(await number_argument(engine, args, 0, 0.0))
    if count < 0 or count == float("inf"):
        raise engine.error("RangeError", engine.messages.negative_count(number_text(count)))
    if whole:
        engine.check_text(int(len(whole) * count))
    return engine.charge_text(whole * int(count)) if whole else ""


async def _padding(engine: Engine, whole: str, args: list[Value]) -> str:
    length = int(min(max(0.0, to_integer(await number_argument(engine, args, 0, 0.0))), 2.0**40))
    filler = await text_argument(engine, args, 1, " ")
    missing = length - len(whole)
    if missing <= 0 or not filler:
        return ""
    engine.check_text(length)
    return engine.charge_text((filler * (missing // len(filler) + 1))[:missing])


@natives.method("padStart")
async def pad_start(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Filled up in front."""
    whole = await subject(engine, this)
    return await _padding(engine, whole, args) + whole


@natives.method("padEnd")
async def pad_end(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Filled up behind."""
    whole = await subject(engine, this)
    return whole + await _padding(engine, whole, args)


@natives.method("localeCompare")
async def locale_compare(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Compare as in a dictionary: letters before their case."""
    left, right = await subject(engine, this), await text_argument(engine, args, 0)
    first, second = (left.lower(), right), (right.lower(), left)
    if first[0] != second[0]:
        return -1.0 if first[0] < second[0] else 1.0
    return 0.0 if left == right else (-1.0 if left > right else 1.0)


_MARK = re.compile(r"\$(?:(\$)|(&)|(`)|(')|(\d\d?)|<([^>]*)>)")


@natives.method("split")
async def split(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the parts between separators."""
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
    engine.charge_items(len(parts))
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
    """Return every match in a text."""
    found: list[Found] = []
    at = 0
    while at <= len(whole) and (match := regex.search(engine, whole, at)) is not None:
        found.append(match)
        engine.work(64)
        start, end = match.spans[0]
        at = end + 1 if start == end else end
    engine.charge_items(len(found))
    return found


async def _as_regex(engine: Engine, value: Value, flags: str = "") -> JsRegExp:
    if isinstance(value, JsRegExp):
        return value
    return JsRegExp(engine, await text_argument(engine, [value], 0, "(?:)"), flags)


@natives.method("match")
async def match(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the first match with its groups, or all matches, or null."""
    whole = await subject(engine, this)
    regex = await _as_regex(engine, argument(args, 0))
    if "g" not in regex.flags:
        found = await next_match(engine, regex, whole)
        return None if found is None else match_array(engine, regex, found)
    matches = all_matches(engine, regex, whole)
    return engine.array([each.group(0) for each in matches]) if matches else None


@natives.method("search")
async def search(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the position of the first match."""
    whole = await subject(engine, this)
    found = (await _as_regex(engine, argument(args, 0))).search(engine, whole, 0)
    return -1.0 if found is None else float(found.spans[0][0])


@natives.method("replace")
async def replace(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the first match, or all of them, replaced."""
    return await _replace_matches(engine, this, args, every=False)


@natives.method("replaceAll")
async def replace_all(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return all matches replaced."""
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
        engine.charge_items(len(found))
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
    return engine.charge_text("".join(pieces) + whole[at:])


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
