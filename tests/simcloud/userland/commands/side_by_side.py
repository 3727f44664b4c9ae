"""One command, given its arguments as they are, run by ours and by the genuine one with the same files.

Without a shell in between, so that what differs is the command. The files afterwards are compared too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from simcloud.machine.computer import Machine
from simcloud.machine.files import Files
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import ByteSource, Capture
from simcloud.sim import Kernel
from simcloud.userland.commands.grep import grep
from simcloud.userland.commands.sed import sed
from tests.genuine import run

LOCALES = ("C", "C.UTF-8")


class Outcome(NamedTuple):
    """Everything that can be seen of a command that has ended."""

    stdout: bytes
    stderr: bytes
    status: int
    files: dict[str, bytes]


@cache
def image() -> Image:
    return Image("text tools", {"grep": grep, "egrep": grep, "fgrep": grep, "rgrep": grep, "sed": sed})


def ours(argv: list[str], files: Mapping[str, bytes], stdin: bytes = b"", locale: str = "C") -> Outcome:
    kernel = Kernel(1)
    machine = Machine(kernel, Network(kernel), "host-1", "10.0.0.1", image(), resolver=HostsResolver({}))
    root = machine.host.files
    root.mkdir("/w")
    for name, data in files.items():
        root.mkdir(f"/w/{name}".rpartition("/")[0], parents=True)
        root.put(f"/w/{name}", data)
    out, err = Capture(), Capture()
    process = machine.host.start(
        argv, env={"LC_ALL": locale}, cwd="/w", streams={0: ByteSource(stdin), 1: out, 2: err}
    )
    kernel.run_task(kernel.spawn(process.wait(), "command"))
    return Outcome(bytes(out.data), bytes(err.data), process.status, _all_files(root, "/w"))


def _all_files(files: Files, folder: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path, _, names in files.walk(folder):
        for name in names:
            found[f"{path}/{name}".removeprefix("/w/")] = files.read(f"{path}/{name}")
    return found


def genuine(
    argv: list[str], folder: Path, files: Mapping[str, bytes], stdin: bytes = b"", locale: str = "C"
) -> Outcome:
    done = run(argv, stdin=stdin, files=files, env={"LC_ALL": locale}, folder=folder, with_files=True)
    return Outcome(done.stdout, done.stderr, done.status, done.files)
