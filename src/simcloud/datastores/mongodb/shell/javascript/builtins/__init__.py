"""The built-in objects of JavaScript."""

from __future__ import annotations

import urllib.parse
from collections.abc import Awaitable, Callable

from simcloud.datastores.mongodb.shell.javascript.builtins import (
    array_visits,
    arrays,
    collections,
    dates,
    errors,
    figures,
    functions,
    json,
    objects,
    regexps,
    string_matching,
    strings,
)
from simcloud.datastores.mongodb.shell.javascript.builtins.natives import native, text_argument
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, Value

_INSTALLED = (objects, functions, errors, arrays, strings, regexps, figures, json, dates, collections)
_EXTENDED = (array_visits, string_matching)
"""Modules that add methods to the tables of the others."""


def install(engine: Engine) -> None:
    """Give an engine everything that JavaScript itself has."""
    for module in _INSTALLED:
        module.install(engine)
    engine.define("globalThis", engine.global_object)
    engine.define("undefined", UNDEFINED)
    safe = {"encodeURIComponent": "!'()*~-_.", "encodeURI": "!'()*~-_.;/?:@&=+$,#"}
    for name, kept in safe.items():
        engine.define(name, native(engine, name, _encoder(kept)))
    for name in ("decodeURIComponent", "decodeURI"):
        engine.define(name, native(engine, name, _decode))


def _encoder(kept: str) -> Callable[[Engine, Value, list[Value]], Awaitable[Value]]:
    async def encode(engine: Engine, this: Value, args: list[Value]) -> Value:
        return engine.made_text(urllib.parse.quote(await text_argument(engine, args, 0), safe=kept))

    return encode


async def _decode(engine: Engine, this: Value, args: list[Value]) -> Value:
    try:
        return urllib.parse.unquote(await text_argument(engine, args, 0), errors="strict")
    except UnicodeDecodeError:
        raise engine.error("URIError", "malformed URI sequence") from None
