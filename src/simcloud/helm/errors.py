"""Errors of helm: a message on stderr and exit code 1."""

from __future__ import annotations


class HelmError(Exception):
    """A failure in a sentence; ``Error: `` is put before it."""


class RenderError(HelmError):
    """A chart that cannot be rendered."""


class NoRelease(HelmError):
    """A release that is not stored."""

    def __init__(self) -> None:
        super().__init__("release: not found")
