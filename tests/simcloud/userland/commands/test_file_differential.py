"""Every listed line over files gives what the genuine tools give: output, messages and status."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.simcloud.userland.commands.file_cases import AS_ROOT, CASES, FILES, LS_LONG, PRELUDE

OWNERS = frozenset([*AS_ROOT, *LS_LONG])
"""Lines that show or change owners, which are root's here."""


@pytest.mark.differential("bash", "coreutils", "findutils")
@pytest.mark.parametrize("line", [*CASES, *AS_ROOT])
def test_as_genuine(line: str, compare: Callable[..., None]) -> None:
    if line in OWNERS and os.geteuid() != 0:
        pytest.skip("files are root's on one side only")
    compare(PRELUDE + line, FILES)
