"""File and system commands, run by ours and by the genuine tools with the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.conftest import make_machine, real_line, type_line
from tests.machine.shell.commands import file_cases, system_cases


@pytest.mark.differential
@pytest.mark.parametrize("line", file_cases.CASES)
def test_file_commands_as_genuine(line: str, tmp_path: Path) -> None:
    whole = file_cases.PRELUDE + line
    ours = type_line(make_machine(files=file_cases.FILES), whole)
    real = real_line(tmp_path, whole, file_cases.FILES)
    assert (ours.stdout, ours.stderr, ours.status) == (real.stdout, real.stderr, real.status)


@pytest.mark.differential
@pytest.mark.parametrize("line", system_cases.CASES)
def test_system_commands_as_genuine(line: str, tmp_path: Path) -> None:
    ours = type_line(make_machine(), line)
    real = real_line(tmp_path, line)
    assert (ours.stdout, ours.stderr, ours.status) == (real.stdout, real.stderr, real.status)
