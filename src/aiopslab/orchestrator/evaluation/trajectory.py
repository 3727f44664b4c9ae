"""A session as a judge reads it: what was said, bounded, and so that nothing in it can pass for the judge's own instructions.

The agent and whatever it made appear in the environment are strangers: they may write what looks like the end of the
data, or orders. So the data stands between marks that carry a digest of the data itself, all that looks like such a mark
is taken out of it, and so are characters that nobody can see.
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


def told(trace: Sequence[Mapping[str, str]], limit: int = TRAJECTORY_CHARS) -> str:
    """The conversation, a turn at a time; long turns and long conversations lack their middle, and say so."""
    turns = (
        f"{_SPEAKERS.get(turn['role'], 'OTHER')} {number // 2 + 1}:\n{middle_cut(harmless(turn['content']), TURN_CHARS)}"
        for number, turn in enumerate(trace)
    )
    return middle_cut("\n\n".join(turns), limit)


def harmless(text: str) -> str:
    """A stranger's text without marks and without what cannot be seen."""
    visible = "".join(
        one for one in text if one in "\n\t" or unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co")
    )
    return _MARK.sub(REMOVED, visible)


def enclosed(name: str, text: str) -> str:
    """A text between marks that it cannot contain."""
    mark = f"{name}-{sha256(text.encode()).hexdigest()[:16]}"
    return f"<{mark}>\n{text}\n</{mark}>"


def middle_cut(text: str, limit: int) -> str:
    """A text of at most about so many characters: its beginning and its end, and between them how much is missing."""
    if len(text) <= limit:
        return text
    head, tail = limit // 2, limit - limit // 2
    return f"{text[:head]}\n[… {len(text) - limit} characters left out here …]\n{text[-tail:]}"
