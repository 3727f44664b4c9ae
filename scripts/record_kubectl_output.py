"""Types the lines of tests/simcloud/kubectl/data/*.txt at a genuine kubectl and writes down what it prints.

The lines ask for fixed objects that a small API of the tests serves, so that the recordings come out the same
every time. Run it after adding lines:

    python scripts/record_kubectl_output.py [NAME…]
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.simcloud.kubectl.canned import DATA, Genuine, genuine


def lines_of(cases: Path) -> list[str]:
    """The command lines of a file of cases: what is neither empty nor a comment."""
    return [line for line in cases.read_text().splitlines() if line and not line.startswith("#")]


def record(cases: Path, client: Genuine) -> None:
    """Write the recording of one file of cases beside it."""
    lines = lines_of(cases)
    with ThreadPoolExecutor(8) as pool, cases.with_suffix(".jsonl").open("w") as recording:
        for line, printed in zip(
            lines, pool.map(lambda line: client.run(shlex.split(line)), lines), strict=True
        ):
            told = {"line": line, "stdout": printed.stdout, "stderr": printed.stderr, "exit": printed.exit}
            recording.write(json.dumps(told) + "\n")
    print(f"{cases.name}: {len(lines)} lines")


def main() -> None:
    """Record the named files, or all."""
    names = sys.argv[1:] or sorted(path.stem for path in DATA.glob("*.txt"))
    with tempfile.TemporaryDirectory() as home, genuine(Path(home)) as client:
        client.run(["get", "pods"])  # so that the others find the discovery cached
        for name in names:
            record(DATA / f"{name}.txt", client)


if __name__ == "__main__":
    main()
