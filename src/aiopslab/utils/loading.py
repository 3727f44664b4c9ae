"""A user's own Python file as a module: problems, agents."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from aiopslab.utils.status import AIOpsLabError


class NoPythonFile(AIOpsLabError):
    """A file that cannot be a module by its name."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"'{file}' is no Python file: its name must end in .py.")


def module_of(file: Path, prefix: str) -> ModuleType:
    """Run a file and return its module, which is found again as ``prefix_stem``: a file may be called as some module is.

    It has to be found again, because dataclasses look their annotations up there and what it defines may cross into copies
    of a world. Raises ``NoPythonFile``, and whatever the file raises; nothing of a file that fails is left.
    """
    name = f"{prefix}_{file.stem}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise NoPythonFile(file)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
