"""What operators type, run by our shell and by the real bash with the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simcloud.conftest import make_machine, real_line, type_line
from tests.simcloud.userland.operator_lines import FILES, LINES

DIFFERENT: dict[str, str] = {}
"""Lines whose outcome differs from the real bash on purpose, and why; docs/differences has the same."""


@pytest.mark.differential
@pytest.mark.parametrize("line", LINES)
def test_as_in_bash(line: str, tmp_path: Path) -> None:
    ours = type_line(make_machine(files=FILES), line)
    real = real_line(tmp_path, line, FILES)
    equal = (ours.stdout, ours.stderr, ours.status) == (real.stdout, real.stderr, real.status)
    if line in DIFFERENT:
        assert not equal, "this line no longer differs: take it off the list"
    else:
        assert (ours.stdout, ours.stderr, ours.status) == (real.stdout, real.stderr, real.status)
