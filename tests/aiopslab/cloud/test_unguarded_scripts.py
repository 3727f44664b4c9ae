"""A script that begins its work when it is only read is told what to change, and nothing is started for ever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
from simcloud.world.copies import Copy

def prepare():
    return [1]

def first(world):
    return world[0]

{begin}
    with Copy.of(prepare) as copy:
        print("found", copy.call(first))
"""


def run(folder: Path, begin: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(SCRIPT.format(begin=begin))
    return subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)


def test_a_script_that_is_read_is_not_run(tmp_path: Path) -> None:
    done = run(tmp_path, "if True:")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith('and end the script with: if __name__ == "__main__": main()')
    assert "freeze_support" not in done.stderr
    assert done.stderr.count("Traceback") == 1


def test_with_a_guard_it_runs(tmp_path: Path) -> None:
    done = run(tmp_path, 'if __name__ == "__main__":')
    assert (done.stdout, done.stderr, done.returncode) == ("found 1\n", "", 0)
