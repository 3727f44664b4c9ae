"""Keeps a kubeconfig file for one ``aiopslab cluster up``, and other people's files from being replaced."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml

from simcloud.server.kubernetes import CLUSTER


class KubeconfigTaken(Exception):
    """The file belongs to a running cluster, or is not ours; the message says what to do."""


@contextmanager
def hold_kubeconfig(path: Path) -> Iterator[None]:
    """Reserve a file for this process until the block ends; raises ``KubeconfigTaken``. A file that a former cluster left is replaced."""
    if path.exists() and not _is_ours(path):
        raise KubeconfigTaken(
            f"{path} is not a kubeconfig that `aiopslab cluster up` wrote. Choose another file with --kubeconfig."
        )
    lock = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise KubeconfigTaken(
            f"{path} cannot be written ({error.strerror}). Choose another file with --kubeconfig."
        ) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise KubeconfigTaken(
            f"{path} belongs to another `aiopslab cluster up` that is running. Choose another file with --kubeconfig, or stop that one."
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(descriptor)


def _is_ours(path: Path) -> bool:
    try:
        config = yaml.safe_load(path.read_text())
        return bool(config["clusters"][0]["name"] == CLUSTER)
    except (OSError, ValueError, KeyError, IndexError, TypeError, yaml.YAMLError):
        return False
