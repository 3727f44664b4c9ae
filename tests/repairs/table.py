"""The form of the tables of repairs: ways to repair a fault that are right, and ways that are wrong or sloppy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Repairs:
    """Lines that an engineer types for one fault; each differs from the reference repair.

    Words in braces are filled in: ``{ns}`` the namespace, ``{t}`` the target, ``{c}`` its first container, ``{node}`` the first
    faulty node, ``{nodes}`` all of them, ``{host}`` the application's host name, and every parameter of the fault by its name.
    """

    right: tuple[str, ...]
    wrong: tuple[str, ...]
