"""``-o json``."""

from __future__ import annotations

from simcloud.golang.json_text import json_text
from simcloud.kubernetes.api.objects import Object


def as_json(obj: Object, *, keep_order: bool = False) -> str:
    """An object or List as ``-o json`` prints it.

    What came from the server has its keys sorted; ``keep_order`` is for objects kubectl itself has built,
    which stand in the order of Go's structs.
    """
    return json_text(obj, indent=4, keep_order=keep_order) + "\n"
