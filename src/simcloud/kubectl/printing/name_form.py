"""``-o name``: ``pod/web-1``, ``deployment.apps/web``."""

from __future__ import annotations

from simcloud.kubectl.printing.lists import items_of
from simcloud.kubernetes.api.objects import Object


def name_form(obj: Object) -> str:
    """Kind, group and name of an object."""
    group, slash, _ = str(obj.get("apiVersion", "")).partition("/")
    kind = str(obj.get("kind", "")).lower() + (f".{group}" if slash else "")
    name = (obj.get("metadata") or {}).get("name") or "<unknown>"
    return f"{kind}/{name}"


def as_names(obj: Object, done: str = "") -> str:
    """A line for an object or for each of a list. ``done`` is what a verb has done to it: ``created``."""
    after = f" {done}" if done else ""
    return "".join(f"{name_form(item)}{after}\n" for item in items_of(obj))
