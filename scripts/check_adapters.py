"""Test each adapter in a virtual environment of its own, and print what its extra costs.

    python -m scripts.check_adapters [NAME ...]      # all of them unless named
    python -m scripts.check_adapters --within 20     # as many as can be begun in 20 minutes; the commit decides with which to begin

The frameworks exclude each other's dependencies, so the project's own environment has none of them. Environments are kept in
``.venv-adapters``; a later run only updates them. The project is installed as users install it. Sizes and times are those that an extra adds to the project without extras.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.commits import ROOT, read_commit_number

FOLDER = ROOT / ".venv-adapters"
STEP_S = 600.0
"""Maximum time of an installation, and of the tests of an adapter."""
CORE = "aiopslab.adapters.worlds"
"""What every adapter imports without its framework."""


class Adapter(NamedTuple):
    """The module that imports a framework, and its tests."""

    module: str
    tests: tuple[str, ...]


ADAPTERS = {
    "inspect": Adapter("aiopslab.adapters.inspect_task", ("tests/aiopslab/adapters/test_inspect_task.py",)),
    "openenv": Adapter("aiopslab.adapters.openenv", ("tests/aiopslab/adapters/test_openenv.py",)),
    "rcaeval": Adapter(
        "RCAEval.e2e.baro",
        (
            "tests/simcloud/telemetry/export/test_rcaeval.py",
            "tests/aiopslab/agents/classical/test_rcaeval.py",
        ),
    ),
    "skyrl": Adapter("aiopslab.adapters.skyrl", ("tests/aiopslab/adapters/test_skyrl.py",)),
    "verifiers": Adapter("aiopslab_incidents", ("tests/aiopslab/adapters/test_verifiers_env.py",)),
}


def install(python: Path, *what: str) -> None:
    """Install packages; raises ``CalledProcessError`` and ``TimeoutExpired``."""
    options = ("-qq", "--disable-pip-version-check", "--retries", "10", "--timeout", "60")
    subprocess.run([python, "-m", "pip", "install", *options, *what], check=True, cwd=ROOT, timeout=STEP_S)


def measure_size_mb(folder: Path) -> float:
    """Return the size of the installed packages, without their compiled copies, in MB."""
    files = (path for path in folder.glob("lib/*/site-packages/**/*") if path.suffix != ".pyc")
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def measure_import_s(python: Path, module: str) -> float:
    """Return the time that a process takes to import a module, the second time."""
    for _ in range(2):
        began = time.perf_counter()
        subprocess.run([python, "-c", f"import {module}"], check=True, cwd=ROOT, capture_output=True)
    return time.perf_counter() - began


def check_adapter(name: str) -> bool:
    """Install an extra, print its costs, and run its tests; return whether they passed. Raises what ``install`` raises."""
    began, adapter, folder = time.monotonic(), ADAPTERS[name], FOLDER / name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        install(python, ".")
        (folder / "core_mb").write_text(str(measure_size_mb(folder)))
    install(python, f".[{name}]")
    size_mb = measure_size_mb(folder) - float((folder / "core_mb").read_text())
    import_s = measure_import_s(python, adapter.module) - measure_import_s(python, CORE)
    print(f"{name}: {size_mb:.0f} MB installed, {import_s:.1f} s to import", flush=True)
    install(python, "pytest", "hypothesis")
    environ = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    command = [python, "-m", "pytest", *adapter.tests]
    done = subprocess.run(command, cwd=ROOT, env=environ, check=False, timeout=STEP_S)
    print(f"{name}: {time.monotonic() - began:.0f} s in all", flush=True)
    return done.returncode == 0


def choose(names: Sequence[str], within_s: float = math.inf) -> list[str]:
    """Return the adapters to test, in order; ends the process if there is none of a name.

    If the time is limited, each commit begins with another one, so that the last ones are not always left out.
    """
    if unknown := [name for name in names if name not in ADAPTERS]:
        sys.exit(f"There is no adapter '{unknown[0]}'. Choose from: {', '.join(ADAPTERS)}.")
    chosen = list(names or ADAPTERS)
    if within_s == math.inf:
        return chosen
    first = read_commit_number() % len(chosen)
    return [*chosen[first:], *chosen[:first]]


def main() -> None:
    """Test the adapters, and end with 1 if a test failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--within", type=float, default=math.inf, metavar="MINUTES")
    options = parser.parse_args()
    began, within_s, failed = time.monotonic(), options.within * 60, []
    names = choose(options.names, within_s)
    for place, name in enumerate(names):
        if time.monotonic() - began > within_s:
            print(f"Not tested for want of time: {', '.join(names[place:])}", flush=True)
            break
        if not check_adapter(name):
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
