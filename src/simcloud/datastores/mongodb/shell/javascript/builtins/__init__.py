"""The built-in objects of JavaScript."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins import (
    arrays,
    dates,
    errors,
    functions,
    json,
    numbers,
    objects,
    regexps,
    strings,
)
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED

_INSTALLED = (objects, functions, errors, arrays, strings, regexps, numbers, json, dates)


def install(engine: Engine) -> None:
    """Give an engine everything that JavaScript itself has."""
    for module in _INSTALLED:
        module.install(engine)
    engine.define("globalThis", engine.global_object)
    engine.define("undefined", UNDEFINED)
