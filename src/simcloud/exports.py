"""Packages that export names of their modules, and import a module only when one of its names is first used.

    with export_lazily(globals()):
        from simcloud.sim.kernel import Kernel as Kernel

Type checkers and editors see ordinary imports. When the package is imported, the block records only where each name comes
from, so a package can export its whole room without loading it and without import cycles at run time. The form ``X as X``
marks a name as exported; a block imports names only in this form. An exported module is written
``from package import module as module``. Python 3.15 has ``lazy from ... import`` for the same purpose.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from types import SimpleNamespace
from typing import Any, Final

_LOCK: Final = Lock()
"""Held while ``__import__`` is replaced. No module is loaded in that time, so it cannot deadlock with import locks."""


@contextmanager
def export_lazily(package: dict[str, Any]) -> Iterator[None]:
    """Export what the block imports into ``package``, the globals of a package; each module is loaded on first use."""
    modules: dict[str, str] = {}

    def record(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if globals is not package:  # an import in another thread
            return load(name, globals, locals, fromlist, level)
        modules.update(dict.fromkeys(fromlist, name))
        return SimpleNamespace(**dict.fromkeys(fromlist))

    def get_export(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module '{package['__name__']}' has no attribute '{name}'")
        if module == package["__name__"]:
            return import_module(f"{module}.{name}")
        value = package[name] = getattr(import_module(module), name)
        return value

    with _LOCK:
        load = builtins.__import__
        builtins.__import__ = record
        try:
            yield
        finally:
            builtins.__import__ = load
    for name in modules:
        del package[name]
    package["__getattr__"] = get_export
    package["__dir__"] = lambda: sorted({*package, *modules})
