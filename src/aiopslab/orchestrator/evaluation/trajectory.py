"""The text of a session for a judge: bounded in length, and protected against prompt injection.

The agent's texts and the environment's output are untrusted: they may imitate the end of the data, or instructions. So the
data is enclosed in marks that contain a digest of it, and anything that looks like such a mark is removed from it, as are
invisible characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

TURN_CHARS: Final = 6_000
TRAJECTORY_CHARS: Final = 60_000
REMOVED: Final = "[mark removed]"

_SPEAKERS: Final = {"assistant": "AGENT", "env": "ENVIRONMENT"}
_MARK: Final = re.compile(
    r"[<＜‹〈⟨]\s*[/\\]?\s*(?:trajectory|answer|truth|problem|system|verdict)\b[\w-]*(?:[^>＞›〉⟩\n]{0,80}[>＞›〉⟩])?",
    re.IGNORECASE,
)


def format_trajectory(trace: Sequence[Mapping[str, str]], limit: int = TRAJECTORY_CHARS) -> str:
    """Return the conversation, turn by turn; the middle of long turns and conversations is replaced by a note."""
    turns = (
        f"{_SPEAKERS.get(turn['role'], 'OTHER')} {number // 2 + 1}:\n{cut_middle(sanitize(turn['content']), TURN_CHARS)}"
        for number, turn in enumerate(trace)
    )
    return cut_middle("\n\n".join(turns), limit)


def sanitize(text: str) -> str:
    """Return an untrusted text without marks and invisible characters."""
    visible = "".join(
        char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co")
    )
    return _MARK.sub(REMOVED, visible)


def enclose(name: str, text: str) -> str:
    """Return a text between marks that it cannot contain."""
    mark = f"{name}-{sha256(text.encode()).hexdigest()[:16]}"
    return f"<{mark}>\n{text}\n</{mark}>"


def cut_middle(text: str, limit: int) -> str:
    """Return a text of about ``limit`` characters: its beginning, a note on the omitted middle, and its end."""
    if len(text) <= limit:
        return text
    head, tail = limit // 2, limit - limit // 2
    return f"{text[:head]}\n[… {len(text) - limit} characters omitted …]\n{text[-tail:]}"
