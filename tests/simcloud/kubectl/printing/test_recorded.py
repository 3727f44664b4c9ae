"""Lines of ``kubectl get`` in every output form: what the genuine kubectl printed, and what the forms print.

The recordings are made by scripts/record_kubectl_output.py. Where the genuine one fell over with a Go panic,
only the exit code is compared.
"""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest

from tests.simcloud.kubectl.canned import Printed, genuine
from tests.simcloud.kubectl.recorded import built_in, recording

NAMES = ("jsonpath", "tables", "templates")
PANIC = 2


def _same(told: Printed, ours: Printed) -> bool:
    return ours.exit == PANIC if told.exit == PANIC else ours == told


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_line_prints_the_same(name: str) -> None:
    lines = recording(name)
    assert len(lines) >= 100
    different = [line for line, told in lines if not _same(told, built_in(line))]
    assert different == []


@pytest.mark.differential("kubectl")
def test_the_recordings_are_what_the_genuine_one_prints_today(tmp_path: Path) -> None:
    lines = [pair for name in NAMES for pair in recording(name)]
    with genuine(tmp_path) as client:
        for line, told in random.Random(5).sample(lines, 16):
            assert client.run(shlex.split(line)) == told, line
