"""``diff -u -N`` of two folders as a genuine kubectl calls it, for machines that have none."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path


def main() -> int:
    """Print how the files of two folders differ; 1 when they do."""
    before, after = (Path(argument) for argument in sys.argv[-2:])
    differ = False
    for name in sorted({path.name for folder in (before, after) for path in folder.iterdir()}):
        lines = list(difference(before / name, after / name))
        if lines:
            differ = True
            sys.stdout.write(f"diff -u -N {before / name} {after / name}\n" + "".join(lines))
    return int(differ)


def difference(before: Path, after: Path) -> list[str]:
    """The difference of two files, of which one may be missing."""
    old, new = (path.read_text().splitlines(True) if path.exists() else [] for path in (before, after))
    times = [
        datetime.fromtimestamp(path.stat().st_mtime if path.exists() else 0, UTC) for path in (before, after)
    ]
    dates = [f"{time:%Y-%m-%d %H:%M:%S.%f}000 +0000" for time in times]
    return list(unified_diff(old, new, str(before), str(after), *dates))


if __name__ == "__main__":
    sys.exit(main())
