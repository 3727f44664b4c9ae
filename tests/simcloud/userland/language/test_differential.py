"""Scripts run by our bash and by the real one: equal output, equal complaints, equal status."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

import pytest

TOPICS = (
    "arithmetic",
    "arrays",
    "builtins",
    "control",
    "errors",
    "operations",
    "parameters",
    "redirects",
    "scripts",
    "words",
)


def cases() -> list[object]:
    found: list[object] = []
    for topic in TOPICS:
        module = import_module(f"tests.simcloud.userland.language.cases_{topic}")
        files = getattr(module, "FILES", {})
        found += [
            pytest.param(script, files, id=f"{topic}-{number}") for number, script in enumerate(module.CASES)
        ]
    return found


@pytest.mark.differential("bash", "coreutils", "sed", "grep")
@pytest.mark.parametrize(("script", "files"), cases())
def test_as_in_bash(script: str, files: Mapping[str, str], compare: Callable[..., None]) -> None:
    compare(script, files)
