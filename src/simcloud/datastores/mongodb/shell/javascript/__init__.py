"""A JavaScript interpreter for the database shells, asynchronous and bounded by the limits of its process.

It supports what is typed into a shell: variables, functions, closures, destructuring, templates, the
common built-ins. It has no classes, modules, promises, generators, symbols, labels or tagged templates;
``await`` is allowed and does nothing, because every call waits for its answer. A script cannot reach
Python.
"""

from simcloud.datastores.mongodb.shell.javascript.builtins import install
from simcloud.datastores.mongodb.shell.javascript.engine import Engine, Host
from simcloud.datastores.mongodb.shell.javascript.error_messages import V8, ErrorMessages, SpiderMonkey
from simcloud.datastores.mongodb.shell.javascript.executor import run_script
from simcloud.datastores.mongodb.shell.javascript.parser import parse
from simcloud.datastores.mongodb.shell.javascript.syntax import Script, Source
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure
from simcloud.datastores.mongodb.shell.javascript.values import Thrown, Value

__all__ = [
    "V8",
    "Engine",
    "ErrorMessages",
    "Host",
    "Script",
    "Source",
    "SpiderMonkey",
    "SyntaxFailure",
    "Thrown",
    "Value",
    "install",
    "parse",
    "run_script",
]
