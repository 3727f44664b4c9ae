"""A machine to type on, and the genuine tools to compare with.

``shell("line")`` runs a line in our bash on a simulated machine, in the folder ``/w``. ``compare`` runs the
same line there and in the real bash on this computer, with the same files, and asserts that stdout, stderr and
exit status are equal.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from shutil import rmtree, which
from tempfile import mkdtemp

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import ByteSource, Capture, Completed
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image
from tests.genuine import SYSTEM_PATH, run

WORK = "/w"

Shell = Callable[..., Completed]


def make_machine(seed: int = 1, files: Mapping[str, bytes | str] | None = None) -> Machine:
    """A fresh machine with every command and the given files in its work folder."""
    kernel = Kernel(seed)
    machine = Machine(
        kernel, Network(kernel), "host-1", "10.0.0.1", operator_image(), resolver=HostsResolver({})
    )
    machine.host.files.mkdir(WORK)
    for name, data in (files or {}).items():
        content = data.encode() if isinstance(data, str) else data
        machine.host.files.put(f"{WORK}/{name}", content)
    return machine


def type_line(machine: Machine, line: str, stdin: bytes = b"", shell: str = "bash") -> Completed:
    """Run one line on a machine, with the environment the real bash gets in comparisons."""
    out, err = Capture(), Capture()
    process = machine.host.start(
        [shell, "-c", line],
        env={"LC_ALL": "C"},
        cwd=WORK,
        streams={0: ByteSource(stdin), 1: out, 2: err},
    )
    machine.kernel.run_task(machine.kernel.spawn(process.wait(), "typed line"))
    return Completed(process.status, bytes(out.data), bytes(err.data))


def real_line(
    folder: Path, line: str, files: Mapping[str, bytes | str] | None = None, stdin: bytes = b""
) -> Completed:
    """What the real bash makes of one line, in a folder with the given files."""
    given = {name: data.encode() if isinstance(data, str) else data for name, data in (files or {}).items()}
    done = run(
        ["bash", "-c", line],
        stdin=stdin,
        files=given,
        env={"LC_ALL": "C", "HOME": "/root"},
        folder=folder,
        path=lambda: f"{gawk_as_awk()}:{SYSTEM_PATH}",
        shown_as=WORK,
    )
    status = done.status if done.status >= 0 else 128 - done.status
    return Completed(status, done.stdout, done.stderr)


@cache
def gawk_as_awk() -> str:
    """A folder in which ``awk`` is GNU awk, whatever this computer's default is: that is our measure."""
    folder = Path(mkdtemp(prefix="gawk-as-awk-"))
    (folder / "awk").symlink_to(which("gawk") or "/usr/bin/gawk")
    atexit.register(rmtree, folder, ignore_errors=True)
    return str(folder)


@pytest.fixture
def machine() -> Machine:
    return make_machine()


@pytest.fixture
def shell(machine: Machine) -> Shell:
    def run(line: str, stdin: bytes = b"") -> Completed:
        return type_line(machine, line, stdin)

    return run


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., None]:
    def check(line: str, files: Mapping[str, bytes | str] | None = None, stdin: bytes = b"") -> None:
        ours = type_line(make_machine(files=files), line, stdin)
        real = real_line(tmp_path, line, files, stdin)
        assert (ours.stdout, ours.stderr, ours.status) == (real.stdout, real.stderr, real.status), line

    return check
