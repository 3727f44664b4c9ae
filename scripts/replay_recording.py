"""Type a recorded session again at a cluster of ours, and print what differs.

    python -m scripts.replay_recording NAME

The names are those of ``tests/simcloud/replay``.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.simcloud.replay.recording import Line, Typed, difference
from tests.simcloud.replay.replaying import SESSIONS, replay
from tests.simcloud.server.kubernetes.golden.normalise import same


@dataclass
class Tally:
    """Counts the lines that are the same, and prints those that are not."""

    agreed: int = 0
    typed: int = 0

    def __call__(self, line: Line, ours: Typed) -> None:
        self.typed += 1
        if same(line.told, ours):
            self.agreed += 1
        else:
            print(difference(line, ours), flush=True)


def main() -> None:
    """Type everything, print every difference and how many lines are the same."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        replay(SESSIONS[sys.argv[1]], Path(folder), tally)
    print(f"{tally.agreed} of {tally.typed} lines are the same")


if __name__ == "__main__":
    main()
