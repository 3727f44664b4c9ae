"""Recorded sessions at a genuine Kubernetes v1.36.4, typed again at ours: all that differs is known, with a reason.

They are typed twice: at the genuine kubectl over HTTPS, and at the built-in one on the operator's host. A line of
``known_differences`` that differs no longer must go from there, as a new difference must not stay.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.simcloud.replay.inside import replay_inside
from tests.simcloud.replay.recording import Line, Typed, difference
from tests.simcloud.replay.replaying import SESSIONS, Session, replay
from tests.simcloud.server.kubernetes.golden.normalise import same

HERE = Path(__file__).parent
Heard = Callable[[Line, Typed], None]


def known(folder: str, name: str) -> dict[int, Any]:
    """The lines that are known to differ; one that the client itself draws (``drawn: true``) may as well be the same."""
    listed = yaml.safe_load((HERE / folder / f"{name}.yaml").read_text()) or []
    assert all(each["reason"].strip() for each in listed)
    return {each["n"]: each for each in listed}


@pytest.mark.slow
@pytest.mark.differential("kubectl")
@pytest.mark.parametrize("name", sorted(SESSIONS))
def test_a_recorded_session_prints_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        compare(
            SESSIONS[name],
            known("known_differences", name),
            lambda session, heard: replay(session, tmp_path, heard),
        )


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("name", sorted(SESSIONS))
def test_the_built_in_kubectl_prints_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        compare(SESSIONS[name], known("known_differences_inside", name), replay_inside)


def compare(session: Session, expected: dict[int, Any], play: Callable[[Session, Heard], None]) -> None:
    differing: dict[int, str] = {}

    def heard(line: Line, ours: Typed) -> None:
        if not same(line.told, ours):
            differing[line.n] = difference(line, ours)

    play(session, heard)

    lines = session.lines
    print(f"\n{session.name}: {len(lines) - len(differing)} of {len(lines)} lines are the same")
    typed = {line.n: line.cmd for line in lines}
    assert {n: typed.get(n) for n in expected} == {n: each["cmd"] for n, each in expected.items()}
    new = "\n".join(text for n, text in differing.items() if n not in expected)
    assert not new, f"lines differ that are not known to\n{new}"
    gone = [n for n, each in expected.items() if n not in differing and not each.get("drawn")]
    assert not gone, f"lines that are listed as differing do not: {gone}"
