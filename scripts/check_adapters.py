"""Test each adapter in a virtual environment of its own, and print what its extra costs.

    python scripts/check_adapters.py [NAME ...]      # all of them unless named
    python scripts/check_adapters.py --by-commit     # only one; the commit decides which

The frameworks exclude each other's dependencies, so the project's own environment has none of them. Environments are kept in
``.venv-adapters``; a later run only updates them. The project is installed as users install it. Sizes and times are those that an extra adds to the project without extras.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".venv-adapters"
STEP_S = 900.0
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


def choose(arguments: Sequence[str]) -> list[str]:
    """Return the names of the adapters to test; ends the process if there is none of a name."""
    if "--by-commit" in arguments:
        command = ["git", "rev-parse", "HEAD"]
        commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return [sorted(ADAPTERS)[int(commit[:8], 16) % len(ADAPTERS)]]
    unknown = [name for name in arguments if name not in ADAPTERS]
    if unknown:
        sys.exit(f"There is no adapter '{unknown[0]}'. Choose from: {', '.join(ADAPTERS)}.")
    return list(arguments) or list(ADAPTERS)


def main() -> None:
    """Test the adapters, and end with 1 if a test failed."""
    failed = [name for name in choose(sys.argv[1:]) if not check_adapter(name)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
