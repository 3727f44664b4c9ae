"""``String``: everything but matching, which is in ``string_matching``.

A string counts characters, not the halves that JavaScript stores rare ones in.
"""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    number_argument,
    position_argument,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.convert import text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import number_text, to_integer
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, Value

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
        raise engine.type_error(engine.words.bad_this("String.prototype", "String", "undefined"))
    return await text(engine, this)


@natives.method("toString", "valueOf")
async def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The string."""
    if type(this) is not str:
        raise engine.type_error(engine.words.bad_this("String.prototype.toString", "String", "object"))
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
    """A character's number."""
    whole = await subject(engine, this)
    place = to_integer(await number_argument(engine, args, 0, 0.0))
    return float(ord(whole[int(place)])) if 0 <= place < len(whole) else float("nan")


@natives.method("indexOf")
async def index_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Where a text first stands."""
    whole = await subject(engine, this)
    start = max(0.0, to_integer(await number_argument(engine, args, 1, 0.0)))
    engine.work(len(whole))
    return float(whole.find(await text_argument(engine, args, 0), int(min(start, len(whole)))))


@natives.method("lastIndexOf")
async def last_index_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Where a text last stands."""
    whole = await subject(engine, this)
    engine.work(len(whole))
    return float(whole.rfind(await text_argument(engine, args, 0)))


@natives.method("includes")
async def includes(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether a text stands in it."""
    whole = await subject(engine, this)
    engine.work(len(whole))
    return await text_argument(engine, args, 0) in whole


@natives.method("startsWith")
async def starts_with(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it begins so."""
    whole = await subject(engine, this)
    start = await position_argument(engine, args, 1, len(whole), 0)
    return whole.startswith(await text_argument(engine, args, 0), start)


@natives.method("endsWith")
async def ends_with(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it ends so."""
    whole = await subject(engine, this)
    end = await position_argument(engine, args, 1, len(whole), len(whole))
    return whole.endswith(await text_argument(engine, args, 0), 0, end)


@natives.method("slice")
async def slice_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """A part; negative places count from the end."""
    whole = await subject(engine, this)
    start = await position_argument(engine, args, 0, len(whole), 0)
    end = await position_argument(engine, args, 1, len(whole), len(whole))
    return engine.made_text(whole[start:end])


@natives.method("substring")
async def substring(engine: Engine, this: Value, args: list[Value]) -> Value:
    """A part between two places in any order."""
    whole = await subject(engine, this)
    length = float(len(whole))
    places = [
        await number_argument(engine, args, index, default) for index, default in ((0, 0.0), (1, length))
    ]
    start, end = sorted(int(min(max(0.0, to_integer(place)), length)) for place in places)
    return engine.made_text(whole[start:end])


@natives.method("substr")
async def substr(engine: Engine, this: Value, args: list[Value]) -> Value:
    """A part from a place on, so long."""
    whole = await subject(engine, this)
    start = await position_argument(engine, args, 0, len(whole), 0)
    count = await number_argument(engine, args, 1, float(len(whole)))
    return engine.made_text(whole[start : start + int(min(max(0.0, count), len(whole)))])


@natives.method("toUpperCase")
async def upper(engine: Engine, this: Value, args: list[Value]) -> Value:
    """In capitals."""
    return engine.made_text((await subject(engine, this)).upper())


@natives.method("toLowerCase")
async def lower(engine: Engine, this: Value, args: list[Value]) -> Value:
    """In small letters."""
    return engine.made_text((await subject(engine, this)).lower())


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
        raise engine.error("RangeError", engine.words.negative_count(number_text(count)))
    if whole:
        engine.check_text(int(len(whole) * count))
    return engine.made_text(whole * int(count)) if whole else ""


async def _padding(engine: Engine, whole: str, args: list[Value]) -> str:
    length = int(min(max(0.0, to_integer(await number_argument(engine, args, 0, 0.0))), 2.0**40))
    filler = await text_argument(engine, args, 1, " ")
    missing = length - len(whole)
    if missing <= 0 or not filler:
        return ""
    engine.check_text(length)
    return engine.made_text((filler * (missing // len(filler) + 1))[:missing])


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
    """Which comes first in a dictionary: letters before their case."""
    left, right = await subject(engine, this), await text_argument(engine, args, 0)
    first, second = (left.lower(), right), (right.lower(), left)
    if first[0] != second[0]:
        return -1.0 if first[0] < second[0] else 1.0
    return 0.0 if left == right else (-1.0 if left > right else 1.0)
