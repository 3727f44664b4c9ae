"""Calls of the Linux kernel that Python's standard library does not have, through the C library.

Each raises ``OSError``. Importing this module works on every platform; calling its functions needs Linux.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from typing import Any, Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_DROP: Final = 24
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
LAST_CAPABILITY: Final = 63
_CAPABILITY_VERSION: Final = 0x20080522
_CAPABILITY_SETS: Final = 3
"""The effective, permitted and inheritable capabilities, each in two words of 32 bits."""
FILE_CAPABILITIES: Final = (0, 1, 3, 4, 6, 7, 10, 13)
"""Capabilities that do not reach other processes: to change owners and modes of files, and the user; to use any port."""

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

MS_RDONLY: Final = 0x1
MS_NOSUID: Final = 0x2
MS_NODEV: Final = 0x4
MS_NOEXEC: Final = 0x8
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_PRIVATE: Final = 0x40000

_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_MOUNT_ATTR_RDONLY: Final = 0x1
_SYS_MOUNT_SETATTR: Final = 442  # the numbers of newer calls are the same on every architecture
_SYS_LANDLOCK_CREATE_RULESET: Final = 444
_SYS_LANDLOCK_RESTRICT_SELF: Final = 446
_LANDLOCK_VERSION: Final = 1
_LANDLOCK_MAKE_DEVICES: Final = (1 << 6) | (1 << 11)
_LANDLOCK_SCOPE_SIGNAL: Final = 2
SIGNALS_SINCE: Final = 6
"""Version of Landlock that can restrict signals."""


@cache
def _load_libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def set_process(option: int, value: int = 1) -> None:
    """Set an attribute of this process (``prctl``)."""
    _check(_load_libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0), "prctl")


def drop_capabilities(kept: Collection[int] = ()) -> None:
    """Take root's capabilities, except some, from this process and from the programs that it executes."""
    for capability in range(LAST_CAPABILITY + 1):
        if capability not in kept:
            with suppress(OSError):  # there is no capability of this number, or this is not root
                set_process(PR_CAPBSET_DROP, capability)
    mask = sum(1 << capability for capability in kept)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    words = (ctypes.c_uint32 * (2 * _CAPABILITY_SETS))()
    _check(_load_libc().capget(header, words), "capget")
    for index in range(len(words)):
        words[index] &= (mask >> 32 if index >= _CAPABILITY_SETS else mask) & 0xFFFFFFFF
    _check(_load_libc().capset(header, words), "capset")


def unshare(flags: int) -> None:
    """Move this process, or its next children, into new namespaces."""
    _check(_load_libc().unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, or change a mount."""
    _check(
        _load_libc().mount(
            source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()
        ),
        target,
    )


def make_all_read_only() -> None:
    """Make every mount of this mount namespace read-only."""
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    _check(
        _load_libc().syscall(
            _SYS_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, ctypes.sizeof(attributes)
        ),
        "mount_setattr",
    )


def get_landlock_version() -> int:
    """Return the version of Landlock; raises ``OSError`` where there is none."""
    return _check(_load_libc().syscall(_SYS_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION), "landlock")


def can_restrict_signals() -> bool:
    """Return whether ``shield_others`` also keeps processes from signalling others."""
    try:
        return get_landlock_version() >= SIGNALS_SINCE
    except OSError:
        return False


def shield_others() -> None:
    """Keep this process and its future children from tracing other processes and, since Linux 6.12, from signalling them.

    Reading the memory, the environment or the open files of another process counts as tracing. Needs Landlock (Linux
    5.13); raises ``OSError`` without it.
    """
    version = get_landlock_version()
    scoped = _LANDLOCK_SCOPE_SIGNAL if version >= SIGNALS_SINCE else 0
    # A set of rules must forbid something about files to be valid on every version: here, to create device files.
    attributes = (ctypes.c_uint64 * 3)(_LANDLOCK_MAKE_DEVICES, 0, scoped)
    size = 24 if version >= SIGNALS_SINCE else 8
    rules = _check(_load_libc().syscall(_SYS_LANDLOCK_CREATE_RULESET, attributes, size, 0), "landlock")
    try:
        _check(_load_libc().syscall(_SYS_LANDLOCK_RESTRICT_SELF, rules, 0), "landlock")
    finally:
        os.close(rules)
