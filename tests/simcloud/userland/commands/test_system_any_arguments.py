"""Whatever words they are given, commands over files, system and network end with a status.

An exception that escaped from one of them would end the whole world.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.computer import Machine
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import ByteSource, Capture, Context, Signal
from simcloud.sim import Kernel
from simcloud.userland.commands.file.find.actions import ACTIONS
from simcloud.userland.commands.file.find.tests import TESTS
from simcloud.userland.commands.net.curl.command import FLAGS, SHORT, VALUES
from simcloud.userland.commands.system.processes.columns import COLUMNS
from simcloud.userland.images import operator_image

ANY = [
    "", "-", "--", "=", "x", "0", "1", "-1", "99999999999999999999", "1e400", "nan", "inf", "0x10", "1K", "5s", "%", "%{x",
    "+%F", "u+x", "755", "\udc80", "é", "\n", "'", "\\", ":", ",", "@1", "*", "[", "((", ".", "..", "/", "/proc/1/status",
    "/dev/null", "/dev/full", "a.txt", "dir", "nope", "link", "broken", "self", "pipe", "a.txt/x", "root", "0:0", "nobody:",
    "10.0.0.1", "10.0.0.9", "web", "nosuch", "http://web/", "http://[::1", "http://web:x/", "80", "5-1", "99999", "true", "KILL",
    "--foo", "--help=", *(f"-{letter}" for letter in "aAbcCdDeEfFgGhHiIkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ0149"),
]  # fmt: skip
OWN = {
    "find": [
        *TESTS,
        *ACTIONS,
        "!",
        "(",
        ")",
        "-o",
        ",",
        "{}",
        ";",
        "+",
        "echo",
        "+1",
        "f",
        "-newermt",
        "-newerxy",
        "%p",
        "%T",
    ],
    "curl": [
        *(f"-{c}" for c in SHORT),
        *(f"--{name}" for name in (*VALUES, *FLAGS)),
        "X: y",
        "a=@a.txt",
        "%{json}",
    ],
    "ps": ["aux", "-ef", "-eo", *COLUMNS, "pid:x", "pid=", "--sort=-rss,+x", "--forest", "axf", "1,2"],
    "ip": ["a", "link", "route", "show", "dev", "eth0", "get", "set", "up", "down", "-br", "-o", "-s"],
    "ss": ["-tlnp", "state", "established", "sport", "=", ":80", "or", "(", ")"],
    "dig": ["+short", "+noall", "+answer", "@10.0.0.1", "-x", "MX", "+time=x"],
    "dd": [
        "if=a.txt",
        "of=out",
        "bs=1",
        "bs=0",
        "count=3",
        "skip=9",
        "seek=9",
        "conv=swab,sync",
        "if=pipe",
        "of=/dev/full",
    ],
}
OTHERS = [
    "basename",
    "chgrp",
    "chmod",
    "chown",
    "cp",
    "date",
    "df",
    "dirname",
    "dmesg",
    "du",
    "env",
    "fallocate",
    "file",
    "free",
    "getconf",
    "getent",
    "groups",
    "host",
    "hostname",
    "id",
    "ifconfig",
    "kill",
    "killall",
    "ln",
    "ls",
    "lscpu",
    "lsof",
    "mkdir",
    "mkfifo",
    "mktemp",
    "mount",
    "mv",
    "nc",
    "netstat",
    "nice",
    "nohup",
    "nproc",
    "nslookup",
    "pgrep",
    "pidof",
    "ping",
    "pkill",
    "printenv",
    "pstree",
    "readlink",
    "realpath",
    "rm",
    "rmdir",
    "route",
    "setsid",
    "sleep",
    "stat",
    "stdbuf",
    "sync",
    "sysctl",
    "telnet",
    "timeout",
    "top",
    "touch",
    "tree",
    "truncate",
    "tty",
    "umount",
    "uname",
    "uptime",
    "vmstat",
    "w",
    "watch",
    "wget",
    "which",
    "whoami",
    "xargs",
]
INPUTS = [b"", b"a b\nc\n", b"\0\xff\n", b"y\n", b"it's\n"]


def command_lines() -> st.SearchStrategy[list[str]]:
    def words(name: str) -> st.SearchStrategy[list[str]]:
        pool = st.sampled_from([*OWN.get(name, []), *ANY])
        return st.lists(pool, max_size=7).map(lambda rest: [name, *rest])

    return st.sampled_from([*OWN, *OTHERS]).flatmap(words)


async def website(ctx: Context) -> int:
    async def answer(request: HttpRequest) -> HttpResponse:
        return respond(200, "ok\n")

    serve_http(ctx, 80, answer)
    await ctx.sleep(1e8)
    return 0


def prepared() -> Machine:
    kernel = Kernel(1)
    machine = Machine(
        kernel,
        Network(kernel),
        "host-1",
        "10.0.0.1",
        operator_image(),
        resolver=HostsResolver({"web": "10.0.0.1"}),
    )
    files = machine.host.files
    files.put("/w/a.txt", b"alpha\nbeta\n")
    files.put("/w/dir/b", b"x")
    files.symlink("a.txt", "/w/link")
    files.symlink("nowhere", "/w/broken")
    files.symlink("self", "/w/self")
    files.mkfifo("/w/pipe")
    machine.host.start(["website"], program=website)
    return machine


@pytest.mark.slow
@settings(max_examples=300)
@given(argv=command_lines(), stdin=st.sampled_from(INPUTS))
def test_every_command_line_ends_with_a_status(argv: list[str], stdin: bytes) -> None:
    machine = prepared()
    process = machine.host.start(
        argv, env={"LC_ALL": "C"}, cwd="/w", streams={0: ByteSource(stdin), 1: Capture(), 2: Capture()}
    )
    machine.kernel.run_for(20)
    if process.alive:  # some wait for ever, as they should
        process.die(Signal.KILL)
        machine.kernel.run_for(1)
    assert 0 <= process.status <= 255
