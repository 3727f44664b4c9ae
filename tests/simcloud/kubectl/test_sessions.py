"""Whole sessions of an operator, at our terminal and in real bash with the genuine kubectl: equal output.

``sessions/<name>.txt`` is one session: a line begins at the margin and goes on where the next is indented by a tab or
is part of a heredoc (``# `` begins a comment). The lines of a session are typed in order at one pair of clusters;
``manifests/`` lies in the folder where they are typed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.simcloud.kubectl.test_lines import difference, marked
from tests.simcloud.kubectl.twins import Twins, twins

HERE: Final = Path(__file__).parent
SESSIONS: Final = sorted(path.stem for path in (HERE / "sessions").glob("*.txt"))
UNRECORDED: Final[tuple[str, ...]] = ()
"""Sessions without a recording yet: the genuine kubectl is asked while they run."""


def lines_of(session: str) -> list[str]:
    """The lines of a session; a heredoc belongs to the line that begins it."""
    lines: list[str] = []
    end = ""
    for text in (HERE / "sessions" / f"{session}.txt").read_text().splitlines():
        if end:
            lines[-1] += f"\n{text}"
            end = "" if text == end else end
        elif text.startswith("\t"):
            lines[-1] += f"\n{text}"
        elif text.strip() and not text.startswith("# "):
            lines.append(text)
            end = "EOF" if "<<EOF" in text or "<<'EOF'" in text else ""
    return lines


@pytest.fixture
def both() -> Iterator[Twins]:
    with twins() as pair:
        for path in sorted((HERE / "manifests").rglob("*")):
            if path.is_file():
                pair.put(str(path.relative_to(HERE / "manifests")), path.read_text())
        yield pair


@pytest.mark.parametrize("session", marked(SESSIONS, UNRECORDED))
def test_session(session: str, both: Twins) -> None:
    """Every line says the same in both worlds."""
    for line in lines_of(session):
        ours, genuine = (told.normal() for told in both.type(line))
        assert ours == genuine, "\n".join(difference(line, ours, genuine))


def test_there_are_enough_sessions_and_none_is_short() -> None:
    """The sessions are whole ones."""
    assert len(SESSIONS) >= 30
    assert {name: len(lines_of(name)) for name in SESSIONS if not 5 <= len(lines_of(name)) <= 20} == {}
