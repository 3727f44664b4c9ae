"""All breakages of an application: those that any application knows, and its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tests.incidents.breakage import Breakage
from tests.incidents.known import Known

HERE = Path(__file__).parent
APPS = ("hotels", "social")


def known(app: str) -> Known:
    """What is known of an application, by the name of its folder."""
    found: Known = import_module(f"tests.incidents.{app}.needs").KNOWN
    return found


@cache
def catalogue(app: str) -> dict[str, Breakage]:
    """Its breakages, by name."""
    found: dict[str, Breakage] = {}
    shared = (one for module in _modules("shared") for one in module.breakages(known(app)))
    own = (one for module in _modules(app) for one in getattr(module, "BREAKAGES", ()))
    for one in (*shared, *own):
        assert one.name not in found, f"two breakages are called '{one.name}'"
        found[one.name] = one
    return found


def _modules(folder: str) -> Iterator[ModuleType]:
    for path in sorted((HERE / folder).glob("[a-z]*.py")):
        yield import_module(f"tests.incidents.{folder}.{path.stem}")
