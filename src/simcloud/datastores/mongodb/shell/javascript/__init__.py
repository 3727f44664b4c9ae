"""JavaScript for the database's shells: an interpreter that can wait, within the bounds of its process.

It runs what people type into a shell: variables, functions, closures, destructuring, templates, the
common built-ins. It has no classes, modules, promises, generators, symbols, labels or tagged templates;
``await`` is allowed and does nothing, because every call waits for its answer. A script cannot reach
Python.
"""

from simcloud.datastores.mongodb.shell.javascript.builtins import install
from simcloud.datastores.mongodb.shell.javascript.engine import Engine, Host
from simcloud.datastores.mongodb.shell.javascript.execute import run_script
from simcloud.datastores.mongodb.shell.javascript.parser import parse
from simcloud.datastores.mongodb.shell.javascript.syntax import Script, Source
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure
from simcloud.datastores.mongodb.shell.javascript.values import Thrown, Value
from simcloud.datastores.mongodb.shell.javascript.words import V8, SpiderMonkey, Words

__all__ = [
    "V8",
    "Engine",
    "Host",
    "Script",
    "Source",
    "SpiderMonkey",
    "SyntaxFailure",
    "Thrown",
    "Value",
    "Words",
    "install",
    "parse",
    "run_script",
]
