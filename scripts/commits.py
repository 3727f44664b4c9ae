"""The commit of a clone, from which the test run chooses what it tests this time."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def read_commit_number() -> int:
    """Return a number that depends on the commit; 0 without git or outside a clone."""
    command = ["git", "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return 0
    return int(found.stdout[:8] or "0", 16)
