"""Every listed line over clock, environment and processes gives what the genuine tools give."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.genuine import answer
from tests.simcloud.conftest import Shell
from tests.simcloud.userland.commands.system_cases import CASES

T = TypeVar("T")

HEADINGS = [
    "ps",
    "ps -e",
    "ps -f",
    "ps -ef",
    "ps -F",
    "ps -l",
    "ps -j",
    "ps aux",
    "ps ax",
    "ps l",
    "ps j",
    "ps v",
    "ps -L",
    "ps -T",
    "ps axo pid,comm",
    "ps -eo user,pid,ppid,%cpu,%mem,vsz,rss,tty,stat,start,time,command",
    "ps -eo pid,pgid,sid,tname,etime,etimes,uid,group,gid,ni,pri,nlwp,wchan,lstart,stime,args",
    "ps -eo pid:10,user:20,comm=NAME",
    "ps -eo state,s,c,sz,euser,ruser,egroup,pcpu,cputime,comm",
]


@pytest.mark.differential("bash", "coreutils", "findutils", "procps")
@pytest.mark.parametrize("line", CASES)
def test_as_genuine(line: str, compare: Callable[..., None]) -> None:
    compare(line)


def reduced(line: str, reduce: Callable[[str], T]) -> T:
    """What a line shows of this machine that would be the same on any other."""

    def ask() -> T:
        env = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
        done = subprocess.run(line.split(), capture_output=True, text=True, check=False, env=env)
        return reduce(done.stdout)

    return answer(line, line, ask)


def heading(text: str) -> str:
    """The first line, without the space that the number of digits of a process number makes."""
    return re.sub(r" *\b(PID|PPID|PGID|SID|LWP|SPID|TPGID)\b", r" \1", text.partition("\n")[0]).strip()


@pytest.mark.differential("procps")
@pytest.mark.parametrize("line", HEADINGS)
def test_the_headings_of_ps_stand_where_they_do_in_the_genuine_one(line: str, shell: Shell) -> None:
    assert heading(shell(line).stdout.decode()) == reduced(line, heading)


@pytest.mark.differential("procps")
def test_the_lines_of_top_look_like_the_genuine_ones(shell: Shell) -> None:
    def shape(text: str) -> list[str]:
        """Every number as one sign: what stands around them is what is compared."""
        lines = re.sub(r" *up .*?, +\d+ user", " up, 0 user", text).split("\n")[:7]
        lines = [re.sub(r" *\d+(?:[.:]\d+)*", "#", line) for line in lines[:6]] + [lines[6].strip()]
        return [line.replace("##", "#") for line in lines]

    assert shape(shell("top -b -n1").stdout.decode()) == reduced("top -b -n1", shape)


@pytest.mark.differential("procps")
@pytest.mark.parametrize("line", ["uptime", "free", "free -h", "free -m", "free -t", "vmstat", "vmstat -w"])
def test_the_columns_are_as_wide_as_the_genuine_ones(line: str, shell: Shell) -> None:
    def shape(text: str) -> list[str]:
        text = re.sub(r"up .*?, +\d+ users?", "up, 0 user", text)
        return [re.sub(r" *[\d.:]+(?:[KMGT]i|B)?", "#", row) for row in text.splitlines()]

    assert shape(shell(line).stdout.decode()) == reduced(line, shape)
