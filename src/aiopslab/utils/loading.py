"""Load a user's Python file as a module, for problems and agents."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from aiopslab.utils.status import AIOpsLabError


class NoPythonFile(AIOpsLabError):
    """The file's name does not end in ``.py``."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"'{file}' is not a Python file: its name must end in .py.")


def load_module(file: Path, prefix: str) -> ModuleType:
    """Run a file and return its module, registered as ``prefix_stem`` so that it cannot replace another module.

    It is registered because dataclasses look up their annotations there, and because its classes may be pickled for
    copies of a world. Raises ``NoPythonFile`` and whatever the file raises; a file that fails stays unregistered.
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
