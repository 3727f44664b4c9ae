"""The same bytes to Debian's memcached and to ours: the replies are equal, byte for byte."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from hypothesis import given, strategies as some

from simcloud.datastores.memcached.cache import Cache
from simcloud.datastores.memcached.settings import BadOption, Settings, read_options
from simcloud.datastores.memcached.stats import Connections
from simcloud.datastores.memcached.text import TextSession
from tests.genuine import answer, as_bytes, as_text, run
from tests.simcloud.datastores.genuine_socket import PATIENCE_S, answer_to, wait_until_heard

pytestmark = pytest.mark.differential("memcached")

SCRIPTS = {
    "set and get": "set a 5 0 3|abc|get a|gets a|get a b c|get b",
    "flags": "set a 4294967295 0 1|x|get a|set a 4294967296 0 1|x|set a -1 0 1|x|get a",
    "add": "add a 0 0 1|1|add a 0 0 1|2|get a",
    "replace": "replace a 0 0 1|1|set a 0 0 1|1|replace a 7 0 2|22|gets a",
    "delete": "delete a|set a 0 0 1|x|delete a|get a|delete a 0|delete a 5|delete|delete a 0 noreply|delete a noreply|delete a b c d",
    "noreply": "set a 0 0 1 noreply|x|get a|add a 0 0 1 noreply|y|set n 0 0 1 noreply|1|get n|flush_all noreply|get n",
    "data of the wrong length": "set a 0 0 3|abcde|get a|set a 0 0 5|abc|get a|get a|set a 0 0 0||get a",
    "lengths": "set a 0 0 -1|get a|set a 0 0 x|get a|set a 0 0 4294967296|get a",
    "too large": "set a 0 0 1|x|set a 0 0 1048577|{1048577}|get a|add b 0 0 2000000|{2000000}|version",
    "large": "set a 0 0 1000000|{1000000}|delete a|set b 0 0 1048507|{1048507}|delete b|set c 0 0 1048508|{1048508}|delete c",
    "numbers as C reads them": "set n 0 5000000000 1|x|get n|set a 0 0 2147483646|set a +1 +1 +1|x|get a",
    "expiry": "set a 0 -1 1|x|get a|set a 0 100 1|x|get a|set a 0 x 1|x|set a 0 3000000000 1|x|get a",
    "keys": "set {k250} 0 0 1|x|get {k250}|set {k251} 0 0 1|x|delete {k251}",
    "get of a long key": "get {k251}|version",
    "mistakes": "|foo|get|gets|set|set a|set a 0|set a 0 0|set a 0 0 1 2 3|GET a|Get a| get a|get  a|set a b c d",
    "flush": "set a 0 0 1|x|flush_all|get a|flush_all 0|flush_all x|flush_all 100|flush_all -1|flush_all 0 noreply|flush_all 1 2 3",
    "odds and ends": "stats bogus|version|version 1|quit now|version",
    "stats slabs": "set a 0 0 1|x|set b 0 0 200|{200}|set c 0 0 5000|{5000}|get a|delete c|stats slabs",
    "cachedump of nothing": "stats cachedump 1 0|stats cachedump 2 0|stats cachedump 1|stats cachedump x 1|stats cachedump 99 1",
    "counts": "set a 0 0 1|x|get a|get b|delete b|flush_all|stats reset|stats slabs",
    "web": "GET / HTTP/1.1|Host: x||version",
    "a long line": "{k3000}|version",
}


def _bytes_of(script: str) -> bytes:
    for name, size in (("{k250}", 250), ("{k251}", 251), ("{k3000}", 3000)):
        script = script.replace(name, "k" * size)
    lines = []
    for line in script.split("|"):
        is_filler = line.startswith("{") and line.endswith("}")
        lines.append(b"v" * int(line[1:-1]) if is_filler else line.encode())
    return b"\r\n".join([*lines, b""])


class Genuine:
    """A fresh memcached on a socket in a file, started when there is no recording of what it answers."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "socket"
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, *streams: bytes, until: Callable[[bytes], bool] = lambda _: True) -> bytes:
        """What it answers to the last of some streams of bytes, asked again until it is as wanted."""
        asked = " / ".join(as_text(data[:80]) for data in streams)
        return as_bytes(answer(asked, streams, lambda: as_text(self.ask_now(*streams, until=until))))

    def ask_now(self, *streams: bytes, until: Callable[[bytes], bool] = lambda _: True) -> bytes:
        if self._process is None:
            self._process = subprocess.Popen(
                ["memcached", "-u", "root", "-s", str(self._path), "-m", "64"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            wait_until_heard(self._path, self._process)
        for data in streams[:-1]:
            answer_to(self._path, data)
        give_up_at = monotonic() + PATIENCE_S
        while not until(reply := answer_to(self._path, streams[-1])) and monotonic() < give_up_at:
            sleep(0.05)
        return reply

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def genuine(tmp_path: Path) -> Iterator[Genuine]:
    server = Genuine(tmp_path)
    try:
        yield server
    finally:
        server.stop()


def _ask_ours(data: bytes, piece: int = 1 << 20) -> bytes:
    session = TextSession(Cache(lambda: 1_767_603_600.0, 64 << 20), Settings(), Connections())
    pieces = [data[at : at + piece] for at in range(0, len(data), piece)]
    return b"".join(session.feed(each) for each in pieces if not session.closed)


@pytest.mark.parametrize("name", SCRIPTS)
def test_replies_are_equal(genuine: Genuine, name: str) -> None:
    data = _bytes_of(SCRIPTS[name])
    expected = genuine.ask(data)
    assert _ask_ours(data) == expected


@pytest.mark.parametrize(
    "name", ["set and get", "replace", "too large", "data of the wrong length", "mistakes"]
)
def test_it_does_not_matter_how_the_bytes_come(name: str) -> None:
    data = _bytes_of(SCRIPTS[name])
    size = max(1, len(data) // 500)
    assert _ask_ours(data, size) == _ask_ours(data)


def test_a_dump_shows_what_has_been_there_for_a_moment(genuine: Genuine) -> None:
    """A thread of the genuine one moves items to where they are shown, whenever it comes by: it is waited for."""
    store = _bytes_of("set a 0 0 3|abc|set b 0 0 4|abcd")
    look = _bytes_of("stats cachedump 1 0|stats cachedump 1 1")
    expected = genuine.ask(store, look, until=lambda reply: reply.count(b"ITEM ") >= 3)

    now_s = 1_767_603_600.0
    session = TextSession(Cache(lambda: now_s, 64 << 20), Settings(), Connections())
    session.feed(store)
    now_s += 2
    assert session.feed(look) == expected


def test_stats_have_the_same_names(genuine: Genuine) -> None:
    data = _bytes_of("set a 0 0 1|x|stats|stats items|stats settings")

    def names(answer: bytes) -> list[bytes]:
        return [line.split(b" ")[1] for line in answer.split(b"\r\n") if line.startswith(b"STAT ")]

    real = answer(
        "the names of stats", data, lambda: [as_text(name) for name in names(genuine.ask_now(data))]
    )
    assert names(_ask_ours(data)) == [as_bytes(name) for name in real]


OPTIONS = ("-q", "-t 0", "-t x", "-c 0", "-I 100", "-I 2000m", "-I 2000m -m 9000", "-I 5m -m 8", "-m x", "-m", "--bogus", "-vz", "-V")  # fmt: skip


@pytest.mark.parametrize("line", OPTIONS)
def test_options_are_refused_in_the_same_words(line: str) -> None:
    args = ["memcached", "-u", "root", *line.split()]
    real = run(args)
    try:
        ours = (0, read_options(args).shown, "")
    except BadOption as mistake:
        ours = (mistake.status, "", f"{mistake}\n")
    assert ours == (real.status, real.stdout.decode(), real.stderr.decode())


WORDS = some.sampled_from(
    ["get", "gets", "set", "add", "replace", "delete", "a", "b", "0", "1", "2", "-1", "x", "noreply", ""]
)  # fmt: skip
LINES = some.lists(some.lists(WORDS, max_size=6).map(" ".join), max_size=12)


@pytest.mark.live("memcached")
def test_any_lines_get_the_same_replies(genuine: Genuine) -> None:
    @given(LINES)
    def compare(lines: list[str]) -> None:
        data = "\r\n".join(["flush_all", *lines, ""]).encode()
        # Numbers of cas go on counting in the genuine one, which has lived through all examples.
        if "gets" not in data.decode():
            assert _ask_ours(data) == genuine.ask(data)

    compare()
