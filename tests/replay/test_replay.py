"""Recorded sessions at a genuine Kubernetes v1.36.4, typed again at ours: all that differs is known, with a reason.

A line of ``known_differences`` that differs no longer must go from there, as a new difference must not stay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.replay.recording import Line, Typed, difference
from tests.replay.replaying import SESSIONS, replay
from tests.server.kubernetes.golden.normalise import same

pytestmark = pytest.mark.differential("kubectl")

KNOWN = Path(__file__).parent / "known_differences"


def known(name: str) -> dict[int, Any]:
    """The lines that are known to differ; one that the client itself draws (``drawn: true``) may as well be the same."""
    listed = yaml.safe_load((KNOWN / f"{name}.yaml").read_text()) or []
    assert all(each["reason"].strip() for each in listed)
    return {each["n"]: each for each in listed}


@pytest.mark.parametrize("name", [path.stem for path in sorted(KNOWN.glob("*.yaml"))])
def test_a_recorded_session_prints_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session, expected = SESSIONS[name], known(name)
    differing: dict[int, str] = {}

    def heard(line: Line, ours: Typed) -> None:
        if not same(line.told, ours):
            differing[line.n] = difference(line, ours)

    replay(session, tmp_path, heard)

    lines = session.lines
    with capsys.disabled():
        print(f"\n{name}: {len(lines) - len(differing)} of {len(lines)} lines are the same")
    typed = {line.n: line.cmd for line in lines}
    assert {n: typed.get(n) for n in expected} == {n: each["cmd"] for n, each in expected.items()}
    new = "\n".join(text for n, text in differing.items() if n not in expected)
    assert not new, f"lines differ that are not known to\n{new}"
    gone = [n for n, each in expected.items() if n not in differing and not each.get("drawn")]
    assert not gone, f"lines that are listed as differing do not: {gone}"
