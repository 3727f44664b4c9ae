"""Objects that refuse to be changed: what the log hands out is shared, and nobody may write to it."""

from __future__ import annotations

from typing import Any, NoReturn


class SharedObjectChanged(Exception):
    """Somebody changed a stored object without copying it first."""


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise SharedObjectChanged("this object belongs to the log; take a copy before changing it")


class FrozenDict(dict[str, Any]):
    __setitem__ = __delitem__ = __ior__ = _refuse
    pop = popitem = setdefault = update = clear = _refuse


class FrozenList(list[Any]):
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = sort = reverse = clear = _refuse


def freeze(value: Any) -> Any:
    """The same data, unchangeable all the way down."""
    if isinstance(value, dict):
        return FrozenDict({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list):
        return FrozenList([freeze(item) for item in value])
    return value
