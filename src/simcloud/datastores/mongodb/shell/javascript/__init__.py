"""A JavaScript interpreter for the database shells, asynchronous and bounded by the limits of its process.

It supports what is typed into a shell: variables, functions, closures, destructuring, templates, the
common built-ins. It has no classes, modules, promises, generators, symbols, labels or tagged templates;
``await`` is allowed and does nothing, because every call waits for its answer. A script cannot reach
Python.
"""

from simcloud.datastores.mongodb.shell.javascript.builtins import install as install
from simcloud.datastores.mongodb.shell.javascript.engine import Engine as Engine, Host as Host
from simcloud.datastores.mongodb.shell.javascript.error_messages import (
    V8 as V8,
    ErrorMessages as ErrorMessages,
    SpiderMonkey as SpiderMonkey,
)
from simcloud.datastores.mongodb.shell.javascript.executor import run_script as run_script
from simcloud.datastores.mongodb.shell.javascript.parser import parse as parse
from simcloud.datastores.mongodb.shell.javascript.syntax import Script as Script, Source as Source
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure as SyntaxFailure
from simcloud.datastores.mongodb.shell.javascript.values import Thrown as Thrown, Value as Value
