"""Namespaces for an agent: it sees only its own processes, no network, and a file system that it cannot change.

What it finds there: ``/proc`` with its own processes; everything else read-only, except ``/tmp``, ``/var/tmp`` and ``/dev/shm``, which
are empty and end with it; ``/run`` empty, because sockets of the host's services are there; the hidden folders empty; no network
interface except ``lo``, on which a proxy (``proxy.py``) listens if the agent may reach any endpoint. Where the host does not allow
a ``/proc`` of its own, ``/proc`` is empty.

This runs between ``fork`` and ``exec`` in a process with one thread.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from aiopslab.orchestrator.supervision import kernel

WRITABLE: Final = ("/tmp", "/var/tmp", "/dev/shm")
EMPTY: Final = ("/run",)
TMPFS_MB: Final = 256
_SIOCSIFFLAGS: Final = 0x8914
_IFF_UP_RUNNING: Final = 0x41
_SIGNALLED: Final = 128


class Isolation(NamedTuple):
    """What an isolated agent may see and reach."""

    hidden: tuple[str, ...] = ()
    """Folders that it finds empty, such as the one with the records."""
    kept: tuple[str, ...] = ()
    """Files and folders of its own that stay visible wherever they are."""
    endpoints: tuple[str, ...] = ()
    """Addresses that it may reach by the proxy, as ``HOST:PORT``."""


class NotIsolated(Exception):
    """The host does not allow a part of the isolation; the message says which and why."""


def enter_namespaces(isolation: Isolation, let_go: Callable[[], None], channel: socket.socket) -> int | None:
    """Fork into new namespaces and return in the child; return the port of the proxy there, None if there is none.

    Two more processes wait for the child: the first process of the namespace, which ends all others when it ends, and the
    calling one. Both call ``let_go`` to release the child's files, and exit with its exit code. The proxy's listening socket goes
    through ``channel``. Raises ``NotIsolated``, in whichever process it happens.
    """
    user, group = os.getuid(), os.getgid()
    try:
        kernel.set_process(kernel.PR_SET_DUMPABLE, 1)  # otherwise the maps below belong to root
        kernel.unshare(
            kernel.CLONE_NEWUSER
            | kernel.CLONE_NEWNS
            | kernel.CLONE_NEWPID
            | kernel.CLONE_NEWNET
            | kernel.CLONE_NEWIPC
            | kernel.CLONE_NEWUTS
        )
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError as error:
        raise NotIsolated(f"user namespaces are not allowed ({error.strerror})") from None
    kernel.set_process(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if child := os.fork():
        _wait_and_exit(child, let_go)
    kernel.set_process(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        _mount_all(isolation)
    except OSError as error:
        raise NotIsolated(f"{error.filename} cannot be mounted ({error.strerror})") from None
    _start_loopback()
    port = _open_proxy(channel) if isolation.endpoints else None
    if child := os.fork():
        _wait_and_exit(child, let_go)
    kernel.drop_capabilities()
    return port


def _wait_and_exit(child: int, let_go: Callable[[], None]) -> NoReturn:
    let_go()
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else _SIGNALLED - code)


def decode_exit(code: int) -> int:
    """Return the exit code of an agent in namespaces; negative for a signal."""
    return _SIGNALLED - code if code > _SIGNALLED else code


def _mount_all(isolation: Isolation) -> None:
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.make_all_read_only()
    kept = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in isolation.kept if Path(path).exists()]
    covered = [
        path
        for path in (*WRITABLE, *EMPTY)
        if Path(path).is_dir() and not Path(path).is_symlink() and path not in isolation.kept
    ]
    for path in covered:
        mode = "1777" if path in WRITABLE else "755"
        kernel.mount(
            "tmpfs", path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _format_options(TMPFS_MB, mode)
        )
    for path, file in kept:
        if any(Path(path).is_relative_to(place) for place in covered):
            _bind(file, Path(path))
        os.close(file)
    for path in isolation.hidden:
        if Path(path).is_dir():
            kernel.mount(
                "tmpfs", path, "tmpfs", kernel.MS_RDONLY | kernel.MS_NOSUID, _format_options(1, "755")
            )
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    try:
        kernel.mount("proc", "/proc", "proc", flags)
    except OSError:
        kernel.mount("tmpfs", "/proc", "tmpfs", flags | kernel.MS_RDONLY, _format_options(1, "755"))


def _bind(file: int, target: Path) -> None:
    """Show an open file or folder at its own path again, under a folder that was covered."""
    if target.exists():  # a kept folder that contains it is shown already
        return
    source = f"/proc/self/fd/{file}"
    if Path(source).is_dir():
        target.mkdir(parents=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    kernel.mount(source, str(target), "", kernel.MS_BIND | kernel.MS_REC)


def _format_options(size_mb: int, mode: str) -> str:
    return f"size={size_mb}m,mode={mode}"


def _start_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP_RUNNING))


def _open_proxy(channel: socket.socket) -> int:
    """Pass a socket that listens on the loopback interface out of the namespace, and return its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        socket.send_fds(channel, [b"."], [listener.fileno()])
        port: int = listener.getsockname()[1]
        return port
