"""Packages export the names of their modules, and import a module when one of its names is first used."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import aiopslab

SOURCE = Path(aiopslab.__file__).parents[1]
PACKAGES = [
    ".".join(path.parent.relative_to(SOURCE).parts)
    for path in sorted(SOURCE.rglob("__init__.py"))
    if "with export_lazily(globals()):" in path.read_text()
]
"""Every package that exports names lazily."""


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_can_be_imported(package: str) -> None:
    module = import_module(package)
    assert not [name for name in dir(module) if not hasattr(module, name)]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_hides_an_exported_name(package: str) -> None:
    module = import_module(package)
    folder = Path(str(module.__file__)).parent
    blocks = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.With)]
    names = [
        alias.name
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != package
        for alias in node.names
    ]
    assert not [name for name in names if (folder / f"{name}.py").exists() or (folder / name).is_dir()]


def test_an_unknown_name_is_an_attribute_error() -> None:
    module = import_module("aiopslab.cloud")
    with pytest.raises(AttributeError, match=r"module 'aiopslab\.cloud' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018


def test_a_module_is_loaded_when_its_name_is_first_used() -> None:
    script = (
        "import sys, aiopslab.cloud as cloud\n"
        "print('Environment' in dir(cloud), 'aiopslab.cloud.environment' in sys.modules)\n"
        "print(cloud.Environment.__module__, cloud.Environment is vars(cloud)['Environment'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["True False", "aiopslab.cloud.environment True"]
