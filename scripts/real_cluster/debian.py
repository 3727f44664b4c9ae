"""A small Debian 12 that nodes have as their root and images take their files from."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from scripts.real_cluster.nodes import run

SUITE = "bookworm"
PACKAGES = (
    "busybox-static",
    "containerd",
    "containernetworking-plugins",
    "curl",
    "iproute2",
    "iptables",
    "jq",
    "memcached",
    "nftables",
    "procps",
    "python3",
    "redis-server",
    "runc",
)


def make_root(folder: Path) -> Path:
    """Install Debian below ``folder`` unless it is there, and return its root. The machine's own packages do not change."""
    root = folder / "debian"
    if root.exists():
        return root
    print(f"Installing Debian {SUITE} in {root} ...", flush=True)
    part = folder / "debian.part"
    shutil.rmtree(part, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)  # apt downloads as a user of its own
        run("apt-get", "-qq", "download", "debootstrap", cwd=Path(name))
        (package,) = Path(name).glob("*.deb")
        run("dpkg-deb", "-x", package, name)
        command = ["nice", "-n", "19", "sh", f"{name}/usr/sbin/debootstrap", "--variant=minbase"]
        environment = os.environ | {"DEBOOTSTRAP_DIR": f"{name}/usr/share/debootstrap"}
        run(*command, f"--include={','.join(PACKAGES)}", SUITE, part, find_mirror(), env=environment)
    part.rename(root)
    return root


def find_mirror() -> str:
    """Return the address from which this machine's apt gets the suite."""
    listed = run("apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages")
    for line in listed.splitlines():
        suite, _, address = line.partition(" ")
        if suite == SUITE:
            return address
    raise SystemExit(
        f"apt has no packages of Debian {SUITE}. Add them to its sources and call apt-get update."
    )
