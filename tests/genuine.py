"""What genuine tools answer, recorded, so that comparing with them needs none of them.

A test marked ``differential("gawk")`` asks by ``answer()`` or ``run()``. The answer comes from
``<test module>.genuine.jsonl`` beside the test's module: a line with the tools and their versions, then a line for each
question, found by a hash of everything the answer depends on. ``pytest --record`` (``make record``) asks the tools
themselves and rewrites these files; questions that no test asks any more are dropped when whole modules were run.

A test marked ``live("gawk")`` asks the tools while it runs (random input, or a genuine client at a server of ours):
it is left out of ``make test`` and part of ``make test-all``.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

PATIENCE_S: Final = 300.0
SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
CLIENTS: Final = Path(sys.prefix) / "clients"
HELM: Final = Path(sys.prefix) / "bin" / "helm"

# Debian's package: a command whose first line of output shows the reference version, and what it holds.
TOOLS: Final = {
    "bash": ("bash --version", "version 5.2"),
    "bsdextrautils": ("column --version", "util-linux 2.38"),
    "busybox": ("busybox --help", "BusyBox v1.35"),
    "chromium": ("chromium --version", "Chromium "),
    "coreutils": ("sort --version", "(GNU coreutils) 9.1"),
    "dash": ("dash -c pwd", "/"),
    "diffutils": ("diff --version", "(GNU diffutils) 3.8"),
    "findutils": ("find --version", "(GNU findutils) 4.9"),
    "gawk": ("gawk --version", "GNU Awk 5.2"),
    "gettext-base": ("envsubst --version", "0.21"),
    "grep": ("grep --version", "(GNU grep) 3.8"),
    "gzip": ("gzip --version", "gzip 1.12"),
    "jq": ("jq --version", "jq-1.6"),
    "less": ("less --version", "less 590"),
    "memcached": ("memcached --version", "memcached 1.6.18"),
    "openssl": ("openssl version", "OpenSSL 3.0."),
    "postgresql": ("/usr/lib/postgresql/15/bin/postgres --version", "(PostgreSQL) 15."),
    "procps": ("ps --version", "procps-ng 4.0.2"),
    "prometheus": ("prometheus --version", "version 2.42."),
    "redis": ("redis-server --version", "v=7.0."),
    "root": ("id -un", "root"),
    "sed": ("sed --version", "(GNU sed) 4.9"),
    "tar": ("tar --version", "(GNU tar) 1.34"),
    "util-linux": ("rev --version", "util-linux 2.38"),
    # Not Debian's: fetched into the environment by scripts/get_clients.py, and helm by `make record`.
    "helm": (f"{HELM} version --short", "v3.17."),
    "kubectl": (f"{CLIENTS}/kubectl-1.36.4 version --client", "v1.36.4"),
    "kubectl-1.37": (f"{CLIENTS}/kubectl-1.37.1 version --client", "v1.37.1"),
    "kubectl-1.20": (f"{CLIENTS}/kubectl-1.20 version --client", "v1.20.2"),
}
SHELL: Final = (
    "bash", "coreutils", "diffutils", "findutils", "gawk", "grep", "jq", "procps", "sed",
)  # fmt: skip
"""What a mark without names means."""


class NotRecorded(AssertionError):
    """A question without a recorded answer."""


class Done(NamedTuple):
    """How a command ended, what it wrote, and the files of its folder afterwards."""

    status: int
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]


# -- the tools ---------------------------------------------------------------------------------------------


@cache
def version_of(tool: str) -> str:
    """The line by which a tool tells its version; empty unless it is here in the reference version."""
    command, sign = TOOLS[tool]
    try:
        output = subprocess.check_output(command.split(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return ""
    line = output.decode("utf-8", "replace").partition("\n")[0]
    return line if sign in line else ""


def tools_of(item: pytest.Item) -> list[str]:
    """The tools that a test's marks name."""
    named: set[str] = set()
    for kind in ("differential", "live"):
        for mark in item.iter_markers(kind):
            named |= set(mark.args or SHELL)
    unknown = named - TOOLS.keys()
    if unknown:
        names = ", ".join(sorted(unknown))
        raise pytest.UsageError(f"{item.nodeid}: no tool is known as {names}; see tests/genuine.py")
    return sorted(named)


def require(tools: Iterable[str]) -> None:
    """Fail unless the tools are here, in the reference version."""
    missing = [tool for tool in tools if not version_of(tool)]
    if missing:
        names = " ".join(missing)
        pytest.fail(
            f"missing, or of another version than the reference: {names}. "
            "On Debian 12 .ci/run installs what apt has, scripts/get_clients.py fetches kubectl.",
            pytrace=False,
        )


# -- recordings --------------------------------------------------------------------------------------------


class _Recording:
    """The answers for one test module."""

    def __init__(self, module: Path) -> None:
        self.path = module.with_suffix(".genuine.jsonl")
        self.asked: dict[str, dict[str, Any]] = {}
        self.asked_tools: dict[str, str] = {}
        self._read()

    def _read(self) -> None:
        self.tools: dict[str, str] = {}
        self.lines: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            first, *rest = map(json.loads, self.path.read_text("ascii").splitlines())
            self.tools = first["tools"]
            self.lines = {line["key"]: line for line in rest}

    def write(self, whole: bool) -> None:
        """Rewrite the file, without what was not asked if the whole module was run."""
        with locked(self.path.parent):
            self._write(whole)

    def _write(self, whole: bool) -> None:
        self._read()
        lines = self.asked if whole else self.lines | self.asked
        tools = self.asked_tools if whole else self.tools | self.asked_tools
        if not lines:
            self.path.unlink(missing_ok=True)
            return
        ordered = sorted(lines.values(), key=lambda line: (line["asked"], line["key"]))
        rows = [{"tools": dict(sorted(tools.items()))}, *ordered]
        self.path.write_text("".join(json.dumps(row) + "\n" for row in rows), "ascii")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Alone among the processes that write to a folder."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


class _Session:
    """What this run of pytest knows."""

    is_recording = False
    shares_modules = False
    """Whether other processes run other tests of the same module, whose answers must be kept."""
    item: pytest.Item | None = None

    def __init__(self) -> None:
        self.recordings: dict[Path, _Recording] = {}
        self.incomplete: set[Path] = set()
        """Modules of which not every test was run to its end."""

    def recording(self, module: Path) -> _Recording:
        if module not in self.recordings:
            self.recordings[module] = _Recording(module)
        return self.recordings[module]

    def write(self, module: Path) -> None:
        """Write what a module's tests, which have all been run, have asked."""
        if module in self.recordings:
            self.recordings[module].write(whole=not self.shares_modules and module not in self.incomplete)


SESSION: Final = _Session()


def is_live() -> bool:
    """Whether the test that runs now asks the tools themselves."""
    item = SESSION.item
    return SESSION.is_recording or (item is not None and item.get_closest_marker("live") is not None)


def answer(asked: str, question: object, ask: Callable[[], Any]) -> Any:
    """What the genuine tool answers to a question.

    ``question`` is all that the answer depends on, of JSON's types and bytes; ``asked`` names it for people; ``ask``
    puts it to the tool and returns a value of JSON's types.
    """
    item = SESSION.item
    assert item is not None, "a genuine tool is asked by a test"
    if item.get_closest_marker("live") is not None:
        return ask()
    key = hashlib.sha256(json.dumps(question, sort_keys=True, default=_make_plain).encode()).hexdigest()[:20]
    recording = SESSION.recording(item.path)
    if SESSION.is_recording:
        said = json.loads(json.dumps(ask()))
        line = {"asked": _excerpt(asked), "key": key, "answer": said}
        known = recording.asked.setdefault(key, line)
        assert known["answer"] == said, f"the same question was answered otherwise before: {asked}"
        recording.asked_tools |= {tool: version_of(tool) for tool in tools_of(item)}
        return said
    if key not in recording.lines:
        tools = " ".join(tools_of(item))
        raise NotRecorded(f"no recording of {_excerpt(asked)!r}; run `make record` on Debian 12 with {tools}")
    return recording.lines[key]["answer"]


def _make_plain(value: object) -> object:
    """The same of JSON's types only; long data is told by its digest."""
    match value:
        case bytes():
            return {"bytes": hashlib.sha256(value).hexdigest()}
        case Mapping():
            return dict(value)
    raise TypeError(f"{type(value)} cannot be part of a question")


def _excerpt(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def as_text(data: bytes) -> str:
    """Bytes as a string that JSON can hold; what is no UTF-8 becomes lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The bytes that ``as_text`` was given."""
    return text.encode("utf-8", "surrogateescape")


# -- commands ----------------------------------------------------------------------------------------------


def run(
    argv: Sequence[str],
    *,
    stdin: bytes = b"",
    files: Mapping[str, bytes] | None = None,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    time_s: int | None = None,
    executable: str | None = None,
    path: Callable[[], str] = lambda: "/usr/bin:/bin",
    shown_as: str = "",
    with_files: bool = False,
) -> Done:
    """What a command writes and how it ends, in a folder with the given files, and those files after it if wanted.

    ``env`` is its environment besides ``PATH``. ``folder`` is used where one is given (its name is shown as
    ``shown_as`` in the output), else a temporary one. ``time_s`` is when the files were last changed.
    """
    argv, given = list(argv), dict(files or {})

    def ask() -> dict[str, Any]:
        if folder is not None:
            return _ask(folder)
        with tempfile.TemporaryDirectory() as made:
            return _ask(Path(made))

    def _ask(where: Path) -> dict[str, Any]:
        where.chmod(0o755)
        for name, data in given.items():
            file = where / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            if time_s is not None:
                os.utime(file, (time_s, time_s))
        done = subprocess.run(
            argv,
            executable=executable,
            cwd=where,
            input=stdin,
            capture_output=True,
            timeout=PATIENCE_S,
            env={"PATH": path(), **(env or {})},
            check=False,
        )
        out, err = done.stdout, done.stderr
        if shown_as:
            out, err = (text.replace(os.fsencode(where), shown_as.encode()) for text in (out, err))
        told: dict[str, Any] = {"status": done.returncode, "out": as_text(out), "err": as_text(err)}
        if with_files:
            told |= _changes(given, _files_below(where))
        return {name: value for name, value in told.items() if value}

    question = [argv, stdin, given, dict(env or {}), time_s, executable]
    script = argv[2] if argv[:2] in (["bash", "-c"], ["sh", "-c"]) else " ".join(argv)
    told = answer(script, question, ask)
    after = {name: data for name, data in given.items() if name not in told.get("gone", [])}
    after |= {name: as_bytes(text) for name, text in told.get("files", {}).items()}
    return Done(told.get("status", 0), as_bytes(told.get("out", "")), as_bytes(told.get("err", "")), after)


def _files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, Any]:
    written = {name: as_text(data) for name, data in sorted(after.items()) if before.get(name) != data}
    return {"files": written, "gone": sorted(name for name in before if name not in after)}


# -- pytest ------------------------------------------------------------------------------------------------


def configure(config: pytest.Config) -> None:
    """Take over the options of this run."""
    SESSION.is_recording = bool(config.getoption("record"))
    if SESSION.is_recording and os.geteuid() != 0:
        raise pytest.UsageError("recordings are made by root: owners of files are part of what is compared")
    worker = getattr(config, "workerinput", None)
    SESSION.shares_modules = worker is not None and "loadfile" not in worker["mainargv"]


def is_recorded(item: pytest.Item) -> bool:
    """Whether a test takes answers from a recording. A genuine kubectl, from PyPI, is at hand everywhere."""
    if item.get_closest_marker("differential") is None or item.get_closest_marker("live") is not None:
        return False
    return not all(tool.startswith("kubectl") for tool in tools_of(item))


def note_selection(config: pytest.Config, left_out: Sequence[pytest.Item]) -> None:
    """Remember of which modules only a part was selected: their other answers are kept."""
    SESSION.incomplete |= {item.path for item in left_out if is_recorded(item)}
    for argument in config.args:
        if re.search(r"\.py::", argument):
            SESSION.incomplete.add(Path(argument.partition("::")[0]).absolute())
