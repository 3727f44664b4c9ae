"""Text tools run by ours and by the genuine ones of this machine, with the same files in the same folder."""

from __future__ import annotations

import ast
import io
import shlex
import tarfile
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import simcloud.userland.commands.system  # noqa: F401  brings timeout
from simcloud.machine.computer import Machine
from simcloud.machine.files import Files
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import ByteSource, Capture, Stream
from simcloud.sim import Kernel
from simcloud.userland.commands import text
from simcloud.userland.commands.registry import COMMANDS
from tests import genuine as genuine_tools

CASES = Path(__file__).parent / "text_cases"
TIME_S = 1_704_067_200
"""When all files were last changed: the first second of 2024."""

WORK = "/w"
_ENVIRONMENT = {"LC_ALL": "C", "HOME": "/root", "TZ": "UTC"}


class Outcome(NamedTuple):
    """Everything that can be seen of a command that has ended."""

    stdout: bytes
    stderr: bytes
    status: int
    files: dict[str, bytes]


@dataclass
class Case:
    """A command line, its standard input and what its environment has besides the usual."""

    line: str
    argv: list[str]
    stdin: bytes = b""
    env: dict[str, str] = field(default_factory=dict)


def parse_case(line: str) -> Case:
    """Read ``NAME=VALUE command arguments <<< 'input'``."""
    command, _, literal = line.partition(" <<< ")
    argv = shlex.split(command)
    case = Case(line, argv, ast.literal_eval("b" + literal.strip()) if literal else b"")
    while "=" in argv[0]:
        name, _, value = argv.pop(0).partition("=")
        case.env[name] = value
    return case


def listed_cases() -> Iterator[Case]:
    """All cases of the lists beside this file."""
    for path in sorted(CASES.glob("*.cases")):
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                yield parse_case(line)


def own_commands() -> dict[str, object]:
    """The text tools, by name."""
    return {
        name: program for name, program in COMMANDS.items() if program.__module__.startswith(text.__name__)
    }


@cache
def image() -> Image:
    """An image that has the text tools, and timeout to end those that follow a file."""
    return Image("text tools", {name: COMMANDS[name] for name in (*own_commands(), "timeout")})


def make_machine(files: Mapping[str, bytes]) -> Machine:
    """A machine at the first second of 2024 with these files in its work folder."""
    kernel = Kernel(1)
    machine = Machine(
        kernel, Network(kernel), "host-1", "10.0.0.1", image(), resolver=HostsResolver({}), epoch_s=TIME_S
    )
    machine.host.files.mkdir(WORK)
    for name, data in files.items():
        folder = f"{WORK}/{name}".rpartition("/")[0]
        if not machine.host.files.is_dir(folder):
            machine.host.files.mkdir(folder, parents=True)
        machine.host.files.put(f"{WORK}/{name}", data)
    return machine


def run(
    machine: Machine,
    argv: list[str],
    stdin: bytes | Stream = b"",
    env: Mapping[str, str] | None = None,
    limit_s: float = 3600.0,
) -> tuple[bytes, bytes, int]:
    """Run one command to its end; its output, its messages and its status."""
    out, err = Capture(limit_bytes=1 << 28), Capture()
    source = ByteSource(stdin) if isinstance(stdin, bytes) else stdin
    process = machine.host.start(
        argv, env={"LC_ALL": "C", **(env or {})}, cwd=WORK, streams={0: source, 1: out, 2: err}
    )
    machine.kernel.run_task(machine.kernel.spawn(process.wait(), "command"), limit_s)
    return bytes(out.data), bytes(err.data), process.status


def ours(case: Case, files: Mapping[str, bytes]) -> Outcome:
    """A case run by our commands."""
    machine = make_machine(files)
    stdout, stderr, status = run(machine, case.argv, case.stdin, case.env)
    return Outcome(stdout, stderr, status, _all_files(machine.host.files, WORK))


def _all_files(files: Files, folder: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name in files.listdir(folder):
        path = f"{folder}/{name}"
        if files.stat(path, follow=False).is_dir:
            found |= _all_files(files, path)
        elif files.is_file(path):
            found[path.removeprefix(f"{WORK}/")] = files.read(path)
    return found


def genuine(case: Case, folder: Path, files: Mapping[str, bytes]) -> Outcome:
    """A case run by the genuine tool."""
    done = genuine_tools.run(
        case.argv,
        stdin=case.stdin,
        files=files,
        env={**_ENVIRONMENT, **case.env},
        folder=folder,
        time_s=TIME_S,
        with_files=True,
    )
    return Outcome(done.stdout, done.stderr, done.status, done.files)


def _archive(names: dict[str, bytes], links: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        folders = sorted({name.rpartition("/")[0] for name in [*names, *links]} - {"", ".."})
        for name in folders:
            entry = _entry(name, tarfile.DIRTYPE, 0o755)
            archive.addfile(entry)
        for name, target in links.items():
            entry = _entry(name, tarfile.SYMTYPE, 0o777)
            entry.linkname = target
            archive.addfile(entry)
        for name, data in names.items():
            entry = _entry(name, tarfile.REGTYPE, 0o755 if name == "t1" else 0o644)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, TIME_S
    entry.uname = entry.gname = "root"
    return entry


_TAR = _archive({"t1": b"one\n", "dd/x": b"hi\n"}, {"dd/l": "x"})
# Packed once: how well zlib packs differs from one release to the next.
_GZ = b64decode("H4sICAAAAAAAA3oAy89L5Sopz+cqyShKTeXKH+VBeQA+zTyJGAEAAA==")
_TGZ = b64decode(
    "H4sIAAAAAAACA+3UTQrCMBCG4Vl7itygM+3EnEeIoCAWaoUe39hlFxUXDf68z2bCJLuPLzk3sjUtUozzLJZzPptHd1dtn3tT61xClArut/EwhCBD349r"
    "717df6mcm0uV/FN6J/+oJqGdyH9ro8kH9N+X+auV/JX+b66/HneCv1X+/6lG//fuK/3vlv3vLNH/Gk5n6g8AAAAAAAAAAAAAv+ABx4BjCgAoAAA="
)

FILES: dict[str, bytes] = {
    "a.txt": b"one\ntwo\nthree\nfour\nfive\n",
    "n.txt": b"10\n9\n2\n33\n-4\n1.5\n",
    "f.txt": b"b 2 x\na 10 y\nc 1 z\n",
    "noeol": b"alpha\nbeta\ngamma",
    "blank.txt": b"\n\n\na\n\n\nb\t\tc\n\n",
    "csv": b"id,name,city\n1,ann,rome\n2,bob,\n3,cid,oslo\n",
    "bin": bytes(range(256)),
    "empty": b"",
    "sp ace": b"x y\n",
    "d/one": b"1\n",
    "d/two": b"2\n",
    "dup": b"a\na\nb\nB\nb\nc\nc\nc\n",
    "log": b"2024-01-01 ERROR db timeout\n2024-01-01 INFO ok\n2024-01-02 WARN slow 30ms\n2024-01-02 ERROR db refused\n",
    "crlf": b"x\r\ny\r\n",
    "j1": b"1 a\n2 b\n3 c\n",
    "j2": b"1 x\n3 y\n4 z\n",
    "tabs": b"a\tb\tc\n1\t2\t3\n\tx\n",
    "s": b"".join(b"%d\n" % number for number in range(1, 31)),
    "zeros": bytes(100),
    "t": b"a b c\nlonger   d\n\n x y z w\n",
    "w1": b"a\nb\nc\nd\ne\nf\ng\nh\n",
    "w2": b"a\nX\nc\nd\ne\nf\nh\ni\n",
    "w3": b"A\n b\nc  \nd\n\n\ne\nf\ng\nh",
    "da/x": b"1\n2\n3\n",
    "da/only": b"1\n",
    "da/sub/s": b"s\n",
    "db/x": b"1\n2\n4\n",
    "db/sub/s": b"t\n",
    "db/sub/t": b"t\n",
    "c1": b"".join(b"line %d\n" % number for number in range(60)),
    "c2": b"".join(
        (b"line %d\n" % number if number not in (3, 30, 31, 50) else b"changed\n")
        + (b"ins\n" if number in (10, 45) else b"")
        for number in range(60)
        if number != 20
    ),
    "z.gz": _GZ,
    "notgz.gz": b"plain\n",
    "trunc.gz": _GZ[:20],
    "badcrc.gz": _GZ[:-8] + b"\0\0\0\0" + _GZ[-4:],
    "o.tar": _TAR,
    "o.tgz": _TGZ,
    "abs.tar": _archive({"/tmp/t1": b"one\n"}, {}),
    "dots.tar": _archive({"../t1": b"one\n"}, {}),
}
"""Small files of many kinds, for the listed cases."""
