"""The built-in objects of JavaScript."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins import (
    array_visits,
    arrays,
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
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED

_INSTALLED = (objects, functions, errors, arrays, strings, regexps, figures, json, dates)
_EXTENDED = (array_visits, string_matching)
"""Modules that add methods to the tables of the others."""


def install(engine: Engine) -> None:
    """Give an engine everything that JavaScript itself has."""
    for module in _INSTALLED:
        module.install(engine)
    engine.define("globalThis", engine.global_object)
    engine.define("undefined", UNDEFINED)
