"""Every listed line over files gives what the genuine tools give: output, messages and status."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.simcloud.userland.commands.file_cases import AS_ROOT, CASES, FILES, PRELUDE


@pytest.mark.differential("bash", "coreutils", "findutils")
@pytest.mark.parametrize("line", [*CASES, *AS_ROOT])
def test_as_genuine(line: str, compare: Callable[..., None]) -> None:
    compare(PRELUDE + line, FILES)
