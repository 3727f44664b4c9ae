"""The same lines to Debian's redis-cli (7.0, before its own server) and to ours: the output is equal."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator

import pytest

from simcloud.datastores.redis import redis_image
from tests.genuine import answer
from tests.simcloud.datastores.genuine_socket import PATIENCE_S
from tests.simcloud.datastores.redis.genuine import Genuine
from tests.simcloud.datastores.small_world import SmallWorld

pytestmark = pytest.mark.differential("redis")

PREPARED = [
    "set a 1",
    "rpush l x y z",
    "rpush l2 1 2 3 4 5 6 7 8 9 10 11",
    "hset h f v g w",
    "set q 'a\"b\\c'",
    "set u 'é'",
]
LINES = [
    "get a", "get none", "set a 2", "incr a", "lrange l 0 -1", "lrange none 0 -1", "lrange l2 0 -1", "hgetall h", "get q",
    "get u", "ping", "echo 'two words'", "lpush a 1", "type l", "zadd z 1 m", "zrange z 0 -1 withscores", "exists a b",
    "multi", "scan 0 match nothing", "hscan h 0", "subscribe", "object encoding l", "mget a none l", "ttl a", "",
]  # fmt: skip
TYPED = [
    "get a\nlrange l 0 -1\n",
    "set b \"x y\"\nget b\necho 'single \\' quote'\nget 'b'\n",
    '"unbalanced\nping\n',
    "multi\nget a\nincr a\nexec\n",
    "\n\n  ping  \n",
    "select 2\nset only here\nkeys *\nselect 0\nexists only\n",
    "3 ping\nquit\nping\n",
    "exit\nping\n",
    'set e "\\x01\\n\\t\\xff"\nget e\n',
]
OPTIONS = ["", "--no-raw", "--raw", "-r 2", "-n 1", "--no-auth-warning"]


class Both:
    """Debian's server and client, and ours."""

    def __init__(self, genuine: Genuine) -> None:
        self.genuine = genuine
        self.world = SmallWorld()
        self.container, _ = self.world.run("redis", "10.1.0.9", redis_image())
        self._typed: list[list[str]] = []

    def real(self, options: str, line: str, typed: str = "") -> tuple[str, str, int]:
        self._typed.append([options, line, typed])
        asked = f"redis-cli {options} {line} {typed!r}"
        out, err, status = answer(asked, self._typed, lambda: self._ask_real(options, line, typed))
        return out, err, status

    def _ask_real(self, options: str, line: str, typed: str) -> tuple[str, str, int]:
        command = ["redis-cli", "-s", self.genuine.socket, *shlex.split(options), *shlex.split(line)]
        done = subprocess.run(
            command, input=typed.encode(), capture_output=True, timeout=PATIENCE_S, check=False
        )
        return done.stdout.decode("latin-1"), done.stderr.decode("latin-1"), done.returncode

    def ours(self, options: str, line: str, typed: str = "") -> tuple[str, str, int]:
        piped = f"printf %s {shlex.quote(typed)} | " if typed else ""
        done = self.world.shell(f"{piped}redis-cli {shlex.join(shlex.split(options))} {line}", self.container)
        return done.stdout.decode("latin-1"), done.stderr.decode("latin-1"), done.status or 0


@pytest.fixture
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    genuine = Genuine(tmp_path_factory.mktemp("redis"))
    try:
        made = Both(genuine)
        for line in PREPARED:
            made.real("", line)
            made.ours("", line)
        yield made
    finally:
        genuine.stop()


@pytest.mark.parametrize("options", OPTIONS)
def test_one_command_at_a_time(both: Both, options: str) -> None:
    for line in LINES:
        if line:
            assert (line, both.ours(options, line)) == (line, both.real(options, line))


@pytest.mark.parametrize("options", ["", "--no-raw"])
def test_lines_from_a_pipe(both: Both, options: str) -> None:
    for typed in TYPED:
        assert (typed, both.ours(options, "", typed)) == (typed, both.real(options, "", typed))


def test_the_last_argument_from_a_pipe(both: Both) -> None:
    for options, line in (("-x", "set k"), ("", "get k"), ("--no-raw", "get k")):
        typed = "some\ntext\n" if options == "-x" else ""
        assert both.ours(options, line, typed) == both.real(options, line, typed)


def test_wrong_options(both: Both) -> None:
    for options in ("--bogus", "-n 99", "-a wrong", "-a wrong --no-auth-warning", "--user x --pass y"):
        assert (options, both.ours(options, "ping")) == (options, both.real(options, "ping"))


def test_keys_of_a_scan(both: Both) -> None:
    for options in ("--scan", "--scan --pattern l*", "--scan --pattern nothing"):
        ours, real = both.ours(options, ""), both.real(options, "")
        assert sorted(ours[0].split("\n")) == sorted(real[0].split("\n"))
